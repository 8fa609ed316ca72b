// Tensor: a handle on strided, typed memory of a device.
#pragma once
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <ranges>
#include <span>
#include <vector>

#include "tern/device.hpp"
#include "tern/dtype.hpp"
#include "tern/error.hpp"
#include "tern/formula.hpp"
#include "tern/shape.hpp"

struct WGPUBufferImpl;  // WGPUBuffer of webgpu.h is a pointer to it

namespace tern {

namespace detail {
struct TensorImpl;
}

/// An n-dimensional array. Copies share memory (`clone()` copies it); a default-constructed Tensor is empty and using
/// it is an error of kind `shape`. Const use from any threads is safe; writes need the caller's ordering.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}

  /// A tensor over the caller's memory, which must outlive it (hold `keep_alive` to make sure).
  /// `strides` are in elements; none: row-major. On a CUDA device the pointer is one of its memory, as of cudaMalloc,
  /// aligned to its elements; other work of the program on it needs cuda_stream_scope, or waiting. Throws `device` where
  /// the memory is not that device's or the pointer is not aligned, `shape` where the memory ends before the tensor.
  template <Element T>
  static Tensor view(T* pointer, const Shape& shape, const std::vector<std::int64_t>& strides = {},
                     std::shared_ptr<const void> keep_alive = {}, Device device = cpu()) {
    return borrow(const_cast<std::remove_cv_t<T>*>(pointer), dtype_of<T>, shape, strides, std::move(keep_alive),
                  device);
  }

  /// A tensor over the program's own WebGPU buffer, of a `device` that webgpu_device() gave. The buffer's usage must have
  /// Storage, CopySrc and CopyDst, and it must hold the elements (`shape` error otherwise). Dtypes of 8 and 16 bits are
  /// packed into its words. tern holds a reference of it as long as there are views.
  static Tensor view(WGPUBufferImpl* buffer, DType dtype, const Shape& shape,
                     const std::vector<std::int64_t>& strides = {}, std::shared_ptr<const void> keep_alive = {},
                     Device device = webgpu());

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  /// Size of one axis; negative axes count from the end.
  std::int64_t size(int axis) const;
  int dim() const;
  std::int64_t numel() const;
  /// Steps between neighbours along each axis, in elements.
  const Strides& strides() const;
  DType dtype() const;
  Device device() const;
  /// Row-major without gaps.
  bool is_contiguous() const;

  /// A copy on another device (itself where it is there already).
  Tensor to(Device device) const;
  /// A converted copy (itself where it has the dtype): rounds to nearest even; floats to integers saturate, NaN gives
  /// 0.
  Tensor to(DType dtype) const;
  /// All elements in row-major order. T must be the exact element type (`dtype` error otherwise).
  template <Element T> std::vector<T> to_vector() const {
    std::vector<T> values;
    if constexpr (std::is_same_v<T, bool>) {
      const auto bytes = std::make_unique<bool[]>(static_cast<std::size_t>(numel()));
      read(bytes.get(), dtype_of<T>, "to_vector");
      values.assign(bytes.get(), bytes.get() + numel());
    } else {
      values.resize(static_cast<std::size_t>(numel()));
      read(values.data(), dtype_of<T>, "to_vector");
    }
    return values;
  }
  /// The only element. T must be the exact element type.
  template <Element T> T item() const {
    T value{};
    check_single("item");
    read(&value, dtype_of<T>, "item");
    return value;
  }
  /// Itself where contiguous, else a row-major copy.
  Tensor contiguous() const;
  /// A row-major copy with memory of its own.
  Tensor clone() const;

