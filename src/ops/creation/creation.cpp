// Creation beyond zeros, ones and ranges (create.cpp).
#include "tern/creation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "autodiff/instances.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/views.hpp"

namespace tern {

using namespace detail;

Tensor empty(const Shape& shape, const Options& options) {
  shape.numel();
  return make_tensor(shape, options.dtype, backend_of(options.device), "empty");
}

/// Zeros and then the diagonal: comparing places took 0.7 ns an element, and 2.4 where the dtype has 16 bits.
Tensor detail::shifted_eye(std::int64_t rows, std::int64_t columns, std::int64_t k, const Options& options) {
  const Tensor matrix = zeros({rows, columns}, options);
  Tensor line = diagonal(matrix, k);
  line.copy_from(ones({}, options).broadcast_to(line.shape()));
  return matrix;
}

namespace {
void check_space(const char* op, std::int64_t count, const Options& options) {
  if (count < 0) throw Error(ErrorKind::shape, std::string(op) + ": the count is negative");
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
}
/// power(i / (count - 1)) for each i, computed in f64 by the program, whatever the device has.
template <class F> Tensor space(std::int64_t count, const Options& options, F power) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(power(count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.0));
  return tensor(values, options.dtype, options.device);
}
}  // namespace
Tensor logspace(double begin, double end, std::int64_t count, double base, const Options& options) {
  check_space("logspace", count, options);
  return space(count, options, [&](double t) { return std::pow(base, t == 1 ? end : begin + (end - begin) * t); });
}
Tensor geomspace(double begin, double end, std::int64_t count, const Options& options) {
  check_space("geomspace", count, options);
  if (!(begin * end > 0) && !(begin > 0 && end > 0) && !(begin < 0 && end < 0))
    throw Error(ErrorKind::shape, "geomspace: " + std::to_string(begin) + " and " + std::to_string(end) +
                                      " must be of one sign, and not 0");
  const double from = std::log(std::abs(begin)), to = std::log(std::abs(end));
  return space(count, options, [&](double t) {
    return t == 0 ? begin : t == 1 ? end : std::copysign(std::exp(from + (to - from) * t), begin);
  });
}

namespace {
template <class T> Options like(const char* op, const T& x, std::optional<DType> dtype) {
  require_defined(op, "x", value_of(x));
  return {.dtype = dtype.value_or(x.dtype()), .device = x.device()};
}
}  // namespace
template <TensorOrVar T> Tensor full_like(const T& x, Number value, std::optional<DType> dtype) {
  const Options options = like("full_like", x, dtype);
  return full(x.shape(), value, options);
}
template <TensorOrVar T> Tensor zeros_like(const T& x, std::optional<DType> dtype) {
  const Options options = like("zeros_like", x, dtype);
  return zeros(x.shape(), options);
}
template <TensorOrVar T> Tensor ones_like(const T& x, std::optional<DType> dtype) {
  const Options options = like("ones_like", x, dtype);
  return ones(x.shape(), options);
}
template <TensorOrVar T> Tensor empty_like(const T& x, std::optional<DType> dtype) {
  const Options options = like("empty_like", x, dtype);
  return empty(x.shape(), options);
}
template Tensor full_like(const Tensor&, Number, std::optional<DType>);
template Tensor full_like(const Var&, Number, std::optional<DType>);
#define TERN_LIKE(name)                                      \
  template Tensor name(const Tensor&, std::optional<DType>); \
  template Tensor name(const Var&, std::optional<DType>);
TERN_LIKE(zeros_like)
TERN_LIKE(ones_like)
TERN_LIKE(empty_like)
#undef TERN_LIKE

template <TensorOrVar T> std::vector<T> meshgrid(const std::vector<T>& vectors, MeshOrder order) {
  Shape shape;
  for (const T& v : vectors) {
    const Tensor& t = require_defined("meshgrid", "a vector", value_of(v));
    if (t.dim() != 1) throw Error(ErrorKind::shape, "meshgrid: each must have one axis, got " + describe(t));
    shape.push_back(t.numel());
  }
  std::vector<T> result;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    Shape along;
    along.resize(shape.rank(), 1);
    along[i] = shape[i];
    T grid = vectors[i].reshape(along).broadcast_to(shape);
    if (order == MeshOrder::xy && shape.rank() > 1) grid = grid.transpose(0, 1);
    result.push_back(std::move(grid));
  }
  return result;
}
template std::vector<Tensor> meshgrid(const std::vector<Tensor>&, MeshOrder);
template std::vector<Var> meshgrid(const std::vector<Var>&, MeshOrder);

namespace {
/// x where a formula of the column minus the row, and k, says so; else 0.
template <class T> T triangle(const char* op, const T& x, std::int64_t k, const Pointwise<>& formula) {
  require_defined(op, "x", value_of(x));
  if (x.dim() < 2)
    throw Error(ErrorKind::shape, std::string(op) + ": x must have two axes at least, got " + describe(value_of(x)));
  const std::int64_t limit = std::max(x.size(-1), x.size(-2));
  return formula(x, std::clamp(k, -limit, limit));
}
constexpr Pointwise kLowerTriangle{
    "tril", [](auto x, auto k) { return where(index(x, -1) - index(x, -2) <= cast(k, DType::i32), x, 0); }};
constexpr Pointwise kUpperTriangle{
    "triu", [](auto x, auto k) { return where(index(x, -1) - index(x, -2) >= cast(k, DType::i32), x, 0); }};
constexpr Pointwise kDiagonal{
    "diag_embed", [](auto x, auto k) { return where(index(x, -1) - index(x, -2) == cast(k, DType::i32), x, 0); }};
}  // namespace
template <TensorOrVar T> T tril(const T& x, std::int64_t k) { return triangle("tril", x, k, kLowerTriangle); }
template <TensorOrVar T> T triu(const T& x, std::int64_t k) { return triangle("triu", x, k, kUpperTriangle); }
TERN_INSTANCES_1(ResultOf, tril, std::int64_t)
TERN_INSTANCES_1(ResultOf, triu, std::int64_t)

template <TensorOrVar T> T diag_embed(const T& x, std::int64_t k) {
  require_defined("diag_embed", "x", value_of(x));
  if (x.dim() == 0)
    throw Error(ErrorKind::shape, "diag_embed: x must have one axis at least, got " + describe(value_of(x)));
  // Row i holds x[i] where k ≥ 0, column j holds x[j] elsewhere.
  const std::int64_t more = k >= 0 ? k : -std::max(k, -std::numeric_limits<std::int64_t>::max());
  const T line = pad(x, {{0, more}});
  Shape square = line.shape();
  square.push_back(line.size(-1));
  return triangle("diag_embed", line.unsqueeze(k < 0 ? -2 : -1).broadcast_to(square), k, kDiagonal);
}
TERN_INSTANCES_1(ResultOf, diag_embed, std::int64_t)

template <TensorOrVar T> T diag(const T& x, std::int64_t k) {
  require_defined("diag", "x", value_of(x));
  if (x.dim() == 1) return diag_embed(x, k);
  if (x.dim() == 2) return diagonal(x, k);
  throw Error(ErrorKind::shape, "diag: x must have one or two axes, got " + describe(value_of(x)));
}
TERN_INSTANCES_1(ResultOf, diag, std::int64_t)

}  // namespace tern
