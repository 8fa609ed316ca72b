// What each elementary function is of complex numbers: the one place.
//
// Sums, products and what is made of them are differentiated as they stand here. The others are holomorphic functions
// with their own derivative: f(x + iy) = u + iv has ∂u/∂x = ∂v/∂y = Re f' and ∂v/∂x = -∂u/∂y = Im f', so that their
// values may be computed by cases and with scales, of which derivatives of no order know. Edge values are those of
// C's <complex.h> (Annex G) where a line below names them. (Longer than other files: a rule for each function.)
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "formula/complex.hpp"
#include "tern/error.hpp"

namespace tern::detail {
namespace {

using Arguments = std::span<const Complex>;
constexpr double kEndless = std::numeric_limits<double>::infinity();

Complex real(Expr x) { return {x}; }
Expr imaginary(const Complex& z) { return z.is_complex() ? z.im : make_constant(0); }
Complex both(const Complex& z) { return {z.re, imaginary(z)}; }

Complex operator+(const Complex& z, const Complex& w) {
  if (!z.is_complex() && !w.is_complex()) return {z.re + w.re};
  return {z.re + w.re, !z.is_complex() ? w.im : !w.is_complex() ? z.im : z.im + w.im};
}
Complex operator-(const Complex& z) { return z.is_complex() ? Complex{-z.re, -z.im} : Complex{-z.re}; }
Complex operator-(const Complex& z, const Complex& w) {
  if (!z.is_complex() && !w.is_complex()) return {z.re - w.re};
  return {z.re - w.re, !z.is_complex() ? -w.im : !w.is_complex() ? z.im : z.im - w.im};
}
Complex operator*(const Complex& z, const Complex& w) {
  if (!z.is_complex()) return w.is_complex() ? Complex{z.re * w.re, z.re * w.im} : Complex{z.re * w.re};
  if (!w.is_complex()) return {z.re * w.re, z.im * w.re};
  return {z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re};
}
Complex times_i(const Complex& z) { return {-z.im, z.re}; }
Complex over_i(const Complex& z) { return {z.im, -z.re}; }
Expr larger(const Complex& z) { return maximum(abs(z.re), abs(z.im)); }
Expr smaller(const Complex& z) { return minimum(abs(z.re), abs(z.im)); }
Expr infinite(const Complex& z) { return bit_or(isinf(z.re), isinf(z.im)); }

// ---- holomorphic functions: F::value(z…) and F::slopes(z…), the derivative by each argument ----

/// The arguments of F as the expressions they consist of, and back. Bit i of Mask: argument i is complex.
template <unsigned Mask, int N> constexpr int expression_count() {
  int count = 0;
  for (int i = 0; i < N; ++i) count += Mask >> i & 1 ? 2 : 1;
  return count;
}
template <unsigned Mask, int N> std::array<Complex, N> as_complex(std::span<const Expr> x) {
  std::array<Complex, N> z;
  for (std::size_t i = 0, at = 0; i < N; ++i) {
    z[i].re = x[at++];
    if (Mask >> i & 1) z[i].im = x[at++];
  }
  return z;
}

template <class F, unsigned Mask, bool Imaginary> std::vector<Expr> partials_of(std::span<const Expr> x) {
  const auto slopes = F::slopes(as_complex<Mask, F::arity>(x));
  std::vector<Expr> partials;
  for (std::size_t i = 0; i < F::arity; ++i) {
    const Complex slope = both(slopes[i]);
    partials.push_back(Imaginary ? slope.im : slope.re);
    if (Mask >> i & 1) partials.push_back(Imaginary ? slope.re : -slope.im);
  }
  return partials;
}
template <class F, unsigned Mask, bool Imaginary> const Definition* definition_of() {
  static const Definition* const definition = [] {
    constexpr int n = expression_count<Mask, F::arity>();
    std::vector<Expr> x;
    for (int i = 0; i < n; ++i) x.push_back(make_input(i));
    const Complex y = F::value(as_complex<Mask, F::arity>(x));
    const Expr part = Imaginary ? y.im : y.re;
    return make_definition(make_graph({&part, 1}, n), nullptr, &partials_of<F, Mask, Imaginary>);
  }();
  return definition;
}
template <class F, unsigned Mask> Complex called(std::span<const Expr> x) {
  return {make_call(definition_of<F, Mask, false>(), x), make_call(definition_of<F, Mask, true>(), x)};
}
/// F of these arguments, one of which at least is complex.
template <class F> Complex of(const std::array<Complex, F::arity>& z) {
  std::vector<Expr> x;
  unsigned mask = 0;
  for (std::size_t i = 0; i < F::arity; ++i) {
    x.push_back(z[i].re);
    if (z[i].is_complex()) x.push_back(z[i].im), mask |= 1u << i;
  }
  if constexpr (F::arity == 1) return called<F, 1>(x);
  else return mask == 1 ? called<F, 1>(x) : mask == 2 ? called<F, 2>(x) : called<F, 3>(x);
}
using One = std::array<Complex, 1>;
using Two = std::array<Complex, 2>;

/// A factor by which numbers are neither so large that twice their size overflows nor so small that digits are lost,
/// whichever float type they are of.
Expr moderating(Expr size) { return where(size >= 1, 0.5, where(size < 0x1p-110, 0x1p110, 1)); }

/// Whether squares of numbers of these sizes, and what is made of two of them, neither overflow nor lose digits.
Expr near_one(Expr size) { return bit_and(size >= 0x1p-30, size <= 0x1p30); }

/// z / w, both divided by sizes, so that nothing overflows or vanishes where the quotient does not; near 1 by 1, which
/// kernels may leave out. By 0 it is that of the parts by 0, by an infinity 0.
struct Quotient {
  static constexpr int arity = 2;
  static Complex value(const Two& x) {
    const Complex &z = x[0], &w = x[1];
    const Expr size_of_z = z.is_complex() ? larger(z) : abs(z.re), size = larger(w);
    const Expr near = bit_and(near_one(size_of_z), near_one(size)), endless = infinite(w);
    const Expr of_z = where(near, 1, moderating(size_of_z)), of_w = where(near, 1, moderating(size));
    const Expr divisor = where(near, 1, where(bit_and(size > 0, isfinite(size)), size * of_w, 1));
    const auto unit = [&](Expr part) {
      return where(endless, copysign(where(isinf(part), 1, 0), part), part * of_w / divisor);
    };
    const Expr c = unit(w.re), d = unit(w.im);
    const Expr squares = c * c + d * d, scale = where(endless, kEndless, divisor);
    const Expr none = size == 0, a = z.re * of_z, factor = of_w / of_z;
    const auto part = [&](Expr top, Expr of_none) {
      return where(none, of_none / abs(w.re), top / squares / scale * factor);
    };
    if (!z.is_complex()) return {part(a * c, z.re), part(-(a * d), 0 * z.re)};
    const Expr b = z.im * of_z;
    return {part(a * c + b * d, z.re), part(b * c - a * d, z.im)};
  }
  static Two slopes(const Two& x);
};
Complex operator/(const Complex& z, const Complex& w) {
  if (w.is_complex()) return of<Quotient>({z, w});
  return z.is_complex() ? Complex{z.re / w.re, z.im / w.re} : Complex{z.re / w.re};
}
Two Quotient::slopes(const Two& x) { return {real(1) / x[1], -(x[0] / x[1] / x[1])}; }

/// C's edge values at infinite real parts; from 64 on in two factors, of which e^x alone would overflow too early.
struct Exp {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr &a = x[0].re, &b = x[0].im;
    const Expr far = a >= 64, size = exp(where(far, a - 32, a)), factor = where(far, 7.896296018268069e13, 1);
    const Expr open = isfinite(b) == 0, none = bit_and(a == -kEndless, open), endless = bit_and(a == kEndless, open);
    return {where(none, 0, where(endless, kEndless, size * cos(b) * factor)),
            where(b == 0, b, where(none, 0, size * sin(b) * factor))};
  }
  static One slopes(const One& x);
};
Complex exp(const Complex& z) { return of<Exp>({z}); }
One Exp::slopes(const One& x) { return {exp(x[0])}; }

/// log|z| near 1 from |z|² - 1, elsewhere from the larger part and the ratio of the parts.
struct Log {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr m = larger(x[0]), n = smaller(x[0]);
    const Expr near = bit_and(m > 0.5, m < 2), ratio = where(bit_and(m > 0, isfinite(m)), n / m, 0);
    const Expr more = where(near, (m - 1) * (m + 1) + n * n, ratio * ratio);
    const Expr size = 0.5 * log1p(more) + where(near, 0, log(m));
    return {where(infinite(x[0]), kEndless, size), atan2(x[0].im, x[0].re)};
  }
  static One slopes(const One& x) { return {real(1) / x[0]}; }
};
Complex log(const Complex& z) { return of<Log>({both(z)}); }

