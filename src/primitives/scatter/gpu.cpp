// Scatter-reduce without float atomics: an invocation owns an element of the output, or a few neighbours in vectors,
// and looks through the table in order, so that sums have the same bits every time. Work: output elements × table
// entries; large tables are sorted first (gpu_sorted.cpp), but for sums of integers (gpu_integers.cpp). Cut into
// launches of 2^33 steps, so that no launch holds a display for long.
#include "primitives/scatter/gpu.hpp"

#include <algorithm>
#include <bit>

#include "gpu/text/combining.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kScatter =
#include "primitives/scatter/scatter.wgsl.inc"
    ;

constexpr std::int64_t kMostScatterSteps = std::int64_t{1} << 33;
constexpr std::int64_t kAfreshFrom = 64;  // elements of a place
// Up to so many entries for each element, and steps in all, looking through them beats the kernels of a sort.
constexpr std::int64_t kFewEntries = 2048, kFewSteps = std::int64_t{1} << 30;

/// Entries that may meet in an element, and elements.
struct Meeting {
  explicit Meeting(const ScatterRequest& r) : outputs(r.target.size) {
    for (std::size_t i = 0; i < r.space.size(); ++i) (r.output.strides[i] == 0 ? length : outputs) *= r.space[i];
  }
  std::int64_t length = 1, outputs;
};
/// Whether the table is worth sorting, and a line of it fits what the sort can see.
bool should_sort(const GpuBackend& backend, const ScatterRequest& r) {
  const Meeting m(r);
  const std::uint64_t room = 8 * std::bit_ceil(static_cast<std::uint64_t>(m.length));
  return (m.length > kFewEntries || m.outputs * m.length > kFewSteps) && room <= backend.limits().binding_bytes;
}

/// Entries [first, last) of the output along the indexed axis.
struct EntryRange {
  std::int64_t first = 0, last = 0;
};

class ScatterKernel {
 public:
  ScatterKernel(GpuBackend& backend, const ScatterRequest& request, EntryRange entries, Layouts layouts)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 's', layouts), axes_(request) {
    entries_ = entries.last - entries.first;
    count_slot_ = plan_.add_param(0), kept_slot_ = plan_.add_param(0);
    first_slot_ = plan_.add_param(static_cast<std::uint64_t>(entries.first));
    begin_slot_ = plan_.add_param(0), end_slot_ = plan_.add_param(0);
    size_slot_ = plan_.add_param(static_cast<std::uint64_t>(r_.target.size));
    plan_.add_axes(axes_.kept), plan_.add_axes(axes_.summed);
    const int inner = static_cast<int>(axes_.kept.sizes.size()) - 1;
    plan_.set_inner(inner);
    old_ = add_operands(backend_, plan_, r_, axes_, views_);
    group_ = scatter_group(plan_, axes_.kept, {2});
    plan_.set(count_slot_, static_cast<std::uint64_t>(axes_.kept.count() / group_ * entries_));
    plan_.set(kept_slot_, static_cast<std::uint64_t>(axes_.kept.count() / group_));
  }

  /// False, having done nothing, where there is no such kernel in vectors.
  bool run() {
    plan_.note(r_.combine), plan_.note(r_.source.dtype), plan_.note(static_cast<char>(group_));
    plan_.launch.threads = std::min<std::uint32_t>(256, backend_.limits().threads);
    plan_.note(plan_.launch.threads);
    plan_.finish_key();
    const auto print = [this] { return text(); };
    const bool two_axes = axes_.kept.sizes.size() == 1 && axes_.summed.sizes.size() == 1;
    if (plan_.layouts() == Layouts::vectors &&
        !(two_axes && plan_.in_vectors() && backend_.has_kernel(Layouts::vectors, plan_.launch, print)))
      return false;
    const std::int64_t outputs = axes_.kept.count() / group_ * entries_, length = axes_.summed.count();
    const std::int64_t most = std::max<std::int64_t>(1, kMostScatterSteps / std::max<std::int64_t>(outputs, 1));
    for (std::int64_t begin = 0; begin < length; begin += most) {
      plan_.set(begin_slot_, static_cast<std::uint64_t>(begin));
      plan_.set(end_slot_, static_cast<std::uint64_t>(std::min(length, begin + most)));
      plan_.launch.groups = static_cast<std::uint64_t>(ceil_div(outputs, plan_.launch.threads));
      backend_.queue(plan_.launch, print);
    }
    return true;
  }

 private:
  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const auto p = [&](int slot) { return d.param(slot); };
    Holes holes{{"threads", cat(plan_.launch.threads)},
                {"each", cat(group_)},
                {"count", p(count_slot_)},
                {"kept", p(kept_slot_)},
                {"first", p(first_slot_)},
                {"begin", p(begin_slot_)},
                {"table_end", p(end_slot_)},
                {"size", p(size_slot_)}};
    Position at{{}, static_cast<int>(axes_.kept.sizes.size()) - 1, group_};
    std::vector<std::string> summed;
    holes["kept_coordinates"] = io.coordinates(axes_.kept, "k", "c", at.coordinates);
    holes["entry_coordinates"] = io.coordinates(axes_.summed, "j", "d", summed);
    Position outside = at;
    outside.coordinates.resize(axes_.kept.sizes.size() + axes_.summed.sizes.size(), "0u");
    outside.coordinates.push_back("wanted");
    at.coordinates.insert(at.coordinates.end(), summed.begin(), summed.end()), at.coordinates.push_back("0u");
    name_group(holes, io, outside, at, group_, old_);
    name_index(holes, plan_, io, d, 2, 3, at);
    return d.module({"scatter",
                     plan_.launch.bindings,
                     plan_.launch.params.size(),
                     plan_.launch.threads,
                     {},
                     combining_function(d, r_.combine, detail::compute_type_of(r_.source.dtype)),
                     fill_holes(kScatter, holes)});
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  Plan plan_;
  ScatterAxes axes_;
  ScatterViews views_;
  std::int64_t entries_ = 0;
  int group_ = 1, old_ = 0, count_slot_, kept_slot_, first_slot_, begin_slot_, end_slot_, size_slot_;
};

