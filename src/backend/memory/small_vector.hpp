// A vector of trivially destructible elements whose first N live in itself, the others in memory of a pool: an
// operation on 8 elements must not spend its time in malloc.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

#include "tern/pool.hpp"

namespace tern::detail {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
  SmallVector() {}  // nothing of the inline memory is touched
  SmallVector(std::size_t size, const T& value) {
    for (std::size_t i = 0; i < size; ++i) push_back(value);
  }
  SmallVector(const SmallVector& other) : size_(other.size_), more_(other.more_) { copy_inline(other); }
  SmallVector& operator=(const SmallVector& other) {
    size_ = other.size_, more_ = other.more_;
    copy_inline(other);
    return *this;
  }
  /// For as many: growing step by step would pass what the pool keeps.
  void reserve(std::size_t size) {
    if (size > N) more_.reserve(size);
  }
  void push_back(const T& value) {
    if (size_ < N) {
      new (inline_ + size_++ * sizeof(T)) T(value);
      return;
    }
    if (size_ == N) more_.assign(begin(), end());
    more_.push_back(value);
    ++size_;
  }
  /// push_back(make()), which is made in its place: a large element that was written a field at a time and is copied at
  /// once waits for its stores.
  template <class Make> void push_made(Make make) {
    if (size_ < N) {
      new (inline_ + size_++ * sizeof(T)) T(make());
    } else {
      push_back(make());
    }
  }
  T* begin() { return size_ <= N ? std::launder(reinterpret_cast<T*>(inline_)) : more_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return size_ <= N ? std::launder(reinterpret_cast<const T*>(inline_)) : more_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  operator std::span<const T>() const { return {begin(), size_}; }

 private:
  void copy_inline(const SmallVector& other) {
    if (size_ <= N && size_ > 0) std::memcpy(inline_, other.inline_, size_ * sizeof(T));
  }

  alignas(T) std::byte inline_[N * sizeof(T)];
  std::size_t size_ = 0;
  PoolVector<T> more_;
};

/// So many values of any type, up to N of them in itself.
template <class T, std::size_t N>
class Slots {
 public:
  explicit Slots(std::size_t size) : size_(size), more_(size > N ? size : 0) {}
  T* begin() { return size_ <= N ? few_.data() : more_.data(); }
  T* end() { return begin() + size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  std::size_t size() const { return size_; }
  operator std::span<T>() { return {begin(), size_}; }
  operator std::span<const T>() { return {begin(), size_}; }

 private:
  std::array<T, N> few_{};
  std::size_t size_;
  PoolVector<T> more_;
};

}  // namespace tern::detail