/// The root with a real part that is not negative, of C's edge values; scaled, so that |z| does not overflow.
struct Sqrt {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr size = larger(x[0]), large = size >= 0x1p100, small = size < 0x1p-100;
    const Expr scale = where(large, 0x1p-4, where(small, 0x1p100, 1)), back = where(large, 4, where(small, 0x1p-50, 1));
    const Expr a = abs(x[0].re) * scale, b = abs(x[0].im) * scale, endless = isinf(b);
    const Expr root = sqrt(0.5 * (a + hypot(a, b)));
    const Expr other = where(root == 0, 0, where(endless, b, 0.5 * b / root)), right = x[0].re >= 0;
    const Expr re = where(right, root, other), im = where(right, other, root);
    return {where(endless, b, re * back), copysign(where(endless, b, im * back), x[0].im)};
  }
  static One slopes(const One& x);
};
Complex sqrt(const Complex& z) { return of<Sqrt>({z}); }
One Sqrt::slopes(const One& x) { return {real(0.5) / sqrt(x[0])}; }

/// bounded·growing, 0 where one is 0, whatever the other (C's edge values).
Expr product(Expr bounded, Expr growing) {
  return where(bounded == 0, bounded * copysign(1, growing),
               where(growing == 0, growing * copysign(1, bounded), bounded * growing));
}
/// The same of a real part, which C has infinite where the angle has no cosine.
Expr real_product(const Expr& angle, Expr growing) {
  return where(bit_and(isinf(growing), isfinite(angle) == 0), growing, product(cos(angle), growing));
}

