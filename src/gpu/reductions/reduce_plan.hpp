// From a stage of a request with reductions to a kernel's arguments: merged axes, what is bound, how invocations lie
// over rows or columns. What the text is made of: reduce_text.hpp.
#pragma once
#include <string>
#include <vector>

#include "gpu/reductions/reduce_resident.hpp"
#include "gpu/reductions/reduce_staged.hpp"
#include "gpu/reductions/reduce_steps.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

/// Where a stage lies: the tiling asked for, and the coordinates in the request of the space's first element.
struct ReducePlace {
  const ThreadGrid& tiling;
  const std::vector<std::int64_t>& begin;
  const Shape& space;
};

struct ReducePlan : ReduceSteps {
  /// `hold`: rows are to stay in registers between traversals, where they fit (resident()).
  ReducePlan(GpuBackend& backend, const detail::FusedRequest& request, const Stage& stage, const ReducePlace& place,
             Layouts layouts, bool hold = false);
  ReducePlan(const ReducePlan&) = delete;  // accesses point to flags_view
  ReducePlan& operator=(const ReducePlan&) = delete;

  /// The launch's numbers and key.
  void arrange();
  /// Whether the kernel is one of those for operands in vectors (Layouts::vectors).
  bool in_vectors() const {
    return kept.sizes.size() == 1 && reduced.sizes.size() == 1 && group > 1 && plan.in_vectors();
  }

  int access_of(int source) const;
  int access_of_full(int output) const;
  /// Neighbours that an invocation handles along the last kept axis (columns), and along the last reduced one (rows).
  int kept_group() const { return tiling.rows ? 1 : group; }
  int reduced_group() const { return tiling.rows ? group : 1; }
  /// Kept positions of an invocation for which a reduction has a result of its own: they all have the same count.
  int positions(int s) const { return counts(s) ? 1 : kept_group(); }

  GpuBackend& backend;
  ThreadGrid tiling;
  Plan plan;
  MergedAxes kept, reduced;
  std::int64_t kept_count = 1;
  int group = 1;  // neighbours an invocation handles
  Resident resident;
  StagedRows staged;
  // Places of accesses in the plan, in the order of what they are of; -1 for sources that are no input.
  std::vector<int> full_access, reduced_access, source_access, partial_access, known_access, result_access;
  std::vector<int> number_slots, origin_slots;  // parameters: numbers by step, and origins of positions
  int kept_slot = -1, length_slot = -1, segments_slot = -1, segment_slot = -1, first_segment_slot = -1;
  int flags = -1;  // the binding in which indices out of range are noted

 private:
  std::uint32_t pinned_axes() const;
  std::vector<const View*> laid_out_views() const;
  void lay_out();
  void add_accesses(const std::vector<const View*>& views);
  void add_origin(const detail::Step& s);
  void bind();
  void choose();
  void choose_columns();
  void shorten_rows();
  bool stage_rows();
  void resident_rows();
  int rows_of_group() const;

  const Shape& space_;
  const std::vector<std::int64_t>& begin_;
  bool hold_;
  View flags_view_;
};

}  // namespace tern::detail_gpu
