// Ways to run a program with reductions, chosen by the shapes alone (so that results do not depend on the device's
// load): whole rows (or columns) in one kernel that walks the reduced axes once for every phase; or, where there are
// few results and much to reduce, for every phase a kernel of partial results and one that joins them. Full outputs are
// written by the first walk that knows what they read, or else by an elementwise kernel that reads the joined results.
#include "gpu/reductions/reduce.hpp"

#include <algorithm>
#include <bit>

#include "gpu/elementwise.hpp"
#include "gpu/reductions/reduce_kernel.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;
using detail::Lane;
using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

constexpr std::int64_t kWalk = 16;           // steps an invocation makes before a split into segments pays
constexpr std::int64_t kWalkOfWarps = 256;   // the same where a warp has a row (packed_tiling)
constexpr std::int64_t kWalkOfColumns = 32;  // the same of columns, which are read in vectors
// Neighbours of a workgroup of columns: as many as a memory controller likes, unless that leaves few workgroups.
constexpr std::int64_t kMostColumns = 128, kFewestColumns = 16, kFewGroupsOfColumns = 128;
// Workgroups of columns: four or six for each of 132 processors (an H100's and H200's), so that all run at once. Six
// need invocations of few sums, and pay from so many columns on. On an H200 a pass over 8192x16384 bf16 that sums
// columns took 255 and 218 µs, 373 with 256 workgroups; var over axis 0 of 8192² f32 (4 sums of 4 columns) 87 and 74,
// bf16 (of 8) 57 and 73.
constexpr std::int64_t kGroupsOfColumns = 4 * 132, kMoreGroupsOfColumns = 6 * 132, kFewSums = 16, kManyColumns = 8192;

class ReduceRun {
 public:
  /// `begin`: coordinates of the request's first element, where it is a part of another.
  ReduceRun(GpuBackend& backend, const FusedRequest& request, std::vector<std::int64_t> begin)
      : backend_(backend), r_(request), program_(*request.program), begin_(std::move(begin)) {
    for (int i = 0; i < r_.space.rank(); ++i)
      (r_.reduced >> i & 1 ? length_ : kept_) *= r_.space[static_cast<std::size_t>(i)];
  }

  void run() {
    if (kept_ == 0 || halved()) return;
    const Tiling tiling = choose_tiling();
    const std::int64_t groups = ceil_div(kept_, tiling.across);
    const std::int64_t at_once = tiling.rows ? 1 : kVectorBytes / narrowest();
    const std::int64_t walk = ceil_div(length_, at_once * tiling.along);
    const std::int64_t segments =
        tiling.rows ? segments_of_rows(groups, walk) : segments_of_columns(groups, walk, at_once);
    if (backend_.limits().packed) return run_packed(tiling, segments);
    if (segments == 1 && !needs_stages(tiling)) return run_whole(tiling);
    run_staged(tiling, segments);
  }