struct Sinh {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    return {real_product(x[0].im, sinh(x[0].re)), product(sin(x[0].im), cosh(x[0].re))};
  }
  static One slopes(const One& x);
};
struct Cosh {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    return {real_product(x[0].im, cosh(x[0].re)), product(sin(x[0].im), sinh(x[0].re))};
  }
  static One slopes(const One& x) { return {of<Sinh>(x)}; }
};
One Sinh::slopes(const One& x) { return {of<Cosh>(x)}; }
Complex sinh(const Complex& z) { return of<Sinh>({z}); }
Complex cosh(const Complex& z) { return of<Cosh>({z}); }
Complex sin(const Complex& z) { return over_i(sinh(times_i(z))); }
Complex cos(const Complex& z) { return cosh(times_i(z)); }

/// Kahan's form: no cancellation; beyond 20 the real part is ±1. Edge values are C's.
struct Tanh {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr &a = x[0].re, &b = x[0].im;
    const Expr far = abs(a) > 20, s = sinh(where(far, 0, a)), t = tan(b), beta = 1 + t * t;
    const Expr divisor = 1 + beta * s * s, decay = 4 * (sin(b) * cos(b)) * tern::exp(-2 * abs(a));
    const Expr re = where(far, copysign(1, a), where(a == 0, a, beta * tern::sqrt(1 + s * s) * s / divisor));
    return {re, where(bit_and(isinf(a), isfinite(b) == 0), copysign(0, b), where(far, decay, t / divisor))};
  }
  static One slopes(const One& x);
};
Complex tanh(const Complex& z) { return of<Tanh>({z}); }
Complex tan(const Complex& z) { return over_i(tanh(times_i(z))); }
One Tanh::slopes(const One& x) {
  const Complex inverse = real(1) / cosh(x[0]);  // 1 - tanh² cancels
  return {inverse * inverse};
}

