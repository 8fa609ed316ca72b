// One NVIDIA GPU: its context, stream, memory and kernels. Not thread-safe: the backend holds a lock.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/api.hpp"
#include "gpu/kernel.hpp"
#include "tern/device.hpp"

namespace tern::detail_cuda {

/// "NVIDIA H200" and so on, by ordinal.
std::vector<std::string> gpu_names(const Driver& driver);

class GpuDevice {
 public:
  GpuDevice(const Driver& driver, int ordinal, std::string name);

  const CacheStats& stats() const { return stats_; }
  /// 90 for compute capability 9.0.
  int architecture() const { return architecture_; }
  int processors() const { return processors_; }
  Stream stream() const { return stream_; }
  /// Makes the GPU's context the calling thread's.
  void use();

  /// Blocks are given out again in the order of the stream. Throws out_of_memory, after freeing what is kept.
  DevicePointer allocate(std::size_t bytes);
  void deallocate(DevicePointer pointer, std::size_t bytes) noexcept;
  void upload(DevicePointer to, const void* from, std::size_t bytes);
  void download(DevicePointer from, void* to, std::size_t bytes);
  void clear(DevicePointer to, std::size_t bytes);
  void wait();

  /// Queues a kernel; `text` is asked for where its key is new.
  void launch(const detail_gpu::Launch& launch, const std::function<std::string()>& text);

  /// Between these nothing runs: what is queued becomes a graph, and blocks freed meanwhile stay its own.
  void begin_capture();
  bool capturing() const { return capturing_; }
  struct Captured {
    GraphExec graph = nullptr;
    std::vector<std::pair<DevicePointer, std::size_t>> blocks;
  };
  Captured end_capture();
  void replay(const Captured& captured);
  void release(Captured& captured) noexcept;

  void check(Result result, const std::string& doing) const;

 private:
  void encode(const detail_gpu::BoxMap& map, BoxMapData& data, const char* op) const;
  Function compile(const detail_gpu::Launch& launch, const std::string& text);
  Function load(const std::string& cubin, const std::string& doing);
  void release_pool() noexcept;

  const Driver& driver_;
  std::string name_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  int architecture_ = 0, processors_ = 1;
  CacheStats stats_;
  std::map<std::size_t, std::vector<DevicePointer>> pool_;
  bool capturing_ = false;
  Captured captured_;
  std::unordered_map<std::string, Function> kernels_;  // by the launch's key
  std::unordered_map<std::string, Function> texts_;    // the same by text: programs that differ may print alike
};

}  // namespace tern::detail_cuda
