// Implicit differentiation: linear maps and their transposes, and the rules that solve with them.
#include "tern/implicit.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "autodiff/record.hpp"
#include "backend/tensor_impl.hpp"

namespace tern {
namespace detail {
namespace {

/// Gradients of y by each of `theta` that can have one (the others: undefined), where y = f(theta as variables of their
/// own) meets the cotangent.
template <class F> PoolVector<Var> gradients_by(std::span<const Var> theta, const Var& cotangent, const F& f) {
  const bool nested = grad_enabled();
  const RecordingScope recording;
  std::vector<Var> at(theta.begin(), theta.end()), targets;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (is_differentiable(at[i].dtype())) targets.push_back(at[i] = alias(at[i])), places.push_back(i);
  PoolVector<Var> gradients(theta.size());
  if (targets.empty()) return gradients;
  const Var y = f(std::span<const Var>(at));
  if (!y.requires_grad()) return gradients;
  const std::vector<Var> found =
      backward_to({&y, 1}, {&cotangent, 1}, targets, {.create_graph = nested, .keep_graph = nested});
  for (std::size_t k = 0; k < found.size(); ++k) gradients[places[k]] = found[k];
  return gradients;
}

/// w ↦ (∂f/∂x)ᵀ·w at x.
Var transposed_at(const ImplicitFunction& f, const Var& x, const Var& w, std::span<const Var> theta) {
  const bool nested = grad_enabled();
  const RecordingScope recording;
  const Var at = alias(x), y = f(at, theta);
  if (!y.requires_grad()) return zeros_like(x);
  return or_zeros(backward_to({&y, 1}, {&w, 1}, {&at, 1}, {.create_graph = nested, .keep_graph = nested})[0], x);
}
/// v ↦ ∂f/∂x·v at x: the transpose of the transpose.
Var forward_at(const ImplicitFunction& f, const Var& x, const Var& v, std::span<const Var> theta) {
  const bool nested = grad_enabled();
  const RecordingScope recording;
  const Var at = alias(x), y = f(at, theta), w = alias(zeros_like(y));
  const std::vector<Var> g = backward_to({&y, 1}, {&w, 1}, {&at, 1}, {.create_graph = true, .keep_graph = true});
  if (!g[0].defined() || !g[0].requires_grad()) return zeros_like(y);
  return or_zeros(backward_to(g, {&v, 1}, {&w, 1}, {.create_graph = nested, .keep_graph = nested})[0], y);
}

void check_like(const char* op, const char* what, const Tensor& got, const Tensor& expected) {
  if (!got.defined() || got.shape() != expected.shape())
    throw Error(ErrorKind::shape, std::string(op) + ": " + what + " must be like " + describe(expected) + ", got " +
                                      (got.defined() ? describe(got) : "an undefined tensor"));
}
/// A linear function of Vars on Tensors, with the other arguments as they are.
TensorMap plain_map(const char* op, const char* what, const ImplicitFunction& map, std::span<const Var> theta,
                    const Tensor& like) {
  std::vector<Var> constants;
  for (const Var& v : theta) constants.push_back(as_var(v.value()));
  return [=](const Tensor& v) {
    const NoGrad none;
    Tensor y = map(as_var(v), constants).value();
    check_like(op, what, y, like);
    return y;
  };
}
PoolVector<Save> saved_arguments(std::span<const Var> theta, int first_edge) {
  PoolVector<Save> saved;
  for (std::size_t i = 0; i < theta.size(); ++i) saved.push_back({theta[i], -1, first_edge + static_cast<int>(i)});
  saved.push_back({Var(), 0});
  return saved;
}

}  // namespace

LinearMap with_transpose(ImplicitFunction map) {
  ImplicitFunction transpose = [map](const Var& w, std::span<const Var> theta) {
    return transposed_at(map, zeros_like(w), w, theta);
  };
  return {std::move(map), std::move(transpose)};
}

Var linear_solve(const LinearMap& map, bool transposed, const LinearMethod& method, const Var& b,
                 std::span<const Var> theta) {
  constexpr const char* op = "custom_linear_solve";
  require_defined(op, "b", b.value());
  if (b.dtype() != DType::f32 && b.dtype() != DType::f64)
    throw Error(ErrorKind::dtype, std::string(op) + ": b must be f32 or f64, got " + describe(b.value()));
  const ImplicitFunction& here = transposed ? map.transpose : map.map;
  TensorMap preconditioner;
  if (method.preconditioner) {
    const LinearMap both =
        with_transpose([m = method.preconditioner](const Var& v, std::span<const Var>) { return m(v); });
    preconditioner =
        plain_map(op, "the preconditioner's result", transposed ? both.transpose : both.map, {}, b.value());
  }
  const Tensor x = method.solve(plain_map(op, "the map's result", here, theta, b.value()), preconditioner, b.value());
  check_like(op, "the solution", x, b.value());
  std::vector<Var> inputs{b};
  inputs.insert(inputs.end(), theta.begin(), theta.end());
  return record_one(op, inputs, x, saved_arguments(theta, 1), [=](const RuleContext& c) {
    const Var& x = c.saved.back();
    const auto theta = c.saved.first(c.saved.size() - 1);
    const Var u = linear_solve(map, !transposed, method, c.grads[0], theta);
    PoolVector<Var> gradients{u};
    const ImplicitFunction& here = transposed ? map.transpose : map.map;
    for (Var& g : gradients_by(theta, -u, [&](std::span<const Var> at) { return here(x, at); }))
      gradients.push_back(std::move(g));
    return gradients;
  });
}

Var implicit_root(const ImplicitFunction& f, const LinearMethod& method, const Tensor& root,
                  std::span<const Var> theta) {
  constexpr const char* op = "custom_root";
  require_defined(op, "the root", root);
  const LinearMap jacobian{
      [f](const Var& v, std::span<const Var> all) { return forward_at(f, all[0], v, all.subspan(1)); },
      [f](const Var& w, std::span<const Var> all) { return transposed_at(f, all[0], w, all.subspan(1)); }};
  return record_one(op, theta, root, saved_arguments(theta, 0), [=](const RuleContext& c) {
    const Var& x = c.saved.back();
    const auto theta = c.saved.first(c.saved.size() - 1);
    std::vector<Var> all{x};
    all.insert(all.end(), theta.begin(), theta.end());
    const Var u = linear_solve(jacobian, true, method, c.grads[0], all);
    return gradients_by(theta, -u, [&](std::span<const Var> at) { return f(x, at); });
  });
}

}  // namespace detail

Tensor Newton::run(const std::function<Var(const Var&)>& g, const Tensor& x0) const {
  detail::require_defined("Newton", "x0", x0);
  if (!is_floating(x0.dtype()))
    throw Error(ErrorKind::dtype, "Newton: x0 must be floating-point numbers, got " + detail::describe(x0));
  const double tolerance = options_.tolerance >= 0 ? options_.tolerance : x0.dtype() == DType::f64 ? 1e-10 : 1e-5;
  TensorMap preconditioner;
  if (options_.method.preconditioner)
    preconditioner = [&](const Tensor& v) {
      const NoGrad none;
      return options_.method.preconditioner(detail::as_var(v)).value();
    };
  Tensor x = x0.clone();
  double size = 0;
  int i = 0;
  for (;; ++i) {
    const Tensor y = g(detail::as_var(x)).value();
    detail::check_like("Newton", "the function's result", y, x);
    if (x.numel() == 0) return x;
    size = max(abs(y)).to(cpu()).to(DType::f64).item<double>();
    if (size <= tolerance) return x;
    if (!std::isfinite(size) || i >= options_.iterations) break;
    const Var at = detail::as_var(x);
    const detail::ImplicitFunction f = [&g](const Var& x, std::span<const Var>) { return g(x); };
    const TensorMap jacobian = [&](const Tensor& v) {
      const NoGrad none;
      return detail::forward_at(f, at, detail::as_var(v), {}).value();
    };
    x = x - options_.method.solve(jacobian, preconditioner, y);
  }
  std::ostringstream text;
  text << "Newton: did not converge: the largest element of the function is " << size << " after " << i
       << " iterations; begin nearer to the root, or allow more";
  throw Error(ErrorKind::linalg, text.str());
}

}  // namespace tern
