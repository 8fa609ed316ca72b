// Scatter-reduce for large tables: entries are put in the order of the places they name (gpu_entries.cpp), and an
// element of the output combines its own, which it finds by bisection or in a list, in their order. No atomics on
// floats: sums have the same bits every time.
#include <algorithm>
#include <bit>
#include <memory>

#include "gpu/text/combining.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"
#include "primitives/scatter/gpu.hpp"
#include "primitives/scatter/gpu_entries.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kBisect =
#include "primitives/scatter/scatter_bisect.wgsl.inc"
    ;
constexpr const char* kSorted =
#include "primitives/scatter/scatter_sorted.wgsl.inc"
    ;
constexpr const char* kEntries =
#include "primitives/scatter/scatter_entries.wgsl.inc"
    ;
constexpr const char* kScatterRun =
#include "primitives/scatter/scatter_run.wgsl.inc"
    ;
constexpr const char* kCrowded =
#include "primitives/scatter/scatter_crowded.wgsl.inc"
    ;
constexpr const char* kFetched =
#include "primitives/scatter/scatter_fetched.wgsl.inc"
    ;

// Where this many entries meet in an element on average, a workgroup fetches them (scatter_fetched.wgsl).
constexpr std::int64_t kManyEntries = 64;
constexpr std::uint32_t kFetching = 256;  // invocations
constexpr int kFetchedEach = 4;           // by an invocation before the sums go on
constexpr int kAddedAtOnce = 16;          // of them, loaded before the ones in front are added
constexpr std::int64_t kNeighbours = 32;
constexpr std::int64_t kCrowdedGroups = 1024;  // for places whose number the host does not know
constexpr int kCrowdedValues = 1024;           // fetched at once

/// The last kernel: an invocation to an element or a few neighbours, or a workgroup that fetches.
struct Combining {
  Plan plan;
  MergedAxes kept, summed;
  std::unique_ptr<View> initial = std::make_unique<View>();  // which the plan refers to
  int old = 0, begins = -1, crowded = -1;  // accesses; behind those of begins and of crowded places stand that of ends
                                           // and that of their count
  int outputs = -1, kept_slot = -1, length = -1, begin = -1, end = -1, size = -1;  // parameters
  int group = 1;
  bool fetched = false, by_entry = false;
  std::uint32_t crowded_from = 0;  // as OrderedEntries has it
  int across = 1;          // neighbouring elements of a workgroup that fetches
  std::int64_t count = 0;  // invocations, or workgroups that fetch
};

/// Adds the accesses of lists: where entries begin and end, and which places are crowded.
void add_lists(Combining& c, const OrderedEntries& ordered, std::vector<ByteRange>& touched) {
  c.crowded_from = ordered.crowded_from;
  c.plan.note(ordered.ends.storage != nullptr), c.plan.note(c.crowded_from);
  if (!ordered.ends.storage) return;
  touched[2] = touched[3] = {0, 4 * ordered.room};
  std::vector<std::int64_t> strides(c.plan.access(0).actual.size(), 0);
  strides.back() = ordered.ends.strides[0];
  c.begins = c.plan.add_access(ordered.begins.view, strides, false), c.plan.add_access(ordered.ends, strides, false);
  touched.insert(touched.end(), 2, {0, 4 * ordered.range_words});
  if (c.crowded_from == 0) return;
  c.crowded = c.plan.add_access(ordered.crowded.view, {}, false), c.plan.add_access(ordered.crowded_count, {}, false);
  touched.push_back({0, 4 * (ordered.most_crowded + 1)});
  touched.push_back({4 * ordered.crowded_count.offset, 4 * ordered.crowded_count.offset + 4});
}

