// Devices, streams and memory that belong to the program.
#include <cstdlib>

#include "backend/tensor_impl.hpp"
#include "cuda/cuda_backend.hpp"
#include "cuda/streams.hpp"
#include "tern/cuda.hpp"
#include "tern/tensor.hpp"
#include "tern/webgpu.hpp"
#ifdef TERN_WEBGPU
#include "webgpu/webgpu_backend.hpp"
#endif

namespace tern {
namespace {

#ifndef TERN_WEBGPU
[[noreturn]] void no_webgpu(const char* op) {
  throw Error(ErrorKind::device,
              std::string(op) + ": this build of tern has no WebGPU backend (webgpu.h was not found)");
}
#endif

/// Bytes from the beginning of memory to the end of the last element; throws `shape` where an element lies before it.
[[maybe_unused]] std::int64_t bytes_spanned(DType dtype, const Shape& shape, const Strides& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] < 0) throw Error(ErrorKind::shape, "view: strides of a buffer must not be negative");
    last += (shape[i] - 1) * strides[i];
  }
  return (last + 1) * static_cast<std::int64_t>(dtype_size(dtype));
}

}  // namespace

namespace detail {
namespace {

/// Kernels load vectors of 16 bytes from where a storage begins: it begins at such a place, and the tensor behind it.
void borrow_from_gpu(TensorImpl& impl, void* pointer, std::shared_ptr<const void> keep_alive, Device device) {
  constexpr std::intptr_t vector = 16, most = std::intptr_t{1} << 56;  // bytes
  const auto size = static_cast<std::intptr_t>(dtype_size(impl.dtype)), at = reinterpret_cast<std::intptr_t>(pointer);
  if (at % size != 0)
    throw Error(ErrorKind::device, "view: the pointer of " + describe(impl.dtype, impl.shape) +
                                       " must be a multiple of " + std::to_string(size) + " bytes, it is " +
                                       std::to_string(at % size) + " bytes past one");
  std::intptr_t low = 0, high = 0;  // of elements, in bytes
  for (std::size_t i = 0; i < impl.shape.size() && impl.numel > 0; ++i) {
    std::intptr_t reach = 0;
    bool beyond = __builtin_mul_overflow(impl.shape[i] - 1, impl.strides[i], &reach);
    beyond |= __builtin_mul_overflow(reach, size, &reach);
    std::intptr_t& end = reach < 0 ? low : high;
    if (beyond || __builtin_add_overflow(end, reach, &end) || std::abs(end) > most)
      throw Error(ErrorKind::shape, "view: stride " + std::to_string(impl.strides[i]) + " reaches beyond all memory");
  }
  const std::intptr_t first = at + low, end = impl.numel > 0 ? at + high + size : first,
                      begin = first / vector * vector;
  const auto address = [](std::intptr_t byte) { return static_cast<detail_cuda::DevicePointer>(byte); };
  impl.offset = impl.numel > 0 ? (at - begin) / size : 0;
  impl.storage =
      detail_cuda::adopt_memory(device.index(), address(begin), address(first), address(end), std::move(keep_alive));
}

}  // namespace

void borrow(TensorImpl& impl, void* pointer, std::shared_ptr<const void> keep_alive, Device device) {
  if (device.kind() == DeviceKind::cuda) return borrow_from_gpu(impl, pointer, std::move(keep_alive), device);
  impl.storage = make_pooled<Storage>(backend_of(device), pointer, 0, std::move(keep_alive));
}

}  // namespace detail

cuda_stream_scope::cuda_stream_scope(CUstream_st* stream, Device device) {
  if (device.kind() != DeviceKind::cuda)
    throw Error(ErrorKind::device, "cuda_stream_scope: " + device.to_string() + " is no CUDA device");
  const auto of_driver = reinterpret_cast<detail_cuda::Stream>(stream);
  const detail_cuda::LentStream*& innermost = detail_cuda::lent_streams();
  lent_ = std::make_unique<detail_cuda::LentStream>(device.index(), of_driver, innermost);
  detail_cuda::enter_stream(device.index(), of_driver);
  innermost = lent_.get();
}
cuda_stream_scope::~cuda_stream_scope() {
  detail_cuda::lent_streams() = lent_->outer;
  detail_cuda::leave_stream(lent_->ordinal, lent_->stream);
}

#ifdef TERN_WEBGPU
Device webgpu_device(WGPUDeviceImpl* device, WGPUQueueImpl* queue) {
  return detail_webgpu::adopt_device(device, queue);
}
#else
Device webgpu_device(WGPUDeviceImpl*, WGPUQueueImpl*) { no_webgpu("webgpu_device"); }
#endif

Tensor Tensor::view([[maybe_unused]] WGPUBufferImpl* buffer, [[maybe_unused]] DType dtype, const Shape& shape,
                    const std::vector<std::int64_t>& strides, [[maybe_unused]] std::shared_ptr<const void> keep_alive,
                    Device device) {
  if (device.kind() != DeviceKind::webgpu)
    throw Error(ErrorKind::device, "view: a WGPUBuffer is no memory of " + device.to_string());
  if (!buffer) throw Error(ErrorKind::shape, "view: the buffer is null");
  if (!strides.empty() && strides.size() != shape.size())
    throw Error(ErrorKind::shape, "view: expected one stride for each of the " + std::to_string(shape.size()) +
                                      " axes, got " + std::to_string(strides.size()));
#ifdef TERN_WEBGPU
  auto impl = detail::make_pooled<detail::TensorImpl>();
  impl->dtype = dtype, impl->shape = shape, impl->numel = shape.numel();
  impl->strides = strides.empty() ? detail::contiguous_strides(shape) : Strides(strides);
  const std::int64_t bytes = impl->numel > 0 ? bytes_spanned(dtype, shape, impl->strides) : 0;
  detail::Backend& backend = detail::backend_of(device);
  if (!backend.supports(dtype)) throw UnsupportedDType("view", dtype, device.to_string());
  impl->storage = detail_webgpu::adopt_buffer(device, buffer, std::move(keep_alive));
  if (bytes > static_cast<std::int64_t>(impl->storage->bytes()))
    throw Error(ErrorKind::shape, "view: " + detail::describe(dtype, shape) + " takes " + std::to_string(bytes) +
                                      " bytes, but the buffer has " + std::to_string(impl->storage->bytes()));
  return Tensor(std::move(impl));
#else
  no_webgpu("view");
#endif
}

}  // namespace tern
