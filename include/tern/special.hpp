// Special functions: the gamma function's family and Bessel functions. (erfinv, sinc, erf and the like: formula.hpp.)
// Errors are in units of the dtype's eps = 2^-52 (f64) or 2^-23 (f32), on the CPU; f16 and bf16 are computed in f32.
#pragma once
#include "tern/formula.hpp"

namespace tern {

/// log |Γ(x)|. Relative error at most 4 eps for x > 0; below 0, where it has zeros, of the sum of log |π/(x·sin πx)|
/// and lgamma(-x) as magnitudes. inf at 0, the negative integers and ±inf. Gradients: digamma, and so on, to any order.
template <TensorOrVar T> T lgamma(const T& x);
Expr lgamma(Expr x);
/// The derivative of log Γ(x). Relative error at most 5 eps for x > 0; below 0 of 1 + |π·cot πx|.
/// ∓inf at ±0, NaN at the negative integers and -inf.
template <TensorOrVar T> T digamma(const T& x);
Expr digamma(Expr x);
/// The n-th derivative of digamma, n from 0 to 20 (else `value`). Relative error at most 6 + 2n eps for x > 0; below 0
/// of the sum of its terms. At 0 and the negative integers it is inf where n is odd; where n is even -inf at 0, else
/// NaN.
template <TensorOrVar T> T polygamma(int n, const T& x);

/// The Bessel function J0. Error at most 24 eps of the larger of |J0(x)| and √(2/(π|x|)), but at most 1.
template <TensorOrVar T> T j0(const T& x);
Expr j0(Expr x);
/// The Bessel function J1. Error at most 6 eps of the larger of |J1(x)| and √(2/(π|x|)), but at most 1; relative for
/// |x| < 1.
template <TensorOrVar T> T j1(const T& x);
Expr j1(Expr x);
/// The Bessel function Y0: -inf at 0, NaN below. Error at most 32 eps of the larger of |Y0(x)| and √(2/(πx)), but at
/// most 1.
template <TensorOrVar T> T y0(const T& x);
Expr y0(Expr x);
/// The Bessel function Y1: -inf at 0, NaN below. Error at most 9 eps of the larger of |Y1(x)| and √(2/(πx)).
template <TensorOrVar T> T y1(const T& x);
Expr y1(Expr x);
/// The modified Bessel function I0. Relative error at most 6 eps.
template <TensorOrVar T> T i0(const T& x);
Expr i0(Expr x);
/// The modified Bessel function I1. Relative error at most 6 eps.
template <TensorOrVar T> T i1(const T& x);
Expr i1(Expr x);
/// I0(x)·e^(-|x|), which does not overflow. Relative error at most 6 eps.
template <TensorOrVar T> T i0e(const T& x);
Expr i0e(Expr x);
/// I1(x)·e^(-|x|), which does not overflow. Relative error at most 6 eps.
template <TensorOrVar T> T i1e(const T& x);
Expr i1e(Expr x);

/// P(a, x) = ∫ t^(a - 1)·e^-t dt / Γ(a) from 0 to x, for finite a > 0 and x >= 0 (else NaN). Relative error at most
/// 12·(1 + |log P|) eps, a to 10^6. Gradients in both. That in a is made of the same series, fraction and expansion,
/// differentiated; its relative error is at most 32·(1 + |log min(P, Q)|) eps. For x below 10^-12, also
/// where it or a is subnormal, that of either is at most 32·(1 + (a + 1)·|log x|) eps, and of a gradient that is itself
/// subnormal |log x| of its units; so are betainc's.
template <TensorOrVar A, TensorOrVar X> ResultOf<A, X> gammainc(const A& a, const X& x);
/// Q(a, x) = 1 - P(a, x). Error and gradients as gammainc's; where x < max(a, 1) the error is one of 1.
template <TensorOrVar A, TensorOrVar X> ResultOf<A, X> gammaincc(const A& a, const X& x);
/// I_x(a, b) = ∫ t^(a - 1)·(1 - t)^(b - 1) dt / B(a, b) from 0 to x, for a and b above 0 and to 1000, 0 <= x <= 1 (else
/// NaN). Error at most 16·(1 + |log I|) + 8·(a + b) eps, relative where x < (a + 1)/(a + b + 2), else of 1. There are
/// gradients in all; those in a and b have 4 times this error, of min(I, 1 - I)·(1/a + 1/b + |log x| + |log(1 - x)|).
template <TensorOrVar A, TensorOrVar B, TensorOrVar X> ResultOf<A, B, X> betainc(const A& a, const B& b, const X& x);
/// The floating-point number after x in the direction of y: x where they are equal. No gradient. Where a device takes
/// subnormal numbers for zeros (WebGPU may), so does this.
template <TensorOrVar X, TensorOrVar Y> Tensor nextafter(const X& x, const Y& y);

}  // namespace tern
