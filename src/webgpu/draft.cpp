#include "webgpu/draft.hpp"

#include <dlfcn.h>

#include <cstring>
#include <memory>
#include <vector>

namespace tern::detail_webgpu {
namespace {

// ---- the draft's structures, where they differ; fields that tern leaves alone stand for their space
struct DraftLimits {
  std::uint32_t textures_and_groups[7];
  std::uint32_t max_dynamic_uniform_buffers, max_dynamic_storage_buffers;
  std::uint32_t max_sampled_textures, max_samplers, max_storage_buffers, max_storage_textures, max_uniform_buffers;
  std::uint64_t max_uniform_binding, max_storage_binding;
  std::uint32_t min_uniform_alignment, min_storage_alignment, max_vertex_buffers;
  std::uint64_t max_buffer_size;
  std::uint32_t vertex_and_colour[6];
  std::uint32_t max_workgroup_storage, max_invocations, max_size_x, max_size_y, max_size_z, max_groups;
  std::uint32_t buffers_and_textures_of_other_stages[4];
};
static_assert(sizeof(DraftLimits) == 160);
struct DraftSupportedLimits {  // and RequiredLimits
  void* next = nullptr;
  DraftLimits limits{};
};
struct DraftAdapterOptions {
  void* next = nullptr;
  WGPUSurface surface = nullptr;
  std::uint32_t feature_level = 0, power_preference = 0, backend = 0, force_fallback = 0, compatibility = 0;
};
struct DraftLayoutEntry {
  void* next = nullptr;
  std::uint32_t binding = 0;
  std::uint64_t visibility = 0;
  void* buffer_next = nullptr;
  std::uint32_t buffer_type = 0, dynamic_offset = 0;
  std::uint64_t min_size = 0;
  std::uint64_t sampler_and_textures[8] = {};
};
static_assert(sizeof(DraftLayoutEntry) == 112);
struct DraftToggles {
  void* next = nullptr;
  std::uint32_t type = 0x0005000A;
  std::size_t enabled_count = 0;
  const char* const* enabled = nullptr;
  std::size_t disabled_count = 0;
  const char* const* disabled = nullptr;
};
static_assert(sizeof(DraftToggles) == 48);
struct DraftTimestampWrites {
  WGPUQuerySet queries = nullptr;
  std::uint32_t begin = 0, end = 0;
};
struct DraftWorkDone {
  void* next = nullptr;
  WGPUCallbackMode mode = WGPUCallbackMode_AllowProcessEvents;
  void (*callback)(WGPUQueueWorkDoneStatus, void*, void*) = nullptr;
  void *user1 = nullptr, *user2 = nullptr;
};

/// The library's own functions.
struct Draft {
  WGPUFuture (*InstanceRequestAdapter2)(WGPUInstance, const DraftAdapterOptions*, WGPURequestAdapterCallbackInfo);
  WGPUFuture (*AdapterRequestDevice2)(WGPUAdapter, const WGPUDeviceDescriptor*, WGPURequestDeviceCallbackInfo);
  WGPUStatus (*AdapterGetLimits)(WGPUAdapter, DraftSupportedLimits*);
  WGPUStatus (*DeviceGetLimits)(WGPUDevice, DraftSupportedLimits*);
  WGPUStatus (*AdapterGetInfo)(WGPUAdapter, WGPUAdapterInfo*);
  WGPUBool (*AdapterHasFeature)(WGPUAdapter, std::uint32_t);
  WGPUBindGroupLayout (*DeviceCreateBindGroupLayout)(WGPUDevice, const WGPUBindGroupLayoutDescriptor*);
  WGPUFuture (*BufferMapAsync2)(WGPUBuffer, WGPUMapMode, std::size_t, std::size_t, WGPUBufferMapCallbackInfo);
  WGPUFuture (*QueueOnSubmittedWorkDone2)(WGPUQueue, DraftWorkDone);
  WGPUFuture (*DevicePopErrorScope2)(WGPUDevice, WGPUPopErrorScopeCallbackInfo);
  WGPUComputePassEncoder (*CommandEncoderBeginComputePass)(WGPUCommandEncoder, const WGPUComputePassDescriptor*);
} draft;

/// The draft's number of a feature; 0 where it has none that tern knows.
std::uint32_t number_of(WGPUFeatureName feature) {
  switch (feature) {
    case WGPUFeatureName_TimestampQuery: return 3;
    case WGPUFeatureName_ShaderF16: return 8;
    case WGPUFeatureName_Subgroups: return 13;
    default: return 0;
  }
}

void read_limits(const DraftLimits& from, WGPULimits& to) {
  to = {};
  to.maxStorageBuffersPerShaderStage = from.max_storage_buffers;
  to.maxUniformBufferBindingSize = from.max_uniform_binding, to.maxStorageBufferBindingSize = from.max_storage_binding;
  to.minUniformBufferOffsetAlignment = from.min_uniform_alignment;
  to.minStorageBufferOffsetAlignment = from.min_storage_alignment;
  to.maxBufferSize = from.max_buffer_size;
  to.maxComputeWorkgroupStorageSize = from.max_workgroup_storage;
  to.maxComputeInvocationsPerWorkgroup = from.max_invocations;
  to.maxComputeWorkgroupSizeX = from.max_size_x, to.maxComputeWorkgroupSizeY = from.max_size_y;
  to.maxComputeWorkgroupSizeZ = from.max_size_z, to.maxComputeWorkgroupsPerDimension = from.max_groups;
}
/// Everything the limits do not name stays undefined: the default.
DraftLimits write_limits(const WGPULimits& from) {
  DraftLimits to;
  std::memset(&to, 0xff, sizeof to);
  to.max_storage_buffers = from.maxStorageBuffersPerShaderStage;
  to.max_uniform_binding = from.maxUniformBufferBindingSize, to.max_storage_binding = from.maxStorageBufferBindingSize;
  to.min_uniform_alignment = from.minUniformBufferOffsetAlignment;
  to.min_storage_alignment = from.minStorageBufferOffsetAlignment;
  to.max_buffer_size = from.maxBufferSize;
  to.max_workgroup_storage = from.maxComputeWorkgroupStorageSize;
  to.max_invocations = from.maxComputeInvocationsPerWorkgroup;
  to.max_size_x = from.maxComputeWorkgroupSizeX, to.max_size_y = from.maxComputeWorkgroupSizeY;
  to.max_size_z = from.maxComputeWorkgroupSizeZ, to.max_groups = from.maxComputeWorkgroupsPerDimension;
  return to;
}

// ---- the functions of webgpu.h in its terms
WGPUFuture request_adapter(WGPUInstance instance, const WGPURequestAdapterOptions* options,
                           WGPURequestAdapterCallbackInfo callback) {
  DraftAdapterOptions own;
  own.feature_level = options->featureLevel, own.power_preference = options->powerPreference;
  own.backend = options->backendType, own.force_fallback = options->forceFallbackAdapter;
  return draft.InstanceRequestAdapter2(instance, &own, callback);
}
WGPUFuture request_device(WGPUAdapter adapter, const WGPUDeviceDescriptor* descriptor,
                          WGPURequestDeviceCallbackInfo callback) {
  WGPUDeviceDescriptor own = *descriptor;  // the same but for what it points at
  DraftSupportedLimits limits;
  if (descriptor->requiredLimits) {
    limits.limits = write_limits(*descriptor->requiredLimits);
    own.requiredLimits = reinterpret_cast<const WGPULimits*>(&limits);
  }
  std::vector<std::uint32_t> features;
  for (std::size_t i = 0; i < descriptor->requiredFeatureCount; ++i)
    if (const std::uint32_t number = number_of(descriptor->requiredFeatures[i])) features.push_back(number);
  static_assert(sizeof(WGPUFeatureName) == sizeof(std::uint32_t));
  // Chromium keeps times from web pages: rounded to 0.1 ms. Here they are for the program itself.
  const char* const rounded = "timestamp_quantization";
  DraftToggles toggles;
  toggles.disabled_count = 1, toggles.disabled = &rounded;
  own.nextInChain = reinterpret_cast<WGPUChainedStruct*>(&toggles);
  own.requiredFeatureCount = features.size();
  own.requiredFeatures = reinterpret_cast<const WGPUFeatureName*>(features.data());
  return draft.AdapterRequestDevice2(adapter, &own, callback);
}
WGPUStatus adapter_limits(WGPUAdapter adapter, WGPULimits* limits) {
  DraftSupportedLimits own;
  const WGPUStatus status = draft.AdapterGetLimits(adapter, &own);
  read_limits(own.limits, *limits);
  return status;
}
WGPUStatus device_limits(WGPUDevice device, WGPULimits* limits) {
  DraftSupportedLimits own;
  const WGPUStatus status = draft.DeviceGetLimits(device, &own);
  read_limits(own.limits, *limits);
  return status;
}
WGPUStatus adapter_info(WGPUAdapter adapter, WGPUAdapterInfo* info) {
  const WGPUStatus status = draft.AdapterGetInfo(adapter, info);
  info->subgroupMinSize = info->subgroupMaxSize = 0;  // the draft tells something else there
  return status;
}
WGPUBool has_feature(WGPUAdapter adapter, WGPUFeatureName feature) {
  const std::uint32_t number = number_of(feature);
  return number ? draft.AdapterHasFeature(adapter, number) : 0;
}
WGPUBindGroupLayout bind_group_layout(WGPUDevice device, const WGPUBindGroupLayoutDescriptor* descriptor) {
  std::vector<DraftLayoutEntry> entries(descriptor->entryCount);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const WGPUBindGroupLayoutEntry& from = descriptor->entries[i];
    entries[i].binding = from.binding, entries[i].visibility = from.visibility;
    entries[i].buffer_type = from.buffer.type - 1, entries[i].dynamic_offset = from.buffer.hasDynamicOffset;
    entries[i].min_size = from.buffer.minBindingSize;
  }
  WGPUBindGroupLayoutDescriptor own = *descriptor;
  own.entries = reinterpret_cast<const WGPUBindGroupLayoutEntry*>(entries.data());
  return draft.DeviceCreateBindGroupLayout(device, &own);
}
WGPUFuture on_work_done(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo callback) {
  DraftWorkDone own;
  own.mode = callback.mode;
  own.callback = [](WGPUQueueWorkDoneStatus status, void* wrapped, void*) {
    const std::unique_ptr<WGPUQueueWorkDoneCallbackInfo> info(static_cast<WGPUQueueWorkDoneCallbackInfo*>(wrapped));
    info->callback(status, {}, info->userdata1, info->userdata2);
  };
  own.user1 = new WGPUQueueWorkDoneCallbackInfo(callback);  // every callback is called once
  return draft.QueueOnSubmittedWorkDone2(queue, own);
}
WGPUComputePassEncoder begin_pass(WGPUCommandEncoder encoder, const WGPUComputePassDescriptor* descriptor) {
  if (!descriptor || !descriptor->timestampWrites) return draft.CommandEncoderBeginComputePass(encoder, descriptor);
  const WGPUPassTimestampWrites& from = *descriptor->timestampWrites;
  const DraftTimestampWrites writes{from.querySet, from.beginningOfPassWriteIndex, from.endOfPassWriteIndex};
  WGPUComputePassDescriptor own = *descriptor;
  own.timestampWrites = reinterpret_cast<const WGPUPassTimestampWrites*>(&writes);
  return draft.CommandEncoderBeginComputePass(encoder, &own);
}

}  // namespace

