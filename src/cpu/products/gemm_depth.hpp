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
  Int64 begin, count;
};
constexpr EvenPart even_part(Int64 i, Int64 parts, Int64 total) {
  if (parts == 1) return {0, total};
  const Int64 begin = i * total / parts;
  return {begin, (i + 1) * total / parts - begin};
}

/// One block of the depth: part of one segment, or all of several.
struct DepthBlock {
  Int64 segment, segments, begin, end;  // steps begin … end of each
  Int64 before;                         // steps of the whole depth before this block
  Int64 depth() const { return segments * (end - begin); }
};

/// How the depth (segments × k) is cut: k into near-equal blocks, or where k is short, whole segments together.
struct DepthPlan {
  Int64 k, segments, step, per_segment, together, count;
  DepthPlan(Int64 k_, Int64 segments_, Int64 block) : k(k_), segments(segments_) {
    per_segment = std::max<Int64>(1, ceil_div(k, block));
    step = ceil_div(k, per_segment);
    together = k == 0 ? 1 : std::max<Int64>(1, std::min(segments, block / k));
    count = k == 0 || segments == 0 ? 0 : together > 1 ? ceil_div(segments, together) : segments * ceil_div(k, step);
    if (count != 0) per_segment = ceil_div(k, step);
  }
  DepthBlock operator[](Int64 i) const {
    if (together > 1) {
      const Int64 first = i * together;
      return {first, std::min(together, segments - first), 0, k, first * k};
    }
    const Int64 segment = i / per_segment, begin = i % per_segment * step;
    return {segment, 1, begin, std::min(k, begin + step), segment * k + begin};
  }
  Int64 longest() const { return together > 1 ? together * k : step; }
  Int64 total() const { return segments * k; }
};

}  // namespace tern::detail_cpu
