// The functions of webgpu.h, found at run time in wgpu-native or Dawn.
#pragma once
#include <cstdint>
#include <string>

#include <webgpu.h>

namespace tern::detail_webgpu {

// Numbers of wgpu.h's. Other libraries do not know them, so their adapters lack them.
/// Subgroups as wgpu-native calls them, which has no other and whose compiler refuses the directive.
constexpr auto kNativeSubgroups = static_cast<WGPUFeatureName>(0x00030021);
constexpr auto kWideIntegers = static_cast<WGPUFeatureName>(0x00030026);  // u64

// What both implementations offer, under the names of webgpu.h.
#define TERN_WEBGPU_FUNCTIONS(X)                                                                                     \
  X(CreateInstance)                                                                                                  \
  X(InstanceRequestAdapter) X(InstanceProcessEvents) X(InstanceRelease) X(AdapterGetInfo) X(AdapterGetLimits)        \
      X(AdapterHasFeature) X(AdapterRequestDevice) X(AdapterRelease) X(DeviceCreateBindGroup)                        \
          X(DeviceCreateBindGroupLayout) X(DeviceCreateBuffer) X(DeviceCreateCommandEncoder)                         \
              X(DeviceCreateComputePipeline) X(DeviceCreatePipelineLayout) X(DeviceCreateShaderModule)               \
                  X(DeviceDestroy) X(DeviceGetQueue) X(DeviceRelease) X(BufferGetConstMappedRange) X(BufferMapAsync) \
                      X(BufferUnmap) X(BufferDestroy) X(BufferRelease) X(CommandEncoderBeginComputePass)             \
                          X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderClearBuffer) X(CommandEncoderFinish)   \
                              X(CommandEncoderRelease) X(CommandBufferRelease) X(ComputePassEncoderSetPipeline)      \
                                  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderDispatchWorkgroups)          \
                                      X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) X(QueueSubmit)           \
                                          X(QueueWriteBuffer) X(QueueRelease) X(BindGroupRelease)                    \
                                              X(ShaderModuleRelease) X(ComputePipelineRelease)           \
      X(DeviceGetLimits) X(DevicePushErrorScope) X(DevicePopErrorScope) X(DeviceAddRef) X(QueueAddRef)              \
          X(BufferAddRef) X(BufferGetSize) X(BufferGetUsage) X(DeviceCreateQuerySet) X(QuerySetRelease)            \
              X(CommandEncoderResolveQuerySet)

/// The loaded library; one for the process.
struct Api {
#define TERN_WEBGPU_MEMBER(name) WGPUProc##name name = nullptr;
  TERN_WEBGPU_FUNCTIONS(TERN_WEBGPU_MEMBER)
#undef TERN_WEBGPU_MEMBER
  // wgpu-native only: blocks until submitted work is done; lists adapters; makes modules without bounds checks.
  WGPUBool (*DevicePoll)(WGPUDevice, WGPUBool wait, const void* submission) = nullptr;
  std::size_t (*InstanceEnumerateAdapters)(WGPUInstance, const void* options, WGPUAdapter* adapters) = nullptr;
  WGPUShaderModule (*DeviceCreateShaderModuleTrusted)(WGPUDevice, const WGPUShaderModuleDescriptor*,
                                                      std::uint64_t checks) = nullptr;
  float (*QueueGetTimestampPeriod)(WGPUQueue) = nullptr;  // nanoseconds of a tick; elsewhere timestamps are nanoseconds
  WGPUProcDeviceHasFeature DeviceHasFeature = nullptr;  // of the program's own device; not the draft's
  WGPUProcQueueOnSubmittedWorkDone QueueOnSubmittedWorkDone = nullptr;  // what waits where there is no DevicePoll
  std::string path;
};

/// The library: the one named in TERN_WEBGPU_LIBRARY, else the one the program is linked with (whose devices and
/// buffers can then be shared), else one that is found. Null with the reason where there is none.
const Api* api(std::string& reason);

inline WGPUStringView view(const std::string& text) { return {text.data(), text.size()}; }
inline std::string to_string(WGPUStringView text) {
  if (!text.data) return "";
  return text.length == WGPU_STRLEN ? std::string(text.data) : std::string(text.data, text.length);
}

}  // namespace tern::detail_webgpu
