// tern's tensors in the hands of other libraries, and theirs as tensors, without a copy: std::mdspan and what is like
// it, and DLPack (NumPy, PyTorch, JAX, CuPy). Eigen's matrices have a header of their own, tern/eigen.hpp.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/autodiff.hpp"
#include "tern/dlpack.hpp"
#include "tern/tensor.hpp"

namespace tern {

namespace detail {
inline const Tensor& tensor_of(const Tensor& x) { return x; }
inline const Tensor& tensor_of(const Var& x) { return x.value(); }
/// Where the first element of a tensor of the CPU or CUDA lies, in any layout, once its values are there. `writes`: the
/// call counts as a write. Throws as data_ptr does, but for the layout.
void* first_element(const char* op, const Tensor& x, DType wanted, bool writes);
/// The program's memory as a tensor, as Tensor::view makes it, of a dtype known when the program runs.
Tensor lent_elements(void* first, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
                     std::shared_ptr<const void> keep_alive, Device device, bool read_only);
/// Throws `device` where the tensor is not on the CPU.
void require_on_cpu(const char* op, const Tensor& x);
/// "op: <the tensor and its strides> <what>", of kind shape.
[[noreturn]] void refuse_layout(const char* op, const Tensor& x, const std::string& what);

/// std::mdspan, Kokkos::mdspan, cuda::std::mdspan, …
template <class M>
concept MdspanLike = requires(const M& m) {
  requires Element<typename M::element_type>;
  typename M::extents_type::index_type;
  typename M::mapping_type;
  { M::rank() } -> std::convertible_to<std::size_t>;
  { M::extents_type::static_extent(0) } -> std::convertible_to<std::size_t>;
  m.data_handle();
  m.mapping();
  m.extents();
};
template <class M, std::size_t... i> auto extents_of(const Shape& sizes, std::index_sequence<i...>) {
  using E = typename M::extents_type;
  return E(static_cast<typename E::index_type>(sizes[i])...);
}
/// A mapping that takes any strides (layout_stride), by the array that its library has for them.
template <class Mapping>
concept StridedMapping = requires(const Mapping& m, const typename Mapping::extents_type& e) {
  m.strides();
  requires std::is_constructible_v<Mapping, decltype(e), std::remove_cvref_t<decltype(m.strides())>>;
};
template <class M> void require_sizes(const char* op, const Tensor& x) {
  using E = typename M::extents_type;
  constexpr auto any = static_cast<std::size_t>(-1);
  if (x.dim() != static_cast<int>(M::rank()))
    refuse_layout(op, x, "does not have the " + std::to_string(M::rank()) + " axes of the mdspan");
  std::int64_t last = 0;  // the furthest element
  for (std::size_t i = 0; i < M::rank(); ++i) {
    const std::int64_t size = x.shape()[i], stride = x.strides()[i];
    if (E::static_extent(i) != any && !std::cmp_equal(E::static_extent(i), size))
      refuse_layout(op, x,
                    "has another size than the mdspan, " + std::to_string(E::static_extent(i)) + ", along axis " +
                        std::to_string(i));
    if (!std::in_range<typename E::index_type>(size)) refuse_layout(op, x, "has a size beyond the mdspan's indices");
    if (stride < 0 && size > 1)
      refuse_layout(op, x, "has a negative stride, which an mdspan cannot have; copy it with .contiguous()");
    if (size > 1) last += (size - 1) * stride;
  }
  if (!std::cmp_less(last, std::numeric_limits<typename E::index_type>::max()))
    refuse_layout(op, x, "has elements beyond the mdspan's indices");
}
template <class M> typename M::mapping_type mapping_of(const char* op, const Tensor& x) {
  using Mapping = typename M::mapping_type;
  const auto extents = extents_of<M>(x.shape(), std::make_index_sequence<M::rank()>());
  if constexpr (StridedMapping<Mapping>) {
    std::remove_cvref_t<decltype(std::declval<const Mapping&>().strides())> strides{};
    using Index = std::remove_cvref_t<decltype(strides[0])>;
    std::int64_t outside = 1;  // a stride past every other element, of axes whose own is of no meaning
    for (std::size_t i = 0; i < M::rank(); ++i)
      if (x.shape()[i] > 1) outside = std::max(outside, x.shape()[i] * x.strides()[i]);
    for (std::size_t i = 0; i < M::rank(); ++i) {
      const bool counts = x.shape()[i] > 1 && x.numel() > 0;
      if (counts && x.strides()[i] == 0)
        refuse_layout(op, x, "is a broadcast view, which an mdspan cannot be; copy it with .contiguous()");
      const std::int64_t stride = counts ? x.strides()[i] : x.numel() > 0 ? outside : 1;
      strides[i] = static_cast<Index>(std::min<std::int64_t>(stride, std::numeric_limits<Index>::max()));
    }
    return Mapping(extents, strides);
  } else {
    Mapping mapping(extents);
    for (std::size_t i = 0; i < M::rank(); ++i)
      if (x.numel() > 0 && x.shape()[i] > 1 && !std::cmp_equal(mapping.stride(i), x.strides()[i]))
        refuse_layout(op, x,
                      "does not lie as the mdspan's layout says; copy it with .contiguous(), or ask for "
                      "layout_stride");
    return mapping;
  }
}
}  // namespace detail

/// The elements of a CPU tensor as an mdspan, where they lie: `to_mdspan<std::mdspan<float, std::dextents<int,
/// 2>>>(x)`, of the standard library or any other (Kokkos, cuda::std), with any extents. layout_stride takes every
/// layout without negative strides and broadcast axes, layout_right row-major tensors, layout_left transposed ones. It
/// is good as long as a tensor shares the memory. As with data_ptr, elements that are not const count as written by
/// this call.
///
/// Errors: `dtype` where the element type is another, `shape` where the number of axes, a static extent or the layout
/// is, `device` of a GPU's tensors, `unsupported` where the memory can only be read and the elements are not const.
template <detail::MdspanLike Mdspan, TensorOrVar T> Mdspan to_mdspan(const T& x) {
  constexpr const char* op = "to_mdspan";
  using Value = typename Mdspan::element_type;
  const Tensor& tensor = detail::tensor_of(x);
  detail::require_on_cpu(op, tensor);
  detail::require_sizes<Mdspan>(op, tensor);
  const auto mapping = detail::mapping_of<Mdspan>(op, tensor);
  void* const first = detail::first_element(op, tensor, dtype_of<Value>, !std::is_const_v<Value>);
  return Mdspan(static_cast<Value*>(first), mapping);
}

/// A tensor over the elements of an mdspan, whose memory must outlive it (hold `keep_alive` to make sure); as
/// Tensor::view, which says the errors. Of const elements: the tensor can only be read.
template <detail::MdspanLike Mdspan>
Tensor from_mdspan(const Mdspan& m, std::shared_ptr<const void> keep_alive = {}, Device device = cpu()) {
  Shape shape;
  std::vector<std::int64_t> strides;
  for (std::size_t i = 0; i < Mdspan::rank(); ++i) {
    shape.push_back(static_cast<std::int64_t>(m.extents().extent(i)));
    strides.push_back(static_cast<std::int64_t>(m.mapping().stride(i)));
  }
  typename Mdspan::element_type* const first = m.data_handle();
  return Tensor::view(first, shape, strides, std::move(keep_alive), device);
}

/// What to_dlpack takes beside the tensor.
struct DlpackOptions {
  bool read_only = false;  // the receiver must not write, which only DLManagedTensorVersioned can say
};
namespace detail {
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& x, DlpackOptions options);
DLManagedTensor* to_dlpack_unversioned(const Tensor& x, DlpackOptions options);
}  // namespace detail

