// Selecting by index: take, gather and their transpose scatter_add; sort, top k and running sums; comparing.
#include <string>

#include "backend/trace.hpp"

#include "ops/fused.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {

/// How an index tensor addresses x along one axis. The index space is that of the selected elements; x has stride 0
/// along the axes that run over the table only.
struct Layout {
  Shape space;
  Strides x, table;
};

/// take: the axis is replaced by the axes of the indices.
Layout take_layout(const Shape& shape, const Strides& strides, const Tensor& indices, int axis) {
  Layout layout;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i != axis) {
      layout.space.push_back(shape[at]), layout.x.push_back(strides[at]), layout.table.push_back(0);
      continue;
    }
    for (std::size_t j = 0; j < indices.shape().size(); ++j)
      layout.space.push_back(indices.shape()[j]), layout.x.push_back(0), layout.table.push_back(indices.strides()[j]);
  }
  return layout;
}

/// gather: one index for each selected element.
Layout gather_layout(const Strides& strides, const Tensor& indices, int axis) {
  Layout layout{indices.shape(), strides, indices.strides()};
  layout.x[static_cast<std::size_t>(axis)] = 0;
  return layout;
}

void check_indices(const char* op, const Tensor& x, const Tensor& indices) {
  require_defined(op, "x", x), require_defined(op, "indices", indices);
  require_same_device(op, x, indices);
  if (indices.dtype() != DType::i32)
    throw Error(ErrorKind::dtype,
                std::string(op) + ": indices must be i32, got " + describe(indices) + "; convert them with .to(i32)");
  if (x.dim() == 0) throw Error(ErrorKind::shape, std::string(op) + ": x needs at least one axis, got " + describe(x));
}

/// Elementwise indices: of x's rank, and no larger than x on the other axes.
int gather_axis(const char* op, const Tensor& x, const Tensor& indices, int axis) {
  const int a = normalize_axis(op, axis, x.dim());
  bool fits = indices.dim() == x.dim();
  for (int i = 0; fits && i < x.dim(); ++i)
    fits = i == a || indices.shape()[static_cast<std::size_t>(i)] <= x.shape()[static_cast<std::size_t>(i)];
  if (!fits)
    throw Error(ErrorKind::shape, std::string(op) +
                                      ": indices must have x's rank and be no larger along the other axes: x is " +
                                      describe(x) + ", indices are " + describe(indices));
  return a;
}

Gather table_of(const Tensor& indices, const Strides& strides, std::int64_t step, std::int64_t size) {
  const TensorImpl& t = *indices.impl();
  return {{t.storage.get(), t.dtype, t.offset, strides}, step, size};
}

/// Index errors name the operation and the tensor.
template <class F> void with_context(const char* op, int axis, const Tensor& x, F run) {
  const auto place = [&] { return " on axis " + std::to_string(axis) + " of " + describe(x); };
  const IndexScope scope(place);
  try {
    run();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::index) throw;
    throw Error(ErrorKind::index, std::string(op) + ": " + e.what() + place());
  }
}

Tensor read_at(const char* op, const Tensor& x, const Tensor& indices, const Layout& layout, int axis, bool wraps = true) {
  static const Graph* const identity = graph_of([](auto v) { return v; });
  const auto along = static_cast<std::size_t>(axis);
  const TensorImpl& impl = *x.impl();
  Gather gather = table_of(indices, layout.table, impl.strides[along], impl.shape[along]);
  gather.wraps = wraps;
  const InputType type{impl.dtype, false};
  const Operand operand{{impl.storage.get(), impl.dtype, impl.offset, layout.x}, {}, &gather};
  Tensor result = make_tensor(layout.space, impl.dtype, impl.storage->backend());
  const View view = view_over(result, layout.space);
  with_context(op, axis, x, [&] {
    run(impl.storage->backend(),
        FusedRequest{op, &type_program(op, identity, {&type, 1}), layout.space, 0, {&operand, 1}, {&view, 1}});
  });
  return result;
}

/// sum (contiguous, of x's shape) += source at the indices. Narrow types are summed in 32 bits by the caller.
void add_at(const char* op, const Tensor& sum, const Tensor& indices, const Tensor& source, const Layout& layout,
            int axis) {
  const auto along = static_cast<std::size_t>(axis);
  const TensorImpl& impl = *sum.impl();
  ScatterRequest request;
  request.op = op, request.space = layout.space;
  request.source = view_over(source, layout.space);
  request.output = {impl.storage.get(), impl.dtype, impl.offset, layout.x};
  request.target = table_of(indices, layout.table, impl.strides[along], impl.shape[along]);
  with_context(op, axis, sum, [&] { run(impl.storage->backend(), request); });
}

