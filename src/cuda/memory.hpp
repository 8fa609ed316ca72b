// A GPU's memory in blocks that are kept when they are freed. Everything is used in one order (streams.hpp), so that a
// block can be given out again at once; what is freed while a graph is captured stays the graph's.
// Not thread-safe: the device holds a lock.
#pragma once
#include <cstdint>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "backend/memory/kept_blocks.hpp"
#include "cuda/streams.hpp"

namespace tern::detail_cuda {

class DeviceMemory {
 public:
  DeviceMemory(const GpuContext& context, Streams& streams) : context_(context), streams_(streams) {}

  struct MemoryBlock {
    DevicePointer pointer = 0;
    std::uint64_t freed = 0;  // how much had been issued when it was; 0: never used
  };
  /// Throws out_of_memory, with the sizes, where it is not there even without what is kept.
  MemoryBlock allocate(std::size_t bytes);
  void deallocate(DevicePointer pointer, std::size_t bytes) noexcept;

  const MemoryStats& stats() const { return kept_.stats(); }
  /// Waits, and frees what is kept.
  void release_kept();
  void reset_peak() { kept_.reset_peak(); }

  using MemoryBlocks = std::vector<std::pair<DevicePointer, std::size_t>>;
  /// Between these, what the calling thread frees is given out to it alone; afterwards it belongs to the graph.
  void begin_capture();
  MemoryBlocks end_capture();
  void give_back(const MemoryBlocks& blocks) noexcept;

 private:
  using Free = std::map<std::size_t, std::vector<MemoryBlock>>;
  /// Of the calling thread's capture; null where it has none.
  Free* captured();
  void make_room(std::size_t size);

  const GpuContext& context_;
  Streams& streams_;
  detail::KeptBlocks<MemoryBlock> kept_;
  std::map<std::thread::id, Free> captures_;  // what is freed there counts as in use
};

}  // namespace tern::detail_cuda
