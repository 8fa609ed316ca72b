// How long kernels take on the device, for traces: each is a pass of its own between two timestamps.
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "webgpu/device.hpp"

namespace tern::detail_webgpu {
namespace {

constexpr std::size_t kMostTimed = 256;  // kernels of one call

}  // namespace

void WebGpuDevice::pause() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

void WebGpuDevice::begin_timing() {
  end_pass();
  timed_names_.clear();
  if (!queries_) {
    WGPUQuerySetDescriptor descriptor{};
    descriptor.type = WGPUQueryType_Timestamp, descriptor.count = 2 * kMostTimed;
    queries_ = api_.DeviceCreateQuerySet(device_, &descriptor);
    resolved_ = create(2 * kMostTimed * sizeof(std::uint64_t), WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc);
    check("making timestamps");
  }
  timing_ = true;
}

WGPUComputePassEncoder WebGpuDevice::timed_pass(const Pipeline& pipeline) {
  end_pass();
  if (timed_names_.size() == kMostTimed) return pass();
  WGPUPassTimestampWrites writes{};
  writes.querySet = queries_;
  writes.beginningOfPassWriteIndex = static_cast<std::uint32_t>(2 * timed_names_.size());
  writes.endOfPassWriteIndex = writes.beginningOfPassWriteIndex + 1;
  const std::size_t kernel = pipeline.name.find(", kernel ");
  timed_names_.push_back(kernel == std::string::npos ? pipeline.name : pipeline.name.substr(kernel + 9));
  WGPUComputePassDescriptor descriptor{};
  descriptor.timestampWrites = &writes;
  return pass_ = api_.CommandEncoderBeginComputePass(encoder(), &descriptor);
}

std::string WebGpuDevice::end_timing() {
  timing_ = false;
  if (timed_names_.empty()) return "";
  end_pass();
  const std::size_t count = timed_names_.size();
  api_.CommandEncoderResolveQuerySet(encoder(), queries_, 0, static_cast<std::uint32_t>(2 * count), resolved_->handle,
                                     0);
  std::array<std::uint64_t, 2 * kMostTimed> ticks{};
  download(*resolved_, 0, ticks.data(), 2 * count * sizeof ticks[0]);
  const double period = api_.QueueGetTimestampPeriod ? api_.QueueGetTimestampPeriod(queue_) : 1;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    char time[32];
    std::snprintf(time, sizeof time, "%.1f us", static_cast<double>(ticks[2 * i + 1] - ticks[2 * i]) * period / 1e3);
    text += (i ? " + " : "") + std::string(time) + " (" + timed_names_[i] + ")";
  }
  return text + (count == kMostTimed ? " and more" : "");
}

}  // namespace tern::detail_webgpu
