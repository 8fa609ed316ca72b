// Scratch memory that grows and is kept: no allocation once warm.
#pragma once
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tern::detail_cpu {

/// Counts and places, of elements or bytes.
using Index = std::int64_t;

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

}  // namespace tern::detail_cpu