 private:
  /// Into how many parts the reduced range is split for workgroups of their own, where `groups` of them would make
  /// `walk` steps.
  std::int64_t segments_of_rows(std::int64_t groups, std::int64_t walk) const {
    if (groups >= kEnoughGroups || walk <= (backend_.limits().packed ? kWalkOfWarps : kWalk)) return 1;
    return std::min(ceil_div(walk, kWalk / 2), ceil_div(2 * kEnoughGroups, groups));
  }
  std::int64_t segments_of_columns(std::int64_t groups, std::int64_t walk, std::int64_t at_once) const {
    if (groups >= kGroupsOfColumns || walk <= kWalkOfColumns) return 1;
    const auto sums = std::count_if(program_.steps.begin(), program_.steps.end(),
                                    [](const Step& s) { return s.kind == StepKind::reduce; });
    const bool more = sums * at_once <= kFewSums && kept_ >= kManyColumns;
    return std::min(ceil_div(walk, kWalk / 2), (more ? kMoreGroupsOfColumns : kGroupsOfColumns) / groups);
  }
  /// Whether most operands step by one along a reduced axis; workgroups then walk along it side by side.
  Tiling choose_tiling() const {
    std::int64_t votes = 0;
    const auto vote = [&](const View& v) {
      if (!v.storage) return;
      std::int64_t kept = INT64_MAX, reduced = INT64_MAX;
      for (int i = 0; i < r_.space.rank(); ++i) {
        const auto axis = static_cast<std::size_t>(i);
        if (r_.space[axis] < 2 || v.strides[axis] == 0) continue;
        std::int64_t& least = r_.reduced >> i & 1 ? reduced : kept;
        least = std::min(least, std::abs(v.strides[axis]));
      }
      if (reduced != INT64_MAX) votes += reduced <= kept ? 1 : -1;
    };
    for (const Operand& o : r_.inputs) vote(o.view);
    for (const View& v : r_.outputs) vote(v);
    const auto threads = static_cast<std::int64_t>(std::min<std::uint32_t>(256, backend_.limits().threads));
    const auto power = [](std::int64_t n) {
      return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
    };
    Tiling t;
    t.rows = votes >= 0;
    if (backend_.limits().packed) return packed_tiling(t.rows);
    if (t.rows) {
      t.along = static_cast<int>(std::min(threads, power(ceil_div(length_, 2))));
      t.across = static_cast<int>(std::min(threads / t.along, power(kept_)));
    } else {
      std::int64_t across = std::min(threads, kMostColumns);
      while (ceil_div(kept_, across) < kFewGroupsOfColumns && across > kFewestColumns) across /= 2;
      t.across = static_cast<int>(std::min(across, power(kept_)));
      t.along = static_cast<int>(std::min(threads / t.across, power(length_)));
    }
    return t;
  }

  /// The tiling of kernels made beforehand: a warp to a row, or a warp's width of columns.
  static Tiling packed_tiling(bool rows) { return {rows, rows ? 8 : 32, rows ? 32 : 8}; }
  /// With kernels made beforehand. Rows are walked whole, or in segments by a workgroup each; columns always in
  /// segments, of which there may be one: half as many kernels. What there is for columns alone is done as columns.
  void run_packed(const Tiling& tiling, std::int64_t segments) {
    const bool rows = tiling.rows && has_reduce_kernel(backend_, r_, whole_stage(program_), tiling, begin_, r_.space);
    if (rows && segments == 1 && !needs_stages(tiling)) return run_whole(tiling);
    run_staged(rows ? Tiling{} : packed_tiling(false), segments);
  }

  /// Bytes in an element of the narrowest operand.
  std::int64_t narrowest() const {
    std::size_t least = 4;
    for (const Operand& o : r_.inputs)
      if (o.view.storage) least = std::min(least, dtype_size(o.view.dtype));
    return static_cast<std::int64_t>(least);
  }

