// Sort along one axis.
#include <algorithm>
#include <bit>

#include "gpu/plan/lines.hpp"
#include "gpu/radix/radix.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/sort/gpu.hpp"

namespace tern::detail_gpu {

using detail::ComputeType;
using detail::SortRequest;

namespace {

constexpr const char* kBlockText =
#include "primitives/sort/sort_block.wgsl.inc"
    ;
constexpr const char* kPlace =
#include "primitives/sort/sort_place.wgsl.inc"
    ;
constexpr const char* kRead =
#include "primitives/sort/sort_read.wgsl.inc"
    ;
constexpr const char* kWrite =
#include "primitives/sort/sort_write.wgsl.inc"
    ;
constexpr const char* kTileInSubgroups =
#include "primitives/sort/sort_tile.wgsl.inc"
    ;
constexpr const char* kSortTile =
#include "primitives/sort/sort_tile.cu.inc"
    ;

// Lines of up to a block are sorted by a bitonic network in a workgroup's memory (sort_block.wgsl). Longer lines are
// sorted by digits, and of lines of which only the first are wanted these are selected first (radix.hpp).
constexpr std::uint32_t kSortThreads = 256, kSortBlock = 1024;  // elements a workgroup sorts in its own memory
constexpr std::int64_t kShortBlock = 64;                        // the same of short lines, in kernels made beforehand
constexpr std::int64_t kLeastTile = 512;  // longer lines a workgroup sorts by digits, where it has the memory
constexpr std::int64_t kTimesSelected = 4;  // a line has more elements than wanted: selecting pays

std::string key_of(DType dtype, const std::string& x, bool descending) {
  std::string key;
  switch (detail::compute_type_of(dtype)) {
    case ComputeType::f32: key = cat("tern_sort_key(", x, ")"); break;
    case ComputeType::f64: key = cat("tern_sort_key_f64(", x, ")"); break;
    case ComputeType::i64: key = cat("(bitcast<u64>(", x, ") ^ 0x8000000000000000ull)"); break;
    case ComputeType::u32: key = x; break;
    default: key = cat("(bitcast<u32>(", x, ") ^ 0x80000000u)");
  }
  return descending ? cat("~", key) : key;
}

/// Of a line of up to a block.
std::int64_t padded_length(const GpuBackend& backend, std::int64_t n) {
  const auto padded =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 2))));
  if (!backend.limits().archived) return padded;
  return std::max(padded, n <= kShortBlock ? kShortBlock : std::int64_t{kSortBlock});
}

/// A request, and what every stage asks of it.
struct SortJob {
  SortJob(GpuBackend& backend, const SortRequest& request)
      : backend(backend), r(request), results(r.results()), n(r.space[static_cast<std::size_t>(r.axis)]),
        wanted(results[static_cast<std::size_t>(r.axis)]), lines(r.space.numel() / n), dtype(r.input.dtype),
        halves(Radix::sorts_halves(backend, dtype)) {}
  const Dialect& dialect() const { return backend.dialect(); }
  std::uint32_t flip() const { return r.descending ? ~0u : 0u; }
  bool to_values() const { return r.values.storage != nullptr; }
  bool to_indices() const { return r.indices.storage != nullptr; }
  /// The results that are asked for, after `first`.
  std::vector<const View*> views(std::vector<const View*> first) const {
    if (to_values()) first.push_back(&r.values);
    if (to_indices()) first.push_back(&r.indices);
    return first;
  }

  GpuBackend& backend;
  const SortRequest& r;
  Shape results;
  std::int64_t n, wanted, lines;  // length of a line, of its results, and how many
  DType dtype;
  bool halves;
};

/// The places of sorted elements; of lines sorted in blocks, their length.
struct SortPlaces : Radix::Places {
  std::uint32_t block = 0;
};

// ---- text: what the holes of the files have ----

