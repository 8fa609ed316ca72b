// One NVIDIA GPU: its context, streams, memory and kernels. (Larger than other classes: all of them are used under one
// lock and within one context.)
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/memory.hpp"
#include "cuda/staging.hpp"
#include "gpu/plan/kernel.hpp"
#include "tern/device.hpp"

namespace tern::detail_cuda {

/// "NVIDIA H200" and so on, by ordinal.
std::vector<std::string> gpu_names(const Driver& driver);

/// What says so takes the lock itself and waits without it; everything else stands within a ContextGuard.
class CudaDevice {
 public:
  CudaDevice(const Driver& driver, int ordinal, std::string name);

  /// The device's lock, and its context on the calling thread. Throws where an earlier kernel failed.
  class ContextGuard {
   public:
    explicit ContextGuard(CudaDevice& gpu) : hold_(gpu.lock_), current_((gpu.context_.require_sound(), gpu.context_)) {}

   private:
    std::lock_guard<std::recursive_mutex> hold_;
    GpuContext::Current current_;
  };
  /// The lock alone.
  std::recursive_mutex& lock() const { return lock_; }

  const CacheStats& stats() const { return stats_; }
  /// 90 for compute capability 9.0.
  int architecture() const { return architecture_; }
  int processors() const { return processors_; }
  /// The most memory of a workgroup.
  int shared_bytes() const { return shared_bytes_; }
  /// The stream on which the calling thread is to issue its next work (Streams::next).
  Stream stream();

  /// These two need only the lock. Throws out_of_memory, after freeing what is kept.
  DevicePointer allocate(std::size_t bytes);
  void deallocate(DevicePointer pointer, std::size_t bytes) noexcept;

  /// Needs the lock.
  const MemoryStats& memory_stats() const { return memory_.stats(); }
  /// Within a ContextGuard.
  void release_memory() { memory_.release_kept(), memory_.reset_peak(); }

  /// Takes the lock itself. Returns when the data has been read.
  void upload(DevicePointer to, const void* from, std::size_t bytes);
  /// Takes the lock itself.
  void download(DevicePointer from, void* to, std::size_t bytes);
  /// A few bytes, waited for within a ContextGuard.
  void read(DevicePointer from, void* to, std::size_t bytes);
  void clear(DevicePointer to, std::size_t bytes);
  /// Takes both locks itself. Copies from another GPU's memory; false, having done nothing, where there is no direct
  /// way.
  bool copy_from(CudaDevice& other, DevicePointer to, DevicePointer from, std::size_t bytes);
  /// Takes the lock itself. Not while the calling thread captures.
  void wait();

  /// Queues a kernel; `text` is asked for where its key is new.
  void launch(const detail_gpu::Launch& launch, const std::function<std::string()>& text);

  /// A stream of the program (Streams::enter).
  void enter(Stream stream) { streams_.enter(stream); }
  void leave(Stream stream) noexcept { streams_.leave(stream); }

  /// Throws `device` or `shape` where memory of the program, [begin, end), is not this GPU's, or not all of it.
  void require_memory(DevicePointer begin, DevicePointer end) const;

  /// Between these nothing of the calling thread runs: what it queues becomes a graph, and blocks freed meanwhile stay
  /// its own.
  void begin_capture();
  bool capturing() const { return streams_.capturing(); }
  struct CapturedGraph {
    GraphExec graph = nullptr;
    DeviceMemory::MemoryBlocks blocks;
  };
  CapturedGraph end_capture();
  void replay(const CapturedGraph& captured);
  void release(CapturedGraph& captured) noexcept;

  void check(CuResult result, const std::string& doing) const { context_.check(result, doing); }

 private:
  void encode(const detail_gpu::BoxMap& map, BoxMapData& data, const char* op) const;
  void launch_parts(const detail_gpu::Launch& launch, CuFunction kernel);
  void start(const detail_gpu::Launch& launch, CuFunction kernel, void** arguments);
  CuFunction compile(const detail_gpu::Launch& launch, const std::string& text);
  void load(CuModule& module, const std::string& image, const std::string& doing) const;
  bool reaches(CudaDevice& other);

  const Driver& driver_;
  mutable std::recursive_mutex lock_;
  GpuContext context_;
  Streams streams_;
  DeviceMemory memory_;
  Staging up_, down_;
  int architecture_ = 0, processors_ = 1, shared_bytes_ = 0;
  CacheStats stats_;
  std::unordered_map<const CudaDevice*, bool> peers_;  // whether it can read their memory
  std::unordered_map<std::string, CuFunction> kernels_;  // by the launch's key
  std::unordered_map<std::string, CuFunction> texts_;    // the same by text: programs that differ may print alike
};

}  // namespace tern::detail_cuda
