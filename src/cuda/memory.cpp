#include "cuda/memory.hpp"

#include <bit>

#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

/// Sizes in steps of an eighth of the power of two below: little is wasted, and sizes repeat. Kernels may read up to
/// the end of a vector of 16 bytes.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 512) return 512;
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes - 1) / 8, 512);
  return (bytes + step - 1) / step * step;
}

}  // namespace

bool Memory::take(Free& list, std::size_t size, Block& block) {
  const auto found = list.find(size);
  if (found == list.end() || found->second.empty()) return false;
  block = found->second.back();
  found->second.pop_back();
  return true;
}

Memory::Free& Memory::free_list() {
  if (captures_.empty()) return free_;
  const auto capture = captures_.find(std::this_thread::get_id());
  return capture == captures_.end() ? free_ : capture->second;
}

Memory::Block Memory::allocate(std::size_t bytes) {
  const std::size_t size = size_class(bytes);
  Block block;
  if (take(free_list(), size, block) || take(free_, size, block)) return block;
  const GpuContext::Current current(context_);
  const Driver& driver = context_.driver();
  block = {};
  Result result = driver.cuMemAlloc_v2(&block.pointer, size);
  if (result == kOutOfMemory) {
    release_kept();
    result = driver.cuMemAlloc_v2(&block.pointer, size);
  }
  if (result == kOutOfMemory) {
    std::size_t free = 0, total = 0;
    driver.cuMemGetInfo_v2(&free, &total);
    throw Error(ErrorKind::out_of_memory, "allocating " + std::to_string(bytes) + " bytes on " + context_.name() +
                                              ": " + std::to_string(free) + " of " + std::to_string(total) +
                                              " bytes are free");
  }
  context_.check(result, "allocating " + std::to_string(bytes) + " bytes");
  return block;
}

void Memory::deallocate(DevicePointer pointer, std::size_t bytes) noexcept {
  free_list()[size_class(bytes)].push_back({pointer, streams_.issued()});
}

void Memory::release_kept() {
  streams_.settle();
  for (auto& [size, list] : free_)
    for (const Block& block : list) context_.driver().cuMemFree_v2(block.pointer);
  free_.clear();
}

void Memory::begin_capture() { captures_[std::this_thread::get_id()]; }

Memory::Blocks Memory::end_capture() {
  Blocks blocks;
  const auto capture = captures_.find(std::this_thread::get_id());
  for (const auto& [size, list] : capture->second)
    for (const Block& block : list) blocks.emplace_back(block.pointer, size);
  captures_.erase(capture);
  return blocks;
}

void Memory::give_back(const Blocks& blocks) noexcept {
  for (const auto& [pointer, size] : blocks) free_[size].push_back({pointer, streams_.issued()});
}

}  // namespace tern::detail_cuda
