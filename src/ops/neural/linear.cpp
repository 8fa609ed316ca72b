// Linear layers, embeddings and rotary positions.
#include <cmath>

#include "autodiff/instances.hpp"
#include "primitives/fused/operation_checks.hpp"
#include "primitives/scatter/operation.hpp"
#include "tern/creation.hpp"

namespace tern {

using namespace detail;

template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> linear(const X& x, const W& weight, const B& bias) {
  using R = ResultOf<X, W, B>;
  constexpr const char* op = "linear";
  require_floating(op, "x", value_of(x)), require_floating(op, "weight", value_of(weight));
  if (weight.dim() != 2) refuse(op, "weight", "[out, in]", describe(value_of(weight)));
  if (x.dim() < 1 || x.size(-1) != weight.size(1))
    refuse(op, "x", "[.., " + std::to_string(weight.size(1)) + "], as weight is " + describe(value_of(weight)),
           describe(value_of(x)));
  check_optional(op, "bias", value_of(bias), weight.size(0), value_of(x));
  const R rows = x.dim() == 1 ? operand_as<R>(x).unsqueeze(0) : operand_as<R>(x);
  const R columns = operand_as<R>(weight).mT();
  const R y = bias.defined() ? matmul_bias(rows, columns, operand_as<R>(bias)) : matmul(rows, columns);
  return x.dim() == 1 ? y.squeeze(0) : y;
}
TERN_INSTANCES_3(ResultOf, linear)

template <TensorOrVar W> W embedding(const Tensor& indices, const W& weight) {
  constexpr const char* op = "embedding";
  require_defined(op, "indices", indices), require_defined(op, "weight", value_of(weight));
  require_index_dtype(op, "indices", indices);
  if (weight.dim() != 2) refuse(op, "weight", "[count, D]", describe(value_of(weight)));
  return taken(op, weight, indices, 0);
}
template Tensor embedding(const Tensor&, const Tensor&);
template Var embedding(const Tensor&, const Var&);

namespace {
void check_rope(const char* op, const Tensor& x, const char* name, const Tensor& table) {
  require_floating(op, name, table), require_same_device(op, x, table);
  Shape half = x.shape();
  half.back() /= 2;
  check_broadcasts(op, name, table, half);
}
}  // namespace
template <TensorOrVar X, TensorOrVar C, TensorOrVar S>
ResultOf<X, C, S> rope(const X& x, const C& cosines, const S& sines, const RopeOptions& options) {
  using R = ResultOf<X, C, S>;
  constexpr const char* op = "rope";
  require_floating(op, "x", value_of(x));
  if (x.dim() < 2 || x.size(-1) % 2 != 0) refuse(op, "x", "[.., L, D] with an even D", describe(value_of(x)));
  check_rope(op, value_of(x), "cosines", value_of(cosines)), check_rope(op, value_of(x), "sines", value_of(sines));
  const std::int64_t half = x.size(-1) / 2;
  const bool pairs = options.interleaved;
  const auto part = [&](int i) { return pairs ? x.slice(-1, i, {}, 2) : x.slice(-1, i * half, (i + 1) * half); };
  static const Pointwise rotate("rope", [](auto a, auto b, auto c, auto s) {
    return std::array{a * c - b * s, a * s + b * c};
  });
  const std::array<R, 2> rotated = rotate(part(0), part(1), cosines, sines);
  const std::vector<R> both(rotated.begin(), rotated.end());
  return pairs ? stack(both, x.dim()).reshape(x.shape()) : concatenate(both, -1);
}
TERN_INSTANCES_3(ResultOf, rope, const RopeOptions&)

RopeTables rope_tables(std::int64_t length, std::int64_t dimension, const RopeTableOptions& options) {
  constexpr const char* op = "rope_tables";
  if (length < 0) refuse(op, "length", "0 or more", std::to_string(length));
  if (dimension < 0 || dimension % 2 != 0) refuse(op, "dimension", "an even number", std::to_string(dimension));
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": dtype must be floating-point, got " + std::string(to_string(options.dtype)));
  if (!(options.base > 0) || !std::isfinite(options.base))
    refuse(op, "base", "a positive number", std::to_string(options.base));
  const std::int64_t half = dimension / 2;
  (void)empty({length, half}, {.dtype = options.dtype, .device = options.device});  // says where that is too much
  std::vector<double> cosines, sines;
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t j = 0; j < half; ++j) {
      const double share = static_cast<double>(2 * j) / static_cast<double>(dimension);
      const double angle = static_cast<double>(options.start + i) * std::pow(options.base, -share);
      cosines.push_back(std::cos(angle)), sines.push_back(std::sin(angle));
    }
  const auto table = [&](const std::vector<double>& of) {
    return tensor_of(of, {length, half}, options.dtype, options.device);
  };
  return {table(cosines), table(sines)};
}

}  // namespace tern
