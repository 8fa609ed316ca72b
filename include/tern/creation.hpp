// Creation beyond zeros, ones and ranges: like another tensor, grids, diagonals, of a function.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "tern/ops.hpp"

namespace tern {

/// Elements of any value: to be written before they are read.
Tensor empty(const Shape& shape, const Options& options = {});
template <std::integral... D> requires(sizeof...(D) > 1) Tensor empty(D... sizes) { return empty({sizes...}); }
// The identity with ones on the k-th diagonal (above the main one; negative: below) and so many rows and columns.
template <std::integral C>
Tensor eye(std::int64_t rows, C columns, std::int64_t k = 0, const Options& options = {});
namespace detail {
Tensor shifted_eye(std::int64_t rows, std::int64_t columns, std::int64_t k, const Options& options);
}
template <std::integral C> Tensor eye(std::int64_t rows, C columns, std::int64_t k, const Options& options) {
  return detail::shifted_eye(rows, static_cast<std::int64_t>(columns), k, options);
}
/// `count` values from base^begin to base^end, both included, each the same multiple of the one before.
Tensor logspace(double begin, double end, std::int64_t count, double base = 10, const Options& options = {});
/// `count` values from begin to end, both included, each the same multiple of the one before; of one sign, and not 0.
Tensor geomspace(double begin, double end, std::int64_t count, const Options& options = {});

/// Every element 0, of x's shape, device and (where none is given) dtype.
template <TensorOrVar T> Tensor zeros_like(const T& x, std::optional<DType> dtype = {});
/// Every element 1, like x.
template <TensorOrVar T> Tensor ones_like(const T& x, std::optional<DType> dtype = {});
/// Every element `value`, like x.
template <TensorOrVar T> Tensor full_like(const T& x, Number value, std::optional<DType> dtype = {});
/// Elements of any value, like x.
template <TensorOrVar T> Tensor empty_like(const T& x, std::optional<DType> dtype = {});

enum class MeshOrder { ij, xy };
/// Each of these vectors along an axis of its own, broadcast to the grid of them all (views). xy: the first two axes
/// exchanged, as NumPy has it unless told.
template <TensorOrVar T = Tensor>
std::vector<T> meshgrid(const std::vector<T>& vectors, MeshOrder order = MeshOrder::ij);
/// Of a vector, the square matrix with it on the k-th diagonal; of a matrix, its k-th diagonal.
template <TensorOrVar T> T diag(const T& x, std::int64_t k = 0);
/// The last axis as the k-th diagonal of square matrices, in the last two axes, that are 0 elsewhere.
template <TensorOrVar T> T diag_embed(const T& x, std::int64_t k = 0);
/// The lower triangle of the last two axes up to the k-th diagonal, 0 above.
template <TensorOrVar T> T tril(const T& x, std::int64_t k = 0);
/// The upper triangle of the last two axes from the k-th diagonal on, 0 below.
template <TensorOrVar T> T triu(const T& x, std::int64_t k = 0);

namespace detail {
/// What positions are given as in a formula whose results have this dtype.
inline DType coordinate_dtype(DType result) {
  if (is_complex(result)) return real_dtype(result);
  return !is_floating(result) || dtype_size(result) == 8 ? result : DType::f32;
}
template <class F, std::size_t... I>
Tensor from_coordinates(const F& f, const Shape& shape, const Options& options, std::index_sequence<I...>) {
  const DType dtype = coordinate_dtype(options.dtype);
  const auto formula = [&](auto x) {
    return cast(Expr(f(cast(index(x, static_cast<int>(I)), dtype)...)), options.dtype);
  };
  return Pointwise<>("from_function", formula)(empty(shape, options));
}
}  // namespace detail
/// f(i, j, …) for each element, of its coordinates, as many as there are axes: a formula, in one kernel. Coordinates
/// come in the dtype of the result, for 16-bit floats in f32.
///   from_function([](auto i, auto j) { return 1 / (i + j + 1); }, {3, 3})
template <class F> Tensor from_function(const F& f, const Shape& shape, const Options& options = {}) {
  constexpr int n = detail::arity_of<F>();
  if (shape.rank() != n)
    throw Error(ErrorKind::shape, "from_function: a function of " + std::to_string(n) + " coordinates for shape " +
                                      to_string(shape));
  return detail::from_coordinates(f, shape, options, std::make_index_sequence<static_cast<std::size_t>(n)>());
}

template <detail::ExactDType D> Tensor empty(const Shape& shape, D dtype) {
  return empty(shape, Options{.dtype = dtype});
}

}  // namespace tern
