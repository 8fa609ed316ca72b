#include "webgpu/api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "backend/own_folder.hpp"
#include "webgpu/draft.hpp"

namespace tern::detail_webgpu {
namespace {

std::vector<std::string> candidates() {
  if (const char* path = std::getenv("TERN_WEBGPU_LIBRARY"); path && *path) return {path};
  std::vector<std::string> list;
  for (const char* name : {"libtern_wgpu.so", "libwgpu_native.so"})
    for (const std::string& path : detail::installed_beside(name)) list.push_back(path);
  list.push_back("libtern_wgpu.so");  // through the program's run path
#ifdef TERN_WEBGPU_BUILT_WITH
  list.push_back(TERN_WEBGPU_BUILT_WITH);
#endif
  for (const char* name : {"libwgpu_native.so", "libwgpu_native-release.so", "libwebgpu_dawn.so", "libdawn.so"})
    list.push_back(name);
  return list;
}

struct LoadedLibrary {
  Api api;
  bool found = false;
  std::string reason;
};

template <class F> bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

/// Finds the functions; gives the name of one that is missing, or nothing. Layouts changed while webgpu.h was drafted:
/// what speaks neither the final one nor the draft that is translated would crash.
std::string find_all(void* library, Api& api) {
  std::string missing;
#define TERN_WEBGPU_FIND(name) \
  if (!find(library, "wgpu" #name, api.name)) missing = "wgpu" #name;
  TERN_WEBGPU_FUNCTIONS(TERN_WEBGPU_FIND)
#undef TERN_WEBGPU_FIND
  find(library, "wgpuDevicePoll", api.DevicePoll);
  find(library, "wgpuInstanceEnumerateAdapters", api.InstanceEnumerateAdapters);
  find(library, "wgpuDeviceCreateShaderModuleTrusted", api.DeviceCreateShaderModuleTrusted);
  find(library, "wgpuDeviceHasFeature", api.DeviceHasFeature);
  find(library, "wgpuQueueGetTimestampPeriod", api.QueueGetTimestampPeriod);
  find(library, "wgpuQueueOnSubmittedWorkDone", api.QueueOnSubmittedWorkDone);
  if (!api.DevicePoll && !api.QueueOnSubmittedWorkDone) missing = "wgpuQueueOnSubmittedWorkDone";
  if (!missing.empty()) return missing;
  if (speaks_draft(library)) return translate_draft(library, api);
  return dlsym(library, "wgpuHasInstanceFeature") ? "" : "wgpuHasInstanceFeature, which webgpu.h has since 2025";
}

LoadedLibrary load() {
  LoadedLibrary result;
  const char* named = std::getenv("TERN_WEBGPU_LIBRARY");
  if (!(named && *named) && find_all(RTLD_DEFAULT, result.api).empty()) {
    result.api.path = "linked with the program";
    result.found = true;
    return result;
  }
  std::string tried;
  for (const std::string& path : candidates()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* error = dlerror();
      if (std::filesystem::exists(path) || named) tried = error ? error : path;
      continue;
    }
    if (const std::string missing = find_all(library, result.api); !missing.empty()) {
      tried = path + " has no " + missing;
      dlclose(library);
      continue;
    }
    result.api.path = path;
    result.found = true;
    return result;
  }
  result.reason = "no WebGPU library was found" + (tried.empty() ? "" : " (" + tried + ")") +
                  "; install wgpu-native or Dawn, or name one in TERN_WEBGPU_LIBRARY";
  return result;
}

}  // namespace

const Api* api(std::string& reason) {
  static const auto& loaded = *new LoadedLibrary(load());  // outlives what is in static storage
  reason = loaded.reason;
  return loaded.found ? &loaded.api : nullptr;
}

}  // namespace tern::detail_webgpu
