#include "gpu/elementwise_plan.hpp"

#include <algorithm>

#include "gpu/plan/horizontal.hpp"

namespace tern::detail_gpu {

using detail::Step;
using detail::StepKind;

ElementwisePlan::ElementwisePlan(GpuBackend& backend, const Elementwise& job, Layouts layouts)
    : backend(backend), job(job), program(*job.program), plan(backend.limits(), job.op, 'e', layouts) {
  for (const Elementwise::Stored& s : job.known) known.push_back(s.step);
  for (const Elementwise::Stored& s : job.outputs) wanted.push_back(s.step);
  sources = sources_of(program, wanted, [this](int step) { return is_source(step); });
  lay_out();
  choose();
  finish();
}

bool ElementwisePlan::is_part() const {
  return job.horizontal && most_parts(plan.launch.bindings.size(), plan.launch.params.size()) > 0;
}
bool ElementwisePlan::is_source(int step) const {
  const StepKind kind = program.steps[static_cast<std::size_t>(step)].kind;
  return kind == StepKind::input || kind == StepKind::position ||
         std::find(known.begin(), known.end(), step) != known.end();
}

/// The axes a coordinate is asked for; an ordinal asks for all reduced ones.
std::uint32_t ElementwisePlan::pinned_axes() const {
  std::uint32_t pinned = 0;
  for (const int s : sources) {
    const Step& step = program.steps[static_cast<std::size_t>(s)];
    if (step.kind != StepKind::position) continue;
    if (step.index == detail::kOrdinalAxis) pinned |= job.reduced;
    else pinned |= 1u << (step.index < 0 ? step.index + job.space.rank() : step.index);
  }
  return pinned;
}

const Operand* ElementwisePlan::operand_of(int s) const {
  const Step& step = program.steps[static_cast<std::size_t>(s)];
  return step.kind == StepKind::input ? &job.inputs[static_cast<std::size_t>(step.index)] : nullptr;
}

/// What is written, and then what is read, with the tables of what is indexed.
std::vector<const View*> ElementwisePlan::views() const {
  std::vector<const View*> views;
  for (const Elementwise::Stored& s : job.outputs) views.push_back(&s.view);
  for (const int s : sources) {
    const Operand* operand = operand_of(s);
    if (operand) {
      views.push_back(&operand->view);
      if (operand->gather) views.push_back(&operand->gather->table);
    } else {
      for (const Elementwise::Stored& k : job.known)
        if (k.step == s) views.push_back(&k.view);
    }
  }
  return views;
}

void ElementwisePlan::lay_out() {
  const std::vector<const View*> views = this->views();
  axes = merge_axes(job.space, (1u << job.space.rank()) - 1, views, pinned_axes(), 0);
  if (axes.sizes.empty()) {  // one element: as a contiguous row of one
    axes.sizes.push_back(1), axes.original.push_back(-1);
    for (auto& strides : axes.strides) strides.push_back(1);
  }
  count_slot = plan.add_param(0);
  plan.add_axes(axes, kVectorAxes);
  plan.set_inner(static_cast<int>(axes.sizes.size()) - 1);
  std::size_t v = 0;
  const auto add = [&](bool written) {
    const int number = plan.add_access(*views[v], axes.strides[v], written);
    ++v;
    return number;
  };
  for (std::size_t i = 0; i < job.outputs.size(); ++i) outputs.push_back(add(true));
  access.assign(sources.size(), -1);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Step& step = program.steps[static_cast<std::size_t>(sources[i])];
    const Operand* operand = operand_of(sources[i]);
    if (!operand && step.kind == StepKind::position) {
      add_origin(step);
      continue;
    }
    access[i] = add(false);
    if (!operand || !operand->gather) continue;
    plan.add_gather(access[i], *operand->gather, axes.strides[v]);
    plan.launch.checked_size = operand->gather->size;
    ++v;
  }
  slots = plan.add_numbers(program, job.inputs, job.extent);
  if (plan.launch.checked_size > 0) {
    flags_view = {&backend.index_flags(), DType::u32, 0, {}};
    flags = plan.add_index_flags(flags_view);
  }
}

