// Scan: running results along one axis.
#include <algorithm>
#include <bit>

#include "formula/compute_types.hpp"
#include "gpu/text/combining.hpp"
#include "gpu/plan/lines.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/scan/kernels.hpp"

namespace tern::detail_gpu {

using detail::ComputeType;
using detail::ScanRequest;

namespace {

constexpr const char* kScan =
#include "primitives/scan/scan.wgsl.inc"
    ;
constexpr const char* kScanSums =
#include "primitives/scan/scan_sums.wgsl.inc"
    ;
constexpr const char* kScanColumns =
#include "primitives/scan/scan_columns.wgsl.inc"
    ;
constexpr const char* kScanPieces =
#include "primitives/scan/scan_pieces.wgsl.inc"
    ;

// Short lines are one workgroup's. Longer ones are cut into segments: a kernel sums each, the sums are scanned (as
// lines of their own), and a kernel scans each segment from what stands before it. Where cuts are depends on sizes
// alone.
constexpr int kScanThreads = 256, kScanEach = 4;
constexpr std::int64_t kScanSegment = 8192;
// Up to these, a workgroup to a line takes less memory traffic, and no longer.
constexpr std::int64_t kWholeLine = 2 * kScanSegment, kManyLines = 256, kLongestLine = 1 << 20;
// Where other lines are the neighbours in memory, and many: 32 lines a workgroup, eight invocations to a line.
constexpr int kColumns = 32, kRowsEach = 8, kRowsOfThreads = kScanThreads / kColumns;
constexpr std::int64_t kManyScanColumns = 2048;
// Up to this, an invocation takes a column by itself.
constexpr std::int64_t kShortColumn = 64;

/// Segments of the lines, and the buffer of a number for each: [line, segment].
struct Segments {
  std::int64_t length = 0, count = 0;
  View sums = {};
};
/// Parameters of a kernel on segments: how many to a line here and in all, which is the first, their length; and the
/// access of their sums. -1 where lines are whole.
struct SegmentSlots {
  int here = -1, all = -1, first = -1, length = -1, sums = -1;
};

/// What a kernel's text needs to know.
struct ScanText {
  const LinePlan& l;
  const ScanRequest& r;
  SegmentSlots slots = {};
  int of_line = kScanThreads;  // invocations
};

// ---- text ----

/// What was loaded or is stored together is in the order of memory.
std::vector<std::string> in_order(std::vector<std::string> values, bool reverse) {
  if (reverse) std::reverse(values.begin(), values.end());
  return values;
}

/// What all three files have. `together`: elements that lie together, the last in scanning order first in memory where
/// it is reversed.
Holes shared_holes(const ScanText& t, int together) {
  const LinePlan& l = t.l;
  const bool whole = t.slots.sums < 0;
  const ComputeType type = detail::compute_type_of(t.r.input.dtype);
  Holes holes{{"type", compute_type_name(type)},
              {"identity", combining_identity(t.r.combine, type)},
              {"barrier", l.backend.dialect().barrier()},
              {"threads", cat(kScanThreads)},
              {"length", l.p(l.length_slot)},
              {"lines", l.p(l.lines_slot)},
              {"parts", whole ? "1u" : l.p(t.slots.here)},
              {"part_length", l.p(whole ? l.length_slot : t.slots.length)},
              {"from_the_end", t.r.reverse ? cat(l.p(l.length_slot), " - ", together, "u - ") : std::string()}};
  holes.merge(pieces(kScanPieces));
  return holes;
}

/// The kernel: `file` with its holes filled, and the function that combines two elements.
std::string scan_module(const ScanText& t, const char* title, const char* file, const Holes& holes) {
  const ComputeType type = detail::compute_type_of(t.r.input.dtype);
  return t.l.module(title, fill_holes(file, holes), {{compute_type_name(type), "sums", kScanThreads}},
                    combining_function(t.l.backend.dialect(), t.r.combine, type));
}

std::string place_of_sum(const ScanText& t) {
  return cat("line * ", t.l.p(t.slots.all), " + ", t.l.p(t.slots.first), " + part");
}

std::string sums_text(const ScanText& t) {
  const LinePlan& l = t.l;
  Io io(l.plan, l.backend.dialect());
  std::vector<std::string> line, names;
  Holes holes = shared_holes(t, l.group);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  holes["load"] = io.load(0, l.group_at(line, "at"), names);
  holes["loaded"] = join(in_order(names, t.r.reverse), " ");
  holes["group"] = cat(l.group), holes["halves"] = powers_of_two(kScanThreads, true);
  holes["store"] = io.stored(l.plan.access(t.slots.sums), place_of_sum(t), "sums[0]");
  return scan_module(t, "scan, sums of segments", kScanSums, holes);
}

std::string scan_text(const ScanText& t) {
  const LinePlan& l = t.l;
  Io io(l.plan, l.backend.dialect());
  std::vector<std::string> line;
  const int each = std::max(l.group, kScanEach);
  Holes holes = shared_holes(t, l.group);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  holes["each"] = cat(each), holes["elements"] = numbers(0, each), holes["later_elements"] = numbers(1, each);
  holes["groups"] = numbers(0, each, l.group), holes["reaches"] = powers_of_two(t.of_line);
  holes["of_line"] = cat(t.of_line);
  const bool several = t.of_line < kScanThreads;
  holes["line"] = several ? cat("let line = group * ", kScanThreads / t.of_line, "u + thread / ", t.of_line, "u;\n",
                                "let part = 0u;\n")
                          : cat("let line = group / ", holes["parts"], ";\nlet part = group - line * ", holes["parts"],
                                ";\n");
  holes["is_line"] = several ? cat(" && line < ", l.p(l.lines_slot)) : std::string();
  holes["last"] = several ? cat("thread - place + ", t.of_line - 1, "u") : cat(kScanThreads - 1, "u");
  holes["carry_in"] = "";
  if (t.slots.sums >= 0)
    holes["carry_in"] = cat("if (part + ", l.p(t.slots.first), " > 0u) { carry = ",
                            io.loaded(l.plan.access(t.slots.sums), cat(place_of_sum(t), " - 1u")), "; }");
  for (int e = 0; e < each; e += l.group) {
    const Position at = l.group_at(line, cat("line_at", e));
    std::vector<std::string> names, results;
    std::string& load = holes[cat("load_", e)] = io.load(0, at, names);
    names = in_order(names, t.r.reverse);
    for (int k = 0; k < l.group; ++k) {
      load += cat("s", e + k, " = ", names[static_cast<std::size_t>(k)], ";\n");
      results.push_back(cat("y", e + k));
    }
    holes[cat("store_", e)] = io.store(1, at, in_order(results, t.r.reverse), "");
  }
  const char* const title = several ? "scan, short lines" : t.slots.sums < 0 ? "scan" : "scan, segments";
  return scan_module(t, title, kScan, holes);
}

std::string columns_text(const ScanText& t) {
  const LinePlan& l = t.l;
  Io io(l.plan, l.backend.dialect());
  std::vector<std::string> line;
  Holes holes = shared_holes(t, 1);
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  holes["columns"] = cat(kColumns), holes["rows"] = cat(kRowsOfThreads), holes["rows_each"] = cat(kRowsEach);
  holes["elements"] = numbers(0, kRowsEach), holes["later_elements"] = numbers(1, kRowsEach);
  holes["other_rows"] = numbers(0, kRowsOfThreads - 1), holes["last_row"] = cat(kRowsOfThreads - 1, "u");
  for (int e = 0; e < kRowsEach; ++e) {
    const Position at = l.at(line, cat("at", e));
    std::vector<std::string> names;
    const std::string load = io.load(0, at, names);
    holes[cat("load_", e)] = cat(load, "s", e, " = ", names[0], ";\n");
    holes[cat("store_", e)] = io.store(1, at, {cat("y", e)}, "");
  }
  return scan_module(t, "scan, columns", kScanColumns, holes);
}

// ---- launches ----

std::int64_t length_of(const ScanRequest& r) { return r.space[static_cast<std::size_t>(r.axis)]; }
void note(LinePlan& l, const ScanRequest& r) {
  l.plan.note(r.combine), l.plan.note(r.reverse), l.plan.note(r.input.dtype);
}

/// Whether neighbours in memory are elements of other lines.
bool lies_in_columns(const LinePlan& l) {
  for (const Access& a : l.plan.accesses)
    if (l.lines.sizes.empty() || a.steps[l.lines.sizes.size() - 1] != '1' || a.steps.back() == '1') return false;
  return true;
}

/// Invocations of a line that a workgroup scans whole: of columns one, whose loads are then of neighbours.
int invocations_of(const LinePlan& l, std::int64_t length) {
  if (lies_in_columns(l) && length <= kShortColumn) return 1;
  const std::int64_t wanted = ceil_div(length, kScanEach);
  return wanted >= kScanThreads ? kScanThreads : static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
}

/// A workgroup to a line, or to several short ones: 2^20 lines of 3 took 1681 us with one each, where as many elements
/// in lines of 768 take 11 (H200, CUDA, 30 November 2026).
void scan_whole(GpuBackend& backend, const ScanRequest& r) {
  run_in_layouts(backend.limits(), [&](Layouts layouts) {
    LinePlan l(backend, r.op, 'c', r.space, r.axis, {&r.input, &r.output}, 1, layouts);
    const int of_line = backend.limits().archived ? kScanThreads : invocations_of(l, length_of(r));
    note(l, r), l.plan.note(of_line);
    return l.launch_grouped(static_cast<std::uint64_t>(ceil_div(l.lines.count(), kScanThreads / of_line)), kScanThreads,
                            length_of(r), [&] { return scan_text({l, r, {}, of_line}); });
  });
}

/// False, having done nothing, where lines are not columns, or few, or short.
bool scan_columns(GpuBackend& backend, const ScanRequest& r) {
  if (backend.limits().archived || backend.limits().threads < kScanThreads) return false;
  LinePlan l(backend, r.op, 'f', r.space, r.axis, {&r.input, &r.output}, 1);
  if (l.lines.sizes.empty() || l.lines.sizes.back() < kColumns || l.lines.count() < kManyScanColumns ||
      length_of(r) > kLongestLine || length_of(r) <= kShortColumn || !lies_in_columns(l))
    return false;
  note(l, r);
  l.launch(static_cast<std::uint64_t>(ceil_div(l.lines.count(), kColumns)), kScanThreads,
           [&] { return columns_text({l, r}); });
  return true;
}

/// The request from element `first` in scanning order on, at most `count` of a line.
ScanRequest part_of(const ScanRequest& r, std::int64_t first, std::int64_t count) {
  ScanRequest part = r;
  const auto axis = static_cast<std::size_t>(r.axis);
  part.space[axis] = std::min(count, length_of(r) - first);
  const std::int64_t at = r.reverse ? length_of(r) - first - part.space[axis] : first;
  part.input.offset += at * r.input.strides[axis], part.output.offset += at * r.output.strides[axis];
  return part;
}

/// A workgroup to a segment of a part that begins with the segment `first`: its sum, or its running sums.
void launch_segments(GpuBackend& backend, const ScanRequest& part, std::int64_t first, const Segments& segments,
                     bool sums) {
  run_in_layouts(backend.limits(), [&](Layouts layouts) {
    std::vector<const View*> views{&part.input};
    if (!sums) views.push_back(&part.output);
    LinePlan l(backend, part.op, sums ? 'd' : 'e', part.space, part.axis, views, 1, layouts);
    note(l, part);
    const std::int64_t here = ceil_div(length_of(part), segments.length);
    const auto add = [&](std::int64_t value) { return l.plan.add_param(static_cast<std::uint64_t>(value)); };
    SegmentSlots slots;
    slots.here = add(here), slots.all = add(segments.count), slots.first = add(first);
    slots.length = add(segments.length), slots.sums = l.add_words(segments.sums, sums);
    return l.launch_grouped(static_cast<std::uint64_t>(l.lines.count() * here), kScanThreads, segments.length, [&] {
      const ScanText text{l, part, slots};
      return sums ? sums_text(text) : scan_text(text);
    });
  });
}

void run_scan(GpuBackend& backend, const ScanRequest& r);

/// `window`: elements of a line that a kernel can see.
void scan_in_segments(GpuBackend& backend, const ScanRequest& r, std::int64_t window) {
  const std::int64_t n = length_of(r), lines = r.space.numel() / n;
  Segments segments;
  segments.length = std::min(kScanSegment, window);
  if (window < n) window = window / segments.length * segments.length;
  segments.count = ceil_div(n, segments.length);
  const DType dtype = dtype_computed_in(detail::compute_type_of(r.input.dtype));
  const std::shared_ptr<Storage> sums = backend.temporary(lines * segments.count, dtype);
  segments.sums = {sums.get(), dtype, 0, {segments.count, 1}};
  for (const bool first_pass : {true, false}) {
    for (std::int64_t first = 0; first < n; first += window)
      launch_segments(backend, part_of(r, first, window), first / segments.length, segments, first_pass);
    if (first_pass)
      run_scan(backend, {r.op, r.combine, Shape{lines, segments.count}, 1, false, segments.sums, segments.sums});
  }
}

void run_scan(GpuBackend& backend, const ScanRequest& r) {
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
  if (fits && scan_columns(backend, r)) return;
  if (fits && (n <= kWholeLine || (lines >= kManyLines && n <= kLongestLine))) return scan_whole(backend, r);
  std::int64_t window = n;
  if (!fits)
    for (const View* v : {&r.input, &r.output})
      window = std::min(window, most_bytes(backend) / static_cast<std::int64_t>(dtype_size(v->dtype)) /
                                    std::max<std::int64_t>(std::abs(v->strides[along]), 1));
  if (window < 2) too_long(backend, r.op);
  scan_in_segments(backend, r, window);
}

}  // namespace

void scan_on_gpu(GpuBackend& backend, const ScanRequest& r) {
  backend.require_supported(r.op, r.input.dtype);
  if (r.space.numel() > 0) run_scan(backend, r);
}

}  // namespace tern::detail_gpu