/// The axis along which the widest operand that does not fit a binding reaches furthest; -1 where all fit.
int axis_to_cut(const GpuBackend& backend, const ScatterRequest& r) {
  const auto most =
      static_cast<std::int64_t>(backend.limits().binding_bytes) - backend.limits().binding_alignment - kVectorBytes;
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  int axis = -1;
  std::int64_t furthest = 0;
  for (const View* v : {&r.source, &r.output, &r.target.table}) {
    const ByteRange touched = bytes_touched(*v, sizes);
    if (static_cast<std::int64_t>(v->storage->bytes()) <= most || touched.end - touched.begin <= most) continue;
    for (int i = 0; i < r.space.rank(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t reach = (r.space[a] - 1) * std::abs(v->strides[a]);
      if (r.space[a] > 1 && reach > furthest) furthest = reach, axis = i;
    }
  }
  if (axis < 0 && r.space.numel() > INT32_MAX)  // of a broadcast source: kernels count in 32 bits
    axis = static_cast<int>(std::ranges::max_element(sizes) - sizes.begin());
  return axis;
}

/// Halves the request until every buffer fits a binding.
void scatter_what_fits(GpuBackend& backend, const ScatterRequest& r, EntryRange entries) {
  if (r.space.numel() == 0 || entries.first >= entries.last) return;
  const int axis = axis_to_cut(backend, r);
  if (axis < 0 && run_scatter_lines(backend, r)) return;
  if (axis < 0 && adds_integers(backend, r)) return run_scatter_integers(backend, r);
  if (axis < 0 && should_sort(backend, r)) return run_scatter_sorted(backend, r);
  if (axis < 0)
    return run_in_layouts(backend.limits(),
                          [&](Layouts layouts) { return ScatterKernel(backend, r, entries, layouts).run(); });
  const auto a = static_cast<std::size_t>(axis);
  ScatterRequest first = r, second = r;
  first.space[a] = r.space[a] / 2, second.space[a] = r.space[a] - first.space[a];
  second.source.offset += first.space[a] * r.source.strides[a],
      second.output.offset += first.space[a] * r.output.strides[a];
  second.target.table.offset += first.space[a] * r.target.table.strides[a];
  scatter_what_fits(backend, first, entries);
  scatter_what_fits(backend, second, entries);
}

}  // namespace

ScatterAxes::ScatterAxes(const ScatterRequest& r, bool in_one) {
  const std::uint32_t all = (1u << r.space.rank()) - 1;
  std::uint32_t along_summed = 0;
  for (int i = 0; i < r.space.rank(); ++i)
    if (in_one || r.output.strides[static_cast<std::size_t>(i)] == 0) along_summed |= 1u << i;
  const View* views[] = {&r.output, &r.source, &r.target.table};
  kept = merge_axes(r.space, all & ~along_summed, views, 0), summed = merge_axes(r.space, along_summed, views, 0);
}