bool speaks_draft(void* library) {
  return dlsym(library, "wgpuInstanceRequestAdapter2") && dlsym(library, "wgpuInstanceEnumerateWGSLLanguageFeatures");
}

std::string translate_draft(void* library, Api& api) {
  std::string missing;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) missing = name;
  };
  take(draft.InstanceRequestAdapter2, "wgpuInstanceRequestAdapter2");
  take(draft.AdapterRequestDevice2, "wgpuAdapterRequestDevice2");
  take(draft.AdapterGetLimits, "wgpuAdapterGetLimits");
  take(draft.DeviceGetLimits, "wgpuDeviceGetLimits");
  take(draft.AdapterGetInfo, "wgpuAdapterGetInfo");
  take(draft.AdapterHasFeature, "wgpuAdapterHasFeature");
  take(draft.DeviceCreateBindGroupLayout, "wgpuDeviceCreateBindGroupLayout");
  take(draft.BufferMapAsync2, "wgpuBufferMapAsync2");
  take(draft.QueueOnSubmittedWorkDone2, "wgpuQueueOnSubmittedWorkDone2");
  take(draft.DevicePopErrorScope2, "wgpuDevicePopErrorScope2");
  take(draft.CommandEncoderBeginComputePass, "wgpuCommandEncoderBeginComputePass");
  api.InstanceRequestAdapter = request_adapter, api.AdapterRequestDevice = request_device;
  api.AdapterGetLimits = adapter_limits, api.DeviceGetLimits = device_limits, api.AdapterGetInfo = adapter_info;
  api.AdapterHasFeature = has_feature, api.DeviceCreateBindGroupLayout = bind_group_layout;
  api.DeviceHasFeature = nullptr;  // it has other numbers of features
  api.BufferMapAsync = draft.BufferMapAsync2, api.QueueOnSubmittedWorkDone = on_work_done;
  api.DevicePopErrorScope = draft.DevicePopErrorScope2, api.CommandEncoderBeginComputePass = begin_pass;
  return missing;
}

}  // namespace tern::detail_webgpu
