// Entries in the order of their places: by a stable sort of the table, or where that is short by buckets
// (gpu_buckets.cpp).
#include "primitives/scatter/gpu_entries.hpp"

#include <algorithm>
#include <bit>

#include "gpu/radix/radix.hpp"
#include "gpu/text/io.hpp"
#include "primitives/scatter/gpu.hpp"
#include "primitives/sort/kernels.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kReadKeys =
#include "primitives/scatter/scatter_read.wgsl.inc"
    ;
constexpr const char* kBisectForStarts =
#include "primitives/scatter/scatter_bisect.wgsl.inc"
    ;
constexpr const char* kScatterStarts =
#include "primitives/scatter/scatter_starts.wgsl.inc"
    ;

constexpr std::int64_t kSortedAtOnce = 4096;  // a workgroup sorts these at once, whatever the keys

/// Laid out as the entries of all lines.
EntryWords make_entries(GpuBackend& backend, const EntryLines& lines) {
  EntryWords entries = words_of_entries(backend, lines.count);
  entries.view.strides = lines.view.strides;
  return entries;
}

/// The keys in order, and the places they came from.
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

/// Where the entries of each place begin, and after the last where they end.
EntryWords find_starts(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& keys) {
  EntryWords starts = words_of_entries(backend, r.target.size + 1);
  Plan plan(backend.limits(), r.op, 'z');
  const int size = plan.add_param(static_cast<std::uint64_t>(r.target.size)),
            length = plan.add_param(static_cast<std::uint64_t>(lines.length));
  const View words{keys.storage, DType::i32, 0, {}};
  const int sorted = plan.add_access(words, {}, false), found = plan.add_access(starts.view, {}, true);
  plan.bind({{0, 4 * lines.count}, {0, 4 * (r.target.size + 1)}});
  prepare_entries(backend, plan);
  launch_entries(backend, plan, r.target.size + 1, [&] {
    const Dialect& d = backend.dialect();
    Holes holes{{"threads", cat(plan.launch.threads)}, {"size", d.param(size)},  {"length", d.param(length)},
                {"bisect", kBisectForStarts},          {"searched", "low"},      {"bound_of_low", "wanted"}};
    holes["key_of_low_middle"] = cat("b", plan.access(sorted).binding, "[low_middle]");
    holes["starts"] = cat("b", plan.access(found).binding);
    return module_text(backend, plan, "scatter, starts", fill_holes(kScatterStarts, holes));
  });
  starts.view.strides = {1};
  return starts;
}

}  // namespace

EntryLines::EntryLines(const ScatterRequest& r) {
  view.dtype = DType::i32, view.strides.resize(r.space.rank(), 0);
  const auto lay = [&](bool summed_axes, std::int64_t step) {
    for (int i = r.space.rank() - 1; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(i);
      if ((r.output.strides[axis] == 0) != summed_axes || (!summed_axes && r.target.table.strides[axis] == 0)) continue;
      (summed_axes ? summed : lines) |= 1u << i;
      view.strides[axis] = step;
      step *= r.space[axis];
    }
    return step;
  };
  length = lay(true, 1), count = lay(false, length);
}

EntryWords words_of_entries(GpuBackend& backend, std::int64_t count) {
  EntryWords words{backend.temporary(count, DType::i32), {}};
  words.view = {words.storage.get(), DType::i32, 0, {}};
  return words;
}

void prepare_entries(GpuBackend& backend, Plan& plan) {
  plan.launch.threads = std::min<std::uint32_t>(kEntryThreads, backend.limits().threads);
  plan.note(plan.launch.threads);
  plan.finish_key();
}
void launch_entries(GpuBackend& backend, Plan& plan, std::int64_t invocations,
                    const std::function<std::string()>& text) {
  plan.launch.groups = static_cast<std::uint64_t>(ceil_div(invocations, plan.launch.threads));
  backend.queue(plan.launch, text);
}

void read_table(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines, const View& entries,
                const Buckets* buckets) {
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
  std::vector<ByteRange> touched{bytes_touched(entries, sizes), bytes_touched(r.target.table, sizes), {0, 8}};
  plan.note(buckets != nullptr);
  const int first_bucket = buckets ? add_buckets(plan, *buckets, touched) : -1;
  plan.bind(touched);
  prepare_entries(backend, plan);
  launch_entries(backend, plan, lines.count, [&] {
    const Dialect& d = backend.dialect();
    Io io(plan, d);
    Position at;
    Holes holes{{"threads", cat(plan.launch.threads)}, {"count", d.param(count)}, {"size", d.param(size)}};
    holes["coordinates"] = io.coordinates(axes, "t", "c", at.coordinates);
    name_index(holes, plan, io, d, 1, 2, at);
    holes["store"] = io.stored(plan.access(0), io.element(plan.access(0), at, 0), "bitcast<i32>(place)");
    name_filling(holes, plan, first_bucket);
    const char* const title = buckets ? "scatter, reading the table into buckets" : "scatter, reading the table";
    return module_text(backend, plan, title, fill_holes(kReadKeys, holes));
  });
}

OrderedEntries order_entries(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines) {
  if (fits_buckets(backend.limits(), r, lines)) return order_in_buckets(backend, r, lines);
  const EntryWords entries = make_entries(backend, lines);
  OrderedEntries ordered{
      .keys = make_entries(backend, lines), .places = make_entries(backend, lines), .room = lines.length};
  read_table(backend, r, lines, entries.view, nullptr);
  sort_entries(backend, r, lines, entries.view, ordered.keys.view, ordered.places.view);
  if (has_ranges(backend.limits(), r, lines)) {
    ordered.begins = find_starts(backend, r, lines, ordered.keys.view);
    ordered.ends = ordered.begins.view, ordered.ends.offset = 1;
    ordered.range_words = r.target.size + 1;
  }
  return ordered;
}

}  // namespace tern::detail_gpu