int add_operands(GpuBackend& backend, Plan& plan, const ScatterRequest& r, const ScatterAxes& axes,
                 ScatterViews& views) {
  const View* const of_request[] = {&r.output, &r.source, &r.target.table};
  for (std::size_t v = 0; v < 3; ++v) {
    std::vector<std::int64_t> strides = axes.kept.strides[v];
    strides.insert(strides.end(), axes.summed.strides[v].begin(), axes.summed.strides[v].end());
    strides.push_back(v == 0 ? r.target.step : 0);
    plan.add_access(*of_request[v], strides, v == 0);
  }
  views.flags = {&backend.index_flags(), DType::u32, 0, {}};
  plan.make_atomic(plan.add_access(views.flags, {}, true));
  plan.launch.check_slot = plan.add_param(0), plan.launch.checked_size = r.target.size;
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  std::vector<ByteRange> touched{bytes_of_outputs(r, r.output), bytes_touched(r.source, sizes),
                                 bytes_touched(r.target.table, sizes), {0, 8}};
  const int old = add_initial(plan, r, views.initial, touched);
  plan.bind(touched);
  return old;
}

int scatter_group(Plan& plan, const MergedAxes& kept, std::initializer_list<int> tables) {
  const int inner = static_cast<int>(kept.sizes.size()) - 1;
  const bool alike = inner >= 0 && std::ranges::all_of(tables, [&](int table) {
                       return plan.access(table).steps[static_cast<std::size_t>(inner)] == '0';
                     });
  if (alike) return plan.choose_group(inner, kept.sizes.back(), false);
  if (plan.access(0).size() < 4) plan.merge_parts(0);
  return 1;
}

ByteRange bytes_of_outputs(const ScatterRequest& r, const View& view) {
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  Operand operand;
  operand.view = view, operand.gather = &r.target;
  return bytes_touched(operand, sizes);
}

int add_initial(Plan& plan, const ScatterRequest& r, View& view, std::vector<ByteRange>& touched) {
  plan.note(r.initial.storage != nullptr);
  if (!r.initial.storage) return 0;
  view = r.output;
  view.storage = r.initial.storage, view.offset = r.initial.offset;
  touched.push_back(bytes_of_outputs(r, view));
  const std::vector<std::int64_t> strides = plan.access(0).actual;
  return plan.add_access(view, strides, false);
}

void name_group(Holes& holes, Io& io, const Position& outside, const Position& inside, int group, int old_access) {
  std::vector<std::string> old, values, sums;
  holes["load_old"] = io.load(old_access, outside, old), holes["load_new"] = io.load(1, inside, values);
  for (int e = 0; e < group; ++e) {
    const auto i = static_cast<std::size_t>(e);
    holes[cat("old_", e)] = old[i], holes[cat("new_", e)] = values[i];
    sums.push_back(cat("acc", e));
  }
  holes["elements"] = numbers(0, group), holes["store"] = io.store(0, outside, sums, "");
}

void name_index(Holes& holes, const Plan& plan, const Io& io, const Dialect& dialect, int table, int flags,
                const Position& at) {
  const Access& a = plan.access(table);
  holes["index"] = io.loaded(a, io.element(a, at, 0));
  holes["report"] = dialect.report_index(plan.access(flags).binding, dialect.param(plan.launch.check_slot), "index");
}

detail::AtOnce scatters_at_once(GpuBackend& backend, const ScatterRequest& r) {
  using detail::AtOnce;
  // (Each way would be a text more in the archive.)
  if (r.space.numel() == 0 || backend.limits().archived || axis_to_cut(backend, r) >= 0) return AtOnce::no;
  if (adds_integers(backend, r) && !fits_scatter_lines(backend, r)) return AtOnce::in_place;
  const Meeting m(r);
  if (!should_sort(backend, r)) return m.outputs * m.length <= kMostScatterSteps ? AtOnce::afresh : AtOnce::no;
  if (m.length > kMostAtOnce) return AtOnce::no;
  // Where places have few elements, those that are named are written alone.
  return m.outputs >= kAfreshFrom * r.target.size ? AtOnce::afresh : AtOnce::in_place;
}

void scatter_on_gpu(GpuBackend& backend, const ScatterRequest& r) {
  backend.require_supported(r.op, r.source.dtype);
  scatter_what_fits(backend, r, {0, r.target.size});
}

}  // namespace tern::detail_gpu
