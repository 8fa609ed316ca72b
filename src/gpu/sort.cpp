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
constexpr std::int64_t kShortBlock = 64;  // the same of short lines, in kernels made beforehand

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

class Sort {
 public:
  Sort(GpuBackend& backend, const SortRequest& r) : backend_(backend), r_(r) {
    n_ = r.space[static_cast<std::size_t>(r.axis)];
    padded_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n_, 2))));
    if (backend.limits().packed) padded_ = std::max(padded_, n_ <= kShortBlock ? kShortBlock : std::int64_t{kSortBlock});
    lines_ = r.space.numel() / n_;
    const DType word = detail::is_wide_lane(detail::lane_of(r.input.dtype)) ? DType::i64 : DType::u32;
    if (word == DType::i64) word_ = "u64";
    temporary_ = backend.temporary(2 * lines_ * padded_, word);
    words_ = {temporary_.get(), word, 0, {}};
  }

  void run() {
    block_ = static_cast<std::uint32_t>(std::min<std::int64_t>(padded_, kSortBlock));
    kernel('i', 0, 0);
    for (std::int64_t k = 2 * block_; k <= padded_; k *= 2) {
      for (std::int64_t j = k / 2; j >= block_; j /= 2) kernel('g', k, j);
      kernel('l', k, 0);
    }
    kernel('o', 0, 0);
  }

 private:
  /// 'i': reads the lines and sorts blocks; 'g': exchanges over a distance of j; 'l': those below a block's size; 'o':
  /// writes the results.
  void kernel(char kind, std::int64_t k, std::int64_t j) {
    std::vector<const View*> views{&r_.input};
    std::size_t written = 1;
    if (kind == 'o') {
      if (r_.values.storage) views.push_back(&r_.values);
      if (r_.indices.storage) views.push_back(&r_.indices);
    }
    LinePlan l(backend_, r_.op, kind, r_.space, r_.axis, views, written);
    const int words = l.add_words(words_);
    const int padded = l.plan.add_param(static_cast<std::uint64_t>(padded_)),
              half = l.plan.add_param(static_cast<std::uint64_t>(lines_ * padded_));
    const int level = l.plan.add_param(static_cast<std::uint64_t>(k)),
              distance = l.plan.add_param(static_cast<std::uint64_t>(j));
    l.plan.note('t'), l.plan.note(r_.input.dtype), l.plan.note(r_.descending), l.plan.note(block_),
        l.plan.note(r_.values.storage != nullptr);
    const std::int64_t elements = lines_ * padded_;
    const std::int64_t groups = kind == 'g'   ? ceil_div(elements / 2, kSortThreads)
                                : kind == 'o' ? ceil_div(lines_ * n_, kSortThreads)
                                              : elements / block_;
    const Slots s{padded, half, level, distance};
    l.launch(static_cast<std::uint64_t>(groups), kSortThreads, [&] {
      std::string b = cat("b", l.plan.access(words).binding);
      if (std::string_view(word_) == "u64") b = cat("((u64*)", b, ")");
      return kind == 'g'   ? exchange_text(l, b, s)
             : kind == 'o' ? output_text(l, b, s)
                           : block_text(l, b, s, kind == 'i');
    });
  }
  struct Slots {
    int padded, half, level, distance;
  };

  std::string block_text(const LinePlan& l, const std::string& b, const Slots& s, bool reads) const {
    const Dialect& d = backend_.dialect();
    std::string body = cat("let first = group * ", block_, "u;\n");
    std::string load;
    if (reads) {
      Io io(l.plan, d);
      std::vector<std::string> line, names;
      load += cat("let line = (first + i) / ", l.p(s.padded), ";\nlet at = first + i - line * ", l.p(s.padded),
                  ";\nvar key = ~", word_, "(0);\n");
      const std::string coordinates = io.coordinates(l.lines, "line", "c", line);
      const std::string read = io.load(0, l.at(line, "at"), names);
      load += cat("if (at < ", l.p(l.length_slot), ") {\n",
                  indented(coordinates + read + cat("key = ", key_of(r_.input.dtype, names[0], r_.descending), ";\n")),
                  "}\n");
      load += "keys[i] = key;\nplaces[i] = at;\n";
    } else {
      load = cat("keys[i] = ", b, "[first + i];\nplaces[i] = u32(", b, "[", l.p(s.half), " + first + i]);\n");
    }
    body += cat("for (var i = thread; i < ", block_, "u; i += ", kSortThreads, "u) {\n", indented(load), "}\n",
                d.barrier());
    const auto pass = [&](std::int64_t j, const std::string& up) {
      std::string one = cat("let low = (i / ", j, "u) * ", 2 * j, "u + i % ", j, "u;\nlet high = low + ", j,
                            "u;\nlet up = ", up, ";\n", kExchange);
      return cat("for (var i = thread; i < ", block_ / 2, "u; i += ", kSortThreads, "u) {\n", indented(one), "}\n",
                 d.barrier());
    };
    // The direction of a run of length k alternates within its line; runs as long as the line ascend.
    if (reads) {
      for (std::int64_t k = 2; k <= block_; k *= 2)
        for (std::int64_t j = k / 2; j > 0; j /= 2)
          body += pass(j, cat("(((first + low) & (", l.p(s.padded), " - 1u)) & ", k, "u) == 0u"));
    } else {
      for (std::int64_t j = block_ / 2; j > 0; j /= 2)
        body += pass(j, cat("(((first + low) & (", l.p(s.padded), " - 1u)) & ", l.p(s.level), ") == 0u"));
    }
    body += cat("for (var i = thread; i < ", block_, "u; i += ", kSortThreads, "u) {\n  ", b,
                "[first + i] = keys[i];\n  ", b, "[", l.p(s.half), " + first + i] = ", word_, "(places[i]);\n}\n");
    return l.module("sort, blocks", body,
                    {{word_, "keys", static_cast<int>(block_)}, {"u32", "places", static_cast<int>(block_)}});
  }

  std::string exchange_text(const LinePlan& l, const std::string& b, const Slots& s) const {
    const std::string j = l.p(s.distance), half = l.p(s.half);
    std::string body = cat("let i = group * ", kSortThreads, "u + thread;\nif (i >= ", half, " / 2u) { return; }\n");
    body += cat("let low = (i / ", j, ") * 2u * ", j, " + i % ", j, ";\nlet high = low + ", j, ";\n");
    body += cat("let up = ((low & (", l.p(s.padded), " - 1u)) & ", l.p(s.level), ") == 0u;\n");
    body += cat("let a = ", b, "[low];\nlet c = ", b, "[high];\nlet place_a = ", b, "[", half,
                " + low];\nlet place_c = ", b, "[", half, " + high];\n");
    body += cat("if ((a > c || (a == c && place_a > place_c)) == up) {\n  ", b, "[low] = c;\n  ", b, "[high] = a;\n  ",
                b, "[", half, " + low] = place_c;\n  ", b, "[", half, " + high] = place_a;\n}\n");
    return l.module("sort, exchange", body, {});
  }

  std::string output_text(const LinePlan& l, const std::string& b, const Slots& s) const {
    const Dialect& d = backend_.dialect();
    Io io(l.plan, d);
    const std::string n = l.p(l.length_slot);
    std::vector<std::string> line, names;
    std::string body = cat("let i = group * ", kSortThreads, "u + thread;\nif (i >= ", n, " * ", l.p(l.lines_slot),
                           ") { return; }\nlet line = i / ", n, ";\nlet at = i - line * ", n, ";\n");
    body += cat("let place = u32(", b, "[", l.p(s.half), " + line * ", l.p(s.padded), " + at]);\n",
                io.coordinates(l.lines, "line", "c", line));
    int access = 1;
    if (r_.values.storage) {
      body += io.load(0, l.at(line, "place"), names);
      body += io.store(access++, l.at(line, "at"), {names[0]}, "");
    }
    if (r_.indices.storage) body += io.store(access, l.at(line, "at"), {"bitcast<i32>(place)"}, "");
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
  const auto room = static_cast<std::uint64_t>(lines) * std::bit_ceil(static_cast<std::uint64_t>(n)) * 8;
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
