// Formulas as functions: the mathematics in __float128 and how far their values may be off, in units in the last place.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

#include "contract/quad.hpp"
#include "formula/rule.hpp"
#include "tern/tern.hpp"

namespace tern::contract {

inline constexpr Quad kHalfPi = 1.57079632679489661923132169163975144209858469968755Q;

/// A floating type as bounds need it: the distance from 1 to the next number, the least subnormal number, the least
/// normal one and the largest.
struct Limits {
  Quad epsilon, tiny, normal, largest;
};
/// In place of a bound: a part leaves the type's range there though the result does not, so that nothing is promised.
inline constexpr Quad kNoPromise = -1;

/// Bounds are derived, not measured. A rounding is half a unit of what it rounds. A relative error of r·epsilon is at
/// most 2r units of the result, as a unit is epsilon/2 to epsilon of it; so a factor within b units costs a product 2b
/// and the product's own rounding half a unit more. An argument of relative error r changes f by r times f's condition
/// |x·f'(x)/f(x)|, and a part larger than the result by its own size: `besides` is the sum of these at a point.
struct BudgetedFormula {
  const char* name;
  const Pointwise<>* op;
  Quad (*truth)(const Quad* x);
  double ulp_f32, ulp_f64;
  double least = 0;  // smaller results, in the least normal number, are left out: a factor of theirs is subnormal
  /// The formula holds a polynomial within a few 2^-56 of the function; of its derivatives that says less.
  bool approximates = false;
  /// A factor of the result, whose budget counts twice beside the units above.
  detail::Elementary factor = detail::Elementary::count;
  /// An absolute error allowed beside that.
  Quad (*besides)(const Quad* x, const Limits& type) = nullptr;