  std::int64_t window() const {
    return static_cast<std::int64_t>(backend_.limits().binding_bytes) -
           static_cast<std::int64_t>(backend_.limits().binding_alignment) - kVectorBytes;
  }
  /// Runs two halves of the kept positions instead, where an operand reaches over more than a binding along them.
  bool halved() {
    const std::vector<std::int64_t> sizes(r_.space.begin(), r_.space.end());
    int axis = -1;
    std::int64_t furthest = 0;
    bool fits = r_.space.numel() < (std::int64_t{1} << 31);
    const auto see = [&](const View& v, const ByteRange& touched) {
      if (!v.storage || (static_cast<std::int64_t>(v.storage->bytes()) <= window() && fits)) return;
      if (touched.end - touched.begin <= window() && fits) return;
      fits = false;
      for (int i = 0; i < r_.space.rank(); ++i) {
        const auto a = static_cast<std::size_t>(i);
        const std::int64_t reach = (r_.space[a] - 1) * std::abs(v.strides[a]);
        if (r_.space[a] > 1 && !(r_.reduced >> i & 1) && reach > furthest) furthest = reach, axis = i;
      }
    };
    for (const Operand& o : r_.inputs)
      if (o.view.storage) see(o.view, bytes_touched(o, sizes));
    for (const View& v : r_.outputs) see(v, bytes_touched(v, sizes));
    if (fits || axis < 0) return false;
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t half = r_.space[a] > 32 ? round_up(r_.space[a] / 2, 16) : (r_.space[a] + 1) / 2;
    for (const bool second : {false, true}) {
      const std::int64_t shift = second ? half : 0;
      std::vector<Operand> inputs(r_.inputs.begin(), r_.inputs.end());
      std::vector<Gather> gathers(inputs.size());
      std::vector<View> outputs(r_.outputs.begin(), r_.outputs.end());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].view.storage) inputs[i].view.offset += shift * inputs[i].view.strides[a];
        if (!inputs[i].gather) continue;
        gathers[i] = *inputs[i].gather;
        gathers[i].table.offset += shift * gathers[i].table.strides[a];
        inputs[i].gather = &gathers[i];
      }
      for (View& v : outputs) v.offset += shift * v.strides[a];
      FusedRequest part = r_;
      part.inputs = inputs, part.outputs = outputs;
      part.space[a] = second ? r_.space[a] - half : half;
      std::vector<std::int64_t> begin = begin_;
      begin[a] += shift;
      ReduceRun(backend_, part, begin).run();
    }
    return true;
  }

  bool has_full_outputs() const {
    return std::any_of(program_.outputs.begin(), program_.outputs.end(), [](const auto& o) { return o.full; });
  }

  /// One kernel cannot do it: an operand is larger than a binding, or there are too many. Or it should not: packed rows
  /// whose words no invocation owns.
  bool needs_stages(const Tiling& tiling) const {
    std::vector<Storage*> seen;
    bool too_large = false, checks = false;
    const std::vector<std::int64_t> sizes(r_.space.begin(), r_.space.end());
    const auto see = [&](const View& v) {
      seen.push_back(v.storage);
      too_large |= v.storage->bytes() > backend_.limits().binding_bytes;
    };
    for (const Operand& o : r_.inputs) {
      if (o.view.storage) see(o.view);
      if (o.gather) see(o.gather->table), checks = true;
    }
    bool packed = false;
    for (std::size_t i = 0; i < r_.outputs.size(); ++i) {
      see(r_.outputs[i]);
      packed |= program_.outputs[i].full && dtype_size(r_.outputs[i].dtype) < 4 && !backend_.limits().native;
    }
    std::sort(seen.begin(), seen.end());
    const auto count = static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin()) + checks;
    if (too_large || count > backend_.limits().bindings || r_.space.numel() >= (std::int64_t{1} << 31)) return true;
    return packed && tiling.rows && !words_owned();
  }
  /// Whether an invocation can own whole words of every packed full output along the last reduced axis.
  bool words_owned() const {
    int last = -1;
    for (int i = 0; i < r_.space.rank(); ++i)
      if ((r_.reduced >> i & 1) && r_.space[static_cast<std::size_t>(i)] != 1) last = i;
    if (last < 0) return false;
    for (std::size_t o = 0; o < r_.outputs.size(); ++o) {
      const View& v = r_.outputs[o];
      const auto size = static_cast<std::int64_t>(dtype_size(v.dtype));
      if (!program_.outputs[o].full || size == 4) continue;
      if (v.strides[static_cast<std::size_t>(last)] != 1 || r_.space[static_cast<std::size_t>(last)] * size % 4 ||
          v.offset * size % 4)
        return false;
      for (int i = 0; i < r_.space.rank(); ++i)
        if (i != last && v.strides[static_cast<std::size_t>(i)] * size % 4) return false;
    }
    return true;
  }

  static Stage whole_stage(const Program& program) {
    Stage stage;
    stage.last = program.walks < 2 ? -1 : program.walks - 2;
    stage.reduced_outputs = stage.full_outputs = true;
    return stage;
  }
  void run_whole(const Tiling& tiling) {
    if (!run_held(tiling)) launch(whole_stage(program_), tiling, r_, begin_, r_.space);
  }
  /// Rows that stay in registers are walked as often as there are phases: that takes fewer operations than sums that
  /// follow what they wait for.
  bool run_held(const Tiling& tiling) {
    if (!tiling.rows || !backend_.limits().native || backend_.limits().packed) return false;
    FusedRequest request = r_;
    if (program_.in_phases) request.program = program_.in_phases.get();
    if (request.program->walks < (has_full_outputs() ? 2 : 3)) return false;  // walked once
    return run_held_rows(backend_, request, whole_stage(*request.program), tiling, begin_, r_.space);
  }
  void launch(const Stage& stage, const Tiling& tiling, const FusedRequest& request,
              const std::vector<std::int64_t>& begin, const Shape& space) {
    run_reduce_kernel(backend_, request, stage, tiling, begin, space);
  }

  /// Room for `elements` results of each reduction, side by side in one buffer.
  std::vector<Stored> new_results(const std::vector<int>& reductions, std::int64_t elements) {
    std::vector<Stored> list;
    std::int64_t bytes = 0;
    for (const int s : reductions) {
      const DType dtype = lane_dtype(program_.steps[static_cast<std::size_t>(s)].lane);
      const auto size = static_cast<std::int64_t>(dtype_size(dtype));
      bytes = round_up(bytes, size);
      list.push_back({s, {nullptr, dtype, bytes / size, {}}});
      bytes += elements * size;
    }
    keep_.push_back(backend_.temporary(bytes, DType::u8));
    for (Stored& stored : list) stored.view.storage = keep_.back().get();
    return list;
  }

  void run_staged(const Tiling& tiling, std::int64_t segments) {
    std::vector<Stored> known;
    const int passes = program_.walks - 1;
    for (int p = 0; p < passes; ++p) {
      std::vector<int> reductions;
      for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i) {
        const Step& s = program_.steps[static_cast<std::size_t>(i)];
        if (s.kind == StepKind::reduce && s.walk == p + 1) reductions.push_back(i);
      }
      Stage part;
      part.first = part.last = p, part.splits = true, part.known = known, part.segments = segments;
      std::vector<Chunk> chunks = chunk(Chunk{r_.space, begin_});
      part.all_segments = segments * static_cast<std::int64_t>(chunks.size());
      part.full_outputs = chunks.size() == 1 && writes_full_outputs(tiling, known.size() + reductions.size());
      part.partials = new_results(reductions, kept_ * part.all_segments);
      for (const Chunk& c : chunks) {
        partial(part, tiling, c);
        part.first_segment += segments;
      }
      for (std::size_t o = 0; o < written_.size() && part.full_outputs; ++o)
        if (program_.outputs[o].full && pass_of_full_output(r_, o) == p) written_[o] = true;
      Stage join = part;
      join.full_outputs = false, join.splits = false, join.joins = true, join.segments = part.all_segments,
      join.first_segment = 0;
      join.reduced_outputs = p + 1 == passes;
      join.results = new_results(reductions, kept_);
      launch(join, joining_tiling(part.all_segments), r_, begin_, r_.space);
      known.insert(known.end(), join.results.begin(), join.results.end());
    }
    if (has_full_outputs()) finish(known, true);
    if (passes == 0) finish(known, false);
  }
  /// Whether kernels of partial results, which read `others` results besides the inputs, can also write full outputs.
  bool writes_full_outputs(const Tiling& tiling, std::size_t others) const {
    std::vector<Storage*> seen;
    bool fits = true, packed = false;
    for (const Operand& o : r_.inputs) {
      if (o.view.storage) seen.push_back(o.view.storage);
      if (o.gather) seen.push_back(o.gather->table.storage), ++others;
    }
    for (std::size_t o = 0; o < r_.outputs.size(); ++o) {
      if (!program_.outputs[o].full) continue;
      seen.push_back(r_.outputs[o].storage);
      fits &= static_cast<std::int64_t>(r_.outputs[o].storage->bytes()) <= window();
      packed |= dtype_size(r_.outputs[o].dtype) < 4;
    }
    std::sort(seen.begin(), seen.end());
    const auto distinct = static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
    return fits && distinct + others + 1 <= backend_.limits().bindings && (!packed || !tiling.rows || words_owned());
  }
  Tiling joining_tiling(std::int64_t segments) const {
    Tiling t;
    t.rows = false;
    if (backend_.limits().packed) {
      t.across = t.along = 16;
      return t;
    }
    const auto threads = static_cast<std::int64_t>(std::min<std::uint32_t>(256, backend_.limits().threads));
    t.along = static_cast<int>(std::min<std::int64_t>(
        threads, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ceil_div(segments, 4))))));
    t.across = static_cast<int>(
        std::min(threads / t.along, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kept_)))));
    return t;
  }

  // ---- parts of the reduced range whose operands fit a binding ----
  struct Chunk {
    Shape space;
    std::vector<std::int64_t> begin;
  };
  int longest_reduced_axis(const Shape& space) const {
    int longest = -1;
    std::int64_t most = 1;
    for (int i = 0; i < space.rank(); ++i)
      if ((r_.reduced >> i & 1) && space[static_cast<std::size_t>(i)] > most)
        most = space[static_cast<std::size_t>(i)], longest = i;
    return longest;
  }
  std::vector<Chunk> chunk(const Chunk& whole) const {
    const std::int64_t most = window();
    const std::vector<std::int64_t> sizes(whole.space.begin(), whole.space.end());
    bool fits = whole.space.numel() < (std::int64_t{1} << 31);
    int axis = -1;
    std::int64_t furthest = 0;
    for (const Operand& o : r_.inputs) {
      if (!o.view.storage) continue;
      const ByteRange touched = bytes_touched(o, sizes);
      if (static_cast<std::int64_t>(o.view.storage->bytes()) > most && touched.end - touched.begin > most) fits = false;
      for (int i = 0; i < whole.space.rank(); ++i) {
        const auto a = static_cast<std::size_t>(i);
        const std::int64_t reach = (whole.space[a] - 1) * std::abs(o.view.strides[a]);
        if (whole.space[a] > 1 && (r_.reduced >> i & 1) && reach > furthest) furthest = reach, axis = i;
      }
    }
    if (!fits && axis < 0) axis = longest_reduced_axis(whole.space);  // broadcast operands reach nowhere
    if (fits || axis < 0) return {whole};
    const auto a = static_cast<std::size_t>(axis);
    Chunk first = whole, second = whole;
    first.space[a] = round_up(whole.space[a] / 2, whole.space[a] > 32 ? 16 : 1);
    if (first.space[a] == 0) first.space[a] = 1;
    second.space[a] -= first.space[a], second.begin[a] += first.space[a];
    std::vector<Chunk> all = chunk(first), rest = chunk(second);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  /// The partial results of one chunk. Too many operands, or two windows of one storage: they are copied first.
  void partial(const Stage& stage, const Tiling& tiling, const Chunk& c) {
    std::vector<Operand> inputs(r_.inputs.begin(), r_.inputs.end());
    std::vector<Gather> gathers(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto advance = [&](View& v) {
        for (int axis = 0; axis < c.space.rank(); ++axis) {
          const auto a = static_cast<std::size_t>(axis);
          v.offset += (c.begin[a] - begin_[a]) * v.strides[a];
        }
      };
      if (inputs[i].view.storage) advance(inputs[i].view);
      if (!inputs[i].gather) continue;
      gathers[i] = *inputs[i].gather;
      advance(gathers[i].table);
      inputs[i].gather = &gathers[i];
    }
    FusedRequest request = r_;
    request.inputs = inputs;
    const std::size_t others = stage.partials.size() + stage.known.size() + 1;
    std::vector<Storage*> seen;
    for (Operand& o : inputs) {
      if (!o.view.storage) continue;
      const bool large = o.view.storage->bytes() > backend_.limits().binding_bytes;
      const bool known = std::find(seen.begin(), seen.end(), o.view.storage) != seen.end();
      if (!o.gather && (large && known)) o.view = copied(backend_, r_.op, o.view, c.space, keep_);
      seen.push_back(o.view.storage);
    }
    std::sort(seen.begin(), seen.end());
    const auto distinct = static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
    if (distinct + others > backend_.limits().bindings) pack(inputs, c.space);
    launch(stage, tiling, request, c.begin, c.space);
  }
  /// Puts copies of all plain inputs side by side in one buffer.
  void pack(std::vector<Operand>& inputs, const Shape& space) {
    std::int64_t bytes = 0;
    std::vector<View> to(inputs.size());
    std::vector<Shape> own(inputs.size(), space);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const View& v = inputs[i].view;
      if (!v.storage || inputs[i].gather) continue;
      to[i] = {nullptr, v.dtype, bytes / static_cast<std::int64_t>(dtype_size(v.dtype)), v.strides};
      std::int64_t step = 1;
      for (int axis = space.rank() - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (v.strides[a] == 0) own[i][a] = 1;
        to[i].strides[a] = v.strides[a] == 0 ? 0 : step;
        step *= own[i][a];
      }
      bytes += round_up(step * static_cast<std::int64_t>(dtype_size(v.dtype)), 256);
    }
    keep_.push_back(backend_.temporary(bytes, DType::u8));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].view.storage || inputs[i].gather) continue;
      to[i].storage = keep_.back().get();
      copy_view(backend_, r_.op, inputs[i].view, to[i], own[i]);
      inputs[i].view = to[i];
    }
  }

  /// Full outputs from the joined results; those of a program without reductions that are not full, of an element each.
  void finish(const std::vector<Stored>& known, bool full) {
    Elementwise job;
    job.op = r_.op, job.program = &program_, job.space = job.whole = r_.space, job.reduced = r_.reduced,
    job.extent = length_;
    for (int i = 0; i < r_.space.rank() && !full; ++i)
      if (r_.reduced >> i & 1) job.space[static_cast<std::size_t>(i)] = 1;
    job.origin = Shape(begin_);
    job.inputs.assign(r_.inputs.begin(), r_.inputs.end());
    Strides over_kept;
    over_kept.resize(r_.space.rank(), 0);
    std::int64_t step = 1;
    for (int i = r_.space.rank() - 1; i >= 0; --i)
      if (!(r_.reduced >> i & 1))
        over_kept[static_cast<std::size_t>(i)] = step, step *= r_.space[static_cast<std::size_t>(i)];
    for (const Stored& s : known)
      job.known.push_back({s.step, {s.view.storage, s.view.dtype, s.view.offset, over_kept}});
    for (std::size_t o = 0; o < r_.outputs.size(); ++o)
      if (program_.outputs[o].full == full && !written_[o])
        job.outputs.push_back({program_.outputs[o].step, r_.outputs[o]});
    if (!job.outputs.empty()) run_elementwise(backend_, job);
  }

  GpuBackend& backend_;
  const FusedRequest& r_;
  const Program& program_;
  std::vector<std::int64_t> begin_;
  std::int64_t kept_ = 1, length_ = 1;
  std::vector<char> written_ = std::vector<char>(r_.outputs.size(), 0);  // full outputs that partial kernels wrote
  std::vector<std::shared_ptr<Storage>> keep_;
};

}  // namespace

int pass_of_full_output(const FusedRequest& r, std::size_t output) {
  for (const Operand& o : r.inputs)
    if (o.view.storage == r.outputs[output].storage ||
        (o.gather && o.gather->table.storage == r.outputs[output].storage))
      return r.program->walks - 1;  // later walks read what it would overwrite
  return r.program->steps[static_cast<std::size_t>(r.program->outputs[output].step)].walk;
}

DType lane_dtype(Lane lane) {
  constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64};
  return dtypes[static_cast<int>(lane)];
}

void run_reducing(GpuBackend& backend, const FusedRequest& request) {
  ReduceRun(backend, request, std::vector<std::int64_t>(static_cast<std::size_t>(request.space.rank()), 0)).run();
}

}  // namespace tern::detail_gpu
