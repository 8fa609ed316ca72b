// Levenberg-Marquardt on batches: every row is a problem with its own damping.
#include <algorithm>
#include <string>

#include "backend/tensor_impl.hpp"
#include "primitives/linalg/operations/operation.hpp"
#include "tern/implicit.hpp"

namespace tern::detail {
namespace {

/// Of [..., n, n] symmetric positive definite and [..., n]: by one formula up to kMostInFormula rows, else by Cholesky,
/// or where that is not computed on the device by conjugate gradients. What is not definite after roundings gives NaN.
Tensor normal_step(const char* op, const Tensor& h, const Tensor& g) {
  const std::int64_t n = g.size(-1);
  if (n <= kMostInFormula) return solve_positive(h, g);
  if (n <= kManyAtOnce || in_host_memory(h)) {
    const Tensor l = cholesky_tensor(op, h, false, nullptr);
    const Tensor y = triangular_tensor(op, l, g.unsqueeze(-1).contiguous(), false, 'N', false);
    return triangular_tensor(op, l, y, false, 'T', false).squeeze(-1);
  }
  const auto map = [&](const Tensor& v) { return matmul(h, v.unsqueeze(-1)).squeeze(-1); };
  return conjugate_gradients({.iterations = 20 * static_cast<int>(g.size(-1)), .batched = true}).solve(map, {}, g);
}

/// [..., n] → [..., n, n] with these on the diagonal.
Tensor on_diagonal(const Tensor& d) { return d.unsqueeze(-1) * eye(d.size(-1)).to(d.dtype()).to(d.device()); }

}  // namespace

optim::LeastSquaresResult levenberg_marquardt(const std::function<Var(const Var&)>& f, const Tensor& x0,
                                              const optim::LeastSquaresOptions& options) {
  constexpr const char* op = "least_squares";
  require_defined(op, "x0", x0);
  if (x0.dim() == 0 || x0.size(-1) == 0)
    throw Error(ErrorKind::shape, std::string(op) + ": x0 must be [..., n] with n of at least 1, got " + describe(x0));
  if (x0.dtype() != DType::f32 && x0.dtype() != DType::f64)
    throw Error(ErrorKind::dtype, std::string(op) + ": x0 must be f32 or f64, got " + describe(x0));
  const auto value = [&](const Tensor& x) {
    const NoGrad none;
    return f(as_var(x)).value();
  };
  const auto costs = [](const Tensor& r) { return 0.5 * sum(square(r), -1, true); };
  Tensor x = x0.clone(), r = value(x), cost = costs(r);
  Tensor damping = cost * 0 + options.damping, done = cost < 0;
  optim::LeastSquaresResult result;
  for (; result.iterations < options.iterations; ++result.iterations) {
    const Mode mode = r.size(-1) < x.size(-1) ? Mode::reverse : Mode::forward;
    const Tensor j = batched_jacobian([&](const Var& at) { return f(at); }, x, mode);
    const Tensor jt = j.transpose(-1, -2), h = matmul(jt, j), g = matmul(jt, r.unsqueeze(-1)).squeeze(-1);
    done = logical_or(done, max(abs(g), {-1}, true) <= options.gradient);
    if (all(done).to(cpu()).item<bool>()) break;
    const Tensor scale = diagonal(h, 0, -2, -1), least = max(scale, {-1}, true) * 1e-9 + 1e-30;
    const Tensor step = normal_step(op, h + on_diagonal(damping * maximum(scale, least) + least), g);
    const Tensor next = where(done, x, x - step), next_r = value(next), next_cost = costs(next_r);
    const Tensor better = next_cost < cost;
    // A step that is refused but so small tells that roundings hide what is left.
    done = logical_or(done, max(abs(step), {-1}, true) <= options.step * max(abs(x), {-1}, true));
    damping = where(better, maximum(damping * 0.2, 1e-12), minimum(damping * 8, 1e12));
    x = where(better, next, x), r = where(better, next_r, r), cost = where(better, next_cost, cost);
  }
  result.x = x, result.cost = cost.squeeze(-1), result.converged = done.squeeze(-1);
  return result;
}

}  // namespace tern::detail
