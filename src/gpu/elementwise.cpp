#include "gpu/elementwise.hpp"

#include <algorithm>
#include <array>

#include "backend/instruments/trace.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

// Axes of kernels in vectors that are made beforehand: a row or a column added to matrices, and to batches of them.
constexpr std::size_t kVectorAxes = 3;
// Where an operand's neighbours lie along another axis than the output's, a workgroup takes a tile: 32 invocations
// along that axis, which read together, and rows of groups along the output's. What they read goes through the
// workgroup's memory, where it fits, so that neighbours along the output's axis write together: of 4096 x 4096 in f32
// that is rows of 128 bytes both ways.
constexpr int kAcross = 32, kPitch = kAcross + 1;  // of a row in the workgroup's memory: no two in the same bank
constexpr std::int64_t kLeastTile = 16;                        // elements along both
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // of a launch: indices are 32 bits wide

std::vector<std::int64_t> sizes_of(const Shape& space) { return {space.begin(), space.end()}; }

const detail::Graph* identity_graph() {
  static const detail::Graph* const graph = [] {
    const Expr x = detail::make_input(0);
    return detail::make_graph({&x, 1}, 1);
  }();
  return graph;
}

/// One launch.
class ElementwiseKernel {
 public:
  ElementwiseKernel(GpuBackend& backend, const Elementwise& job, Layouts layouts)
      : backend_(backend), job_(job), program_(*job.program), plan_(backend.limits(), job.op, 'e', layouts) {
    for (const Elementwise::Stored& s : job.known) known_.push_back(s.step);
    for (const Elementwise::Stored& s : job.outputs) wanted_.push_back(s.step);
    sources_ = sources_of(program_, wanted_, [this](int step) { return is_source(step); });
    lay_out();
    choose();
  }

  /// False, having done nothing, where there is no such kernel in vectors.
  bool run() {
    Launch& launch = plan_.launch;
    launch.threads = std::min<std::uint32_t>(256, backend_.limits().threads);
    launch.in_bounds = true;
    if (across_ >= 0) count_tiles();
    else launch.groups = static_cast<std::uint64_t>(ceil_div(ceil_div(axes_.count(), group_), launch.threads));
    plan_.set(count_slot_, across_ >= 0 ? launch.groups : static_cast<std::uint64_t>(axes_.count()));
    plan_.note(static_cast<char>(across_)), plan_.note(program_.serial), plan_.note(static_cast<char>(group_)),
        plan_.note(plan_.guarded), plan_.note(launch.threads), plan_.note(is_part()), plan_.note(is_staged());
    for (const int step : wanted_) plan_.note(static_cast<std::int16_t>(step));
    for (const int step : known_) plan_.note(static_cast<std::int16_t>(step));
    for (const int axis : axes_.original) plan_.note(static_cast<char>(axis));
    plan_.finish_key();
    const auto print = [this] { return text(); };
    if (plan_.layouts() == Layouts::vectors && !(in_vectors() && backend_.has_kernel(Layouts::vectors, launch, print)))
      return false;
    if (detail::tracing())
      detail::note(cat("elementwise, ", group_, group_ == 1 ? " element" : " elements", " an invocation",
                       across_ >= 0 ? ", in tiles, " : ", ", launch.groups, " workgroups of ", launch.threads));
    if (is_part()) job_.together->add(launch, print);
    else backend_.queue(launch, print);
    return true;
  }

 private:
  /// Every operand lies in vectors along the last axis.
  bool in_vectors() const { return axes_.sizes.size() == kVectorAxes && group_ > 1 && plan_.in_vectors(); }
  bool is_part() const {
    return job_.together && most_parts(plan_.launch.bindings.size(), plan_.launch.params.size()) > 0;
  }
  bool is_source(int step) const {
    const StepKind kind = program_.steps[static_cast<std::size_t>(step)].kind;
    return kind == StepKind::input || kind == StepKind::position ||
           std::find(known_.begin(), known_.end(), step) != known_.end();
  }

