// Kernels of convolutions in panels, as the product of all channels reads them (cpu_direct.cpp).
#pragma once
#include "cpu/products/gemm_pairs.hpp"
#include "primitives/convolution/cpu/cpu_geometry.hpp"

namespace tern::detail_cpu::conv {

/// Factors of bf16 that were widened, in pairs: for each of `taps` those of the channels, padded with zeros.
inline void pair_up(const std::uint32_t* from, std::uint32_t* to, Int64 taps, Int64 channels, Int64 padded) {
  for (Int64 tap = 0; tap < taps; ++tap)
    for (Int64 ch = 0; ch < padded; ch += 2, to += kPairCols) {
      const Int64 count = std::clamp<Int64>(channels - ch, 0, 2);
      for (Int64 j = 0; j < kPairCols; ++j)
        to[j] = (count > 0 ? from[j] >> 16 : 0) | (count > 1 ? from[kPairCols + j] & 0xffff0000u : 0);
      from += count * kPairCols;
    }
}
/// Panel `panel` of a group: for each element of the kernel and channel the factors of as many results as a panel has.
inline void pack_kernels(const Geometry& g, Int64 group, Int64 panel, std::byte* to) {
  const Int64 width = g.kernels->panel, first = panel * width, cols = std::min(width, g.o - first), wide = g.wide(),
              c = g.c;
  const std::byte* const from = g.w.data + (group * g.w.group + first * g.w.batch) * g.size();
  const Strided& w = g.w;
  const auto copy = g.types.kernels->copy;
  const Int64 step = w.axis[2] < 0 ? -1 : 1, taps = g.taps();
  const bool run = (w.axis[2] == step || g.kernel[2] == 1) && (g.kernel[1] == 1 || w.axis[1] == step * g.kernel[2]) &&
                   (g.kernel[0] == 1 || w.axis[0] == step * g.kernel[1] * g.kernel[2]);
  if (taps >= 4 && run && w.channel != 1 && w.batch != 1) {  // elements of the kernel side by side
    const std::byte* const begin = step > 0 ? from : from - (taps - 1) * g.size();
    for (Int64 i = 0; i < c; ++i)
      copy({begin + i * w.channel * g.size(), 1, w.batch}, taps, cols,
           to + ((step > 0 ? 0 : (taps - 1) * c) + i) * width * wide, step * c * width, width);
    return;
  }
  std::byte* at = to;
  for (Int64 z = 0; z < g.kernel[0]; ++z)
    for (Int64 y = 0; y < g.kernel[1]; ++y)
      for (Int64 x = 0; x < g.kernel[2]; ++x, at += c * width * wide)
        copy({from + (z * w.axis[0] + y * w.axis[1] + x * w.axis[2]) * g.size(), w.channel, w.batch}, c, cols, at,
             width, width);
}

}  // namespace tern::detail_cpu::conv
