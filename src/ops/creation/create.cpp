// Creation of tensors, and random numbers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

#include "backend/instruments/trace.hpp"
#include "backend/memory/elements.hpp"
#include "primitives/fused/operation.hpp"

namespace tern {

using namespace detail;

namespace detail {
namespace {
[[noreturn]] void refuse_value(const std::string& value, DType dtype) {
  throw Error(ErrorKind::dtype, "tensor: " + value + " is not a value of dtype " + std::string(to_string(dtype)) +
                                    "; ask for a wider dtype, or convert with .to(" + std::string(to_string(dtype)) +
                                    "), which wraps integers");
}
/// A number as an element of type T; fractions are cut for integers, as `.to()` does. Throws dtype for what no integer
/// of that type is: a number out of range, or NaN.
template <class T> T converted(double value, DType dtype) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T>) {
    // Both bounds are exact in f64: the upper one is a power of two.
    constexpr double below = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
    const double whole = std::trunc(value);
    if (!(whole >= static_cast<double>(std::numeric_limits<T>::min()) && whole < below))
      refuse_value(std::to_string(value), dtype);
    return static_cast<T>(whole);
  } else return static_cast<T>(value);
}
template <class T> T converted(std::int64_t value, DType dtype) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<T>(value)) refuse_value(std::to_string(value), dtype);
    return static_cast<T>(value);
  } else return static_cast<T>(value);
}

/// Values on the host in another dtype: every one is a double or an int64_t, exactly.
std::unique_ptr<std::byte[]> convert(const void* data, std::size_t count, DType from, DType to);
/// The same where `to` is complex.
std::unique_ptr<std::byte[]> convert_to_complex(const void* data, std::size_t count, DType from, DType to) {
  const std::size_t size = dtype_size(real_dtype(to));
  if (is_complex(from)) return convert(data, 2 * count, real_dtype(from), real_dtype(to));
  const auto parts = convert(data, count, from, real_dtype(to));
  std::unique_ptr<std::byte[]> result(new std::byte[2 * count * size]());
  for (std::size_t i = 0; i < count; ++i) std::memcpy(result.get() + 2 * i * size, parts.get() + i * size, size);
  return result;
}
std::unique_ptr<std::byte[]> convert(const void* data, std::size_t count, DType from, DType to) {
  if (is_complex(to)) return convert_to_complex(data, count, from, to);
  if (is_complex(from))
    throw Error(ErrorKind::dtype, "tensor: complex values are not converted to " + std::string(to_string(to)) +
                                      "; take real(z), imag(z) or abs(z) of a complex tensor");
  std::unique_ptr<std::byte[]> result(new std::byte[count * dtype_size(to)]);
  with_element(from, [&]<class From>(std::type_identity<From>) {
    using Exact = std::conditional_t<std::is_integral_v<From>, std::int64_t, double>;
    with_element(to, [&]<class To>(std::type_identity<To>) {
      const From* const in = static_cast<const From*>(data);
      for (std::size_t i = 0; i < count; ++i) {
        const To value = converted<To>(static_cast<Exact>(in[i]), to);
        std::memcpy(result.get() + i * sizeof(To), &value, sizeof(To));
      }
    });
  });
  return result;
}

/// default_dtype() is a setting of the thread: the constructors it speaks for take no such argument.
thread_local DType chosen_dtype = DType::f32;
}  // namespace

Tensor HostValues::on(Device device, std::optional<DType> wanted, const Shape& shape) const {
  const std::int64_t count = shape_.numel();
  const Shape full = completed_shape("tensor", shape, count, nullptr);
  full.numel();  // throws where it overflows
  const DType dtype = wanted ? *wanted : literal_ ? default_dtype() : dtype_;
  Backend& backend = backend_of(device);
  // What the values' own dtype is, the device need only keep.
  Tensor result = wanted ? make_tensor(full, dtype, backend) : make_stored_tensor(full, dtype, backend);
  const auto changed = dtype == dtype_ ? nullptr : convert(data_, static_cast<std::size_t>(count), dtype_, dtype);
  upload(backend, *result.impl()->storage, 0, changed ? changed.get() : data_,
         static_cast<std::size_t>(count) * dtype_size(dtype));
  return result;
}

void HostValues::join(std::span<const HostValues> rows) {
  std::size_t bytes = 0;
  for (const HostValues& row : rows) {
    if (row.shape_ != rows[0].shape_)
      throw Error(ErrorKind::shape, "tensor: the rows in braces have different shapes, " + to_string(rows[0].shape_) +
                                        " and " + to_string(row.shape_));
    bytes += static_cast<std::size_t>(row.shape_.numel()) * dtype_size(row.dtype_);
  }
  shape_ = {rows.size()};
  if (rows.empty()) return;
  for (const std::int64_t size : rows[0].shape_) shape_.push_back(size);
  dtype_ = rows[0].dtype_, literal_ = rows[0].literal_;
  auto* to = own<std::byte>(bytes);
  for (const HostValues& row : rows) {
    const std::size_t size = bytes / rows.size();
    if (size > 0) std::memcpy(to, row.data_, size);
    to += size;
  }
}

