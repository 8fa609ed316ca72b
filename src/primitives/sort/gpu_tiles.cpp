// Lines that a workgroup sorts by digits in its memory.
#include <bit>

#include "primitives/sort/gpu_job.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kTileInSubgroups =
#include "primitives/sort/sort_tile.wgsl.inc"
    ;
constexpr const char* kSortTile =
#include "primitives/sort/sort_tile.cu.inc"
    ;

constexpr std::int64_t kLeastTile = 512;  // longer lines a workgroup sorts by digits, where it has the memory

/// A line in a workgroup's memory: CUDA's kernel, and WebGPU's in subgroups, which has places after values there.
std::string tile_text(const SortJob& job, const LinePlan& l, int tile, int flip) {
  const bool in_warps = job.dialect().native();
  Io io(l.plan, job.dialect());
  std::vector<std::string> line;
  SortResults results;
  Holes holes = sort_holes(l, job.dtype);
  holes["coordinates"] = io.coordinates(l.lines, "group", "c", line);
  load_bits(holes, l, io, l.group_at(line, "i"), job.dtype);
  for (int e = 0; e < l.group; ++e) {
    const std::string at = cat("[i + ", e, "u]"), word = cat("atomicLoad(&words", at, ")");
    results.values.push_back(unpacked(job.dtype, in_warps ? "staged" + at : word));
    results.places.push_back(cat("i32(", in_warps ? "places" + at : word, ")"));
  }
  store_results(holes, job, io, l.group_at(line, "i"), 1, results);
  holes["key_bits"] = cat(key_bits(job.dtype)), holes["tile_each"] = cat(tile / 256), holes["flip"] = l.p(flip);
  const std::string key = key_function(job.dialect(), job.dtype);
  if (in_warps)
    return l.module(
        "sort, tiles", fill_holes(kSortTile, holes),
        {{word_of(job.dtype), "staged", tile}, {"u16", "places", tile}, {"u32", "counts", 2048}, {"u32", "sums", 256}},
        ranking_functions() + key);
  holes.merge(ranking_in_subgroups(job.dialect(), tile, kSortThreads));
  holes["shift"] = "shift", holes["beside"] = "0u";
  return l.module("sort, tiles in subgroups", fill_holes(kTileInSubgroups, holes), ranking_memory(tile, kSortThreads),
                  key, true);
}

bool sorts_whole_line(const SortJob& job) {
  return job.wanted == job.n && job.r.rank_count == 0 && job.n <= Radix::longest_line(job.dtype);
}

}  // namespace

bool fits_sort_tile(const SortJob& job) {
  const Limits& limits = job.backend.limits();
  if (!limits.native) return ranks_in_subgroups(limits) && sorts_whole_line(job) && job.n > kSortBlock;
  return !limits.archived && sorts_whole_line(job) && job.n > kLeastTile;
}

void sort_tiles(const SortJob& job) {
  LinePlan l(job.backend, job.r.op, 't', job.r.space, job.r.axis, job.views({&job.r.input}), 1, Layouts::own);
  l.plan.note(job.to_values()), l.plan.note(job.to_indices());
  const auto tile = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(job.n)));
  l.plan.note(tile);
  const int flip = l.plan.add_param(job.flip());
  l.plan.launch.in_bounds = true;
  l.launch_grouped(static_cast<std::uint64_t>(job.lines), kSortThreads, job.n,
                   [&] { return tile_text(job, l, tile, flip); });
}

}  // namespace tern::detail_gpu
