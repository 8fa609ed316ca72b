#include "primitives/convolution/convolution.hpp"

#include "backend/kernel_rules.hpp"
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
                                             {"cuda", kernel_of<detail_gpu::convolution_on_cuda>()},
                                             {"gpu", kernel_of<detail_gpu::convolution_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::convolution, "convolution", kernels};
  return primitive;
}
template <> const Primitive& primitive_of<ConvWeightRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::convolution_weight_on_cpu>()},
                                             {"cuda", kernel_of<detail_gpu::convolution_weight_on_cuda>()},
                                             {"gpu", kernel_of<detail_gpu::convolution_weight_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::convolution_weight, "convolution", kernels};
  return primitive;
}
namespace {
/// Whether a kernel is faster than products over windows; and that of the weights, where it is; and whether products
/// whose sums are placed are faster for the transpose, or one convolution of all phases of its stride.
struct ConvRules {
  bool (*pays)(Backend& backend, const ConvSizes& sizes, DType dtype);
  bool (*weight_pays)(const ConvSizes& sizes, DType dtype);
  bool (*blocks_pay)(const ConvSizes& sizes, DType dtype);
  bool (*phases_join)(const ConvSizes& sizes, DType dtype);
};
template <auto pays> bool asked_on_gpu(Backend& backend, const ConvSizes& sizes, DType dtype) {
  return pays(static_cast<detail_gpu::GpuBackend&>(backend), sizes, dtype);
}
constexpr bool always(const ConvSizes&, DType) { return true; }
constexpr bool never(const ConvSizes&, DType) { return false; }

const ConvRules& convolution_rules(Backend& backend) {
  static constexpr RulesOfKernel<ConvRules> list[] = {
      {kernel_of<detail_cpu::convolution_on_cpu>(),
       {[](Backend&, const ConvSizes&, DType) { return true; }, detail_cpu::conv::direct_weight_pays,
        detail_cpu::conv::blocks_pay, never}},
      {kernel_of<detail_gpu::convolution_on_cuda>(),
       {asked_on_gpu<detail_gpu::convolution_pays_on_cuda>, always, never, never}},
      {kernel_of<detail_gpu::convolution_on_gpu>(),
       {asked_on_gpu<detail_gpu::convolution_pays_on_gpu>, always, never, detail_gpu::convolution_phases_join_on_gpu}}};
  static constexpr ConvRules otherwise{[](Backend&, const ConvSizes&, DType) { return true; }, always, never, never};
  return rules_of<ConvRequest, ConvRules>(backend, "convolution", list, otherwise);
}
}  // namespace

bool convolution_pays(Backend& backend, const ConvSizes& s, DType dtype) {
  if (!backend.offers<ConvRequest>() || s.c == 0 || s.o == 0 || s.groups == 0) return false;
  bool plain = s.groups == 1;  // each place by itself: one product of matrices
  for (int i = 0; i < s.axes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    plain = plain && s.kernel[at] == 1 && s.stride[at] == 1 && s.before[at] == 0 && s.in[at] == s.out[at];
  }
  // A product of one group is faster than a vector of one channel.
  if (plain || (s.one_channel_a_group() && s.groups == 1)) return false;
  return convolution_rules(backend).pays(backend, s, dtype);
}
bool convolution_weight_pays(Backend& backend, const ConvSizes& sizes, DType dtype) {
  return backend.offers<ConvWeightRequest>() && convolution_pays(backend, sizes, dtype) &&
         (sizes.one_channel_a_group() || convolution_rules(backend).weight_pays(sizes, dtype));
}
bool convolution_blocks_pay(Backend& backend, const ConvSizes& sizes, DType dtype) {
  return backend.offers<ConvRequest>() && convolution_rules(backend).blocks_pay(sizes, dtype);
}
bool convolution_phases_join(Backend& backend, const ConvSizes& sizes, DType dtype) {
  return convolution_pays(backend, sizes, dtype) && convolution_rules(backend).phases_join(sizes, dtype);
}

template void run(Backend&, const ConvRequest&);
template void run(Backend&, const ConvWeightRequest&);

}  // namespace tern::detail
