// Reductions: formulas over a set of axes. Sums and means are in sum.cpp.
#include <string>

#include "autodiff/instances.hpp"
#include "ops/floating.hpp"
#include "ops/reductions/roots.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/complex.hpp"

namespace tern {

using namespace detail;

namespace {

struct NamedReduction {
  const char* op;
  const FormulaGraph* graph;
  bool empty_allowed = true;
  Var (*of_complex)(const Var& x, const Axes& axes, KeepDim keepdim) = nullptr;  // where the graph is of real numbers
};

std::uint32_t checked_mask(const NamedReduction& r, const Tensor& x, const Axes& axes) {
  require_defined(r.op, "x", x);
  const std::uint32_t mask = axis_mask(r.op, axes, x.dim());
  if (!r.empty_allowed)
    for (int i = 0; i < x.dim(); ++i)
      if ((mask >> i & 1) && x.shape()[static_cast<std::size_t>(i)] == 0)
        throw Error(ErrorKind::shape, std::string(r.op) + ": axis " + std::to_string(i) + " of " + describe(x) +
                                          " is empty, and there is no " + r.op + " over nothing");
  return mask;
}

template <TensorOrVar T> T reduced_by(const NamedReduction& r, const T& x, const Axes& axes, KeepDim keepdim) {
  const std::uint32_t mask = checked_mask(r, value_of(x), axes);
  if (r.of_complex && is_complex(x.dtype())) return operand_as<T>(r.of_complex(as_var(x), axes, keepdim));
  const Argument arguments[] = {Argument(x)};
  return fused_one<T>({r.op, r.graph, mask, {}, {}, !keepdim}, arguments);
}

const NamedReduction& prod_reduction() {
  static const NamedReduction r{"prod", graph_of([](auto x) { return prod(x); })};
  return r;
}
const NamedReduction& max_reduction() {
  static const NamedReduction r{"max", graph_of([](auto x) { return max(x); }), false};
  return r;
}
const NamedReduction& min_reduction() {
  static const NamedReduction r{"min", graph_of([](auto x) { return min(x); }), false};
  return r;
}
/// Shifted by the maximum; where that is infinite, by 0: log Σ exp(-inf) is -inf, not NaN.
const NamedReduction& logsumexp_reduction() {
  static const NamedReduction r{"logsumexp", graph_of([](auto x) {
                                  auto top = detach(max(x));
                                  auto shift = where(abs(top) < Expr(kInf), top, 0);
                                  return log(sum(exp(x - shift))) + shift;
                                }),
                                false};
  return r;
}
Expr variance(Expr x) {
  const Expr centred = x - mean(x);
  return sum(centred * centred) / maximum(extent() - 1, 0);  // of nothing 0 / 0, and not 0 / -1
}
/// Σ |z - mean|² / (n - 1)
Var complex_variance(const Var& z, const Axes& axes, KeepDim keepdim) {
  return var(real(z), axes, keepdim) + var(imag(z), axes, keepdim);
}
const NamedReduction& var_reduction() {
  static const NamedReduction r{"var", graph_of([](auto x) { return variance(x); }), true, complex_variance};
  return r;
}
const NamedReduction& std_reduction() {
  static const NamedReduction r{"std", graph_of([](auto x) { return root_or_zero(variance(x)); }), true,
                                [](const Var& z, const Axes& axes, KeepDim keepdim) {
                                  return root_or_zero("std", complex_variance(z, axes, keepdim));
                                }};
  return r;
}
/// The norm does not depend on the scale, which has no gradient therefore.
const NamedReduction& norm_reduction() {
  static const NamedReduction r{
      "norm", graph_of([](auto x) {
        auto top = detach(max(abs(x)));
        auto scale = where((top > 0) & (top < Expr(kInf)), top, 1);
        auto scaled = x / scale;
        auto squares = sum(scaled * scaled);
        return scale * root_or_zero(squares);
      }),
      true, [](const Var& z, const Axes& axes, KeepDim keepdim) { return norm(abs(z), axes, keepdim); }};
  return r;
}
/// Where there is a NaN the extreme is one, and equals nothing. As programs know it (OnlineSum::kPlace), x is read
/// once.
template <class Best> const FormulaGraph* arg_graph(Best best) {
  const Expr x = make_input(0);
  const Expr result = min(where((x == best(x)) | (x != x), ordinal(x), OnlineSum::kNowhere));
  return make_graph({&result, 1}, 1);
}
const NamedReduction& argmax_reduction() {
  static const NamedReduction r{"argmax", arg_graph([](Expr x) { return max(x); }), false};
  return r;
}
const NamedReduction& argmin_reduction() {
  static const NamedReduction r{"argmin", arg_graph([](Expr x) { return min(x); }), false};
  return r;
}
// Over nothing max of predicates gives the lowest integer: the comparison makes that false, and true for min.
const NamedReduction& any_reduction() {
  static const NamedReduction r{"any", graph_of([](auto x) { return max(cast(x != 0, DType::i32)) > 0; })};
  return r;
}
const NamedReduction& all_reduction() {
  static const NamedReduction r{"all", graph_of([](auto x) { return min(cast(x != 0, DType::i32)) > 0; })};
  return r;
}

/// A product under autograd: halves multiplied elementwise until one element is left, right at zeros to any order. Of
/// 16 bits in f32, and rounded once, as without autograd.
Var product_tree(const Var& x, std::uint32_t mask, KeepDim keepdim) {
  if (dtype_size(x.dtype()) < 4) return product_tree(x.to(DType::f32), mask, keepdim).to(x.dtype());
  Axes order;
  for (int i = 0; i < x.dim(); ++i)
    if (!(mask >> i & 1)) order.push_back(i);
  Shape kept = without_axes(x.shape(), mask), flat = kept;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) order.push_back(i);
  flat.push_back(-1);
  std::int64_t length = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) length *= x.shape()[static_cast<std::size_t>(i)];
  flat.back() = length;
  Var level = (order.rank() ? x.permute(order) : x).reshape(flat);
  const int last = flat.rank() - 1;
  if (length == 0)
    return as_var(ones(keepdim ? with_ones(x.shape(), mask) : kept, {.dtype = x.dtype(), .device = x.device()}));
  while (length > 1) {
    const std::int64_t half = length / 2;
    const Var pairs = level.slice(last, 0, half) * level.slice(last, half, 2 * half);
    level = length % 2 ? concatenate(std::vector<Var>{pairs, level.slice(last, length - 1, length)}, last) : pairs;
    length = half + length % 2;
  }
  return level.reshape(keepdim ? with_ones(x.shape(), mask) : kept);
}

