// Which tiles products use, by the class of the device and the size of the product: measured choices.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/instruments/tuning.hpp"
#include "gpu/plan/kernel.hpp"

namespace tern::detail_gpu {

/// The shape of a workgroup's tile of the output, the step along k, and each invocation's part. Parts are made of
/// blocks of 4×4, spread evenly over the tile.
struct GemmTile {
  int m = 64, n = 64, k = 16, part_m = 4, part_n = 4;
  int threads() const { return m / part_m * (n / part_n); }
  /// Workgroup memory, for accumulators of so many bytes.
  int shared_bytes(int bytes) const { return (m + n) * k * bytes; }
  /// How a choice names it: m, n, k in decimal, as 1280128016.
  std::int64_t value() const { return (std::int64_t{m} * 10000 + n) * 1000 + k; }
};

class GemmTiles {
 public:
  /// Those of a class of devices; made once for each. Tiles beyond the limits are no candidates.
  static const GemmTiles& of(const std::string& device_class, const Limits& limits);
  /// The tile for m×n results for each of `batches`, of operands with elements of so many bytes.
  GemmTile operator()(std::int64_t m, std::int64_t n, std::int64_t batches, int element_bytes) const;

 private:
  GemmTiles(const std::string& device_class, const Limits& limits);
  enum Size { thin, few, some, many, sizes };
  std::array<std::array<std::unique_ptr<detail::Choice>, 3>, sizes> choices_;  // by size, and 2, 4 or 8 bytes
};

}  // namespace tern::detail_gpu
