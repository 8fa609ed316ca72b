// The adapters of this machine: GPUs, and drivers that stand in for one.
#pragma once
#include <string>
#include <vector>

#include "webgpu/api.hpp"

namespace tern::detail_webgpu {

/// An adapter as devices() shows it.
struct Adapter {
  WGPUAdapter handle = nullptr;
  std::string name, device;  // for people, and the processor alone
  int rank = 0;              // discrete GPUs first
  bool progress = false;     // workgroups are known to go on while others wait for them
};

/// The adapters of this machine, best first; empty with a reason where there is none.
const std::vector<Adapter>& adapters(std::string& reason);

/// The process's instance.
WGPUInstance instance_of(const Api& api);

/// Waits for a callback that wgpu-native calls at once and Dawn on ProcessEvents.
template <class Done> void process_until(const Api& api, WGPUInstance instance, Done done) {
  for (int i = 0; i < 1000000 && !done(); ++i) api.InstanceProcessEvents(instance);
}

}  // namespace tern::detail_webgpu
