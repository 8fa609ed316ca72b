// Kernels of the primitive `fft`, which its table names.
#pragma once
#include "primitives/fft/fft.hpp"

namespace tern::detail_cpu {
void fft_on_cpu(detail::Backend& backend, const detail::FftRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void fft_on_gpu(GpuBackend& backend, const detail::FftRequest& request);
}  // namespace tern::detail_gpu
