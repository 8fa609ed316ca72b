// Ways to run a program with reductions, chosen by the shapes alone (so that results do not depend on the device's
// load): whole rows (or columns) in one kernel that passes the reduced axes once for every phase; or, where there are
// few results and much to reduce, for every phase a kernel of partial results and one that joins them. Full outputs are
// written by the first pass that knows what they read, or else by an elementwise kernel that reads the joined results.
#include "gpu/reductions/reduce.hpp"

#include <algorithm>

#include "formula/compute_types.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/plan/lines.hpp"
#include "gpu/reductions/reduce_choose.hpp"
#include "gpu/reductions/reduce_kernel.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;
using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

class ReduceRun {
 public:
  /// `begin`: coordinates of the request's first element, where it is a part of another.
  ReduceRun(GpuBackend& backend, const FusedRequest& request, std::vector<std::int64_t> begin)
      : backend_(backend), r_(request), program_(*request.program), begin_(std::move(begin)), n_(extents_of(request)) {}

  void run() {
    if (n_.kept == 0 || halved()) return;
    const auto [tiling, segments] = choose_split(backend_, r_);
    if (backend_.limits().archived) return run_archived(tiling, segments);
    if (segments == 1 && !needs_stages(backend_, r_, tiling)) return run_whole(tiling);
    run_staged(tiling, segments);
  }

 private:
  /// With kernels made beforehand. Rows are traversed whole, or in segments by a workgroup each; columns always in
  /// segments, of which there may be one: half as many kernels. What there is for columns alone is done as columns.
  void run_archived(const ThreadGrid& tiling, std::int64_t segments) {
    const bool rows = tiling.rows && has_reduce_kernel(backend_, r_, whole_stage(program_), tiling, begin_, r_.space);
    if (rows && segments == 1 && !needs_stages(backend_, r_, tiling)) return run_whole(tiling);
    run_staged(rows ? ThreadGrid{} : archived_tiling(false), segments);
  }

