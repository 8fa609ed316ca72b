#include "gpu/products/gemm_tiles.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "process/fork.hpp"

namespace tern::detail_gpu {
namespace {

// For each size of product, the default first.
constexpr GemmTile kSmallTiles[] = {{32, 32, 8, 4, 4}, {32, 32, 16, 4, 4}, {64, 32, 16, 4, 4}, {32, 64, 16, 4, 4}};
constexpr GemmTile kMiddleTiles[] = {{64, 64, 16, 4, 4}, {32, 32, 16, 4, 4}, {64, 64, 8, 4, 4}, {128, 64, 16, 8, 4}};
constexpr GemmTile kTall{128, 64, 16, 8, 8}, kBroad{64, 128, 16, 8, 8}, kOf96{128, 96, 16, 8, 8};
constexpr GemmTile kLargeTiles[] = {{128, 128, 16, 8, 8}, {128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, kTall, kBroad,
                                    {128, 256, 16, 16, 8}};
constexpr std::span<const GemmTile> kCandidates[] = {kSmallTiles, kSmallTiles, kMiddleTiles, kLargeTiles};
constexpr const char* kSizeNames[] = {"thin", "few", "some", "many"};
constexpr int kBytes[] = {2, 4, 8};

/// Of large tiles one that reaches less beyond the results, where that saves more than smaller tiles cost: 200,704 × 64
/// results took 4.3 times as long by tiles of 128 × 256 and 2.3 by 128 × 128 as by kTall, and where none reach beyond
/// kTall has 0.94 of the speed of 128 × 128, kBroad 0.97; 96 columns by kOf96 1.28 of kTall's (WebGPU, f32, H200, 29
/// November 2026).
GemmTile reaching_least(GemmTile chosen, std::int64_t m, std::int64_t n) {
  const auto cost = [&](const GemmTile& t, double of_tile) {
    return static_cast<double>(ceil_div(m, t.m) * t.m) * static_cast<double>(ceil_div(n, t.n) * t.n) * of_tile;
  };
  double least = cost(chosen, 1);
  const std::pair<GemmTile, double> others[] = {{kLargeTiles[0], 1.02}, {kBroad, 1.03}, {kTall, 1.06}, {kOf96, 1.08}};
  for (const auto& [tile, of_tile] : others)
    if (tile.threads() <= chosen.threads() && cost(tile, of_tile) < least) chosen = tile, least = cost(tile, of_tile);
  return chosen;
}

}  // namespace

GemmTiles::GemmTiles(const std::string& device_class, const Limits& limits) {
  for (std::size_t size = 0; size < sizes; ++size)
    for (std::size_t b = 0; b < std::size(kBytes); ++b) {
      std::vector<std::int64_t> values;
      for (const GemmTile& t : kCandidates[size])
        if (static_cast<std::uint32_t>(t.threads()) <= limits.threads &&
            static_cast<std::uint32_t>(t.shared_bytes(std::max(kBytes[b], 4))) <= limits.shared_bytes)
          values.push_back(t.value());
      if (values.empty()) values.push_back(kSmallTiles[0].value());
      choices_[size][b] = std::make_unique<detail::Choice>(
          device_class, std::string("gemm.tile, ") + kSizeNames[size] + ", " + std::to_string(8 * kBytes[b]) + " bits",
          std::move(values));
    }
}

const GemmTiles& GemmTiles::of(const std::string& device_class, const Limits& limits) {
  static auto& lock = *new detail::ForkSafe<std::mutex>;
  static auto& made = *new std::map<std::string, const GemmTiles*>;
  const std::lock_guard hold(lock);
  const GemmTiles*& tiles = made[device_class];
  if (!tiles) tiles = new GemmTiles(device_class, limits);
  return *tiles;
}

GemmTile GemmTiles::operator()(std::int64_t m, std::int64_t n, std::int64_t batches, int element_bytes) const {
  const auto count = [&](std::int64_t side) { return ceil_div(m, side) * ceil_div(n, side) * batches; };
  const Size size = m <= 32 || n <= 32 ? thin : count(64) < 32 ? few : count(128) < 100 ? some : many;
  const std::int64_t value = (*choices_[size][element_bytes > 4 ? 2 : element_bytes > 2 ? 1 : 0])();
  for (const GemmTile& t : kCandidates[size])
    if (t.value() == value) return size == many && t.m * t.n > kTall.m * kTall.n ? reaching_least(t, m, n) : t;
  return kSmallTiles[0];
}

}  // namespace tern::detail_gpu
