// A vector of trivially destructible elements whose first N live in itself: an operation on 8 elements must not spend
// its time in malloc.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace tern::detail {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  SmallVector() = default;
  SmallVector(std::size_t size, const T& value) {
    for (std::size_t i = 0; i < size; ++i) push_back(value);
  }
  void push_back(const T& value) {
    if (size_ < N) {
      inline_[size_++] = value;
      return;
    }
    if (size_ == N) more_.assign(inline_.begin(), inline_.end());
    more_.push_back(value);
    ++size_;
  }
  T* begin() { return size_ <= N ? inline_.data() : more_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return size_ <= N ? inline_.data() : more_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  operator std::span<const T>() const { return {begin(), size_}; }

 private:
  std::array<T, N> inline_;
  std::size_t size_ = 0;
  std::vector<T> more_;
};

}  // namespace tern::detail
