// Shapes, strides and axis lists: small inline vectors of at most kMaxRank integers.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tern/error.hpp"

namespace tern {

/// Tensors have at most this many axes.
inline constexpr int kMaxRank = 8;

namespace detail {
/// One integer of any integral type except bool, so that `{v.size(), 4}` is a shape.
struct Dim {
  std::int64_t value;
  template <std::integral T> requires(!std::same_as<T, bool>)
  constexpr Dim(T v) : value(static_cast<std::int64_t>(v)) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) == 8)
      if (v > static_cast<T>(std::numeric_limits<std::int64_t>::max()))
        throw Error(ErrorKind::shape, "size " + std::to_string(v) + " exceeds 2^63-1");
  }
};

class DimVector {
 public:
  constexpr DimVector() = default;
  constexpr DimVector(std::initializer_list<Dim> dims) {
    for (const Dim& d : dims) push_back(d.value);
  }
  template <class Range>
    requires requires(const Range& r) { { *r.begin() } -> std::convertible_to<std::int64_t>; r.end(); } &&
             (!std::derived_from<Range, DimVector>)
  constexpr explicit DimVector(const Range& range) {
    for (const auto& d : range) push_back(Dim(d).value);
  }
  constexpr int rank() const { return rank_; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(rank_); }
  constexpr bool empty() const { return rank_ == 0; }
  constexpr std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  constexpr std::int64_t& operator[](std::size_t i) { return dims_[i]; }
  constexpr std::int64_t back() const { return dims_[static_cast<std::size_t>(rank_ - 1)]; }
  constexpr std::int64_t& back() { return dims_[static_cast<std::size_t>(rank_ - 1)]; }
  constexpr const std::int64_t* begin() const { return dims_.data(); }
  constexpr const std::int64_t* end() const { return dims_.data() + rank_; }
  constexpr const std::int64_t* data() const { return dims_.data(); }
  constexpr void push_back(std::int64_t d) {
    if (rank_ == kMaxRank)
      throw Error(ErrorKind::shape, "more than " + std::to_string(kMaxRank) + " axes are not supported");
    dims_[static_cast<std::size_t>(rank_++)] = d;
  }
  constexpr void resize(int rank, std::int64_t fill = 0) {
    while (rank_ < rank) push_back(fill);
    rank_ = rank;
  }
  operator std::vector<std::int64_t>() const { return {begin(), end()}; }
  friend constexpr bool operator==(const DimVector& a, const DimVector& b) {
    if (a.rank_ != b.rank_) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }
  friend bool operator==(const DimVector& a, const std::vector<std::int64_t>& b) {
    return static_cast<std::vector<std::int64_t>>(a) == b;
  }

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};
}  // namespace detail

namespace detail {
/// Prints "[2, 3]": shapes, strides and axes.
std::ostream& operator<<(std::ostream& stream, const DimVector& dims);
}  // namespace detail

/// Sizes of a tensor's axes, outermost first. `{}` is the 0-d shape, which has one element.
class Shape : public detail::DimVector {
 public:
  using DimVector::DimVector;
  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<detail::Dim> dims) : DimVector(dims) {}
  Shape(const std::vector<std::int64_t>& dims) : DimVector(dims) {}
  /// One axis.
  template <std::integral T> requires(!std::same_as<T, bool>)
  constexpr Shape(T size) : DimVector({detail::Dim(size)}) {}
  /// Number of elements; throws `shape` where a size is negative or the product overflows.
  std::int64_t numel() const;
};

/// Steps between neighbouring elements of each axis, in elements (0 for a broadcast axis).
class Strides : public detail::DimVector {
 public:
  using DimVector::DimVector;
};

/// A list of axes; negative ones count from the end, `{}` means all of them.
class Axes : public detail::DimVector {
 public:
  constexpr Axes() = default;
  constexpr Axes(std::initializer_list<detail::Dim> axes) : DimVector(axes) {}
  Axes(const std::vector<std::int64_t>& axes) : DimVector(axes) {}
  template <std::integral T> requires(!std::same_as<T, bool>)
  constexpr Axes(T axis) : DimVector({detail::Dim(axis)}) {}
};

/// Whether axes that are reduced stay, with size 1: true or false, and no number, as a second axis would be.
class KeepDim {
 public:
  template <std::same_as<bool> B> constexpr KeepDim(B keeps) : keeps_(keeps) {}
  template <class Other> requires(std::is_arithmetic_v<Other> && !std::same_as<Other, bool>)
  __attribute__((unavailable("keepdim is true or false; several axes stand in braces, as in sum(x, {0, 1})")))
  constexpr KeepDim(Other);
  constexpr operator bool() const { return keeps_; }

 private:
  bool keeps_;
};

/// Positions begin, begin + step, … before end. Negative ones count from the end; what is left open is the first or
/// last in the step's direction: `Slice(2, 8, 2)`, `Slice()` (all), `Slice{.step = -1}` (all, backwards).
struct Slice {
  std::optional<std::int64_t> begin = {}, end = {};
  std::int64_t step = 1;
};

namespace detail {
struct Ellipsis {};
struct NewAxis {};
}  // namespace detail
/// In x(…): all the axes that the other indices leave, and a new axis of size 1.
inline constexpr detail::Ellipsis ellipsis{};
inline constexpr detail::NewAxis newaxis{};

/// "[2, 3]"
std::string to_string(const detail::DimVector& dims);

}  // namespace tern
