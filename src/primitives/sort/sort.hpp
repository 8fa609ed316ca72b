// Primitive `sort`: the elements along an axis in order, with their positions.
#pragma once
#include <array>

#include "backend/primitive.hpp"

namespace tern::detail {

/// Stable sort along an axis; NaN is larger than everything. `indices` are i32; either output may have no storage.
/// Where `first` is not 0 only so many results of each line are wanted, and the outputs are as long along the axis.
struct SortRequest {
  const char* op = "";
  Shape space;
  int axis = 0;
  bool descending = false;
  View input, values, indices;
  std::int64_t first = 0;
  /// Where there are ranks (and `first` is 0), only the results at these are wanted.
  static constexpr int kMostRanks = 8;
  std::array<std::int32_t, kMostRanks> ranks = {};
  int rank_count = 0;

  Shape results() const {
    Shape shape = space;
    if (first > 0) shape[static_cast<std::size_t>(axis)] = first;
    if (rank_count > 0) shape[static_cast<std::size_t>(axis)] = rank_count;
    return shape;
  }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.values, r.results()), visit.writes(r.indices, r.results());
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(axis), add(descending), add(input.dtype), add(first), add(rank_count);
    for (int i = 0; i < rank_count; ++i) add(ranks[static_cast<std::size_t>(i)]);
  }
  std::int64_t flops() const { return 0; }
  std::string text() const { return to_string(space); }
};

}  // namespace tern::detail
