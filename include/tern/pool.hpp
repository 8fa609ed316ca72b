// Small blocks of memory that are kept when they are freed, in lists of a thread by size: what an operation makes
// (tensors, recorded operations) comes from there once the first ones are gone, without a call of malloc.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tern::detail {

/// `bytes` of memory aligned for any type of ordinary alignment. Any thread may free it.
void* pool_allocate(std::size_t bytes);
void pool_free(void* block, std::size_t bytes) noexcept;

template <class T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U> PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(pool_allocate(n * sizeof(T)));
  }
  void deallocate(T* block, std::size_t n) noexcept { pool_free(block, n * sizeof(T)); }
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
};
template <class T> using PoolVector = std::vector<T, PoolAllocator<T>>;
template <class K, class V>
using PoolMap = std::unordered_map<K, V, std::hash<K>, std::equal_to<K>, PoolAllocator<std::pair<const K, V>>>;

template <class T, class... A> std::shared_ptr<T> make_pooled(A&&... arguments) {
  return std::allocate_shared<T>(PoolAllocator<T>{}, std::forward<A>(arguments)...);
}

}  // namespace tern::detail
