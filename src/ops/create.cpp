// Creation of tensors, and random numbers.
#include <cmath>
#include <numbers>
#include <string>

#include "backend/trace.hpp"
#include "ops/fused.hpp"

namespace tern {

using namespace detail;

namespace detail {
Tensor from_host(const void* data, std::size_t count, DType dtype, const Shape& shape, Device device) {
  if (shape.numel() != static_cast<std::int64_t>(count))
    throw Error(ErrorKind::shape, "tensor: " + std::to_string(count) + " values do not fit shape " + to_string(shape));
  Tensor result = make_tensor(shape, dtype, backend_of(device));
  Storage& storage = *result.impl()->storage;
  upload(storage.backend(), storage, 0, data, count * dtype_size(dtype));
  return result;
}

namespace {
/// Runs a graph of numbers only (or positions) into a new tensor.
Tensor generate(const char* op, const Graph* graph, const Shape& shape, const Options& options,
                std::span<const Number> numbers) {
  Tensor result = make_tensor(shape, options.dtype, backend_of(options.device), op);
  PoolVector<Argument> arguments{Argument(result)};  // gives the space, dtype and device; never read
  for (const Number& n : numbers) arguments.push_back(Argument(n));
  run_fused({op, graph, 0, shape}, arguments, {&result, 1});
  return result;
}
/// f(x, numbers…) cast to the type of x.
const Graph* like_first(Expr value, int inputs) {
  const Expr e = make_leaf(Leaf::cast, {value, make_input(0)}, kCastLike);
  return make_graph({&e, 1}, inputs);
}
}  // namespace
}  // namespace detail

Tensor full(const Shape& shape, Number value, const Options& options) {
  static const Graph* const graph = like_first(make_input(1), 2);
  if (!is_floating(options.dtype) && !value.is_integer && value.real != std::trunc(value.real))
    throw Error(ErrorKind::dtype, "full: " + std::to_string(value.real) + " is not a value of dtype " +
                                      std::string(to_string(options.dtype)));
  return generate("full", graph, shape, options, {&value, 1});
}
Tensor zeros(const Shape& shape, const Options& options) { return full(shape, 0, options); }
Tensor ones(const Shape& shape, const Options& options) { return full(shape, 1, options); }

Tensor arange(Number begin, Number end, Number step, const Options& options) {
  if (step.real == 0) throw Error(ErrorKind::shape, "arange: the step is 0");
  const double count = std::ceil((end.real - begin.real) / step.real);
  if (!(count < 2147483648.0)) throw Error(ErrorKind::shape, "arange: more than 2^31-1 values");
  static const Graph* const graph = [] {
    const Expr x = make_input(0);
    const Expr value = make_input(1) + make_leaf(Leaf::cast, {index(x, 0), x}, kCastLike) * make_input(2);
    return make_graph({&value, 1}, 3);
  }();
  const Number numbers[] = {begin, step};
  return generate("arange", graph, Shape{count > 0 ? static_cast<std::int64_t>(count) : 0}, options, numbers);
}

Tensor linspace(double begin, double end, std::int64_t count, const Options& options) {
  if (count < 0) throw Error(ErrorKind::shape, "linspace: the count is negative");
  const double step = count > 1 ? (end - begin) / static_cast<double>(count - 1) : 0;
  static const Graph* const graph = [] {
    const Expr x = make_input(0), at = make_leaf(Leaf::cast, {index(x, 0), x}, kCastLike);
    const Expr value = where(index(x, 0) == make_input(4), make_input(3), make_input(1) + at * make_input(2));
    return make_graph({&value, 1}, 5);
  }();
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                "linspace: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  const Number numbers[] = {begin, step, end, count - 1};
  return count == 1 ? full({1}, begin, options) : generate("linspace", graph, {count}, options, numbers);
}

Tensor eye(std::int64_t size, const Options& options) {
  static const Graph* const graph = [] {
    const Expr x = make_input(0);
    return like_first(index(x, 0) == index(x, 1), 1);
  }();
  return generate("eye", graph, {size, size}, options, {});
}

}  // namespace tern
