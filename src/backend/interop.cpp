// Devices and buffers that belong to the program.
#include "backend/tensor_impl.hpp"
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
