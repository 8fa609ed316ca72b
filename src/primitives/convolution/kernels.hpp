// Kernels of the primitives `convolution` and `convolution_weight`, which their tables name.
#pragma once
#include "primitives/convolution/convolution.hpp"

namespace tern::detail_cpu {
void convolution_on_cpu(detail::Backend& backend, const detail::ConvRequest& request);
void convolution_weight_on_cpu(detail::Backend& backend, const detail::ConvWeightRequest& request);
}  // namespace tern::detail_cpu
