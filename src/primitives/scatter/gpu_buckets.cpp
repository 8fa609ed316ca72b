// Entries of a short table in order by buckets: a place has room for kBucket entries, which take their slots by
// atomics, in any order, and are ranked then. Four launches where a sort by digits has eight, each of which waits for
// the one before: of 16,384 entries the sort took 67 to 95 µs through WebGPU (H200, 29 November 2026).
#include <algorithm>

#include "gpu/radix/radix.hpp"
#include "gpu/text/io.hpp"
#include "primitives/scatter/gpu.hpp"
#include "primitives/scatter/gpu_entries.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kFill =
#include "primitives/scatter/scatter_fill.wgsl.inc"
    ;
constexpr const char* kRankEntries =
#include "primitives/scatter/scatter_rank.wgsl.inc"
    ;

constexpr std::int64_t kBucket = 32;                // entries: a line of 128 bytes
constexpr std::int64_t kMostBucketed = 1 << 16;     // entries: each crowded place goes through all of them
constexpr std::int64_t kMostBucketWords = 1 << 23;  // of all places

}  // namespace

struct Buckets {
  Buckets(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines)
      : size(r.target.size),
        length(lines.length),
        most_crowded(lines.length / (kBucket + 1)),
        counts(words_of_entries(backend, size + 1)),
        slots(words_of_entries(backend, size * kBucket)),
        crowded(words_of_entries(backend, most_crowded + 1)),
        ranges(words_of_entries(backend, 2 * size + 1)) {}
  std::int64_t size, length, most_crowded;
  EntryWords counts;   // of each place's entries, and then of crowded places
  EntryWords slots;    // [size, kBucket]
  EntryWords crowded;  // places with more entries
  EntryWords ranges;   // [size, 2]: where each place's entries begin and end in the order, then those of crowded places
};

namespace {

/// Accesses of whole words of temporaries, with the bytes they touch.
int add_words(Plan& plan, const EntryWords& words, std::int64_t count, bool written, std::vector<ByteRange>& touched) {
  touched.push_back({0, 4 * count});
  return plan.add_access(words.view, {}, written);
}
std::string binding(const Plan& plan, int access) { return cat("b", plan.access(access).binding); }

void empty_counts(GpuBackend& backend, const char* op, const Buckets& b) {
  Plan plan(backend.limits(), op, '0');
  const int size = plan.add_param(static_cast<std::uint64_t>(b.size));
  std::vector<ByteRange> touched;
  const int counts = add_words(plan, b.counts, b.size + 1, true, touched),
            ranges = add_words(plan, b.ranges, 2 * b.size + 1, true, touched);
  plan.bind(touched);
  prepare_entries(backend, plan);
  launch_entries(backend, plan, b.size + 1, [&] {
    const Dialect& d = backend.dialect();
    return module_text(backend, plan, "scatter, no entries yet",
                       fill_holes("let t = group * ${threads}u + thread;\n"
                                     "if (t <= $size) { $counts[t] = 0u; }\n"
                                     "if (t == $size) { $ranges[2u * $size] = 0u; }\n",
                                     {{"threads", cat(plan.launch.threads)},
                                      {"size", d.param(size)},
                                      {"counts", binding(plan, counts)},
                                      {"ranges", binding(plan, ranges)}}));
  });
}

/// The entries of each place in their order, by how many in its bucket are before them; and where they stand.
void rank_entries(GpuBackend& backend, const char* op, const Buckets& b, const OrderedEntries& ordered) {
  Plan plan(backend.limits(), op, 'R');
  const std::int64_t few_groups = ceil_div(std::max(b.size, b.length), kEntryThreads);
  const auto number = [&](std::int64_t value) { return plan.add_param(static_cast<std::uint64_t>(value)); };
  const int size = number(b.size), length = number(b.length), few = number(few_groups);
  std::vector<ByteRange> touched;
  const int counts = add_words(plan, b.counts, b.size + 1, false, touched),
            slots = add_words(plan, b.slots, b.size * kBucket, false, touched),
            crowded = add_words(plan, b.crowded, b.most_crowded + 1, false, touched),
            entries = add_words(plan, ordered.keys, b.length, false, touched),
            ranges = add_words(plan, b.ranges, 2 * b.size + 1, true, touched),
            order = add_words(plan, ordered.places, ordered.room, true, touched);
  plan.make_atomic(ranges);
  plan.bind(touched);
  prepare_entries(backend, plan);
  plan.launch.in_bounds = true;  // entries name places (scatter_read.wgsl), and slots hold entries
  launch_entries(backend, plan, (few_groups + b.most_crowded) * kEntryThreads, [&] {
    const Dialect& d = backend.dialect();
    const Holes holes{{"threads", cat(plan.launch.threads)},
                      {"bucket", cat(kBucket)},
                      {"size", d.param(size)},
                      {"length", d.param(length)},
                      {"few", d.param(few)},
                      {"barrier", d.barrier()},
                      {"scan", sums_up_to(d, static_cast<int>(kEntryThreads))},
                      {"counts", binding(plan, counts)},
                      {"slots", binding(plan, slots)},
                      {"crowded", binding(plan, crowded)},
                      {"entries", binding(plan, entries)},
                      {"ranges", binding(plan, ranges)},
                      {"order", binding(plan, order)}};
    return module_text(backend, plan, "scatter, ranks in buckets", fill_holes(kRankEntries, holes),
                       {{"u32", "sums", static_cast<int>(kEntryThreads)}, {"u32", "behind", 1}});
  });
}

}  // namespace

