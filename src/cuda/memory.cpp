#include "cuda/memory.hpp"

#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

/// Kernels may read up to the end of a vector of 16 bytes.
std::size_t rounded(std::size_t bytes) { return detail::size_class(bytes, 512); }

}  // namespace

DeviceMemory::Free* DeviceMemory::captured() {
  if (captures_.empty()) return nullptr;
  const auto capture = captures_.find(std::this_thread::get_id());
  return capture == captures_.end() ? nullptr : &capture->second;
}

DeviceMemory::MemoryBlock DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  MemoryBlock block;
  if (Free* const own = captured())
    if (const auto found = own->find(size); found != own->end() && !found->second.empty()) {
      block = found->second.back();
      found->second.pop_back();
      return block;
    }
  if (kept_.take(size, block)) return block;
  make_room(size);
  const GpuContext::Current current(context_);
  const Driver& driver = context_.driver();
  block = {};
  CuResult result = driver.cuMemAlloc_v2(&block.pointer, size);
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
  kept_.use(size);
  return block;
}

void DeviceMemory::deallocate(DevicePointer pointer, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  const MemoryBlock block{pointer, streams_.issued()};
  if (Free* const own = captured()) (*own)[size].push_back(block);
  else kept_.keep(size, block);
}

void DeviceMemory::make_room(std::size_t size) {
  if (!kept_.too_full_for(size)) return;
  const GpuContext::Current current(context_);
  streams_.settle();
  kept_.make_room(size, [&](const MemoryBlock& block, std::size_t) { context_.driver().cuMemFree_v2(block.pointer); });
}

void DeviceMemory::release_kept() {
  const GpuContext::Current current(context_);
  streams_.settle();
  kept_.clear([&](const MemoryBlock& block, std::size_t) { context_.driver().cuMemFree_v2(block.pointer); });
}

void DeviceMemory::begin_capture() { captures_[std::this_thread::get_id()]; }

DeviceMemory::MemoryBlocks DeviceMemory::end_capture() {
  MemoryBlocks blocks;
  const auto capture = captures_.find(std::this_thread::get_id());
  for (const auto& [size, list] : capture->second)
    for (const MemoryBlock& block : list) blocks.emplace_back(block.pointer, size);
  captures_.erase(capture);
  return blocks;
}

void DeviceMemory::give_back(const MemoryBlocks& blocks) noexcept {
  for (const auto& [pointer, size] : blocks) kept_.keep(size, {pointer, streams_.issued()});
}

}  // namespace tern::detail_cuda
