#include "primitives/attention/gpu/gpu_tiles.hpp"

#include <algorithm>
#include <span>

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::AttentionSizes;
using detail::ComputeType;

namespace {

// {own, others, part_m, across, depth, step}: of each list the first that fits the device's memory is taken.
//
// An invocation of the first has 4 × 4 scores and 4 × 16 of 128 sums: five vectors are loaded for 64 multiplications by
// shares. H100 through WebGPU, 27 November 2026, f32 4x16x4096x128 and x64, TFLOP/s: 128 rows by 32 columns, steps of
// 32 29.7, 26.6, of 16 26.4, 23.9; 64 by 32 18.4, 27.1; 64 by 64, of 32 28.0, 24.5, parts of 8 rows 22.4, 20.4.
constexpr ScoreTile kForwardMiddle[] = {{128, 32, 4, 8, 32, 32}, {128, 32, 4, 8, 16, 16}, {64, 64, 4, 16, 32, 32},
                                        {64, 64, 4, 16, 16, 16}},
                    kForwardNarrow[] = {{64, 32, 4, 8, 32, 32}}, kForwardWide[] = {{64, 64, 4, 16, 16, 8}};
// Forward and both gradients, ms: these 85.1, 44.7; rows as the columns 86.6, 45.1, the other way round 87.1, 47.3.
constexpr ScoreTile kOfRows[] = {{64, 64, 4, 16, 32, 32}, {64, 64, 4, 16, 16, 16}},
                    kOfRowsNarrow[] = {{64, 32, 4, 8, 32, 32}}, kOfRowsWide[] = {{64, 64, 4, 16, 16, 8}};
constexpr ScoreTile kOfColumns[] = {{128, 32, 4, 8, 32, 32}, {128, 32, 4, 8, 16, 16}, {64, 64, 4, 16, 32, 32},
                                    {64, 64, 4, 16, 16, 16}},
                    kOfColumnsWide[] = {{32, 64, 4, 16, 16, 8}};
// For few rows, or 16 KiB of workgroup memory; and compute types of 64 bits.
constexpr ScoreTile kFewRowsTile = {32, 32, 4, 8, 8, 8}, kFewRowsWideTile = {32, 64, 4, 16, 8, 4};
constexpr std::int64_t kFewGroups = 64, kMostNarrow = 64, kMostMiddle = 128;

/// With `peaks`, a vector for each four rows and invocation across them.
bool fits(const ScoreTile& t, const Limits& limits, std::int64_t width, bool peaks) {
  const int vectors = t.vectors_of_shares() + t.vectors_of_steps(width) + (peaks ? t.across * t.own / 4 : 0);
  return static_cast<std::uint32_t>(vectors * kVectorBytes + 16) <= limits.shared_bytes &&
         static_cast<std::uint32_t>(t.threads()) <= limits.threads;
}

/// What a kernel's workgroups are made for: so many own rows in each of `heads`, and a width. `in_blocks`: a mask's
/// block says of a whole tile what is seen.
struct WantedTile {
  std::int64_t own, heads, width;
  bool wide, peaks, in_blocks;
};
ScoreTile choose_tile(const Limits& limits, const WantedTile& w, std::span<const ScoreTile> list) {
  for (const ScoreTile& t : list) {
    const bool in_block = !w.in_blocks || t.own <= detail::kMaskBlock;
    const bool many = w.own > kFewRowsTile.own && w.heads * ceil_div(w.own, t.own) >= kFewGroups;
    if (!w.wide && in_block && many && fits(t, limits, w.width, w.peaks)) return t;
  }
  return w.width > kMostMiddle ? kFewRowsWideTile : kFewRowsTile;
}
/// The list for a width.
std::span<const ScoreTile> list_of(std::int64_t width, std::span<const ScoreTile> narrow,
                                   std::span<const ScoreTile> middle, std::span<const ScoreTile> wide) {
  return width > kMostMiddle ? wide : width > kMostNarrow ? middle : narrow;
}

}  // namespace

