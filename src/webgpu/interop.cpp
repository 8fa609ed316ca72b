// WebGPU as a backend, and devices and buffers that belong to the program.
#include "backend/registry.hpp"
#include "tern/tensor.hpp"
#include "tern/webgpu.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern {
namespace {

/// Bytes from the beginning of memory to the end of the last element; throws `shape` where an element lies before it.
std::int64_t bytes_spanned(DType dtype, const Shape& shape, const Strides& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] < 0) throw Error(ErrorKind::shape, "view: strides of a buffer must not be negative");
    last += (shape[i] - 1) * strides[i];
  }
  return (last + 1) * static_cast<std::int64_t>(dtype_size(dtype));
}

void no_pointers(detail::TensorImpl&, void*, std::shared_ptr<const void>, int index) {
  throw Error(ErrorKind::device, "view: " + webgpu(index).to_string() + " has no pointers; give a WGPUBuffer");
}

}  // namespace

constinit const detail::BackendEntry detail::webgpu_entry{detail_webgpu::webgpu_backend, detail_webgpu::webgpu_devices,
                                                          no_pointers, /*numbered=*/true, /*addresses=*/false};

Device webgpu_device(WGPUDeviceImpl* device, WGPUQueueImpl* queue) {
  return detail_webgpu::adopt_device(device, queue);
}

Tensor Tensor::view(WGPUBufferImpl* buffer, DType dtype, const Shape& shape,
                    const std::vector<std::int64_t>& strides, std::shared_ptr<const void> keep_alive,
                    Device device) {
  if (device.kind() != DeviceKind::webgpu)
    throw Error(ErrorKind::device, "view: a WGPUBuffer is no memory of " + device.to_string());
  if (!buffer) throw Error(ErrorKind::shape, "view: the buffer is null");
  if (!strides.empty() && strides.size() != shape.size())
    throw Error(ErrorKind::shape, "view: expected one stride for each of the " + std::to_string(shape.size()) +
                                      " axes, got " + std::to_string(strides.size()));
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
}

}  // namespace tern