/// Chooses how many neighbours an invocation takes, and how many a workgroup that fetches.
void choose_width(Combining& c, const ScatterRequest& r) {
  if (c.fetched) {
    c.across = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::min(c.kept.count(), kNeighbours))));
    if (dtype_size(r.output.dtype) < 4) c.plan.merge_parts(0);
    return;
  }
  c.group = scatter_group(c.plan, c.kept, {2, 3});
  if (c.crowded_from == 0) return;
  // Fewer neighbours of narrow rows, so that there are pieces enough.
  const auto parts = static_cast<std::uint64_t>(ceil_div(c.kept.count(), 32 * c.group));
  const auto lanes = static_cast<int>(std::bit_ceil(parts));
  c.across = c.group * (c.group > 1 ? std::clamp(lanes, 2, 8) : std::clamp(lanes, 8, 32));
}

Combining plan_combining(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines,
                         const OrderedEntries& ordered, Layouts layouts) {
  const View& keys = ordered.ends.storage ? ordered.places.view : ordered.keys.view;  // read where there is no list
  const View* views[] = {&r.output, &r.source, &keys, &ordered.places.view};
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
  add_lists(c, ordered, touched);
  plan.bind(touched);
  c.fetched = lines.lines == 0 && c.crowded_from == 0 && backend.limits().threads >= kFetching &&
              lines.length >= kManyEntries * r.target.size;
  choose_width(c, r);
  c.count = ceil_div(c.kept.count(), c.fetched ? c.across : c.group) * (c.by_entry ? lines.length : r.target.size);
  plan.note(c.fetched), plan.note(c.by_entry), plan.note(static_cast<char>(c.across));
  plan.set(c.outputs, static_cast<std::uint64_t>(c.count));
  plan.set(c.kept_slot, static_cast<std::uint64_t>(c.kept.count() / c.group));
  plan.note(r.combine), plan.note(r.source.dtype), plan.note(static_cast<char>(c.group));
  prepare_entries(backend, plan);
  // A place that the table names is one (scatter_read.wgsl), and so is an entry.
  plan.launch.in_bounds = c.fetched || c.crowded_from > 0;
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
  const bool listed = c.begins >= 0;
  if (listed) {
    const Access &begins = c.plan.access(c.begins), &ends = c.plan.access(c.begins + 1);
    holes["bisect"] = cat("var low = bitcast<u32>(", io.loaded(begins, io.element(begins, outside, 0)),
                          ");\nlet over = bitcast<u32>(", io.loaded(ends, io.element(ends, outside, 0)), ");\n");
  }
  holes["keys_of_line"] = listed ? "" : "let keys = $first_key;";  // read where no list says what they are
  holes["run_end"] = listed ? "min(over, $table_end)" : "$table_end";
  holes["leave_crowded"] = "";
  holes["range"] = holes["bisect"], holes["own_group"] = "group";
  if (c.crowded_from > 0) {  // which other workgroups combine
    // No branch before what was there is loaded: the range's words would be waited for first.
    holes["own_group"] = cat("(group - ", kCrowdedGroups, "u)");
    holes["bisect"] += cat("let crowded = over - low >= ", c.crowded_from, "u;\n");
    holes["run_end"] = "select(over, low, crowded)", holes["leave_crowded"] = "if (crowded) { return; }";
  }
  holes["leave_at_others"] = listed ? "" : "if (bitcast<u32>($key_of_low) != wanted) { break; }";
  name_group(holes, io, outside, inside, c.group, c.old);
  return holes;
}

/// The text for a request whose crowded places have workgroups of their own.
std::string crowded_text(GpuBackend& backend, const Combining& c, Holes holes, detail::ComputeType type,
                         const std::string& combine) {
  const auto word = [&](int access, const char* at) {
    const Access& a = c.plan.access(access);
    return cat("b", a.binding, "[", backend.dialect().param(a.base), " + ", at, "]");
  };
  const int fetched = std::max(1, kCrowdedValues / static_cast<int>(kFetching) / c.group), lanes = c.across / c.group;
  holes["sorted"] = kSorted, holes["crowded_groups"] = cat(kCrowdedGroups, "u");
  holes["crowded_place"] = word(c.crowded, "work / tiles"), holes["crowded_count"] = word(c.crowded + 1, "0u");
  holes["lanes"] = cat(lanes), holes["rows"] = cat(static_cast<int>(kFetching) / lanes);
  holes["fetched"] = cat(fetched), holes["entries"] = numbers(0, fetched);
  const int values = static_cast<int>(kFetching) * fetched * c.group;
  return module_text(backend, c.plan, "scatter, with crowded places", fill_holes(kCrowded, holes),
                        {{compute_type_name(type), "values", values}}, combine);
}