/// A tensor of the CPU or of CUDA for another library, by DLPack, in any layout and without a copy. The caller owns
/// what is returned: it goes into a Python capsule ("dltensor_versioned", or "dltensor" of the older
/// `to_dlpack<DLManagedTensor>(x)`), into another library's from_dlpack, or is given back by `m->deleter(m)`, from any
/// thread. Until then the elements stay. What computes them has ended when this returns; of CUDA, the receiver's own
/// work on them must have ended before it calls the deleter. As with data_ptr, the call counts as a write unless
/// `read_only` is set, as it is by itself where the memory can only be read.
///
/// Errors: `device` of WebGPU's tensors (`.to(cpu())` is the remedy), `shape` of broadcast views, unless `read_only` is
/// set, `unsupported` in a recording, and where DLManagedTensor would have to say that it is for reading.
template <class Managed = DLManagedTensorVersioned, TensorOrVar T>
Managed* to_dlpack(const T& x, DlpackOptions options = {}) {
  static_assert(std::same_as<Managed, DLManagedTensorVersioned> || std::same_as<Managed, DLManagedTensor>,
                "to_dlpack makes a DLManagedTensorVersioned or a DLManagedTensor");
  const Tensor& tensor = detail::tensor_of(x);
  if constexpr (std::same_as<Managed, DLManagedTensor>) return detail::to_dlpack_unversioned(tensor, options);
  else return detail::to_dlpack_versioned(tensor, options);
}

/// Another library's tensor as one of tern's, without a copy. From here on it is tern's to give back: its deleter is
/// called when the last tensor over the memory goes, on whichever thread; where this throws, it is still the caller's.
/// Pinned host memory (kDLCUDAHost) becomes a tensor of the CPU, managed memory one of CUDA. Of CUDA, what computes the
/// elements must have ended, or run on the stream of a cuda_stream_scope. Where it is flagged as read-only, so is the
/// tensor.
///
/// Errors: `dtype` of element types that tern has not, vector lanes included; `device` of other devices, of those that
/// are not there, and of addresses that are no multiple of the element (complex ones: of their part); `shape` of
/// negative sizes and null pointers; `unsupported` of a newer major version of DLPack.
Tensor from_dlpack(DLManagedTensorVersioned* managed);
Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace tern
