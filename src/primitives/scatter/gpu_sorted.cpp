// Scatter-reduce for large tables: the table is sorted along with the places its entries had, stably; an element of the
// output then finds its entries by bisection, in their order. No atomics: sums have the same bits every time.
#include <algorithm>
#include <bit>
#include <memory>

#include "gpu/text/combining.hpp"
#include "gpu/text/io.hpp"
#include "gpu/radix/radix.hpp"
#include "primitives/scatter/gpu.hpp"
#include "primitives/sort/kernels.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kReadKeys =
#include "primitives/scatter/scatter_read.wgsl.inc"
    ;
constexpr const char* kBisect =
#include "primitives/scatter/scatter_bisect.wgsl.inc"
    ;
constexpr const char* kSorted =
#include "primitives/scatter/scatter_sorted.wgsl.inc"
    ;
constexpr const char* kScatterStarts =
#include "primitives/scatter/scatter_starts.wgsl.inc"
    ;
constexpr const char* kEntries =
#include "primitives/scatter/scatter_entries.wgsl.inc"
    ;
constexpr const char* kScatterRun =
#include "primitives/scatter/scatter_run.wgsl.inc"
    ;
constexpr const char* kFetched =
#include "primitives/scatter/scatter_fetched.wgsl.inc"
    ;

constexpr std::int64_t kSortedAtOnce = 4096;                  // a workgroup sorts these at once, whatever the keys
// Where this many entries meet in an element on average, a workgroup fetches them (scatter_fetched.wgsl).
constexpr std::int64_t kManyEntries = 64;
constexpr std::uint32_t kFetching = 256;  // invocations
constexpr int kFetchedEach = 4;           // by an invocation before the sums go on
constexpr int kAddedAtOnce = 16;          // of them, loaded before the ones in front are added
constexpr std::int64_t kNeighbours = 32;

/// The entries of the table as lines, one for every line of the output: how the request's axes are laid out in them.
struct EntryLines {
  std::uint32_t summed = 0, lines = 0;  // axes that the output does not have, and those the table varies along besides
  std::int64_t length = 1, count = 1;   // entries that may meet in an element, and all of them
  View view;                            // [lines, length] laid over the request's space, without storage
};
EntryLines lay_out(const ScatterRequest& r) {
  EntryLines e;
  e.view.dtype = DType::i32, e.view.strides.resize(r.space.rank(), 0);
  const auto lay = [&](bool summed, std::int64_t step) {
    for (int i = r.space.rank() - 1; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(i);
      if ((r.output.strides[axis] == 0) != summed || (!summed && r.target.table.strides[axis] == 0)) continue;
      (summed ? e.summed : e.lines) |= 1u << i;
      e.view.strides[axis] = step;
      step *= r.space[axis];
    }
    return step;
  };
  e.length = lay(true, 1), e.count = lay(false, e.length);
  return e;
}

/// Words for the entries, which live as long as `storage`.
struct EntryBuffer {
  std::shared_ptr<Storage> storage;
  View view;
};
EntryBuffer make_entries(GpuBackend& backend, const EntryLines& lines) {
  EntryBuffer entries{backend.temporary(lines.count, DType::i32), lines.view};
  entries.view.storage = entries.storage.get();
  return entries;
}

/// After the last change to the plan.
void prepare(GpuBackend& backend, Plan& plan) {
  plan.launch.threads = std::min<std::uint32_t>(256, backend.limits().threads);
  plan.note(plan.launch.threads);
  plan.finish_key();
}
void launch(GpuBackend& backend, Plan& plan, std::int64_t invocations, const std::function<std::string()>& text) {
  plan.launch.groups = static_cast<std::uint64_t>(ceil_div(invocations, plan.launch.threads));
  backend.queue(plan.launch, text);
}
std::string module(GpuBackend& backend, const Plan& plan, const char* title, std::string body,
                   std::vector<Shared> shared = {}, std::string functions = {}) {
  return backend.dialect().module({title, plan.launch.bindings, plan.launch.params.size(), plan.launch.threads,
                                   std::move(shared), std::move(functions), std::move(body)});
}

// ---- reading: the entries, counted from 0 ----