namespace {
/// Runs a graph of numbers only (or positions) into a new tensor.
Tensor generate(const char* op, const FormulaGraph* graph, const Shape& shape, const Options& options,
                std::span<const Number> numbers) {
  Backend& backend = backend_of(options.device);
  require_fused(op, backend);
  Tensor result = make_tensor(shape, options.dtype, backend, op);
  PoolVector<Argument> arguments{Argument(result)};  // gives the space, dtype and device; never read
  for (const Number& n : numbers) arguments.push_back(Argument(n));
  run_fused({op, graph, 0, shape}, arguments, {&result, 1});
  return result;
}
/// Throws dtype for a finite number that is infinite in this floating dtype.
void require_finite(const char* op, double value, DType dtype) {
  if (!std::isfinite(value) || !is_floating(dtype) || dtype == DType::f64) return;
  const bool is_infinite = with_element(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) return false;
    else return std::isinf(static_cast<double>(static_cast<T>(value)));
  });
  if (is_infinite)
    throw Error(ErrorKind::dtype, std::string(op) + ": " + std::to_string(value) + " is not a value of dtype " +
                                      std::string(to_string(dtype)) + "; ask for a wider dtype");
}
/// f(x, numbers…) cast to the type of x.
const FormulaGraph* like_first(Expr value, int inputs) {
  const Expr e = make_elementary(Elementary::cast, {value, make_input(0)}, kCastLike);
  return make_graph({&e, 1}, inputs);
}
}  // namespace
}  // namespace detail

DType default_dtype() { return chosen_dtype; }
DefaultDType::DefaultDType(DType dtype) : before_(chosen_dtype) {
  if (!is_floating(dtype))
    throw Error(ErrorKind::dtype,
                "DefaultDType: needs a floating-point dtype, got " + std::string(to_string(dtype)));
  chosen_dtype = dtype;
}
DefaultDType::~DefaultDType() { chosen_dtype = before_; }

Tensor full(const Shape& shape, Number value, const Options& options) {
  static const FormulaGraph* const graph = like_first(make_input(1), 2);
  if (!is_differentiable(options.dtype) && !value.is_integer && value.real != std::trunc(value.real))
    throw Error(ErrorKind::dtype, "full: " + std::to_string(value.real) + " is not a value of dtype " +
                                      std::string(to_string(options.dtype)));
  require_finite("full", value.real, options.dtype);
  return generate("full", graph, shape, options, {&value, 1});
}
Tensor zeros(const Shape& shape, const Options& options) { return full(shape, 0, options); }
Tensor ones(const Shape& shape, const Options& options) { return full(shape, 1, options); }

