// Formulas as functions: the mathematics in __float128 and how far their values may be off, in units in the last place.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

#include "contract/quad.hpp"
#include "tern/tern.hpp"

namespace tern::contract {

inline constexpr Quad kHalfPi = 1.57079632679489661923132169163975144209858469968755Q;

struct BudgetedFormula {
  const char* name;
  const Pointwise<>* op;
  Quad (*truth)(const Quad* x);
  double ulp_f32, ulp_f64;
  double least = 0;  // smaller results, in the least normal number, are left out: a factor of theirs is subnormal
  /// The formula holds a polynomial within a few 2^-56 of the function; of its derivatives that says less.
  bool approximates = false;
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
    {"cbrt", &op::cbrt, [](const Quad* x) { return cbrtq(x[0]); }, 1.5, 1.5},
    {"sinc", &op::sinc, &sinc_of, 4, 4},
    {"log_sigmoid", &op::log_sigmoid,
     [](const Quad* x) { return x[0] < 0 ? x[0] - log1pq(expq(x[0])) : -log1pq(expq(-x[0])); }, 1.8, 1.6},
    {"mish", &op::mish, &mish_of, 4, 4, 1000},
    {"hardsigmoid", &op::hardsigmoid,
     [](const Quad* x) { return isnanq(x[0]) ? x[0] : fminq(fmaxq(x[0] + 3, 0), 6) / 6; }, 1.5, 1.5},
    {"selu", &op::selu, &selu_of, 3.3, 3.3},
    {"celu", &op::celu, [](const Quad* x) { return x[0] > 0 ? x[0] : expm1q(x[0]); }, 1.3, 1.2},
};

/// The function that a formula of this name approximates; null where its graph is the mathematics itself.
inline auto truth_of_approximation(std::string_view name) -> Quad (*)(const Quad*) {
  const auto* found = std::ranges::find_if(
      kBudgetedFormulas, [&](const BudgetedFormula& f) { return f.approximates && name == f.name; });
  return found == std::end(kBudgetedFormulas) ? nullptr : found->truth;
}

}  // namespace tern::contract