Holes shared_holes(const LinePlan& l, DType dtype) {
  return {{"threads", cat(kSortThreads)},   {"each", cat(l.group)},
          {"elements", numbers(0, l.group)}, {"length", l.p(l.length_slot)},
          {"lines", l.p(l.lines_slot)},      {"barrier", l.backend.dialect().barrier()},
          {"word", word_of(dtype)},          {"place", kPlace}};
}

/// Loads the group of the input, and names the bits of each element.
void load_bits(Holes& holes, const LinePlan& l, Io& io, const Position& at, DType dtype) {
  std::vector<std::string> names;
  holes["load"] = io.load(0, at, names);
  for (int e = 0; e < l.group; ++e) holes[cat("bits_", e)] = packed(dtype, names[static_cast<std::size_t>(e)]);
}

/// Stores the group's results from expressions, of accesses from `access` on.
struct Results {
  std::vector<std::string> values, places;
};
void store_results(Holes& holes, const SortJob& job, Io& io, const Position& at, int access, const Results& results) {
  holes["store_values"] = job.to_values() ? io.store(access++, at, results.values, "") : std::string();
  holes["store_places"] = job.to_indices() ? io.store(access, at, results.places, "") : std::string();
}

std::string read_text(const SortJob& job, const LinePlan& l, int words) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line;
  Holes holes = shared_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  load_bits(holes, l, io, l.group_at(line, "at"), job.dtype);
  holes["words"] = words_of(l.plan.access(words));
  return l.module("sort, reading", fill_holes(kRead, holes), {});
}

/// A line in a workgroup's memory: CUDA's kernel, and WebGPU's in subgroups, which has places after values there.
std::string tile_text(const SortJob& job, const LinePlan& l, int tile, int flip) {
  const bool in_warps = job.dialect().native();
  Io io(l.plan, job.dialect());
  std::vector<std::string> line;
  Results results;
  Holes holes = shared_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "group", "c", line);
  load_bits(holes, l, io, l.group_at(line, "i"), job.dtype);
  for (int e = 0; e < l.group; ++e) {
    results.values.push_back(unpacked(job.dtype, cat(in_warps ? "staged" : "words", "[i + ", e, "u]")));
    results.places.push_back(cat("i32(", in_warps ? "places" : "words", "[i + ", e, "u])"));
  }
  store_results(holes, job, io, l.group_at(line, "i"), 1, results);
  holes["key_bits"] = cat(key_bits(job.dtype)), holes["tile_each"] = cat(tile / 256), holes["flip"] = l.p(flip);
  const std::string key = key_function(job.dialect(), job.dtype);
  if (in_warps)
    return l.module(
        "sort, tiles", fill_holes(kSortTile, holes),
        {{word_of(job.dtype), "staged", tile}, {"u16", "places", tile}, {"u32", "counts", 2048}, {"u32", "sums", 256}},
        ranking_functions() + key);
  holes.merge(ranking_in_subgroups(job.dialect(), tile));
  holes["shift"] = "shift", holes["beside"] = "0u";
  return l.module("sort, tiles in subgroups", fill_holes(kTileInSubgroups, holes), ranking_memory(tile), key, true);
}

/// Parameters of a kernel on places: from line to line, and of all lines; and their access.
struct PlaceSlots {
  int places, padded, all;
};

/// What both kernels that sort blocks have, but for how an element is loaded.
std::string block_text(const SortJob& job, const LinePlan& l, const PlaceSlots& s, std::uint32_t block, Holes& holes,
                       const std::string& functions = "") {
  const int size = static_cast<int>(block);
  holes["block"] = cat(block), holes["padded"] = l.p(s.padded), holes["all"] = l.p(s.all);
  holes["sorted_places"] = words_of(l.plan.access(s.places));
  holes["levels"] = powers_of_two(2 * size).substr(2);  // from 2 on
  for (int level = 2; level <= size; level *= 2) holes[cat("distances_", level)] = powers_of_two(level, true);
  return l.module("sort, blocks", fill_holes(kBlockText, holes),
                  {{word_of(job.dtype), "keys", size}, {"u32", "places", size}}, functions);
}

