#include "gpu/reductions/reduce_join.hpp"

#include <algorithm>

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

std::string JoinText::word(const std::string& at, std::size_t e) const {
  const auto threads = static_cast<std::size_t>(tiling.threads());
  return cat(wide ? "shared_pairs" : "shared_words", "[", at, e ? cat(" + ", e * threads, "u") : std::string(), "]");
}
std::string JoinText::value(const std::string& at, std::size_t e) const {
  return cat("bitcast<", type, ">(", word(at, e), ")");
}

std::string JoinText::text(const std::function<std::string(const std::string&, const std::string&)>& combined) const {
  const std::size_t group = from.size();
  std::string lines;
  if (tiling.along == 1) {
    for (std::size_t e = 0; e < group; ++e) lines += cat("let ", to[e], " = ", from[e], ";\n");
    return lines;
  }
  if (!dialect.from_neighbour("", 1, tiling.threads()).empty()) return in_warps(combined);
  const char* const bits = wide ? "u64" : "u32";
  const int distance = tiling.rows ? 1 : tiling.across;
  for (std::size_t e = 0; e < group; ++e) lines += cat(word("thread", e), " = bitcast<", bits, ">(", from[e], ");\n");
  lines += dialect.barrier();
  for (int half = tiling.along / 2; half > 0; half /= 2) {
    std::string one;
    for (std::size_t e = 0; e < group; ++e) {
      const std::string other = cat("thread + ", half * distance, "u");
      one += cat(word("thread", e), " = bitcast<", bits, ">(", combined(value("thread", e), value(other, e)), ");\n");
    }
    lines += cat("if (ty < ", half, "u) {\n", indented(one), "}\n", dialect.barrier());
  }
  const std::string first = tiling.rows ? cat("tx * ", tiling.along, "u") : std::string("tx");
  for (std::size_t e = 0; e < group; ++e) lines += cat("let ", to[e], " = ", value(first, e), ";\n");
  return lines + dialect.barrier();
}

/// Without barriers within a warp: softmax of 16384 x 1024 bf16 on an H200 spent two thirds of its time in them.
std::string JoinText::in_warps(const Combined& combined) const {
  const int unit = tiling.rows ? 1 : tiling.across, threads = tiling.threads();
  const int lanes = unit < kWarp ? std::min(tiling.along, kWarp / unit) : 1;  // of a warp, for one kept position
  std::string lines;
  for (std::size_t e = 0; e < from.size(); ++e) {
    const std::string part = cat("warp_", to[e]);
    lines += cat("var ", part, " = ", from[e], ";\n");
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
      const std::string other = cat(part, "_", distance);
      lines += cat("let ", other, " = ", dialect.from_neighbour(part, distance * unit, threads), ";\n");
      lines += cat(part, " = ", combined(part, other), ";\n");
    }
  }
  if (lanes < tiling.along) return lines + of_warps(combined, lanes);
  // Of equal numbers with different bits (0 and -0) each invocation may have kept another.
  const std::string first = tiling.rows ? cat("(thread & ", kWarp - lanes, "u)") : cat("(thread & ", unit - 1, "u)");
  for (std::size_t e = 0; e < from.size(); ++e)
    lines += cat("let ", to[e], " = ", dialect.from_lane(cat("warp_", to[e]), first, threads), ";\n");
  return lines;
}

/// What the warps have, a result for every so many lanes: everyone joins all of it, in the same order.
std::string JoinText::of_warps(const Combined& combined, int lanes) const {
  const int parts = tiling.along / lanes;
  const char* const bits = wide ? "u64" : "u32";
  const std::string part = lanes > 1 ? cat("ty / ", lanes, "u") : std::string("ty");
  const std::string mine =
      tiling.rows ? cat("tx * ", parts, "u + ", part) : cat("(", part, ") * ", tiling.across, "u + tx");
  std::string stores, lines;
  for (std::size_t e = 0; e < from.size(); ++e)
    stores += cat(word(mine, e), " = bitcast<", bits, ">(warp_", to[e], ");\n");
  lines += lanes > 1 ? cat("if (ty % ", lanes, "u == 0u) {\n", indented(stores), "}\n") : stores;
  lines += dialect.barrier();
  const auto at = [&](int k) {
    return tiling.rows ? cat("tx * ", parts, "u + ", k, "u") : cat("tx + ", k * tiling.across, "u");
  };
  for (std::size_t e = 0; e < from.size(); ++e) {
    lines += cat("var ", to[e], " = ", value(at(0), e), ";\n");
    for (int k = 1; k < parts; ++k) {
      const std::string other = cat("of_", to[e], "_", k);
      lines += cat("let ", other, " = ", value(at(k), e), ";\n", to[e], " = ", combined(to[e], other), ";\n");
    }
  }
  return lines + dialect.barrier();
}

}  // namespace tern::detail_gpu
