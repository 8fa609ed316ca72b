// Kernels of the primitives `convolution` and `convolution_weight`, which their tables name.
#pragma once
#include "primitives/convolution/convolution.hpp"

namespace tern::detail_cpu {
namespace conv {
/// Whether run_direct is faster than products over windows.
bool direct_pays(DType dtype);
/// And run_direct_weight.
bool direct_weight_pays(const detail::ConvSizes& sizes, DType dtype);
}  // namespace conv
void convolution_on_cpu(detail::Backend& backend, const detail::ConvRequest& request);
void convolution_weight_on_cpu(detail::Backend& backend, const detail::ConvWeightRequest& request);
}  // namespace tern::detail_cpu