std::string block_of_input_text(const SortJob& job, const LinePlan& l, const PlaceSlots& s, std::uint32_t block) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line, names;
  Holes holes = shared_holes(l, job.dtype);
  std::string& load = holes["load"] = io.coordinates(l.lines, "line", "c", line);
  load += io.load(0, l.group_at(line, "at"), names);
  for (int e = 0; e < l.group; ++e) {
    load += cat("key", e, " = ", key_of(job.dtype, names[static_cast<std::size_t>(e)], job.r.descending), ";\n");
    holes[cat("place_", e)] = cat("at + ", e, "u");
  }
  return block_text(job, l, s, block, holes);
}

struct WordSlots {
  int length, flip, bits, from;
};
std::string block_of_words_text(const SortJob& job, const LinePlan& l, const PlaceSlots& s, std::uint32_t block,
                                const WordSlots& w) {
  Holes holes = shared_holes(l, job.dtype);
  holes["length"] = l.p(w.length), holes["flip"] = l.p(w.flip), holes["place_0"] = "0xffffffffu";
  holes["bits"] = words_of(l.plan.access(w.bits)), holes["from"] = words_of(l.plan.access(w.from));
  holes["load"] = "let source = line * $length + at;\nkey0 = key_of($bits[source], $flip);\nplace0 = $from[source];\n";
  return block_text(job, l, s, block, holes, key_function(job.dialect(), job.dtype));
}

/// `bits`: the access of sorted words; -1 where elements are taken from the input, access 0, by place.
std::string write_text(const SortJob& job, const LinePlan& l, int places, const std::string& pitch, int bits) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line;
  Results results;
  Holes holes = shared_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  holes["pitch"] = pitch, holes["sorted_places"] = words_of(l.plan.access(places));
  holes["valued_elements"] = job.to_values() ? numbers(0, l.group) : std::string();
  for (int e = 0; e < l.group; ++e) {
    const std::string value = cat("x", e), word = cat("bits", e), from = cat("from", e);
    if (job.to_values())
      holes[cat("fetch_", e)] =
          bits >= 0 ? cat("let ", word, " = ", words_of(l.plan.access(bits)), "[sorted + ", e, "u];\nlet ", value,
                          " = ", unpacked(job.dtype, word), ";\n")
                    : cat("let ", from, " = ", l.taken(io, 0, line, cat("place", e)), ";\nlet ", value, " = ",
                          io.loaded(l.plan.access(0), from), ";\n");
    results.values.push_back(value), results.places.push_back(cat("bitcast<i32>(place", e, ")"));
  }
  store_results(holes, job, io, l.group_at(line, "at"), bits >= 0 ? 0 : 1, results);
  return l.module(bits >= 0 ? "sort, writing" : "sort, results", fill_holes(kWrite, holes), {});
}

// ---- launches ----

/// The elements' bits, a word each: the input's own where it consists of such.
Words read_words(const SortJob& job, Radix& radix) {
  if (in_words(job.r.input, job.r.space, job.r.axis, job.halves)) return {job.r.input, {}};
  Words words = radix.make_bits(job.n);
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'i', job.r.space, job.r.axis, {&job.r.input}, 1, layouts);
    const int bits = l.add_words(words.bits);
    return l.launch_each(kSortThreads, [&] { return read_text(job, l, bits); });
  });
  return words;
}

