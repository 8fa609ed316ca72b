// Scan and sort: operations along one axis. Long lines are cut among workgroups.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "gpu/gpu_backend.hpp"
#include "gpu/io.hpp"
#include "gpu/text.hpp"

namespace tern::detail_gpu {

using detail::Lane;
using detail::ScanRequest;
using detail::SortRequest;

namespace {

/// Kernels over the lines along `axis`: views laid over the other axes (merged) and the axis itself.
class LinePlan {
 public:
  LinePlan(GpuBackend& backend, const char* op, char kind, const Shape& space, int axis, std::vector<const View*> views,
           std::size_t written)
      : LinePlan(backend, op, kind, space, axis, std::move(views), written,
                 backend.limits().packed ? Layouts::any : Layouts::own) {
    for (std::size_t v = written; v < views_.size(); ++v)
      if (plan.access(static_cast<int>(v)).size() < 4) plan.merge_parts(static_cast<int>(v));
  }
  /// The same for a kernel that takes neighbours along the axis together where it can: launch_grouped().
  LinePlan(GpuBackend& backend, const char* op, char kind, const Shape& space, int axis, std::vector<const View*> views,
           std::size_t written, Layouts layouts)
      : backend(backend),
        plan(backend.limits(), op, kind, layouts),
        views_(std::move(views)),
        length_(space[static_cast<std::size_t>(axis)]) {
    const std::uint32_t all = (1u << space.rank()) - 1;
    lines = merge_axes(space, all & ~(1u << axis), views_, 0);
    lines_slot = plan.add_param(static_cast<std::uint64_t>(lines.count()));
    length_slot = plan.add_param(static_cast<std::uint64_t>(space[static_cast<std::size_t>(axis)]));
    plan.add_axes(lines);
    plan.set_inner(static_cast<int>(lines.sizes.size()));
    std::vector<ByteRange> touched;
    const std::vector<std::int64_t> sizes(space.begin(), space.end());
    for (std::size_t v = 0; v < views_.size(); ++v) {
      std::vector<std::int64_t> strides = lines.strides[v];
      strides.push_back(views_[v]->strides[static_cast<std::size_t>(axis)]);
      plan.add_access(*views_[v], strides, v >= written);
      touched.push_back(bytes_touched(*views_[v], sizes));
    }
    touched_ = touched;
  }
  /// Adds a buffer addressed by its own index.
  int add_words(const View& view, bool written = true) {
    touched_.push_back({0, static_cast<std::int64_t>(view.storage->bytes())});
    return plan.add_access(view, {}, written);
  }
  void launch(std::uint64_t groups, std::uint32_t threads, const std::function<std::string()>& text) {
    if (!bound_) plan.bind(touched_), plan.finish_key(), bound_ = true;
    plan.launch.groups = groups, plan.launch.threads = threads;
    backend.queue(plan.launch, text);
  }
  /// In groups, if lines are cut at multiples of `cut` elements alone; false, having done nothing, where there is no
  /// such kernel in vectors.
  bool launch_grouped(std::uint64_t groups, std::uint32_t threads, std::int64_t cut,
                      const std::function<std::string()>& text) {
    plan.bind(touched_), bound_ = true;
    group = plan.choose_group(static_cast<int>(lines.sizes.size()), std::gcd(length_, cut), false);
    plan.note(static_cast<char>(group));
    plan.finish_key();
    plan.launch.groups = groups, plan.launch.threads = threads;
    if (plan.layouts() == Layouts::vectors &&
        !(lines.sizes.size() == 1 && plan.in_vectors() && backend.has_kernel(Layouts::vectors, plan.launch, text)))
      return false;
    backend.queue(plan.launch, text);
    return true;
  }
  std::string p(int slot) const { return backend.dialect().param(slot); }
  /// The group of neighbours from this index along the axis on.
  Position group_at(const std::vector<std::string>& line, const std::string& index) const {
    Position position{line, static_cast<int>(line.size()), group};
    position.coordinates.push_back(index);
    return position;
  }
  Position at(const std::vector<std::string>& line, const std::string& index) const {
    Position position{line, -1, 1};
    position.coordinates.push_back(index);
    return position;
  }
  std::string module(const char* what, const std::string& body, std::vector<Shared> shared) const {
    return backend.dialect().module(
        {what, plan.launch.bindings, plan.launch.params.size(), plan.launch.threads, std::move(shared), "", body});
  }

