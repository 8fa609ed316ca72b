// Kernels of the primitives `convolution` and `convolution_weight`, which their tables name.
#pragma once
#include "primitives/convolution/convolution.hpp"

namespace tern::detail_cpu {
namespace conv {
/// Whether no tiles are multiplied (AMX), for which rows would have to be copied.
bool widens_or_reads_in_place(DType dtype);
/// Whether run_direct_weight is faster than products over windows.
bool direct_weight_pays(const detail::ConvSizes& sizes, DType dtype);
/// And whether products whose sums are placed are faster than run_direct for a transpose whose blocks do not overlap.
bool blocks_pay(const detail::ConvSizes& sizes, DType dtype);
}  // namespace conv
void convolution_on_cpu(detail::Backend& backend, const detail::ConvRequest& request);
void convolution_weight_on_cpu(detail::Backend& backend, const detail::ConvWeightRequest& request);
}  // namespace tern::detail_cpu
namespace tern::detail_cuda {
struct MatrixUnits;
}  // namespace tern::detail_cuda
namespace tern::detail_gpu {
class GpuBackend;
void convolution_on_cuda(GpuBackend& backend, const detail::ConvRequest& request);
void convolution_weight_on_cuda(GpuBackend& backend, const detail::ConvWeightRequest& request);
/// Whether these have a kernel for both on the device, faster than products over windows.
bool convolution_pays_on_cuda(GpuBackend& backend, const detail::ConvSizes& sizes, DType dtype);
/// By the kernel of products that the GPU languages share.
void convolution_on_gpu(GpuBackend& backend, const detail::ConvRequest& request);
void convolution_weight_on_gpu(GpuBackend& backend, const detail::ConvWeightRequest& request);
bool convolution_pays_on_gpu(GpuBackend& backend, const detail::ConvSizes& sizes, DType dtype);
/// Whether the phases of a transpose's stride are few columns of a product each, and together fill it better.
bool convolution_phases_join_on_gpu(const detail::ConvSizes& sizes, DType dtype);
/// convolution_on_cuda by units that are given.
void convolution_by_units(GpuBackend& backend, const detail::ConvRequest& request,
                          const detail_cuda::MatrixUnits& units);
void convolution_weight_by_units(GpuBackend& backend, const detail::ConvWeightRequest& request,
                                 const detail_cuda::MatrixUnits& units);
}  // namespace tern::detail_gpu