  // ---- in place, seen by views; each bumps the memory's version ----
  /// Overwrites the elements with those of `source`, broadcast to this shape. Equal dtypes.
  Tensor& copy_from(const Tensor& source);
  Tensor& operator+=(const Tensor& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator+=(Number other);
  Tensor& operator-=(Number other);
  Tensor& operator*=(Number other);
  Tensor& operator/=(Number other);

  // ---- views: no copy ----
  /// The same elements in another shape; one size may be -1. Copies where the strides do not allow a view.
  Tensor reshape(const Shape& shape) const;
  /// Two axes exchanged.
  Tensor transpose(int axis_a, int axis_b) const;
  /// Axes in a new order: axis i of the result is axis order[i].
  Tensor permute(const Axes& order) const;
  /// Elements begin, begin + step, … below end along an axis. Negative positions count from the end; out of range
  /// throws.
  Tensor slice(int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  /// Removes an axis of size 1.
  Tensor squeeze(int axis) const;
  /// Inserts an axis of size 1 in front of `axis`.
  Tensor unsqueeze(int axis) const;
  /// Axes of size 1 repeated (stride 0), new ones in front.
  Tensor broadcast_to(const Shape& shape) const;

  const std::shared_ptr<detail::TensorImpl>& impl() const { return impl_; }

 private:
  static Tensor borrow(void* pointer, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
                       std::shared_ptr<const void> keep_alive, Device device);
  void read(void* destination, DType dtype, const char* op) const;
  void check_single(const char* op) const;

  std::shared_ptr<detail::TensorImpl> impl_;
};

/// Prints like NumPy: nested brackets, the middle of long axes left out.
std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

/// What creation functions take: `{.dtype = f64, .device = cuda()}`, or a bare DType or Device.
struct Options {
  DType dtype = DType::f32;
  Device device = default_device();
};

namespace detail {
Tensor from_host(const void* data, std::size_t count, DType dtype, const Shape& shape, Device device);
template <class T> concept ExactDType = std::same_as<T, DType>;
template <class T> concept ExactDevice = std::same_as<T, Device>;
}  // namespace detail

/// A tensor with the values of a contiguous range, one axis unless a shape is given.
/// Braced floating literals make f32, integers i32. A count that does not fit the shape throws `shape`.
template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>>
Tensor tensor(const R& values, const Shape& shape, Device device = default_device()) {
    return detail::from_host(std::ranges::data(values), std::ranges::size(values),
                             dtype_of<std::ranges::range_value_t<R>>, shape, device);
}
template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>>
Tensor tensor(const R& values) {
  return tensor(values, Shape{std::ranges::size(values)});
}
template <std::same_as<std::vector<bool>> V>  // exactly: braces of mixed types must not end here
Tensor tensor(const V& values, const Shape& shape, Device device = default_device()) {
  const auto bytes = std::make_unique<bool[]>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = values[i];
  return detail::from_host(bytes.get(), values.size(), DType::boolean, shape, device);
}
template <std::same_as<std::vector<bool>> V> Tensor tensor(const V& values) {
  return tensor(values, Shape{values.size()});
}
template <class T> requires(Element<T> || std::is_arithmetic_v<T>)
Tensor tensor(std::initializer_list<T> values, const Shape& shape, Device device = default_device()) {
  using E = std::conditional_t<std::is_same_v<T, double>, float, T>;
  const auto converted = std::make_unique<E[]>(values.size());
  std::size_t i = 0;
  for (const T& value : values) converted[i++] = static_cast<E>(value);
  return detail::from_host(converted.get(), values.size(), dtype_of<E>, shape, device);
}
template <class T> requires(Element<T> || std::is_arithmetic_v<T>)
Tensor tensor(std::initializer_list<T> values) {
  return tensor(values, Shape{values.size()});
}

/// Every element 0.
Tensor zeros(const Shape& shape, const Options& options = {});
/// Every element 1.
Tensor ones(const Shape& shape, const Options& options = {});
/// Every element `value`; one that is no value of an integer dtype throws `dtype`.
Tensor full(const Shape& shape, Number value, const Options& options = {});
/// begin, begin + step, … below end; integers are counted exactly. A value that the dtype cannot hold throws `dtype`.
Tensor arange(Number begin, Number end, Number step = 1, const Options& options = {.dtype = DType::i32});
/// `count` values from begin to end, both included.
Tensor linspace(double begin, double end, std::int64_t count, const Options& options = {});
/// The identity matrix.
Tensor eye(std::int64_t size, const Options& options = {});

namespace detail {
class GeneratorState;
}
/// Counter-based random numbers (Philox 4×32-10): the same seed gives the same numbers on every device. Each call
/// advances the generator. A recorded step (tern/capture.hpp) draws from where the generator stands at each replay and
/// advances it, as the program would; a copy, and what it was copied from, go their own ways.
struct Generator {
  std::uint64_t seed = 0;
  /// Blocks of four random words of 32 bits drawn so far; each call begins with a new block. An element takes one word
  /// (`rand`, `randint`) or two (`randn`), in f64 twice as many.
  std::uint64_t position = 0;

  Generator(std::uint64_t seed = 0, std::uint64_t position = 0);
  Generator(const Generator& other);
  Generator(Generator&& other) noexcept;
  Generator& operator=(const Generator& other);
  ~Generator();

 private:
  friend class detail::GeneratorState;
  mutable std::shared_ptr<detail::GeneratorState> state_;  // null until a recording draws from it
};
/// Uniform in [0, 1): multiples of 2^-11 in f16, 2^-8 in bf16, 2^-24 in f32, 2^-53 in f64.
Tensor rand(const Shape& shape, Generator& generator, const Options& options = {});
/// Standard normal (Box-Muller), to 6.7 standard deviations on either side, in f64 to 9.4.
Tensor randn(const Shape& shape, Generator& generator, const Options& options = {});
/// Uniform integers in [low, high), which must be values of the dtype (`dtype` error otherwise).
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator,
               const Options& options = {.dtype = DType::i32});
inline Tensor rand(const Shape& shape, Generator&& generator, const Options& options = {}) {
  return rand(shape, generator, options);
}
inline Tensor randn(const Shape& shape, Generator&& generator, const Options& options = {}) {
  return randn(shape, generator, options);
}
inline Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator&& generator,
                      const Options& options = {.dtype = DType::i32}) {
  return randint(low, high, shape, generator, options);
}