ScoreTile forward_tile(const Limits& limits, const AttentionSizes& s, ComputeType type, bool in_blocks) {
  const std::int64_t width = std::max(s.width, std::min(s.depth, kMostMiddle));  // q and k pass by in steps
  return choose_tile(limits, {s.rows, s.batch * s.heads, s.width, detail::is_wide(type), true, in_blocks},
                     list_of(width, kForwardNarrow, kForwardMiddle, kForwardWide));
}
ScoreTile backward_tile(const Limits& limits, const AttentionSizes& s, ComputeType type, bool of_rows,
                        bool in_blocks) {
  const std::int64_t width = std::max(s.depth, s.width);
  return choose_tile(limits,
                     {of_rows ? s.rows : s.columns, s.batch * (of_rows ? s.heads : s.groups), width,
                      detail::is_wide(type), false, in_blocks},
                     of_rows ? list_of(width, kOfRowsNarrow, kOfRows, kOfRowsWide)
                             : list_of(width, kOfColumns, kOfColumns, kOfColumnsWide));
}

void tile_holes(const ScoreTile& tile, Holes& h) {
  h["tile_rows"] = cat(tile.own, "u"), h["tile_columns"] = cat(tile.others, "u");
  h["tile_depth"] = cat(tile.depth, "u"), h["tile_step"] = cat(tile.step, "u"), h["across"] = cat(tile.across, "u");
  h["part_m"] = cat(tile.part_m, "u"), h["part_rows"] = numbers(0, tile.part_m);
  h["part_columns"] = numbers(0, tile.part_n()), h["blocks"] = numbers(0, tile.part_m / 4);
  h["rows_between_blocks"] = cat(4 * tile.down(), "u"), h["blocks_apart"] = cat(tile.down(), "u");
  h["lines"] = cat(tile.own / 4, "u");
}

void store_in_vectors(Plan& plan, int access, std::int64_t size) {
  const Access& a = plan.access(access);
  if (a.size() == 4 && fits_in(a, size, 4)) plan.make_wide(access);
  if (a.size() < 4 && !(fits_in(a, size, 4 / a.size()) && size % 4 == 0)) plan.merge_parts(access);
}

std::string store_sum(Io& io, int access, const std::vector<std::string>& at, const std::string& column,
                      const std::vector<std::string>& values, const std::string& count, std::int64_t size) {
  Position place{at, static_cast<int>(at.size()), 4};
  place.coordinates.push_back("at");
  const std::string guard = size % 4 ? cat("at + $0 < ", count) : std::string();
  return cat("if (", column, " < ", count, ") {\n",
             indented(cat("let at = ", column, ";\n", io.store(access, place, values, guard))), "}\n");
}

std::string ScoreTiles::vector() const { return cat("vec4<", compute_type_name(type_), ">"); }
std::string ScoreTiles::column(int c) const { return cat(c / 4 * 4 * tile_.across + c % 4, "u + tx * 4u"); }
std::string ScoreTiles::line(int c) const { return cat(c * tile_.across, "u + tx"); }
std::string ScoreTiles::column_of_line(const std::string& line) const {
  const std::string in_four = cat(line, " % ", tile_.across, "u * 4u + ", line, " / ", tile_.across, "u");
  if (tile_.part_n() == 4) return cat("(", in_four, ")");
  const std::string four = cat(4 * tile_.across, "u");
  return cat("(", line, " / ", four, " * ", four, " + ", line, " % ", tile_.across, "u * 4u + ((", line, " / ",
             tile_.across, "u) & 3u))");
}
std::string ScoreTiles::element(const std::string& row, int e) const { return cat(row, e / 4, ".", "xyzw"[e % 4]); }

