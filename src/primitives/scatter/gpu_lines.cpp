// Scatter-reduce where every line of the output has a table of its own: a warp to a line (scatter_lines.cu), or a
// workgroup to a few that are neighbours in memory (scatter_columns.cu). WebGPU's are added by teams of 32
// (scatter_teams.wgsl).
#include <algorithm>

#include "formula/compute_types.hpp"
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
constexpr const char* kColumnsText =
#include "primitives/scatter/scatter_columns.cu.inc"
    ;
constexpr const char* kTeams =
#include "primitives/scatter/scatter_teams.wgsl.inc"
    ;
constexpr const char* kInLaneOrder =
#include "primitives/scatter/scatter_in_lane_order.cu.inc"
    ;
constexpr const char* kLinePieces =
#include "primitives/scatter/scatter_line_pieces.wgsl.inc"
    ;

constexpr std::int64_t kLeastLines = 64, kLeastEntries = 256;
constexpr std::int64_t kLineBytes = 32 << 10;  // of results in the workgroup's memory
// Entries an invocation fetches before it adds the first: of lines by warps 2, 4 and 8 took 197, 159 and 178 us, of
// neighbouring ones, where they need memory of the workgroup, 386, 446 and 428 (4096², CUDA, H200, 29 November 2026).
constexpr int kAhead = 4, kAheadAcross = 2;
// Lines of a workgroup where they are neighbours in memory. Three such workgroups, of lines of 4096 words, run on a
// processor of an H100.
constexpr int kLinesAcross = 4;
constexpr int kTeamThreads = 256, kTeam = 32;  // of WebGPU's
constexpr int kWordsApart = 8;                // words between what neighbours have, so that they do not meet in a bank