void read_table(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& entries) {
  Shape space = r.space;
  for (int i = 0; i < space.rank(); ++i)
    if (!((lines.summed | lines.lines) >> i & 1)) space[static_cast<std::size_t>(i)] = 1;
  const View* views[] = {&entries, &r.target.table};
  Plan plan(backend.limits(), r.op, 'S');
  MergedAxes axes = merge_axes(space, (1u << space.rank()) - 1, views, 0);
  const int count = plan.add_param(static_cast<std::uint64_t>(lines.count)),
            size = plan.add_param(static_cast<std::uint64_t>(r.target.size));
  plan.add_axes(axes);
  for (std::size_t v = 0; v < 2; ++v) plan.add_access(*views[v], axes.strides[v], v == 0);
  const View flags{&backend.index_flags(), DType::u32, 0, {}};
  plan.make_atomic(plan.add_access(flags, {}, true));
  plan.launch.check_slot = plan.add_param(0), plan.launch.checked_size = r.target.size;
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  plan.bind({bytes_touched(entries, sizes), bytes_touched(r.target.table, sizes), {0, 8}});
  prepare(backend, plan);
  launch(backend, plan, lines.count, [&] {
    const Dialect& d = backend.dialect();
    Io io(plan, d);
    Position at;
    Holes holes{{"threads", cat(plan.launch.threads)}, {"count", d.param(count)}, {"size", d.param(size)}};
    holes["coordinates"] = io.coordinates(axes, "t", "c", at.coordinates);
    name_index(holes, plan, io, d, 1, 2, at);
    holes["store"] = io.stored(plan.access(0), io.element(plan.access(0), at, 0), "bitcast<i32>(place)");
    return module(backend, plan, "scatter, reading the table", fill_holes(kReadKeys, holes));
  });
}

// ---- sorting: the keys in order, and the places they came from ----

void sort_entries(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& entries,
                  const View& keys, const View& places) {
  const std::int64_t count = lines.count / lines.length;
  const auto view = [&](const View& v) { return View{v.storage, DType::i32, 0, {lines.length, 1}}; };
  if (lines.length <= kSortedAtOnce)
    return sort_on_gpu(backend, {r.op, Shape{count, lines.length}, 1, false, view(entries), view(keys), view(places)});
  // By as many digits as there are.
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(r.target.size)));
  Radix(backend, r.op, DType::u32, false, count).sort({entries, {}}, lines.length, bits, {keys, places});
}

// ---- starts: where the entries of each place begin, where all lines of the output share them ----

/// Words for these; none where lines have tables of their own, or only what is named is written.
EntryBuffer find_starts(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& keys) {
  if (lines.lines != 0 || !r.initial.storage || backend.limits().archived) return {};
  EntryBuffer starts{backend.temporary(r.target.size + 1, DType::i32), {}};
  starts.view = {starts.storage.get(), DType::i32, 0, {}};
  Plan plan(backend.limits(), r.op, 'z');
  const int size = plan.add_param(static_cast<std::uint64_t>(r.target.size)),
            length = plan.add_param(static_cast<std::uint64_t>(lines.length));
  const View words{keys.storage, DType::i32, 0, {}};
  const int sorted = plan.add_access(words, {}, false), found = plan.add_access(starts.view, {}, true);
  plan.bind({{0, 4 * lines.count}, {0, 4 * (r.target.size + 1)}});
  prepare(backend, plan);
  launch(backend, plan, r.target.size + 1, [&] {
    const Dialect& d = backend.dialect();
    Holes holes{{"threads", cat(plan.launch.threads)}, {"size", d.param(size)},  {"length", d.param(length)},
                {"bisect", kBisect},                   {"searched", "low"},      {"bound_of_low", "wanted"}};
    holes["key_of_low_middle"] = cat("b", plan.access(sorted).binding, "[low_middle]");
    holes["starts"] = cat("b", plan.access(found).binding);
    return module(backend, plan, "scatter, starts", fill_holes(kScatterStarts, holes));
  });
  return starts;
}

// ---- combining: each element finds its entries ----

/// The last kernel: an invocation to an element or a few neighbours, or a workgroup that fetches.
struct Combining {
  Plan plan;
  MergedAxes kept, summed;
  std::unique_ptr<View> initial = std::make_unique<View>();  // which the plan refers to
  int old = 0, starts = -1;  // accesses
  int outputs = -1, kept_slot = -1, length = -1, begin = -1, end = -1, size = -1;  // parameters
  int group = 1;
  bool fetched = false, by_entry = false;
  int across = 1;          // neighbouring elements of a workgroup that fetches
  std::int64_t count = 0;  // invocations, or workgroups that fetch
};

