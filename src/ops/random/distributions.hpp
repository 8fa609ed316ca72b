// What distributions share: their parameters, and the numbers they are made of.
#pragma once
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "ops/random/random.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/ops.hpp"
#include "tern/random.hpp"

namespace tern::detail_draws {

using namespace detail;

enum class Domain { any, positive, not_negative, probability, count };
inline bool holds(Domain domain, double v) {
  switch (domain) {
    case Domain::any: return v == v;
    case Domain::positive: return v > 0;
    case Domain::not_negative: return v >= 0;
    case Domain::probability: return v >= 0 && v <= 1;
    case Domain::count: return v >= 0 && v == std::floor(v);
  }
  return false;
}
inline const char* words(Domain domain) {
  constexpr const char* list[] = {"a number", "above 0", "at least 0", "from 0 to 1", "a whole number from 0 on"};
  return list[static_cast<int>(domain)];
}
struct Given {
  const char* name;
  const Argument& value;
  Domain domain;
};
inline bool is_number(const Argument& a) { return !a.tensor && !a.var; }
inline double real(const Argument& a) {
  return a.number.is_integer ? static_cast<double>(a.number.integer) : a.number.real;
}

/// The dtype that is computed in.
inline DType work_dtype(const Options& options) { return options.dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Throws what is wrong with a call, before anything is drawn.
inline void check(const char* op, const Shape& shape, const Options& options, std::initializer_list<Given> parameters) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  for (const Given& p : parameters) {
    if (is_number(p.value)) {
      if (!holds(p.domain, real(p.value)))
        throw Error(ErrorKind::value, std::string(op) + ": " + p.name + " must be " + words(p.domain) + ", it is " +
                                          std::to_string(real(p.value)));
      continue;
    }
    const Tensor& x = value_of(p.value);
    require_defined(op, p.name, x);
    if (!is_floating(x.dtype()))
      throw Error(ErrorKind::dtype, std::string(op) + ": " + p.name + " must be of floats, it is " + describe(x));
    if (broadcast_shapes(op, x.shape(), shape) != shape)
      throw Error(ErrorKind::shape, std::string(op) + ": " + p.name + ", " + describe(x) +
                                        ", does not broadcast to the shape " + to_string(shape));
    if (x.device() != options.device)
      throw Error(ErrorKind::device, std::string(op) + ": " + p.name + " is on " + x.device().to_string() +
                                         ", the numbers are asked for on " + options.device.to_string());
  }
}
/// A parameter in the dtype that is computed in.
template <TensorOrVar R> class Converted {
 public:
  Converted(const Argument& a, DType dtype) : given_(a) {
    if (a.var) {
      if constexpr (std::same_as<R, Var>) converted_ = a.var->to(dtype);
      else converted_ = a.var->value().to(dtype);
    } else if (a.tensor) {
      if constexpr (std::same_as<R, Var>) converted_ = constant(a.tensor->to(dtype));
      else converted_ = a.tensor->to(dtype);
    }
  }
  Argument argument() const { return converted_ ? Argument(*converted_) : given_; }

 private:
  Argument given_;
  std::optional<R> converted_;
};
template <TensorOrVar R> R applied(const char* op, const FormulaGraph* graph, std::span<const Argument> arguments) {
  R result;
  if constexpr (std::same_as<R, Var>) apply_vars(op, graph, {}, arguments, {&result, 1});
  else apply_tensors(op, graph, {}, arguments, {&result, 1});
  return result;
}
template <TensorOrVar R> R applied(const Pointwise<>& f, std::span<const Argument> arguments) {
  return applied<R>(f.name(), f.graph(), arguments);
}
/// f(base, parameters…) in the dtype that is asked for.
template <TensorOrVar R, TensorOrVar B>
R transformed(const Pointwise<>& f, const B& base, const Options& options,
              std::initializer_list<Argument> parameters) {
  std::vector<Converted<R>> converted;
  for (const Argument& p : parameters) converted.emplace_back(p, base.dtype());
  std::vector<Argument> arguments{Argument(base)};
  for (const Converted<R>& c : converted) arguments.push_back(c.argument());
  return applied<R>(f, arguments).to(options.dtype);
}
inline Tensor signed_numbers(const char* op, const Shape& shape, Generator& generator, const Options& options) {
  return draw_signed(op, shape, generator, work_dtype(options), options.device);
}
inline Tensor normal_numbers(const Shape& shape, Generator& generator, const Options& options) {
  return randn(shape, generator, {.dtype = work_dtype(options), .device = options.device});
}

}  // namespace tern::detail_draws