struct Expm1 {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr &a = x[0].re, &b = x[0].im, s = tern::sin(0.5 * b);
    return {tern::expm1(a) * cos(b) - 2 * s * s, where(b == 0, b, tern::exp(a) * tern::sin(b))};
  }
  static One slopes(const One& x) { return {exp(x[0])}; }
};
/// log(1 + z), near 0 from |1 + z|² - 1 = x(2 + x) + y².
struct Log1p {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr &a = x[0].re, &b = x[0].im, near = larger(x[0]) < 0.5;
    const Complex far = Log::value({Complex{1 + a, b}});
    return {where(near, 0.5 * tern::log1p(where(near, a * (2 + a) + b * b, 0)), far.re), far.im};
  }
  static One slopes(const One& x) { return {real(1) / (real(1) + x[0])}; }
};

/// exp(w·log z); 0^w is 0 where w has a positive real part, and 1 where w is 0.
struct Pow {
  static constexpr int arity = 2;
  static Complex value(const Two& x) {
    const Complex &z = x[0], &w = x[1];
    const Complex power = Exp::value({w * Log::value({both(z)})});
    const Expr at_none = w.is_complex() ? bit_and(w.re == 0, w.im == 0) : w.re == 0;
    const Expr of_none = z.is_complex() ? bit_and(z.re == 0, z.im == 0) : z.re == 0,
               vanishes = bit_and(of_none, w.re > 0);
    return {where(at_none, 1, where(vanishes, 0, power.re)), where(bit_or(at_none, vanishes), 0, power.im)};
  }
  static Two slopes(const Two& x);
};
Complex pow(const Complex& z, const Complex& w) { return of<Pow>({z, w}); }
/// By the exponent: 0 of the base 0.
Two Pow::slopes(const Two& x) {
  const Complex z = both(x[0]), power = pow(x[0], x[1]);
  const Expr none = bit_and(z.re == 0, z.im == 0);
  const Complex by_exponent = power * log(Complex{where(none, 1, z.re), z.im});
  return {x[1] * pow(x[0], x[1] - real(1)), {where(none, 0, by_exponent.re), where(none, 0, by_exponent.im)}};
}

// ---- the inverse functions, after Kahan (1987): the cuts and the edge values are C's ----
/// The direction in which z is infinite: ±1 for an infinite part, ±0 for a finite one.
Complex direction(const Complex& z) {
  const auto part = [](const Expr& x) { return where(isnan(x), x, copysign(where(isinf(x), 1, 0), x)); };
  return {part(z.re), part(z.im)};
}
Complex root_product(const Complex& z) { return sqrt(real(1) - z) * sqrt(real(1) + z); }
struct Asin {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Complex s = Sqrt::value({real(1) - x[0]}), t = Sqrt::value({real(1) + x[0]}), d = direction(x[0]);
    const Expr endless = infinite(x[0]);
    return {tern::atan2(where(endless, d.re, x[0].re), where(endless, abs(d.im), (s * t).re)),
            where(endless, copysign(kEndless, x[0].im), tern::asinh(s.re * t.im - s.im * t.re))};
  }
  static One slopes(const One& x) { return {real(1) / root_product(x[0])}; }
};
struct Acos {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Complex s = Sqrt::value({real(1) - x[0]}), t = Sqrt::value({real(1) + x[0]});
    const Complex d = direction(x[0]);
    const Expr endless = infinite(x[0]);
    const Expr angle = tern::atan2(where(endless, abs(d.im), s.re), where(endless, d.re, t.re));
    return {where(endless, 1, 2) * angle,
            where(endless, copysign(kEndless, -x[0].im), tern::asinh(t.re * s.im - t.im * s.re))};
  }
  static One slopes(const One& x) { return {real(-1) / root_product(x[0])}; }
};
struct Acosh {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Complex s = Sqrt::value({x[0] - real(1)}), t = Sqrt::value({x[0] + real(1)});
    const Complex d = direction(x[0]);
    const Expr endless = infinite(x[0]), angle = tern::atan2(where(endless, d.im, s.im), where(endless, d.re, t.re));
    return {where(endless, kEndless, tern::asinh(s.re * t.re + s.im * t.im)), where(endless, 1, 2) * angle};
  }
  static One slopes(const One& x) { return {real(1) / (sqrt(x[0] - real(1)) * sqrt(x[0] + real(1)))}; }
};
/// |1 + z|² / |1 - z|² = 1 + 4x / |1 - z|².
struct Atanh {
  static constexpr int arity = 1;
  static Complex value(const One& x) {
    const Expr &a = x[0].re, &b = x[0].im;
    const Complex below = Log::value({Complex{1 - a, -b}}), above = Log::value({Complex{1 + a, b}});
    const Expr near = larger(x[0]) < 0.5, distance = (1 - a) * (1 - a) + b * b;
    const Expr re = where(near, 0.25 * tern::log1p(4 * a / where(near, distance, 1)), 0.5 * (above.re - below.re));
    const Expr endless = infinite(x[0]), angle = where(isnan(b), b, copysign(1.5707963267948966, b));
    return {where(endless, copysign(0, a), copysign(re, a)), where(endless, angle, 0.5 * (above.im - below.im))};
  }
  static One slopes(const One& x) { return {real(1) / ((real(1) - x[0]) * (real(1) + x[0]))}; }
};
Complex asinh(const Complex& z) { return over_i(of<Asin>({times_i(z)})); }
Complex atan(const Complex& z) { return over_i(of<Atanh>({times_i(z)})); }

