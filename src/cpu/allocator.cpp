#include "cpu/allocator.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "tern/error.hpp"

namespace tern::detail_cpu {
namespace {

/// Requests from here on are checked against free memory and advised to use huge pages.
constexpr std::size_t kLarge = std::size_t{32} << 20;
constexpr std::size_t kSmallest = 64;

/// Eight classes to each power of two: at most 12.5 % is wasted.
std::size_t rounded(std::size_t bytes) {
  if (bytes <= kSmallest) return kSmallest;
  const std::size_t step = std::max(kSmallest, std::bit_floor(bytes - 1) / 8);
  return (bytes + step - 1) / step * step;
}
std::size_t class_of(std::size_t size) {
  const auto log = static_cast<std::size_t>(std::bit_width(size) - 1);
  return log * 8 + ((size - (std::size_t{1} << log)) * 8 >> log);
}

std::uint64_t number_in(const char* path, const std::string& key = "") {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (!key.empty() && word != key) continue;
    if (!key.empty() && !(file >> word)) break;
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(word.c_str(), &end, 10);
    return end != word.c_str() ? value : UINT64_MAX;
  }
  return UINT64_MAX;
}

/// Bytes this process can still get: the machine's available memory, or what its control group leaves.
std::uint64_t free_memory() {
  std::uint64_t available = number_in("/proc/meminfo", "MemAvailable:");
  if (available != UINT64_MAX) available *= 1024;
  const std::pair<const char*, const char*> groups[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_file, used_file] : groups) {
    const std::uint64_t limit = number_in(limit_file), used = number_in(used_file);
    if (limit != UINT64_MAX && used != UINT64_MAX) available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

class Cache {
 public:
  void* take(std::size_t size) {
    const std::lock_guard hold(lock_);
    std::vector<void*>& list = lists_[class_of(size)];
    if (list.empty()) return nullptr;
    void* block = list.back();
    list.pop_back();
    kept_ -= size;
    return block;
  }
  bool keep(void* block, std::size_t size) noexcept {
    const std::lock_guard hold(lock_);
    if (kept_ + size > limit_) return false;
    try {
      lists_[class_of(size)].push_back(block);
    } catch (...) {
      return false;
    }
    kept_ += size;
    return true;
  }
  void clear() noexcept {
    const std::lock_guard hold(lock_);
    for (std::vector<void*>& list : lists_) {
      for (void* block : list) std::free(block);
      list.clear();
    }
    kept_ = 0;
  }

 private:
  std::mutex lock_;
  std::vector<void*> lists_[64 * 8];
  std::size_t kept_ = 0;
  std::size_t limit_ = static_cast<std::size_t>(std::min<std::uint64_t>(free_memory() / 4, std::uint64_t{16} << 30));
};
Cache& cache() {
  static Cache* instance = new Cache;  // outlives tensors in static storage
  return *instance;
}

[[noreturn]] void out_of_memory(std::size_t bytes, std::uint64_t available) {
  throw Error(ErrorKind::out_of_memory, "out of memory: " + std::to_string(bytes) + " bytes wanted, " +
                                            (available == UINT64_MAX ? std::string("not") : std::to_string(available)) +
                                            " available on cpu");
}

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (void* block = cache().take(size)) return block;
  if (size >= kLarge && size > free_memory()) {
    cache().clear();
    const std::uint64_t available = free_memory();
    if (size > available) out_of_memory(bytes, available);
  }
  const std::size_t alignment = size >= kLarge ? std::size_t{2} << 20 : 64;
  void* block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!block) {
    cache().clear();
    block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (!block) out_of_memory(bytes, free_memory());
  }
#ifdef MADV_HUGEPAGE
  if (size >= kLarge) madvise(block, size, MADV_HUGEPAGE);
#endif
  return block;
}

void deallocate(void* data, std::size_t bytes) noexcept {
  if (!cache().keep(data, rounded(bytes))) std::free(data);
}

}  // namespace tern::detail_cpu
