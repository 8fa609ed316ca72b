// One WebGPU device: its queue, the commands not yet submitted, buffers and pipelines. Not thread-safe: the backend
// holds a lock. (Larger than other classes, in four files: commands, buffers, parameters and waiting share one encoder
// and what it holds on to.)
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/memory/kept_blocks.hpp"
#include "gpu/plan/kernel.hpp"
#include "tern/device.hpp"
#include "webgpu/adapters.hpp"

namespace tern::detail_webgpu {

/// A GPU buffer of the caching allocator.
struct Buffer {
  WGPUBuffer handle = nullptr;
  std::uint64_t capacity = 0;
  std::uint64_t id = 0;        // never reused: names it in keys
  std::uint64_t recorded = 0;  // the encoder that used it last, counted from 1
};

inline constexpr std::size_t kParamsBytes = 256 << 10;  // of kernels recorded but not submitted
inline constexpr std::size_t kStagingBytes = 1 << 20;   // of small uploads likewise

class WebGpuDevice {
 public:
  WebGpuDevice(const Api& api, const Adapter& adapter, std::string name);
  /// Uses the program's own device, of which it holds a reference. Its errors go to the program's callback, so that
  /// calls must stand between catch_errors() and release_errors().
  WebGpuDevice(const Api& api, WGPUDevice device, WGPUQueue queue, std::string name);
  ~WebGpuDevice();
  WebGpuDevice(const WebGpuDevice&) = delete;
  WebGpuDevice& operator=(const WebGpuDevice&) = delete;

  const detail_gpu::Limits& limits() const { return limits_; }
  const CacheStats& stats() const { return stats_; }
  bool lost() const { return !faults_->lost.empty(); }
  bool adopted() const { return adopted_; }
  void catch_errors();
  void release_errors();

  Buffer* allocate(std::uint64_t bytes);
  void deallocate(Buffer* buffer) noexcept;
  const MemoryStats& memory_stats() const { return kept_.stats(); }
  /// Waits, and destroys what is kept.
  void release_memory();
  /// The program's buffer as one of this device, of which it holds a reference; to be given to forget(). Throws
  /// `device` where its usage does not suffice.
  Buffer* adopt(WGPUBuffer buffer);
  void forget(Buffer* buffer) noexcept;
  /// Copies through the encoder, so that it does not overtake kernels already recorded. Offset and size are whole
  /// words.
  void upload(Buffer& to, std::uint64_t offset, const void* from, std::size_t bytes);
  void download(Buffer& from, std::uint64_t offset, void* to, std::size_t bytes);
  /// Queues a kernel; `text` is asked for where its key is new.
  template <class Text> void launch(const detail_gpu::Launch& launch, Text text) {
    run(launch, pipeline(launch, text));
  }
  /// Submits what is recorded.
  void flush();
  /// Submits and waits; throws what went wrong meanwhile.
  void wait();
  /// Waits for what was submitted.
  void finish_work();
  void clear(Buffer& buffer);
  /// Whether the device tells how long kernels take.
  bool times_kernels() const { return timestamps_; }
  /// Whether kernels may use u64, which wgpu-native offers beyond the standard.
  bool has_wide_integers() const { return wide_integers_; }
  /// Whether texts with subgroups begin with a directive.
  bool enables_subgroups() const { return enables_subgroups_; }
  /// From here on, each kernel is a pass of its own between two timestamps.
  void begin_timing();
  /// Waits for the kernels since and says what each took: "12.3 us (gemm) + 2.0 us (elementwise)".
  std::string end_timing();
  void stop_timing() noexcept { timing_ = false; }
  /// Ends the device, as a driver may at any time (tests).
  void lose();

  std::uint64_t submissions = 0, waits = 0, kernels = 0, layouts_made = 0, bind_groups_made = 0;
  /// Bytes freed by the program while commands not yet submitted use them: with more, these are submitted.
  std::uint64_t most_waiting_bytes = 256ull << 20;

 private:
  static constexpr int kBusyPolls = 64;
  /// What callbacks report; outlives the device.
  struct Faults {
    std::string error, lost;
    bool out_of_memory = false;
    void add(WGPUErrorType type, WGPUStringView message);
  };
  struct Pipeline {
    WGPUComputePipeline handle = nullptr;
    WGPUBindGroupLayout layout = nullptr;
    std::string name;  // operation and kernel, for errors
  };
  struct KernelLayout {
    WGPUBindGroupLayout group = nullptr;
    WGPUPipelineLayout pipeline = nullptr;
  };

