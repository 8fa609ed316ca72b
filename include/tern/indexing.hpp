// Selecting elements as NumPy does, x(…), and writing to what was selected.
//
//   x(0), x(-1, Slice(2, 8, 2)), x(ellipsis, newaxis), x(mask), x(rows, columns)     integers, ranges, masks, positions
//   assign(x(mask), 0), x(rows) += 1                                                 write x
//   y = index_put(x, {Slice(), columns}, values)                                     a new one, differentiable
#pragma once
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "tern/ops.hpp"

namespace tern {
namespace detail {

/// One of the indices in x(…).
class Index {
 public:
  enum class Kind { integer, slice, ellipsis, newaxis, tensor };
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T at) : kind_(Kind::integer), integer_(Dim(at).value) {}
  Index(const Slice& range) : kind_(Kind::slice), slice_(range) {}
  Index(Ellipsis) : kind_(Kind::ellipsis) {}
  Index(NewAxis) : kind_(Kind::newaxis) {}
  Index(const Tensor& positions) : kind_(Kind::tensor), tensor_(positions) {}

  Kind kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  std::int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

template <TensorOrVar T> T select(const T& x, std::span<const Index> at);
void assign_to(const Tensor& part, const Tensor& values, bool temporary);
void assign_to(const Tensor& part, Number value, bool temporary);
}  // namespace detail

template <detail::IndexOperand... I> Tensor Tensor::operator()(const I&... at) const {
  return detail::select(*this, std::array<detail::Index, sizeof...(I)>{detail::Index(at)...});
}
template <detail::IndexOperand... I> Var Var::operator()(const I&... at) const {
  return detail::select(*this, std::array<detail::Index, sizeof...(I)>{detail::Index(at)...});
}

/// Overwrites the elements of a part of x, as in assign(x(0, mask), 1): with one number, or with those of a tensor,
/// broadcast and of x's dtype. What masks and positions select is written where it came from, of places named twice by
/// the last; a part that has a name is its own tensor where it is a copy. A mask waits for its count; `masked_fill` and
/// `where` do not. GPUs find positions out of range when they write: the error arrives at the next wait, after that.
template <class P, class V>
  requires std::same_as<std::remove_cvref_t<P>, Tensor>
void assign(P&& part, const V& value) {
  static_assert(std::same_as<V, Tensor> || detail::Plain<V> || detail::ComplexNumber<V>,
                "assign writes a Tensor or a plain number: make a tensor of other values, as in tern::tensor(values)");
  constexpr bool unnamed = !std::is_lvalue_reference_v<P>;
  if constexpr (std::same_as<V, Tensor>) detail::assign_to(part, value, unnamed);
  else if constexpr (detail::ComplexNumber<V>)
    detail::assign_to(part, detail::complex_beside(part, value.real(), value.imag()), unnamed);
  else if constexpr (detail::Plain<V>) detail::assign_to(part, Number(value), unnamed);
}
template <class P, class V>
  requires std::same_as<std::remove_cvref_t<P>, Var>
void assign(P&&, const V&) {
  static_assert(detail::always_false<V>,
                "a Var is not written to: make a new one, as in x = index_put(x, {…}, values), or write the elements, "
                "unrecorded, with assign(x.value()(…), value)");
}

/// A copy of x with `values`, broadcast to the shape of x(…), in the places that `at` lists as x(…) would; of places
/// named twice the last counts, or, with accumulate, all are added. The gradient of x is 0 where it was overwritten,
/// that of values is 0 where they were. x of more than 2^31 - 1 elements throws `shape`.
template <TensorOrVar X, TensorOrVar V>
ResultOf<X, V> index_put(const X& x, const std::vector<detail::Index>& at, const V& values, bool accumulate = false);
/// The positions (i32) of what is not zero, in row-major order: a tensor for each axis. Waits for the count, so that a
/// recording refuses it (`unsupported`).
template <TensorOrVar T> std::vector<Tensor> nonzero(const T& x);
/// nonzero(condition)
inline std::vector<Tensor> where(const Tensor& condition) { return nonzero(condition); }
/// The elements where the mask, broadcast with x, is true, in row-major order, along one axis. Waits for the count.
template <TensorOrVar T> T masked_select(const T& x, const Tensor& mask);
/// x, with `value` where the mask, broadcast with x, is true.
template <TensorOrVar T> T masked_fill(const T& x, const Tensor& mask, Number value);
/// result[.., i, ..] = x[.., indices[.., i, ..], ..]: gather, with the other axes of x and indices broadcast.
template <TensorOrVar T> T take_along_axis(const T& x, const Tensor& indices, int axis = -1);
/// A copy of x with `values`, broadcast to the shape of the indices, where take_along_axis reads; of places named twice
/// the last counts.
template <TensorOrVar X, TensorOrVar V>
ResultOf<X, V> put_along_axis(const X& x, const Tensor& indices, const V& values, int axis = -1);

}  // namespace tern