bool sorts_whole_line(const SortJob& job) {
  return job.wanted == job.n && job.r.rank_count == 0 && job.n <= Radix::tile(job.dtype);
}
/// Whether a workgroup sorts a whole line by digits, in its memory.
bool fits_tile(const SortJob& job) {
  const Limits& limits = job.backend.limits();
  if (!limits.native) return ranks_in_subgroups(limits) && sorts_whole_line(job) && job.n > kSortBlock;
  return !limits.archived && sorts_whole_line(job) && job.n > kLeastTile;
}
void sort_tiles(const SortJob& job) {
  LinePlan l(job.backend, job.r.op, 't', job.r.space, job.r.axis, job.views({&job.r.input}), 1, Layouts::own);
  l.plan.note(job.to_values()), l.plan.note(job.to_indices());
  const auto tile = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(job.n)));
  l.plan.note(tile);
  const int flip = l.plan.add_param(job.flip());
  l.launch_grouped(static_cast<std::uint64_t>(job.lines), kSortThreads, job.n,
                   [&] { return tile_text(job, l, tile, flip); });
}

PlaceSlots add_places(const SortJob& job, LinePlan& l, const SortPlaces& places) {
  const auto add = [&](std::int64_t value) { return l.plan.add_param(static_cast<std::uint64_t>(value)); };
  l.plan.note(places.block);
  return {l.add_words(places.view), add(places.pitch), add(job.lines * places.pitch)};
}
SortPlaces make_places(const SortJob& job, Radix& radix, std::int64_t n) {
  const std::int64_t pitch = padded_length(job.backend, n);
  return {radix.make_places(pitch), pitch, static_cast<std::uint32_t>(std::min<std::int64_t>(pitch, kSortBlock))};
}
std::uint64_t blocks_of(const SortJob& job, const SortPlaces& places) {
  return static_cast<std::uint64_t>(job.lines * places.pitch / places.block);
}

/// Sorts lines of up to a block: of the input, or of n words each.
SortPlaces sort_blocks(const SortJob& job, Radix& radix) {
  const SortPlaces places = make_places(job, radix, job.n);
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'l', job.r.space, job.r.axis, {&job.r.input}, 1, layouts);
    const PlaceSlots s = add_places(job, l, places);
    l.plan.note(job.r.descending);
    return l.launch_grouped(blocks_of(job, places), kSortThreads, places.pitch,
                            [&] { return block_of_input_text(job, l, s, places.block); });
  });
  return places;
}
SortPlaces sort_blocks_of(const SortJob& job, Radix& radix, const Words& words, std::int64_t n) {
  const SortPlaces places = make_places(job, radix, n);
  LinePlan l(job.backend, job.r.op, 'h', job.r.space, job.r.axis, {}, 0);
  const PlaceSlots s = add_places(job, l, places);
  l.plan.note(job.dtype);
  const int length = l.plan.add_param(static_cast<std::uint64_t>(n)), flip = l.plan.add_param(job.flip());
  const int bits = l.add_words(words.bits, false), from = l.add_words(words.places, false);
  l.launch(blocks_of(job, places), kSortThreads,
           [&] { return block_of_words_text(job, l, s, places.block, {length, flip, bits, from}); });
  return places;
}

/// Writes the results: elements of the input in the order of the places, and these.
void write_by_place(const SortJob& job, const SortPlaces& places) {
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'o', job.results, job.r.axis, job.views({&job.r.input}), 1, layouts, job.n);
    const PlaceSlots s = add_places(job, l, places);
    l.plan.note(job.to_values()), l.plan.note(job.to_indices());
    return l.launch_each(kSortThreads, [&] { return write_text(job, l, s.places, l.p(s.padded), -1); });
  });
}
/// Writes the results of words in order.
void write_words(const SortJob& job, const View& bits, const SortPlaces& places) {
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'W', job.results, job.r.axis, job.views({}), 0, layouts);
    const int from = l.add_words(bits, false), order = l.add_words(places.view, false);
    l.plan.note(job.to_indices());
    return l.launch_each(kSortThreads, [&] { return write_text(job, l, order, l.p(l.length_slot), from); });
  });
}