// Bare dtypes and devices. Constrained to exactly that type, so that `{}` means the default options.
#define TERN_BARE_OPTIONS(name)                                                \
  template <detail::ExactDType D> Tensor name(const Shape& shape, D dtype) {   \
    return name(shape, Options{.dtype = dtype});                               \
  }                                                                            \
  template <detail::ExactDevice D> Tensor name(const Shape& shape, D device) { \
    return name(shape, Options{.device = device});                             \
  }
TERN_BARE_OPTIONS(zeros)
TERN_BARE_OPTIONS(ones)
#undef TERN_BARE_OPTIONS
template <detail::ExactDType D> Tensor full(const Shape& shape, Number value, D dtype) {
  return full(shape, value, Options{.dtype = dtype});
}
template <detail::ExactDevice D> Tensor full(const Shape& shape, Number value, D device) {
  return full(shape, value, Options{.device = device});
}
template <detail::ExactDType D> Tensor eye(std::int64_t size, D dtype) { return eye(size, Options{.dtype = dtype}); }
template <detail::ExactDevice D> Tensor eye(std::int64_t size, D device) {
  return eye(size, Options{.device = device});
}
template <detail::ExactDType D> Tensor arange(Number begin, Number end, Number step, D dtype) {
  return arange(begin, end, step, Options{.dtype = dtype});
}
template <detail::ExactDType D> Tensor linspace(double begin, double end, std::int64_t count, D dtype) {
  return linspace(begin, end, count, Options{.dtype = dtype});
}
#define TERN_BARE_RANDOM(name)                                                                                      \
  template <class G, detail::ExactDType D> Tensor name(const Shape& shape, G&& generator, D dtype) {                 \
    return name(shape, std::forward<G>(generator), Options{.dtype = dtype});                                         \
  }                                                                                                                  \
  template <class G, detail::ExactDevice D> Tensor name(const Shape& shape, G&& generator, D device) {               \
    return name(shape, std::forward<G>(generator), Options{.device = device});                                       \
  }
TERN_BARE_RANDOM(rand)
TERN_BARE_RANDOM(randn)
#undef TERN_BARE_RANDOM

}  // namespace tern
