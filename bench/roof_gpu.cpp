#include <algorithm>

#include "roof.hpp"

namespace bench {

double copy_rate(tern::Device device) {
  constexpr std::int64_t count = std::int64_t{1} << 27;  // 512 MiB: past any cache
  constexpr int tries = 7;
  const tern::Tensor from = tern::ones({count}, device);
  tern::Tensor to = tern::zeros({count}, device);
  double best = 0;
  for (int calls = 1, t = 0; t < tries; ++t) {
    tern::synchronize(device);
    const double start = now(Clock::wall);
    for (int i = 0; i < calls; ++i) to.copy_from(from);
    tern::synchronize(device);
    const double seconds = now(Clock::wall) - start;
    best = std::max(best, 2.0 * sizeof(float) * static_cast<double>(count) * calls / seconds);
    if (seconds < 0.02) calls *= 4;  // so that the wait does not count
  }
  return best;
}

}  // namespace bench