class LineScatter {
 public:
  LineScatter(GpuBackend& backend, const ScatterRequest& request)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 'T'), axes_(request) {}
  /// Whether it is the kernel for the request.
  bool fits() const {
    if (backend_.limits().archived || (!native() && backend_.limits().threads < kTeamThreads)) return false;
    for (std::size_t i = 0; i < axes_.kept.sizes.size(); ++i)
      if (axes_.kept.strides[2][i] == 0) return false;  // lines that share a table
    return axes_.kept.count() >= kLeastLines && axes_.summed.count() >= kLeastEntries &&
           r_.target.size * type_bytes() <= kLineBytes && (native() || lines_of_teams(held()) > 0);
  }
  void run() {
    count_ = plan_.add_param(static_cast<std::uint64_t>(axes_.summed.count()));
    size_ = plan_.add_param(static_cast<std::uint64_t>(r_.target.size));
    line_count_ = plan_.add_param(static_cast<std::uint64_t>(axes_.kept.count()));
    plan_.add_axes(axes_.kept), plan_.add_axes(axes_.summed);
    old_ = add_operands(backend_, plan_, r_, axes_, views_);
    if (dtype_size(r_.output.dtype) < 4) plan_.merge_parts(0);
    const int held = this->held();
    const int across = lines_across(held);
    plan_.note(r_.combine), plan_.note(r_.source.dtype), plan_.note(held), plan_.note(across);
    plan_.finish_key();
    plan_.launch.threads = static_cast<std::uint32_t>(native() ? kWarp * across : kTeamThreads);
    plan_.launch.groups = static_cast<std::uint64_t>(ceil_div(axes_.kept.count(), across));
    plan_.launch.in_bounds = true;
    if (native() && across > 1) plan_.launch.shared_bytes = static_cast<std::uint32_t>(across_bytes(held));
    backend_.queue(plan_.launch, [&] { return text(held, across); });
  }

 private:
  bool native() const { return backend_.dialect().native(); }
  /// Elements that a line's memory has, of few sizes: each is a text.
  int held() const {
    int held = 1024;
    while (held < r_.target.size) held *= 2;
    return held;
  }
  /// Lines there is room for beside each other in scatter_teams.wgsl, 1, 2 or none.
  int lines_of_teams(int held) const {
    const std::int64_t room = backend_.limits().shared_bytes - kTeamThreads * (type_bytes() + 4);
    return static_cast<int>(std::clamp<std::int64_t>(room / ((held + kWordsApart) * type_bytes()), 0, 2));
  }
  std::int64_t type_bytes() const {
    return static_cast<std::int64_t>(dtype_size(dtype_computed_in(detail::compute_type_of(r_.source.dtype))));
  }
  /// Memory of a workgroup that has several lines of so many results.
  std::int64_t across_bytes(int held) const {
    const std::int64_t step = kWarp * kAheadAcross + kWordsApart;
    return kLinesAcross * ((held + kWordsApart) * type_bytes() + step * (type_bytes() + 4));
  }
  int lines_across(int held) const {
    const std::size_t inner = axes_.kept.sizes.size() - 1;
    const bool neighbours = std::abs(axes_.kept.strides[1][inner]) == 1 && std::abs(axes_.kept.strides[2][inner]) == 1;
    if (!neighbours) return 1;
    if (!native()) return lines_of_teams(held);
    return across_bytes(held) <= backend_.limits().most_shared_bytes ? kLinesAcross : 1;
  }
  std::string text(int held, int across) const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const detail::ComputeType type = detail::compute_type_of(r_.source.dtype);
    const int ahead = native() && across > 1 ? kAheadAcross : kAhead;
    Position line, outside, inside;
    std::vector<std::string> entry, old;
    Holes holes{{"type", compute_type_name(type)},
                {"size", d.param(size_)},
                {"count", d.param(count_)},
                {"ahead", cat(ahead)},
                {"entries", numbers(0, ahead)}};
    holes.merge(pieces(kLinePieces));
    holes["add_in_lane_order"] = kInLaneOrder, holes["lines"] = d.param(line_count_);
    holes["across"] = cat(across), holes["pitch"] = cat(held + kWordsApart);
    holes["step"] = cat(kWarp * ahead), holes["step_pitch"] = cat(kWarp * ahead + kWordsApart);
    const bool of_group = native() && across == 1;
    holes["line_coordinates"] = io.coordinates(axes_.kept, of_group ? "group" : "line", "c", line.coordinates);
    holes["inside"] = of_group ? "true" : "inside";
    holes["entry_coordinates"] = io.coordinates(axes_.summed, "j", "d", entry);
    outside.coordinates = inside.coordinates = line.coordinates;
    inside.coordinates.insert(inside.coordinates.end(), entry.begin(), entry.end());
    inside.coordinates.push_back("0u");
    outside.coordinates.resize(inside.coordinates.size() - 1, "0u"), outside.coordinates.push_back("k");
    holes["load_old"] = io.load(old_, outside, old), holes["old_0"] = old[0];
    const char* const results = native() ? "results" : "sums";
    const std::string result = of_group ? "sums[k]" : cat(results, "[column * ", held + kWordsApart, "u + k]");
    holes["store"] = io.store(0, outside, {result}, "");
    name_index(holes, plan_, io, d, 2, 3, inside);
    for (int e = 0; e < ahead; ++e) {
      std::vector<std::string> values;
      holes[cat("load_", e)] = io.load(1, inside, values), holes[cat("new_", e)] = values[0];
    }
    const std::string combine = combining_function(d, r_.combine, type);
    if (!native()) {
      const int each = kTeamThreads / across;
      holes["barrier"] = d.barrier(), holes["each"] = cat(each);
      holes["fours"] = numbers(0, kTeam / 4), holes["turns"] = numbers(0, each / kTeam);
      return d.module({"scatter, lines by teams",
                       plan_.launch.bindings,
                       plan_.launch.params.size(),
                       plan_.launch.threads,
                       {{compute_type_name(type), "sums", across * (held + kWordsApart)},
                        {"vec4<u32>", "named", kTeamThreads / 4},
                        {compute_type_name(type), "numbers", kTeamThreads}},
                       combine,
                       fill_holes(kTeams, holes)});
    }
    if (across > 1)
      return d.module({"scatter, neighbouring lines", plan_.launch.bindings, plan_.launch.params.size(),
                       plan_.launch.threads, {}, combine, fill_holes(kColumnsText, holes)});
    return d.module({"scatter, lines", plan_.launch.bindings, plan_.launch.params.size(), plan_.launch.threads,
                     {{compute_type_name(type), "sums", held}}, combine, fill_holes(kLines, holes)});
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  Plan plan_;
  ScatterAxes axes_;  // kept: the lines, summed: their entries
  ScatterViews views_;
  int count_ = -1, size_ = -1, line_count_ = -1, old_ = 0;
};

}  // namespace

bool run_scatter_lines(GpuBackend& backend, const ScatterRequest& request) {
  LineScatter scatter(backend, request);
  if (!scatter.fits()) return false;
  scatter.run();
  return true;
}

}  // namespace tern::detail_gpu
