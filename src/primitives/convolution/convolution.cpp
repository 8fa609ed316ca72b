#include "primitives/convolution/convolution.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/convolution/kernels.hpp"

namespace tern::detail {

namespace {
std::string text_of(const ConvSizes& s) {
  return to_string(s.of_x()) + " * " + to_string(s.of_w()) +
         (s.groups > 1 ? ", groups " + std::to_string(s.groups) : "");
}
}  // namespace

std::int64_t ConvRequest::flops() const {
  const std::int64_t results = sizes.of_y().numel();
  return sizes.flops() + flops_of(*epilogue, results, results);
}
std::string ConvRequest::text() const { return text_of(sizes) + ", " + kernel_text(*epilogue); }
std::string ConvWeightRequest::text() const { return text_of(sizes); }

template <> const Primitive& primitive_of<ConvRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::convolution_on_cpu>()},
                                             {"cuda", kernel_of<detail_gpu::convolution_on_cuda>()}};
  static constexpr Primitive primitive{PrimitiveId::convolution, "convolution", kernels};
  return primitive;
}
template <> const Primitive& primitive_of<ConvWeightRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::convolution_weight_on_cpu>()},
                                             {"cuda", kernel_of<detail_gpu::convolution_weight_on_cuda>()}};
  static constexpr Primitive primitive{PrimitiveId::convolution_weight, "convolution", kernels};
  return primitive;
}
namespace {
/// Null where its kernels are others.
detail_gpu::GpuBackend* with_cudas_kernels(Backend& backend) {
  const Kernel kernel = backend.kernel(primitive_of<ConvRequest>(), "convolution");
  if (kernel != kernel_of<detail_gpu::convolution_on_cuda>()) return nullptr;
  return static_cast<detail_gpu::GpuBackend*>(&backend);  // they alone enter those kernels
}
}  // namespace

bool convolution_pays(Backend& backend, const ConvSizes& s, DType dtype) {
  if (!backend.offers<ConvRequest>() || s.c == 0 || s.o == 0 || s.groups == 0) return false;
  detail_gpu::GpuBackend* const cuda = with_cudas_kernels(backend);
  if (s.one_channel_a_group()) {
    if (s.groups == 1) return false;  // a product of one group is faster than a vector of one channel
    return !cuda || detail_gpu::convolution_pays_on_cuda(*cuda, s, dtype);
  }
  bool plain = s.groups == 1;                        // each place by itself: one product of matrices
  for (int i = 0; i < s.axes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    plain = plain && s.kernel[at] == 1 && s.stride[at] == 1 && s.before[at] == 0 && s.in[at] == s.out[at];
  }
  if (plain) return false;
  return cuda ? detail_gpu::convolution_pays_on_cuda(*cuda, s, dtype) : detail_cpu::conv::direct_pays(dtype);
}
bool convolution_weight_pays(Backend& backend, const ConvSizes& sizes, DType dtype) {
  return convolution_pays(backend, sizes, dtype) && (sizes.one_channel_a_group() || with_cudas_kernels(backend) ||
                                                     detail_cpu::conv::direct_weight_pays(sizes, dtype));
}

template void run(Backend&, const ConvRequest&);
template void run(Backend&, const ConvWeightRequest&);

}  // namespace tern::detail
