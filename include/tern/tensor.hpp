// Tensor: a handle on strided, typed memory of a device. (Longer than other files: what makes one stands with it.)
#pragma once
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
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
/// What stands in x(…).
template <class T>
concept IndexOperand = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, Slice> ||
                       std::same_as<T, Ellipsis> || std::same_as<T, NewAxis> || std::same_as<T, Tensor>;
#define TERN_INDEX_OPERANDS                                                                                           \
  "indices are integers, Slices, ellipsis, newaxis and Tensors of booleans or positions: make a tensor of other "     \
  "values, as in tern::tensor(values), and of a Var take its value()"
template <class B>
concept WrongInPlace = !std::is_convertible_v<const B&, Number> && !std::is_convertible_v<const B&, const Tensor&> &&
                       !ComplexNumber<B>;
/// The number re + i·im as a tensor of x's complex dtype (c64 beside other dtypes), on its device.
Tensor complex_beside(const Tensor& x, double re, double im);
}  // namespace detail
template <class T> struct Sorted;

/// An n-dimensional array. Copies share memory (`clone()` copies it); a default-constructed Tensor is empty and using
/// it is an error of kind `shape`. Const use from any threads is safe; writes need the caller's ordering.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<detail::TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  ~Tensor() = default;
  template <class T> Tensor& operator=(T&&) && {
    static_assert(detail::always_false<T>,
                  "this assigns to a temporary Tensor, which changes no element: write through a view with copy_from, "
                  "as in x.slice(0, 0, 1).copy_from(values)");
    return *this;
  }

  /// A tensor over the caller's memory, which must outlive it (hold `keep_alive` to make sure).
  /// `strides` are in elements; none: row-major. On a CUDA device the pointer is one of its memory, as of cudaMalloc,
  /// aligned to its elements; other work of the program on it needs cuda_stream_scope, or waiting. Throws `device`
  /// where the memory is not that device's or the pointer is not aligned, `shape` where the memory ends before the
  /// tensor. A pointer to const: the tensor and its views can only be read, and writing into them throws `unsupported`.
  template <Element T>
  static Tensor view(T* pointer, const Shape& shape, const std::vector<std::int64_t>& strides = {},
                     std::shared_ptr<const void> keep_alive = {}, Device device = cpu()) {
    return borrow(const_cast<std::remove_cv_t<T>*>(pointer), dtype_of<T>, shape, strides, std::move(keep_alive), device,
                  std::is_const_v<T>);
  }

  /// A tensor over the program's own WebGPU buffer, of a `device` that webgpu_device() gave. The buffer's usage must
  /// have Storage, CopySrc and CopyDst, and it must hold the elements (`shape` error otherwise). Dtypes of 8 and 16
  /// bits are packed into its words. tern holds a reference of it as long as there are views.
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
  /// The only element. T is the element type, double (of any floating dtype) or std::int64_t (of any integer dtype);
  /// another one throws `dtype`.
  template <Element T> T item() const {
    T value{};
    read_item(&value, dtype_of<T>);
    return value;
  }
  /// The elements where they lie in the CPU's memory, row-major, after waiting for what still computes them. T must be
  /// the exact element type (else `dtype`), the tensor contiguous (else `shape`; `contiguous()` is the remedy) and on
  /// the CPU (else `device`). The pointer is good as long as a tensor shares the memory. To write: the call itself
  /// counts as a write of the whole memory (backward through a graph that saved it throws); throws `unsupported` where
  /// the memory can only be read. Ask for `data_ptr<const T>()` to read.
  template <Element T> T* data_ptr() {
    return static_cast<T*>(pointer(dtype_of<T>, !std::is_const_v<T>));
  }
  /// The same, to read.
  template <Element T> const T* data_ptr() const { return static_cast<const T*>(pointer(dtype_of<T>, false)); }
  /// data_ptr by the name that containers have.
  template <Element T> T* data() { return data_ptr<T>(); }
  template <Element T> const T* data() const { return data_ptr<T>(); }
  /// Itself where contiguous, else a row-major copy.
  Tensor contiguous() const;
  /// A row-major copy with memory of its own.
  Tensor clone() const;

  // ---- in place, seen by views; each bumps the memory's version ----
  /// Overwrites the elements with those of `source`, broadcast to this shape and converted to this dtype, which must
  /// hold what promote_types() gives for both (else `dtype`: narrowing takes a .to()).
  Tensor& copy_from(const Tensor& source);
  template <class B>
    requires(!std::is_convertible_v<const B&, const Tensor&>)
  TERN_REFUSED("copy_from takes a Tensor: make a tensor of other values, as in tern::tensor(values), of a Var take "
               "x.value(), and with one number write assign(x, number)")
  Tensor& copy_from(const B&);
  // x op= y computes in the dtype of x op y, and x keeps its own: integers stay integers of their width, which wrap,
  // and f32 += f64 rounds once. A result of another kind (i32 += f32) throws `dtype`.
  // Of a temporary that x(…) selected by masks or positions, x itself changes there, as in NumPy: of places that are
  // named twice, the last counts.
