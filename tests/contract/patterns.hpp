// Where functions are tested: bit patterns, edges and thresholds of each floating type.
#pragma once
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "contract/registry.hpp"

namespace tern::contract {

template <class S> struct Bits { using type = std::uint16_t; };
template <> struct Bits<float> { using type = std::uint32_t; };
template <> struct Bits<double> { using type = std::uint64_t; };
template <class S> S from_bits(typename Bits<S>::type bits) { return std::bit_cast<S>(bits); }
template <class S> double real(S v) {
  if constexpr (sizeof(S) == 2) return static_cast<double>(static_cast<float>(v));
  else return static_cast<double>(v);
}

/// Layout of a floating type's bits.
template <class S> struct Layout;
template <> struct Layout<float16> { static constexpr int kBits = 16, kMantissa = 10; };
template <> struct Layout<bfloat16> { static constexpr int kBits = 16, kMantissa = 7; };
template <> struct Layout<float> { static constexpr int kBits = 32, kMantissa = 23; };
template <> struct Layout<double> { static constexpr int kBits = 64, kMantissa = 52; };

/// v, a signalling NaN made quiet: arithmetic does that, so bits can only be compared for quiet ones.
template <class S> S quiet(S v) {
  using B = typename Bits<S>::type;
  return real(v) == real(v) ? v : from_bits<S>(B(std::bit_cast<B>(v) | (B(1) << (Layout<S>::kMantissa - 1))));
}

/// 0, the smallest and largest subnormal and normal numbers, inf; of both signs; NaN; 1, -1.
template <class S> std::vector<S> edge_values() {
  using B = typename Bits<S>::type;
  constexpr B sign = B(B(1) << (Layout<S>::kBits - 1)), normal = B(B(1) << Layout<S>::kMantissa);
  constexpr B infinity = B(B(sign - 1) & B(~B(normal - 1)));
  std::vector<S> values;
  for (const B magnitude : {B(0), B(1), B(normal - 1), normal, B(infinity - 1), infinity}) {
    values.push_back(from_bits<S>(magnitude));
    values.push_back(from_bits<S>(B(magnitude | sign)));
  }
  values.push_back(from_bits<S>(B(infinity | (normal >> 1))));  // quiet NaN
  values.push_back(S(1.0)), values.push_back(S(-1.0)), values.push_back(S(0.5));
  return values;  // 16
}

/// Numbers near which implementations change their ways, each with its neighbours up to two steps away.
template <class S> std::vector<S> threshold_values() {
  using B = typename Bits<S>::type;
  std::vector<double> centers = {0.5,
                                 0.75,
                                 0.85,
                                 1.5,
                                 2.5,
                                 0.6931471805599453,
                                 1.0397207708399179,
                                 0.34657359027997264,
                                 87.3,
                                 88.7,
                                 88.722839355,
                                 89,
                                 103.27892,
                                 103.97,
                                 104.5,
                                 708.396,
                                 709.78,
                                 709.782712893384,
                                 744.44,
                                 745.13,
                                 750,
                                 1e30,
                                 3e38,
                                 3.92,
                                 6.0,
                                 9.0,
                                 10.05,
                                 13.5,
                                 20.101,
                                 26.5,
                                 27.2,
                                 36.7,
                                 40,
                                 1.5707963267948966,
                                 3.141592653589793,
                                 32768,
                                 65504,
                                 1073741824.0,
                                 0x1p-25,
                                 0x1p-54,
                                 6381956970095103.0 * 0x1p797};
  for (int n = 1; n <= 20; ++n) centers.push_back(n), centers.push_back(n * 0.6931471805599453);
  for (int n = 30; n <= 1100; n += 70) centers.push_back(n * 0.6931471805599453);
  for (int e = -160; e <= 160; e += 4) centers.push_back(std::ldexp(1.0, e));
  std::vector<S> values;
  for (const double center : centers)
    for (const double signed_center : {center, -center})
      for (int step = -2; step <= 2; ++step) {
        const B bits = std::bit_cast<B>(S(signed_center));
        values.push_back(from_bits<S>(B(bits + static_cast<B>(step))));
      }
  return values;
}

/// All patterns of 16-bit types; evenly spaced ones (each moved within its stratum), edges and thresholds of others; an
/// eighth of those where few will do. `script/test --points` takes twice as many, and every number of f32 in turn.
template <class S> std::vector<S> unary_inputs(bool few = false) {
  using B = typename Bits<S>::type;
  std::vector<S> values;
  if constexpr (sizeof(S) == 2) {
    for (int i = 0; i < 65536; ++i) values.push_back(from_bits<S>(static_cast<B>(i)));
  } else {
    const int log2_count = (sizeof(S) == 4 ? (kFewPoints ? 20 : 21) : (kFewPoints ? 17 : 19)) + (full_test() ? 1 : 0) -
                           (few ? 3 : 0);
    const int shift = Layout<S>::kBits - log2_count;
    for (std::uint64_t i = 0; i < (std::uint64_t{1} << log2_count); ++i)
      values.push_back(from_bits<S>(static_cast<B>((i << shift) | (random_bits(i) >> (64 - shift)))));
    for (const auto& more : {edge_values<S>(), threshold_values<S>()})
      values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

/// A number of moderate size, of either sign.
inline double moderate(std::uint64_t seed) {
  const double u = random_unit(seed), v = random_unit(seed + 0x1234567);
  return (v < 0.5 ? -1 : 1) * std::exp2(8 * u - 4) * (0.5 + random_unit(seed ^ 0xabcdef));
}

/// Tuples as one column for each input: all combinations of edge values, then random ones.
template <class S> std::vector<std::vector<S>> tuple_inputs(int arity, std::int64_t random_count) {
  using B = typename Bits<S>::type;
  std::vector<std::vector<S>> columns(static_cast<std::size_t>(arity));
  const std::vector<S> edges = edge_values<S>();
  std::size_t combinations = 1;
  for (int i = 0; i < arity; ++i) combinations *= edges.size();
  for (std::size_t c = 0; c < combinations; ++c) {
    std::size_t rest = c;
    for (auto& column : columns) column.push_back(edges[rest % edges.size()]), rest /= edges.size();
  }
  for (std::int64_t r = 0; r < random_count; ++r)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::uint64_t seed = random_bits(static_cast<std::uint64_t>(r) * 8 + i);
      const std::uint64_t kind = random_bits(static_cast<std::uint64_t>(r)) % 4;  // one kind a tuple, or mixed
      const bool bits = kind == 0 || (kind == 1 && seed % 2);
      S value = bits ? from_bits<S>(static_cast<B>(seed)) : S(moderate(seed));
      if (kind == 2 && i > 0 && seed % 8 == 0) value = columns[0].back();  // ties
      if (kind == 2 && seed % 8 == 1) value = S(std::round(real(value)));  // integers
      columns[i].push_back(value);
    }
  return columns;
}

}  // namespace tern::contract
