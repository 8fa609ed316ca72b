// In the place of the WebGPU backend, where webgpu.h was not found.
#include "backend/registry.hpp"
#include "tern/tensor.hpp"
#include "tern/webgpu.hpp"

namespace tern {
namespace {

constexpr const char* kReason = "this build of tern has no WebGPU backend (webgpu.h was not found)";

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::device, what + ": " + kReason); }
detail::Backend& no_backend(int index) { refuse("device " + webgpu(index).to_string() + " is not available"); }
std::vector<DeviceInfo> no_devices() { return {{webgpu(), false, "", kReason}}; }
void borrow_nothing(detail::TensorImpl&, void*, std::shared_ptr<const void>, int) { refuse("view"); }

}  // namespace

constinit const detail::BackendEntry detail::webgpu_entry{no_backend, no_devices, borrow_nothing, /*numbered=*/true,
                                                          /*addresses=*/false};

Device webgpu_device(WGPUDeviceImpl*, WGPUQueueImpl*) { refuse("webgpu_device"); }

Tensor Tensor::view(WGPUBufferImpl* buffer, DType, const Shape& shape, const std::vector<std::int64_t>& strides,
                    std::shared_ptr<const void>, Device device) {
  if (device.kind() != DeviceKind::webgpu)
    throw Error(ErrorKind::device, "view: a WGPUBuffer is no memory of " + device.to_string());
  if (!buffer) throw Error(ErrorKind::shape, "view: the buffer is null");
  if (!strides.empty() && strides.size() != shape.size())
    throw Error(ErrorKind::shape, "view: expected one stride for each of the " + std::to_string(shape.size()) +
                                      " axes, got " + std::to_string(strides.size()));
  refuse("view");
}

}  // namespace tern