  double ulps(bool f64) const {
    const bool alone = factor == detail::Elementary::count;
    const double own = f64 ? ulp_f64 : ulp_f32;
    return alone ? own : own + 2 * (f64 ? detail::rule_of(factor).ulp_f64 : detail::rule_of(factor).ulp_f32);
  }
};
inline void PrintTo(const BudgetedFormula& f, std::ostream* stream) { *stream << f.name; }

inline Quad sinc_of(const Quad* x) {
  if (x[0] == 0) return 1;
  const Quad n = rintq(x[0]), sine = sinq(2 * kHalfPi * (x[0] - n)) * (fmodq(n, 2) == 0 ? 1 : -1);
  return sine / (2 * kHalfPi * x[0]);
}
inline Quad selu_of(const Quad* x) {
  return 1.05070098735548049341933498529460059Q *
         (x[0] > 0 ? x[0] : 1.67326324235437728481704297167140607Q * expm1q(x[0]));
}
inline Quad mish_of(const Quad* x) {
  return x[0] < -1000 ? -0.0Q : x[0] > 1000 ? x[0] : x[0] * tanhq(log1pq(expq(x[0])));
}

inline Quad larger(Quad a, Quad b) { return isnanq(a) || isnanq(b) ? a + b : a > b ? a : b; }
inline Quad smaller(Quad a, Quad b) { return isnanq(a) || isnanq(b) ? a + b : a < b ? a : b; }
inline Quad logistic(Quad x) { return x < 0 ? expq(x) / (1 + expq(x)) : 1 / (1 + expq(-x)); }
inline Quad softplus_at(Quad x) { return larger(x, 0) + log1pq(expq(-fabsq(x))); }
inline bool leaves(Quad part, const Limits& type) { return finiteq(part) && fabsq(part) > type.largest; }

// Of activations that tend to -0 the value is that where it is below every type's least number.
inline Quad silu_of(const Quad* x) { return x[0] < -1000 ? -0.0Q : x[0] / (1 + expq(-x[0])); }
/// 2u of the tanh form: 0.5·x·(1 + tanh u) = x/(1 + exp(-2u)), u = √(2/π)·(x + 0.044715·x³).
inline Quad gelu_argument(Quad x) { return 2 * sqrtq(1 / kHalfPi) * (x + 0.044715Q * x * x * x); }
inline Quad gelu_of(const Quad* x) { return x[0] < -1000 ? -0.0Q : x[0] / (1 + expq(-gelu_argument(x[0]))); }
/// Five roundings make the argument t (two constants, c², a product with it, the last product; the sum's terms have one
/// sign, and its rounding is the fifth): 2.5·epsilon, times the logistic function's condition |t|·(1 - σ(t)).
inline Quad gelu_besides(const Quad* x, const Limits& type) {
  const Quad t = gelu_argument(x[0]);
  return 2.5Q * type.epsilon * fabsq(gelu_of(x) * t * logistic(-t));
}
inline Quad gelu_erf_of(const Quad* x) { return x[0] < -1000 ? -0.0Q : x[0] / 2 * erfcq(-x[0] / sqrtq(2)); }
/// The argument z has two roundings, √½'s and the product's: an epsilon, times erfc's condition.
inline Quad gelu_erf_besides(const Quad* x, const Limits& type) {
  const Quad z = x[0] / sqrtq(2), slope = 2 / sqrtq(2 * kHalfPi) * expq(-z * z);
  return type.epsilon * fabsq(x[0] / 2 * z * slope);
}
/// b times an activation that is as small as subnormal numbers: with up to 750 times the error of those, 0 for some.
inline Quad gate_besides(Quad activation, Quad b, const Limits& type) {
  if (fabsq(activation) >= 1000 * type.normal || activation == 0) return 0;
  return finiteq(b) ? fabsq(b) * 2500 * type.tiny : kNoPromise;
}
/// From both ends, as in the formula: which of infinite operands give NaN depends on it.
inline Quad lerp_of(const Quad* x) {
  return x[2] < 0.5Q ? x[0] + x[2] * (x[1] - x[0]) : x[1] - (1 - x[2]) * (x[1] - x[0]);
}
/// The difference, the weight from b's end and their product are rounded: 1.5·epsilon of the product.
inline Quad lerp_besides(const Quad* x, const Limits& type) {
  const Quad weight = x[2] < 0.5Q ? x[2] : 1 - x[2], step = weight * (x[1] - x[0]);
  if (leaves(x[1] - x[0], type) || leaves(step, type)) return kNoPromise;
  return 1.5Q * type.epsilon * fabsq(step) + type.tiny;
}
inline Quad logaddexp_of(const Quad* x) {
  return x[0] == x[1] ? x[0] + logq(2) : larger(x[0], x[1]) + softplus_at(-fabsq(x[0] - x[1]));
}
/// Softplus has 2.1 units at most, and half an epsilon of the difference moves it by that times the logistic function.
inline Quad logaddexp_besides(const Quad* x, const Limits& type) {
  const Quad d = -fabsq(x[0] - x[1]);
  if (!finiteq(d)) return 0;
  return type.epsilon * (2.1Q * softplus_at(d) - 0.5Q * d * logistic(d)) + type.tiny;
}
inline Quad xlogy_of(const Quad* x) { return x[0] == 0 && !isnanq(x[1]) ? 0 : x[0] * logq(x[1]); }
inline Quad hardswish_of(const Quad* x) { return x[0] <= -3 ? -0.0Q : x[0] * smaller((x[0] + 3) / 6, 1); }
inline Quad celu_of(const Quad* x) { return x[0] > 0 ? x[0] : x[1] * expm1q(x[0] / x[1]); }
/// The quotient's rounding, half an epsilon, times expm1's condition; a quotient may also be subnormal.
inline Quad celu_besides(const Quad* x, const Limits& type) {
  const Quad z = x[0] / x[1];
  if (x[0] > 0 || !finiteq(z)) return 0;
  if (leaves(z, type) || leaves(expm1q(z), type)) return kNoPromise;
  return fabsq(x[1]) * (0.5Q * type.epsilon * fabsq(z) * expq(z) + type.tiny);
}
inline Quad softplus_of(const Quad* x) { return softplus_at(x[1] * x[0]) / x[1]; }
/// The product's rounding, times softplus' slope; softplus and the product may be subnormal.
inline Quad softplus_besides(const Quad* x, const Limits& type) {
  const Quad z = x[1] * x[0];
  if (x[1] == 0 || !finiteq(z)) return 0;
  if (leaves(z, type)) return kNoPromise;
  return (0.5Q * type.epsilon * fabsq(z) * logistic(z) + 4 * type.tiny) / fabsq(x[1]);
}
/// Of finite numbers within roundings of the bound, which are three, either answer is right.
inline Quad isclose_besides(const Quad* x, const Limits& type) {
  const Quad off = fabsq(x[0] - x[1]), relative = x[2] * fabsq(x[1]), bound = x[3] + relative;
  if (leaves(off, type) || leaves(relative, type) || leaves(bound, type)) return kNoPromise;
  const Quad doubt = 2 * type.epsilon * (off + fabsq(x[3]) + fabsq(relative)) + 2 * type.tiny;
  return x[0] != x[1] && finiteq(off - bound) && fabsq(off - bound) <= doubt ? kNoPromise : 0;
}

inline const BudgetedFormula kBudgetedFormulas[] = {
    {"reciprocal", &op::reciprocal, [](const Quad* x) { return 1 / x[0]; }, 0.5, 0.5},
    {"trunc", &op::trunc, [](const Quad* x) { return truncq(x[0]); }, 0, 0},
    {"asin", &op::asin, [](const Quad* x) { return asinq(x[0]); }, 3, 3, 0, true},
    {"acos", &op::acos, [](const Quad* x) { return acosq(x[0]); }, 3, 3, 0, true},
    {"sinh", &op::sinh, [](const Quad* x) { return sinhq(x[0]); }, 3, 3},
    {"cosh", &op::cosh, [](const Quad* x) { return coshq(x[0]); }, 3, 3},
    {"asinh", &op::asinh, [](const Quad* x) { return asinhq(x[0]); }, 2, 2},
    {"acosh", &op::acosh, [](const Quad* x) { return acoshq(x[0]); }, 2.7, 2.7},
    {"atanh", &op::atanh, [](const Quad* x) { return atanhq(x[0]); }, 2.5, 2.5},
    {"hypot", &op::hypot, [](const Quad* x) { return hypotq(x[0], x[1]); }, 2, 2},
    {"sinc", &op::sinc, &sinc_of, 4, 4},
    {"log_sigmoid", &op::log_sigmoid,
     [](const Quad* x) { return x[0] < 0 ? x[0] - log1pq(expq(x[0])) : -log1pq(expq(-x[0])); }, 2.1, 1.6},
    {"mish", &op::mish, &mish_of, 4, 4, 1000},
    {"hardsigmoid", &op::hardsigmoid,
     [](const Quad* x) { return isnanq(x[0]) ? x[0] : fminq(fmaxq(x[0] + 3, 0), 6) / 6; }, 1.5, 1.5},
    {"selu", &op::selu, &selu_of, 3.3, 3.3},
    {"celu", &op::celu, [](const Quad* x) { return x[0] > 0 ? x[0] : expm1q(x[0]); }, 1.3, 1.2},
    {"elu", &op::elu, [](const Quad* x) { return x[0] > 0 ? x[0] : expm1q(x[0]); }, 1.3, 1.2},
    // Exact, or one rounding.
    {"identity", &op::identity, [](const Quad* x) { return x[0]; }, 0, 0},
    {"square", &op::square, [](const Quad* x) { return x[0] * x[0]; }, 0.5, 0.5},
    {"relu", &op::relu, [](const Quad* x) { return larger(x[0], 0); }, 0, 0},
    {"clamp", &op::clamp, [](const Quad* x) { return smaller(larger(x[0], x[1]), x[2]); }, 0, 0},
    {"leaky_relu_with", &op::leaky_relu_with, [](const Quad* x) { return x[0] > 0 ? x[0] : x[1] * x[0]; }, 0.5, 0.5},
    {"prelu", &op::prelu, [](const Quad* x) { return x[0] > 0 ? x[0] : x[1] * x[0]; }, 0.5, 0.5},
    {"relu_mul", &op::relu_mul, [](const Quad* x) { return larger(x[0], 0) * x[1]; }, 0.5, 0.5},
    {"fmod", &op::fmod, [](const Quad* x) { return fmodq(x[0], x[1]); }, 0, 0},
    {"nan_to_num", &op::nan_to_num,
     [](const Quad* x) { return isnanq(x[0]) ? x[1] : !isinfq(x[0]) ? x[0] : x[0] > 0 ? x[2] : x[3]; }, 0, 0},
    {"isclose", &op::isclose,
     [](const Quad* x) {
       return x[0] == x[1] || (finiteq(x[1]) && fabsq(x[0] - x[1]) <= x[3] + x[2] * fabsq(x[1])) ? 1.0Q : 0.0Q;
     }, 0, 0, 0, false, detail::Elementary::count, &isclose_besides},
    {"logical_and", &op::logical_and, [](const Quad* x) { return x[0] != 0 && x[1] != 0 ? 1.0Q : 0.0Q; }, 0, 0},
    {"logical_or", &op::logical_or, [](const Quad* x) { return x[0] != 0 || x[1] != 0 ? 1.0Q : 0.0Q; }, 0, 0},
    {"logical_xor", &op::logical_xor, [](const Quad* x) { return (x[0] != 0) != (x[1] != 0) ? 1.0Q : 0.0Q; }, 0, 0},
    {"logical_not", &op::logical_not, [](const Quad* x) { return x[0] == 0 ? 1.0Q : 0.0Q; }, 0, 0},
    // A constant's rounding, relative, and the product's.
    {"leaky_relu", &op::leaky_relu, [](const Quad* x) { return x[0] > 0 ? x[0] : 0.01Q * x[0]; }, 1.5, 1.5},
    // (x + 3)/6 has two roundings, an epsilon of it: 2 units; the product's rounding.
    {"hardswish", &op::hardswish, &hardswish_of, 2.5, 2.5},
    // A product with a function that has a budget.
    {"silu", &op::silu, &silu_of, 0.5, 0.5, 1000, false, detail::Elementary::sigmoid},
    {"gelu", &op::gelu, &gelu_of, 0.5, 0.5, 1000, false, detail::Elementary::sigmoid, &gelu_besides},
    {"gelu_erf", &op::gelu_erf, &gelu_erf_of, 0.5, 0.5, 1000, false, detail::Elementary::erfc, &gelu_erf_besides},
    {"xlogy", &op::xlogy, &xlogy_of, 0.5, 0.5, 0, false, detail::Elementary::log},
    {"elu_with", &op::elu_with, [](const Quad* x) { return x[0] > 0 ? x[0] : x[1] * expm1q(x[0]); }, 0.5, 0.5, 0, false,
     detail::Elementary::expm1},
    {"celu_with", &op::celu_with, &celu_of, 0.5, 0.5, 0, false, detail::Elementary::expm1, &celu_besides},
    {"softplus_with", &op::softplus_with, &softplus_of, 0.5, 0.5, 0, false, detail::Elementary::softplus,
     &softplus_besides},
    // The activation's own product counts as a factor's rounding, too: half an epsilon, a unit.
    {"silu_mul", &op::silu_mul, [](const Quad* x) { return silu_of(x) * x[1]; }, 1.5, 1.5, 0, false,
     detail::Elementary::sigmoid, [](const Quad* x, const Limits& t) { return gate_besides(silu_of(x), x[1], t); }},
    {"gelu_mul", &op::gelu_mul, [](const Quad* x) { return gelu_of(x) * x[1]; }, 1.5, 1.5, 0, false,
     detail::Elementary::sigmoid,
     [](const Quad* x, const Limits& t) {
       const Quad small = gate_besides(gelu_of(x), x[1], t);
       return small == kNoPromise ? small : small + gelu_besides(x, t) * fabsq(x[1]);
     }},
    {"sigmoid_mul", &op::sigmoid_mul, [](const Quad* x) { return logistic(x[0]) * x[1]; }, 0.5, 0.5, 0, false,
     detail::Elementary::sigmoid, [](const Quad* x, const Limits& t) { return gate_besides(logistic(x[0]), x[1], t); }},
    // A sum of parts that may be larger than it; its own rounding may be that of the next power of two.
    {"lerp", &op::lerp, &lerp_of, 1, 1, 0, false, detail::Elementary::count, &lerp_besides},
    {"logaddexp", &op::logaddexp, &logaddexp_of, 1, 1, 0, false, detail::Elementary::count, &logaddexp_besides},
};

/// The function that a formula of this name approximates; null where its graph is the mathematics itself.
inline auto truth_of_approximation(std::string_view name) -> Quad (*)(const Quad*) {
  const auto* found = std::ranges::find_if(
      kBudgetedFormulas, [&](const BudgetedFormula& f) { return f.approximates && name == f.name; });
  return found == std::end(kBudgetedFormulas) ? nullptr : found->truth;
}

}  // namespace tern::contract