#define TERN_IN_PLACE(symbol)                                                                                  \
  Tensor& operator symbol(const Tensor& other)&;                                                               \
  Tensor& operator symbol(Number other)&;                                                                      \
  Tensor operator symbol(const Tensor& other)&&;                                                               \
  Tensor operator symbol(Number other)&&;                                                                      \
  template <detail::ComplexNumber Z> Tensor& operator symbol(const Z& z)& {                                    \
    return *this symbol detail::complex_beside(*this, z.real(), z.imag());                                     \
  }                                                                                                            \
  template <detail::ComplexNumber Z> Tensor operator symbol(const Z& z)&& {                                    \
    return std::move(*this) symbol detail::complex_beside(*this, z.real(), z.imag());                          \
  }                                                                                                            \
  template <detail::WrongInPlace B> Tensor& operator symbol(const B&) {                                        \
    static_assert(detail::always_false<B>,                                                                     \
                  "what changes a Tensor in place must be a Tensor or a plain number: make a tensor of other " \
                  "values, as in tern::tensor(values), and of a Var take x.value()");                          \
    return *this;                                                                                              \
  }
  TERN_IN_PLACE(+=)
  TERN_IN_PLACE(-=)
  TERN_IN_PLACE(*=)
  TERN_IN_PLACE(/=)
#undef TERN_IN_PLACE

  // ---- views: no copy ----
  /// The same elements in another shape; one size may be -1. Copies where the strides do not allow a view.
  Tensor reshape(const Shape& shape) const;
  template <std::integral... D> requires(sizeof...(D) > 1)
  Tensor reshape(D... sizes) const { return reshape({sizes...}); }
  /// Two axes exchanged.
  Tensor transpose(int axis_a, int axis_b) const;
  /// Axes in a new order: axis i of the result is axis order[i].
  Tensor permute(const Axes& order) const;
  template <std::integral... D> requires(sizeof...(D) > 1)
  Tensor permute(D... order) const { return permute({order...}); }
  /// Elements begin, begin + step, … before end along an axis. Negative positions count from the end, and what is left
  /// open ({}) is the first or last: `x.slice(0, 2)`, `x.slice(0, {}, 3)`, `x.slice(0, {}, {}, -1)` (backwards). Out of
  /// range throws `index`.
  Tensor slice(int axis, std::optional<std::int64_t> begin, std::optional<std::int64_t> end = {},
               std::int64_t step = 1) const;
  template <std::same_as<Slice> S> Tensor slice(int axis, const S& s) const {
    return slice(axis, s.begin, s.end, s.step);
  }
  /// Entry i of the first axis, which is removed; negative i count from the end, out of range throws `index`.
  Tensor operator[](std::int64_t i) const;
  /// Elements, as NumPy selects them, by one index for each axis: integers, Slices, `ellipsis`, `newaxis`, boolean
  /// masks (one for as many axes as it has), and positions (tensors of i32 or i64; negative ones count from the end).
  /// A view where there are neither masks nor positions, else a copy: those broadcast together, and their axes stand
  /// where the first of them does, or in front where a Slice, ellipsis or newaxis stands between two of them. A mask
  /// waits for its count. Throws `index` out of range. To write: `assign(x(…), value)` and `x(…) += value`.
  template <detail::IndexOperand... I> Tensor operator()(const I&... at) const;
  template <class... I>
    requires(!(detail::IndexOperand<I> && ...))
  TERN_REFUSED(TERN_INDEX_OPERANDS) detail::Refused operator()(const I&...) const;
  /// Removes an axis of size 1.
  Tensor squeeze(int axis) const;
  /// Inserts an axis of size 1 in front of `axis`.
  Tensor unsqueeze(int axis) const;
  /// Axes of size 1 repeated (stride 0), new ones in front.
  Tensor broadcast_to(const Shape& shape) const;
  /// All elements along one axis.
  Tensor flatten() const { return reshape({-1}); }
  /// The transposed matrix; the tensor must have two axes (`shape` error otherwise: `mT()` takes any number).
  Tensor T() const;
  /// The last two axes exchanged.
  Tensor mT() const { return transpose(-2, -1); }

  // ---- functions of one tensor as methods: x.sum(0), x.exp(), x.softmax() ----
