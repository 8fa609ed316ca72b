// How the results of channels by themselves are divided on tensor cores: cuda_depthwise_cores.cu.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "primitives/convolution/cuda/cuda_windows.hpp"

namespace tern::detail_gpu::conv {

/// How a kernel of channels by themselves is launched, and the constants of its text.
struct DepthwiseLayout {
  std::int64_t channels = 0;  // of a workgroup
  std::int64_t threads = 0, shared_bytes = 0;
  std::int64_t resident = 1;  // workgroups of a processor
  std::int64_t tiles = 1;     // of the same channels, in all samples
  double clocks = 0;          // that a processor takes, by a model
  std::vector<std::pair<const char*, std::int64_t>> constants = {};
};

/// None where the kernel has no instance, or no tile fits.
std::optional<DepthwiseLayout> cores_layout(const ConvSizes& sizes, DType dtype, const detail_cuda::MatrixUnits& units);

}  // namespace tern::detail_gpu::conv