  GpuBackend& backend;
  Plan plan;
  Axes lines;
  int lines_slot, length_slot;
  int group = 1;

 private:
  std::vector<const View*> views_;
  std::vector<ByteRange> touched_;
  std::int64_t length_;
  bool bound_ = false;
};

/// What a kernel can see of a view, wherever it begins.
std::int64_t most_bytes(const GpuBackend& backend) {
  return static_cast<std::int64_t>(backend.limits().binding_bytes) - backend.limits().binding_alignment - kVectorBytes;
}

/// Whether every view fits a binding; else the longest other axis, for cutting the request in two.
int axis_to_halve(const GpuBackend& backend, const Shape& space, int axis, const std::vector<const View*>& views,
                  bool& fits) {
  const std::int64_t most = most_bytes(backend);
  const std::vector<std::int64_t> sizes(space.begin(), space.end());
  fits = true;
  int best = -1;
  std::int64_t furthest = 0;
  for (const View* v : views) {
    if (!v->storage) continue;
    const ByteRange touched = bytes_touched(*v, sizes);
    if (static_cast<std::int64_t>(v->storage->bytes()) <= most || touched.end - touched.begin <= most) continue;
    fits = false;
    for (int i = 0; i < space.rank(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t reach = (space[a] - 1) * std::abs(v->strides[a]);
      if (i != axis && space[a] > 1 && reach > furthest) furthest = reach, best = i;
    }
  }
  return best;
}

[[noreturn]] void too_long(const GpuBackend& backend, const char* op) {
  throw Error(ErrorKind::unsupported,
              cat(op, ": one line of the tensor is larger than the ", backend.limits().binding_bytes >> 20,
                  " MiB that a kernel can see on ", backend.device().to_string()));
}

// ---- scan ----
// Short lines are one workgroup's. Longer ones are cut into segments: a kernel sums each, the sums are scanned (as
// lines of their own), and a kernel scans each segment from what stands before it. Where cuts are depends on sizes
// alone.
constexpr int kScanThreads = 256, kScanEach = 4;
constexpr std::int64_t kSegment = 8192;
// Up to these, a workgroup to a line takes less memory traffic, and no longer.
constexpr std::int64_t kShortLine = 2 * kSegment, kManyLines = 256, kLongestLine = 1 << 20;
// Where other lines are the neighbours in memory, and many: 32 lines a workgroup, eight invocations to a line.
constexpr int kColumns = 32, kRowsEach = 8, kRowsOfThreads = kScanThreads / kColumns;
constexpr std::int64_t kManyColumns = 2048;

DType dtype_of(Lane lane) {
  switch (lane) {
    case Lane::f32: return DType::f32;
    case Lane::f64: return DType::f64;
    case Lane::i64: return DType::i64;
    case Lane::u32: return DType::u32;
    default: return DType::i32;
  }
}

class Scan {
 public:
  Scan(GpuBackend& backend, const ScanRequest& r)
      : backend_(backend), r_(r), lane_(detail::lane_of(r.input.dtype)), type_(lane_name(lane_)) {}

  void run_whole() {
    run_in_layouts(backend_.limits(), [&](Layouts layouts) {
      LinePlan l(backend_, r_.op, 'c', r_.space, r_.axis, {&r_.input, &r_.output}, 1, layouts);
      note(l);
      return l.launch_grouped(static_cast<std::uint64_t>(l.lines.count()), kScanThreads, length(),
                              [&] { return scan_text(l, {}); });
    });
  }

  /// False, having done nothing, where lines are not columns, or few.
  bool run_columns() {
    if (backend_.limits().packed || backend_.limits().threads < kScanThreads) return false;
    LinePlan l(backend_, r_.op, 'f', r_.space, r_.axis, {&r_.input, &r_.output}, 1);
    if (l.lines.sizes.empty() || l.lines.sizes.back() < kColumns || l.lines.count() < kManyColumns ||
        length() > kLongestLine)
      return false;
    for (const Access& a : l.plan.accesses)
      if (a.steps[l.lines.sizes.size() - 1] != '1' || a.steps.back() == '1') return false;
    note(l);
    l.launch(static_cast<std::uint64_t>(ceil_div(l.lines.count(), kColumns)), kScanThreads,
             [&] { return columns_text(l); });
    return true;
  }

  /// `window`: elements of a line that a kernel can see.
  void run_in_segments(std::int64_t window) {
    const std::int64_t n = length(), lines = r_.space.numel() / n;
    segment_ = std::min(kSegment, window);
    if (window < n) window = window / segment_ * segment_;
    segments_ = ceil_div(n, segment_);
    const std::shared_ptr<Storage> sums = backend_.temporary(lines * segments_, dtype_of(lane_));
    sums_ = {sums.get(), dtype_of(lane_), 0, {segments_, 1}};
    for (std::int64_t first = 0; first < n; first += window) sum_segments(part(first, window), first / segment_);
    run_scan(backend_, {r_.op, r_.combine, Shape{lines, segments_}, 1, false, sums_, sums_});
    for (std::int64_t first = 0; first < n; first += window) scan_segments(part(first, window), first / segment_);
  }
  static void run_scan(GpuBackend& backend, const ScanRequest& r);

 private:
  /// Parameters of a kernel on segments: how many to a line here and in all, which is the first, their length; and the
  /// access of their sums, -1 where lines are whole.
  struct Slots {
    int here = -1, all = -1, first = -1, length = -1, sums = -1;
  };
  std::int64_t length() const { return r_.space[static_cast<std::size_t>(r_.axis)]; }
  std::string combine(const std::string& a, const std::string& b) const {
    return backend_.dialect().leaf(r_.combine, lane_, {a, b});
  }
  void note(LinePlan& l) const { l.plan.note(r_.combine), l.plan.note(r_.reverse), l.plan.note(r_.input.dtype); }

  /// The request from element `first` in scanning order on, at most `count` of a line.
  ScanRequest part(std::int64_t first, std::int64_t count) const {
    ScanRequest part = r_;
    const auto axis = static_cast<std::size_t>(r_.axis);
    part.space[axis] = std::min(count, length() - first);
    const std::int64_t at = r_.reverse ? length() - first - part.space[axis] : first;
    part.input.offset += at * r_.input.strides[axis], part.output.offset += at * r_.output.strides[axis];
    return part;
  }
  Slots add_segments(LinePlan& l, std::int64_t count, std::int64_t first, bool written) const {
    note(l);
    const auto add = [&](std::int64_t value) { return l.plan.add_param(static_cast<std::uint64_t>(value)); };
    return {add(ceil_div(count, segment_)), add(segments_), add(first), add(segment_), l.add_words(sums_, written)};
  }
  void sum_segments(const ScanRequest& part, std::int64_t first) {
    run_in_layouts(backend_.limits(), [&](Layouts layouts) {
      LinePlan l(backend_, r_.op, 'd', part.space, part.axis, {&part.input}, 1, layouts);
      const std::int64_t count = part.space[static_cast<std::size_t>(part.axis)];
      const Slots s = add_segments(l, count, first, true);
      return l.launch_grouped(static_cast<std::uint64_t>(l.lines.count() * ceil_div(count, segment_)), kScanThreads,
                              segment_, [&] { return sums_text(l, s); });
    });
  }
  void scan_segments(const ScanRequest& part, std::int64_t first) {
    run_in_layouts(backend_.limits(), [&](Layouts layouts) {
      LinePlan l(backend_, r_.op, 'e', part.space, part.axis, {&part.input, &part.output}, 1, layouts);
      const std::int64_t count = part.space[static_cast<std::size_t>(part.axis)];
      const Slots s = add_segments(l, count, first, false);
      return l.launch_grouped(static_cast<std::uint64_t>(l.lines.count() * ceil_div(count, segment_)), kScanThreads,
                              segment_, [&] { return scan_text(l, s); });
    });
  }

  /// Lines that say which line and which part of it, from `begin` to `end`, a workgroup has.
  std::string place_text(const LinePlan& l, const Slots& s) const {
    if (s.sums < 0) return cat("let line = group;\nlet begin = 0u;\nlet end = ", l.p(l.length_slot), ";\n");
    return cat("let line = group / ", l.p(s.here), ";\nlet part = group - line * ", l.p(s.here),
               ";\nlet begin = part * ", l.p(s.length), ";\nlet end = min(begin + ", l.p(s.length), ", ",
               l.p(l.length_slot), ");\n");
  }
  std::string place_of_sum(const LinePlan& l, const Slots& s) const {
    return cat("line * ", l.p(s.all), " + ", l.p(s.first), " + part");
  }
  /// Where in the line `count` elements lie that begin with the i-th in scanning order.
  std::string element(const LinePlan& l, const std::string& i, int count = 1) const {
    return r_.reverse ? cat(l.p(l.length_slot), " - ", count, "u - ", i) : i;
  }
  /// What was loaded or is stored together is in the order of memory.
  std::vector<std::string> in_order(std::vector<std::string> values) const {
    if (r_.reverse) std::reverse(values.begin(), values.end());
    return values;
  }

  std::string sums_text(const LinePlan& l, const Slots& s) const {
    const Dialect& d = backend_.dialect();
    Io io(l.plan, d);
    std::vector<std::string> line, names;
    std::string body = place_text(l, s) + io.coordinates(l.lines, "line", "c", line);
    std::string step = cat("let at = ", element(l, "i", l.group), ";\n", io.load(0, l.group_at(line, "at"), names));
    for (const std::string& value : in_order(names)) step += cat("sum = ", combine("sum", value), ";\n");
    body += cat("var sum = ", type_, "();\nfor (var i = begin + thread * ", l.group,
                "u; i < end; i += ", kScanThreads * l.group, "u) {\n", indented(step), "}\nsums[thread] = sum;\n",
                d.barrier());
    for (int reach = kScanThreads / 2; reach > 0; reach /= 2)
      body += cat("if (thread < ", reach,
                  "u) { sums[thread] = ", combine("sums[thread]", cat("sums[thread + ", reach, "u]")), "; }\n",
                  d.barrier());
    const std::string store = io.stored(l.plan.access(s.sums), place_of_sum(l, s), "sums[0]");
    body += cat("if (thread == 0u) {\n", indented(store), "}\n");
    return l.module("scan, sums of segments", body, {{type_, "sums", kScanThreads}});
  }

  /// Each step: every invocation sums a few neighbours, a tree over the workgroup gives what stands before them, and
  /// the sum of the step is carried to the next.
  std::string scan_text(const LinePlan& l, const Slots& s) const {
    const Dialect& d = backend_.dialect();
    Io io(l.plan, d);
    std::vector<std::string> line;
    std::string body = place_text(l, s) + io.coordinates(l.lines, "line", "c", line);
    body += cat("var carry = ", type_, "();\n");
    if (s.sums >= 0)
      body += cat("if (part + ", l.p(s.first),
                  " > 0u) { carry = ", io.loaded(l.plan.access(s.sums), cat(place_of_sum(l, s), " - 1u")), "; }\n");
    std::string step;
    const int each = std::max(l.group, kScanEach);
    for (int e = 0; e < each; ++e) step += cat("var s", e, " = ", type_, "();\n");
    for (int e = 0; e < each; e += l.group) {
      step += cat("let i", e, " = start + thread * ", each, "u + ", e, "u;\nlet line_at", e, " = ",
                  element(l, cat("i", e), l.group), ";\n");
      std::vector<std::string> names;
      std::string load = io.load(0, l.group_at(line, cat("line_at", e)), names);
      names = in_order(names);
      for (int k = 0; k < l.group; ++k) load += cat("s", e + k, " = ", names[static_cast<std::size_t>(k)], ";\n");
      step += cat("if (i", e, " < end) {\n", indented(load), "}\n");
    }
    for (int e = 1; e < each; ++e) step += cat("s", e, " = ", combine(cat("s", e - 1), cat("s", e)), ";\n");
    step += cat("sums[thread] = s", each - 1, ";\n", d.barrier());
    for (int reach = 1; reach < kScanThreads; reach *= 2)
      step += cat("var t", reach, " = sums[thread];\nif (thread >= ", reach, "u) { t", reach, " = ",
                  combine(cat("sums[thread - ", reach, "u]"), cat("t", reach)), "; }\n", d.barrier(),
                  "sums[thread] = t", reach, ";\n", d.barrier());
    step += "var before = carry;\n";
    step += cat("if (thread > 0u) { before = ", combine("carry", "sums[thread - 1u]"), "; }\n");
    for (int e = 0; e < each; e += l.group) {
      std::vector<std::string> values;
      for (int k = 0; k < l.group; ++k) values.push_back(combine("before", cat("s", e + k)));
      const std::string store = io.store(1, l.group_at(line, cat("line_at", e)), in_order(values), "");
      step += cat("if (i", e, " < end) {\n", indented(store), "}\n");
    }
    step += cat("carry = ", combine("carry", cat("sums[", kScanThreads - 1, "]")), ";\n", d.barrier());
    body += cat("for (var start = begin; start < end; start += ", kScanThreads * each, "u) {\n", indented(step), "}\n");
    return l.module(s.sums < 0 ? "scan" : "scan, segments", body, {{type_, "sums", kScanThreads}});
  }

  /// Each step: every invocation sums eight elements of its line, sees the sums of the line's seven others, and carries
  /// all eight to the next.
  std::string columns_text(const LinePlan& l) const {
    const Dialect& d = backend_.dialect();
    Io io(l.plan, d);
    std::vector<std::string> line;
    std::string body = cat("let line = group * ", kColumns, "u + thread % ", kColumns, "u;\nlet row = thread / ",
                           kColumns, "u;\nlet inside = line < ", l.p(l.lines_slot), ";\n");
    body += io.coordinates(l.lines, "line", "c", line) + cat("var carry = ", type_, "();\n");
    std::string step;
    for (int e = 0; e < kRowsEach; ++e) {
      const std::string i = cat("i", e);
      step += cat("let ", i, " = start + row * ", kRowsEach, "u + ", e, "u;\nlet at", e, " = ", element(l, i),
                  ";\nvar s", e, " = ", type_, "();\n");
      std::vector<std::string> names;
      const std::string load = io.load(0, l.at(line, cat("at", e)), names);
      step += cat("if (inside && ", i, " < ", l.p(l.length_slot), ") {\n",
                  indented(load + cat("s", e, " = ", names[0], ";\n")), "}\n");
    }
    for (int e = 1; e < kRowsEach; ++e) step += cat("s", e, " = ", combine(cat("s", e - 1), cat("s", e)), ";\n");
    step += cat("sums[thread] = s", kRowsEach - 1, ";\n", d.barrier(), "var before = carry;\n");
    for (int k = 0; k < kRowsOfThreads; ++k) {
      const std::string sum = cat("sums[", k * kColumns, "u + thread % ", kColumns, "u]");
      step += cat("carry = ", combine("carry", sum), ";\n");
      if (k + 1 < kRowsOfThreads) step += cat("if (row > ", k, "u) { before = carry; }\n");
    }
    for (int e = 0; e < kRowsEach; ++e) {
      const std::string store = io.store(1, l.at(line, cat("at", e)), {combine("before", cat("s", e))}, "");
      step += cat("if (inside && i", e, " < ", l.p(l.length_slot), ") {\n", indented(store), "}\n");
    }
    body += cat("for (var start = 0u; start < ", l.p(l.length_slot), "; start += ", kRowsOfThreads * kRowsEach,
                "u) {\n", indented(step + d.barrier()), "}\n");
    return l.module("scan, columns", body, {{type_, "sums", kScanThreads}});
  }

  GpuBackend& backend_;
  const ScanRequest& r_;
  Lane lane_;
  std::string type_;
  std::int64_t segment_ = 0, segments_ = 0;  // length and number, of a line
  View sums_;                                // [line, segment]; later the sums up to each
};

void Scan::run_scan(GpuBackend& backend, const ScanRequest& r) {
  bool fits = true;
  const int axis = axis_to_halve(backend, r.space, r.axis, {&r.input, &r.output}, fits);
  const auto along = static_cast<std::size_t>(r.axis);
  if (!fits && axis >= 0) {
    const auto a = static_cast<std::size_t>(axis);
    ScanRequest first = r, second = r;
    first.space[a] = r.space[a] > 32 ? round_up(r.space[a] / 2, 16) : r.space[a] / 2, second.space[a] -= first.space[a];
    second.input.offset += first.space[a] * r.input.strides[a],
        second.output.offset += first.space[a] * r.output.strides[a];
    run_scan(backend, first);
    return run_scan(backend, second);
  }
  const std::int64_t n = r.space[along], lines = r.space.numel() / n;
  if (fits && Scan(backend, r).run_columns()) return;
  if (fits && (n <= kShortLine || (lines >= kManyLines && n <= kLongestLine))) return Scan(backend, r).run_whole();
  std::int64_t window = n;
  if (!fits)
    for (const View* v : {&r.input, &r.output})
      window = std::min(window, most_bytes(backend) / static_cast<std::int64_t>(dtype_size(v->dtype)) /
                                    std::max<std::int64_t>(std::abs(v->strides[along]), 1));
  if (window < 2) too_long(backend, r.op);
  Scan(backend, r).run_in_segments(window);
}

// ---- sort ----
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

void GpuBackend::scan(const ScanRequest& r) {
  require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) Scan::run_scan(*this, r);
}

void GpuBackend::sort(const SortRequest& r) {
  require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) run_sort(*this, r);
}

}  // namespace tern::detail_gpu