#define TERN_SELF Tensor
#define TERN_METHOD(result, name, declared, ...) result name declared const;
#include "tern/methods.inc"
#undef TERN_METHOD
#undef TERN_SELF
  /// matmul(*this, other)
  template <TensorOrVar B> ResultOf<Tensor, B> matmul(const B& other) const;
  TERN_REFUSE_METHOD(matmul)
  TERN_REFUSE_METHOD(take)
  TERN_REFUSE_METHOD(gather)
  TERN_REFUSE_METHOD(masked_fill)

  const std::shared_ptr<detail::TensorImpl>& impl() const { return impl_; }

 private:
  static Tensor borrow(void* pointer, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
                       std::shared_ptr<const void> keep_alive, Device device, bool read_only);
  void read(void* destination, DType dtype, const char* op) const;
  void read_item(void* destination, DType dtype) const;
  void* pointer(DType dtype, bool writes) const;

  std::shared_ptr<detail::TensorImpl> impl_;
};

/// Prints like NumPy: nested brackets, the middle of long axes left out. std::setprecision, std::fixed and
/// std::scientific are honoured; at the stream's default precision (6) f64 shows 8 digits, f32 6, f16 and bf16 4.
std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

/// The floating dtype of new tensors of which none is given, on this thread: f32, unless a DefaultDType lives.
DType default_dtype();
/// While one lives, default_dtype() of this thread is its own: `DefaultDType scope(f64);`. It is what creation
/// functions and braced floating literals (`tensor({1.0, 2.0})`) use; whatever has a dtype keeps it. Throws `dtype`
/// where it is not floating.
class DefaultDType {
 public:
  explicit DefaultDType(DType dtype);
  ~DefaultDType();
  DefaultDType(const DefaultDType&) = delete;
  DefaultDType& operator=(const DefaultDType&) = delete;

 private:
  DType before_;
};

/// What creation functions take: `{.dtype = f64, .device = cuda()}`, or a bare DType or Device.
struct Options {
  DType dtype = default_dtype();
  Device device = default_device();
};

