// Each channel convolved by itself on CUDA GPUs from compute capability 8.0 on: cuda_depthwise.cu,
// cuda_depthwise_weight.cu.
#pragma once
#include "primitives/convolution/cuda/cuda_windows.hpp"

namespace tern::detail_gpu::conv {

/// Over one axis or two, channels in vectors, kernels whose weights fit registers.
bool has_depthwise(const ConvSizes& sizes, DType dtype, const detail_cuda::MatrixUnits& units);
/// False, having done nothing, where the formula counts places, which it would find in another order.
bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& request, const detail_cuda::MatrixUnits& units);
void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& request,
                          const detail_cuda::MatrixUnits& units);

}  // namespace tern::detail_gpu::conv