template <class> using TensorOf = Tensor;

}  // namespace

template <TensorOrVar T> T prod(const T& x, const Axes& axes, KeepDim keepdim) {
  if constexpr (std::same_as<T, Var>)
    if (tracked({&x, 1})) return product_tree(x, checked_mask(prod_reduction(), x.value(), axes), keepdim);
  if (is_complex(require_defined("prod", "x", value_of(x)).dtype()))
    return operand_as<T>(product_tree(as_var(x), checked_mask(prod_reduction(), value_of(x), axes), keepdim));
  return reduced_by(prod_reduction(), x, axes, keepdim);
}
TERN_INSTANCES_1(ResultOf, prod, const Axes&, KeepDim)

#define TERN_REDUCTION(name)                                                       \
  template <TensorOrVar T> T name(const T& x, const Axes& axes, KeepDim keepdim) { \
    return reduced_by(name##_reduction(), x, axes, keepdim);                       \
  }                                                                                \
  TERN_INSTANCES_1(ResultOf, name, const Axes&, KeepDim)
TERN_REDUCTION(max)
TERN_REDUCTION(min)
TERN_REDUCTION(logsumexp)
#undef TERN_REDUCTION

// Of integers as mean is: computed in f64 where there is such, then in f32.
#define TERN_FLOATING_REDUCTION(name)                                              \
  template <TensorOrVar T> T name(const T& x, const Axes& axes, KeepDim keepdim) { \
    const bool computes = !value_of(x).defined() || is_differentiable(x.dtype());  \
    if (!computes) return name(in_floating(x), axes, keepdim).to(DType::f32);      \
    return reduced_by(name##_reduction(), x, axes, keepdim);                       \
  }                                                                                \
  TERN_INSTANCES_1(ResultOf, name, const Axes&, KeepDim)
TERN_FLOATING_REDUCTION(var)
TERN_FLOATING_REDUCTION(std)
TERN_FLOATING_REDUCTION(norm)
#undef TERN_FLOATING_REDUCTION

// Positions and predicates have no gradient: they are Tensors.
#define TERN_INDEX_REDUCTION(name)                                                      \
  template <TensorOrVar T> Tensor name(const T& x, const Axes& axes, KeepDim keepdim) { \
    return reduced_by(name##_reduction(), value_of(x), axes, keepdim);                  \
  }                                                                                     \
  TERN_INSTANCES_1(TensorOf, name, const Axes&, KeepDim)
TERN_INDEX_REDUCTION(argmax)
TERN_INDEX_REDUCTION(argmin)
TERN_INDEX_REDUCTION(any)
TERN_INDEX_REDUCTION(all)
#undef TERN_INDEX_REDUCTION

}  // namespace tern
