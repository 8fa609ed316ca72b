// Sort along one axis.
#include <algorithm>
#include <bit>

#include "primitives/sort/gpu_job.hpp"

namespace tern::detail_gpu {

using detail::ComputeType;
using detail::SortRequest;

namespace {

constexpr const char* kBlockText =
#include "primitives/sort/sort_block.wgsl.inc"
    ;
constexpr const char* kExchange =
#include "primitives/sort/sort_exchange.wgsl.inc"
    ;
constexpr const char* kRead =
#include "primitives/sort/sort_read.wgsl.inc"
    ;
constexpr const char* kWrite =
#include "primitives/sort/sort_write.wgsl.inc"
    ;
constexpr const char* kWriteWords =
#include "primitives/sort/sort_write_words.wgsl.inc"
    ;

// Lines of up to a block are sorted by a bitonic network in a workgroup's memory (sort_block.wgsl). Longer lines are
// sorted by digits, and of lines of which only the first are wanted these are selected first (radix.hpp).
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
std::int64_t padded_length(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 2))));
}


// ---- text: what the holes of the files have ----

/// A view whose elements are taken as they lie: halves as integers, so that the bits of NaN stay too.
View as_it_lies(View view) {
  if (is_floating(view.dtype) && dtype_size(view.dtype) == 2) view.dtype = DType::i16;
  return view;
}

/// From `input`, access 0, as it lies.
std::string read_text(const SortJob& job, const LinePlan& l, const View& input) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line, bits;
  Holes holes = sort_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  load_bits(holes, l, io, l.group_at(line, "at"), input.dtype);
  for (int e = 0; e < l.group; ++e) bits.push_back(holes[cat("bits_", e)]);
  holes["store"] = io.store(1, l.group_at(line, "at"), bits, "");
  return l.module("sort, reading", fill_holes(kRead, holes), {});
}

/// Parameters of a kernel on places: from line to line, and of all lines; and their access.
struct PlaceSlots {
  int places, padded, all;
};

/// What both kernels that sort blocks have, but for how an element is loaded.
std::string block_text(const SortJob& job, const LinePlan& l, const PlaceSlots& s, Holes& holes,
                       const std::string& functions = "") {
  constexpr int size = kSortBlock;
  holes["block"] = cat(size), holes["padded"] = l.p(s.padded), holes["all"] = l.p(s.all);
  holes["sorted_places"] = words_of(l.plan.access(s.places));
  holes["two"] = numbers(0, 2), holes["four"] = numbers(0, 4);
  static const auto& exchange = *new Holes(pieces(kExchange));  // outlives what is in static storage
  holes.insert(exchange.begin(), exchange.end());
  return l.module("sort, blocks", fill_holes(kBlockText, holes),
                  {{word_of(job.dtype), "keys", size}, {"u32", "places", size}}, functions);
}

std::string block_of_input_text(const SortJob& job, const LinePlan& l, const PlaceSlots& s) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line, names;
  Holes holes = sort_holes(l, job.dtype);
  std::string& load = holes["load"] = io.coordinates(l.lines, "line", "c", line);
  load += io.load(0, l.group_at(line, "at"), names);
  for (int e = 0; e < l.group; ++e) {
    load += cat("key", e, " = ", key_of(job.dtype, names[static_cast<std::size_t>(e)], job.r.descending), ";\n");
    holes[cat("place_", e)] = cat("at + ", e, "u");
  }
  return block_text(job, l, s, holes);
}

struct WordSlots {
  int length, flip, bits, from;
};
std::string block_of_words_text(const SortJob& job, const LinePlan& l, const PlaceSlots& s,
                                const WordSlots& w) {
  Holes holes = sort_holes(l, job.dtype);
  holes["length"] = l.p(w.length), holes["flip"] = l.p(w.flip), holes["place_0"] = "0xffffffffu";
  holes["bits"] = words_of(l.plan.access(w.bits)), holes["from"] = words_of(l.plan.access(w.from));
  holes["load"] = "let source = line * $length + at;\nkey0 = key_of($bits[source], $flip);\nplace0 = $from[source];\n";
  return block_text(job, l, s, holes, key_function(job.dialect(), job.dtype));
}

