// Scatter-reduce without float atomics: an invocation owns an element of the output and looks through the table in
// order, so that sums have the same bits every time. Work: output elements × table entries; large tables are sorted
// first (scatter_sorted.cpp). Cut into launches of 2^33 steps, so that no launch holds a display for long.
#include "gpu/scatter.hpp"

#include <algorithm>
#include <bit>

#include "gpu/io.hpp"
#include "gpu/text.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 33;
// Up to so many entries for each element, and steps in all, looking through them beats the kernels of a sort.
constexpr std::int64_t kFewEntries = 2048, kFewSteps = std::int64_t{1} << 30;

/// Whether the table is worth sorting, and a line of it fits what the sort can see.
bool should_sort(const GpuBackend& backend, const ScatterRequest& r) {
  std::int64_t length = 1, outputs = r.target.size;
  for (std::size_t i = 0; i < r.space.size(); ++i) (r.output.strides[i] == 0 ? length : outputs) *= r.space[i];
  const std::uint64_t room = 8 * std::bit_ceil(static_cast<std::uint64_t>(length));
  return (length > kFewEntries || outputs * length > kFewSteps) && room <= backend.limits().binding_bytes;
}

/// Entries [first, last) of the output along the indexed axis.
struct Entries {
  std::int64_t first = 0, last = 0;
};

class ScatterKernel {
 public:
  ScatterKernel(GpuBackend& backend, const ScatterRequest& request, Entries entries)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 's') {
    std::uint32_t summed = 0;
    for (int i = 0; i < r_.space.rank(); ++i)
      if (r_.output.strides[static_cast<std::size_t>(i)] == 0) summed |= 1u << i;
    const View* views[] = {&r_.output, &r_.source, &r_.target.table};
    const std::uint32_t all = (1u << r_.space.rank()) - 1;
    kept_ = merge_axes(r_.space, all & ~summed, views, 0), summed_ = merge_axes(r_.space, all & summed, views, 0);
    entries_ = entries.last - entries.first;
    count_slot_ = plan_.add_param(static_cast<std::uint64_t>(kept_.count() * entries_));
    kept_slot_ = plan_.add_param(static_cast<std::uint64_t>(kept_.count()));
    first_slot_ = plan_.add_param(static_cast<std::uint64_t>(entries.first));
    begin_slot_ = plan_.add_param(0), end_slot_ = plan_.add_param(0);
    size_slot_ = plan_.add_param(static_cast<std::uint64_t>(r_.target.size));
    step_slot_ = plan_.add_param(static_cast<std::uint64_t>(r_.target.step));
    plan_.add_axes(kept_), plan_.add_axes(summed_);
    for (std::size_t v = 0; v < 3; ++v) {
      std::vector<std::int64_t> strides = kept_.strides[v];
      strides.insert(strides.end(), summed_.strides[v].begin(), summed_.strides[v].end());
      plan_.add_access(*views[v], strides, v == 0);
    }
    flags_view_ = {&backend_.index_flags(), DType::u32, 0, {}};
    plan_.make_atomic(plan_.add_access(flags_view_, {}, true));
    plan_.launch.check_slot = plan_.add_param(0), plan_.launch.checked_size = r_.target.size;
    const std::vector<std::int64_t> sizes(r_.space.begin(), r_.space.end());
    Operand output;
    output.view = r_.output;
    detail::Gather all_entries = r_.target;
    output.gather = &all_entries;
    plan_.bind(
        {bytes_touched(output, sizes), bytes_touched(r_.source, sizes), bytes_touched(r_.target.table, sizes), {0, 8}});
  }

  void run() {
    plan_.note(r_.combine), plan_.note(r_.source.dtype);
    plan_.launch.threads = std::min<std::uint32_t>(256, backend_.limits().threads);
    plan_.note(plan_.launch.threads);
    plan_.finish_key();
    const std::int64_t outputs = kept_.count() * entries_, length = summed_.count();
    const std::int64_t most = std::max<std::int64_t>(1, kMostSteps / std::max<std::int64_t>(outputs, 1));
    for (std::int64_t begin = 0; begin < length; begin += most) {
      plan_.set(begin_slot_, static_cast<std::uint64_t>(begin));
      plan_.set(end_slot_, static_cast<std::uint64_t>(std::min(length, begin + most)));
      plan_.launch.groups = static_cast<std::uint64_t>(ceil_div(outputs, plan_.launch.threads));
      backend_.queue(plan_.launch, [this] { return text(); });
    }
  }

 private:
  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const auto p = [&](int slot) { return d.param(slot); };
    std::string body =
        cat("let t = group * ", plan_.launch.threads, "u + thread;\nif (t >= ", p(count_slot_), ") { return; }\n");
    body += cat("let entry = t / ", p(kept_slot_), ";\nlet k = t - entry * ", p(kept_slot_), ";\nlet wanted = entry + ",
                p(first_slot_), ";\n");
    Position at;
    std::vector<std::string> summed;
    body += io.coordinates(kept_, "k", "c", at.coordinates);
    const std::string inner = io.coordinates(summed_, "j", "d", summed);
    at.coordinates.insert(at.coordinates.end(), summed.begin(), summed.end());
    const Access &output = plan_.access(0), &source = plan_.access(1), &table = plan_.access(2);
    Position outside = at;
    for (std::size_t i = kept_.sizes.size(); i < outside.coordinates.size(); ++i) outside.coordinates[i] = "0u";
    body += cat("let to = ", io.element(output, outside, 0), " + wanted * ", p(step_slot_), ";\n");
    body += cat("var acc = ", io.loaded(output, "to"), ";\n");
    std::string step = inner;
    step += cat("let index = ", io.loaded(table, io.element(table, at, 0)), ";\n");
    step += cat("let place = bitcast<u32>(index) + select(0u, ", p(size_slot_), ", index < 0);\n");
    step += cat("if (place >= ", p(size_slot_), ") {\n  if (entry == 0u) {\n    ",
                d.report_index(plan_.access(3).binding, p(plan_.launch.check_slot), "index"), "  }\n}\n");
    step +=
        cat("if (place == wanted) { acc = ",
            d.leaf(r_.combine, detail::lane_of(r_.source.dtype), {"acc", io.loaded(source, io.element(source, at, 0))}),
            "; }\n");
    body += cat("for (var j = ", p(begin_slot_), "; j < ", p(end_slot_), "; j += 1u) {\n", indented(step), "}\n");
    body += io.stored(output, "to", "acc");
    return d.module({"scatter", plan_.launch.bindings, plan_.launch.params.size(), plan_.launch.threads, {}, "", body});
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  Plan plan_;
  Axes kept_, summed_;
  View flags_view_;
  std::int64_t entries_ = 0;
  int count_slot_, kept_slot_, first_slot_, begin_slot_, end_slot_, size_slot_, step_slot_;
};

