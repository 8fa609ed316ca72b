// A GPU's memory in blocks that are kept when they are freed. Everything is used in one order (streams.hpp), so that a
// block can be given out again at once; what is freed while a graph is captured stays the graph's.
// Not thread-safe: the device holds a lock.
#pragma once
#include <cstdint>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/streams.hpp"

namespace tern::detail_cuda {

class Memory {
 public:
  Memory(const GpuContext& context, Streams& streams) : context_(context), streams_(streams) {}

  struct Block {
    DevicePointer pointer = 0;
    std::uint64_t freed = 0;  // how much had been issued when it was; 0: never used
  };
  /// Throws out_of_memory, with the sizes, where it is not there even without what is kept.
  Block allocate(std::size_t bytes);
  void deallocate(DevicePointer pointer, std::size_t bytes) noexcept;

  using Blocks = std::vector<std::pair<DevicePointer, std::size_t>>;
  /// Between these, what the calling thread frees is given out to it alone; afterwards it belongs to the graph.
  void begin_capture();
  Blocks end_capture();
  void give_back(const Blocks& blocks) noexcept;

 private:
  using Free = std::map<std::size_t, std::vector<Block>>;
  static bool take(Free& list, std::size_t size, Block& block);
  Free& free_list();
  void release_kept();

  const GpuContext& context_;
  Streams& streams_;
  Free free_;
  std::map<std::thread::id, Free> captures_;
};

}  // namespace tern::detail_cuda