namespace {

std::string text_of(const Number& n) {
  return n.is_integer ? std::to_string(n.integer) : std::to_string(n.real);
}

/// 2.0 as 2; other numbers as they are.
Number as_integer(const Number& n) {
  return !n.is_integer && fits(n, DType::i64) ? Number(static_cast<std::int64_t>(n.real)) : n;
}
/// A step modulo the range of an integer dtype, in which positions times steps wrap: -1 as 255 of u8.
Number wrapped(const Number& step, DType dtype) {
  if (!is_integer(dtype) || !step.is_integer || fits(step, dtype)) return step;
  const int unused = 64 - 8 * static_cast<int>(dtype_size(dtype));
  const auto bits = static_cast<std::uint64_t>(step.integer) << unused;
  const bool is_signed = dtype != DType::u8 && dtype != DType::u32;
  return is_signed ? Number(static_cast<std::int64_t>(bits) >> unused) : Number(bits >> unused);
}

/// How many of begin, begin + step, … are below end, of integers: a fractional end is rounded away from begin. -1: more
/// than kMostPositions.
std::int64_t count_integers(std::int64_t begin, const Number& end, std::int64_t step) {
  using Wide = __int128;
  const double rounded = step > 0 ? std::ceil(end.real) : std::floor(end.real);
  if (!end.is_integer && !(std::abs(rounded) < 0x1p64)) return (rounded > 0) == (step > 0) ? -1 : 0;
  const Wide last = end.is_integer ? Wide{end.integer} : static_cast<Wide>(rounded);
  const Wide distance = step > 0 ? last - begin : Wide{begin} - last;
  const Wide size = step > 0 ? Wide{step} : -Wide{step};
  if (distance <= 0) return 0;
  const Wide count = (distance + size - 1) / size;
  return count > kMostPositions ? -1 : static_cast<std::int64_t>(count);
}
std::int64_t count_reals(double begin, double end, double step) {
  if ((end - begin > 0) != (step > 0) || end == begin) return 0;
  const double count = std::max(1.0, std::ceil((end - begin) / step));
  if (!(count <= static_cast<double>(kMostPositions))) return -1;
  return static_cast<std::int64_t>(count);
}

/// The number of values, which integers can hold; throws shape and dtype.
std::int64_t checked_count(const Number& begin, const Number& end, const Number& step, DType dtype) {
  if (step.real == 0) throw Error(ErrorKind::shape, "arange: the step is 0");
  if (!std::isfinite(begin.real) || std::isnan(end.real) || !std::isfinite(step.real))
    throw Error(ErrorKind::shape, "arange: the begin or the step is not finite, or the end is NaN");
  const bool integers = begin.is_integer && step.is_integer;
  const std::int64_t count = integers ? count_integers(begin.integer, end, step.integer)
                                      : count_reals(begin.real, end.real, step.real);
  if (count < 0) throw Error(ErrorKind::shape, "arange: more than 2^31-1 values");
  if (count > 0) {
    require_finite("arange", begin.real, dtype);
    require_finite("arange", begin.real + static_cast<double>(count - 1) * step.real, dtype);
  }
  if (!integers || count < 2) return count;
  const __int128 last = __int128{begin.integer} + __int128{step.integer} * (count - 1);
  if (!is_floating(dtype) && (last < INT64_MIN || last > INT64_MAX || !fits(static_cast<std::int64_t>(last), dtype)))
    throw Error(ErrorKind::dtype, "arange: the last value from " + text_of(begin) + " to " + text_of(end) +
                                      " is not a value of " + std::string(to_string(dtype)) +
                                      "; ask for a wider dtype");
  return count;
}

/// What positions are computed in: f32 for 16-bit floats, which hold few integers.
Expr position_like(const Expr& x, bool halves) {
  return halves ? cast(index(x, 0), DType::f32) : make_elementary(Elementary::cast, {index(x, 0), x}, kCastLike);
}
bool is_half(DType dtype) { return is_floating(dtype) && dtype_size(dtype) == 2; }
const FormulaGraph* arange_graph(bool halves) {
  return like_first(make_input(1) + position_like(make_input(0), halves) * make_input(2), 3);
}
const FormulaGraph* linspace_graph(bool halves) {
  const Expr x = make_input(0), step = position_like(x, halves) * make_input(2);
  return like_first(where(index(x, 0) == make_input(4), make_input(3), make_input(1) + step), 5);
}

}  // namespace

Tensor arange(Number begin, Number end, Number step, const Options& options) {
  if (is_complex(options.dtype))
    return arange(begin, end, step, {.dtype = real_dtype(options.dtype), .device = options.device}).to(options.dtype);
  if (options.dtype == DType::boolean)
    throw Error(ErrorKind::dtype, "arange: expected a dtype of numbers, got boolean; use .to(boolean) afterwards");
  if (!is_floating(options.dtype)) begin = as_integer(begin), step = as_integer(step);
  const std::int64_t count = checked_count(begin, end, step, options.dtype);
  static const FormulaGraph *const graph = arange_graph(false), *const halves = arange_graph(true);
  // Of one value the step counts for nothing, and may be infinite in the dtype.
  const Number numbers[] = {begin, count < 2 ? Number(0) : wrapped(step, options.dtype)};
  return generate("arange", is_half(options.dtype) ? halves : graph, Shape{count}, options, numbers);
}

Tensor arange(Number begin, Number end, Number step) {
  const bool integers = begin.is_integer && end.is_integer && step.is_integer;
  return arange(begin, end, step, {.dtype = integers ? DType::i32 : default_dtype()});
}

Tensor linspace(double begin, double end, std::int64_t count, const Options& options) {
  if (count < 0) throw Error(ErrorKind::shape, "linspace: the count is negative");
  if (count > kMostPositions) throw Error(ErrorKind::shape, "linspace: more than 2^31-1 values");
  const double step = count > 1 ? (end - begin) / static_cast<double>(count - 1) : 0;
  static const FormulaGraph *const graph = linspace_graph(false), *const halves = linspace_graph(true);
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                "linspace: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  require_finite("linspace", begin, options.dtype), require_finite("linspace", end, options.dtype);
  const Number numbers[] = {begin, step, end, count - 1};
  if (count == 1) return full({1}, begin, options);
  return generate("linspace", is_half(options.dtype) ? halves : graph, {count}, options, numbers);
}

Tensor eye(std::int64_t size, const Options& options) {
  static const FormulaGraph* const graph = [] {
    const Expr x = make_input(0);
    return like_first(index(x, 0) == index(x, 1), 1);
  }();
  return generate("eye", graph, {size, size}, options, {});
}

}  // namespace tern
