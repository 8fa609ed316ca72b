// Primitive `sort`: the elements along an axis in order, with their positions.
#pragma once
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

  Shape results() const {
    Shape shape = space;
    if (first > 0) shape[static_cast<std::size_t>(axis)] = first;
    return shape;
  }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.values, r.results()), visit.writes(r.indices, r.results());
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(axis), add(descending), add(input.dtype), add(first);
  }
  std::int64_t flops() const { return 0; }
  std::string text() const { return to_string(space); }
};

}  // namespace tern::detail
