// Complex numbers: tensors of dtype c64 and c128, whose elements are std::complex<float> and std::complex<double>.
//
//   const Tensor z = tensor({std::complex<float>(1, 2), std::complex<float>(3, -4)});
//   abs(z), z * conj(z), exp(z) / (z + 1), matmul(a, z), sum(z)
//
// Operators, elementary functions, sums, products, views and indices take them as they take real ones; what has no
// meaning for them (an order, rounding) is an error of kind `dtype`. Gradients follow PyTorch: that of a real loss by
// z = x + iy is ∂/∂x + i·∂/∂y, the direction in which the loss grows.
#pragma once
#include "tern/ops.hpp"

namespace tern {

namespace op {
extern const Pointwise<> make_complex, conj, angle, polar;
}
/// The real parts: a view; of real numbers themselves.
template <TensorOrVar T> T real(const T& z);
/// The imaginary parts: a view; of real numbers zeros.
template <TensorOrVar T> T imag(const T& z);
inline Expr real(Expr z) { return detail::part_of(z, false); }
inline Expr imag(Expr z) { return detail::part_of(z, true); }
/// The complex numbers re + i·im of two real tensors, which broadcast.
template <class A, class B>
  requires detail::PointwiseArgs<A, B>
auto make_complex(const A& re, const B& im) {
  return op::make_complex(re, im);
}
/// re - i·im of each re + i·im; of real numbers themselves.
template <TensorOrVar T> T conj(const T& z);
template <class A>
  requires(detail::PointwiseArgs<A> && !TensorOrVar<A>)
auto conj(const A& z) {
  return op::conj(z);
}
/// The angle of each number in the plane, in [-π, π].
template <class A>
  requires detail::PointwiseArgs<A>
auto angle(const A& z) {
  return op::angle(z);
}
/// The numbers with these absolute values and angles: r·cos(angle) + i·r·sin(angle).
template <class A, class B>
  requires detail::PointwiseArgs<A, B>
auto polar(const A& r, const B& angle) {
  return op::polar(r, angle);
}
/// The parts of each number along a new last axis of size 2: a view.
template <TensorOrVar T> T view_as_real(const T& z);
/// f32 or f64 numbers whose last axis, of size 2, holds the parts of complex ones: a view where they lie beside each
/// other, pair by pair, else a copy.
template <TensorOrVar T> T view_as_complex(const T& x);

namespace detail {
Tensor full_complex(const Shape& shape, double re, double im, const Options& options);
}
// Every element a complex number; without a dtype c64, or c128 where default_dtype() is f64.
template <detail::ComplexNumber Z>
Tensor full(const Shape& shape, const Z& value, const Options& options = {.dtype = complex_dtype(default_dtype())}) {
  return detail::full_complex(shape, value.real(), value.imag(), options);
}
template <detail::ComplexNumber Z, detail::ExactDType D> Tensor full(const Shape& shape, const Z& value, D dtype) {
  return full(shape, value, Options{.dtype = dtype});
}
template <detail::ComplexNumber Z, detail::ExactDevice D> Tensor full(const Shape& shape, const Z& value, D device) {
  return full(shape, value, Options{.dtype = complex_dtype(default_dtype()), .device = device});
}

}  // namespace tern
