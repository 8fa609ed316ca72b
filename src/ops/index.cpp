// Selecting, joining and comparing.
#include <string>

#include "ops/fused.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  require_defined("take", "x", x), require_defined("take", "indices", indices);
  require_same_device("take", x, indices);
  if (indices.dtype() != DType::i32) throw Error(ErrorKind::dtype, "take: indices must be i32, got " + describe(indices) + "; convert them with .to(i32)");
  const int a = normalize_axis("take", axis, x.dim());
  Shape shape;
  Strides from, table;  // of x and of the indices, over the result's axes
  const auto put = [&](std::int64_t size, std::int64_t x_stride, std::int64_t table_stride) {
    shape.push_back(size), from.push_back(x_stride), table.push_back(table_stride);
  };
  for (int i = 0; i < x.dim(); ++i) {
    const auto axis_i = static_cast<std::size_t>(i);
    if (i != a) put(x.shape()[axis_i], x.strides()[axis_i], 0);
    else for (std::size_t j = 0; j < indices.shape().size(); ++j) put(indices.shape()[j], 0, indices.strides()[j]);
  }
  const auto along = static_cast<std::size_t>(a);
  const TensorImpl &xi = *x.impl(), &ti = *indices.impl();
  const Gather gather{{ti.storage.get(), ti.dtype, ti.offset, table}, x.strides()[along], x.shape()[along]};
  const InputType type{x.dtype(), false};
  static const Graph* const identity = graph_of([](auto v) { return v; });
  Tensor result = make_tensor(shape, x.dtype(), xi.storage->backend());
  const Operand operand{{xi.storage.get(), xi.dtype, xi.offset, from}, {}, &gather};
  const View view = view_over(result, shape);
  try {
    xi.storage->backend().fused({"take", &type_program("take", identity, {&type, 1}), shape, 0, {&operand, 1}, {&view, 1}});
  } catch (const Error& e) {
    throw Error(e.kind(), "take: " + std::string(e.what()) + " on axis " + std::to_string(axis) + " of " + describe(x));
  }
  return result;
}

namespace {
template <class T> const Tensor& value_of(const T& x) {
  if constexpr (std::same_as<T, Var>) return x.value();
  else return x;
}
template <class T> Tensor joined(const std::vector<T>& parts, int axis, std::vector<std::int64_t>& begins) {
  if (parts.empty()) throw Error(ErrorKind::shape, "concatenate: needs at least one tensor");
  const Tensor& first = require_defined("concatenate", "tensor 1", value_of(parts[0]));
  const auto a = static_cast<std::size_t>(normalize_axis("concatenate", axis, first.dim()));
  Shape shape = first.shape();
  shape[a] = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = require_defined("concatenate", "a tensor", value_of(parts[i]));
    Shape expected = first.shape(), got = part.shape();
    if (got.rank() == expected.rank()) expected[a] = got[a];
    if (got != expected)
      throw Error(ErrorKind::shape, "concatenate: tensor " + std::to_string(i + 1) + " is " + describe(part) + ", which does not fit behind " +
                                        describe(first) + " along axis " + std::to_string(axis));
    if (part.dtype() != first.dtype())
      throw Error(ErrorKind::dtype, "concatenate: dtypes differ: " + describe(first) + " and " + describe(part));
    require_same_device("concatenate", first, part);
    begins.push_back(shape[a]);
    shape[a] += got[a];
  }
  begins.push_back(shape[a]);
  Tensor result = make_tensor(shape, first.dtype(), first.impl()->storage->backend());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (begins[i] != begins[i + 1]) result.slice(axis, begins[i], begins[i + 1]).copy_from(value_of(parts[i]));
  return result;
}
template <class T> std::vector<T> with_new_axis(const std::vector<T>& parts, int axis) {
  if (parts.empty()) throw Error(ErrorKind::shape, "stack: needs at least one tensor");
  std::vector<T> result;
  for (const T& part : parts) {
    require_defined("stack", "a tensor", value_of(part));
    result.push_back(part.unsqueeze(axis));
  }
  return result;
}
template <class T> std::vector<T> parts_of(const T& x, std::int64_t parts, int axis) {
  require_defined("split", "x", value_of(x));
  const std::int64_t size = x.size(normalize_axis("split", axis, x.dim()));
  if (parts < 1 || size % parts != 0)
    throw Error(ErrorKind::shape, "split: axis " + std::to_string(axis) + " of " + describe(value_of(x)) + " does not divide into " + std::to_string(parts) + " parts");
  std::vector<T> result;
  for (std::int64_t i = 0; i < parts; ++i) result.push_back(x.slice(axis, i * (size / parts), (i + 1) * (size / parts)));
  return result;
}
}  // namespace

Tensor concatenate(const std::vector<Tensor>& tensors, int axis) {
  std::vector<std::int64_t> begins;
  return joined(tensors, axis, begins);
}
Var concatenate(const std::vector<Var>& vars, int axis) {
  std::vector<std::int64_t> begins;
  Tensor result = joined(vars, axis, begins);
  return record_one("concatenate", vars, std::move(result), {}, [begins, axis](const RuleContext& c) {
    std::vector<Var> grads;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) grads.push_back(c.grads[0].slice(axis, begins[i], begins[i + 1]));
    return grads;
  });
}
Tensor stack(const std::vector<Tensor>& tensors, int axis) { return concatenate(with_new_axis(tensors, axis), axis); }
Var stack(const std::vector<Var>& vars, int axis) { return concatenate(with_new_axis(vars, axis), axis); }
std::vector<Tensor> split(const Tensor& x, std::int64_t parts, int axis) { return parts_of(x, parts, axis); }
std::vector<Var> split(const Var& x, std::int64_t parts, int axis) { return parts_of(x, parts, axis); }

Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype) {
  require_defined("one_hot", "labels", labels);
  if (labels.dtype() != DType::i32) throw Error(ErrorKind::dtype, "one_hot: labels must be i32, got " + describe(labels));
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
