#include "primitives/fft/fft.hpp"

#include <cmath>

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/fft/kernels.hpp"

namespace tern::detail {

std::int64_t FftRequest::flops() const {
  const auto length = static_cast<double>(n);
  const double line = 5 * length * std::log2(length) / (kind == FftKind::complex ? 1 : 2);
  return lines() * static_cast<std::int64_t>(line) + (second < 0 ? 0 : second_alone().flops());
}
std::string FftRequest::text() const {
  const std::string also = second < 0 ? "" : " and " + std::to_string(second);
  return to_string(input_space) + ", axis " + std::to_string(axis) + also + ", n " + std::to_string(n);
}

template <> const Primitive& primitive_of<FftRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::fft_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::fft_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::fft, "fft", kernels};
  return primitive;
}
template void run(Backend&, const FftRequest&);

}  // namespace tern::detail