  /// The axes a coordinate is asked for; an ordinal asks for all reduced ones.
  std::uint32_t pinned_axes() const {
    std::uint32_t pinned = 0;
    for (const int s : sources_) {
      const Step& step = program_.steps[static_cast<std::size_t>(s)];
      if (step.kind != StepKind::position) continue;
      if (step.index == detail::kOrdinalAxis) pinned |= job_.reduced;
      else pinned |= 1u << (step.index < 0 ? step.index + job_.space.rank() : step.index);
    }
    return pinned;
  }

  void lay_out() {
    std::vector<const View*> views;
    const auto operand_of = [&](int s) -> const Operand* {
      const Step& step = program_.steps[static_cast<std::size_t>(s)];
      return step.kind == StepKind::input ? &job_.inputs[static_cast<std::size_t>(step.index)] : nullptr;
    };
    for (const Elementwise::Stored& s : job_.outputs) views.push_back(&s.view);
    for (const int s : sources_) {
      const Operand* operand = operand_of(s);
      if (operand) {
        views.push_back(&operand->view);
        if (operand->gather) views.push_back(&operand->gather->table);
      } else {
        for (const Elementwise::Stored& k : job_.known)
          if (k.step == s) views.push_back(&k.view);
      }
    }
    axes_ = merge_axes(job_.space, (1u << job_.space.rank()) - 1, views, pinned_axes(), 0);
    if (axes_.sizes.empty()) {  // one element: as a contiguous row of one
      axes_.sizes.push_back(1), axes_.original.push_back(-1);
      for (auto& strides : axes_.strides) strides.push_back(1);
    }
    count_slot_ = plan_.add_param(0);
    plan_.add_axes(axes_, kVectorAxes);
    plan_.set_inner(static_cast<int>(axes_.sizes.size()) - 1);
    std::size_t v = 0;
    const auto add = [&](bool written) {
      const int access = plan_.add_access(*views[v], axes_.strides[v], written);
      ++v;
      return access;
    };
    for (std::size_t i = 0; i < job_.outputs.size(); ++i) outputs_.push_back(add(true));
    access_.assign(sources_.size(), -1);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Step& step = program_.steps[static_cast<std::size_t>(sources_[i])];
      const Operand* operand = operand_of(sources_[i]);
      if (!operand && step.kind == StepKind::position) {
        add_origin(step);
        continue;
      }
      access_[i] = add(false);
      if (!operand || !operand->gather) continue;
      plan_.add_gather(access_[i], *operand->gather, axes_.strides[v]);
      plan_.launch.checked_size = operand->gather->size;
      ++v;
    }
    slots_ = plan_.add_numbers(program_, job_.inputs, job_.extent);
    if (plan_.launch.checked_size > 0) {
      flags_view_ = {&backend_.index_flags(), DType::u32, 0, {}};
      flags_ = plan_.add_index_flags(flags_view_);
    }
  }

  /// Parameters: where the positions of this launch begin.
  void add_origin(const Step& step) {
    std::int64_t first = 0;
    if (step.index == detail::kOrdinalAxis) {
      std::int64_t stride = 1;
      for (int i = job_.space.rank() - 1; i >= 0; --i)
        if (job_.reduced >> i & 1) {
          first += stride * job_.origin[static_cast<std::size_t>(i)];
          stride *= ordinal_size(i);
        }
    } else {
      first = job_.origin[static_cast<std::size_t>(step.index < 0 ? step.index + job_.space.rank() : step.index)];
    }
    origin_slots_.push_back(plan_.add_param(static_cast<std::uint64_t>(first)));
    if (step.index == detail::kOrdinalAxis)
      for (int i = 0; i < job_.space.rank(); ++i)
        if (job_.reduced >> i & 1)
          ordinal_strides_.push_back(plan_.add_param(static_cast<std::uint64_t>(ordinal_stride(i))));
  }
  std::int64_t ordinal_size(int axis) const { return job_.whole[static_cast<std::size_t>(axis)]; }
  std::int64_t ordinal_stride(int axis) const {
    std::int64_t stride = 1;
    for (int i = axis + 1; i < job_.space.rank(); ++i)
      if (job_.reduced >> i & 1) stride *= ordinal_size(i);
    return stride;
  }

  void choose() {
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) touched.push_back(bytes_touched(*a.view, range_sizes(a)));
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Step& step = program_.steps[static_cast<std::size_t>(sources_[i])];
      if (step.kind == StepKind::input)
        touched[static_cast<std::size_t>(access_[i])] =
            bytes_touched(job_.inputs[static_cast<std::size_t>(step.index)], sizes_of(job_.space));
    }
    plan_.bind(touched);
    const int rank = static_cast<int>(axes_.sizes.size());
    const std::int64_t inner = rank ? axes_.sizes.back() : 1;
    const bool alone = plan_.layouts() == Layouts::own ? rank == 1 : axes_.count() == inner;
    group_ = plan_.choose_group(rank - 1, inner, alone);
    if (plan_.layouts() == Layouts::vectors)
      plan_.guarded = true;  // one text for one axis, which may be cut, and for more
    across_ = axis_across(rank - 1);
  }
  /// The axis along which neighbours of an operand lie that steps further along the inner one; -1 where there is none.
  int axis_across(int inner) const {
    if (plan_.layouts() != Layouts::own || group_ == 1 || plan_.guarded || plan_.launch.checked_size > 0) return -1;
    // Half of a tile's rows at least: invocations outside of the tensor do nothing.
    if (backend_.limits().threads < kAcross || axes_.sizes.back() < group_ * rows_of_tile() / 2) return -1;
    for (const Access& a : plan_.accesses) {
      if (a.written || a.steps.empty() || a.steps[static_cast<std::size_t>(inner)] != 's') continue;
      for (int i = 0; i < inner; ++i)
        if (a.steps[static_cast<std::size_t>(i)] == '1' && axes_.sizes[static_cast<std::size_t>(i)] >= kAcross)
          return i;
    }
    return -1;
  }
  /// Whether an operand is read across, into the workgroup's memory.
  bool reads_across(int access) const {
    const Access& a = plan_.access(access);
    return across_ >= 0 && !a.written && !a.steps.empty() && a.steps.back() == 's' &&
           a.steps[static_cast<std::size_t>(across_)] == '1';
  }
  bool is_staged() const {
    if (across_ < 0 || is_part() || plan_.launch.threads != 256) return false;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i)
      if (reads_across(static_cast<int>(i)))
        bytes += group_ * rows_of_tile() * kPitch * (plan_.access(static_cast<int>(i)).size() == 8 ? 8 : 4);
    return bytes <= backend_.limits().shared_bytes;
  }
  std::int64_t rows_of_tile() const { return std::min<std::uint32_t>(256, backend_.limits().threads) / kAcross; }
  /// Parameters: sizes along both axes, in elements and in tiles.
  void count_tiles() {
    const std::int64_t across = axes_.sizes[static_cast<std::size_t>(across_)], inner = axes_.sizes.back();
    const std::int64_t tiles_across = ceil_div(across, kAcross), tiles_inner = ceil_div(inner, group_ * rows_of_tile());
    for (const std::int64_t size : {across, inner, tiles_across, tiles_inner})
      tile_slots_.push_back(plan_.add_param(static_cast<std::uint64_t>(size)));
    plan_.launch.groups = static_cast<std::uint64_t>(axes_.count() / across / inner * tiles_across * tiles_inner);
  }
  /// Lines that find the place of an invocation in a tile, unless it is outside.
  std::string place_in_tile(const Io& io, std::vector<std::string>& coordinates) const {
    std::string lines = begin_tile(io, coordinates);
    lines += place(cat("thread % ", kAcross, "u"), cat("thread / ", kAcross, "u"));
    return lines + cat("if (", outside(), ") { return; }\n");
  }
  std::string tile_param(int i) const {
    return backend_.dialect().param(tile_slots_[static_cast<std::size_t>(i)]);
  }
  std::string begin_tile(const Io& io, std::vector<std::string>& coordinates) const {
    std::string lines = cat("if (group >= ", backend_.dialect().param(count_slot_), ") { return; }\n");
    lines += cat("let tiles = group / ", tile_param(2), ";\nlet first_across = (group - tiles * ", tile_param(2),
                 ") * ", kAcross, "u;\nlet rest = tiles / ", tile_param(3), ";\nlet first_along = (tiles - rest * ",
                 tile_param(3), ") * ", rows_of_tile() * group_, "u;\n");
    Axes others;
    for (std::size_t i = 0; i + 1 < axes_.sizes.size(); ++i)
      if (static_cast<int>(i) != across_)
        others.sizes.push_back(axes_.sizes[i]), others.slots.push_back(axes_.slots[i]);
    std::vector<std::string> names;
    lines += io.coordinates(others, "rest", "c", names);
    for (std::size_t i = 0, next = 0; i + 1 < axes_.sizes.size(); ++i)
      coordinates.push_back(static_cast<int>(i) == across_ ? "across" : names[next++]);
    coordinates.push_back("along");
    return lines;
  }
  std::string place(const std::string& across, const std::string& row) const {
    return cat("let across = first_across + ", across, ";\nlet along = first_along + (", row, ") * ", group_, "u;\n");
  }
  std::string outside() const { return cat("across >= ", tile_param(0), " || along >= ", tile_param(1)); }

  /// Lines that read what lies across into the workgroup's memory, [element along][across], and place the invocation
  /// with its neighbours along the inner axis; `names` receives the elements of those operands.
  std::string stage(Io& io, Position& at, std::vector<std::vector<std::string>>& names, std::vector<Shared>& shared) {
    std::string lines = begin_tile(io, at.coordinates), reads = "";
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (access_[s] < 0 || !reads_across(access_[s])) continue;
      const std::string tile = cat("tile", s);
      std::vector<std::string> values;
      reads += io.load(access_[s], at, values);
      const detail::Lane lane = detail::lane_of(plan_.access(access_[s]).dtype());
      shared.push_back({lane_name(lane), tile, static_cast<int>(group_ * rows_of_tile() * kPitch)});
      for (int e = 0; e < group_; ++e) {
        reads += cat(tile, "[(thread / ", kAcross, "u * ", group_, "u + ", e, "u) * ", kPitch, "u + thread % ", kAcross,
                     "u] = ", values[static_cast<std::size_t>(e)], ";\n");
        names[s].push_back(cat(tile, "[(thread % ", rows_of_tile(), "u * ", group_, "u + ", e, "u) * ", kPitch,
                               "u + thread / ", rows_of_tile(), "u]"));
      }
    }
    lines += cat("{\n", indented(place(cat("thread % ", kAcross, "u"), cat("thread / ", kAcross, "u"))), "  if (!(",
                 outside(), ")) {\n", indented(indented(reads)), "  }\n}\n", backend_.dialect().barrier());
    lines += place(cat("thread / ", rows_of_tile(), "u"), cat("thread % ", rows_of_tile(), "u"));
    return lines + cat("if (", outside(), ") { return; }\n");
  }
  std::vector<std::int64_t> range_sizes(const Access& a) const {
    return a.actual.empty() ? std::vector<std::int64_t>{} : sizes_of(job_.space);
  }

  std::string position_value(const Step& step, const Position& at, int e, std::size_t& origin) const {
    const Dialect& d = backend_.dialect();
    const auto coordinate = [&](int axis) -> std::string {
      for (std::size_t k = 0; k < axes_.original.size(); ++k)
        if (axes_.original[k] == axis)
          return e && static_cast<int>(k) == at.inner ? cat("(", at.coordinates[k], " + ", e, "u)") : at.coordinates[k];
      return "0u";
    };
    std::string value = d.param(origin_slots_[origin++]);
    if (step.index != detail::kOrdinalAxis) {
      value += cat(" + ", coordinate(step.index < 0 ? step.index + job_.space.rank() : step.index));
    } else {
      std::size_t k = 0;
      for (int i = 0; i < job_.space.rank(); ++i)
        if (job_.reduced >> i & 1) value += cat(" + ", coordinate(i), " * ", d.param(ordinal_strides_[k++]));
    }
    return cat("bitcast<i32>(", value, ")");
  }

  std::string text() {
    const Dialect& d = dialect_for(backend_.dialect(), program_, wanted_);
    const ProgramPrinter printer(program_, d, slots_);
    const Function f = printer.function("formula", wanted_, [this](int step) { return is_source(step); });
    Io io(plan_, d);
    io.check_indices_in(flags_, plan_.launch.check_slot);
    const std::string guard = plan_.guarded ? cat("i + $0 < ", d.param(count_slot_)) : std::string();
    io.guard_checks(guard);
    Position at{{}, static_cast<int>(axes_.sizes.size()) - 1, group_};
    std::string body;
    std::vector<Shared> shared;
    std::vector<std::vector<std::string>> loaded(sources_.size());
    if (is_staged()) {
      body = stage(io, at, loaded, shared);
    } else if (across_ >= 0) {
      body = place_in_tile(io, at.coordinates);
    } else {
      body = cat("let i = (group * ", plan_.launch.threads, "u + thread) * ", group_, "u;\n");
      body += cat("if (i >= ", d.param(count_slot_), ") { return; }\n");
      body += io.coordinates(axes_, "i", "c", at.coordinates);
    }
    for (std::size_t s = 0; s < sources_.size(); ++s)
      if (access_[s] >= 0 && loaded[s].empty()) body += io.load(access_[s], at, loaded[s]);
    std::vector<std::vector<std::string>> results(outputs_.size());
    for (int e = 0; e < group_; ++e) {
      std::vector<std::string> arguments;
      std::size_t origin = 0;
      for (std::size_t s = 0; s < sources_.size(); ++s)
        arguments.push_back(access_[s] >= 0
                                ? loaded[s][static_cast<std::size_t>(e)]
                                : position_value(program_.steps[static_cast<std::size_t>(sources_[s])], at, e, origin));
      const std::string value = cat("y", e);
      body += cat("let ", value, " = ", d.call("formula", arguments), ";\n");
      for (std::size_t o = 0; o < outputs_.size(); ++o) results[o].push_back(ProgramPrinter::result(f, value, o));
    }
    for (std::size_t o = 0; o < outputs_.size(); ++o) body += io.store(outputs_[o], at, results[o], guard);
    Module module{"elementwise", plan_.launch.bindings, plan_.launch.params.size(), plan_.launch.threads, shared,
                  f.text, body};
    module.parts = is_part();
    return d.module(module);
  }

  GpuBackend& backend_;
  const Elementwise& job_;
  const Program& program_;
  Plan plan_;
  Axes axes_;
  std::vector<int> known_, wanted_, sources_, access_, outputs_, slots_, origin_slots_, ordinal_strides_;
  View flags_view_;
  std::vector<int> tile_slots_;
  int count_slot_ = -1, flags_ = -1, group_ = 1, across_ = -1;
};

