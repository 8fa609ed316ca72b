#include "primitives/scatter/scatter.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/scatter/kernels.hpp"

namespace tern::detail {

template <> const Primitive& primitive_of<ScatterRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::scatter_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::scatter_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::scatter, "scatter", kernels};
  return primitive;
}
template void run(Backend&, const ScatterRequest&);

AtOnce combine_at_once(Backend& backend, const ScatterRequest& request) {
  auto* const gpu = dynamic_cast<detail_gpu::GpuBackend*>(&backend);
  return gpu ? detail_gpu::scatters_at_once(*gpu, request) : AtOnce::no;
}

}  // namespace tern::detail
