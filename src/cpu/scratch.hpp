// Scratch memory that is kept, or the allocator's where it is large: no allocation once warm.
#pragma once
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "cpu/machine/allocator.hpp"

namespace tern::detail_cpu {

/// Counts and places, of elements or bytes.
using Int64 = std::int64_t;

/// Buffers of this size on ask for huge pages.
inline constexpr std::int64_t kHugeFrom = std::int64_t{1} << 20, kHugePage = std::int64_t{2} << 20;

/// Aligned to cache lines of 64 bytes, the widest vector.
class ScratchBuffer {
 public:
  ScratchBuffer() = default;
  ScratchBuffer(const ScratchBuffer&) = delete;
  ScratchBuffer& operator=(const ScratchBuffer&) = delete;
  ~ScratchBuffer() { std::free(data_); }
  std::byte* reserve(std::int64_t bytes) {
    if (bytes > size_) {
      std::free(data_);
      size_ = 0;
      const std::int64_t page = bytes >= kHugeFrom ? kHugePage : 4096;
      const std::int64_t rounded = (bytes + bytes / 8 + page - 1) / page * page;
      const auto size = static_cast<std::size_t>(rounded);
      data_ = static_cast<std::byte*>(std::aligned_alloc(static_cast<std::size_t>(page), size));
      if (!data_) throw std::bad_alloc();
#ifdef __linux__
      if (page == kHugePage) madvise(data_, size, MADV_HUGEPAGE);
#endif
      size_ = rounded;
    }
    return data_;
  }

  /// What was reserved last.
  std::byte* data() const { return data_; }
  std::int64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Scratch of a call. What is small is the thread's own and kept; what is large is the allocator's, which counts it and
/// gives up what it keeps (memory_stats, release_memory): a thread's own would stay for ever.
class CallMemory {
 public:
  static constexpr std::int64_t kLarge = std::int64_t{1} << 20;

  CallMemory(ScratchBuffer& own, std::int64_t bytes) : bytes_(bytes >= kLarge ? static_cast<std::size_t>(bytes) : 0) {
    data_ = bytes_ ? static_cast<std::byte*>(allocate(bytes_)) : own.reserve(bytes);
  }
  ~CallMemory() {
    if (bytes_) deallocate(data_, bytes_);
  }
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;
  template <class T> T* as() const { return reinterpret_cast<T*>(data_); }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

/// The same for the vectors of a thread: give_back_if_large() at the end of a call.
template <class T> struct CallAllocator {
  using value_type = T;
  CallAllocator() = default;
  template <class U> CallAllocator(const CallAllocator<U>&) {}
  static bool large(std::size_t count) { return static_cast<std::int64_t>(count * sizeof(T)) >= CallMemory::kLarge; }
  T* allocate(std::size_t count) {
    return static_cast<T*>(large(count) ? detail_cpu::allocate(count * sizeof(T)) : ::operator new(count * sizeof(T)));
  }
  /// What a vector grows by is not cleared: all of it is written (16 MB take as long as sorting a third of them does).
  template <class U> void construct(U* at) { ::new (static_cast<void*>(at)) U; }
  template <class U, class... A> void construct(U* at, A&&... from) {
    ::new (static_cast<void*>(at)) U(std::forward<A>(from)...);
  }
  void deallocate(T* data, std::size_t count) noexcept {
    if (large(count)) detail_cpu::deallocate(data, count * sizeof(T));
    else ::operator delete(data);
  }
  friend bool operator==(const CallAllocator&, const CallAllocator&) { return true; }
};
template <class T> using CallVector = std::vector<T, CallAllocator<T>>;
template <class T> void give_back_if_large(CallVector<T>& v) {
  if (CallAllocator<T>::large(v.capacity())) CallVector<T>().swap(v);
}

}  // namespace tern::detail_cpu
