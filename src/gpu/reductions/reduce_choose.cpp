#include "gpu/reductions/reduce_choose.hpp"

#include <algorithm>
#include <bit>

#include "gpu/plan/lines.hpp"
#include "gpu/reductions/reduce_staged.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;
using detail::Step;
using detail::StepKind;

namespace {

constexpr std::int64_t kSteps = 16;           // steps an invocation makes before a split into segments pays
constexpr std::int64_t kStepsOfWarps = 256;   // the same where a warp has a row (archived_tiling)
constexpr std::int64_t kStepsOfColumns = 32;  // the same of columns, which are read in vectors
// Neighbours of a workgroup of columns: as many as a memory controller likes, unless that leaves few workgroups.
constexpr std::int64_t kMostColumns = 128, kFewestColumns = 16, kFewGroupsOfColumns = 128;
// Workgroups of columns: four or six for each of 132 processors (an H100's and H200's), so that all run at once. Six
// need invocations of few sums, and pay from so many columns on. On an H200 a pass over 8192x16384 bf16 that sums
// columns took 255 and 218 µs, 373 with 256 workgroups; var over axis 0 of 8192² f32 (4 sums of 4 columns) 87 and 74,
// bf16 (of 8) 57 and 73.
constexpr std::int64_t kGroupsOfColumns = 4 * 132, kMoreGroupsOfColumns = 6 * 132, kFewSums = 16, kManyColumns = 8192;
// Of few columns, which are no vectors, an invocation has few bytes under way: as many as a processor takes. Of 4
// million rows of 3, the gradients of x · w, H200, 28 November 2026, in us of 528, 792, 1056, 1584 and 2112 workgroups:
// f32 107, 91, 84, 92, 86; bf16 85, 68, 59, 67, 60.
constexpr std::int64_t kGroupsOfNarrow = 8 * 132, kNarrow = 16;

// As many elements as it pays to write by a kernel of their own, where a traversal of columns would have to merge them
// into words by atomic operations: the gradients of 4 million rows of 3 bf16 times a row took 131 us through WebGPU on
// an H200, 112 of them in that.
constexpr std::int64_t kManyMerged = 1 << 16;

/// Into how many parts the reduced range is split for workgroups of their own, where `groups` of them would make
/// `pass` steps.
std::int64_t segments_of_rows(const GpuBackend& backend, std::int64_t groups, std::int64_t pass) {
  if (groups >= kEnoughGroups || pass <= (backend.limits().archived ? kStepsOfWarps : kSteps)) return 1;
  return std::min(ceil_div(pass, kSteps / 2), ceil_div(2 * kEnoughGroups, groups));
}
std::int64_t segments_of_columns(const FusedRequest& r, const Extents& n, std::int64_t groups, std::int64_t pass,
                                 std::int64_t at_once) {
  if (groups >= kGroupsOfColumns || pass <= kStepsOfColumns) return 1;
  const auto sums = std::count_if(r.program->steps.begin(), r.program->steps.end(),
                                  [](const Step& s) { return s.kind == StepKind::reduce; });
  const bool more = sums * at_once <= kFewSums && n.kept >= kManyColumns;
  const std::int64_t all = n.kept < kNarrow ? kGroupsOfNarrow : more ? kMoreGroupsOfColumns : kGroupsOfColumns;
  return std::min(ceil_div(pass, kSteps / 2), all / groups);
}
/// Whether the operands that have most elements step by least along a reduced axis; workgroups then traverse it side by
/// side. (A matrix that lies in columns had the vote of one, as the vector that it was multiplied by: 136 us for 25.)
ThreadGrid choose_tiling(const GpuBackend& backend, const FusedRequest& r, const Extents& n) {
  std::int64_t votes = 0;
  const auto vote = [&](const View& v) {
    if (!v.storage) return;
    std::int64_t kept = INT64_MAX, reduced = INT64_MAX, elements = 1;
    for (int i = 0; i < r.space.rank(); ++i) {
      const auto axis = static_cast<std::size_t>(i);
      if (r.space[axis] < 2 || v.strides[axis] == 0) continue;
      std::int64_t& least = r.reduced >> i & 1 ? reduced : kept;
      least = std::min(least, std::abs(v.strides[axis]));
      elements *= r.space[axis];
    }
    if (reduced != INT64_MAX) votes += reduced <= kept ? elements : -elements;
  };
  for (const Operand& o : r.inputs) vote(o.view);
  for (const View& v : r.outputs) vote(v);
  const auto threads = static_cast<std::int64_t>(std::min<std::uint32_t>(256, backend.limits().threads));
  const auto power = [](std::int64_t least) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(least, 1))));
  };
  ThreadGrid t;
  t.rows = votes >= 0;
  if (backend.limits().archived) return archived_tiling(t.rows);
  if (t.rows) {
    t.along = static_cast<int>(std::min(threads, power(ceil_div(n.length, 2))));
    t.across = static_cast<int>(std::min(threads / t.along, power(n.kept)));
  } else {
    std::int64_t across = std::min(threads, kMostColumns);
    while (ceil_div(n.kept, across) < kFewGroupsOfColumns && across > kFewestColumns) across /= 2;
    t.across = static_cast<int>(std::min(across, power(n.kept)));
    t.along = static_cast<int>(std::min(threads / t.across, power(n.length)));
  }
  return t;
}

