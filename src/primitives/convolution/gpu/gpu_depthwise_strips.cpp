#include "primitives/convolution/gpu/gpu_depthwise_strips.hpp"

#include <algorithm>

#include "primitives/convolution/gpu/gpu_depthwise.hpp"

namespace tern::detail_gpu::conv {

std::int64_t span(const ConvSizes& s, const AxisOf& axis, std::int64_t results) {
  return (results - 1) * axis(s.stride, 1) + (axis(s.kernel, 1) - 1) * axis(s.dilation, 1) + 1;
}

namespace {

constexpr std::int64_t kMostTapsInRegisters = 64, kMostStep = 3;

std::int64_t registers(const ConvSizes& s, const Strip& strip, std::int64_t channels) {
  return channels * (s.taps() + strip.lines * strip.rows + span(s, LinesAndRows(s).row, strip.rows));
}
/// For 64x192x56x56 by 7x7 in f16 (H200, 29 November 2026) 4x7 results take 180, 202 us; 4x8 190, 230 us; the gradient
/// of the kernels by 4x4 results takes 150, by 5x6 182, which do not stay in registers: 0.3 and 2.5 ms.
constexpr std::int64_t kMostRegisters = 180, kMostOfWeight = 150;

/// The strip of the fewest instructions, of equals the one with the longest rows. `of_cut`: how many times as many one
/// takes that is cut short.
Strip best_strip(const ConvSizes& s, std::int64_t channels, std::int64_t most_registers, std::int64_t of_cut) {
  constexpr std::int64_t kMostSide = 8, kMostSums = 32, kOfResult = 8, kOfPlace = 5;
  const LinesAndRows by(s);
  const std::int64_t lines_out = by.line(s.out, 1), rows_out = by.row(s.out, 1);
  Strip best;
  std::int64_t least = INT64_MAX;
  for (Strip t; t.rows <= std::min(kMostSide, rows_out); ++t.rows)
    for (t.lines = 1; t.lines <= std::min(kMostSide, lines_out); ++t.lines) {
      const std::int64_t results = t.lines * t.rows;
      if (results > kMostSums || (results > 1 && registers(s, t, channels) > most_registers)) continue;
      const std::int64_t places = span(s, by.line, t.lines) * span(s, by.row, t.rows);
      const std::int64_t whole = (lines_out / t.lines) * (rows_out / t.rows);
      const std::int64_t cut = ceil_div(lines_out, t.lines) * ceil_div(rows_out, t.rows) - whole;
      const std::int64_t cost = (whole + of_cut * cut) *
                                (t.lines * t.rows * (channels * s.taps() + kOfResult) +
                                 (places + s.taps()) * (kOfPlace + channels));
      if (cost <= least) least = cost, best = t;
    }
  return best;
}

}  // namespace

Strip strip_of_result(const ConvSizes& s, DType dtype) {
  return best_strip(s, channels_of_word(dtype), kMostRegisters, 1);
}
Strip strip_of_weight(const ConvSizes& s, DType dtype) {
  return best_strip(s, channels_of_word(dtype), kMostOfWeight, 3);
}
/// Strips that are summed at the same time, each into a part of its own: as many as give a device work, and are not
/// much to add up. For 64x192x56x56 by 7x7 in 16 bits 2^17 invocations take 0.27 ms, 2^16 0.32; in 32 bits 2^16 0.21,
/// 2^17 0.25 (H200, 29 November 2026).
std::int64_t parts_of_weight(const ConvSizes& s, DType dtype) {
  const std::int64_t invocations = std::int64_t{1} << (dtype == DType::f32 ? 16 : 17);
  const Strip strip = strip_of_weight(s, dtype);
  const LinesAndRows by(s);
  const std::int64_t strips = s.n * ceil_div(by.line(s.out, 1), strip.lines) * ceil_div(by.row(s.out, 1), strip.rows);
  return std::clamp<std::int64_t>(invocations * channels_of_word(dtype) / s.groups, 1, strips);
}

bool has_depthwise(const ConvSizes& s, DType dtype) {
  if (dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f32) return false;
  const std::int64_t channels = channels_of_word(dtype);
  if (!s.one_channel_a_group() || s.axes > 2 || s.groups % channels != 0) return false;
  if (s.taps() > kMostTapsInRegisters) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i)
    if (s.stride[i] > kMostStep || (std::abs(s.dilation[i]) > kMostStep && s.kernel[i] > 1)) return false;
  std::array<bool, 3> axes{};
  return registers(with_flipped_axes(s, axes), {}, channels) <= kMostRegisters;
}

}  // namespace tern::detail_gpu::conv
