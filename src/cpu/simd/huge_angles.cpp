// Argument reduction after Payne and Hanek ("Radian reduction for trigonometric functions", 1983): only the bits of
// 2/pi that matter for x mod 2pi are multiplied, so that the remainder is exact for every double.
#include "cpu/simd/huge_angles.hpp"

#include <cmath>
#include <cstdint>

namespace tern::detail_cpu {
namespace {

/// The first 1280 bits of 2/pi behind the binary point: 971 (the largest exponent of a 53-bit integer) + 192 are read.
constexpr std::uint64_t kTwoOverPi[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

/// 64 bits of 2/pi from bit `first` on (1 is the one behind the point).
std::uint64_t bits_from(int first) {
  const int word = (first - 1) / 64, shift = (first - 1) % 64;
  return shift == 0 ? kTwoOverPi[word] : kTwoOverPi[word] << shift | kTwoOverPi[word + 1] >> (64 - shift);
}

struct ReducedAngle {
  int quadrant;
  double high, low;  // the rest, at most pi/4 in size
};

/// A 190-bit fraction of a quarter turn, as two doubles in radians.
void to_radians(const std::uint64_t fraction[3], bool negative, ReducedAngle& angle) {
  // From the first bit that is set: 128 bits, the upper and the lower half of which are two doubles.
  unsigned __int128 top = static_cast<unsigned __int128>(fraction[2]) << 64 | fraction[1];
  int scale = -126;  // bit 190 of the fraction is the units' place
  std::uint64_t rest = fraction[0];
  for (; !(top >> 127) && (top || rest); --scale) {
    top = top << 1 | rest >> 63;
    rest <<= 1;
  }
  const auto upper = static_cast<std::uint64_t>(top >> 75);  // 53 bits: exact
  const auto lower = static_cast<std::uint64_t>(top >> 22 & ((std::uint64_t{1} << 53) - 1));
  const double f = std::ldexp(static_cast<double>(upper), scale + 75),
               g = std::ldexp(static_cast<double>(lower), scale + 22);
  constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
  const double high = f * kHalfPi, low = std::fma(f, kHalfPi, -high) + (f * kHalfPiLow + g * kHalfPi);
  angle.high = negative ? -high : high, angle.low = negative ? -low : low;
}

ReducedAngle reduce_angle(double x) {
  int exponent;
  const auto m = static_cast<std::uint64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int e = exponent - 53, first = e >= 2 ? e - 1 : 1;  // bits before `first` give whole turns
  const std::uint64_t w[3] = {bits_from(first + 128), bits_from(first + 64), bits_from(first)};
  std::uint64_t p[4] = {};
  unsigned __int128 carry = 0;
  for (int i = 0; i < 3; ++i) {
    carry += static_cast<unsigned __int128>(m) * w[i];
    p[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  p[3] = static_cast<std::uint64_t>(carry);
  const int shift = e >= 2 ? 0 : 2 - e;  // at most 2 + 53: the point is then behind bit 190
  for (int i = 0; shift && i < 4; ++i) p[i] = p[i] >> shift | (i < 3 ? p[i + 1] << (64 - shift) : 0);
  ReducedAngle angle{static_cast<int>(p[2] >> 62), 0, 0};
  std::uint64_t fraction[3] = {p[0], p[1], p[2] & ((std::uint64_t{1} << 62) - 1)};
  const bool above_half = fraction[2] >> 61;
  if (above_half) {  // from the next quadrant, backwards
    ++angle.quadrant;
    unsigned __int128 borrow = 1;
    for (int i = 0; i < 3; ++i) {
      borrow += static_cast<std::uint64_t>(~fraction[i]);
      fraction[i] = static_cast<std::uint64_t>(borrow);
      borrow >>= 64;
    }
    fraction[2] &= (std::uint64_t{1} << 62) - 1;
  }
  to_radians(fraction, above_half, angle);
  return angle;
}

/// Only lanes of f32 come here with less than kTrigFast of f64: pi/2 in three parts, the first two of which times n are
/// exact, and series within 1e-13, which is far below what the rounding to f32 drops.
double shifted_sine_of_single(double x, int quarter_turns) {
  constexpr double kMagic = 0x1.8p52, kTwoOverHalfTurn = 0x1.45f306dc9c883p-1;
  constexpr double kFirst = 0x1.921fb00000000p+0, kSecond = 0x1.5110b00000000p-22, kThird = 0x1.18469898cc517p-44;
  const double n = (x * kTwoOverHalfTurn + kMagic) - kMagic;
  const double r = ((x - n * kFirst) - n * kSecond) - n * kThird, z = r * r;
  const int quadrant = static_cast<int>((static_cast<std::int64_t>(n) + quarter_turns) & 3);
  const double sine =
      r + r * z *
              (-1. / 6 +
               z * (1. / 120 + z * (-1. / 5040 + z * (1. / 362880 + z * (-1. / 39916800 + z * (1. / 6227020800))))));
  const double cosine =
      1 + z * (-1. / 2 +
               z * (1. / 24 + z * (-1. / 720 + z * (1. / 40320 + z * (-1. / 3628800 + z * (1. / 479001600 -
                                                                                           z * (1. / 87178291200)))))));
  const double value = quadrant & 1 ? cosine : sine;
  return quadrant & 2 ? -value : value;
}

/// sin(x + quarter_turns · pi/2) for x >= 0
double shifted_sine(double x, int quarter_turns) {
  if (!(x < HUGE_VAL)) return std::nan("");
  if (x <= 0x1p30) return shifted_sine_of_single(x, quarter_turns);
  const ReducedAngle a = reduce_angle(x);
  const int quadrant = (a.quadrant + quarter_turns) & 3;
  const double s = std::sin(a.high), c = std::cos(a.high);
  const double value = quadrant & 1 ? c - s * a.low : s + c * a.low;
  return quadrant & 2 ? -value : value;
}

}  // namespace

double sine_of_huge(double x) { return x < 0 ? -shifted_sine(-x, 0) : shifted_sine(x, 0); }
double tangent_of_huge(double x) {
  const double sine = sine_of_huge(x), cosine = cosine_of_huge(x);
  return sine / cosine;
}
double cosine_of_huge(double x) { return shifted_sine(std::fabs(x), 1); }

}  // namespace tern::detail_cpu