bool fits_buckets(const Limits& limits, const ScatterRequest& r, const EntryLines& lines) {
  const std::int64_t words = r.target.size * kBucket + lines.length;
  return has_ranges(limits, r, lines) && limits.threads >= kEntryThreads && lines.length <= kMostBucketed &&
         words <= kMostBucketWords && static_cast<std::uint64_t>(4 * words) <= limits.binding_bytes;
}

int add_buckets(Plan& plan, const Buckets& b, std::vector<ByteRange>& touched) {
  const int first = add_words(plan, b.counts, b.size + 1, true, touched);
  plan.make_atomic(first);
  add_words(plan, b.slots, b.size * kBucket, true, touched);
  add_words(plan, b.crowded, b.most_crowded + 1, true, touched);
  return first;
}

void name_filling(Holes& holes, const Plan& plan, int first_bucket) {
  holes["fill"] = "";
  if (first_bucket < 0) return;
  holes["fill"] = kFill, holes["bucket"] = cat(kBucket);
  holes["counts"] = binding(plan, first_bucket), holes["slots"] = binding(plan, first_bucket + 1),
  holes["crowded"] = binding(plan, first_bucket + 2);
}

OrderedEntries order_in_buckets(GpuBackend& backend, const ScatterRequest& r, const EntryLines& lines) {
  const Buckets buckets(backend, r, lines);
  const std::int64_t room = buckets.size * kBucket + buckets.length;  // crowded places' entries stand behind all others
  OrderedEntries ordered{.keys = words_of_entries(backend, buckets.length),
                         .places = words_of_entries(backend, room),
                         .room = room};
  ordered.keys.view.strides = ordered.places.view.strides = lines.view.strides;
  empty_counts(backend, r.op, buckets);
  read_table(backend, r, lines, ordered.keys.view, &buckets);
  rank_entries(backend, r.op, buckets, ordered);
  ordered.begins = buckets.ranges, ordered.begins.view.strides = {2};
  ordered.ends = ordered.begins.view, ordered.ends.offset = 1;
  ordered.range_words = 2 * buckets.size;
  ordered.crowded_from = kBucket + 1;
  ordered.crowded = buckets.crowded, ordered.most_crowded = buckets.most_crowded;
  ordered.counts = buckets.counts.storage;
  ordered.crowded_count = {ordered.counts.get(), DType::i32, buckets.size, {}};
  return ordered;
}

}  // namespace tern::detail_gpu
