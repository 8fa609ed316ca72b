// tern's tensors as matrices of Eigen, and Eigen's as tensors. Include it where you include Eigen; tern.hpp does not.
#pragma once
#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tern/interop.hpp"

namespace tern {

namespace detail {
template <> struct DTypeOf<Eigen::half> {
  static constexpr DType value = DType::f16;
};
template <> struct DTypeOf<Eigen::bfloat16> {
  static constexpr DType value = DType::bf16;
};

/// A matrix, array, map, block or expression of Eigen.
template <class M>
concept EigenDense = std::is_base_of_v<Eigen::DenseBase<std::remove_cvref_t<M>>, std::remove_cvref_t<M>>;
/// One whose elements lie in memory, with strides.
template <class M>
concept EigenDirect = EigenDense<M> && (int(std::remove_cvref_t<M>::Flags) & Eigen::DirectAccessBit) != 0;
/// A matrix or array that owns its elements.
template <class M>
concept EigenPlain = std::is_base_of_v<Eigen::PlainObjectBase<std::remove_cvref_t<M>>, std::remove_cvref_t<M>>;

using EigenSteps = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
/// as_eigen<float>: a matrix, row by row; as_eigen<Eigen::MatrixXd>: that.
template <class M, bool scalar = Element<M>> struct EigenType {
  using type = std::remove_cv_t<M>;
};
template <class M> struct EigenType<M, true> {
  using type = Eigen::Matrix<std::remove_cv_t<M>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
};
/// Of a const M, the map is of const elements.
template <class M>
using EigenMapped =
    std::conditional_t<std::is_const_v<M>, const typename EigenType<M>::type, typename EigenType<M>::type>;

template <EigenDirect M, class Scalar>
Tensor view_of_eigen(const M& m, Scalar* first, std::shared_ptr<const void> keep_alive) {
  static_assert(Element<Scalar>, "Eigen's scalar must be an element type of tern");
  if constexpr (M::IsVectorAtCompileTime) {
    return Tensor::view(first, Shape{static_cast<std::int64_t>(m.size())}, {static_cast<std::int64_t>(m.innerStride())},
                        std::move(keep_alive));
  } else {
    const auto inner = static_cast<std::int64_t>(m.innerStride()), outer = static_cast<std::int64_t>(m.outerStride());
    const Shape shape{static_cast<std::int64_t>(m.rows()), static_cast<std::int64_t>(m.cols())};
    if (M::IsRowMajor) return Tensor::view(first, shape, {outer, inner}, std::move(keep_alive));
    return Tensor::view(first, shape, {inner, outer}, std::move(keep_alive));
  }
}
/// Rows, columns and steps of a tensor as Eigen counts them.
struct EigenLayout {
  Eigen::Index rows = 1, columns = 1;
  std::int64_t row_step = 0, column_step = 0;
};
template <class M> EigenLayout eigen_layout(const char* op, const Tensor& x) {
  const Shape& shape = x.shape();
  const Strides& strides = x.strides();
  EigenLayout l;
  if (x.dim() == 2) {
    l = {static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]), strides[0], strides[1]};
  } else if (x.dim() == 1 && M::RowsAtCompileTime == 1) {
    l = {1, static_cast<Eigen::Index>(shape[0]), 0, strides[0]};
  } else if (x.dim() == 1) {
    l = {static_cast<Eigen::Index>(shape[0]), 1, strides[0], 0};
  } else {
    refuse_layout(op, x, "is no matrix or vector: Eigen takes one or two axes");
  }
  const auto fits = [](int fixed, Eigen::Index size) { return fixed == Eigen::Dynamic || fixed == size; };
  if (!fits(M::RowsAtCompileTime, l.rows) || !fits(M::ColsAtCompileTime, l.columns))
    refuse_layout(op, x,
                  "has other sizes than Eigen's type: " + std::to_string(M::RowsAtCompileTime) + " rows and " +
                      std::to_string(M::ColsAtCompileTime) + " columns (-1: any)");
#if !EIGEN_VERSION_AT_LEAST(3, 4, 0)
  if (l.row_step < 0 || l.column_step < 0)
    refuse_layout(op, x, "has negative strides, which Eigen takes from 3.4 on; copy it with .contiguous()");
#endif
  return l;
}
}  // namespace detail

