// Sort along one axis.
#include <algorithm>
#include <bit>

#include "gpu/plan/lines.hpp"
#include "gpu/radix/radix.hpp"
#include "primitives/sort/kernels.hpp"

namespace tern::detail_gpu {

using detail::Lane;
using detail::SortRequest;

namespace {

// Lines of up to a block: bitonic in a workgroup's memory over (key, place); the place breaks ties, which makes it
// stable. Keys are unsigned, in the order of the values, NaN last (first, descending); lines are padded to a power of
// two with the largest key. Batcher (1968). Longer lines are sorted by digits, and of lines of which only the first are
// wanted these are selected first (radix.hpp).
constexpr std::uint32_t kSortThreads = 256, kSortBlock = 1024;  // elements a workgroup sorts in its own memory
constexpr std::int64_t kShortBlock = 64;                        // the same of short lines, in kernels made beforehand
constexpr std::int64_t kLeastTile = 512;  // longer lines a workgroup sorts by digits, where it has the memory
constexpr std::int64_t kTimesSelected = 4;  // a line has more elements than wanted: selecting pays

std::string key_of(DType dtype, const std::string& x, bool descending) {
  std::string key;
  switch (detail::lane_of(dtype)) {
    case Lane::f32: key = cat("tern_sort_key(", x, ")"); break;
    case Lane::f64: key = cat("tern_sort_key_f64(", x, ")"); break;
    case Lane::i64: key = cat("(bitcast<u64>(", x, ") ^ 0x8000000000000000ull)"); break;
    case Lane::u32: key = x; break;
    default: key = cat("(bitcast<u32>(", x, ") ^ 0x80000000u)");
  }
  return descending ? cat("~", key) : key;
}

/// The compare-and-exchange of a pair in workgroup memory: `up` says in which order.
const char* kExchange =
    "let later = keys[low] > keys[high] || (keys[low] == keys[high] && places[low] > places[high]);\n"
    "if (later == up) {\n  let key = keys[low];\n  keys[low] = keys[high];\n  keys[high] = key;\n"
    "  let place = places[low];\n  places[low] = places[high];\n  places[high] = place;\n}\n";

/// Of a line of up to a block.
std::int64_t padded_length(const GpuBackend& backend, std::int64_t n) {
  const auto padded =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 2))));
  if (!backend.limits().packed) return padded;
  return std::max(padded, n <= kShortBlock ? kShortBlock : std::int64_t{kSortBlock});
}

