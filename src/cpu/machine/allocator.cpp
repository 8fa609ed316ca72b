#include "cpu/machine/allocator.hpp"

#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "backend/memory/kept_blocks.hpp"
#include "process/fork.hpp"
#include "tern/error.hpp"

namespace tern::detail_cpu {
namespace {

/// Requests from here on are checked against free memory.
constexpr std::size_t kLarge = std::size_t{32} << 20;
/// Blocks from here on begin as huge pages do and are advised to use them.
constexpr std::size_t kHuge = std::size_t{4} << 20, kPageOfHuge = std::size_t{2} << 20;
/// From here on blocks are mapped, so that what is given up leaves the process; malloc would keep some of it.
constexpr std::size_t kMapped = std::size_t{256} << 10;
constexpr std::size_t kSmallest = 64;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMaps = false;  // AddressSanitizer watches the ends of what malloc gives
#else
constexpr bool kMaps = true;
#endif

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

/// Whole pages, those of blocks for huge ones beginning as those do; null where there is no memory.
void* map(std::size_t size) {
  const std::size_t align = size >= kHuge ? kPageOfHuge : 0;
  void* const mapped = mmap(nullptr, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (align == 0) return mapped;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (align - reinterpret_cast<std::uintptr_t>(begin) % align) % align;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + size, align - before);
  return begin + before;
}

void* make_block(std::size_t size) {
  void* block = nullptr;
  if (kMaps && size >= kMapped) {
    block = map(size);
  } else {
    const std::size_t alignment = size >= kHuge ? kPageOfHuge : 64;
    block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  }
#ifdef MADV_HUGEPAGE
  if (block && size >= kHuge) madvise(block, size, MADV_HUGEPAGE);
#endif
  return block;
}
void free_block(void* block, std::size_t size) {
  if (kMaps && size >= kMapped) munmap(block, size);
  else std::free(block);
}

class Cache {
 public:
  /// A kept block, or null: then there is room to make one.
  void* take(std::size_t size) {
    Doomed doomed;
    const std::lock_guard hold(lock_);
    void* block = nullptr;
    if (blocks_.take(size, block)) return block;
    blocks_.make_room(size, doomed);
    return nullptr;
  }
  void made(std::size_t size) {
    const std::lock_guard hold(lock_);
    blocks_.use(size);
  }
  bool keep(void* block, std::size_t size) noexcept {
    const std::lock_guard hold(lock_);
    if (blocks_.stats().kept + static_cast<std::int64_t>(size) > most_) return blocks_.forget(size), false;
    return blocks_.keep(size, block);
  }
  void clear() noexcept {
    Doomed doomed;
    const std::lock_guard hold(lock_);
    blocks_.clear(doomed);
  }
  void reset_peak() {
    const std::lock_guard hold(lock_);
    blocks_.reset_peak();
  }
  MemoryStats stats() {
    const std::lock_guard hold(lock_);
    return blocks_.stats();
  }

 private:
  /// Blocks that were given up, chained through themselves: they are freed when the lock is open again.
  struct Doomed {
    struct Link {
      Link* next;
      std::size_t size;
    };
    Link* first = nullptr;
    void operator()(void* block, std::size_t size) { first = new (block) Link{first, size}; }
    ~Doomed() {
      while (first) {
        Link* const link = std::exchange(first, first->next);
        free_block(link, link->size);
      }
    }
  };

  detail::ForkSafe<std::mutex> lock_;
  detail::KeptBlocks<void*> blocks_;
  std::int64_t most_ = static_cast<std::int64_t>(std::min<std::uint64_t>(free_memory() / 4, std::uint64_t{16} << 30));
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
  if (bytes > std::size_t{1} << 62) out_of_memory(bytes, free_memory());
  const std::size_t size = detail::size_class(bytes, kSmallest);
  if (void* block = cache().take(size)) return block;
  if (size >= kLarge && size > free_memory()) {
    cache().clear();
    const std::uint64_t available = free_memory();
    if (size > available) out_of_memory(bytes, available);
  }
  void* block = make_block(size);
  if (!block) {
    cache().clear();
    block = make_block(size);
    if (!block) out_of_memory(bytes, free_memory());
  }
  cache().made(size);
  return block;
}

void deallocate(void* data, std::size_t bytes) noexcept {
  const std::size_t size = detail::size_class(bytes, kSmallest);
  if (!cache().keep(data, size)) free_block(data, size);
}

MemoryStats memory_stats() { return cache().stats(); }

namespace {
struct Keepers {
  detail::ForkSafe<std::mutex> lock;
  std::vector<void (*)()> give_up;
};
Keepers& keepers() {
  static Keepers& all = *new Keepers;
  return all;
}
}  // namespace

void when_released(void (*give_up)()) {
  const std::lock_guard hold(keepers().lock);
  keepers().give_up.push_back(give_up);
}

void release_memory() {
  std::vector<void (*)()> all;
  {
    const std::lock_guard hold(keepers().lock);
    all = keepers().give_up;
  }
  for (void (*const give_up)() : all) give_up();
  cache().clear();
  cache().reset_peak();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace tern::detail_cpu