/// Bytes in an element of the narrowest operand.
std::int64_t narrowest(const FusedRequest& r) {
  std::size_t least = 4;
  for (const Operand& o : r.inputs)
    if (o.view.storage) least = std::min(least, dtype_size(o.view.dtype));
  return static_cast<std::int64_t>(least);
}

/// The axes of a request as few as its views allow, with the strides of its outputs and then of its inputs.
struct RequestAxes {
  std::vector<const View*> views;
  MergedAxes kept, reduced;
};
RequestAxes axes_of(const FusedRequest& r) {
  RequestAxes axes;
  for (const View& v : r.outputs) axes.views.push_back(&v);
  for (const Operand& o : r.inputs)
    if (o.view.storage) axes.views.push_back(&o.view);
  const std::uint32_t all = (1u << r.space.rank()) - 1;
  axes.kept = merge_axes(r.space, all & ~r.reduced, axes.views, 0);
  axes.reduced = merge_axes(r.space, all & r.reduced, axes.views, 0);
  return axes;
}

/// Whether rows will pass through workgroup memory (ReducePlan::stage_rows), which owns whole words of them, whatever
/// else the request has.
bool rows_will_be_staged(const FusedRequest& r) {
  const Extents n = extents_of(r);
  if (n.length < 2 || n.length > kLongestStaged) return false;
  for (const Step& s : r.program->steps)
    if (s.kind == StepKind::position) return false;
  for (const Operand& o : r.inputs)
    if (o.gather) return false;
  const auto [views, kept, reduced] = axes_of(r);
  StagedRows rows;  // at most
  rows.length = static_cast<int>(n.length);
  const auto is_half = [](const View* v) { return dtype_size(v->dtype) == 2; };
  rows.unit = rows_of_unit(n.length, std::any_of(views.begin(), views.end(), is_half));
  for (const View* v : views) rows.add_tile(v->dtype);
  if (staged_invocations(rows) == 0) return false;
  if (kept.sizes.size() != 1 || reduced.sizes.size() != 1) return false;
  for (std::size_t o = 0; o < r.outputs.size(); ++o) {
    const std::int64_t steps[] = {kept.strides[o][0], reduced.strides[o][0]};
    if (r.program->outputs[o].full && !can_be_staged(*views[o], steps, true, n.length, n.length * n.kept)) return false;
  }
  return true;
}

/// Whether an invocation can own whole words of every packed full output: along the last reduced axis of rows, the last
/// kept one of columns (Plan::choose_group).
bool words_owned(const FusedRequest& r, bool rows) {
  const auto [views, kept, reduced] = axes_of(r);
  const MergedAxes &along = rows ? reduced : kept, &others = rows ? kept : reduced;
  if (along.sizes.empty()) return false;
  for (std::size_t o = 0; o < r.outputs.size(); ++o) {
    const View& v = r.outputs[o];
    const auto size = static_cast<std::int64_t>(dtype_size(v.dtype));
    if (!r.program->outputs[o].full || size >= 4) continue;
    const auto even = [&](std::int64_t elements) { return elements * size % 4 == 0; };
    const auto &strides = along.strides[o], &apart = others.strides[o];
    if (strides.back() != 1 || !even(along.sizes.back()) || !even(v.offset)) return false;
    if (!std::all_of(strides.begin(), strides.end() - 1, even) || !std::ranges::all_of(apart, even)) return false;
  }
  return true;
}

int longest_reduced_axis(const FusedRequest& r, const Shape& space) {
  int longest = -1;
  std::int64_t most = 1;
  for (int i = 0; i < space.rank(); ++i)
    if ((r.reduced >> i & 1) && space[static_cast<std::size_t>(i)] > most)
      most = space[static_cast<std::size_t>(i)], longest = i;
  return longest;
}

}  // namespace

Extents extents_of(const FusedRequest& r) {
  Extents n;
  for (int i = 0; i < r.space.rank(); ++i)
    (r.reduced >> i & 1 ? n.length : n.kept) *= r.space[static_cast<std::size_t>(i)];
  return n;
}