namespace detail {
template <class T> concept ExactDType = std::same_as<T, DType>;
template <class T> concept ExactDevice = std::same_as<T, Device>;
/// Rows of values: containers of containers, to any depth.
template <class R>
concept Rows = std::ranges::contiguous_range<R> && !Element<std::ranges::range_value_t<R>>;

/// A number in braces that hold several types, {1, 2.5}; what they become together is a dtype, and whether that is one
/// of floating literals, which have none of their own.
struct MixedNumber : Number {
  template <Element T>
    requires std::is_arithmetic_v<T>
  constexpr MixedNumber(T value) : Number(value), dtype(dtype_of<T>) {}
  DType dtype;
};
constexpr void widen(DType& common, MixedNumber number) {
  const bool floats = is_floating(common), wide = number.dtype == DType::i64 || number.dtype == DType::u32;
  if (is_floating(number.dtype)) common = common == DType::f64 ? common : number.dtype;
  else if (!floats && wide) common = DType::i64;
}
template <class List> constexpr void widen(DType& common, std::initializer_list<List> list) {
  for (const List& part : list) widen(common, part);
}
template <class List> inline constexpr bool is_mixed = std::same_as<List, MixedNumber>;
template <class List> inline constexpr bool is_mixed<std::initializer_list<List>> = is_mixed<List>;

/// Values in the program's memory.
class HostValues {
 public:
  template <std::ranges::contiguous_range R>
    requires Element<std::ranges::range_value_t<R>>
  HostValues(const R& values)
      : data_(std::ranges::data(values)),
        shape_{std::ranges::size(values)},
        dtype_(dtype_of<std::ranges::range_value_t<R>>) {}
  HostValues(const std::vector<bool>& values) : shape_{values.size()}, dtype_(DType::boolean) {
    bool* const bytes = own<bool>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = values[i];
  }
  /// Braces; floating literals have no dtype of their own.
  template <Element T> HostValues(std::initializer_list<T> values)
      : data_(values.begin()), shape_{values.size()}, dtype_(dtype_of<T>), literal_(std::is_same_v<T, double>) {}
  template <class List>
    requires is_mixed<List>
  HostValues(std::initializer_list<List> values) {
    DType common = DType::i32;
    widen(common, values);
    *this = HostValues(values, common);
  }
  HostValues(std::initializer_list<MixedNumber> values, DType common)
      : shape_{values.size()}, dtype_(common), literal_(common == DType::f64) {
    if (common == DType::f64) store<double>(values);
    else if (common == DType::f32) store<float>(values);
    else if (common == DType::i64) store<std::int64_t>(values);
    else store<std::int32_t>(values);
  }
  template <class List> HostValues(std::initializer_list<std::initializer_list<List>> rows, DType common) {
    std::vector<HostValues> parts;
    for (const std::initializer_list<List>& row : rows) parts.push_back(HostValues(row, common));
    join(parts);
  }
  template <class List>
    requires(!Element<List> && !is_mixed<List>)
  HostValues(std::initializer_list<List> rows) {
    std::vector<HostValues> parts(rows.begin(), rows.end());
    join(parts);
  }
  template <Rows R> HostValues(const R& rows) {
    using Row = std::ranges::range_value_t<R>;
    if constexpr (std::ranges::contiguous_range<Row> || std::same_as<Row, std::vector<bool>>) {
      std::vector<HostValues> parts;
      for (const Row& row : rows) parts.emplace_back(row);
      join(parts);
    } else {
      static_assert(always_false<R>,
                    "values must be of an element type (bool, std::int8_t … std::int64_t, float, double, float16, "
                    "bfloat16), in one container or in rows: convert the others first");
    }
  }

  /// Throws `shape` where the count does not fit. dtype: none for that of the values.
  Tensor on(Device device, std::optional<DType> dtype = {}) const { return on(device, dtype, shape_); }
  Tensor on(Device device, std::optional<DType> dtype, const Shape& shape) const;

 private:
  template <class T> T* own(std::size_t count) {
    const std::shared_ptr<T[]> memory(new T[count]);
    owned_ = memory, data_ = memory.get();
    return memory.get();
  }
  template <class T> void store(std::initializer_list<MixedNumber> values) {
    T* to = own<T>(values.size());
    for (const MixedNumber& v : values) *to++ = v.is_integer ? static_cast<T>(v.integer) : static_cast<T>(v.real);
  }
  void join(std::span<const HostValues> rows);  // throws `shape` where they are ragged

  const void* data_ = nullptr;
  Shape shape_;
  DType dtype_ = DType::f32;
  bool literal_ = false;
  std::shared_ptr<const void> owned_;
};
}  // namespace detail

// tensor(values), and after the values a shape, a dtype, a device, or several of them in this order. Values are any
// contiguous range, std::vector<bool>, a container of such rows (to any depth), or braces; nested braces are rows, to
// rank 3: tensor({{1.0, 2.0}, {3.0, 4.0}}).
// Without a shape the result has one axis (braces: one for each level; ragged rows throw `shape`). One size of a shape
// may be -1; a count that does not fit throws `shape`. Without a dtype it is that of the values; of braced floating
// literals it is default_dtype(), of braced integers i32; of braces of several types, {1, 2.5}, that of the floating
// ones, of integers alone i32, or i64 where one is wider. Values are converted as `.to(dtype)` does, before they go to
// the device; what is not a value of an integer dtype, 300 as u8 or NaN, throws `dtype`. Where a device lacks the dtype
// of the values (f64 and i64 on WebGPU), the tensor keeps them there as they are: it can be read, viewed and converted
// (`tensor(doubles).to(f32)`), and everything else throws UnsupportedDType.
#define TERN_TENSOR(values_type, ...)                                                              \
  template <__VA_ARGS__, detail::ExactDevice D>                                                    \
  Tensor tensor(const values_type& values, D device) {                                             \
    return detail::HostValues(values).on(device);                                                  \
  }                                                                                                \
  template <__VA_ARGS__>                                                                           \
  Tensor tensor(const values_type& values) {                                                       \
    return detail::HostValues(values).on(default_device());                                        \
  }                                                                                                \
  template <__VA_ARGS__, detail::ExactDType D>                                                     \
  Tensor tensor(const values_type& values, D dtype, Device device = default_device()) {            \
    return detail::HostValues(values).on(device, dtype);                                           \
  }