/// z / |z|, 0 of 0.
Complex sign(const Complex& z) {
  const Expr scale = where(larger(z) >= 0x1p100, 0x1p-4, 1), a = z.re * scale, b = z.im * scale;
  const Expr none = bit_and(z.re == 0, z.im == 0), size = where(none, 1, tern::hypot(a, b));
  return {where(none, 0, a / size), where(none, 0, b / size)};
}
Complex chosen(Arguments x) {
  const Expr condition = x[0].is_complex() ? bit_or(x[0].re != 0, x[0].im != 0) : x[0].re;
  const Expr re = where(condition, x[1].re, x[2].re);
  if (!x[1].is_complex() && !x[2].is_complex()) return {re};
  return {re, where(condition, imaginary(x[1]), imaginary(x[2]))};
}

/// By the modulus of the difference: parts that are close, each for itself, may be further apart than b's modulus says.
Complex close(Arguments x) {
  const Complex &a = x[0], &b = x[1];
  const auto size = [](const Complex& z) { return z.is_complex() ? tern::hypot(z.re, z.im) : tern::abs(z.re); };
  const Expr same = bit_and(a.re == b.re, imaginary(a) == imaginary(b));
  const Expr finite = b.is_complex() ? bit_and(isfinite(b.re), isfinite(b.im)) : isfinite(b.re);
  return {bit_or(same, bit_and(finite, size(a - b) <= x[3].re + x[2].re * size(b)))};
}