std::string ScoreTiles::score_steps(const TileRead& own, const TileRead& others, const std::string& depth,
                                    const std::string& sums) const {
  const std::string behind = cat(tile_.own * tile_.depth / 4, "u + ");  // where the others' tile begins
  TileSteps steps{.at = "kt", .end = depth, .step = cat(tile_.depth, "u")};
  for (const TileRead* read : {&own, &others}) {
    TileFetch fetch{.memory = "steps", .at = read == &own ? std::string() : behind};
    fetch.across = read == &own ? tile_.own : tile_.others, fetch.deep = tile_.depth;
    fetch.stride = fetch.across / 4, fetch.along_k = fetch.swizzled = true, fetch.wide = read->wide;
    const std::string row = cat("(", read->first, " + o)");
    const Access& a = plan_.access(read->access);
    fetch.place = io_.element(a, {{read->at[0], read->at[1], row, "(kt + kk)"}, -1, 1}, 0);
    fetch.inside = cat(row, " < ", read->count, " && kt + kk < ", depth);
    steps.fetches.emplace_back(&a, fetch);
  }
  steps.multiply =
      multiply_tiles({.type = type_, .a = "steps[", .b = cat("steps[", behind), .stride_a = tile_.own / 4,
                      .stride_b = tile_.others / 4, .part_m = tile_.part_m, .part_n = tile_.part_n(),
                      .between_m = tile_.down(), .between_n = tile_.across, .deep = tile_.depth, .swizzled_a = true,
                      .swizzled_b = true, .sums = sums});
  steps.threads = tile_.threads();
  return tile_steps(io_, dialect_, type_, steps);
}
std::string ScoreTiles::sum_steps(const TileRead& others, const std::string& size, std::int64_t width,
                                  const std::string& sums) const {
  TileSteps steps{.at = "step", .end = cat(tile_.others, "u"), .step = cat(tile_.step, "u")};
  TileFetch fetch{.memory = "steps"};
  fetch.across = tile_.sums(width), fetch.deep = tile_.step, fetch.stride = fetch.across / 4, fetch.wide = others.wide;
  const std::string row = cat("(", others.first, " + ", column_of_line("(step + kk)"), ")");
  const Access& a = plan_.access(others.access);
  fetch.place = io_.element(a, {{others.at[0], others.at[1], row, "o"}, -1, 1}, 0);
  fetch.inside = cat(row, " < ", others.count, " && o < ", size);
  steps.fetches.emplace_back(&a, fetch);
  steps.multiply =
      multiply_tiles({.type = type_, .a = cat("shares[step_now * ", tile_.line(), "u + "), .b = "steps[",
                      .stride_a = tile_.line(), .stride_b = tile_.sums(width) / 4, .part_m = tile_.part_m,
                      .part_n = tile_.sums_n(width), .between_m = tile_.down(), .between_n = tile_.across,
                      .deep = tile_.step, .sums = sums});
  steps.threads = tile_.threads();
  return tile_steps(io_, dialect_, type_, steps);
}
std::string ScoreTiles::put(const std::string& shares, const std::string& values) const {
  std::string lines;
  for (int c = 0; c < tile_.part_n(); ++c)
    for (int b = 0; b < tile_.part_m / 4; ++b) {
      std::vector<std::string> four;
      for (int r = 4 * b; r < 4 * b + 4; ++r) four.push_back(element(cat(values, r, "_"), c));
      lines += cat(shares, "[(", line(c), ") * ", tile_.line(), "u + ", b * tile_.down(), "u + ty] = ", vector(), "(",
                   join(four), ");\n");
    }
  return lines;
}
std::string ScoreTiles::rotate(const std::string& sums, const std::string& values, const std::string& done) const {
  std::string lines;
  for (int j = 0; j < tile_.part_n() / 4; ++j) {
    std::vector<std::string> four;
    for (int c = 4 * j; c < 4 * j + 4; ++c) four.push_back(cat(values, c));
    lines += cat("let ", done, j, " = ", vector(), "(", join(four), ");\n");
  }
  return lines + move_sums_up(sums, tile_.part_m, tile_.part_n(), done);
}

}  // namespace tern::detail_gpu
