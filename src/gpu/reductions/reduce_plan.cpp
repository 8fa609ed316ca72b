#include "gpu/reductions/reduce_plan.hpp"

#include <algorithm>
#include <bit>

namespace tern::detail_gpu {

using detail::Step;
using detail::StepKind;

namespace {
constexpr std::int64_t kEnoughInvocations = 256 * kEnoughGroups;
/// What an invocation of staged rows reads at least, in at most so many rows: less leaves memory waiting (rows of 3
/// bf16, normalised, H200: one row 34.4 us, four 28.8; through WebGPU, whose halves are computed with, 61 and 72).
constexpr std::int64_t kStagedBytes = 24;
constexpr int kMostStagedRows = 4;

int index_in(const std::vector<int>& list, int item) {
  return static_cast<int>(std::find(list.begin(), list.end(), item) - list.begin());
}
}  // namespace

ReducePlan::ReducePlan(GpuBackend& backend, const detail::FusedRequest& request, const Stage& stage,
                       const ReducePlace& place, Layouts layouts, bool hold)
    : ReduceSteps(request, stage),
      backend(backend),
      tiling(place.tiling),
      plan(backend.limits(), request.op, 'r', layouts),
      space_(place.space),
      begin_(place.begin),
      hold_(hold) {
  lay_out();
}

int ReducePlan::access_of(int source) const {
  return source_access[static_cast<std::size_t>(index_in(sources, source))];
}
int ReducePlan::access_of_full(int output) const {
  return full_access[static_cast<std::size_t>(index_in(full_outputs, output))];
}

std::uint32_t ReducePlan::pinned_axes() const {
  std::uint32_t pinned = 0;
  for (const int s : sources)
    if (step(s).kind == StepKind::position && step(s).index != detail::kOrdinalAxis)
      pinned |= 1u << (step(s).index < 0 ? step(s).index + space_.rank() : step(s).index);
  return pinned;
}

/// Outputs, then operands, each with its table.
std::vector<const View*> ReducePlan::laid_out_views() const {
  std::vector<const View*> views;
  for (const int o : full_outputs) views.push_back(&request.outputs[static_cast<std::size_t>(o)]);
  for (const int o : reduced_outputs) views.push_back(&request.outputs[static_cast<std::size_t>(o)]);
  for (const int s : sources) {
    if (step(s).kind != StepKind::input) continue;
    const Operand& operand = request.inputs[static_cast<std::size_t>(step(s).index)];
    views.push_back(&operand.view);
    if (operand.gather) views.push_back(&operand.gather->table);
  }
  return views;
}

void ReducePlan::lay_out() {
  const std::vector<const View*> views = laid_out_views();
  const std::uint32_t all = (1u << space_.rank()) - 1;
  kept = merge_axes(space_, all & ~request.reduced, views, pinned_axes());
  reduced = merge_axes(space_, all & request.reduced, views, pinned_axes());
  kept_count = kept.count();
  kept_slot = plan.add_param(static_cast<std::uint64_t>(kept_count));
  plan.add_axes(kept);
  const std::int64_t traversed = stage.joins ? stage.segments : reduced.count();
  length_slot = plan.add_param(static_cast<std::uint64_t>(traversed));
  segments_slot = plan.add_param(static_cast<std::uint64_t>(stage.segments));
  segment_slot = plan.add_param(0);
  first_segment_slot = plan.add_param(static_cast<std::uint64_t>(stage.first_segment));
  plan.add_axes(reduced);
  plan.set_inner(static_cast<int>(kept.sizes.size() + (tiling.rows ? reduced.sizes.size() : 0)) - 1);
  add_accesses(views);
  std::int64_t extent = 1;
  for (int i = 0; i < space_.rank(); ++i)
    if (request.reduced >> i & 1) extent *= request.space[static_cast<std::size_t>(i)];
  number_slots = plan.add_numbers(program, request.inputs, extent);
  for (const StoredResult& s : stage.partials) partial_access.push_back(plan.add_access(s.view, {}, stage.splits));
  for (const StoredResult& s : stage.known) known_access.push_back(plan.add_access(s.view, {}, false));
  for (const StoredResult& s : stage.results) result_access.push_back(plan.add_access(s.view, {}, true));
  if (plan.launch.checked_size > 0) {
    flags_view_ = {&backend.index_flags(), DType::u32, 0, {}};
    flags = plan.add_index_flags(flags_view_);
  }
  bind();
  choose();
  const std::int64_t parts = std::max<std::int64_t>(stage.splits ? stage.segments : 1, 1);
  plan.set(segment_slot, static_cast<std::uint64_t>(round_up(ceil_div(traversed, parts), reduced_group())));
}

void ReducePlan::add_accesses(const std::vector<const View*>& views) {
  std::size_t v = 0;
  const auto strides_of = [&] {
    std::vector<std::int64_t> strides = kept.strides[v];
    strides.insert(strides.end(), reduced.strides[v].begin(), reduced.strides[v].end());
    return strides;
  };
  const auto add = [&](bool written) {
    const std::vector<std::int64_t> strides = strides_of();
    return plan.add_access(*views[v++], strides, written);
  };
  for (std::size_t i = 0; i < full_outputs.size(); ++i) full_access.push_back(add(true));
  for (std::size_t i = 0; i < reduced_outputs.size(); ++i) reduced_access.push_back(add(true));
  for (const int s : sources) {
    source_access.push_back(-1);
    if (step(s).kind == StepKind::position) add_origin(step(s));
    if (step(s).kind != StepKind::input) continue;
    source_access.back() = add(false);
    const Gather* gather = request.inputs[static_cast<std::size_t>(step(s).index)].gather;
    if (!gather) continue;
    const std::vector<std::int64_t> strides = strides_of();
    ++v;
    plan.add_gather(source_access.back(), *gather, strides);
    plan.launch.checked_size = gather->size;
  }
}

void ReducePlan::add_origin(const Step& s) {
  std::int64_t first = 0;
  const auto begin = [&](int axis) { return begin_[static_cast<std::size_t>(axis)]; };
  if (s.index == detail::kOrdinalAxis) {
    std::int64_t stride = 1;
    for (int i = space_.rank() - 1; i >= 0; --i)
      if (request.reduced >> i & 1) first += stride * begin(i), stride *= request.space[static_cast<std::size_t>(i)];
  } else {
    first = begin(s.index < 0 ? s.index + space_.rank() : s.index);
  }
  origin_slots.push_back(plan.add_param(static_cast<std::uint64_t>(first)));
}

void ReducePlan::bind() {
  const std::vector<std::int64_t> sizes(space_.begin(), space_.end());
  std::vector<ByteRange> touched;
  for (const Access& a : plan.accesses) {
    const bool linear = a.actual.empty() && a.view->strides.empty();
    touched.push_back(linear ? ByteRange{0, static_cast<std::int64_t>(a.view->storage->bytes())}
                             : bytes_touched(*a.view, sizes));
  }
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (source_access[i] >= 0)
      touched[static_cast<std::size_t>(source_access[i])] =
          bytes_touched(request.inputs[static_cast<std::size_t>(step(sources[i]).index)], sizes);
  plan.bind(touched);
}

/// Neighbours an invocation handles, along the last reduced axis (rows) or the last kept one (columns): whole words
/// of packed outputs where it can; else those are merged into words.
void ReducePlan::choose() {
  const auto merge_parts = [this](const std::vector<int>& list) {
    for (const int a : list)
      if (plan.access(a).size() < 4) plan.merge_parts(a);
  };
  if (stage.joins || (tiling.rows ? reduced : kept).sizes.empty())
    return merge_parts(reduced_access), merge_parts(full_access);
  if (tiling.rows) merge_parts(reduced_access);
  if (stage_rows()) return;
  const MergedAxes& axes = tiling.rows ? reduced : kept;
  const auto inner = kept.sizes.size() + (tiling.rows ? reduced.sizes.size() : 0) - 1;
  group = plan.choose_group(static_cast<int>(inner), axes.sizes.back(), false);
  if (!tiling.rows) choose_columns();
  else if (hold_) resident_rows();
  else shorten_rows();
}
/// The workgroup's columns stay, its invocations go more steeply.
void ReducePlan::choose_columns() {
  const int threads = tiling.threads();
  tiling.across = std::max(1, tiling.across / group);
  tiling.along = threads / tiling.across;
  if (plan.layouts() != Layouts::own) return;
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(reduced.count(), 1));
  tiling.along = static_cast<int>(std::min(static_cast<std::uint64_t>(tiling.along), std::bit_ceil(length)));
  // Where a GPU is full without, no columns are shared: what invocations join costs more than a longer traversal.
  while (tiling.along > 1 && !stage.splits && kept_count / group * tiling.along > 2 * kEnoughInvocations)
    tiling.along /= 2, tiling.across *= 2;
}
/// No more invocations a row than have two steps each: the workgroup takes more rows instead.
void ReducePlan::shorten_rows() {
  if (plan.layouts() != Layouts::own || stage.splits) return;
  const int threads = tiling.threads();
  const bool alone = group == 1 && reduced.count() <= kLongestStaged;  // so that all such rows add in one order
  const std::int64_t each = alone ? kLongestStaged : 2 * group;
  const auto steps = static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_div(reduced.count(), each), 1));
  tiling.along = static_cast<int>(std::min(static_cast<std::uint64_t>(tiling.along), std::bit_ceil(steps)));
  tiling.across = std::min(threads / tiling.along, std::max(tiling.across, rows_of_group()));
}
/// Short rows of no vectors pass through workgroup memory: a row for each invocation.
bool ReducePlan::stage_rows() {
  if (hold_ || !tiling.rows || plan.layouts() != Layouts::own || stage.splits) return false;
  if (kept.sizes.size() != 1 || reduced.sizes.size() != 1) return false;
  const std::int64_t length = reduced.count();
  if (length < 2 || length > kLongestStaged) return false;
  StagedRows rows;
  rows.length = static_cast<int>(length);
  bool vectors = true, halves = false;
  std::int64_t bytes = 0;  // of a row, that are read
  rows.vectors = backend.limits().native;
  const auto stages = [&](int access) {
    const Access& a = plan.access(access);
    vectors = vectors && length * a.size() % kVectorBytes == 0;
    if (a.table >= 0 || !can_be_staged(*a.view, a.actual, a.written, length, length * kept_count)) return false;
    halves = halves || a.size() == 2;
    rows.vectors = rows.vectors && begins_in_vectors(*a.view) && length * kept_count * a.size() % kVectorBytes == 0;
    return true;
  };
  for (const int a : full_access) {
    if (!stages(a)) return false;
    rows.writes.push_back(a);
  }
  for (const int a : source_access)
    if (a >= 0 && stages(a)) rows.reads.push_back(a), bytes += length * plan.access(a).size();
  rows.unit = rows_of_unit(length, halves);
  for (const int a : rows.accesses()) rows.add_tile(plan.access(a).dtype());
  if (rows.words == 0 || vectors || staged_invocations(rows) == 0) return false;
  staged = rows;
  const auto more = [&] {
    return rows.rows() * bytes < kStagedBytes && rows.rows() < kMostStagedRows &&
           kept_count > 2 * rows.rows() * kEnoughInvocations;
  };
  while (backend.limits().native && more()) {
    rows.units *= 2;
    if (staged_invocations(rows) > 0) staged = rows;
  }
  tiling.along = 1, tiling.across = staged_invocations(staged);
  return true;
}
/// Holds rows that fit into registers.
void ReducePlan::resident_rows() {
  if (pass_count() < 2 || group < 2 || reduced.sizes.size() != 1) return;
  ResidentRows rows{program,
                    plan,
                    {},
                    [this](int i) { return is_source(i); },
                    [this](int i) { return access_of(i); },
                    kept.sizes.size(),
                    group,
                    kept_count,
                    ceil_div(reduced.count(), group)};
  for (std::size_t p = 0; p < pass_count(); ++p) rows.wanted.push_back(wanted_of(p));
  resident = rows.choose();
  if (!resident()) return;
  const int threads = std::max(tiling.threads(), resident.along);
  tiling.along = resident.along, tiling.across = std::min(threads / resident.along, rows_of_group());
}
/// Rows of a workgroup that leave enough workgroups.
int ReducePlan::rows_of_group() const {
  const auto rows = static_cast<std::uint64_t>(std::max<std::int64_t>(kept_count / kEnoughGroups, 1));
  return static_cast<int>(std::min<std::uint64_t>(std::bit_floor(rows), 256));
}