Split choose_split(const GpuBackend& backend, const FusedRequest& r) {
  const Extents n = extents_of(r);
  const ThreadGrid tiling = choose_tiling(backend, r, n);
  const std::int64_t groups = ceil_div(n.kept, tiling.across);
  const std::int64_t at_once = tiling.rows ? 1 : kVectorBytes / narrowest(r);
  const std::int64_t pass = ceil_div(n.length, at_once * tiling.along);
  return {tiling,
          tiling.rows ? segments_of_rows(backend, groups, pass) : segments_of_columns(r, n, groups, pass, at_once)};
}

ThreadGrid archived_tiling(bool rows) { return {rows, rows ? 8 : 32, rows ? 32 : 8}; }

ThreadGrid joining_tiling(const GpuBackend& backend, std::int64_t kept, std::int64_t segments) {
  ThreadGrid t;
  t.rows = false;
  if (backend.limits().archived) {
    t.across = t.along = 16;
    return t;
  }
  const auto threads = static_cast<std::int64_t>(std::min<std::uint32_t>(256, backend.limits().threads));
  t.along = static_cast<int>(std::min<std::int64_t>(
      threads, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ceil_div(segments, 4))))));
  t.across = static_cast<int>(
      std::min(threads / t.along, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kept)))));
  return t;
}

bool needs_stages(const GpuBackend& backend, const FusedRequest& r, const ThreadGrid& tiling) {
  std::vector<Storage*> seen;
  bool too_large = false, checks = false;
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  const auto see = [&](const View& v) {
    seen.push_back(v.storage);
    too_large |= v.storage->bytes() > backend.limits().binding_bytes;
  };
  for (const Operand& o : r.inputs) {
    if (o.view.storage) see(o.view);
    if (o.gather) see(o.gather->table), checks = true;
  }
  bool packed = false;
  for (std::size_t i = 0; i < r.outputs.size(); ++i) {
    see(r.outputs[i]);
    packed |= r.program->outputs[i].full && dtype_size(r.outputs[i].dtype) < 4 && !backend.limits().native;
  }
  std::sort(seen.begin(), seen.end());
  const auto count = static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin()) + checks;
  if (too_large || count > backend.limits().bindings || r.space.numel() >= (std::int64_t{1} << 31)) return true;
  if (!packed) return false;
  if (words_owned(r, tiling.rows)) return false;
  return tiling.rows ? !rows_will_be_staged(r) : r.space.numel() >= kManyMerged;
}

bool writes_full_outputs(const GpuBackend& backend, const FusedRequest& r, const ThreadGrid& tiling,
                         std::size_t others) {
  std::vector<Storage*> seen;
  bool fits = true, packed = false;
  for (const Operand& o : r.inputs) {
    if (o.view.storage) seen.push_back(o.view.storage);
    if (o.gather) seen.push_back(o.gather->table.storage), ++others;
  }
  for (std::size_t o = 0; o < r.outputs.size(); ++o) {
    if (!r.program->outputs[o].full) continue;
    seen.push_back(r.outputs[o].storage);
    fits &= static_cast<std::int64_t>(r.outputs[o].storage->bytes()) <= most_bytes(backend);
    packed |= dtype_size(r.outputs[o].dtype) < 4;
  }
  std::sort(seen.begin(), seen.end());
  const auto distinct = static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
  if (packed && (tiling.rows || !backend.limits().native)) fits &= words_owned(r, tiling.rows);
  return fits && distinct + others + 1 <= backend.limits().bindings;
}

std::vector<Chunk> chunks_of(const GpuBackend& backend, const FusedRequest& r, const Chunk& whole) {
  const std::int64_t most = most_bytes(backend);
  const std::vector<std::int64_t> sizes(whole.space.begin(), whole.space.end());
  bool fits = whole.space.numel() < (std::int64_t{1} << 31);
  int axis = -1;
  std::int64_t furthest = 0;
  for (const Operand& o : r.inputs) {
    if (!o.view.storage) continue;
    const ByteRange touched = bytes_touched(o, sizes);
    if (static_cast<std::int64_t>(o.view.storage->bytes()) > most && touched.end - touched.begin > most) fits = false;
    for (int i = 0; i < whole.space.rank(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t reach = (whole.space[a] - 1) * std::abs(o.view.strides[a]);
      if (whole.space[a] > 1 && (r.reduced >> i & 1) && reach > furthest) furthest = reach, axis = i;
    }
  }
  if (!fits && axis < 0) axis = longest_reduced_axis(r, whole.space);  // broadcast operands reach nowhere
  if (fits || axis < 0) return {whole};
  const auto a = static_cast<std::size_t>(axis);
  Chunk first = whole, second = whole;
  first.space[a] = round_up(whole.space[a] / 2, whole.space[a] > 32 ? 16 : 1);
  if (first.space[a] == 0) first.space[a] = 1;
  second.space[a] -= first.space[a], second.begin[a] += first.space[a];
  std::vector<Chunk> all = chunks_of(backend, r, first), rest = chunks_of(backend, r, second);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace tern::detail_gpu
