// Sort along one axis.
#include <algorithm>
#include <bit>

#include "gpu/lines.hpp"

namespace tern::detail_gpu {

using detail::Lane;
using detail::SortRequest;

namespace {

// Bitonic over (key, place): the place breaks ties, which makes it stable. Keys are u32 in the order of the values, NaN
// last (first, descending); lines are padded to a power of two with the largest key. Batcher (1968).
constexpr std::uint32_t kSortThreads = 256, kSortBlock = 1024;  // elements a workgroup sorts in its own memory
constexpr std::int64_t kShortBlock = 64;                        // the same of short lines, in kernels made beforehand

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

/// Of a line in the buffer of keys and places.
std::int64_t padded_length(const GpuBackend& backend, std::int64_t n) {
  const auto padded =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 2))));
  if (!backend.limits().packed) return padded;
  return std::max(padded, n <= kShortBlock ? kShortBlock : std::int64_t{kSortBlock});
}
DType word_of(DType dtype) { return detail::is_wide_lane(detail::lane_of(dtype)) ? DType::i64 : DType::u32; }

class Sort {
 public:
  Sort(GpuBackend& backend, const SortRequest& r) : backend_(backend), r_(r) {
    n_ = r.space[static_cast<std::size_t>(r.axis)];
    padded_ = padded_length(backend, n_);
    lines_ = r.space.numel() / n_;
    const DType word = word_of(r.input.dtype);
    if (word == DType::i64) word_ = "u64";
    temporary_ = backend.temporary(2 * lines_ * padded_, word);
    words_ = {temporary_.get(), word, 0, {}};
  }

  void run() {
    block_ = static_cast<std::uint32_t>(std::min<std::int64_t>(padded_, kSortBlock));
    const auto in_layouts = [&](auto kernel) {
      run_in_layouts(backend_.limits(), [&](Layouts layouts) { return (this->*kernel)(layouts); });
    };
    in_layouts(&Sort::read);
    for (std::int64_t k = 2 * block_; k <= padded_; k *= 2) {
      for (std::int64_t j = k / 2; j >= block_; j /= 2) exchange(k, j);
      merge(k);
    }
    in_layouts(&Sort::write);
  }

 private:
  struct Slots {
    int words, padded, half, level, distance;
  };
  /// The buffer of keys and places, and the parameters of every kernel; `k`: the length of the runs it makes.
  Slots add_words(LinePlan& l, std::int64_t k = 0, std::int64_t j = 0) const {
    const auto add = [&](std::int64_t value) { return l.plan.add_param(static_cast<std::uint64_t>(value)); };
    l.plan.note('t'), l.plan.note(block_);
    return {l.add_words(words_), add(padded_), add(lines_ * padded_), add(k), add(j)};
  }
  std::string words(const LinePlan& l, const Slots& s) const {
    const std::string b = cat("b", l.plan.access(s.words).binding);
    return std::string_view(word_) == "u64" ? cat("((u64*)", b, ")") : b;
  }
  std::uint64_t blocks() const { return static_cast<std::uint64_t>(lines_ * padded_ / block_); }

  /// Reads the lines, as keys, and sorts blocks.
  bool read(Layouts layouts) {
    LinePlan l(backend_, r_.op, 'i', r_.space, r_.axis, {&r_.input}, 1, layouts);
    const Slots s = add_words(l);
    l.plan.note(r_.descending);
    return l.launch_grouped(blocks(), kSortThreads, padded_, [&] { return read_text(l, s); });
  }
  /// Exchanges over a distance of j.
  void exchange(std::int64_t k, std::int64_t j) {
    LinePlan l(backend_, r_.op, 'g', r_.space, r_.axis, {}, 0);
    const Slots s = add_words(l, k, j);
    l.launch(static_cast<std::uint64_t>(ceil_div(lines_ * padded_ / 2, kSortThreads)), kSortThreads,
             [&] { return exchange_text(l, s); });
  }
  /// Exchanges over the distances below a block's size.
  void merge(std::int64_t k) {
    LinePlan l(backend_, r_.op, 'l', r_.space, r_.axis, {}, 0);
    const Slots s = add_words(l, k);
    l.launch(blocks(), kSortThreads, [&] { return merge_text(l, s); });
  }
  /// Writes the results: elements of the input in the order of the places, and these.
  bool write(Layouts layouts) {
    std::vector<const View*> views{&r_.input};
    if (r_.values.storage) views.push_back(&r_.values);
    if (r_.indices.storage) views.push_back(&r_.indices);
    LinePlan l(backend_, r_.op, 'o', r_.space, r_.axis, views, 1, layouts, true);
    const Slots s = add_words(l);
    l.plan.note(r_.values.storage != nullptr), l.plan.note(r_.indices.storage != nullptr);
    return l.launch_each(kSortThreads, [&] { return write_text(l, s); });
  }

