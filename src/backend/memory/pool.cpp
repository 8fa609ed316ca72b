#include "tern/pool.hpp"

#include <new>

namespace tern::detail {
namespace {

/// Sizes are rounded up to multiples of kSizeStep. Blocks larger than kLargestBlock, and those beyond kMostFreeBytes
/// free bytes of their size, go to the system. (A limit of 512 blocks: of the time of 2000 operations in a graph of
/// 1000, a sixth in it.)
constexpr std::size_t kSizeStep = 32, kLargestBlock = 2048, kClasses = kLargestBlock / kSizeStep + 1,
                      kMostFreeBytes = std::size_t{1} << 20;

struct FreeBlock {
  FreeBlock* next;
};
struct Lists {
  FreeBlock* first[kClasses];
  std::size_t count[kClasses];
  bool closed;  // the thread is ending
};
// Trivial, so that it may be used while the thread's other objects are destroyed.
thread_local constinit Lists lists{};
struct Closer {
  ~Closer() {
    lists.closed = true;
    for (FreeBlock*& block : lists.first)
      while (block) ::operator delete(std::exchange(block, block->next));
  }
};

}  // namespace

void* pool_allocate(std::size_t bytes) {
  const std::size_t size_class = (bytes + kSizeStep - 1) / kSizeStep;
  if (size_class >= kClasses) return ::operator new(bytes);
  if (FreeBlock* block = lists.first[size_class]) {
    lists.first[size_class] = block->next, --lists.count[size_class];
    return block;
  }
  return ::operator new(size_class * kSizeStep + (size_class == 0));
}

void pool_free(void* block, std::size_t bytes) noexcept {
  const std::size_t size_class = (bytes + kSizeStep - 1) / kSizeStep;
  if (size_class == 0 || size_class >= kClasses || lists.closed ||
      lists.count[size_class] * size_class * kSizeStep >= kMostFreeBytes) {
    ::operator delete(block);
    return;
  }
  thread_local const Closer closer;
  (void)closer;
  lists.first[size_class] = new (block) FreeBlock{lists.first[size_class]};
  ++lists.count[size_class];
}

}  // namespace tern::detail
