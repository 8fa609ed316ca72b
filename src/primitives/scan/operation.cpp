// Running results along an axis: sums, products, extremes.
#include <array>
#include <string>

#include "backend/instruments/trace.hpp"

#include "autodiff/instances.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/scan/scan.hpp"
#include "tern/complex.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace {

Tensor scanned(const char* op, Combine combine, const Tensor& x, int axis, bool reverse = false) {
  require_defined(op, "x", x), require_real(op, "x", x);
  const int a = normalize_axis(op, axis, x.dim());
  Backend& backend = x.impl()->storage->backend();
  backend.require<ScanRequest>(op);
  Tensor result = make_tensor(x.shape(), x.dtype(), backend);
  run(backend, ScanRequest{op, combine, x.shape(), a, reverse, view_over(x, x.shape()), view_over(result, x.shape())});
  return result;
}
/// Of sums and products: narrow types have no room for them.
Tensor in_32_bits(const char* op, const Tensor& x) {
  require_defined(op, "x", x);
  return !is_floating(x.dtype()) && dtype_size(x.dtype()) < 4 ? x.to(DType::i32) : x;
}

/// As sum(x) gives them: u8, i8 and i16 in i64 where there is one.
Tensor of_running_sum(const char* op, const Tensor& x) {
  require_defined(op, "x", x);
  const bool counts = x.dtype() == DType::boolean || !x.impl()->storage->backend().supports(DType::i64);
  return !is_floating(x.dtype()) && dtype_size(x.dtype()) < 4 && !counts ? x.to(DType::i64) : in_32_bits(op, x);
}

Tensor running_sum(const Tensor& x, int axis, bool reverse) {
  return scanned("cumsum", Combine::add, of_running_sum("cumsum", x), axis, reverse);
}
Var running_sum(const Var& x, int axis, bool reverse) {
  return record_one(
      "cumsum", {&x, 1}, running_sum(x.value(), axis, reverse), {},
      [axis, reverse](const RuleContext& c) { return PoolVector<Var>{running_sum(c.grads[0], axis, !reverse)}; });
}

/// The running results of an operation on Vars, of pairs and then of those in between: 2n operations, log₂ n deep. Its
/// gradients are that operation's, to any order, and divide by nothing.
template <class F> Var running(const Var& x, int axis, const F& combine) {
  const std::int64_t n = x.size(axis), half = n / 2;
  if (n < 2) return x;
  const Var even = x.slice(axis, 0, n, 2), odd = x.slice(axis, 1, n, 2);
  const Var pairs = running(combine(even.slice(axis, 0, half), odd), axis, combine);  // up to each odd position
  const Var between = combine(pairs.slice(axis, 0, n - half - 1), even.slice(axis, 1));
  const Var first = even.slice(axis, 0, 1);
  const Var evens = n > 2 ? concatenate(std::vector<Var>{first, between}, axis) : first;
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = 2 * half;
  const Var both = stack(std::vector<Var>{evens.slice(axis, 0, half), pairs}, axis + 1).reshape(shape);
  return n % 2 ? concatenate(std::vector<Var>{both, evens.slice(axis, half)}, axis) : both;
}
/// By the kernel where nothing is recorded.
template <class F> Var scanned(const char* op, Combine combine, const Var& x, int axis, const F& on_vars) {
  if (!tracked({&x, 1})) return as_var(scanned(op, combine, x.value(), axis));
  if (x.dim() == kMaxRank)
    throw Error(ErrorKind::shape, std::string(op) + ": a Var may have up to " + std::to_string(kMaxRank - 1) +
                                      " axes, it is " + describe(x.value()));
  const int a = normalize_axis(op, axis, x.dim());
  if (dtype_size(x.dtype()) < 4) return running(x.to(DType::f32), a, on_vars).to(x.dtype());  // rounded once
  return running(x, a, on_vars);
}