/// A tensor with the values of a matrix, array, map, block or expression of Eigen: [rows, columns], or [n] of a vector.
/// The values are copied, row-major, but for a matrix or array that is moved in, `from_eigen(std::move(m))`, whose
/// memory becomes the tensor's as it lies (Eigen's default is column by column).
template <class M>
  requires detail::EigenDense<M>
Tensor from_eigen(M&& m) {
  using Matrix = std::remove_cvref_t<M>;
  using Scalar = typename Matrix::Scalar;
  static_assert(Element<Scalar>,
                "from_eigen: the matrix's scalar must be bool, std::int8_t … std::int64_t, std::uint8_t, "
                "std::uint32_t, Eigen::half, Eigen::bfloat16, float, double, or std::complex of these: .cast<>() it");
  if constexpr (detail::EigenPlain<M> && !std::is_lvalue_reference_v<M> && !std::is_const_v<Matrix> &&
                !std::is_const_v<std::remove_reference_t<M>>) {
    const auto owner = std::make_shared<Matrix>(std::move(m));
    return detail::view_of_eigen(*owner, owner->data(), owner);
  } else {
    constexpr int order = Matrix::ColsAtCompileTime == 1 ? Eigen::ColMajor : Eigen::RowMajor;  // of a vector: Eigen's
    using Rows = Eigen::Array<Scalar, Matrix::RowsAtCompileTime, Matrix::ColsAtCompileTime,
                              Matrix::RowsAtCompileTime == 1 ? Eigen::RowMajor : order>;
    auto owner = std::make_shared<Rows>(m.derived().template cast<Scalar>());
    return detail::view_of_eigen(*owner, owner->data(), owner);
  }
}

/// A tensor over the elements of a matrix, array, map or block of Eigen, without a copy: writing into one changes the
/// other. The elements must outlive the tensor (hold `keep_alive` to make sure), and the matrix must not be resized. Of
/// a const one, the tensor can only be read.
template <class M>
  requires detail::EigenDirect<M> && std::is_lvalue_reference_v<M&&>
Tensor view_eigen(M&& m, std::shared_ptr<const void> keep_alive = {}) {
  return detail::view_of_eigen(m.derived(), m.derived().data(), std::move(keep_alive));
}

/// A CPU tensor as an Eigen::Map of its elements, where they lie, in any layout: `as_eigen<float>(x)`, row-major, or
/// `as_eigen<Eigen::MatrixXf>(x)`, of any type of Eigen's matrices and arrays. One axis is a column (of a row vector's
/// type, a row), two are a matrix. The map is good as long as a tensor shares the memory. As with data_ptr, the call
/// counts as a write; ask for `as_eigen<const float>(x)` to read. A broadcast view can only be read.
///
/// Errors: `dtype` where the scalar is another, `shape` where there are other axes or sizes, `device` of a GPU's
/// tensors, `unsupported` where the memory can only be read.
template <class M, TensorOrVar T> auto as_eigen(const T& x) {
  constexpr const char* op = "as_eigen";
  using Mapped = detail::EigenMapped<M>;
  using Matrix = std::remove_const_t<Mapped>;
  static_assert(detail::EigenPlain<Matrix>, "as_eigen: an element type, or a type of Eigen's matrices and arrays");
  using Scalar = typename Matrix::Scalar;
  static_assert(Element<Scalar>, "as_eigen: the matrix's scalar must be an element type of tern");
  const Tensor& tensor = detail::tensor_of(x);
  detail::require_on_cpu(op, tensor);
  const detail::EigenLayout l = detail::eigen_layout<Matrix>(op, tensor);
  auto* const first =
      static_cast<Scalar*>(detail::first_element(op, tensor, dtype_of<Scalar>, !std::is_const_v<Mapped>));
  const auto outer = static_cast<Eigen::Index>(Matrix::IsRowMajor ? l.row_step : l.column_step);
  const auto inner = static_cast<Eigen::Index>(Matrix::IsRowMajor ? l.column_step : l.row_step);
  return Eigen::Map<Mapped, Eigen::Unaligned, detail::EigenSteps>(first, l.rows, l.columns,
                                                                  detail::EigenSteps(outer, inner));
}

}  // namespace tern
