#include "primitives/sort/sort.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/sort/kernels.hpp"

namespace tern::detail {

template <> const Primitive& primitive_of<SortRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::sort_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::sort_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::sort, "sort", kernels};
  return primitive;
}
template void run(Backend&, const SortRequest&);

}  // namespace tern::detail