#define TERN_SHAPED_TENSOR(values_type, ...)                                                       \
  TERN_TENSOR(values_type, __VA_ARGS__)                                                            \
  template <__VA_ARGS__>                                                                           \
  Tensor tensor(const values_type& values, const Shape& shape, Device device = default_device()) { \
    return detail::HostValues(values).on(device, {}, shape);                                       \
  }                                                                                                \
  template <__VA_ARGS__, detail::ExactDType D>                                                     \
  Tensor tensor(const values_type& values, const Shape& shape, D dtype, Device device = default_device()) { \
    return detail::HostValues(values).on(device, dtype, shape);                                    \
  }
TERN_SHAPED_TENSOR(R, std::ranges::contiguous_range R)
TERN_SHAPED_TENSOR(V, std::same_as<std::vector<bool>> V)  // exactly: braces of mixed types must not end here
TERN_SHAPED_TENSOR(std::initializer_list<T>, Element T)
TERN_TENSOR(std::initializer_list<std::initializer_list<T>>, Element T)
TERN_TENSOR(std::initializer_list<std::initializer_list<std::initializer_list<T>>>, Element T)
TERN_SHAPED_TENSOR(std::initializer_list<detail::MixedNumber>, class = void)
TERN_TENSOR(std::initializer_list<std::initializer_list<detail::MixedNumber>>, class = void)
TERN_TENSOR(std::initializer_list<std::initializer_list<std::initializer_list<detail::MixedNumber>>>, class = void)
#undef TERN_SHAPED_TENSOR
#undef TERN_TENSOR
template <class T, class... O>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>>,
              const O&...) {
  static_assert(detail::always_false<T>,
                "nested braces go to rank 3: write the values in one list with a shape behind it, "
                "tensor({1.0, 2.0, …}, {2, 2, 2, 2}), or stack tensors");
  return {};
}

/// Every element 0.
Tensor zeros(const Shape& shape, const Options& options = {});
template <std::integral... D> requires(sizeof...(D) > 1) Tensor zeros(D... sizes) { return zeros({sizes...}); }
/// Every element 1.
Tensor ones(const Shape& shape, const Options& options = {});
template <std::integral... D> requires(sizeof...(D) > 1) Tensor ones(D... sizes) { return ones({sizes...}); }
/// Every element `value`; one that is no value of an integer dtype throws `dtype`.
Tensor full(const Shape& shape, Number value, const Options& options = {});
/// begin, begin + step, … below end; integers are counted exactly. Without options i32, or, where a number is floating,
/// default_dtype(). A value that the dtype cannot hold throws `dtype`; a step of 0, a begin or a step that is not
/// finite, and more than 2^31 - 1 values throw `shape`.
Tensor arange(Number begin, Number end, Number step, const Options& options);
Tensor arange(Number begin, Number end, Number step = 1);
/// 0, 1, … below end.
inline Tensor arange(Number end) { return arange(0, end); }
inline Tensor arange(Number end, const Options& options) { return arange(0, end, 1, options); }
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
  /// Blocks of four random words of 32 bits drawn so far; each call begins with a new block. An element takes one word,
  /// in f64 two (`rand`, `randint`) or four (`randn`).
  std::uint64_t position = 0;

  Generator(std::uint64_t seed = 0, std::uint64_t position = 0);
  Generator(const Generator& other);
  Generator(Generator&& other) noexcept;
  Generator& operator=(const Generator& other);
  ~Generator();
  /// A generator whose numbers are independent of this one's: its seed is drawn from this one, which advances.
  Generator split();

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
template <detail::ExactDType D> Tensor arange(Number begin, Number end, D dtype) {
  return arange(begin, end, 1, Options{.dtype = dtype});
}
template <detail::ExactDType D> Tensor arange(Number end, D dtype) { return arange(end, Options{.dtype = dtype}); }
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
