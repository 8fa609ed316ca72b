#include "webgpu/adapters.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "process/fork.hpp"

namespace tern::detail_webgpu {
namespace {

int rank_of(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU: return 0;
    case WGPUAdapterType_IntegratedGPU: return 1;
    case WGPUAdapterType_CPU: return 3;
    default: return 2;
  }
}

struct FoundAdapters {
  std::vector<Adapter> adapters;
  std::string reason;
};

WGPUAdapter request_adapter(const Api& api, WGPUInstance instance, bool fallback) {
  struct Answer {
    WGPUAdapter adapter = nullptr;
    bool done = false;
  } answer;
  WGPURequestAdapterOptions options{};
  options.featureLevel = WGPUFeatureLevel_Core, options.powerPreference = WGPUPowerPreference_HighPerformance;
  options.forceFallbackAdapter = fallback;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* user, void*) {
    *static_cast<Answer*>(user) = {adapter, true};
  };
  callback.userdata1 = &answer;
  api.InstanceRequestAdapter(instance, &options, callback);
  process_until(api, instance, [&] { return answer.done; });
  return answer.adapter;
}

std::vector<WGPUAdapter> list_adapters(const Api& api, WGPUInstance instance) {
  if (api.InstanceEnumerateAdapters) {
    std::vector<WGPUAdapter> list(api.InstanceEnumerateAdapters(instance, nullptr, nullptr));
    if (!list.empty()) api.InstanceEnumerateAdapters(instance, nullptr, list.data());
    return list;
  }
  // Drivers that stand in for a GPU may be listed as a fallback only.
  for (const bool fallback : {false, true})
    if (const WGPUAdapter adapter = request_adapter(api, instance, fallback)) return {adapter};
  return {};
}

/// A child of fork() ends without what the parent has asked for at its end: Mesa's drivers wait there for threads that
/// the child does not have, on stacks that are gone. What the child asked for itself is done, and streams are flushed.
void end_children_early() {
#ifdef __GLIBC__
  detail::call_in_children([] {
    on_exit(
        [](int status, void*) {
          std::cout.flush(), std::clog.flush();
          std::fflush(nullptr);
          _exit(status);
        },
        nullptr);
  });
#endif
}

/// No API tells whether workgroups that have begun go on while others wait for them. NVIDIA's do (CUDA's guide says so
/// of Volta and later), and those of drivers for the CPU are run by threads of the system, so that tests have it, too.
bool has_progress(const WGPUAdapterInfo& info) {
  constexpr std::uint32_t kNvidia = 0x10de;  // its number among PCI's vendors
  return info.vendorID == kNvidia || info.adapterType == WGPUAdapterType_CPU;
}

FoundAdapters find_adapters() {
  FoundAdapters found;
  const Api* api = detail_webgpu::api(found.reason);
  if (!api) return found;
  const WGPUInstance instance = instance_of(*api);
  if (!instance) {
    found.reason = api->path + " could not make an instance";
    return found;
  }
  end_children_early();
  for (const WGPUAdapter adapter : list_adapters(*api, instance)) {
    WGPUAdapterInfo info{};
    if (api->AdapterGetInfo(adapter, &info) != WGPUStatus_Success || info.backendType == WGPUBackendType_OpenGL ||
        info.backendType == WGPUBackendType_OpenGLES) {
      api->AdapterRelease(adapter);  // OpenGL shows the same processors again, with fewer abilities
      continue;
    }
    found.adapters.push_back({adapter, to_string(info.device) + " (WebGPU, " + to_string(info.description) + ")",
                              to_string(info.device), rank_of(info.adapterType), has_progress(info)});
  }
  std::stable_sort(found.adapters.begin(), found.adapters.end(),
                   [](const Adapter& a, const Adapter& b) { return a.rank < b.rank; });
  if (found.adapters.empty())
    found.reason =
        "the WebGPU library " + api->path + " finds no adapter: no Vulkan, Metal or D3D12 driver is installed";
  return found;
}

}  // namespace

WGPUInstance instance_of(const Api& api) {
  static const WGPUInstance instance = api.CreateInstance(nullptr);
  return instance;
}

const std::vector<Adapter>& adapters(std::string& reason) {
  static const auto& found = *new FoundAdapters(find_adapters());  // outlives what is in static storage
  static const detail::OfProcess process;
  static const auto& none = *new std::vector<Adapter>;
  reason = found.adapters.empty() || process.here() ? found.reason : detail::kForked;
  return process.here() ? found.adapters : none;
}

}  // namespace tern::detail_webgpu