void ReducePlan::arrange() {
  Launch& launch = plan.launch;
  launch.threads = static_cast<std::uint32_t>(tiling.threads());
  launch.in_bounds = true;
  const std::int64_t groups = ceil_div(kept_count, tiling.across * kept_group() * staged.rows());
  launch.groups = static_cast<std::uint64_t>(groups * (stage.splits ? stage.segments : 1));
  plan.note(program.serial), plan.note(static_cast<char>(group));
  plan.note(resident.steps), plan.note(staged.length), plan.note(staged.unit);
  plan.note(staged.units), plan.note(staged.vectors);
  plan.note(tiling.rows), plan.note(tiling.across), plan.note(tiling.along);
  plan.note(static_cast<char>(stage.first)), plan.note(static_cast<char>(stage.last));
  plan.note(static_cast<char>(stage.joins | stage.splits << 1 | stage.reduced_outputs << 2 | stage.full_outputs << 3));
  for (const int o : full_outputs) plan.note(static_cast<std::int16_t>(o));
  for (const StoredResult& s : stage.known) plan.note(static_cast<std::int16_t>(s.step));
  for (const StoredResult& s : stage.results) plan.note(static_cast<std::int16_t>(s.step));
  for (const auto* list : {&staged.reads, &staged.writes})
    for (const int a : *list) plan.note(static_cast<char>(a));
  for (const int axis : kept.original) plan.note(static_cast<char>(axis));
  for (const int axis : reduced.original) plan.note(static_cast<char>(axis));
  plan.finish_key();
}

}  // namespace tern::detail_gpu