/// The views of a job, with the bytes each touches.
struct Touched {
  View* view;
  bool written;
  ByteRange bytes;
};
std::vector<Touched> touched_views(Elementwise& job) {
  const std::vector<std::int64_t> sizes = sizes_of(job.space);
  std::vector<Touched> list;
  for (Elementwise::Stored& s : job.outputs) list.push_back({&s.view, true, bytes_touched(s.view, sizes)});
  for (Elementwise::Stored& s : job.known) list.push_back({&s.view, false, bytes_touched(s.view, sizes)});
  for (Operand& o : job.inputs) {
    if (!o.view.storage) continue;
    list.push_back({&o.view, false, bytes_touched(o, sizes)});
  }
  return list;
}

/// The two halves of a job along the axis over which the widest of the views in `which` reaches furthest.
bool split(const Elementwise& job, const std::vector<const View*>& which, Elementwise& first, Elementwise& second) {
  int best = -1;
  std::int64_t furthest = 0;
  for (int i = 0; i < job.space.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    if (job.space[axis] < 2) continue;
    std::int64_t reach = which.empty() ? job.space[axis] : 0;
    for (const View* v : which) reach = std::max(reach, (job.space[axis] - 1) * std::abs(v->strides[axis]));
    if (reach > furthest) furthest = reach, best = i;
  }
  if (best < 0) return false;
  const auto axis = static_cast<std::size_t>(best);
  // Halves begin at multiples of 16 elements where they can: whole words of packed types stay with one half.
  const std::int64_t half = job.space[axis] > 32 ? round_up(job.space[axis] / 2, 16) : (job.space[axis] + 1) / 2;
  first = job, second = job;
  first.space[axis] = half, second.space[axis] -= half, second.origin[axis] += half;
  const auto advance = [&](View& view) { view.offset += half * view.strides[axis]; };
  for (Elementwise::Stored& s : second.outputs) advance(s.view);
  for (Elementwise::Stored& s : second.known) advance(s.view);
  for (std::size_t i = 0; i < second.inputs.size(); ++i) {
    Operand& o = second.inputs[i];
    if (o.view.storage) advance(o.view);
    if (!o.gather) continue;
    second.gathers[i] = *o.gather;
    advance(second.gathers[i].table);
    o.gather = &second.gathers[i];  // stays where it is when `second` is moved
  }
  return true;
}