Combining plan_combining(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& keys,
                         const View& places, const View& starts, Layouts layouts) {
  const View* views[] = {&r.output, &r.source, &keys, &places};
  const std::uint32_t all = (1u << r.space.rank()) - 1;
  Combining c{Plan(backend.limits(), r.op, 'C', layouts), merge_axes(r.space, all & ~lines.summed, views, 0),
              merge_axes(r.space, lines.summed, views, 0)};
  Plan& plan = c.plan;
  c.outputs = plan.add_param(0), c.kept_slot = plan.add_param(0);
  c.length = plan.add_param(static_cast<std::uint64_t>(lines.length));
  c.begin = plan.add_param(0), c.end = plan.add_param(0);
  c.by_entry = !r.initial.storage && !backend.limits().archived && lines.length <= std::min(kMostAtOnce, r.target.size);
  if (c.by_entry) c.size = plan.add_param(static_cast<std::uint64_t>(r.target.size));
  plan.add_axes(c.kept), plan.add_axes(c.summed);
  plan.set_inner(static_cast<int>(c.kept.sizes.size()) - 1);
  std::vector<ByteRange> touched;
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  for (std::size_t v = 0; v < 4; ++v) {
    std::vector<std::int64_t> strides = c.kept.strides[v];
    strides.insert(strides.end(), c.summed.strides[v].begin(), c.summed.strides[v].end());
    strides.push_back(v == 0 ? r.target.step : 0);  // the entry, as one more axis
    plan.add_access(*views[v], strides, v == 0);
    touched.push_back(bytes_touched(*views[v], sizes));
  }
  touched[0] = bytes_of_outputs(r, r.output);
  c.old = add_initial(plan, r, *c.initial, touched);
  plan.note(starts.storage != nullptr);
  if (starts.storage) {
    std::vector<std::int64_t> strides(plan.access(0).actual.size(), 0);
    strides.back() = 1;
    c.starts = plan.add_access(starts, strides, false);
    touched.push_back({0, 4 * (r.target.size + 1)});
  }
  plan.bind(touched);
  c.fetched = lines.lines == 0 && backend.limits().threads >= kFetching && lines.length >= kManyEntries * r.target.size;
  if (c.fetched) {
    c.across = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::min(c.kept.count(), kNeighbours))));
    if (dtype_size(r.output.dtype) < 4) plan.merge_parts(0);
  } else c.group = scatter_group(plan, c.kept, {2, 3});
  c.count = ceil_div(c.kept.count(), c.fetched ? c.across : c.group) * (c.by_entry ? lines.length : r.target.size);
  plan.note(c.fetched), plan.note(c.by_entry), plan.note(static_cast<char>(c.across));
  plan.set(c.outputs, static_cast<std::uint64_t>(c.count));
  plan.set(c.kept_slot, static_cast<std::uint64_t>(c.kept.count() / c.group));
  plan.note(r.combine), plan.note(r.source.dtype), plan.note(static_cast<char>(c.group));
  prepare(backend, plan);
  plan.launch.in_bounds = c.fetched;  // a place that the table names is one (scatter_read.wgsl), and so is an entry
  return c;
}

/// What both files have: where the element is, where its line of keys is, and how its first entry is found.
Holes combining_holes(GpuBackend& backend, const Combining& c, Io& io, std::initializer_list<const char*> indices) {
  const Dialect& d = backend.dialect();
  Position inside{{}, static_cast<int>(c.kept.sizes.size()) - 1, c.group}, outside;
  std::vector<std::string> entry;
  Holes holes{{"threads", cat(c.plan.launch.threads)},
              {"each", cat(c.group)},
              {"outputs", d.param(c.outputs)},
              {"kept", d.param(c.kept_slot)},
              {"length", d.param(c.length)},
              {"begin", d.param(c.begin)},
              {"table_end", d.param(c.end)},
              {"bisect", kBisect},
              {"barrier", d.barrier()},
              {"add_run", kScatterRun}};
  holes["kept_coordinates"] = io.coordinates(c.kept, "k", "c", inside.coordinates);
  holes["entry_coordinates"] = io.coordinates(c.summed, "j", "d", entry);
  outside = inside;
  inside.coordinates.insert(inside.coordinates.end(), entry.begin(), entry.end());
  outside.coordinates.resize(inside.coordinates.size(), "0u");
  inside.coordinates.push_back("0u"), outside.coordinates.push_back("wanted");
  const Access &keys = c.plan.access(2), &places = c.plan.access(3);
  holes["first_key"] = io.element(keys, outside, 0), holes["first_place"] = io.element(places, outside, 0);
  for (const std::string index : indices) {
    holes["key_of_" + index] = io.loaded(keys, "keys + " + index);
    holes["place_of_" + index] = io.loaded(places, "places + " + index);
  }
  if (c.starts >= 0) {
    const Access& starts = c.plan.access(c.starts);
    Position next = outside;
    next.coordinates.back() = "(wanted + 1u)";
    holes["bisect"] = cat("var low = bitcast<u32>(", io.loaded(starts, io.element(starts, outside, 0)),
                          ");\nlet over = bitcast<u32>(", io.loaded(starts, io.element(starts, next, 0)), ");\n");
  }
  holes["keys_of_line"] = c.starts >= 0 ? "" : "let keys = $first_key;";  // read where no list says what they are
  holes["run_end"] = c.starts >= 0 ? "min(over, $table_end)" : "$table_end";
  holes["leave_at_others"] = c.starts >= 0 ? "" : "if (bitcast<u32>($key_of_low) != wanted) { break; }";
  name_group(holes, io, outside, inside, c.group, c.old);
  return holes;
}

