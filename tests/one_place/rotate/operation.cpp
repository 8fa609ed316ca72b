// The operation with its derivative rule.
#include "primitives/rotate/operation.hpp"

#include "autodiff/instances.hpp"
#include "autodiff/record.hpp"
#include "backend/instruments/trace.hpp"
#include "backend/tensor_impl.hpp"
#include "primitives/rotate/rotate.hpp"

namespace tern {

using namespace detail;

namespace {

Tensor rotated(const Tensor& x, std::int64_t by, int axis) {
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
Var rotated(const Var& x, std::int64_t by, int axis) {
  return record_one("rotate", {&x, 1}, rotated(x.value(), by, axis), {},
                    [=](const RuleContext& c) { return PoolVector<Var>{rotated(c.grads[0], -by, axis)}; });
}

}  // namespace

template <TensorOrVar X> ResultOf<X> rotate(const X& x, std::int64_t by, int axis) { return rotated(x, by, axis); }
TERN_INSTANCES_1(ResultOf, rotate, std::int64_t, int)

}  // namespace tern
