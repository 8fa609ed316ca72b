#include "primitives/convolution/cuda/cuda_depthwise_cores.hpp"

#include <algorithm>

#include "primitives/convolution/gpu/gpu_depthwise_common.hpp"

namespace tern::detail_gpu::conv {
namespace {

constexpr std::int64_t kChannelsOfCores = 32, kWarpsOfCores = 8;  // of a workgroup
constexpr std::int64_t kBlocks = 16, kRowsOfBlock = 8;     // of a tile; results side by side
constexpr std::int64_t kBytesOfPlace = 2 * kChannelsOfCores;
constexpr std::int64_t kBytesOfSums = 2 * kBlocks * kRowsOfBlock * kChannelsOfCores * 4;  // two lines leave in turn

/// How results are divided: lines of a block, blocks of a tile, and memory for one tile's part of the image or two.
struct CoreTiles {
  std::int64_t lines = 1, samples = 1, down = 1, along = 1, buffers = 2, image_bytes = 0;
  std::int64_t bytes() const { return buffers * image_bytes + kBytesOfSums; }
};

class CoreTilesOf {
 public:
  CoreTilesOf(const ConvSizes& s, const detail_cuda::MatrixUnits& units) : s_(s), units_(units) {}

  /// The quickest of those that fit; of equals the first.
  std::optional<CoreTiles> best() const {
    std::optional<CoreTiles> best;
    double least = 0;
    for (std::int64_t lines = 1; lines <= std::min(kMostLines, line_(s_.out, 1)); ++lines)
      for (std::int64_t samples = 1; samples <= kBlocks; samples *= 2)
        for (std::int64_t down = 1; down * samples <= kBlocks; down *= 2) {
          CoreTiles t{.lines = lines, .samples = samples, .down = down, .along = kBlocks / samples / down};
          if (!fits(t)) continue;
          if (const double cost = clocks(t); !best || cost < least) least = cost, best = t;
        }
    return best;
  }
  /// Of the same channels.
  std::int64_t tiles(const CoreTiles& t) const {
    return ceil_div(s_.n, t.samples) * ceil_div(line_(s_.out, 1), t.lines * t.down) *
           ceil_div(row_(s_.out, 1), kRowsOfBlock * t.along);
  }
  /// What a processor takes for its tiles: for each, each line of results (its sums leave through workgroup memory, and
  /// are read again for the formula), each line of taps that meets such a line, and what is fetched, by how much of the
  /// fetching is hidden; the first fetch never is. Least squares over 27 works and tiles on an H200, 30 November 2026,
  /// 7x7 and 3x3, which it meets within 8 %. What it chooses is the quickest measured of 64x192x56x56 7x7 (92 us),
  /// 64x384x28x28 (47) and 64x768x14x14 (33; 4 lines 37).
  double clocks(const CoreTiles& t) const {
    constexpr double kOfTile = 2150, kOfLine = 880, kOfTapLine = 101, kOfByte = 1 / 27., kOfHiddenByte = 1 / 64.;
    const std::int64_t all = tiles(t), channel_groups = ceil_div(s_.groups, kChannelsOfCores);
    const std::int64_t shares = std::clamp<std::int64_t>(units_.processors / channel_groups, 1, all);
    // Whole rounds of tiles; a round of few fetches as much sooner as it fetches less.
    const auto rounds = static_cast<double>(ceil_div(all, shares) * ceil_div(channel_groups, units_.processors));
    const double fetches = static_cast<double>(all * channel_groups) /
                           static_cast<double>(std::min<std::int64_t>(shares * channel_groups, units_.processors));
    const auto bytes = static_cast<double>(t.image_bytes), lines = static_cast<double>(t.lines);
    const double computed = kOfTile + lines * (kOfLine + kOfTapLine * static_cast<double>(line_(s_.kernel, 1)));
    return rounds * computed +
           bytes * (t.buffers == 2 ? kOfByte + fetches * kOfHiddenByte : std::max(fetches, 1.) * kOfByte);
  }

 private:
  static constexpr std::int64_t kMostLines = 8;
  bool fits(CoreTiles& t) const {
    const std::int64_t image_lines =
        (t.lines * t.down - 1) * line_(s_.stride, 1) + (line_(s_.kernel, 1) - 1) * line_(s_.dilation, 1) + 1;
    t.image_bytes = t.samples * image_lines * kRowsOfBlock * (t.along + 1) * kBytesOfPlace;
    if (t.bytes() > units_.shared_bytes) t.buffers = 1;
    return t.bytes() <= units_.shared_bytes && registers(t) <= 240;
  }
  /// As ptxas 12.9 counts them for 3 to 9 lines of taps. Two blocks one below the other take it more than others: with
  /// 7 lines it kept 260 bytes elsewhere, and 64x192x56x56 7x7 took 113 us.
  std::int64_t registers(const CoreTiles& t) const {
    const bool one_below = t.samples == 1 && t.down == 2;
    return 16 * t.lines + 8 * line_(s_.kernel, 1) + 70 + (one_below ? 48 : 0);
  }

  const ConvSizes& s_;
  AxisOf line_{static_cast<std::size_t>(s_.axes) - 1, true}, row_{static_cast<std::size_t>(s_.axes) - 1, false};
  const detail_cuda::MatrixUnits& units_;
};

}  // namespace

std::optional<DepthwiseLayout> cores_layout(const ConvSizes& s, DType dtype, const detail_cuda::MatrixUnits& units) {
  const std::size_t row = static_cast<std::size_t>(s.axes) - 1;
  constexpr std::int64_t kMostSpan = 8;  // of the taps beyond the first: 16 places of the image for 8 results
  if ((dtype != DType::f16 && dtype != DType::bf16) || s.stride[row] != 1 ||
      (s.kernel[row] - 1) * s.dilation[row] > kMostSpan)
    return std::nullopt;
  const CoreTilesOf of(s, units);
  const std::optional<CoreTiles> t = of.best();
  if (!t) return std::nullopt;
  DepthwiseLayout layout{kChannelsOfCores, kWarp * kWarpsOfCores, t->bytes(), 1, of.tiles(*t), of.clocks(*t)};
  layout.constants = {{"lines", t->lines},
                      {"tile_samples", t->samples},
                      {"down", t->down},
                      {"along", t->along},
                      {"buffers_of_tiles", t->buffers}};
  return layout;
}

}  // namespace tern::detail_gpu::conv