DType summing_dtype(DType dtype) {
  if (is_floating(dtype)) return dtype_size(dtype) == 2 ? DType::f32 : dtype;
  return dtype_size(dtype) < 4 ? DType::i32 : dtype;
}

/// Whether `source` fits take-like indices (x's axis replaced by theirs); else it must fit gather-like ones.
bool is_take_like(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  return take_layout(x.shape(), x.strides(), indices, axis).space == source.shape();
}

Tensor scatter_tensors(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  constexpr const char* op = "scatter_add";
  check_indices(op, x, indices), require_defined(op, "source", source), require_same_device(op, x, source);
  const int a = normalize_axis(op, axis, x.dim());
  if (source.dtype() != x.dtype())
    throw Error(ErrorKind::dtype,
                std::string(op) + ": dtypes differ: x is " + describe(x) + ", source is " + describe(source));
  const bool take_like = is_take_like(x, indices, source, a);
  if (!take_like && source.shape() != indices.shape())
    throw Error(ErrorKind::shape,
                std::string(op) +
                    ": source must have the shape of the indices, or x's with the axis replaced by theirs: x is " +
                    describe(x) + ", indices are " + describe(indices) + ", source is " + describe(source));
  if (!take_like) gather_axis(op, x, indices, axis);
  const DType wide = summing_dtype(x.dtype());
  Tensor sum = x.dtype() == wide ? x.clone() : x.to(wide);
  const Layout layout =
      take_like ? take_layout(sum.shape(), sum.strides(), indices, a) : gather_layout(sum.strides(), indices, a);
  add_at(op, sum, indices, source.to(wide), layout, a);
  return sum.to(x.dtype());
}

Tensor zeros_of(const Shape& shape, const Var& like) {
  return zeros(shape, {.dtype = like.dtype(), .device = like.device()});
}

}  // namespace

void detail::require_indices(const char* op, const Tensor& indices, std::int64_t size) {
  // What is read does not matter: one of the indices themselves, a launch less, unless they may be more than a kernel
  // can see of one storage, and so are read in parts.
  constexpr std::size_t seen_at_once = 64 << 20;
  const bool small = indices.impl()->storage->bytes() <= seen_at_once;
  const Tensor one = small ? indices : zeros({}, {.dtype = DType::i32, .device = indices.device()});
  const Tensor any = make_view(one, {size}, {0}, one.impl()->offset);
  read_at(op, any, indices, take_layout(any.shape(), any.strides(), indices, 0), 0, false);
}

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  check_indices("take", x, indices);
  const int a = normalize_axis("take", axis, x.dim());
  return read_at("take", x, indices, take_layout(x.shape(), x.strides(), indices, a), a);
}
Var take(const Var& x, const Tensor& indices, int axis) {
  return record_one(
      "take", {&x, 1}, take(x.value(), indices, axis), {{as_var(indices)}},
      [axis, shape = x.shape()](const RuleContext& c) {
        const Tensor& at = c.saved[0].value();
        return PoolVector<Var>{scatter_add(as_var(zeros_of(shape, c.grads[0])), at, c.grads[0], axis)};
      });
}
Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  check_indices("gather", x, indices);
  const int a = gather_axis("gather", x, indices, axis);
  return read_at("gather", x, indices, gather_layout(x.strides(), indices, a), a);
}
Var gather(const Var& x, const Tensor& indices, int axis) {
  return record_one(
      "gather", {&x, 1}, gather(x.value(), indices, axis), {{as_var(indices)}},
      [axis, shape = x.shape()](const RuleContext& c) {
        const Tensor& at = c.saved[0].value();
        return PoolVector<Var>{scatter_add(as_var(zeros_of(shape, c.grads[0])), at, c.grads[0], axis)};
      });
}
Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  return scatter_tensors(x, indices, source, axis);
}
Var scatter_add(const VarArg& x, const Tensor& indices, const VarArg& source, int axis) {
  const Var inputs[] = {*x, *source};
  Tensor result = scatter_tensors(x->value(), indices, source->value(), axis);
  const bool take_like =
      is_take_like(x->value(), indices, source->value(), normalize_axis("scatter_add", axis, x->dim()));
  PoolVector<Save> saved;
  if (source->requires_grad()) saved.push_back({as_var(indices)});
  const auto rule = [axis, take_like](const RuleContext& c) {
    PoolVector<Var> grads(2);
    if (c.wanted[0]) grads[0] = c.grads[0];
    if (c.wanted[1]) {
      const Tensor& at = c.saved[0].value();
      grads[1] = take_like ? take(c.grads[0], at, axis) : gather(c.grads[0], at, axis);
    }
    return grads;
  };
  return record_one("scatter_add", inputs, std::move(result), std::move(saved), rule);
}

