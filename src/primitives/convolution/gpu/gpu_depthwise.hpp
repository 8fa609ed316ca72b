// Each channel convolved by itself in what the GPU languages share: gpu_depthwise.wgsl, gpu_depthwise_weight.wgsl.
#pragma once
#include "primitives/convolution/gpu/gpu_common.hpp"

namespace tern::detail_gpu::conv {

/// Over one axis or two, of floats of 32 bits, or of 16 where channels are pairs; kernels whose weights fit registers.
bool has_depthwise(const ConvSizes& sizes, DType dtype);
/// False, having done nothing, where the formula counts places, which it would find in another order, or the image is
/// written as well.
bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& request);
void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& request);

}  // namespace tern::detail_gpu::conv
