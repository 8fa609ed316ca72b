// Each channel convolved by itself on CUDA GPUs of any kind: cuda_depthwise.cu, cuda_depthwise_weight.cu.
#pragma once
#include "primitives/convolution/cuda_windows.hpp"

namespace tern::detail_gpu::conv {

/// Over one axis or two, channels in pairs, kernels whose weights fit registers.
bool has_depthwise(const ConvSizes& sizes, DType dtype);
/// False, having done nothing, where the formula counts places, which it would find in another order.
bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& request);
void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& request, std::int64_t processors);

}  // namespace tern::detail_gpu::conv
