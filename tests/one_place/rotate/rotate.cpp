// The primitive's kernels, and the operation with its derivative rule.
#include "primitives/rotate/rotate.hpp"

#include "autodiff/record.hpp"
#include "backend/run.hpp"
#include "backend/tensor_impl.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/rotate/operation.hpp"

namespace tern {
namespace detail {

template <> const Primitive& primitive_of<RotateRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::rotate_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::rotate_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::rotate, "rotate", kernels};
  return primitive;
}
template void run(Backend&, const RotateRequest&);

}  // namespace detail

using namespace detail;

Tensor rotate(const Tensor& x, std::int64_t by, int axis) {
  require_defined("rotate", "x", x);
  const int a = normalize_axis("rotate", axis, x.dim());
  Backend& backend = x.impl()->storage->backend();
  backend.require<RotateRequest>("rotate");
  const std::int64_t n = std::max<std::int64_t>(x.size(a), 1);
  Tensor result = make_tensor(x.shape(), x.dtype(), backend, "rotate");
  run(backend, RotateRequest{"rotate", x.shape(), a, (by % n + n) % n, view_over(x, x.shape()),
                             view_over(result, x.shape())});
  return result;
}

/// Linear, so its gradient is its transpose, which turns the other way.
Var rotate(const Var& x, std::int64_t by, int axis) {
  return record_one("rotate", {&x, 1}, rotate(x.value(), by, axis), {},
                    [=](const RuleContext& c) { return PoolVector<Var>{rotate(c.grads[0], -by, axis)}; });
}

}  // namespace tern
