#include "gpu/reduce_join.hpp"

#include "gpu/text.hpp"

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
  const char* const bits = wide ? "u64" : "u32";
  const int distance = tiling.rows ? 1 : tiling.across;
  for (std::size_t e = 0; e < group; ++e) lines += cat(word("thread", e), " = bitcast<", bits, ">(", from[e], ");\n");
  lines += dialect.barrier();
  for (int half = tiling.along / 2; half > 0; half /= 2) {
    std::string one;
    for (std::size_t e = 0; e < group; ++e) {
      const std::string other = cat("thread + ", half * distance, "u");
      one += cat(word("thread", e), " = bitcast<", bits, ">(", combined(value("thread", e), value(other, e)), ");",
                 group > 1 ? "\n" : " ");
    }
    lines += group > 1 ? cat("if (ty < ", half, "u) {\n", indented(one), "}\n")
                       : cat("if (ty < ", half, "u) { ", one, "}\n");
    lines += dialect.barrier();
  }
  const std::string first = tiling.rows ? cat("tx * ", tiling.along, "u") : std::string("tx");
  for (std::size_t e = 0; e < group; ++e) lines += cat("let ", to[e], " = ", value(first, e), ";\n");
  return lines + dialect.barrier();
}

}  // namespace tern::detail_gpu
