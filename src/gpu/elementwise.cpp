#include "gpu/elementwise.hpp"

#include <algorithm>
#include <numeric>

#include "backend/instruments/trace.hpp"
#include "gpu/elementwise_plan.hpp"
#include "gpu/plan/horizontal.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // of a launch: indices are 32 bits wide

std::vector<std::int64_t> sizes_of(const Shape& space) { return {space.begin(), space.end()}; }

/// One launch. False, having done nothing, where there is no such kernel in vectors.
bool run_kernel(GpuBackend& backend, const Elementwise& job, Layouts layouts) {
  ElementwisePlan e(backend, job, layouts);
  Launch& launch = e.plan.launch;
  const auto print = [&] { return elementwise_text(e); };
  if (layouts == Layouts::vectors && !(e.in_vectors() && backend.has_kernel(layouts, launch, print))) return false;
  if (detail::tracing())
    detail::note(cat("elementwise, ", e.group, e.group == 1 ? " element" : " elements", " an invocation",
                     e.across >= 0 ? ", in tiles, " : ", ", launch.groups, " workgroups of ", launch.threads));
  if (e.is_part()) job.horizontal->add(launch, print);
  else backend.queue(launch, print);
  return true;
}

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

// Rows that are no multiple of a vector are read and written element by element, each of which finds its column by a
// division: 2^22 rows of 3 times a row took 48 us in f32 and 42 in bf16 where rows of 768 took 37 and 18 (H100, 24
// November 2026). Where all that is not whole repeats with the row, several rows are taken as one that is a multiple,
// and what repeats is written out for it first: a small launch, which pays from so many elements on.
constexpr std::int64_t kWorthRepeating = 1 << 20, kLongestRepeated = 1024;

/// How an operand lies over a space: all elements one after the other, the same for all, or rows that repeat.
enum class Lies { whole, single, repeated, otherwise };
struct Repeating {
  Lies lies = Lies::otherwise;
  std::int64_t period = 1;  // of what repeats
};
Repeating repeating(const View& v, const Shape& space) {
  std::int64_t step = 1, repeats = 1;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (space[axis] == 1) continue;
    if (v.strides[axis] == 0) {
      repeats *= space[axis];
      continue;
    }
    if (repeats != 1 || v.strides[axis] != step) return {};  // a column, or in another order
    step *= space[axis];
  }
  if (repeats == 1) return {Lies::whole, step};
  return {step == 1 ? Lies::single : Lies::repeated, step};
}

/// The row's length, of which all that repeats repeats, and how many rows make a multiple of a vector; {0, 1} where
/// rows are left as they are.
struct RepeatedRows {
  std::int64_t length = 0, together = 1;
};
RepeatedRows rows_to_join(const GpuBackend& backend, const Elementwise& job) {
  const std::int64_t numel = job.space.numel();
  if (backend.limits().archived || job.horizontal || !job.known.empty() || numel < kWorthRepeating) return {};
  for (const detail::Step& s : job.program->steps)
    if (s.kind == detail::StepKind::position) return {};
  RepeatedRows rows;
  std::int64_t in_vector = 1;
  const auto see = [&](const View& v, bool written) {
    const Repeating r = repeating(v, job.space);
    in_vector = std::max(in_vector, kVectorBytes / static_cast<std::int64_t>(dtype_size(v.dtype)));
    if (r.lies == Lies::whole || (r.lies == Lies::single && !written)) return true;
    if (r.lies == Lies::otherwise || written || (rows.length && rows.length != r.period)) return false;
    rows.length = r.period;
    return true;
  };
  for (const Elementwise::Stored& s : job.outputs)
    if (!see(s.view, true)) return {};
  for (const Operand& o : job.inputs)
    if (o.view.storage && (o.gather || !see(o.view, false))) return {};
  if (rows.length < 2 || rows.length > kLongestRepeated) return {};
  rows.together = in_vector / std::gcd(in_vector, rows.length);
  if (rows.together == 1) return {};
  return rows;
}

class Fitting {
 public:
  Fitting(GpuBackend& backend, Elementwise job) : backend_(backend), job_(std::move(job)) {
    for (std::size_t i = 0; i < job_.inputs.size(); ++i) own_gather(i);
  }

  void run() {
    if (job_.space.numel() == 0) return;
    if (job_.space.numel() > kMostElements) return halve({});
    if (const RepeatedRows rows = rows_to_join(backend_, job_); rows.length > 0) return join(rows);
    if (!fit_windows()) return;
    fit_bindings();
    const bool indexed = std::ranges::any_of(job_.inputs, [](const Operand& o) { return o.gather != nullptr; });
    if (!keep_.empty() || !copy_back_.empty() || indexed) job_.horizontal = nullptr;
    run_in_layouts(backend_.limits(),
                   [this](Layouts layouts) { return run_kernel(backend_, job_, layouts); });
    for (const auto& [from, to, space] : copy_back_) copy_view(backend_, job_.op, from, to, space);
  }

 private:
  /// Runs as many rows as make whole ones of several, and then the rest.
  void join(const RepeatedRows& rows) {
    const std::int64_t count = job_.space.numel() / rows.length, joined = count / rows.together;
    const std::int64_t long_row = rows.length * rows.together;
    std::vector<std::shared_ptr<Storage>> keep;
    for (const Operand& o : job_.inputs) {
      if (!o.view.storage || repeating(o.view, job_.space).lies != Lies::repeated) continue;
      keep.push_back(backend_.temporary(long_row, o.view.dtype));
      View from = o.view;
      from.strides = Strides{0, 1};
      copy_view(backend_, job_.op, from, {keep.back().get(), o.view.dtype, 0, {rows.length, 1}},
                {rows.together, rows.length});
    }
    const auto part = [&](std::int64_t first, const Shape& space) {
      Elementwise some = job_;
      some.space = some.whole = space, some.origin = Shape{0, 0}, some.reduced = 0;
      const auto lay = [&](View& v) { v.offset += first, v.strides = Strides{space[1], 1}; };
      for (Elementwise::Stored& s : some.outputs) lay(s.view);
      std::size_t written_out = 0;
      for (Operand& o : some.inputs) {
        if (!o.view.storage) continue;
        const Lies lies = repeating(o.view, job_.space).lies;
        if (lies == Lies::whole) lay(o.view);
        else if (lies == Lies::single) o.view.strides = Strides{0, 0};
        else o.view = {keep[written_out++].get(), o.view.dtype, 0, {0, 1}};
      }
      Fitting(backend_, std::move(some)).run();
    };
    part(0, {joined, long_row});
    if (const std::int64_t rest = count - joined * rows.together; rest > 0)
      part(joined * long_row, {rest, rows.length});
  }
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
    if (!keep_.empty()) job_.horizontal = nullptr;
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
  job.op = op, job.program = &detail::type_program(op, detail::identity_graph(), {&type, 1});
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
