// Scatter-reduce where every line of the output has a table of its own: a warp to a line (scatter_lines.cu). CUDA's.
#include "gpu/text/combining.hpp"
#include "gpu/text/io.hpp"
#include "primitives/scatter/gpu.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kLines =
#include "primitives/scatter/scatter_lines.cu.inc"
    ;

constexpr std::int64_t kLeastLines = 64, kLeastEntries = 256;
constexpr std::int64_t kLineBytes = 32 << 10;  // of results in the workgroup's memory
constexpr int kAhead = 4;                      // entries an invocation fetches before it adds the first

class LineScatter {
 public:
  LineScatter(GpuBackend& backend, const ScatterRequest& request)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 'T') {
    std::uint32_t summed = 0;
    for (int i = 0; i < r_.space.rank(); ++i)
      if (r_.output.strides[static_cast<std::size_t>(i)] == 0) summed |= 1u << i;
    const View* views[] = {&r_.output, &r_.source, &r_.target.table};
    const std::uint32_t all = (1u << r_.space.rank()) - 1;
    lines_ = merge_axes(r_.space, all & ~summed, views, 0), entries_ = merge_axes(r_.space, all & summed, views, 0);
  }
  /// Whether it is the kernel for the request.
  bool fits() const {
    if (!backend_.dialect().native() || backend_.limits().archived) return false;
    for (std::size_t i = 0; i < lines_.sizes.size(); ++i)
      if (lines_.strides[2][i] == 0) return false;  // lines that share a table
    return lines_.count() >= kLeastLines && entries_.count() >= kLeastEntries &&
           r_.target.size * static_cast<std::int64_t>(dtype_size(r_.source.dtype)) <= kLineBytes;
  }
  void run() {
    count_ = plan_.add_param(static_cast<std::uint64_t>(entries_.count()));
    size_ = plan_.add_param(static_cast<std::uint64_t>(r_.target.size));
    plan_.add_axes(lines_), plan_.add_axes(entries_);
    const View* views[] = {&r_.output, &r_.source, &r_.target.table};
    for (std::size_t v = 0; v < 3; ++v) {
      std::vector<std::int64_t> strides = lines_.strides[v];
      strides.insert(strides.end(), entries_.strides[v].begin(), entries_.strides[v].end());
      strides.push_back(v == 0 ? r_.target.step : 0);  // the place in the line, as one more axis
      plan_.add_access(*views[v], strides, v == 0);
    }
    const View flags{&backend_.index_flags(), DType::u32, 0, {}};
    plan_.make_atomic(plan_.add_access(flags, {}, true));
    plan_.launch.check_slot = plan_.add_param(0), plan_.launch.checked_size = r_.target.size;
    const std::vector<std::int64_t> sizes(r_.space.begin(), r_.space.end());
    Operand output;
    output.view = r_.output, output.gather = &r_.target;
    plan_.bind(
        {bytes_touched(output, sizes), bytes_touched(r_.source, sizes), bytes_touched(r_.target.table, sizes), {0, 8}});
    const auto most = static_cast<int>(kLineBytes / static_cast<std::int64_t>(dtype_size(r_.source.dtype)));
    int held = 1024;  // elements, of few sizes: each is a text
    while (held < r_.target.size && held < most) held *= 2;
    plan_.note(r_.combine), plan_.note(r_.source.dtype), plan_.note(held);
    plan_.finish_key();
    plan_.launch.threads = kWarp, plan_.launch.groups = static_cast<std::uint64_t>(lines_.count());
    backend_.queue(plan_.launch, [&] { return text(held); });
  }

 private:
  std::string text(int held) const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const detail::ComputeType type = detail::compute_type_of(r_.source.dtype);
    Position line, outside, inside;
    std::vector<std::string> entry, old;
    Holes holes{{"type", compute_type_name(type)},        {"size", d.param(size_)},          {"count", d.param(count_)},
                {"ahead", cat(kAhead)},           {"entries", numbers(0, kAhead)}};
    holes["line_coordinates"] = io.coordinates(lines_, "group", "c", line.coordinates);
    holes["entry_coordinates"] = io.coordinates(entries_, "j", "d", entry);
    outside.coordinates = inside.coordinates = line.coordinates;
    inside.coordinates.insert(inside.coordinates.end(), entry.begin(), entry.end());
    inside.coordinates.push_back("0u");
    outside.coordinates.resize(inside.coordinates.size() - 1, "0u"), outside.coordinates.push_back("k");
    holes["load_old"] = io.load(0, outside, old), holes["old_0"] = old[0];
    holes["store"] = io.store(0, outside, {"sums[k]"}, "");
    name_index(holes, plan_, io, d, 2, 3, inside);
    for (int e = 0; e < kAhead; ++e) {
      std::vector<std::string> values;
      holes[cat("load_", e)] = io.load(1, inside, values), holes[cat("new_", e)] = values[0];
    }
    return d.module({"scatter, lines", plan_.launch.bindings, plan_.launch.params.size(), plan_.launch.threads,
                     {{compute_type_name(type), "sums", held}}, combining_function(d, r_.combine, type),
                     fill_holes(kLines, holes)});
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  Plan plan_;
  MergedAxes lines_, entries_;
  int count_ = -1, size_ = -1;
};

}  // namespace

bool run_scatter_lines(GpuBackend& backend, const ScatterRequest& request) {
  LineScatter scatter(backend, request);
  if (!scatter.fits()) return false;
  scatter.run();
  return true;
}

}  // namespace tern::detail_gpu