using RuleOf = Complex (*)(Arguments);
/// Null: it has no meaning for complex numbers.
RuleOf rule_of_elementary(Elementary elementary) {
  switch (elementary) {
    case Elementary::real_part: return [](Arguments x) { return real(x[0].re); };
    case Elementary::imag_part: return [](Arguments x) { return real(imaginary(x[0])); };
    case Elementary::complex_of:
      return [](Arguments x) {
        return !x[1].is_complex() ? Complex{x[0].re, x[0].is_complex() ? x[0].im + x[1].re : x[1].re}
                                  : both(x[0]) + times_i(x[1]);
      };
    case Elementary::add: return [](Arguments x) { return x[0] + x[1]; };
    case Elementary::sub: return [](Arguments x) { return x[0] - x[1]; };
    case Elementary::mul: return [](Arguments x) { return x[0] * x[1]; };
    case Elementary::div: return [](Arguments x) { return x[0] / x[1]; };
    case Elementary::neg: return [](Arguments x) { return -x[0]; };
    case Elementary::equal:
      return [](Arguments x) { return real(bit_and(x[0].re == x[1].re, imaginary(x[0]) == imaginary(x[1]))); };
    case Elementary::not_equal:
      return [](Arguments x) { return real(bit_or(x[0].re != x[1].re, imaginary(x[0]) != imaginary(x[1]))); };
    case Elementary::where: return chosen;
    case Elementary::detach: return [](Arguments x) { return Complex{detach(x[0].re), detach(x[0].im)}; };
    case Elementary::abs: return [](Arguments x) { return real(tern::hypot(x[0].re, x[0].im)); };
    case Elementary::sign: return [](Arguments x) { return sign(x[0]); };
    case Elementary::exp: return [](Arguments x) { return exp(x[0]); };
    case Elementary::expm1: return [](Arguments x) { return of<Expm1>({x[0]}); };
    case Elementary::exp2: return [](Arguments x) { return exp(x[0] * real(0.6931471805599453)); };
    case Elementary::log: return [](Arguments x) { return log(x[0]); };
    case Elementary::log1p: return [](Arguments x) { return of<Log1p>({x[0]}); };
    case Elementary::log2: return [](Arguments x) { return log(x[0]) * real(1.4426950408889634); };
    case Elementary::log10: return [](Arguments x) { return log(x[0]) * real(0.4342944819032518); };
    case Elementary::sqrt: return [](Arguments x) { return sqrt(x[0]); };
    case Elementary::rsqrt: return [](Arguments x) { return real(1) / sqrt(x[0]); };
    case Elementary::pow: return [](Arguments x) { return pow(x[0], x[1]); };
    case Elementary::sin: return [](Arguments x) { return sin(x[0]); };
    case Elementary::cos: return [](Arguments x) { return cos(x[0]); };
    case Elementary::tan: return [](Arguments x) { return tan(x[0]); };
    case Elementary::tanh: return [](Arguments x) { return tanh(x[0]); };
    case Elementary::atan: return [](Arguments x) { return atan(x[0]); };
    case Elementary::sigmoid: return [](Arguments x) { return real(1) / (real(1) + exp(-x[0])); };
    case Elementary::isnan: return [](Arguments x) { return real(bit_or(isnan(x[0].re), isnan(x[0].im))); };
    case Elementary::isinf: return [](Arguments x) { return real(infinite(x[0])); };
    case Elementary::isfinite: return [](Arguments x) { return real(bit_and(isfinite(x[0].re), isfinite(x[0].im))); };
    default: return nullptr;
  }
}

/// Of the formulas with a declared derivative: a rule, or null where the formula has no meaning.
const std::map<const Definition*, std::pair<const char*, RuleOf>>& rules_of_calls() {
  const auto definition = [](const Pointwise<>& formula) { return formula.graph()->outputs[0]->definition; };
  static const std::map<const Definition*, std::pair<const char*, RuleOf>> rules{
      {definition(op::sinh), {"sinh", [](Arguments x) { return sinh(x[0]); }}},
      {definition(op::cosh), {"cosh", [](Arguments x) { return cosh(x[0]); }}},
      {definition(op::asin), {"asin", [](Arguments x) { return of<Asin>({x[0]}); }}},
      {definition(op::acos), {"acos", [](Arguments x) { return of<Acos>({x[0]}); }}},
      {definition(op::asinh), {"asinh", [](Arguments x) { return asinh(x[0]); }}},
      {definition(op::acosh), {"acosh", [](Arguments x) { return of<Acosh>({x[0]}); }}},
      {definition(op::atanh), {"atanh", [](Arguments x) { return of<Atanh>({x[0]}); }}},
      {definition(op::hypot), {"hypot", nullptr}},
      {definition(op::isclose), {"isclose", close}},
  };
  return rules;
}

[[noreturn]] void refuse(const char* op, const char* name) {
  const std::string what = std::string(name) == op ? "" : std::string(name) + " ";
  throw Error(ErrorKind::dtype, std::string(op) + ": " + what + "has no meaning for complex numbers; take real(z), " +
                                    "imag(z) or abs(z)");
}

}  // namespace

Complex complex_elementary(const char* op, Elementary elementary, std::span<const Complex> x) {
  const RuleOf rule = rule_of_elementary(elementary);
  if (!rule) refuse(op, rule_of(elementary).name);
  return rule(x);
}
Complex complex_call(const char* op, const Definition* definition, std::span<const Complex> x) {
  const auto found = rules_of_calls().find(definition);
  if (found == rules_of_calls().end()) return {};
  if (!found->second.second) refuse(op, found->second.first);
  return found->second.second(x);
}

}  // namespace tern::detail