// ---- along an axis: running sums, sort ----
namespace {
Tensor scanned(const Tensor& x, int axis, bool reverse) {
  require_defined("cumsum", "x", x);
  const int a = normalize_axis("cumsum", axis, x.dim());
  if (x.dtype() == DType::boolean || (is_integer(x.dtype()) && dtype_size(x.dtype()) < 4))
    return scanned(x.to(DType::i32), axis, reverse);
  Tensor result = make_tensor(x.shape(), x.dtype(), x.impl()->storage->backend());
  run(x.impl()->storage->backend(),
      ScanRequest{"cumsum", Leaf::add, x.shape(), a, reverse, view_over(x, x.shape()), view_over(result, x.shape())});
  return result;
}
Var scanned(const Var& x, int axis, bool reverse) {
  return record_one("cumsum", {&x, 1}, scanned(x.value(), axis, reverse), {}, [axis, reverse](const RuleContext& c) {
    return PoolVector<Var>{scanned(c.grads[0], axis, !reverse)};
  });
}
struct Order {
  Tensor values, indices;
};
/// The first k along the axis; all of them where k is negative.
Order ordered(const char* op, const Tensor& x, int axis, bool descending, std::int64_t k = -1) {
  require_defined(op, "x", x);
  const int a = normalize_axis(op, axis, x.dim());
  if (x.shape()[static_cast<std::size_t>(a)] > 2147483647)
    throw Error(ErrorKind::shape, std::string(op) + ": the axis has more than 2^31-1 elements");
  Backend& backend = x.impl()->storage->backend();
  Shape shape = x.shape();
  if (k >= 0) shape[static_cast<std::size_t>(a)] = k;
  Order result{make_tensor(shape, x.dtype(), backend), make_tensor(shape, DType::i32, backend)};
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

Tensor cumsum(const Tensor& x, int axis) { return scanned(x, axis, false); }
Var cumsum(const Var& x, int axis) { return scanned(x, axis, false); }
Sorted<Tensor> sort(const Tensor& x, int axis, bool descending) {
  Order order = ordered("sort", x, axis, descending);
  return {std::move(order.values), std::move(order.indices)};
}
Sorted<Var> sort(const Var& x, int axis, bool descending) {
  Order order = ordered("sort", x.value(), axis, descending);
  return {gather(x, order.indices, axis), order.indices};
}
Sorted<Tensor> topk(const Tensor& x, std::int64_t k, int axis, bool largest) {
  require_defined("topk", "x", x), checked_k(x, k, axis);
  Order order = ordered("topk", x, axis, largest, k);
  return {std::move(order.values), std::move(order.indices)};
}
Sorted<Var> topk(const Var& x, std::int64_t k, int axis, bool largest) {
  require_defined("topk", "x", x.value()), checked_k(x, k, axis);
  Tensor indices = ordered("topk", x.value(), axis, largest, k).indices;
  Var values = gather(x, indices, axis);
  return {std::move(values), std::move(indices)};
}

Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype) {
  require_defined("one_hot", "labels", labels);
  if (labels.dtype() != DType::i32)
    throw Error(ErrorKind::dtype, "one_hot: labels must be i32, got " + describe(labels));
  if (classes < 0) throw Error(ErrorKind::shape, "one_hot: the number of classes is negative");
  const Tensor positions = arange(0, classes, 1, {.dtype = DType::i32, .device = labels.device()});
  return (labels.unsqueeze(-1) == positions).to(dtype);
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  require_defined("allclose", "a", a), require_defined("allclose", "b", b);
  const auto close = [rtol, atol](auto x, auto y) {  // equal infinities are close; x - y is NaN for them
    return bit_or(x == y, abs(x - y) <= atol + rtol * abs(y));
  };
  Tensor result;
  if (!is_floating(a.dtype())) result = a == b;
  else result = Pointwise("allclose", close)(a, b);
  if (equal_nan && is_floating(a.dtype())) result = bit_or(result, bit_and(a != a, b != b));
  return all(result).item<bool>();
}

}  // namespace tern
