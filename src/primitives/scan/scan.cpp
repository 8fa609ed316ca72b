#include "primitives/scan/scan.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/scan/kernels.hpp"

namespace tern::detail {

template <> const Primitive& primitive_of<ScanRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::scan_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::scan_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::scan, "scan", kernels};
  return primitive;
}
template void run(Backend&, const ScanRequest&);

}  // namespace tern::detail
