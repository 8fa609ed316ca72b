// Scan: running results along one axis.
#include <algorithm>

#include "gpu/plan/lines.hpp"
#include "primitives/scan/kernels.hpp"

namespace tern::detail_gpu {

using detail::Lane;
using detail::ScanRequest;

namespace {

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

}  // namespace

void scan_on_gpu(GpuBackend& backend, const ScanRequest& r) {
  backend.require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) Scan::run_scan(backend, r);
}

}  // namespace tern::detail_gpu
