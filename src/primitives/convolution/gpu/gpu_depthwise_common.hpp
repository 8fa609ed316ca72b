// What the kernels for channels by themselves share, CUDA's and that of the other GPU languages.
#pragma once
#include "primitives/convolution/gpu/gpu_common.hpp"

namespace tern::detail_gpu::conv {

/// The last axis, or the one before it, of which there is none where there is one axis.
struct AxisOf {
  std::size_t last;
  bool lines;
  std::int64_t operator()(const ConvSizes::Sizes& numbers, std::int64_t none) const {
    return !lines ? numbers[last] : last == 0 ? none : numbers[last - 1];
  }
};

/// [k.., channels], as which the kernels are read.
Shape shape_by_tap(const ConvSizes& sizes);
/// Kernels [channels, 1, 1, k..] as [k.., channels], elements counted so that dilations are positive.
View kernels_by_tap(const ConvSizes& sizes, const std::array<bool, 3>& flipped, const View& view);
/// Adds up parts [shares, taps, channels] into the gradient of the kernels.
void add_parts(GpuBackend& backend, const detail::ConvWeightRequest& request, const View& parts, std::int64_t shares);

}  // namespace tern::detail_gpu::conv