std::string combining_text(GpuBackend& backend, const ScatterRequest& r, const Combining& c) {
  Io io(c.plan, backend.dialect());
  const detail::ComputeType type = detail::compute_type_of(r.source.dtype);
  const std::string combine = combining_function(backend.dialect(), r.combine, type);
  Holes holes = combining_holes(backend, c, io,
                                {"low", "low_middle", "over_middle", "entry", "before", "entry0", "entry1", "entry2",
                                 "entry3", "entry4", "entry5", "entry6", "entry7"});
  static_assert(kFetchedEach <= 8 && kCrowdedValues <= 8 * int{kFetching}, "as many as there are entries above");
  if (c.by_entry) {
    holes["size"] = backend.dialect().param(c.size);
    return module_text(backend, c.plan, "scatter, by entry", fill_holes(kEntries, holes), {}, combine);
  }
  holes["bound_of_low"] = "wanted", holes["bound_of_over"] = "wanted + 1u";
  holes["searched"] = c.fetched ? "low over" : "low";
  holes["type"] = compute_type_name(type);
  if (c.crowded_from > 0) return crowded_text(backend, c, std::move(holes), type, combine);
  if (!c.fetched) return module_text(backend, c.plan, "scatter, sorted", fill_holes(kSorted, holes), {}, combine);
  holes["across"] = cat(c.across), holes["rows"] = cat(static_cast<int>(kFetching) / c.across);
  holes["entries"] = numbers(0, kFetchedEach), holes["entries_each"] = cat(kFetchedEach);
  holes["added"] = numbers(0, kAddedAtOnce), holes["adding"] = cat(kAddedAtOnce);
  return module_text(backend, c.plan, "scatter, fetched", fill_holes(kFetched, holes),
                        {{compute_type_name(type), "values", static_cast<int>(kFetching) * kFetchedEach}}, combine);
}

/// False, having done nothing, where there is no such kernel in vectors.
bool combine(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const OrderedEntries& ordered,
             Layouts layouts) {
  Combining c = plan_combining(backend, r, lines, ordered, layouts);
  const auto print = [&] { return combining_text(backend, r, c); };
  if (layouts == Layouts::vectors && !(c.kept.sizes.size() == 1 && c.summed.sizes.size() == 1 && c.plan.in_vectors() &&
                                       backend.has_kernel(layouts, c.plan.launch, print)))
    return false;
  for (std::int64_t begin = 0; begin < lines.length; begin += kMostAtOnce) {
    c.plan.set(c.begin, static_cast<std::uint64_t>(begin));
    const bool last = begin + kMostAtOnce >= lines.length;
    c.plan.set(c.end, static_cast<std::uint64_t>(last ? ordered.room : begin + kMostAtOnce));
    const std::int64_t before = c.crowded_from > 0 ? kCrowdedGroups * kFetching : 0;
    launch_entries(backend, c.plan, c.fetched ? c.count * c.plan.launch.threads : before + c.count, print);
  }
  return true;
}

}  // namespace

void run_scatter_sorted(GpuBackend& backend, const ScatterRequest& request) {
  const EntryLines lines(request);
  const OrderedEntries ordered = order_entries(backend, request, lines);
  run_in_layouts(backend.limits(),
                 [&](Layouts layouts) { return combine(backend, request, lines, ordered, layouts); });
}

}  // namespace tern::detail_gpu
