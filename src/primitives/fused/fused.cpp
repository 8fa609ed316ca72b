#include "primitives/fused/fused.hpp"

#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/fused/kernels.hpp"

namespace tern::detail {
namespace {

/// Where a backend has no better way.
void one_after_the_other(Backend& backend, const FusedGroup& group) {
  for (const FusedRequest& r : group.requests) backend.execute(r);
}

}  // namespace

std::int64_t FusedRequest::flops() const {
  std::int64_t kept = 1;
  for (int i = 0; i < space.rank(); ++i)
    if (!(reduced >> i & 1)) kept *= space[static_cast<std::size_t>(i)];
  return flops_of(*program, space.numel(), kept);
}

std::int64_t FusedGroup::flops() const {
  std::int64_t total = 0;
  for (const FusedRequest& r : requests) total += r.flops();
  return total;
}
std::string FusedGroup::text() const {
  std::string text;
  for (const FusedRequest& r : requests) text += (text.empty() ? "" : " and ") + r.text();
  return text;
}

template <> const Primitive& primitive_of<FusedRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::fused_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::fused_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::fused, "fused", kernels};
  return primitive;
}
template <> const Primitive& primitive_of<FusedGroup>() {
  static constexpr FamilyKernel kernels[] = {{"gpu", kernel_of<detail_gpu::fused_group_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::fused_group, "fused", kernels, kernel_of<one_after_the_other>()};
  return primitive;
}
template void run(Backend&, const FusedRequest&);
template void run(Backend&, const FusedGroup&);

}  // namespace tern::detail
