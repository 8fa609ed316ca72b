// Complex numbers: parts, views, and how they are made.
#include "tern/complex.hpp"

#include <string>

#include "autodiff/instances.hpp"
#include "primitives/fused/operation_complex.hpp"

namespace tern {

using namespace detail;

namespace op {
constinit const Pointwise<> make_complex{"make_complex", [](auto re, auto im) { return complex_of(re, im); }};
constinit const Pointwise<> conj{"conj", [](auto z) { return complex_of(tern::real(z), -tern::imag(z)); }};
constinit const Pointwise<> angle{"angle", [](auto z) { return atan2(tern::imag(z), tern::real(z)); }};
constinit const Pointwise<> nan_to_num_of_parts{
    "nan_to_num", [](auto z, auto most) {
      const auto finite = [&](Expr part) { return tern::nan_to_num(part, 0, most, -most); };
      return complex_of(finite(tern::real(z)), finite(tern::imag(z)));
    }};
constinit const Pointwise<> polar{"polar", [](auto r, auto t) { return complex_of(r * cos(t), r * sin(t)); }};
}  // namespace op

namespace {
Tensor pairs_of(const Tensor& z) {
  const TensorImpl& impl = *z.impl();
  Shape shape = impl.shape;
  Strides strides = impl.strides;
  for (std::size_t i = 0; i < strides.size(); ++i) strides[i] *= 2;
  shape.push_back(2), strides.push_back(1);
  Tensor view = make_view(z, shape, strides, 2 * impl.offset);
  view.impl()->dtype = real_dtype(impl.dtype);
  return view;
}
/// Whether each pair is one place after the other, at an even one, and pairs are whole numbers of pairs apart.
bool are_pairs(const Tensor& x) {
  const TensorImpl& impl = *x.impl();
  const std::size_t last = impl.strides.size() - 1;
  bool pairs = impl.strides[last] == 1 && impl.offset % 2 == 0;
  for (std::size_t i = 0; i < last; ++i) pairs &= impl.strides[i] % 2 == 0 || impl.shape[i] <= 1;
  return pairs;
}
Tensor numbers_of(const Tensor& x) {
  const Tensor pairs = are_pairs(x) ? x : x.clone();
  const TensorImpl& impl = *pairs.impl();
  Shape shape;
  Strides strides;
  for (std::size_t i = 0; i + 1 < impl.shape.size(); ++i)
    shape.push_back(impl.shape[i]), strides.push_back(impl.strides[i] / 2);
  Tensor view = make_view(pairs, shape, strides, impl.offset / 2);
  view.impl()->dtype = complex_dtype(impl.dtype);
  return view;
}
void check_pairs(const Tensor& x) {
  constexpr const char* op = "view_as_complex";
  require_defined(op, "x", x);
  if (x.dtype() != DType::f32 && x.dtype() != DType::f64)
    throw Error(ErrorKind::dtype, std::string(op) + ": the parts must be f32 or f64, got " + describe(x));
  if (x.dim() == 0 || x.size(-1) != 2)
    throw Error(ErrorKind::shape, std::string(op) + ": the last axis must have size 2, got " + describe(x));
}
void check_complex(const char* op, const Tensor& z) {
  require_defined(op, "z", z);
  if (!is_complex(z.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": needs complex numbers, got " + describe(z));
  if (z.dim() == kMaxRank) throw Error(ErrorKind::shape, std::string(op) + ": no axis can be added to " + describe(z));
}
template <class T> T part(const char* op, const T& z, bool imaginary) {
  require_defined(op, "z", value_of(z));
  if (!is_complex(z.dtype())) {
    if (!imaginary) return z;
    return operand_as<T>(zeros(z.shape(), {.dtype = z.dtype(), .device = z.device()}));
  }
  auto parts = parts_of(z);
  return imaginary ? parts.im : parts.re;
}
}  // namespace

template <TensorOrVar T> T real(const T& z) { return part("real", z, false); }
template <TensorOrVar T> T imag(const T& z) { return part("imag", z, true); }
template <TensorOrVar T> T conj(const T& z) {
  require_defined("conj", "z", value_of(z));
  return is_complex(value_of(z).dtype()) ? op::conj(z) : z;
}
TERN_INSTANCES_1(ResultOf, real)
TERN_INSTANCES_1(ResultOf, imag)
TERN_INSTANCES_1(ResultOf, conj)

template <TensorOrVar T> T view_as_real(const T& z) {
  check_complex("view_as_real", value_of(z));
  if constexpr (std::same_as<T, Tensor>) return pairs_of(z);
  else
    return record_one("view_as_real", {&z, 1}, pairs_of(z.value()), {},
                      [](const RuleContext& c) { return PoolVector<Var>{view_as_complex(c.grads[0])}; });
}
template <TensorOrVar T> T view_as_complex(const T& x) {
  check_pairs(value_of(x));
  if constexpr (std::same_as<T, Tensor>) return numbers_of(x);
  else
    return record_one("view_as_complex", {&x, 1}, numbers_of(x.value()), {},
                      [](const RuleContext& c) { return PoolVector<Var>{view_as_real(c.grads[0])}; });
}
TERN_INSTANCES_1(ResultOf, view_as_real)
TERN_INSTANCES_1(ResultOf, view_as_complex)

Tensor detail::full_complex(const Shape& shape, double re, double im, const Options& options) {
  if (!is_complex(options.dtype))
    throw Error(ErrorKind::dtype,
                "full: a complex number is not a value of dtype " + std::string(to_string(options.dtype)));
  const Options parts{.dtype = real_dtype(options.dtype), .device = options.device};
  return make_complex(full({}, re, parts), full({}, im, parts).broadcast_to(shape));
}
Tensor detail::complex_beside(const Tensor& x, double re, double im) {
  if (!x.defined()) return full_complex({}, re, im, {.dtype = DType::c64});  // refused where it is used
  return full_complex({}, re, im, {.dtype = complex_dtype(x.dtype()), .device = x.device()});
}

}  // namespace tern
