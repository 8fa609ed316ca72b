#include "gpu/reduce_online.hpp"

#include "gpu/printer.hpp"
#include "gpu/text.hpp"

namespace tern::detail_gpu {

using detail::Lane;
using detail::Leaf;

std::string OnlineText::bits(const std::string& x) const {
  return cat("bitcast<", lane_ == Lane::f64 ? "u64" : "u32", ">(", x, ")");
}

/// By its bits: a compiler of WGSL may take it that there are no infinities.
std::string OnlineText::finite(const std::string& m) const {
  const char* const exponent = lane_ == Lane::f64 ? "0x7ff0000000000000ull" : "0x7f800000u";
  return cat("select(", literal(Number(0.0), lane_), ", ", m, ", (", bits(m), " & ", exponent, ") != ", exponent, ")");
}

std::string OnlineText::power(const std::string& x, const std::string& shift) const {
  return exp(leaf(Leaf::sub, x, shift));
}

std::string OnlineText::scale(const std::string& sum, const std::string& before, const std::string& now) const {
  const std::string factor = exp(leaf(Leaf::sub, before, finite(now)));
  return cat("if (", bits(before), " != ", bits(now), ") { ", sum, " = ", leaf(Leaf::mul, sum, factor), "; }\n");
}

std::string OnlineText::joined(const Sum& sum, const Sum& part, const std::string& copy,
                               const std::string& both) const {
  return cat("var ", copy, " = ", part.sum, ";\n", scale(copy, part.max, both), scale(sum.sum, sum.max, both));
}

std::string OnlineText::finished(const std::string& sum, const std::string& m, const std::string& shift) const {
  return leaf(Leaf::mul, sum, exp(leaf(Leaf::sub, finite(m), shift)));
}

}  // namespace tern::detail_gpu