/// Parameters: where the positions of this launch begin.
void ElementwisePlan::add_origin(const Step& step) {
  std::int64_t first = 0;
  if (step.index == detail::kOrdinalAxis) {
    std::int64_t stride = 1;
    for (int i = job.space.rank() - 1; i >= 0; --i)
      if (job.reduced >> i & 1) {
        first += stride * job.origin[static_cast<std::size_t>(i)];
        stride *= job.whole[static_cast<std::size_t>(i)];
      }
  } else {
    first = job.origin[static_cast<std::size_t>(step.index < 0 ? step.index + job.space.rank() : step.index)];
  }
  origin_slots.push_back(plan.add_param(static_cast<std::uint64_t>(first)));
  if (step.index == detail::kOrdinalAxis)
    for (int i = 0; i < job.space.rank(); ++i)
      if (job.reduced >> i & 1)
        ordinal_strides.push_back(plan.add_param(static_cast<std::uint64_t>(ordinal_stride(i))));
}
std::int64_t ElementwisePlan::ordinal_stride(int axis) const {
  std::int64_t stride = 1;
  for (int i = axis + 1; i < job.space.rank(); ++i)
    if (job.reduced >> i & 1) stride *= job.whole[static_cast<std::size_t>(i)];
  return stride;
}

bool ElementwisePlan::is_bundle(std::size_t first) const {
  const Access& a = plan.accesses[first];
  const std::int64_t count = kVectorBytes / a.size();
  const auto in_units = [&](std::int64_t elements) { return elements % count == 0; };
  if (a.table >= 0 || a.actual.empty() || !in_units(a.view->offset) || !std::ranges::all_of(a.actual, in_units) ||
      reinterpret_cast<std::uintptr_t>(a.view->storage->data()) % kVectorBytes != 0)
    return false;
  for (std::size_t k = 1; k < static_cast<std::size_t>(count); ++k) {
    if (first + k == plan.accesses.size()) return false;
    const Access& b = plan.accesses[first + k];
    if (b.view->storage != a.view->storage || b.view->offset != a.view->offset + static_cast<std::int64_t>(k) ||
        b.actual != a.actual || b.size() != a.size() || b.written != a.written || b.table >= 0)
      return false;
  }
  return true;
}
/// A warp that writes the components of matrices one by one sends as many parts of sectors as it has numbers: 100,000
/// inverses of 4x4 took 44 µs on an H200.
void ElementwisePlan::find_bundles() {
  const auto whole_words = [](const Access& a) { return a.size() >= 4; };
  if (plan.layouts() != Layouts::own || flags >= 0 || !std::ranges::all_of(plan.accesses, whole_words)) return;
  for (std::size_t i = 0; i < plan.accesses.size(); ++i) {
    if (!is_bundle(i)) continue;
    bundles.push_back(static_cast<int>(i));
    plan.binding_of(static_cast<int>(i)).vectors = true;
    i += static_cast<std::size_t>(kVectorBytes / plan.accesses[i].size()) - 1;
  }
}

void ElementwisePlan::choose() {
  const std::vector<std::int64_t> sizes(job.space.begin(), job.space.end());
  std::vector<ByteRange> touched;
  for (const Access& a : plan.accesses)
    touched.push_back(bytes_touched(*a.view, a.actual.empty() ? std::vector<std::int64_t>{} : sizes));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Step& step = program.steps[static_cast<std::size_t>(sources[i])];
    if (step.kind == StepKind::input)
      touched[static_cast<std::size_t>(access[i])] =
          bytes_touched(job.inputs[static_cast<std::size_t>(step.index)], sizes);
  }
  plan.bind(touched);
  const int rank = static_cast<int>(axes.sizes.size());
  const std::int64_t inner = rank ? axes.sizes.back() : 1;
  const bool alone = plan.layouts() == Layouts::own ? rank == 1 : axes.count() == inner;
  find_bundles();
  if (bundles.empty()) group = plan.choose_group(rank - 1, inner, alone);
  if (plan.layouts() == Layouts::vectors) plan.guarded = true;  // one text for one axis, which may be cut, and for more
  across = axis_across(rank - 1);
  group_is_row = rows_are_groups();
}

