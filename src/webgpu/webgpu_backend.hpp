#pragma once
#include <string>
#include <vector>

#include "backend/backend.hpp"

struct WGPUDeviceImpl;  // as in webgpu.h
struct WGPUQueueImpl;
struct WGPUBufferImpl;

namespace tern::detail_webgpu {

/// The backend of webgpu:index; throws `device` with the reason where it is absent.
detail::Backend& webgpu_backend(int index);
/// Every adapter, or one entry with the reason there is none.
std::vector<DeviceInfo> webgpu_devices();

/// The device that runs on the program's own device and queue; the same for the same device.
Device adopt_device(WGPUDeviceImpl* device, WGPUQueueImpl* queue);
/// A storage over the program's buffer, which must be one of that device.
std::shared_ptr<detail::Storage> adopt_buffer(Device device, WGPUBufferImpl* buffer,
                                              std::shared_ptr<const void> keep_alive);

/// How often commands were submitted and waited for, how many kernels were recorded, and how many layouts and bind
/// groups were made for them (tests).
struct QueueCounts {
  std::uint64_t submissions = 0, waits = 0, kernels = 0, layouts = 0, bind_groups = 0;
};
QueueCounts queue_counts(int index);
/// Sets how many bytes may wait for a submission to be freed; returns what was set before (tests).
std::uint64_t set_most_waiting_bytes(int index, std::uint64_t bytes);
/// Ends the device, as a driver may at any time (tests).
void lose_device(int index);

}  // namespace tern::detail_webgpu
