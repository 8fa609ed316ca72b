#include "gpu/reductions/reduce_join.hpp"

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kTree =
#include "gpu/reductions/reduce_join.wgsl.inc"
    ;
constexpr const char* kWarps =
#include "gpu/reductions/reduce_join.cu.inc"
    ;

Holes join_pieces() {
  Holes all = pieces(kTree);
  all.merge(pieces(kWarps));
  return all;
}

}  // namespace

Holes JoinText::names() const {
  static const auto& file = *new Holes(join_pieces());  // outlives what is in static storage
  Holes holes = file;
  const auto threads = static_cast<std::size_t>(tiling.threads());
  holes["results"] = join(to, " ");
  for (std::size_t n = 0; n < to.size(); ++n) {
    const std::string further = n ? cat(" + ", n * threads, "u") : std::string();
    const std::string word = cat(wide ? "shared_pairs" : "shared_words", "[", kFirst, further, "]");
    holes["word_" + to[n]] = word, holes["value_" + to[n]] = cat("bitcast<", type, ">(", word, ")");
    holes["part_" + to[n]] = from[n];
  }
  holes["bits"] = cat("bitcast<", wide ? "u64" : "u32", ">");
  holes["barrier"] = dialect.barrier();
  return holes;
}

std::string JoinText::text(const std::string& combined) const {
  Holes holes = names();
  holes["combined"] = combined;
  if (tiling.along == 1) return fill_holes("$take_parts\n", holes);
  return has_warps() ? in_warps(holes) : tree(holes);
}

std::string JoinText::tree(Holes& holes) const {
  holes["halves"] = powers_of_two(tiling.along, true);
  for (int half = 1; half < tiling.along; half *= 2)
    holes[cat("reach_", half)] = cat(half * (tiling.rows ? 1 : tiling.across), "u");
  holes["first"] = tiling.rows ? cat("tx * ", tiling.along, "u") : std::string("tx");
  return fill_holes("$tree\n", holes);
}

/// Without barriers within a warp: softmax of 16384 x 1024 bf16 on an H200 spent two thirds of its time in them.
std::string JoinText::in_warps(Holes& holes) const {
  const int unit = tiling.rows ? 1 : tiling.across, threads = tiling.threads(), lanes = this->lanes();
  holes["distances"] = powers_of_two(lanes, true);
  for (int distance = 1; distance < lanes; distance *= 2)
    holes[cat("from_", distance)] = dialect.from_neighbour(kFirst, distance * unit, threads);
  if (lanes < tiling.along) return fill_holes("$in_warp\n", holes) + of_warps(holes);
  const std::string first = tiling.rows ? cat("(thread & ", kWarp - lanes, "u)") : cat("(thread & ", unit - 1, "u)");
  holes["from_first"] = dialect.from_invocation(kFirst, first, threads);
  return fill_holes("$in_warp\n$share_first\n", holes);
}

/// What the warps have, a result for every so many lanes: everyone joins all of it, in the same order.
std::string JoinText::of_warps(Holes& holes) const {
  const int lanes = this->lanes(), parts = tiling.along / lanes;
  const std::string part = lanes > 1 ? cat("ty / ", lanes, "u") : std::string("ty");
  holes["mine"] = tiling.rows ? cat("tx * ", parts, "u + ", part) : cat("(", part, ") * ", tiling.across, "u + tx");
  holes["lanes"] = cat(lanes);
  holes["later_parts"] = numbers(1, parts);
  for (int k = 0; k < parts; ++k)
    holes[cat("place_", k)] = tiling.rows ? cat("tx * ", parts, "u + ", k, "u") : cat("tx + ", k * tiling.across, "u");
  return fill_holes(lanes > 1 ? "$leave_first\n$join_warps\n" : "$leave\n$join_warps\n", holes);
}

}  // namespace tern::detail_gpu