class Fitting {
 public:
  Fitting(GpuBackend& backend, Elementwise job) : backend_(backend), job_(std::move(job)) {
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) own_gather(i);
  }

  void run() {
    if (job_.space.numel() == 0) return;
    if (job_.space.numel() > kMostElements) return halve({});
    if (!fit_windows()) return;
    fit_bindings();
    const bool indexed = std::ranges::any_of(job_.inputs, [](const Operand& o) { return o.gather != nullptr; });
    if (!keep_.empty() || !copy_back_.empty() || indexed) job_.together = nullptr;
    run_in_layouts(backend_.limits(),
                   [this](Layouts layouts) { return ElementwiseKernel(backend_, job_, layouts).run(); });
    for (const auto& [from, to, space] : copy_back_) copy_view(backend_, job_.op, from, to, space);
  }

 private:
  /// Lets an input's gather live in the job itself.
  void own_gather(std::size_t i) {
    const Gather*& gather = job_.inputs[i].gather;
    if (!gather || (i < job_.gathers.size() && gather == &job_.gathers[i])) return;
    job_.gathers.reserve(job_.inputs.size());  // once: the elements do not move afterwards
    job_.gathers.resize(job_.inputs.size());
    job_.gathers[i] = *gather;
    gather = &job_.gathers[i];
  }
  void halve(const std::vector<const View*>& which) {
    if (!keep_.empty()) job_.together = nullptr;
    Elementwise first, second;
    if (!split(job_, which, first, second))
      throw Error(ErrorKind::unsupported,
                  cat(job_.op, ": an indexed operand is larger than the ", backend_.limits().binding_bytes >> 20,
                      " MiB that a kernel can see on ", backend_.device().to_string()));
    Fitting(backend_, std::move(first)).run();
    Fitting(backend_, std::move(second)).run();
  }

  /// Makes every storage fit a binding; false where the job was run in parts instead.
  bool fit_windows() {
    const auto most = static_cast<std::int64_t>(backend_.limits().binding_bytes) -
                      static_cast<std::int64_t>(backend_.limits().binding_alignment) - kVectorBytes;
    std::vector<Touched> views = touched_views(job_);
    std::vector<const View*> too_wide;
    for (const Touched& t : views)
      if (static_cast<std::int64_t>(t.view->storage->bytes()) > most && t.bytes.end - t.bytes.begin > most)
        too_wide.push_back(t.view);
    if (!too_wide.empty()) return halve(too_wide), false;
    for (const Touched& t : views) {  // two windows of one storage: what is read comes from a copy
      if (static_cast<std::int64_t>(t.view->storage->bytes()) <= most) continue;
      ByteRange window = t.bytes;
      for (Touched& other : views) {
        if (other.view->storage != t.view->storage || other.view == t.view) continue;
        const ByteRange joined{std::min(window.begin, other.bytes.begin), std::max(window.end, other.bytes.end)};
        if (joined.end - joined.begin <= most) {
          window = joined;
          continue;
        }
        if (other.written && t.written) return halve({t.view, other.view}), false;
        if (other.written) continue;  // it is copied when the written one's turn comes
        *other.view = copied(backend_, job_.op, *other.view, job_.space, keep_);
      }
    }
    return true;
  }

  std::size_t storages() {
    std::vector<Storage*> seen;
    bool checks = false;
    for (const Touched& t : touched_views(job_)) seen.push_back(t.view->storage);
    for (const Operand& o : job_.inputs)
      if (o.gather) seen.push_back(o.gather->table.storage), checks = true;
    std::sort(seen.begin(), seen.end());
    return static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin()) + checks;
  }

  /// Too many operands for one kernel: some are copied into one buffer first, and outputs out of one afterwards.
  void fit_bindings() {
    if (storages() <= backend_.limits().bindings) return;
    std::vector<View*> views;
    for (Operand& o : job_.inputs)
      if (o.view.storage && !o.gather) views.push_back(&o.view);
    for (Elementwise::Stored& s : job_.known) views.push_back(&s.view);
    pack(views, false);
    if (storages() <= backend_.limits().bindings) return;
    views.clear();
    for (Elementwise::Stored& s : job_.outputs) views.push_back(&s.view);
    pack(views, true);
  }
  void pack(const std::vector<View*>& views, bool outputs) {
    const auto elements = [&](const View& v) {
      std::int64_t n = 1;
      for (std::size_t i = 0; i < v.strides.size(); ++i)
        if (v.strides[i] != 0) n *= job_.space[i];
      return n;
    };
    std::int64_t bytes = 0;
    for (const View* v : views) bytes += round_up(elements(*v) * static_cast<std::int64_t>(dtype_size(v->dtype)), 256);
    auto buffer = backend_.temporary(bytes, DType::u8);
    keep_.push_back(buffer);
    std::int64_t at = 0;
    for (View* v : views) {
      View inside{buffer.get(), v->dtype, at / static_cast<std::int64_t>(dtype_size(v->dtype)), v->strides};
      std::int64_t step = 1;
      Shape own = job_.space;
      for (int i = job_.space.rank() - 1; i >= 0; --i) {
        const auto axis = static_cast<std::size_t>(i);
        if (v->strides[axis] == 0) own[axis] = 1;
        inside.strides[axis] = v->strides[axis] == 0 ? 0 : step;
        step *= own[axis];
      }
      at += round_up(step * static_cast<std::int64_t>(dtype_size(v->dtype)), 256);
      if (outputs) copy_back_.push_back({inside, *v, own});
      else copy_view(backend_, job_.op, *v, inside, own);
      *v = inside;
    }
  }
  GpuBackend& backend_;
  Elementwise job_;
  std::vector<std::shared_ptr<Storage>> keep_;
  struct CopyBack {
    View from, to;
    Shape space;
  };
  std::vector<CopyBack> copy_back_;
};

}  // namespace

void run_elementwise(GpuBackend& backend, const Elementwise& job) { Fitting(backend, job).run(); }

void copy_view(GpuBackend& backend, const char* op, const View& from, const View& to, const Shape& space) {
  const detail::InputType type{from.dtype, false};
  Elementwise job;
  job.op = op, job.program = &detail::type_program(op, identity_graph(), {&type, 1});
  job.space = job.whole = space, job.origin.resize(space.rank(), 0);
  job.inputs.push_back({from, {}, nullptr}), job.outputs.push_back({job.program->outputs[0].step, to});
  run_elementwise(backend, job);
}

View copied(GpuBackend& backend, const char* op, const View& view, const Shape& space,
            std::vector<std::shared_ptr<Storage>>& keep) {
  Shape own = space;
  View result{nullptr, view.dtype, 0, view.strides};
  std::int64_t step = 1;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (view.strides[axis] == 0) own[axis] = 1;
    result.strides[axis] = view.strides[axis] == 0 ? 0 : step;
    step *= own[axis];
  }
  keep.push_back(backend.temporary(step, view.dtype));
  result.storage = keep.back().get();
  copy_view(backend, op, view, result, own);
  return result;
}

}  // namespace tern::detail_gpu