  /// Runs two halves of the kept positions instead, where an operand reaches over more than a binding along them.
  bool halved() {
    const std::vector<std::int64_t> sizes(r_.space.begin(), r_.space.end());
    int axis = -1;
    std::int64_t furthest = 0;
    bool fits = r_.space.numel() < (std::int64_t{1} << 31);
    const auto see = [&](const View& v, const ByteRange& touched) {
      if (!v.storage || (static_cast<std::int64_t>(v.storage->bytes()) <= most_bytes(backend_) && fits)) return;
      if (touched.end - touched.begin <= most_bytes(backend_) && fits) return;
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

  static Stage whole_stage(const Program& program) {
    Stage stage;
    stage.last = program.passes < 2 ? -1 : program.passes - 2;
    stage.reduced_outputs = stage.full_outputs = true;
    return stage;
  }
  void run_whole(const ThreadGrid& tiling) {
    if (!run_resident(tiling)) launch(whole_stage(program_), tiling, r_, begin_, r_.space);
  }
  /// Rows that stay in registers are traversed as often as there are phases: that takes fewer operations than sums that
  /// follow what they wait for.
  bool run_resident(const ThreadGrid& tiling) {
    if (!tiling.rows || !backend_.limits().native || backend_.limits().archived) return false;
    FusedRequest request = r_;
    if (program_.in_phases) request.program = program_.in_phases.get();
    if (request.program->passes < (has_full_outputs() ? 2 : 3)) return false;  // traversed once
    return run_resident_rows(backend_, request, whole_stage(*request.program), tiling, begin_, r_.space);
  }
  void launch(const Stage& stage, const ThreadGrid& tiling, const FusedRequest& request,
              const std::vector<std::int64_t>& begin, const Shape& space) {
    run_reduce_kernel(backend_, request, stage, tiling, begin, space);
  }

  /// Room for `elements` results of each reduction, side by side in one buffer.
  std::vector<StoredResult> new_results(const std::vector<int>& reductions, std::int64_t elements) {
    std::vector<StoredResult> list;
    std::int64_t bytes = 0;
    for (const int s : reductions) {
      const DType dtype = dtype_computed_in(program_.steps[static_cast<std::size_t>(s)].type);
      const auto size = static_cast<std::int64_t>(dtype_size(dtype));
      bytes = round_up(bytes, size);
      list.push_back({s, {nullptr, dtype, bytes / size, {}}});
      bytes += elements * size;
    }
    keep_.push_back(backend_.temporary(bytes, DType::u8));
    for (StoredResult& stored : list) stored.view.storage = keep_.back().get();
    return list;
  }

  void run_staged(const ThreadGrid& tiling, std::int64_t segments) {
    std::vector<StoredResult> known;
    const int passes = program_.passes - 1;
    for (int p = 0; p < passes; ++p) {
      std::vector<int> reductions;
      for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i) {
        const Step& s = program_.steps[static_cast<std::size_t>(i)];
        if (s.kind == StepKind::reduce && s.pass == p + 1) reductions.push_back(i);
      }
      Stage part;
      part.first = part.last = p, part.splits = true, part.known = known, part.segments = segments;
      std::vector<Chunk> chunks = chunks_of(backend_, r_, {r_.space, begin_});
      part.all_segments = segments * static_cast<std::int64_t>(chunks.size());
      part.full_outputs =
          chunks.size() == 1 && writes_full_outputs(backend_, r_, tiling, known.size() + reductions.size());
      part.partials = new_results(reductions, n_.kept * part.all_segments);
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
      join.results = new_results(reductions, n_.kept);
      launch(join, joining_tiling(backend_, n_.kept, part.all_segments), r_, begin_, r_.space);
      known.insert(known.end(), join.results.begin(), join.results.end());
    }
    if (has_full_outputs()) finish(known, true);
    if (passes == 0) finish(known, false);
  }
  /// The partial results of one chunk. Too many operands, or two windows of one storage: they are copied first.
  void partial(const Stage& stage, const ThreadGrid& tiling, const Chunk& c) {
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
  void finish(const std::vector<StoredResult>& known, bool full) {
    Elementwise job;
    job.op = r_.op, job.program = &program_, job.space = job.whole = r_.space, job.reduced = r_.reduced,
    job.extent = n_.length;
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
    const auto pass_of = [&](int step) { return program_.steps[static_cast<std::size_t>(step)].pass; };
    int last = 0;  // pass that an output waits for: later results are not read
    for (std::size_t o = 0; o < r_.outputs.size(); ++o) {
      if (program_.outputs[o].full != full || written_[o]) continue;
      job.outputs.push_back({program_.outputs[o].step, r_.outputs[o]});
      last = std::max(last, pass_of(job.outputs.back().step));
    }
    for (const StoredResult& s : known)
      if (pass_of(s.step) <= last)
        job.known.push_back({s.step, {s.view.storage, s.view.dtype, s.view.offset, over_kept}});
    if (!job.outputs.empty()) run_elementwise(backend_, job);
  }

  GpuBackend& backend_;
  const FusedRequest& r_;
  const Program& program_;
  std::vector<std::int64_t> begin_;
  Extents n_;
  std::vector<char> written_ = std::vector<char>(r_.outputs.size(), 0);  // full outputs that partial kernels wrote
  std::vector<std::shared_ptr<Storage>> keep_;
};

}  // namespace

int pass_of_full_output(const FusedRequest& r, std::size_t output) {
  for (const Operand& o : r.inputs)
    if (o.view.storage == r.outputs[output].storage ||
        (o.gather && o.gather->table.storage == r.outputs[output].storage))
      return r.program->passes - 1;  // later passes read what it would overwrite
  return r.program->steps[static_cast<std::size_t>(r.program->outputs[output].step)].pass;
}

void run_reducing(GpuBackend& backend, const FusedRequest& request) {
  ReduceRun(backend, request, std::vector<std::int64_t>(static_cast<std::size_t>(request.space.rank()), 0)).run();
}

}  // namespace tern::detail_gpu
