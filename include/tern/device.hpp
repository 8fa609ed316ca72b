// Devices: which there are, which one is the default, and how many processor threads tern may use.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

enum class DeviceKind : std::uint8_t {
#define TERN_BACKEND(name) name,
#include "tern/backends.inc"
#undef TERN_BACKEND
};

/// Where a tensor's memory lives and its operations run.
class Device {
 public:
  constexpr Device() = default;
  constexpr Device(DeviceKind kind, int index) : kind_(kind), index_(index) {}
  /// "cpu", "cuda", "cuda:1", "webgpu:0"; anything else throws `device`.
  static Device parse(std::string_view text);
  constexpr DeviceKind kind() const { return kind_; }
  constexpr int index() const { return index_; }
  /// "cpu", "cuda:0", "webgpu:0"
  std::string to_string() const;
  friend constexpr bool operator==(const Device&, const Device&) = default;

 private:
  DeviceKind kind_ = DeviceKind::cpu;
  int index_ = 0;
};

/// Prints "cuda:0".
std::ostream& operator<<(std::ostream& stream, const Device& device);

constexpr Device cpu() { return {}; }
constexpr Device cuda(int index = 0) { return {DeviceKind::cuda, index}; }
constexpr Device webgpu(int index = 0) { return {DeviceKind::webgpu, index}; }

/// The device new tensors are made on, of this thread: what was set, else TERN_DEVICE, else the CPU.
Device default_device();
void set_default_device(Device device);

/// One backend as `devices()` reports it.
struct DeviceInfo {
  Device device;
  bool available = false;
  std::string name;    // of the processor, where available
  std::string reason;  // why it is not available, or what it lacks to run everything (on CUDA, NVRTC)
};
/// Every backend with its name, or the reason it is absent.
std::vector<DeviceInfo> devices();

/// Waits until all work given to the device is done; errors of that work are thrown here.
void synchronize(Device device);

/// Most threads the CPU backend may use, 1 to 1024. Initially TERN_NUM_THREADS, else the processors of this process:
/// those its affinity allows, and no more than the quota of its control group gives it time of, rounded up. Where more
/// are asked for, as many run as there are processors; where the system gives fewer, those. Results are the same with
/// any number.
void set_num_threads(int threads);
int num_threads();

/// Kernels of a device: how many there are, how often a call found its kernel or had it made, and the time that took.
struct CacheStats {
  std::int64_t kernels = 0, hits = 0, misses = 0;
  double milliseconds = 0;
};
CacheStats cache_stats(Device device);

/// Memory of a device's tensors, in bytes as they were rounded up to be given out: of those there are, the most there
/// was of that at a time, and what is kept of freed ones to be given out again. `live + kept` is never more than 1.5
/// times `peak` and 64 MiB. Not counted: what kernels and drivers need for themselves, and memory of the program's own
/// that tensors view.
struct MemoryStats {
  std::int64_t live = 0, peak = 0, kept = 0;
};
MemoryStats memory_stats(Device device);
/// Gives what is kept back to the system, after waiting for work that still uses it; `peak` counts anew from `live`.
/// Throws what that work throws.
void release_memory(Device device);

}  // namespace tern
