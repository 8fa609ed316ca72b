// The primitive's table of kernels.
#include "primitives/rotate/rotate.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"

namespace tern::detail {

template <> const Primitive& primitive_of<RotateRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::rotate_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::rotate_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::rotate, "rotate", kernels};
  return primitive;
}
template void run(Backend&, const RotateRequest&);

}  // namespace tern::detail
