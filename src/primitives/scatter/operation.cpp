// Selecting by index: take, gather and their transpose scatter_add; one_hot.
#include <string>
#include <vector>

#include "backend/instruments/trace.hpp"

#include "autodiff/instances.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/scatter/operation.hpp"
#include "primitives/scatter/scatter.hpp"
#include "tern/complex.hpp"

namespace tern {

using namespace detail;

namespace {

/// How an index tensor addresses x along one axis. The iteration space is that of the selected elements; x has stride 0
/// along the axes that run over the table only.
struct IndexLayout {
  Shape space;
  Strides x, table;
};

/// take: the axis is replaced by the axes of the indices.
IndexLayout take_layout(const Shape& shape, const Strides& strides, const Tensor& indices, int axis) {
  IndexLayout layout;
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
IndexLayout gather_layout(const Strides& strides, const Tensor& indices, int axis) {
  IndexLayout layout{indices.shape(), strides, indices.strides()};
  layout.x[static_cast<std::size_t>(axis)] = 0;
  return layout;
}

void check_indices(const char* op, const Tensor& x, const Tensor& indices) {
  require_defined(op, "x", x), require_defined(op, "indices", indices);
  require_same_device(op, x, indices);
  require_index_dtype(op, "indices", indices);
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

std::string axis_text(int axis, const Tensor& x) { return " on axis " + std::to_string(axis) + " of " + describe(x); }

/// Throws index where there are indices but no place, shape where there are more places than i32 can name. Devices find
/// the other indices that are out of range when they read them.
void require_places(const char* op, const Tensor& x, int axis, const Tensor& indices) {
  const std::int64_t size = x.shape()[static_cast<std::size_t>(axis)];
  if (size == 0 && indices.numel() > 0)
    throw Error(ErrorKind::index, std::string(op) + ": any index is out of range for size 0" + axis_text(axis, x) +
                                      "; the indices are " + describe(indices));
  if (size > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": indices are i32, and axis " + std::to_string(axis) + " of " +
                                      describe(x) + " has more than 2^31-1 elements");
}

/// Index errors name the operation and the tensor. `given`: the dtype of the indices that the caller gave.
template <class F> void with_context(const char* op, int axis, const Tensor& x, DType given, F run) {
  const auto place = [&] {
    const bool wide = given == DType::i64;
    return axis_text(axis, x) + (wide ? "; of i64 indices, -2147483648 stands for those beyond i32" : "");
  };
  const IndexScope scope(place);
  try {
    run();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::index) throw;
    throw Error(ErrorKind::index, std::string(op) + ": " + e.what() + place());
  }
}

/// `indices` are i32, which x has places for (require_places).
Tensor read_at(const char* op, const Tensor& x, const Tensor& indices, const IndexLayout& layout, int axis, DType given,
               bool wraps = true) {
  const auto along = static_cast<std::size_t>(axis);
  const TensorImpl& impl = *x.impl();
  Gather gather = table_of(indices, layout.table, impl.strides[along], impl.shape[along]);
  gather.wraps = wraps;
  const InputType type{impl.dtype, false};
  const Operand operand{{impl.storage.get(), impl.dtype, impl.offset, layout.x}, {}, &gather};
  impl.storage->backend().require<FusedRequest>(op);
  Tensor result = make_tensor(layout.space, impl.dtype, impl.storage->backend());
  const View view = view_over(result, layout.space);
  with_context(op, axis, x, given, [&] {
    run(impl.storage->backend(),
        FusedRequest{op, &type_program(op, identity_graph(), {&type, 1}), layout.space, 0, {&operand, 1}, {&view, 1}});
  });
  return result;
}

/// `sum` combined with source at the indices. Narrow types are combined in 32 bits by the caller.
ScatterRequest scatter_request(const char* op, Combine how, const Tensor& sum, const Tensor& indices,
                               const Tensor& source, const IndexLayout& layout, int axis) {
  const auto along = static_cast<std::size_t>(axis);
  const TensorImpl& impl = *sum.impl();
  ScatterRequest request;
  request.op = op, request.combine = how, request.space = layout.space;
  request.source = view_over(source, layout.space);
  request.output = {impl.storage.get(), impl.dtype, impl.offset, layout.x};
  request.target = table_of(indices, layout.table, impl.strides[along], impl.shape[along]);
  return request;
}

DType summing_dtype(DType dtype) {
  if (is_floating(dtype)) return dtype_size(dtype) == 2 ? DType::f32 : dtype;
  return dtype_size(dtype) < 4 ? DType::i32 : dtype;
}

/// What scatter_add was checked to do: indices as i32, the axis, and whether the source is like a take's result.
struct Scatter {
  Tensor indices;
  int axis;
  bool take_like;
  DType given;  // the indices' before
};
Scatter checked_scatter(const char* op, const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  check_indices(op, x, indices), require_defined(op, "source", source), require_same_device(op, x, source);
  require_real(op, "x", x), require_real(op, "source", source);
  const int a = normalize_axis(op, axis, x.dim());
  const bool take_like = is_take_like(x, indices, source, a);
  if (!take_like && source.shape() != indices.shape())
    throw Error(ErrorKind::shape,
                std::string(op) +
                    ": source must have the shape of the indices, or x's with the axis replaced by theirs: x is " +
                    describe(x) + ", indices are " + describe(indices) + ", source is " + describe(source));
  if (!take_like) gather_axis(op, x, indices, axis);
  require_places(op, x, a, indices);
  x.impl()->storage->backend().require<ScatterRequest>(op);
  return {as_i32(op, indices), a, take_like, indices.dtype()};
}

Tensor request_scatter(const char* op, Combine how, const Tensor& x, const Scatter& s, const Tensor& source) {
  const DType wide = summing_dtype(x.dtype());
  const auto layout_of = [&](const Tensor& sum) {
    return s.take_like ? take_layout(sum.shape(), sum.strides(), s.indices, s.axis)
                       : gather_layout(sum.strides(), s.indices, s.axis);
  };
  if (!in_host_memory(x) && (is_floating(x.dtype()) || x.dtype() == wide)) {
    Backend& backend = x.impl()->storage->backend();
    Tensor sum = make_tensor(x.shape(), x.dtype(), backend);
    ScatterRequest request = scatter_request(op, how, sum, s.indices, source, layout_of(sum), s.axis);
    const AtOnce at_once = combine_at_once(backend, request);
    bool all = true;  // where there are fewer indices than elements along another axis, the others stay
    for (int i = 0; !s.take_like && i < x.dim(); ++i) all &= i == s.axis || s.indices.size(i) == x.size(i);
    if (at_once == AtOnce::afresh && all && x.is_contiguous())
      request.initial = view_over(x, x.shape()), request.whole = x.shape();
    else if (at_once != AtOnce::no) sum.copy_from(x);
    if (at_once != AtOnce::no) {
      with_context(op, s.axis, sum, s.given, [&] { run(backend, request); });
      return sum;
    }
  }
  const Tensor sum = x.dtype() == wide ? x.clone() : x.to(wide), widened = source.to(wide);
  const ScatterRequest request = scatter_request(op, how, sum, s.indices, widened, layout_of(sum), s.axis);
  with_context(op, s.axis, x, s.given, [&] { run(sum.impl()->storage->backend(), request); });
  return sum.to(x.dtype());
}

/// Checked, and the indices as i32.
Tensor take_indices(const char* op, const Tensor& x, const Tensor& indices, int axis) {
  check_indices(op, x, indices);
  require_places(op, x, normalize_axis(op, axis, x.dim()), indices);
  return as_i32(op, indices);
}
Tensor gather_indices(const Tensor& x, const Tensor& indices, int axis) {
  check_indices("gather", x, indices);
  require_places("gather", x, gather_axis("gather", x, indices, axis), indices);
  return as_i32("gather", indices);
}
/// At positions that were checked; `given`: their dtype before.
Tensor take_at(const char* op, const Tensor& x, const Tensor& at, int axis, DType given) {
  const int a = normalize_axis(op, axis, x.dim());
  return read_at(op, x, at, take_layout(x.shape(), x.strides(), at, a), a, given);
}
Tensor gather_at(const Tensor& x, const Tensor& at, int axis, DType given) {
  const int a = normalize_axis("gather", axis, x.dim());
  return read_at("gather", x, at, gather_layout(x.strides(), at, a), a, given);
}

Tensor zeros_of(const Shape& shape, const Var& like) {
  return zeros(shape, {.dtype = like.dtype(), .device = like.device()});
}

}  // namespace

void detail::require_indices(const char* op, const Tensor& indices, std::int64_t size, bool wraps) {
  // What is read does not matter: one of the indices themselves, a launch less, unless they may be more than a kernel
  // can see of one storage, and so are read in parts.
  constexpr std::size_t seen_at_once = 64 << 20;
  const bool small = indices.impl()->storage->bytes() <= seen_at_once;
  const Tensor one = small ? indices : zeros({}, {.dtype = DType::i32, .device = indices.device()});
  const Tensor any = make_view(one, {size}, {0}, one.impl()->offset);
  read_at(op, any, indices, take_layout(any.shape(), any.strides(), indices, 0), 0, indices.dtype(), wraps);
}

bool detail::is_take_like(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  if (source.dim() != x.dim() - 1 + indices.dim()) return false;  // a take's result may have more axes than a shape can
  return take_layout(x.shape(), x.strides(), indices, axis).space == source.shape();
}
Tensor detail::scattered(const char* op, Combine how, const Tensor& x, const Tensor& indices, const Tensor& source,
                         int axis) {
  return request_scatter(op, how, x, checked_scatter(op, x, indices, source, axis), source);
}
void detail::combine_at(const char* op, Combine how, const Tensor& x, const Tensor& positions, const Tensor& source,
                        int axis) {
  // x(x) = …: what is read while x is written must not change.
  const auto apart = [&](const Tensor& read) { return may_share_memory(read, x) ? read.clone() : read; };
  const Tensor at = apart(positions), from = apart(source);
  require_places(op, x, axis, at);
  x.impl()->storage->bump_version();
  const IndexLayout layout = take_layout(x.shape(), x.strides(), at, axis);
  const ScatterRequest request = scatter_request(op, how, x, at, from, layout, axis);
  with_context(op, axis, x, DType::i32, [&] { run(x.impl()->storage->backend(), request); });
}

Tensor detail::formula_at(const char* op, const FormulaGraph* graph, std::span<const Tensor> arguments,
                          std::span<const Tensor> lines, const Tensor& positions) {
  const Shape& space = positions.shape();
  Backend& backend = positions.impl()->storage->backend();
  SmallVector<InputType, 8> types;
  SmallVector<Operand, 8> operands;
  std::vector<Gather> gathers;
  gathers.reserve(lines.size());
  for (const Tensor& a : arguments) types.push_back({a.dtype(), false}), operands.push_back({view_over(a, space), {}});
  Strides none;
  none.resize(space.size(), 0);
  for (const Tensor& line : lines) {
    const TensorImpl& t = *line.impl();
    gathers.push_back(table_of(positions, positions.strides(), t.strides[0], t.shape[0]));
    types.push_back({t.dtype, false});
    operands.push_back({{t.storage.get(), t.dtype, t.offset, none}, {}, &gathers.back()});
  }
  const Program& program = type_program(op, graph, types);
  backend.require<FusedRequest>(op);
  Tensor result = make_tensor(space, program.outputs[0].dtype, backend, op);
  const View view = view_over(result, space);
  run(backend, FusedRequest{op, &program, space, 0, operands, {&view, 1}});
  return result;
}

void detail::require_index_dtype(const char* op, const char* name, const Tensor& indices) {
  if (indices.dtype() != DType::i32 && indices.dtype() != DType::i64)
    throw Error(ErrorKind::dtype, std::string(op) + ": " + name + " must be i32 or i64, got " + describe(indices) +
                                      "; convert them with .to(i32)");
}

Tensor detail::as_i32(const char* op, const Tensor& indices, std::int32_t invalid) {
  if (indices.dtype() == DType::i32) return indices;
  static const FormulaGraph* const graph = graph_of(
      [](auto i, auto other) { return cast(where(bit_and(i >= INT32_MIN, i <= INT32_MAX), i, other), DType::i32); });
  const Argument arguments[] = {Argument(indices), Argument(invalid)};
  return fused_one<Tensor>({op, graph, 0, {}}, arguments);
}

namespace {
/// What was selected, recorded where x is: its gradient is added back at the positions.
template <TensorOrVar T> T selected(const char* op, const T& x, const Tensor& positions, int axis, Tensor result) {
  if constexpr (std::same_as<T, Tensor>) return result;
  else
    return record_one(op, {&x, 1}, std::move(result), {{as_var(positions)}},
                      [axis, shape = x.shape()](const RuleContext& c) {
                        const Tensor& at = c.saved[0].value();
                        return PoolVector<Var>{scatter_add(zeros_of(shape, c.grads[0]), at, c.grads[0], axis)};
                      });
}
Var recorded_scatter(const Var& x, const Scatter& scatter, const Var& source, int axis, Tensor result) {
  const Var inputs[] = {x, source};
  PoolVector<Save> saved;
  if (source.requires_grad()) saved.push_back({as_var(scatter.indices)});
  const auto rule = [axis, take_like = scatter.take_like](const RuleContext& c) {
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
}  // namespace

Tensor detail::for_pairs(const Tensor& indices) {
  Shape shape = require_defined("gather", "indices", indices).shape();
  shape.push_back(2);
  return indices.unsqueeze(-1).broadcast_to(shape);
}

template <TensorOrVar T> T detail::taken(const char* op, const T& x, const Tensor& indices, int axis) {
  if (is_complex_tensor(value_of(x)))
    return as_pairs(op, x, axis, [&](const T& pairs, int a) { return taken(op, pairs, indices, a); });
  const Tensor positions = take_indices(op, value_of(x), indices, axis);
  return selected(op, x, positions, axis, take_at(op, value_of(x), positions, axis, indices.dtype()));
}
template Tensor detail::taken(const char*, const Tensor&, const Tensor&, int);
template Var detail::taken(const char*, const Var&, const Tensor&, int);
template <TensorOrVar T> T take(const T& x, const Tensor& indices, int axis) { return taken("take", x, indices, axis); }
template <TensorOrVar T> T gather(const T& x, const Tensor& indices, int axis) {
  if (is_complex_tensor(value_of(x)))
    return as_pairs("gather", x, axis, [&](const T& pairs, int a) { return gather(pairs, for_pairs(indices), a); });
  const Tensor positions = gather_indices(value_of(x), indices, axis);
  return selected("gather", x, positions, axis, gather_at(value_of(x), positions, axis, indices.dtype()));
}
namespace {
template <class T> T complex_scatter_add(const T& x, const Tensor& indices, const T& source, int axis) {
  check_indices("scatter_add", value_of(x), indices);
  const int a = normalize_axis("scatter_add", axis, x.dim());
  const bool take_like = is_take_like(value_of(x), indices, value_of(source), a);
  const Tensor at = take_like ? indices : for_pairs(indices);
  return view_as_complex(scatter_add(view_as_real(x), at, view_as_real(source), a));
}
}  // namespace
template <TensorOrVar X, TensorOrVar S>
ResultOf<X, S> scatter_add(const X& x, const Tensor& indices, const S& source, int axis) {
  if (value_of(x).defined() && value_of(source).defined() && x.dtype() != source.dtype()) {
    const DType both = promote_types(x.dtype(), source.dtype());
    return scatter_add(x.to(both), indices, source.to(both), axis);
  }
  constexpr const char* op = "scatter_add";
  if (is_complex_tensor(value_of(x)) && is_complex_tensor(value_of(source)))
    return complex_scatter_add(operand_as<ResultOf<X, S>>(x), indices, operand_as<ResultOf<X, S>>(source), axis);
  const Scatter scatter = checked_scatter(op, value_of(x), indices, value_of(source), axis);
  Tensor result = request_scatter(op, Combine::add, value_of(x), scatter, value_of(source));
  if constexpr (std::same_as<ResultOf<X, S>, Tensor>) return result;
  else return recorded_scatter(as_var(x), scatter, as_var(source), axis, std::move(result));
}
TERN_INSTANCES_1(ResultOf, take, const Tensor&, int)
TERN_INSTANCES_1(ResultOf, gather, const Tensor&, int)
template Tensor scatter_add(const Tensor&, const Tensor&, const Tensor&, int);
template Var scatter_add(const Tensor&, const Tensor&, const Var&, int);
template Var scatter_add(const Var&, const Tensor&, const Tensor&, int);
template Var scatter_add(const Var&, const Tensor&, const Var&, int);

Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype) {
  constexpr const char* op = "one_hot";
  require_defined(op, "labels", labels);
  require_index_dtype(op, "labels", labels);
  if (classes < 0) throw Error(ErrorKind::shape, "one_hot: the number of classes is negative");
  const bool any = labels.numel() > 0;
  if (any && classes == 0)
    throw Error(ErrorKind::index, "one_hot: any label is out of range of 0 classes; labels are " + describe(labels));
  const Tensor positions = arange(0, classes, 1, {.dtype = DType::i32, .device = labels.device()});
  const Tensor at = as_i32(op, labels);
  if (any) require_indices("one_hot (labels)", at, classes);
  return (at.unsqueeze(-1) == positions).to(dtype);
}

}  // namespace tern