/// Elements are taken from the input, access 0, by places, which are words.
std::string write_text(const SortJob& job, const LinePlan& l, int places, const std::string& pitch) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line;
  SortResults results;
  Holes holes = sort_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  holes["pitch"] = pitch, holes["sorted_places"] = words_of(l.plan.access(places));
  holes["valued_elements"] = job.to_values() ? numbers(0, l.group) : std::string();
  for (int e = 0; e < l.group; ++e) {
    const std::string value = cat("x", e), from = cat("from", e);
    if (job.to_values())
      holes[cat("fetch_", e)] = cat("let ", from, " = ", l.taken(io, 0, line, cat("place", e)), ";\nlet ", value, " = ",
                                    io.loaded(l.plan.access(0), from), ";\n");
    results.values.push_back(value), results.places.push_back(cat("bitcast<i32>(place", e, ")"));
  }
  store_results(holes, job, io, l.group_at(line, "at"), 1, results);
  return l.module("sort, results", fill_holes(kWrite, holes), {});
}

/// Values, as they lie, from lines of the sorted bits, access 0, and with `with_places` these from access 1.
std::string write_words_text(const SortJob& job, const LinePlan& l, DType bits, bool with_places) {
  Io io(l.plan, job.dialect());
  std::vector<std::string> line;
  SortResults results;
  Holes holes = sort_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  const Position at = l.group_at(line, "at");
  const DType dtype = as_it_lies(job.r.values).dtype;
  holes["load_bits"] = io.load(0, at, results.values);
  holes["load_places"] = with_places ? io.load(1, at, results.places) : std::string();
  for (std::string& value : results.values)
    if (bits != dtype) value = unpacked(dtype, value);
  for (std::string& place : results.places) place = cat("bitcast<i32>(", place, ")");
  holes["store_values"] = io.store(with_places ? 2 : 1, at, results.values, "");
  holes["store_places"] = with_places ? io.store(3, at, results.places, "") : std::string();
  return l.module("sort, writing", fill_holes(kWriteWords, holes), {});
}

// ---- launches ----

/// The strides of lines one after the other.
Strides line_strides(const Shape& space, int axis) {
  Strides strides;
  strides.resize(space.rank(), 0);
  strides[static_cast<std::size_t>(axis)] = 1;
  std::int64_t step = space[static_cast<std::size_t>(axis)];
  for (int i = space.rank() - 1; i >= 0; --i)
    if (i != axis) strides[static_cast<std::size_t>(i)] = step, step *= space[static_cast<std::size_t>(i)];
  return strides;
}
/// The elements' bits: the input's own where its lines follow each other, else copied to a word each.
Words read_words(const SortJob& job, Radix& radix) {
  const bool narrow = job.halves || !job.backend.limits().native;
  if (in_words(job.r.input, job.r.space, job.r.axis, narrow)) return {as_it_lies(job.r.input), {}};
  Words words = radix.make_bits(job.n);
  words.bits.strides = line_strides(job.r.space, job.r.axis);
  const View input = as_it_lies(job.r.input);
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'i', job.r.space, job.r.axis, {&input, &words.bits}, 1, layouts);
    return l.launch_each(kSortThreads, [&] { return read_text(job, l, input); });
  });
  return words;
}

PlaceSlots add_places(const SortJob& job, LinePlan& l, const Radix::Places& places) {
  const auto add = [&](std::int64_t value) { return l.plan.add_param(static_cast<std::uint64_t>(value)); };
  return {l.add_words(places.view), add(places.pitch), add(job.lines * places.pitch)};
}
Radix::Places make_places(Radix& radix, std::int64_t n) {
  const std::int64_t pitch = padded_length(n);
  return {radix.make_places(pitch), pitch};
}
std::uint64_t blocks_of(const SortJob& job, const Radix::Places& places) {
  return static_cast<std::uint64_t>(ceil_div(job.lines * places.pitch, kSortBlock));
}

