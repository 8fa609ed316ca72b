// How the depth of a product, all its steps of k, is cut into blocks: each is summed by itself, and their sums are
// added in order.
#pragma once
#include <algorithm>
#include <cstdint>

#include "backend/rounding.hpp"
#include "cpu/scratch.hpp"

namespace tern::detail_cpu {

using detail::ceil_div, detail::round_up;

/// The i-th of `parts` parts of nearly the same size: 73 as five times 12 and 13.
struct EvenPart {
  Index begin, count;
};
constexpr EvenPart even_part(Index i, Index parts, Index total) {
  if (parts == 1) return {0, total};
  const Index begin = i * total / parts;
  return {begin, (i + 1) * total / parts - begin};
}

/// One block of the depth: part of one segment, or all of several.
struct DepthBlock {
  Index segment, segments, begin, end;  // steps begin … end of each
  Index before;                         // steps of the whole depth before this block
  Index depth() const { return segments * (end - begin); }
};

/// How the depth (segments × k) is cut: k into near-equal blocks, or where k is short, whole segments together.
struct DepthPlan {
  Index k, segments, step, per_segment, together, count;
  DepthPlan(Index k_, Index segments_, Index block) : k(k_), segments(segments_) {
    per_segment = std::max<Index>(1, ceil_div(k, block));
    step = ceil_div(k, per_segment);
    together = k == 0 ? 1 : std::max<Index>(1, std::min(segments, block / k));
    count = k == 0 || segments == 0 ? 0 : together > 1 ? ceil_div(segments, together) : segments * ceil_div(k, step);
    if (count != 0) per_segment = ceil_div(k, step);
  }
  DepthBlock operator[](Index i) const {
    if (together > 1) {
      const Index first = i * together;
      return {first, std::min(together, segments - first), 0, k, first * k};
    }
    const Index segment = i / per_segment, begin = i % per_segment * step;
    return {segment, 1, begin, std::min(k, begin + step), segment * k + begin};
  }
  Index longest() const { return together > 1 ? together * k : step; }
  Index total() const { return segments * k; }
};

}  // namespace tern::detail_cpu