std::string combining_text(GpuBackend& backend, const ScatterRequest& r, const Combining& c) {
  Io io(c.plan, backend.dialect());
  const detail::ComputeType type = detail::compute_type_of(r.source.dtype);
  const std::string combine = combining_function(backend.dialect(), r.combine, type);
  Holes holes = combining_holes(
      backend, c, io, {"low", "low_middle", "over_middle", "entry", "before", "entry0", "entry1", "entry2", "entry3"});
  static_assert(kFetchedEach == 4, "as many as there are entries above");
  if (c.by_entry) {
    holes["size"] = backend.dialect().param(c.size);
    return module(backend, c.plan, "scatter, by entry", fill_holes(kEntries, holes), {}, combine);
  }
  holes["bound_of_low"] = "wanted", holes["bound_of_over"] = "wanted + 1u";
  holes["searched"] = c.fetched ? "low over" : "low";
  if (!c.fetched) return module(backend, c.plan, "scatter, sorted", fill_holes(kSorted, holes), {}, combine);
  holes["type"] = compute_type_name(type), holes["across"] = cat(c.across);
  holes["rows"] = cat(static_cast<int>(kFetching) / c.across);
  holes["entries"] = numbers(0, kFetchedEach), holes["entries_each"] = cat(kFetchedEach);
  holes["added"] = numbers(0, kAddedAtOnce), holes["adding"] = cat(kAddedAtOnce);
  return module(backend, c.plan, "scatter, fetched", fill_holes(kFetched, holes),
                {{compute_type_name(type), "values", static_cast<int>(kFetching) * kFetchedEach}}, combine);
}

/// False, having done nothing, where there is no such kernel in vectors.
bool combine(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& keys,
             const View& places, const View& starts, Layouts layouts) {
  Combining c = plan_combining(backend, r, lines, keys, places, starts, layouts);
  const auto print = [&] { return combining_text(backend, r, c); };
  if (layouts == Layouts::vectors && !(c.kept.sizes.size() == 1 && c.summed.sizes.size() == 1 && c.plan.in_vectors() &&
                                       backend.has_kernel(layouts, c.plan.launch, print)))
    return false;
  for (std::int64_t begin = 0; begin < lines.length; begin += kMostAtOnce) {
    c.plan.set(c.begin, static_cast<std::uint64_t>(begin));
    c.plan.set(c.end, static_cast<std::uint64_t>(std::min(lines.length, begin + kMostAtOnce)));
    launch(backend, c.plan, c.fetched ? c.count * c.plan.launch.threads : c.count, print);
  }
  return true;
}

}  // namespace

void run_scatter_sorted(GpuBackend& backend, const ScatterRequest& request) {
  const EntryLines lines = lay_out(request);
  const EntryBuffer entries = make_entries(backend, lines), keys = make_entries(backend, lines),
                    places = make_entries(backend, lines);
  read_table(backend, request, lines, entries.view);
  sort_entries(backend, request, lines, entries.view, keys.view, places.view);
  const EntryBuffer starts = find_starts(backend, request, lines, keys.view);
  run_in_layouts(backend.limits(), [&](Layouts layouts) {
    return combine(backend, request, lines, keys.view, places.view, starts.view, layouts);
  });
}

}  // namespace tern::detail_gpu
