// Primitive `scan`: running combinations along an axis.
#pragma once
#include "backend/combine.hpp"
#include "backend/primitive.hpp"

namespace tern::detail {

/// Inclusive scan along an axis.
struct ScanRequest {
  const char* op = "";
  Combine combine = Combine::add;
  Shape space;
  int axis = 0;
  bool reverse = false;
  View input, output;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.output, r.space);
  }
  template <class Add> void parameters(Add&& add) const {
    add(combine), add(space), add(axis), add(reverse), add(input.dtype), add(output.dtype);
  }
  std::int64_t flops() const { return space.numel(); }
  std::string text() const { return to_string(space); }
};

}  // namespace tern::detail
