// How long Jacobi's rotations go on, on the CPU and on GPUs.
#pragma once

namespace tern {

/// Sweeps over all pairs; of the tests, Hilbert's matrices take most: over nine.
inline constexpr int kMostSweeps = 40;

}  // namespace tern
