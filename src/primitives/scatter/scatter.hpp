// Primitive `scatter`: elements combined into places that an index table names.
#pragma once
#include "backend/combine.hpp"
#include "backend/primitive.hpp"

namespace tern::detail {

/// output[…, table(i), …] ⊕= source[…, i, …] in increasing order of i. The output is of the source's dtype, and
/// initialised by the caller, or taken from `initial` (combine_at_once()).
struct ScatterRequest {
  const char* op = "";
  Combine combine = Combine::add;
  Shape space;  // of the source
  View source, output;
  Gather target;
  View initial = {};  // dense, as the output, whose shape is `whole`
  Shape whole = {};

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.source, r.space), visit.reads(r.target.table, r.space);
    if (!r.initial.storage) return visit.updates(r.output, r.source, r.space);
    View written = r.initial;
    written.storage = r.output.storage, written.offset = r.output.offset;
    visit.reads(r.initial, r.whole), visit.writes(written, r.whole);
  }
  template <class Add> void parameters(Add&& add) const {
    add(combine), add(space), add(source.dtype), add(output.dtype);
    add(target.step), add(target.size), add(target.wraps), add(whole);
  }
  std::int64_t flops() const { return space.numel(); }
  std::string text() const { return to_string(space); }
};

/// Whether a device combines all that meets in a result in registers, and rounds it once, so that results may be of 16
/// bits; and whether it had best write all results afresh, from `initial`.
enum class AtOnce { no, in_place, afresh };
AtOnce combine_at_once(Backend& backend, const ScatterRequest& request);

}  // namespace tern::detail