/// Sorts lines of up to a block: of the input, or of n words each.
Radix::Places sort_blocks(const SortJob& job, Radix& radix) {
  const Radix::Places places = make_places(radix, job.n);
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'l', job.r.space, job.r.axis, {&job.r.input}, 1, layouts);
    const PlaceSlots s = add_places(job, l, places);
    l.plan.note(job.r.descending);
    l.plan.launch.in_bounds = true;  // elements beyond the lines are neither read nor written
    return l.launch_grouped(blocks_of(job, places), kSortThreads, places.pitch,
                            [&] { return block_of_input_text(job, l, s); });
  });
  return places;
}
Radix::Places sort_blocks_of(const SortJob& job, Radix& radix, const Words& words, std::int64_t n) {
  const Radix::Places places = make_places(radix, n);
  LinePlan l(job.backend, job.r.op, 'h', job.r.space, job.r.axis, {}, 0);
  const PlaceSlots s = add_places(job, l, places);
  l.plan.note(job.dtype);
  const int length = l.plan.add_param(static_cast<std::uint64_t>(n)), flip = l.plan.add_param(job.flip());
  const int bits = l.add_words(words.bits, false), from = l.add_words(words.places, false);
  l.plan.launch.in_bounds = true;
  l.launch(blocks_of(job, places), kSortThreads,
           [&] { return block_of_words_text(job, l, s, {length, flip, bits, from}); });
  return places;
}

/// Writes the results: elements of the input in the order of the places, and these.
void write_by_place(const SortJob& job, const Radix::Places& places) {
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'o', job.results, job.r.axis, job.views({&job.r.input}), 1, layouts, job.n);
    const PlaceSlots s = add_places(job, l, places);
    l.plan.note(job.to_values()), l.plan.note(job.to_indices());
    return l.launch_each(kSortThreads, [&] { return write_text(job, l, s.places, l.p(s.padded)); });
  });
}
/// Writes the results of words in order; their places only where there are any.
void write_words(const SortJob& job, const Words& sorted) {
  const Strides strides = line_strides(job.results, job.r.axis);
  View bits = sorted.bits, places = sorted.places, values = as_it_lies(job.r.values);
  bits.strides = places.strides = strides;
  std::vector<const View*> views{&bits};
  const bool with_places = job.to_indices() && sorted.places.storage;
  if (with_places) views.push_back(&places);
  views.push_back(&values);
  if (with_places) views.push_back(&job.r.indices);
  run_in_layouts(job.backend.limits(), [&](Layouts layouts) {
    LinePlan l(job.backend, job.r.op, 'W', job.results, job.r.axis, views, with_places ? 2 : 1, layouts);
    l.plan.note(with_places);
    return l.launch_each(kSortThreads, [&] { return write_words_text(job, l, bits.dtype, with_places); });
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
  const bool in_place = n == job.wanted && !words.places.storage && job.to_indices() && lie_in_words(job.r.indices);
  const Radix::Places places{in_place ? job.r.indices : radix.make_places(n), n};
  const View bits = n == job.wanted && job.to_values() ? radix.make_bits(n).bits : View{};
  radix.sort(words, n, key_bits(job.dtype), {bits, places.view});
  if (bits.storage) return write_words(job, {bits, in_place ? View{} : places.view});
  write_by_place(job, places);
}

void sort_whole(GpuBackend& backend, const SortRequest& r) {
  if (r.rank_count == 0 && sort_booleans(backend, r)) return;
  const SortJob job(backend, r);
  if (fits_sort_tile(job)) return sort_tiles(job);
  Radix radix(backend, r.op, job.dtype, r.descending, job.lines);  // holds the temporaries
  if (r.rank_count > 0) {
    const std::span ranks = std::span(r.ranks).first(static_cast<std::size_t>(r.rank_count));
    return write_by_place(job, radix.places_at(read_words(job, radix), job.n, ranks));
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
  const std::int64_t length = n <= kSortBlock ? padded_length(n) : n;
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

bool in_words(const View& v, const Shape& space, int axis, bool narrow) {
  if (dtype_size(v.dtype) < 4 && !narrow) return false;
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