/// Random numbers are drawn in such rows: 2^24 normal ones took 54.8 us where the lane, and so which of a block's words
/// an element has, was known to the GPU alone (H100, 25 November 2026).
bool ElementwisePlan::rows_are_groups() const {
  if (plan.layouts() != Layouts::own || axes.sizes.size() < 2 || group == 1 || axes.sizes.back() != group) return false;
  const int axis = axes.original.back();
  return !plan.guarded && across < 0 && (axis < 0 || job.origin[static_cast<std::size_t>(axis)] == 0);
}

/// The axis along which neighbours of an operand lie that steps further along the inner one; -1 where there is none.
int ElementwisePlan::axis_across(int inner) const {
  if (plan.layouts() != Layouts::own || group == 1 || plan.guarded || plan.launch.checked_size > 0) return -1;
  // Half of a tile's rows at least: invocations outside of the tensor do nothing.
  if (backend.limits().threads < kAcross || axes.sizes.back() < group * rows_of_tile() / 2) return -1;
  for (const Access& a : plan.accesses) {
    if (a.written || a.steps.empty() || a.steps[static_cast<std::size_t>(inner)] != 's') continue;
    for (int i = 0; i < inner; ++i)
      if (a.steps[static_cast<std::size_t>(i)] == '1' && axes.sizes[static_cast<std::size_t>(i)] >= kAcross) return i;
  }
  return -1;
}
/// Whether an operand is read across, into the workgroup's memory.
bool ElementwisePlan::reads_across(int number) const {
  const Access& a = plan.access(number);
  return across >= 0 && !a.written && !a.steps.empty() && a.steps.back() == 's' &&
         a.steps[static_cast<std::size_t>(across)] == '1';
}
bool ElementwisePlan::is_staged() const {
  if (across < 0 || is_part() || plan.launch.threads != 256) return false;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < plan.accesses.size(); ++i)
    if (reads_across(static_cast<int>(i)))
      bytes += group * rows_of_tile() * kPitch * (plan.access(static_cast<int>(i)).size() == 8 ? 8 : 4);
  return bytes <= backend.limits().shared_bytes;
}
std::int64_t ElementwisePlan::rows_of_tile() const {
  return std::min<std::uint32_t>(256, backend.limits().threads) / kAcross;
}
/// Parameters: sizes along both axes, in elements and in tiles.
void ElementwisePlan::count_tiles() {
  const std::int64_t size = axes.sizes[static_cast<std::size_t>(across)], inner = axes.sizes.back();
  const std::int64_t tiles_across = ceil_div(size, kAcross), tiles_inner = ceil_div(inner, group * rows_of_tile());
  for (const std::int64_t value : {size, inner, tiles_across, tiles_inner})
    tile_slots.push_back(plan.add_param(static_cast<std::uint64_t>(value)));
  plan.launch.groups = static_cast<std::uint64_t>(axes.count() / size / inner * tiles_across * tiles_inner);
}

/// Writes the choices to the key; after the last change.
void ElementwisePlan::finish() {
  Launch& launch = plan.launch;
  launch.threads = std::min<std::uint32_t>(256, backend.limits().threads);
  launch.in_bounds = true;
  if (across >= 0) count_tiles();
  else launch.groups = static_cast<std::uint64_t>(ceil_div(ceil_div(axes.count(), group), launch.threads));
  plan.set(count_slot, across >= 0 ? launch.groups : static_cast<std::uint64_t>(axes.count()));
  plan.note(static_cast<char>(across)), plan.note(program.serial), plan.note(static_cast<char>(group)),
      plan.note(plan.guarded), plan.note(launch.threads), plan.note(is_part()), plan.note(is_staged()),
      plan.note(group_is_row);
  for (const int step : wanted) plan.note(static_cast<std::int16_t>(step));
  for (const int step : known) plan.note(static_cast<std::int16_t>(step));
  for (const int axis : axes.original) plan.note(static_cast<char>(axis));
  for (const int first : bundles) plan.note(static_cast<std::int16_t>(first));
  plan.finish_key();
}

}  // namespace tern::detail_gpu
