// Reading and writing at positions along an axis, the other axes broadcast.
#include <string>
#include <utility>

#include "autodiff/instances.hpp"
#include "ops/indexing/indexing.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/scatter/operation.hpp"
#include "tern/sets.hpp"

namespace tern {

using namespace detail;

namespace {
/// The shapes of x and of indices with all axes but one broadcast.
std::pair<Shape, Shape> along(const char* op, const Tensor& x, const Tensor& indices, int axis) {
  require_defined(op, "x", x), require_defined(op, "indices", indices);
  const auto a = static_cast<std::size_t>(normalize_axis(op, axis, x.dim()));
  if (indices.dim() != x.dim())
    throw Error(ErrorKind::shape, std::string(op) + ": indices must have as many axes as x: x is " + describe(x) +
                                      ", indices are " + describe(indices));
  Shape of_x = x.shape(), of_indices = indices.shape();
  of_x[a] = of_indices[a] = 1;
  const Shape common = broadcast_shapes(op, of_x, of_indices);
  of_x = of_indices = common;
  of_x[a] = x.shape()[a], of_indices[a] = indices.shape()[a];
  return {of_x, of_indices};
}
}  // namespace
template <TensorOrVar T> T take_along_axis(const T& x, const Tensor& indices, int axis) {
  const auto [of_x, of_indices] = along("take_along_axis", value_of(x), indices, axis);
  return gather(x.broadcast_to(of_x), indices.broadcast_to(of_indices), axis);
}
TERN_INSTANCES_1(ResultOf, take_along_axis, const Tensor&, int)
template <TensorOrVar X, TensorOrVar V>
ResultOf<X, V> put_along_axis(const X& x, const Tensor& indices, const V& values, int axis) {
  constexpr const char* op = "put_along_axis";
  check_values(op, value_of(x), value_of(values));
  const auto [of_x, of_indices] = along(op, value_of(x), indices, axis);
  if (of_x != x.shape())
    throw Error(ErrorKind::shape, std::string(op) + ": indices " + describe(indices) + " do not broadcast to x, " +
                                      describe(value_of(x)));
  check_fits(op, value_of(values), of_indices);
  const Tensor at = indices.broadcast_to(of_indices);
  const V source = values.broadcast_to(of_indices);
  if constexpr (std::same_as<ResultOf<X, V>, Tensor>)
    if (!is_complex(x.dtype())) return scattered(op, Combine::last, x, at, source, axis);
  return scatter_reduce(x, at, source, Reduce::set, axis);
}
template Tensor put_along_axis(const Tensor&, const Tensor&, const Tensor&, int);
template Var put_along_axis(const Tensor&, const Tensor&, const Var&, int);
template Var put_along_axis(const Var&, const Tensor&, const Tensor&, int);
template Var put_along_axis(const Var&, const Tensor&, const Var&, int);

}  // namespace tern
