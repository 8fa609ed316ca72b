// Logarithms and roots of what a formula keeps in a range (gpu/text/known_range.hpp): kernels of GPUs leave out what
// such numbers cannot be, and the bits are those of an operand, of which nothing is known.
#include <cmath>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class KnownRanges : public EveryDevice {};
TERN_EVERY_DEVICE(KnownRanges);

constexpr std::int64_t kWords = 1 << 18;

/// Numbers in [0, 1) from the upper 24 bits of words that are spread over all of them; element 0 is 0.
Expr fraction(Expr i) {
  const Expr word = cast(i, u32) * 2654435769ll;
  return cast(cast(word >> 8, i32), f32) * 0x1p-24;
}
Expr signed_fraction(Expr i) {
  const Expr word = cast(cast(i, u32) * 2654435769ll, i32);
  return cast(word >> 8, f32) * 0x1p-23;
}

/// Of functions without captures, whose numbers are constants of the kernel.
template <class Argument, class Function> void expect_same_bits(const std::string& what, Argument, Function) {
  const Tensor i = arange(kWords, {.dtype = i32, .device = default_device()});
  const Pointwise together("known", [](Expr n) { return Function{}(Argument{}(n)); });
  const Pointwise argument("argument", [](Expr n) { return Argument{}(n); }), function("function", Function{});
  const std::vector<double> known = doubles(together(i)), plain = doubles(function(argument(i)));
  ASSERT_EQ(known.size(), plain.size());
  for (std::size_t n = 0; n < known.size(); ++n)
    ASSERT_TRUE((known[n] == plain[n] && std::signbit(known[n]) == std::signbit(plain[n])) ||
                (std::isnan(known[n]) && std::isnan(plain[n])))
        << what << " of word " << n << ": " << known[n] << ", of an operand " << plain[n];
}

template <class Argument> void expect_roots_and_logarithms(const std::string& what, Argument argument) {
  expect_same_bits(what + ", log", argument, [](Expr x) { return log(x); });
  expect_same_bits(what + ", sqrt", argument, [](Expr x) { return sqrt(x); });
  expect_same_bits(what + ", both", argument, [](Expr x) { return sqrt(-2.0 * log(x)); });
}

TEST_P(KnownRanges, GiveTheBitsOfOperands) {
  expect_roots_and_logarithms("[0, 1)", [](Expr i) { return fraction(i); });
  expect_roots_and_logarithms("(0, 1]", [](Expr i) { return fraction(i) + 0x1p-24; });
  expect_roots_and_logarithms("some thousands", [](Expr i) { return (fraction(i) + 1.5) * 4e3; });
  expect_roots_and_logarithms("-0 and below", [](Expr i) { return -fraction(i); });
  expect_roots_and_logarithms("either sign", [](Expr i) { return signed_fraction(i); });
  expect_roots_and_logarithms("tiny", [](Expr i) { return fraction(i) * 0x1p-50 * 0x1p-40; });
  expect_roots_and_logarithms("huge", [](Expr i) { return fraction(i) * 0x1p70 * 0x1p59; });
  expect_roots_and_logarithms("differences", [](Expr i) { return fraction(i) + -0.5 * fraction(i); });
}

}  // namespace
}  // namespace tern::test
