// Sorting along an axis, the first k of it, and the positions alone. On variables the values are gathered by the
// indices.
#include "primitives/sort/operation.hpp"

#include <algorithm>
#include <string>

#include "autodiff/instances.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/sort/sort.hpp"
#include "tern/ops.hpp"
#include "tern/sets.hpp"

namespace tern {

using namespace detail;

void detail::require_positions(const char* op, const Tensor& x, std::int64_t count) {
  if (count > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": positions are i32, and " + describe(x) + " has " +
                                      std::to_string(count) + " elements along what is ordered, more than 2^31-1");
}

Tensor detail::first_positions(const char* op, const Tensor& x, std::int64_t count, bool descending) {
  Backend& backend = x.impl()->storage->backend();
  backend.require<SortRequest>(op);
  Tensor places = make_tensor(Shape{count}, DType::i32, backend);
  if (count == 0) return places;
  run(backend, SortRequest{op, x.shape(), 0, descending, view_over(x, x.shape()), View{},
                           view_over(places, places.shape()), count});
  return places;
}
Tensor detail::positions_at_ranks(const char* op, const Tensor& x, std::span<const std::int32_t> ranks) {
  Backend& backend = x.impl()->storage->backend();
  backend.require<SortRequest>(op);
  SortRequest request{op, x.shape(), x.dim() - 1, false, view_over(x, x.shape()), View{}, View{}};
  static_assert(SortRequest::kMostRanks == kMostRanksAtOnce);
  request.rank_count = static_cast<int>(ranks.size());
  std::ranges::copy(ranks, request.ranks.begin());
  Tensor places = make_tensor(request.results(), DType::i32, backend);
  request.indices = view_over(places, places.shape());
  if (places.numel() > 0) run(backend, request);
  return places;
}

namespace {
struct SortOutputs {
  Tensor values, indices;
};
/// The first k along the axis; all of them where k is negative.
SortOutputs ordered(const char* op, const Tensor& x, int axis, bool descending, std::int64_t k = -1) {
  require_defined(op, "x", x), require_real(op, "x", x);
  const int a = normalize_axis(op, axis, x.dim());
  if (x.shape()[static_cast<std::size_t>(a)] > 2147483647)
    throw Error(ErrorKind::shape, std::string(op) + ": the axis has more than 2^31-1 elements");
  Backend& backend = x.impl()->storage->backend();
  backend.require<SortRequest>(op);
  Shape shape = x.shape();
  if (k >= 0) shape[static_cast<std::size_t>(a)] = k;
  SortOutputs result{make_tensor(shape, x.dtype(), backend), make_tensor(shape, DType::i32, backend)};
  if (k == 0) return result;
  run(backend, SortRequest{op, x.shape(), a, descending, view_over(x, x.shape()), view_over(result.values, shape),
                           view_over(result.indices, shape), std::max<std::int64_t>(k, 0)});
  return result;
}
template <class T> std::int64_t checked_k(const T& x, std::int64_t k, int axis) {
  const std::int64_t size = x.size(normalize_axis("topk", axis, x.dim()));
  if (k < 0 || k > size)
    throw Error(ErrorKind::index, "topk: k = " + std::to_string(k) + " is out of range for axis " +
                                      std::to_string(axis) + " of size " + std::to_string(size));
  return k;
}
}  // namespace

template <TensorOrVar T> Sorted<T> sort(const T& x, int axis, bool descending) {
  SortOutputs order = ordered("sort", value_of(x), axis, descending);
  if constexpr (std::same_as<T, Tensor>) return {std::move(order.values), std::move(order.indices)};
  else return {gather(x, order.indices, axis), order.indices};
}
template <TensorOrVar T> Sorted<T> topk(const T& x, std::int64_t k, int axis, bool largest) {
  require_defined("topk", "x", value_of(x)), checked_k(x, k, axis);
  SortOutputs order = ordered("topk", value_of(x), axis, largest, k);
  if constexpr (std::same_as<T, Tensor>) return {std::move(order.values), std::move(order.indices)};
  else return {gather(x, order.indices, axis), order.indices};
}
template <TensorOrVar T> Tensor argsort(const T& x, int axis, bool descending) {
  constexpr const char* op = "argsort";
  const Tensor& values = require_defined(op, "x", value_of(x));
  require_real(op, "x", values);
  const int a = normalize_axis(op, axis, values.dim());
  require_positions(op, values, values.size(a));
  Backend& backend = values.impl()->storage->backend();
  backend.require<SortRequest>(op);
  Tensor order = make_tensor(values.shape(), DType::i32, backend);
  run(backend, SortRequest{op, values.shape(), a, descending, view_over(values, values.shape()), View{},
                           view_over(order, values.shape())});
  return order;
}

TERN_INSTANCES_1(Sorted, sort, int, bool)
TERN_INSTANCES_1(Sorted, topk, std::int64_t, int, bool)
template Tensor argsort(const Tensor&, int, bool);
template Tensor argsort(const Var&, int, bool);

}  // namespace tern
