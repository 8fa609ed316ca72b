// Elements that meet in one place: products, extremes, means, and the last.
#include <string>
#include <vector>

#include "autodiff/instances.hpp"
#include "backend/named_errors.hpp"
#include "formula/extremes.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/scatter/operation.hpp"
#include "tern/complex.hpp"
#include "tern/sets.hpp"

namespace tern {

using namespace detail;

namespace {

constexpr const char* kScatterReduce = "scatter_reduce";

Combine combine_of(Reduce how) {
  switch (how) {
    case Reduce::multiply: return Combine::mul;
    case Reduce::minimum: return Combine::minimum;
    case Reduce::maximum: return Combine::maximum;
    case Reduce::set: return Combine::last;
    default: return Combine::add;
  }
}
Tensor counted_from(std::int64_t count, const Tensor& like) {
  return arange(0, count, 1, {.dtype = DType::i32, .device = like.device()});
}
Tensor same(std::int64_t size, std::int32_t value, const Tensor& like) {
  return full({size}, value, {.dtype = DType::i32, .device = like.device()});
}

/// The request along one axis that holds all elements, for what is recorded.
struct Flat {
  Var x, source;
  Tensor at;  // i32, counted from 0
};
Flat flattened(const Var& x, const Tensor& indices, const Var& source, int axis) {
  if (x.numel() > kMostPositions)
    throw Error(ErrorKind::shape, std::string(kScatterReduce) + ": positions are i32, and x, " + describe(x.value()) +
                                      ", has more than 2^31-1 elements");
  const Tensor numbers = counted_from(x.numel(), x.value()).reshape(x.shape());
  const bool take_like =
      is_take_like(x.value(), indices, source.value(), normalize_axis(kScatterReduce, axis, x.dim()));
  const Tensor at = take_like ? take(numbers, indices, axis) : gather(numbers, indices, axis);
  return {x.reshape({-1}), source.reshape({-1}), at.reshape({-1})};
}
/// x, and where there is a winner (its position; -1 for none) the source's element.
Var winners_of(const Flat& f, const Tensor& winner) {
  return where(winner >= 0, take(f.source, maximum(winner, 0)), f.x);
}
Tensor last_winner(const Flat& f) {
  return scattered(kScatterReduce, Combine::last, same(f.x.numel(), -1, f.at), f.at, counted_from(f.at.numel(), f.at),
                   0);
}
/// Where x's own element is not the extreme, the first of the source's that is. `covered`: places whose own element
/// does not count (undefined: none).
Tensor extreme_winner(const Flat& f, const Tensor& extremes, const Tensor& covered) {
  static const Pointwise is_it("scatter_reduce", [](auto v, auto e) { return (v == e) | ((v != v) & (e != e)); });
  const std::int64_t count = f.at.numel();
  const Tensor same_as_own = is_it(f.x.value(), extremes), of_source = is_it(f.source.value(), take(extremes, f.at));
  const Tensor own = covered.defined() ? same_as_own & ~covered.reshape({-1}) : same_as_own;
  const Tensor first =
      scattered(kScatterReduce, Combine::minimum, same(f.x.numel(), static_cast<std::int32_t>(count), f.at), f.at,
                where(of_source, counted_from(count, f.at), static_cast<std::int32_t>(count)), 0);
  return where(own | (first == static_cast<std::int32_t>(count)), -1, first);
}
/// Products of the elements of each place, doubling how many are joined: divides by nothing, so that zeros have
/// gradients of every order.
Var product_by_index(const Flat& f) {
  const std::int64_t count = f.at.numel();
  const Tensor order = argsort(f.at, 0), places = take(f.at, order);
  Var products = take(f.source, order);
  for (std::int64_t reach = 1; reach < count; reach *= 2) {
    const Tensor joined = places.slice(0, reach) == places.slice(0, 0, count - reach);
    const Var before = where(joined, products.slice(0, 0, count - reach), 1);
    products = concatenate(std::vector<Var>{products.slice(0, 0, reach), products.slice(0, reach) * before});
  }
  const Tensor last =
      scattered(kScatterReduce, Combine::last, same(f.x.numel(), -1, f.at), places, counted_from(count, f.at), 0);
  return f.x * where(last >= 0, take(products, maximum(last, 0)), 1);
}

/// How many sources meet at each place (i32).
Tensor met(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  const Options like{.dtype = DType::i32, .device = x.device()};
  return scattered(kScatterReduce, Combine::add, zeros(x.shape(), like), indices, ones(source.shape(), like), axis);
}
/// Products whose gradient is asked for, and those of complex numbers, which no kernel multiplies; of 16 bits in f32,
/// and rounded once, as kernels do.
Var multiplied(const Var& x, const Tensor& indices, const Var& source, int axis) {
  if (source.numel() == 0) return x.clone();
  if (is_floating(x.dtype()) && dtype_size(x.dtype()) < 4)
    return multiplied(x.to(DType::f32), indices, source.to(DType::f32), axis).to(x.dtype());
  return product_by_index(flattened(x, indices, source, axis)).reshape(x.shape());
}

Var recorded(const Var& x, const Tensor& indices, const Var& source, Reduce how, int axis, const Tensor& covered) {
  // The value, and all that is checked.
  const Tensor value = scattered(kScatterReduce, combine_of(how), x.value(), indices, source.value(), axis);
  const Var inputs[] = {x, source};
  if (!tracked(inputs) || source.numel() == 0) return source.numel() == 0 ? x.clone() : as_var(value);
  if (how == Reduce::multiply) return multiplied(x, indices, source, axis);
  const Flat f = flattened(x, indices, source, axis);
  return winners_of(f, how == Reduce::set ? last_winner(f) : extreme_winner(f, value.reshape({-1}), covered))
      .reshape(x.shape());
}

/// What changes nothing.
Number neutral(Reduce how, DType dtype) {
  switch (how) {
    case Reduce::multiply: return 1;
    case Reduce::minimum: return extreme_of(dtype, true);
    case Reduce::maximum: return extreme_of(dtype, false);
    default: return 0;
  }
}
/// Of x and source in one dtype. Complex ones are written as pairs.
template <TensorOrVar X, TensorOrVar S>
ResultOf<X, S> combined_by_index(const X& x, const Tensor& indices, const S& source, Reduce how, int axis,
                       const Tensor& covered) {
  if (how == Reduce::add) return in_name_of(kScatterReduce, [&] { return scatter_add(x, indices, source, axis); });
  if (is_complex(x.dtype())) {
    met(value_of(x), indices, value_of(source), axis);  // checks
    if (how == Reduce::multiply)
      return operand_as<ResultOf<X, S>>(multiplied(as_var(x), indices, as_var(source), axis));
    const int a = normalize_axis(kScatterReduce, axis, x.dim());
    const Tensor at = is_take_like(value_of(x), indices, value_of(source), a) ? indices : for_pairs(indices);
    return view_as_complex(combined_by_index(view_as_real(x), at, view_as_real(source), how, a, Tensor()));
  }
  if constexpr (std::same_as<ResultOf<X, S>, Tensor>)
    return scattered(kScatterReduce, combine_of(how), x, indices, source, axis);
  else return recorded(as_var(x), indices, as_var(source), how, axis, covered);
}

}  // namespace

template <TensorOrVar X, TensorOrVar S>
ResultOf<X, S> scatter_reduce(const X& x, const Tensor& indices, const S& source, Reduce how, int axis,
                              bool include_self) {
  require_defined(kScatterReduce, "x", value_of(x)), require_defined(kScatterReduce, "indices", indices);
  require_defined(kScatterReduce, "source", value_of(source));
  if (x.dtype() != source.dtype()) {
    const DType both = promote_types(x.dtype(), source.dtype());
    return scatter_reduce(x.to(both), indices, source.to(both), how, axis, include_self);
  }
  const bool means = how == Reduce::mean;
  if (means && !is_differentiable(x.dtype()))
    throw Error(ErrorKind::dtype, "scatter_reduce: means need a floating dtype, x is " + describe(value_of(x)));
  if (how == Reduce::minimum || how == Reduce::maximum) require_real(kScatterReduce, "x", value_of(x));
  if (means && dtype_size(x.dtype()) < 4)  // rounded once
    return scatter_reduce(x.to(DType::f32), indices, source.to(DType::f32), how, axis, include_self).to(x.dtype());
  if (!means && (include_self || how == Reduce::set)) return combined_by_index(x, indices, source, how, axis, Tensor());
  const Tensor count = met(value_of(x), indices, value_of(source), axis);
  const DType divisor = real_dtype(x.dtype());
  const auto sums = [&](const X& at) { return combined_by_index(at, indices, source, Reduce::add, axis, Tensor()); };
  if (include_self) return sums(x) / (count + 1).to(divisor);
  const Tensor covered = count > 0;
  const X others = where(covered, neutral(how, x.dtype()), x);
  if (means) return sums(others) / maximum(count, 1).to(divisor);
  return combined_by_index(others, indices, source, how, axis, covered);
}
template Tensor scatter_reduce(const Tensor&, const Tensor&, const Tensor&, Reduce, int, bool);
template Var scatter_reduce(const Tensor&, const Tensor&, const Var&, Reduce, int, bool);
template Var scatter_reduce(const Var&, const Tensor&, const Tensor&, Reduce, int, bool);
template Var scatter_reduce(const Var&, const Tensor&, const Var&, Reduce, int, bool);

}  // namespace tern