/// Sorts lines of more than a block, selecting first where few are wanted.
void sort_by_digits(const SortJob& job, Radix& radix) {
  Words words = read_words(job, radix);
  std::int64_t n = job.n;
  if (job.wanted <= Radix::kMostSelected && job.n >= kTimesSelected * job.wanted)
    words = radix.select(words, n, job.wanted);
  if (n <= kSortBlock) return write_by_place(job, sort_blocks_of(job, radix, words, n));
  const auto lie_in_words = [&](const View& v) {
    return !v.storage || in_words(v, job.results, job.r.axis, job.halves);
  };
  if (n == job.wanted && !words.places.storage && lie_in_words(job.r.values) && lie_in_words(job.r.indices))
    return radix.sort(words, n, key_bits(job.dtype), {job.r.values, job.r.indices});
  const SortPlaces places{radix.make_places(n), n, 0};
  const View bits = n == job.wanted && job.to_values() ? radix.make_bits(n).bits : View{};
  radix.sort(words, n, key_bits(job.dtype), {bits, places.view});
  if (bits.storage) return write_words(job, bits, places);
  write_by_place(job, places);
}

void sort_whole(GpuBackend& backend, const SortRequest& r) {
  if (r.rank_count == 0 && sort_booleans(backend, r)) return;
  const SortJob job(backend, r);
  if (fits_tile(job)) return sort_tiles(job);
  Radix radix(backend, r.op, job.dtype, r.descending, job.lines);  // holds the temporaries
  if (r.rank_count > 0) {
    const std::span ranks = std::span(r.ranks).first(static_cast<std::size_t>(r.rank_count));
    return write_by_place(job, {radix.places_at(read_words(job, radix), job.n, ranks), 0});
  }
  if (job.n <= kSortBlock) write_by_place(job, sort_blocks(job, radix));
  else sort_by_digits(job, radix);
}

void run_sort(GpuBackend& backend, const SortRequest& r) {
  bool fits = true, results_fit = true;
  int axis = axis_to_halve(backend, r.space, r.axis, {&r.input}, fits);
  const int other = axis_to_halve(backend, r.results(), r.axis, {&r.values, &r.indices}, results_fit);
  if (axis < 0) axis = other;
  fits &= results_fit;
  const std::int64_t n = r.space[static_cast<std::size_t>(r.axis)], lines = r.space.numel() / n;
  const std::int64_t length = n <= kSortBlock ? padded_length(backend, n) : n;
  const std::uint64_t room = static_cast<std::uint64_t>(lines) * static_cast<std::uint64_t>(length) *
                             std::max<std::uint64_t>(4, dtype_size(r.input.dtype));
  if (fits && room > backend.limits().binding_bytes) {
    fits = false;
    for (int i = 0; i < r.space.rank(); ++i)
      if (i != r.axis && (axis < 0 || r.space[static_cast<std::size_t>(i)] > r.space[static_cast<std::size_t>(axis)]))
        axis = i;
    if (axis >= 0 && r.space[static_cast<std::size_t>(axis)] < 2) axis = -1;
  }
  if (fits) return sort_whole(backend, r);
  if (axis < 0) too_long(backend, r.op);
  const auto a = static_cast<std::size_t>(axis);
  SortRequest first = r, second = r;
  first.space[a] = r.space[a] / 2, second.space[a] -= first.space[a];
  for (View* v : {&second.input, &second.values, &second.indices})
    if (v->storage) v->offset += first.space[a] * v->strides[a];
  run_sort(backend, first);
  run_sort(backend, second);
}

}  // namespace

bool in_words(const View& v, const Shape& space, int axis, bool halves) {
  if (dtype_size(v.dtype) < 4 && !halves) return false;
  std::int64_t step = space[static_cast<std::size_t>(axis)];
  if (step != 1 && v.strides[static_cast<std::size_t>(axis)] != 1) return false;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const auto a = static_cast<std::size_t>(i);
    if (i == axis || space[a] == 1) continue;
    if (v.strides[a] != step) return false;
    step *= space[a];
  }
  return true;
}

void sort_on_gpu(GpuBackend& backend, const SortRequest& r) {
  backend.require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) run_sort(backend, r);
}

}  // namespace tern::detail_gpu
