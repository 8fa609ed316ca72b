// Primitive `scatter`: elements combined into places that an index table names.
#pragma once
#include "backend/combine.hpp"
#include "backend/primitive.hpp"

namespace tern::detail {

/// output[…, table(i), …] ⊕= source[…, i, …] in increasing order of i. The output is initialised by the caller.
struct ScatterRequest {
  const char* op = "";
  Combine combine = Combine::add;
  Shape space;  // of the source
  View source, output;
  Gather target;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.source, r.space), visit.reads(r.target.table, r.space);
    visit.updates(r.output, r.source, r.space);
  }
  template <class Add> void parameters(Add&& add) const {
    add(combine), add(space), add(source.dtype), add(output.dtype);
    add(target.step), add(target.size), add(target.wraps);
  }
  std::int64_t flops() const { return space.numel(); }
  std::string text() const { return to_string(space); }
};

}  // namespace tern::detail