/// Pairs of complex numbers lie along two axes more than they have.
Var complex_products(const char* op, const Var& z, int axis) {
  if (z.dim() + 2 > kMaxRank)
    throw Error(ErrorKind::shape, std::string(op) + ": complex numbers may have up to " +
                                      std::to_string(kMaxRank - 2) + " axes, x is " + describe(z.value()));
  return running(z, normalize_axis(op, axis, z.dim()), [](const Var& a, const Var& b) { return a * b; });
}

void require_floats(const char* op, const Tensor& x) {
  if (!is_floating(require_defined(op, "x", x).dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": x must be floating, got " + describe(x));
}

/// Each element's position along this axis where it is the extreme up to there, else 0.
const FormulaGraph* place_graph(int axis) {
  static const auto graphs = [] {
    std::array<const FormulaGraph*, kMaxRank> list{};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Expr v = make_input(0), top = make_input(1);
      const Expr at = where((v == top) | (v != v), index(v, static_cast<int>(i)), 0);
      list[i] = make_graph({&at, 1}, 2);
    }
    return list;
  }();
  return graphs[static_cast<std::size_t>(axis)];
}
/// The last position up to each element of one that was the extreme.
Tensor last_positions(const char* op, const Tensor& x, const Tensor& extremes, int axis) {
  const int a = normalize_axis(op, axis, x.dim());
  const Argument arguments[] = {Argument(x), Argument(extremes)};
  return scanned(op, Combine::maximum, fused_one<Tensor>({op, place_graph(a), 0, {}}, arguments), axis);
}
template <TensorOrVar T> Sorted<T> running_extreme(const char* op, Combine combine, const T& x, int axis) {
  require_defined(op, "x", value_of(x));
  if (x.size(normalize_axis(op, axis, x.dim())) > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": positions are i32, and axis " + std::to_string(axis) + " of " +
                                      describe(value_of(x)) + " has more than 2^31-1 elements");
  const Tensor values = scanned(op, combine, value_of(x), axis);
  const Tensor places = last_positions(op, value_of(x), values, axis);
  if constexpr (std::same_as<T, Tensor>) return {values, places};
  else return {gather(x, places, axis), places};
}

}  // namespace

template <TensorOrVar T> T cumsum(const T& x, int axis) {
  if (is_complex_tensor(value_of(x)))
    return as_pairs("cumsum", x, axis, [](const T& pairs, int a) { return cumsum(pairs, a); });
  return running_sum(x, axis, false);
}
template <TensorOrVar T> T cumulative_prod(const T& x, int axis) {
  constexpr const char* op = "cumulative_prod";
  if (is_complex_tensor(value_of(x))) return operand_as<T>(complex_products(op, as_var(x), axis));
  if constexpr (std::same_as<T, Tensor>) return scanned(op, Combine::mul, in_32_bits(op, x), axis);
  else {
    const Var wide = is_floating(in_32_bits(op, x.value()).dtype()) ? x : as_var(in_32_bits(op, x.value()));
    return scanned(op, Combine::mul, wide, axis, [](const Var& a, const Var& b) { return a * b; });
  }
}
template <TensorOrVar T> T logcumsumexp(const T& x, int axis) {
  constexpr const char* op = "logcumsumexp";
  require_floats(op, value_of(x));
  if constexpr (std::same_as<T, Tensor>) return scanned(op, Combine::logaddexp, x, axis);
  else return scanned(op, Combine::logaddexp, x, axis, [](const Var& a, const Var& b) { return logaddexp(a, b); });
}
template <TensorOrVar T> Sorted<T> cummax(const T& x, int axis) {
  return running_extreme("cummax", Combine::maximum, x, axis);
}
template <TensorOrVar T> Sorted<T> cummin(const T& x, int axis) {
  return running_extreme("cummin", Combine::minimum, x, axis);
}
TERN_INSTANCES_1(ResultOf, cumsum, int)
TERN_INSTANCES_1(ResultOf, cumulative_prod, int)
TERN_INSTANCES_1(ResultOf, logcumsumexp, int)
TERN_INSTANCES_1(Sorted, cummax, int)
TERN_INSTANCES_1(Sorted, cummin, int)

}  // namespace tern