  template <class Text> const Pipeline& pipeline(const detail_gpu::Launch& launch, Text text) {
    const auto found = pipelines_.find(launch.key);
    if (found != pipelines_.end()) {
      ++stats_.hits;
      return found->second;
    }
    return compile(launch, text());
  }
  const Pipeline& compile(const detail_gpu::Launch& launch, const std::string& text);
  const KernelLayout& layout_of(const detail_gpu::Launch& launch);
  Buffer& buffer_of(const detail_gpu::Launch& launch, std::size_t k);
  void use(Buffer& buffer) { buffer.recorded = encoders_; }
  bool in_use(const Buffer& buffer) const { return buffer.recorded == encoders_ && encoder_ != nullptr; }
  /// The kernels of the encoder, for an error that WebGPU reports only with all of them.
  std::string recorded_kernels() const;
  WGPUBindGroup bind_group(const detail_gpu::Launch& launch, const Pipeline& pipeline);
  void run(const detail_gpu::Launch& launch, const Pipeline& pipeline);
  WGPUCommandEncoder encoder();
  WGPUComputePassEncoder pass();
  /// A pass between the next two timestamps, where there are any left.
  WGPUComputePassEncoder timed_pass(const Pipeline& pipeline);
  void end_pass();
  void request_device(const Adapter& adapter);
  /// What kernels may use beyond the least, of the features that the device has.
  void take_features(const std::function<bool(WGPUFeatureName)>& has);
  void set_up(const WGPULimits& limits);
  void release_bind_groups();
  Buffer* create(std::uint64_t bytes, WGPUBufferUsage usage);
  void make_room(std::uint64_t size);
  void release_kept();
  void destroy(Buffer* buffer) noexcept;
  void submit(WGPUCommandBuffer commands);
  void poll();
  /// After the library called abort() in a call about the device: nothing of it is touched any more.
  void abandon(const char* during);
  /// Waits until a callback has been called: wgpu-native sleeps meanwhile, Dawn returns at once.
  template <class Done> void poll_until(Done done) {
    for (int i = 0; !done() && !abandoned_; ++i) {
      poll();
      if (!api_.DevicePoll && i > kBusyPolls && !done()) pause();
    }
  }
  static void pause();
  void check(const std::string& doing);
  std::uint64_t add_constants(const void* data, std::size_t bytes, std::vector<std::byte>& arena, std::size_t capacity);

  const Api& api_;
  std::string name_;
  std::unique_ptr<Faults> faults_ = std::make_unique<Faults>();
  bool adopted_ = false, abandoned_ = false;
  WGPUDevice device_ = nullptr;
  WGPUQueue queue_ = nullptr;
  detail_gpu::Limits limits_;
  std::uint64_t max_buffer_bytes_ = 0, uniform_alignment_ = 256;
  CacheStats stats_;

  WGPUCommandEncoder encoder_ = nullptr;
  WGPUComputePassEncoder pass_ = nullptr;
  std::uint64_t encoders_ = 0, waiting_bytes_ = 0, steps_ = 0;
  std::vector<const Pipeline*> recorded_;
  bool timestamps_ = false, timing_ = false, wide_integers_ = false, enables_subgroups_ = false;
  WGPUQuerySet queries_ = nullptr;
  Buffer* resolved_ = nullptr;            // the timestamps of queries_
  std::vector<std::string> timed_names_;  // of the kernels between them
  Buffer *params_ = nullptr, *staging_ = nullptr, *readback_ = nullptr;
  std::vector<Buffer*> empty_;
  std::vector<std::byte> params_arena_, staging_arena_;

  detail::KeptBlocks<Buffer*> kept_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::string, Pipeline> pipelines_;  // by the launch's key
  std::unordered_map<std::string, Pipeline> texts_;      // the same by text: programs that differ may print alike
  std::unordered_map<std::string, KernelLayout> layouts_;
  std::unordered_map<std::string, WGPUBindGroup> bind_groups_;
};

}  // namespace tern::detail_webgpu
