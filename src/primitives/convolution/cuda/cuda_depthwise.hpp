// Each channel convolved by itself on CUDA GPUs from compute capability 8.0 on: cuda_depthwise.cu,
// cuda_depthwise_cores.cu, cuda_depthwise_weight.cu.
#pragma once
#include "backend/instruments/tuning.hpp"
#include "primitives/convolution/cuda/cuda_windows.hpp"

namespace tern::detail_gpu::conv {

/// Over one axis or two, channels in vectors, kernels whose weights fit registers.
bool has_depthwise(const ConvSizes& sizes, DType dtype, const detail_cuda::MatrixUnits& units);
/// What forward is done by: what a model of the clocks says is quicker, the units for f32 (cuda_depthwise.cu), or
/// tensor cores, where they have an instance (cuda_depthwise_cores.cu).
enum DepthwiseUnits : std::int64_t { kModelled, kFloatUnits, kTensorCores };
const detail::Choice& units_of_depthwise(GpuBackend& backend, const ConvSizes& sizes);
/// False, having done nothing, where the formula counts places, which it would find in another order.
bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& request, const detail_cuda::MatrixUnits& units);
void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& request,
                          const detail_cuda::MatrixUnits& units);

}  // namespace tern::detail_gpu::conv