/// Halves the request until every buffer fits a binding: along the axis the widest operand reaches furthest over.
void run_scatter(GpuBackend& backend, const ScatterRequest& r, Entries entries) {
  if (r.space.numel() == 0 || entries.first >= entries.last) return;
  const auto most =
      static_cast<std::int64_t>(backend.limits().binding_bytes) - backend.limits().binding_alignment - kVectorBytes;
  const std::vector<std::int64_t> sizes(r.space.begin(), r.space.end());
  int axis = -1;
  std::int64_t furthest = 0;
  for (const View* v : {&r.source, &r.output, &r.target.table}) {
    const ByteRange touched = bytes_touched(*v, sizes);
    if (static_cast<std::int64_t>(v->storage->bytes()) <= most || touched.end - touched.begin <= most) continue;
    for (int i = 0; i < r.space.rank(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t reach = (r.space[a] - 1) * std::abs(v->strides[a]);
      if (r.space[a] > 1 && reach > furthest) furthest = reach, axis = i;
    }
  }
  if (axis < 0 && should_sort(backend, r)) return run_scatter_sorted(backend, r);
  if (axis < 0) return ScatterKernel(backend, r, entries).run();
  const auto a = static_cast<std::size_t>(axis);
  ScatterRequest first = r, second = r;
  first.space[a] = r.space[a] / 2, second.space[a] = r.space[a] - first.space[a];
  second.source.offset += first.space[a] * r.source.strides[a],
      second.output.offset += first.space[a] * r.output.strides[a];
  second.target.table.offset += first.space[a] * r.target.table.strides[a];
  run_scatter(backend, first, entries);
  run_scatter(backend, second, entries);
}

}  // namespace

void GpuBackend::scatter(const ScatterRequest& r) {
  require_supported(r.op, r.source.dtype);
  run_scatter(*this, r, {0, r.target.size});
}

}  // namespace tern::detail_gpu