/// Whether the view's lines along the axis are dense, one after the other, in words of their own.
bool in_words(const View& v, const Shape& space, int axis) {
  if (dtype_size(v.dtype) < 4) return false;
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

class Sort {
 public:
  Sort(GpuBackend& backend, const SortRequest& r)
      : backend_(backend), r_(r), results_(result_space(r)), n_(r.space[static_cast<std::size_t>(r.axis)]),
        wanted_(results_[static_cast<std::size_t>(r.axis)]), lines_(r.space.numel() / n_),
        radix_(backend, r.op, r.input.dtype, r.descending, lines_), word_(word_of(r.input.dtype)) {}

  void run() {
    if (in_tile()) return sort_tile();
    const bool select = wanted_ <= Radix::kMostSelected && n_ > kSortBlock && n_ >= kTimesSelected * wanted_;
    if (n_ <= kSortBlock) {
      prepare_block(n_);
      run_in_layouts(backend_.limits(), [&](Layouts layouts) { return sort_block(layouts); });
    } else {
      Words words = read_words();
      std::int64_t n = n_;
      if (select) words = radix_.select(words, n, wanted_);
      if (n <= kSortBlock) {
        prepare_block(n), sort_block_of(words, n);
      } else {
        if (n == wanted_ && !words.places.storage && to_words()) return sort_to_results(words);
        pitch_ = n, places_ = radix_.make_places(n);
        const View bits = n == wanted_ && r_.values.storage ? radix_.make_bits(n).bits : View{};
        radix_.sort(words, n, key_bits(r_.input.dtype), {bits, places_});
        if (bits.storage)
          return run_in_layouts(backend_.limits(), [&](Layouts layouts) { return write_words(bits, layouts); });
      }
    }
    run_in_layouts(backend_.limits(), [&](Layouts layouts) { return write(layouts); });
  }

  static Shape result_space(const SortRequest& r) {
    Shape space = r.space;
    if (r.first > 0) space[static_cast<std::size_t>(r.axis)] = r.first;
    return space;
  }

 private:
  struct Slots {
    int places, padded, all;
  };
  /// The buffer of places, and the parameters of every kernel.
  Slots add_places(LinePlan& l) const {
    const auto add = [&](std::int64_t value) { return l.plan.add_param(static_cast<std::uint64_t>(value)); };
    l.plan.note(block_);
    return {l.add_words(places_), add(pitch_), add(lines_ * pitch_)};
  }
  std::string places(const LinePlan& l, const Slots& s) const { return cat("b", l.plan.access(s.places).binding); }
  bool to_words() const {
    return (!r_.values.storage || in_words(r_.values, results_, r_.axis)) &&
           (!r_.indices.storage || in_words(r_.indices, results_, r_.axis));
  }
  void sort_to_results(const Words& words) {
    radix_.sort(words, n_, key_bits(r_.input.dtype), {r_.values, r_.indices});
  }
  void prepare_block(std::int64_t n) {
    pitch_ = padded_length(backend_, n), places_ = radix_.make_places(pitch_);
    block_ = static_cast<std::uint32_t>(std::min<std::int64_t>(pitch_, kSortBlock));
  }
  std::uint64_t blocks() const { return static_cast<std::uint64_t>(lines_ * pitch_ / block_); }

  /// The elements' bits, a word each: the input's own where it consists of such.
  Words read_words() {
    if (in_words(r_.input, r_.space, r_.axis)) return {r_.input, {}};
    Words words = radix_.make_bits(n_);
    run_in_layouts(backend_.limits(), [&](Layouts layouts) {
      LinePlan l(backend_, r_.op, 'i', r_.space, r_.axis, {&r_.input}, 1, layouts);
      const int bits = l.add_words(words.bits);
      return l.launch_each(kSortThreads, [&] { return bits_text(l, bits); });
    });
    return words;
  }
  /// Whether a workgroup sorts a whole line by digits, in its memory.
  bool in_tile() const {
    return backend_.dialect().native() && !backend_.limits().packed && wanted_ == n_ && n_ > kLeastTile &&
           n_ <= Radix::tile(r_.input.dtype);
  }
  void sort_tile() {
    std::vector<const View*> views{&r_.input};
    if (r_.values.storage) views.push_back(&r_.values);
    if (r_.indices.storage) views.push_back(&r_.indices);
    LinePlan l(backend_, r_.op, 't', r_.space, r_.axis, views, 1, Layouts::own);
    l.plan.note(r_.values.storage != nullptr), l.plan.note(r_.indices.storage != nullptr);
    const auto tile = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(n_)));
    l.plan.note(tile);
    const int flip = l.plan.add_param(r_.descending ? ~0u : 0u);
    l.launch_grouped(static_cast<std::uint64_t>(lines_), kSortThreads, n_, [&] { return tile_text(l, tile, flip); });
  }
  /// Reads the lines, as keys, and sorts each.
  bool sort_block(Layouts layouts) {
    LinePlan l(backend_, r_.op, 'l', r_.space, r_.axis, {&r_.input}, 1, layouts);
    const Slots s = add_places(l);
    l.plan.note(r_.descending);
    return l.launch_grouped(blocks(), kSortThreads, pitch_, [&] { return block_text(l, s, load_text(l, s), l.group); });
  }
  /// The same of words.
  void sort_block_of(const Words& words, std::int64_t n) {
    LinePlan l(backend_, r_.op, 'h', r_.space, r_.axis, {}, 0);
    const Slots s = add_places(l);
    l.plan.note(r_.input.dtype);
    const int length = l.plan.add_param(static_cast<std::uint64_t>(n)),
              flip = l.plan.add_param(r_.descending ? ~0u : 0u);
    const int bits = l.add_words(words.bits, false), from = l.add_words(words.places, false);
    l.launch(blocks(), kSortThreads, [&] {
      return block_text(l, s, load_words_text(l, s, length, bits, from), 1,
                        key_function(backend_.dialect(), r_.input.dtype, flip));
    });
  }
  /// Writes the results: elements of the input in the order of the places, and these.
  bool write(Layouts layouts) {
    std::vector<const View*> views{&r_.input};
    if (r_.values.storage) views.push_back(&r_.values);
    if (r_.indices.storage) views.push_back(&r_.indices);
    LinePlan l(backend_, r_.op, 'o', results_, r_.axis, views, 1, layouts, n_);
    const Slots s = add_places(l);
    l.plan.note(r_.values.storage != nullptr), l.plan.note(r_.indices.storage != nullptr);
    return l.launch_each(kSortThreads, [&] { return write_text(l, s); });
  }

  /// Writes the results of words in order.
  bool write_words(const View& bits, Layouts layouts) {
    std::vector<const View*> views{&r_.values};
    if (r_.indices.storage) views.push_back(&r_.indices);
    LinePlan l(backend_, r_.op, 'W', results_, r_.axis, views, 0, layouts);
    const int from = l.add_words(bits, false), places = l.add_words(places_, false);
    l.plan.note(r_.indices.storage != nullptr);
    return l.launch_each(kSortThreads, [&] { return words_text(l, from, places); });
  }

  /// The place of an invocation's group of neighbours in all lines: i, and in its own: line, at.
  std::string begin_each(const LinePlan& l, const Io& io, std::vector<std::string>& line) const {
    const std::string n = l.p(l.length_slot);
    return cat("let i = (group * ", kSortThreads, "u + thread) * ", l.group, "u;\nif (i >= ", n, " * ",
               l.p(l.lines_slot), ") { return; }\nlet line = i / ", n, ";\nlet at = i - line * ", n, ";\n",
               io.coordinates(l.lines, "line", "c", line));
  }
  std::string words_text(const LinePlan& l, int from, int places) const {
    Io io(l.plan, backend_.dialect());
    std::vector<std::string> line, values, indices;
    std::string body = begin_each(l, io, line);
    const Access& b = l.plan.access(from);
    for (int e = 0; e < l.group; ++e) {
      const std::string at = cat("i + ", e, "u");
      body += cat("let bits", e, " = ", b.size() == 8 ? backend_.dialect().element(b.binding, 8, at)
                                                   : cat("b", b.binding, "[", at, "]"), ";\n");
      values.push_back(unpacked(r_.input.dtype, cat("bits", e)));
      indices.push_back(cat("bitcast<i32>(b", l.plan.access(places).binding, "[", at, "])"));
    }
    body += io.store(0, l.group_at(line, "at"), values, "");
    if (r_.indices.storage) body += io.store(1, l.group_at(line, "at"), indices, "");
    return l.module("sort, writing", body, {});
  }
  std::string tile_text(const LinePlan& l, int tile, int flip) const {
    const Dialect& d = backend_.dialect();
    Io io(l.plan, d);
    const DType dtype = r_.input.dtype;
    std::vector<std::string> line, names, values, places;
    std::string body = io.coordinates(l.lines, "group", "c", line);
    const std::string each = cat("for (var i = thread * ", l.group, "u; i < ", l.p(l.length_slot), "; i += ",
                                 kSortThreads * static_cast<unsigned>(l.group), "u) {\n");
    std::string load = io.load(0, l.group_at(line, "i"), names), store;
    for (int e = 0; e < l.group; ++e) {
      load += cat("staged[i + ", e, "u] = ", packed(dtype, names[static_cast<std::size_t>(e)]), ";\n");
      values.push_back(unpacked(dtype, cat("staged[i + ", e, "u]")));
      places.push_back(cat("i32(places[i + ", e, "u])"));
    }
    int access = 1;
    if (r_.values.storage) store += io.store(access++, l.group_at(line, "i"), values, "");
    if (r_.indices.storage) store += io.store(access, l.group_at(line, "i"), places, "");
    body += cat(each, indented(load), "}\n", d.barrier(), "tern_sort_tile<", key_bits(dtype), ", ", tile / 256,
                ">(staged, places, ", l.p(l.length_slot), ", thread, counts, sums, [&](", word_, " w) { return ",
                d.call("key_of", {"w"}), "; });\n", each, indented(store), "}\n");
    return l.module("sort, tiles", body,
                    {{word_, "staged", tile}, {"u16", "places", tile}, {"u32", "counts", 2048}, {"u32", "sums", 256}},
                    ranking_functions() + key_function(d, dtype, flip));
  }
  std::string bits_text(const LinePlan& l, int bits) const {
    Io io(l.plan, backend_.dialect());
    std::vector<std::string> line, names;
    std::string body = begin_each(l, io, line);
    body += io.load(0, l.group_at(line, "at"), names);
    for (int e = 0; e < l.group; ++e)
      body += io.stored(l.plan.access(bits), cat("i + ", e, "u"),
                        cat("bitcast<", std::string_view(word_) == "u64" ? "i64" : "u32", ">(",
                            packed(r_.input.dtype, names[static_cast<std::size_t>(e)]), ")"));
    return l.module("sort, reading", body, {});
  }

  std::string load_text(const LinePlan& l, const Slots& s) const {
    Io io(l.plan, backend_.dialect());
    std::vector<std::string> line, names;
    std::string load =
        cat("let line = (first + i) / ", l.p(s.padded), ";\nlet at = first + i - line * ", l.p(s.padded), ";\n");
    for (int e = 0; e < l.group; ++e) load += cat("var key", e, " = ~", word_, "(0);\n");
    std::string inside = io.coordinates(l.lines, "line", "c", line);
    inside += io.load(0, l.group_at(line, "at"), names);
    for (int e = 0; e < l.group; ++e)
      inside += cat("key", e, " = ", key_of(r_.input.dtype, names[static_cast<std::size_t>(e)], r_.descending), ";\n");
    load += cat("if (at < ", l.p(l.length_slot), " && first + i < ", l.p(s.all), ") {\n", indented(inside), "}\n");
    for (int e = 0; e < l.group; ++e)
      load += cat("keys[i + ", e, "u] = key", e, ";\nplaces[i + ", e, "u] = at + ", e, "u;\n");
    return load;
  }
  std::string load_words_text(const LinePlan& l, const Slots& s, int length, int bits, int from) const {
    const std::string at = cat("line * ", l.p(length), " + at");
    const Access& b = l.plan.access(bits);
    const std::string word = b.size() == 8 ? backend_.dialect().element(b.binding, 8, at)
                                           : cat("b", b.binding, "[", at, "]");
    return cat("let line = (first + i) / ", l.p(s.padded), ";\nlet at = first + i - line * ", l.p(s.padded),
               ";\nvar key = ~", word_, "(0);\nvar place = 0xffffffffu;\nif (at < ", l.p(length), " && first + i < ",
               l.p(s.all), ") {\n  key = ", backend_.dialect().call("key_of", {word}), ";\n  place = b",
               l.plan.access(from).binding, "[", at, "];\n}\nkeys[i] = key;\nplaces[i] = place;\n");
  }
  /// Exchanges over a distance of j. The direction of a run of length `level` alternates within its line; runs as long
  /// as the line ascend.
  std::string pass(const LinePlan& l, const Slots& s, std::int64_t j, const std::string& level) const {
    const std::string one =
        cat("let low = (i / ", j, "u) * ", 2 * j, "u + i % ", j, "u;\nlet high = low + ", j,
            "u;\nlet up = (((first + low) & (", l.p(s.padded), " - 1u)) & ", level, ") == 0u;\n", kExchange);
    return cat("for (var i = thread; i < ", block_ / 2, "u; i += ", kSortThreads, "u) {\n", indented(one), "}\n",
               backend_.dialect().barrier());
  }
  /// A block through a workgroup's memory, which `load` fills from i on, `each` elements.
  std::string block_text(const LinePlan& l, const Slots& s, const std::string& load, int each,
                         const std::string& functions = "") const {
    std::string body = cat("let first = group * ", block_, "u;\n");
    body += cat("for (var i = thread * ", each, "u; i < ", block_, "u; i += ",
                kSortThreads * static_cast<unsigned>(each), "u) {\n", indented(load), "}\n",
                backend_.dialect().barrier());
    for (std::int64_t k = 2; k <= block_; k *= 2)
      for (std::int64_t j = k / 2; j > 0; j /= 2) body += pass(l, s, j, cat(k, "u"));
    body += cat("for (var i = thread; i < ", block_, "u; i += ", kSortThreads, "u) {\n  if (first + i < ", l.p(s.all),
                ") { ", places(l, s), "[first + i] = places[i]; }\n}\n");
    return l.module("sort, blocks", body,
                    {{word_, "keys", static_cast<int>(block_)}, {"u32", "places", static_cast<int>(block_)}},
                    functions);
  }

  std::string write_text(const LinePlan& l, const Slots& s) const {
    Io io(l.plan, backend_.dialect());
    const std::string b = places(l, s);
    std::vector<std::string> line, values, places;
    std::string body = begin_each(l, io, line);
    body += cat("let sorted = line * ", l.p(s.padded), " + at;\n");
    for (int e = 0; e < l.group; ++e) {
      body += cat("let place", e, " = ", b, "[sorted + ", e, "u];\n");
      places.push_back(cat("bitcast<i32>(place", e, ")"));
    }
    int access = 1;
    if (r_.values.storage) {
      for (int e = 0; e < l.group; ++e) {
        values.push_back(cat("x", e));
        body += cat("let from", e, " = ", l.taken(io, 0, line, cat("place", e)), ";\nlet x", e, " = ",
                    io.loaded(l.plan.access(0), cat("from", e)), ";\n");
      }
      body += io.store(access++, l.group_at(line, "at"), values, "");
    }
    if (r_.indices.storage) body += io.store(access, l.group_at(line, "at"), places, "");
    return l.module("sort, results", body, {});
  }

  GpuBackend& backend_;
  const SortRequest& r_;
  Shape results_;
  std::int64_t n_, wanted_, lines_;
  Radix radix_;
  const char* word_;  // of bits and keys
  std::uint32_t block_ = 0;
  std::int64_t pitch_ = 0;  // from line to line in the places
  View places_;
};

void run_sort(GpuBackend& backend, const SortRequest& r) {
  bool fits = true, results_fit = true;
  int axis = axis_to_halve(backend, r.space, r.axis, {&r.input}, fits);
  const int other = axis_to_halve(backend, Sort::result_space(r), r.axis, {&r.values, &r.indices}, results_fit);
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
  if (fits) return Sort(backend, r).run();
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

void sort_on_gpu(GpuBackend& backend, const SortRequest& r) {
  backend.require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) run_sort(backend, r);
}

}  // namespace tern::detail_gpu