  std::string read_text(const LinePlan& l, const Slots& s) const {
    Io io(l.plan, backend_.dialect());
    std::vector<std::string> line, names;
    std::string load =
        cat("let line = (first + i) / ", l.p(s.padded), ";\nlet at = first + i - line * ", l.p(s.padded), ";\n");
    for (int e = 0; e < l.group; ++e) load += cat("var key", e, " = ~", word_, "(0);\n");
    std::string inside = io.coordinates(l.lines, "line", "c", line);
    inside += io.load(0, l.group_at(line, "at"), names);
    for (int e = 0; e < l.group; ++e)
      inside += cat("key", e, " = ", key_of(r_.input.dtype, names[static_cast<std::size_t>(e)], r_.descending), ";\n");
    load += cat("if (at < ", l.p(l.length_slot), ") {\n", indented(inside), "}\n");
    for (int e = 0; e < l.group; ++e)
      load += cat("keys[i + ", e, "u] = key", e, ";\nplaces[i + ", e, "u] = at + ", e, "u;\n");
    std::string passes;
    for (std::int64_t k = 2; k <= block_; k *= 2)
      for (std::int64_t j = k / 2; j > 0; j /= 2) passes += pass(l, s, j, cat(k, "u"));
    return block_text(l, s, load, l.group, passes);
  }
  std::string merge_text(const LinePlan& l, const Slots& s) const {
    const std::string b = words(l, s);
    std::string passes;
    for (std::int64_t j = block_ / 2; j > 0; j /= 2) passes += pass(l, s, j, l.p(s.level));
    return block_text(l, s,
                      cat("keys[i] = ", b, "[first + i];\nplaces[i] = u32(", b, "[", l.p(s.half), " + first + i]);\n"),
                      1, passes);
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
                         const std::string& passes) const {
    const std::string b = words(l, s);
    std::string body = cat("let first = group * ", block_, "u;\n");
    body +=
        cat("for (var i = thread * ", each, "u; i < ", block_, "u; i += ", kSortThreads * static_cast<unsigned>(each),
            "u) {\n", indented(load), "}\n", backend_.dialect().barrier(), passes);
    body += cat("for (var i = thread; i < ", block_, "u; i += ", kSortThreads, "u) {\n  ", b,
                "[first + i] = keys[i];\n  ", b, "[", l.p(s.half), " + first + i] = ", word_, "(places[i]);\n}\n");
    return l.module("sort, blocks", body,
                    {{word_, "keys", static_cast<int>(block_)}, {"u32", "places", static_cast<int>(block_)}});
  }

  std::string exchange_text(const LinePlan& l, const Slots& s) const {
    const std::string j = l.p(s.distance), half = l.p(s.half), b = words(l, s);
    std::string body = cat("let i = group * ", kSortThreads, "u + thread;\nif (i >= ", half, " / 2u) { return; }\n");
    body += cat("let low = (i / ", j, ") * 2u * ", j, " + i % ", j, ";\nlet high = low + ", j, ";\n");
    body += cat("let up = ((low & (", l.p(s.padded), " - 1u)) & ", l.p(s.level), ") == 0u;\n");
    body += cat("let a = ", b, "[low];\nlet c = ", b, "[high];\nlet place_a = ", b, "[", half,
                " + low];\nlet place_c = ", b, "[", half, " + high];\n");
    body += cat("if ((a > c || (a == c && place_a > place_c)) == up) {\n  ", b, "[low] = c;\n  ", b, "[high] = a;\n  ",
                b, "[", half, " + low] = place_c;\n  ", b, "[", half, " + high] = place_a;\n}\n");
    return l.module("sort, exchange", body, {});
  }

  std::string write_text(const LinePlan& l, const Slots& s) const {
    Io io(l.plan, backend_.dialect());
    const std::string n = l.p(l.length_slot), b = words(l, s);
    std::vector<std::string> line, values, places;
    std::string body = cat("let i = (group * ", kSortThreads, "u + thread) * ", l.group, "u;\nif (i >= ", n, " * ",
                           l.p(l.lines_slot), ") { return; }\nlet line = i / ", n, ";\nlet at = i - line * ", n, ";\n");
    body += cat("let sorted = ", l.p(s.half), " + line * ", l.p(s.padded), " + at;\n",
                io.coordinates(l.lines, "line", "c", line));
    for (int e = 0; e < l.group; ++e) {
      body += cat("let place", e, " = u32(", b, "[sorted + ", e, "u]);\n");
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
  std::int64_t n_ = 0, padded_ = 0, lines_ = 0;
  std::uint32_t block_ = kSortBlock;
  const char* word_ = "u32";  // of the buffer of keys and places
  std::shared_ptr<Storage> temporary_;
  View words_;
};

void run_sort(GpuBackend& backend, const SortRequest& r) {
  bool fits = true;
  int axis = axis_to_halve(backend, r.space, r.axis, {&r.input, &r.values, &r.indices}, fits);
  const std::int64_t n = r.space[static_cast<std::size_t>(r.axis)], lines = r.space.numel() / n;
  const std::uint64_t room = static_cast<std::uint64_t>(lines) * static_cast<std::uint64_t>(padded_length(backend, n)) *
                             2 * dtype_size(word_of(r.input.dtype));
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

void GpuBackend::sort(const SortRequest& r) {
  require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) run_sort(*this, r);
}

}  // namespace tern::detail_gpu
