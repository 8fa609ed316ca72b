#include "formula/philox.hpp"

#include "formula/graph.hpp"
#include "formula/philox_constants.hpp"

namespace tern::detail {

std::array<Expr, 4> philox(const std::array<Expr, 4>& counter, Expr key_low, Expr key_high) {
  const auto word = [](std::uint32_t bits) { return cast(make_constant(std::int64_t{bits}), DType::u32); };
  auto [c0, c1, c2, c3] = counter;
  Expr k0 = key_low, k1 = key_high;
  const Expr m0 = word(kPhiloxMultipliers[0]), m1 = word(kPhiloxMultipliers[1]);
  for (std::uint32_t round = 0; round < kPhiloxRounds; ++round) {
    const Expr high0 = mul_high(c0, m0), low0 = c0 * m0, high1 = mul_high(c2, m1), low1 = c2 * m1;
    c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 = k0 + word(kPhiloxKeySteps[0]), k1 = k1 + word(kPhiloxKeySteps[1]);
  }
  return {c0, c1, c2, c3};
}

}  // namespace tern::detail
