// Sobol's sequence: the points are made on the host, one exclusive or for each coordinate, as words of 32 bits, which a
// formula makes numbers on the device.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "primitives/fused/operation.hpp"
#include "tern/random.hpp"

namespace tern {

using namespace detail;

namespace {

constexpr int kBits = 32;
constexpr std::int64_t kMostDimensions = 1024, kMostPoints = std::int64_t{1} << 31, kMostNumbers = kMostPoints - 1;

constexpr std::uint16_t kTable[] = {
#include "ops/random/sobol.inc"
};

using Directions = std::array<std::uint32_t, kBits>;
/// The direction numbers of a dimension from its polynomial and its first ones, by Bratley and Fox's recurrence (1988).
Directions directions_of(std::uint32_t polynomial, const std::uint16_t* first) {
  const int degree = std::bit_width(polynomial) - 1;
  std::array<std::uint32_t, kBits> m{};
  for (int k = 0; k < kBits; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (k < degree) {
      m[at] = first[k];
      continue;
    }
    const std::uint32_t before = m[static_cast<std::size_t>(k - degree)];
    m[at] = before;
    for (int i = 1; i <= degree; ++i)
      if (polynomial >> (degree - i) & 1) m[at] ^= m[static_cast<std::size_t>(k - i)] << i;
  }
  for (int k = 0; k < kBits; ++k) m[static_cast<std::size_t>(k)] <<= kBits - 1 - k;
  return m;
}
/// direction k of every dimension, one behind the other: [32, dimensions].
std::vector<std::uint32_t> directions_of(std::size_t dimensions) {
  std::vector<std::uint32_t> all(kBits * dimensions);
  const std::uint16_t* at = kTable;
  for (std::size_t d = 0; d < dimensions; ++d) {
    Directions one;
    if (d == 0) {
      for (int k = 0; k < kBits; ++k) one[static_cast<std::size_t>(k)] = std::uint32_t{1} << (kBits - 1 - k);
    } else {
      one = directions_of(*at, at + 1);
      at += std::bit_width(std::uint32_t{*at});  // the polynomial, and as many as its degree
    }
    for (std::size_t k = 0; k < kBits; ++k) all[k * dimensions + d] = one[k];
  }
  return all;
}
/// Points skip, skip + 1, … as words: point n is the sum of the directions of the bits of its Gray code, which differs
/// from that of n + 1 in the lowest bit of n that is 0.
std::vector<std::int32_t> words_of(std::int64_t points, std::size_t dimensions, std::int64_t skip) {
  const std::vector<std::uint32_t> directions = directions_of(dimensions);
  std::vector<std::uint32_t> point(dimensions);
  const auto change = [&](int bit) {
    const std::uint32_t* const by = directions.data() + static_cast<std::size_t>(bit) * dimensions;
    for (std::size_t d = 0; d < dimensions; ++d) point[d] ^= by[d];
  };
  for (auto gray = static_cast<std::uint64_t>(skip ^ (skip >> 1)); gray; gray &= gray - 1)
    change(std::countr_zero(gray));
  std::vector<std::int32_t> words;
  words.reserve(static_cast<std::size_t>(points) * dimensions);
  for (std::int64_t n = 0; n < points; ++n) {
    for (const std::uint32_t w : point) words.push_back(static_cast<std::int32_t>(w));
    change(std::countr_one(static_cast<std::uint64_t>(skip + n)));
  }
  return words;
}

/// As many bits as the dtype holds, since more could round to 1: 24 (f32), 11 (f16), 8 (bf16), or all 32 (f64).
template <int kKept> Expr number_of_bits(Expr word, Expr shift) {
  const Expr bits = cast(word, DType::u32) ^ cast(shift, DType::u32);
  return cast(cast(bits >> (kBits - kKept), DType::i32), DType::f32) * std::ldexp(1.0, -kKept);
}
constexpr Pointwise narrow_number{"sobol", [](Expr word, Expr shift) { return number_of_bits<24>(word, shift); }};
constexpr Pointwise f16_number{"sobol", [](Expr word, Expr shift) { return number_of_bits<11>(word, shift); }};
constexpr Pointwise bf16_number{"sobol", [](Expr word, Expr shift) { return number_of_bits<8>(word, shift); }};
constexpr Pointwise wide_number{"sobol", [](Expr word, Expr shift) {
                                  const Expr bits = cast(word, DType::u32) ^ cast(shift, DType::u32);
                                  return cast(bits, DType::f64) * 0x1p-32;
                                }};

void check_sobol(const Shape& shape, std::int64_t skip, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "sobol: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  if (shape.rank() != 2)
    throw Error(ErrorKind::shape, "sobol: needs the shape [points, dimensions], got " + to_string(shape));
  if (shape[1] > kMostDimensions)
    throw Error(ErrorKind::value, "sobol: there are direction numbers of at most " + std::to_string(kMostDimensions) +
                                      " dimensions, got " + std::to_string(shape[1]));
  if (skip < 0 || skip > kMostPoints || shape[0] > kMostPoints - skip)
    throw Error(ErrorKind::value, "sobol: points are those from 0 to 2^31, got " + std::to_string(shape[0]) +
                                      " from number " + std::to_string(skip) + " on");
  if (shape.numel() > kMostNumbers)
    throw Error(ErrorKind::shape, "sobol: at most 2^31-1 numbers a call, got shape " + to_string(shape));
}
Tensor points_of(const Shape& shape, std::int64_t skip, const Tensor& shift, const Options& options) {
  const auto dimensions = static_cast<std::size_t>(shape[1]);
  const Tensor words = tensor(words_of(shape[0], dimensions, skip), shape, options.device);
  switch (options.dtype) {
    case DType::f64: return wide_number(words, shift);
    case DType::f16: return f16_number(words, shift).to(options.dtype);
    case DType::bf16: return bf16_number(words, shift).to(options.dtype);
    default: return narrow_number(words, shift);
  }
}

}  // namespace

Tensor sobol(const Shape& shape, std::int64_t skip, const Options& options) {
  check_sobol(shape, skip, options);
  return points_of(shape, skip, zeros({shape[1]}, {.dtype = DType::i32, .device = options.device}), options);
}
Tensor sobol(const Shape& shape, Source from, const Options& options) {
  check_sobol(shape, 0, options);
  constexpr std::int64_t low = INT32_MIN, high = std::int64_t{1} << 31;
  const Tensor shift = randint(low, high, {shape[1]}, from.generator, {.dtype = DType::i32, .device = options.device});
  return points_of(shape, 0, shift, options);
}

}  // namespace tern
