// Sums of products over named axes: einsum, and the products that are special cases of it.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "tern/views.hpp"

namespace tern {

namespace detail {
template <TensorOrVar R> R einsum_of(std::string_view equation, const std::vector<R>& operands);
}  // namespace detail

/// Σ of products over the letters that the result lacks, as NumPy writes it: "ij,jk->ik", "bhld,bhmd->bhlm", "ii->i",
/// "...ij,...jk" (without -> the result has the letters that stand once, in alphabetical order). Two operands at a time
/// are multiplied as matrices, in the order that takes the fewest operations (of more than six: the next best pair).
/// Axes of size 1 broadcast. An equation that has no meaning, or is of another number of operands, throws `value`,
/// sizes that differ `shape`; integers with floats are a `dtype` error in all these products. Of one operand without a
/// sum the result is a view.
template <TensorOrVar... X>
  requires(sizeof...(X) > 0)
ResultOf<X...> einsum(std::string_view equation, const X&... operands) {
  using R = ResultOf<X...>;
  std::vector<R> list;
  list.reserve(sizeof...(X));
  (list.push_back([&]() -> R {
    if constexpr (std::same_as<R, X>) return operands;
    else return detail::as_var(operands);
  }()),
   ...);
  return detail::einsum_of<R>(equation, list);
}
/// The same of any number of operands.
template <TensorOrVar T> T einsum(std::string_view equation, const std::vector<T>& operands) {
  return detail::einsum_of<T>(equation, operands);
}

/// Σ of products over the last `axes` axes of a and the first ones of b, in order: of 1 the product of matrices, of 0
/// the outer product. Throws `index` where an operand has fewer.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> tensordot(const A& a, const B& b, int axes = 2);
/// Σ of products over these axes of a and those of b, pair by pair.
template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> tensordot(const A& a, const B& b, const Axes& axes_of_a, const Axes& axes_of_b);
/// Σ of products over the last axes: [.., K] and [.., K] give the first's other axes, then the second's. An operand
/// without axes multiplies.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> inner(const A& a, const B& b);
/// Every element of a times every element of b, both taken as lists: [N] and [M] give [N, M].
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> outer(const A& a, const B& b);
/// Σ a·b along an axis, after broadcasting. Of complex numbers a is conjugated.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> vecdot(const A& a, const B& b, int axis = -1);
/// The vector product a × b along an axis of size 3, after broadcasting.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> cross(const A& a, const B& b, int axis = -1);
/// The Kronecker product: blocks a[i, j]·b, of tensors of any rank.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> kron(const A& a, const B& b);
/// Σ x[.., i, i + offset] over the diagonal of the last two axes.
template <TensorOrVar T> T trace(const T& x, std::int64_t offset = 0);
/// The product of n times the square matrix x, by squaring; of 0 the identity, of a negative n that of its inverse.
template <TensorOrVar T> T matrix_power(const T& x, std::int64_t n);
/// The product of two or more matrices in the order that takes the fewest multiplications. The first may be a row [K],
/// the last a column [K].
template <TensorOrVar T> T multi_dot(const std::vector<T>& matrices);

}  // namespace tern
