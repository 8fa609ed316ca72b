#include "primitives/gemm/gemm.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/kernels.hpp"

namespace tern::detail {

std::int64_t GemmRequest::flops() const {
  std::int64_t results = m * n;
  for (int i = 0; i < batch.rank(); ++i)
    if (!(contracted >> i & 1)) results *= batch[static_cast<std::size_t>(i)];
  return 2 * batch.numel() * m * n * k + flops_of(*epilogue, results, results);
}

std::string GemmRequest::text() const {
  return to_string(batch) + " x " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " " +
         std::string(to_string(a.dtype)) + ", epilogue " + kernel_text(*epilogue);
}

template <> const Primitive& primitive_of<GemmRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::gemm_on_cpu>()},
                                             {"cuda", kernel_of<detail_gpu::gemm_on_cuda>()},
                                             {"gpu", kernel_of<detail_gpu::gemm_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::gemm, "gemm", kernels};
  return primitive;
}
template void run(Backend&, const GemmRequest&);

}  // namespace tern::detail
