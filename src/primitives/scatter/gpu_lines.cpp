// Scatter-reduce where every line of the output has a table of its own: a warp to a line (scatter_lines.cu), or a
// workgroup to a few that are neighbours in memory (scatter_columns.cu). WebGPU's are added by invocations that vote
// (scatter_lines_in_subgroups.wgsl) or by teams of 32 (scatter_teams.wgsl).
#include <algorithm>
#include <bit>

#include "formula/compute_types.hpp"
#include "gpu/plan/lines.hpp"
#include "gpu/radix/radix.hpp"
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
constexpr const char* kInSubgroups =
#include "primitives/scatter/scatter_lines_in_subgroups.wgsl.inc"
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
// Of WebGPU's that vote, of each line: 32 share a bit of a tag, of two lines all 32 bits. And results that a line has
// there at least. Along rows and columns of 4096² 512 took 287 and 593 us, 768 290 and 532, 1024 292 and 476 (H200, 30
// November 2026), and all entries in one place, along rows, 2971, 2952 and 2982.
constexpr int kVoters = 512, kLeastVotedOn = 4096, kLeastTags = 512;
// Memory of a workgroup up to which there is another beside it on an H200.
constexpr std::int64_t kSharedByTwo = 24 << 10;
constexpr std::int64_t kDrawingBytes = 32;  // what draws slots, and counts turns
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
           r_.target.size * type_bytes() <= kLineBytes && (native() || lines_of_workgroup() > 0);
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
    plan_.launch.threads = static_cast<std::uint32_t>(native() ? kWarp * across : workers(across, votes()));
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
  /// Whether WebGPU's workgroups vote (scatter_lines_in_subgroups.wgsl): where lines have few results, entries meet so
  /// often that teams are quicker (1000 places 206 and 214 us, 10 places 350 and 531 of 4096², H200, 30 November 2026).
  bool votes() const {
    return !native() && backend_.limits().subgroups && held() >= kLeastVotedOn && fits_beside(1, true);
  }
  std::int64_t workers(int lines, bool voting) const { return voting ? lines * kVoters : kTeamThreads; }
  /// Memory of a workgroup of WebGPU's, tags aside.
  std::int64_t workgroup_bytes(int lines, bool voting) const {
    const std::int64_t entry = voting ? type_bytes() : type_bytes() + 4, drawing = voting ? kDrawingBytes : 0;
    return lines * (held() + kWordsApart) * type_bytes() + workers(lines, voting) * entry + drawing;
  }
  bool fits_beside(int lines, bool voting) const {
    const Limits& limits = backend_.limits();
    return workers(lines, voting) <= limits.threads &&
           workgroup_bytes(lines, voting) + (voting ? 4 * kLeastTags : 0) <= limits.shared_bytes;
  }
  /// Lines there is room for beside each other on WebGPU, 1, 2 or none.
  int lines_of_workgroup() const {
    const bool voting = votes();
    return fits_beside(2, voting) ? 2 : fits_beside(1, voting) ? 1 : 0;
  }
  /// Tags of places: as many as there is room for without fewer workgroups beside each other.
  int tag_count(int lines) const {
    const std::int64_t bytes = workgroup_bytes(lines, true), most = backend_.limits().shared_bytes;
    const std::int64_t all = bytes + 4 * kLeastTags <= kSharedByTwo ? std::min(kSharedByTwo, most) : most;
    return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(all - bytes) / 4));
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
    if (!native()) return lines_of_workgroup();
    return across_bytes(held) <= backend_.limits().most_shared_bytes ? kLinesAcross : 1;
  }
  std::string text(int held, int across) const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const detail::ComputeType type = detail::compute_type_of(r_.source.dtype);
    const int ahead = votes() ? 1 : native() && across > 1 ? kAheadAcross : kAhead;
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
    const char* const results = native() || votes() ? "results" : "sums";
    const std::string result = of_group ? "sums[k]" : cat(results, "[column * ", held + kWordsApart, "u + k]");
    holes["store"] = io.store(0, outside, {result}, "");
    name_index(holes, plan_, io, d, 2, 3, inside);
    for (int e = 0; e < ahead; ++e) {
      std::vector<std::string> values;
      holes[cat("load_", e)] = io.load(1, inside, values), holes[cat("new_", e)] = values[0];
    }
    const std::string combine = combining_function(d, r_.combine, type);
    if (!native() && votes()) return voting_module(holes, held, across, combine);
    if (!native()) return team_module(holes, held, across, combine);
    if (across > 1)
      return d.module({"scatter, neighbouring lines", plan_.launch.bindings, plan_.launch.params.size(),
                       plan_.launch.threads, {}, combine, fill_holes(kColumnsText, holes)});
    return d.module({"scatter, lines", plan_.launch.bindings, plan_.launch.params.size(), plan_.launch.threads,
                     {{compute_type_name(type), "sums", held}}, combine, fill_holes(kLines, holes)});
  }

  std::string team_module(Holes& holes, int held, int across, const std::string& combine) const {
    const std::string type = compute_type_name(detail::compute_type_of(r_.source.dtype));
    const int each = kTeamThreads / across;
    holes["barrier"] = backend_.dialect().barrier(), holes["each"] = cat(each);
    holes["fours"] = numbers(0, kTeam / 4), holes["turns"] = numbers(0, each / kTeam);
    return module_text(backend_, plan_, "scatter, lines by teams", fill_holes(kTeams, holes),
                       {{type, "sums", across * (held + kWordsApart)},
                        {"vec4<u32>", "named", kTeamThreads / 4},
                        {type, "numbers", kTeamThreads}},
                       combine, votes());
  }
  std::string voting_module(Holes& holes, int held, int across, const std::string& combine) const {
    const std::string type = compute_type_name(detail::compute_type_of(r_.source.dtype));
    const int tags = tag_count(across), voters = kVoters * across;
    holes.merge(drawing_in_subgroups(backend_.dialect()));
    holes["workers"] = cat(voters), holes["each"] = cat(kVoters), holes["tags"] = cat(tags);
    holes["held"] = cat(held), holes["bits"] = numbers(0, std::bit_width(static_cast<unsigned>(held * across - 1)));
    return module_text(backend_, plan_, "scatter, lines in subgroups", fill_holes(kInSubgroups, holes),
                       {{type, "results", across * (held + kWordsApart)},
                        {type, "numbers", voters},
                        {"atomic<u32>", "tags", tags},
                        {"atomic<u32>", "most", 2},
                        {"u32", "turns_of_all", 1},
                        {"atomic<u32>", "drawn", 1},
                        {"vec2<u32>", "sums", 1}},
                       combine, votes());
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  Plan plan_;
  ScatterAxes axes_;  // kept: the lines, summed: their entries
  ScatterViews views_;
  int count_ = -1, size_ = -1, line_count_ = -1, old_ = 0;
};

}  // namespace

bool fits_scatter_lines(GpuBackend& backend, const ScatterRequest& request) {
  return LineScatter(backend, request).fits();
}

bool run_scatter_lines(GpuBackend& backend, const ScatterRequest& request) {
  LineScatter scatter(backend, request);
  if (!scatter.fits()) return false;
  scatter.run();
  return true;
}

}  // namespace tern::detail_gpu
