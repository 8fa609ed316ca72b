// Entries of special functions (special.cpp). Their errors over the whole domains: tests/contract/special.cpp.
#include <cmath>
#include <functional>

#include "ops/operands.trial.hpp"
#include "tern/special.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

constexpr Tolerance kShifted{24, "the functions' own bounds, of elements that were shifted and stored", 8};

/// f of shifted elements.
template <class F> auto shifted(double by, F f) {
  return [by, f](const auto& x) {
    Values y{x[0].shape, {}};
    for (const double v : x[0].of) y.of.push_back(f(v + by));
    return std::vector{y};
  };
}
template <class F> Entry special(const char* name, const char* says, double by, F call, double (*exact)(double)) {
  return {.name = name,
          .family = Family::special,
          .arguments = "x",
          .says = says,
          .tolerance = kShifted,
          .orders_on_gpus = 2,  // a third derivative of i1 has 7,687 operations; WebGPU takes 4,096
          .samples = {{.shapes = matrix,
                       .call = [by, call](const auto& x) { return call(x + by); },
                       .reference = shifted(by, exact)}},
          .bad = {undefined(name, call),
                  {ErrorKind::dtype, {name, "floats"}, [call](auto make) { call(make({2}, i32)); }}}};
}
#define TERN_CALL(name) [](const auto& x) { return tern::name(x); }

/// ψ⁽ⁿ⁾(x) by 5000 terms of its sum and the rest as an integral.
double polygamma_of(int n, double x) {
  constexpr int terms = 5000;
  using Wide = long double;
  const Wide far = Wide(x) + terms - Wide(0.5);
  Wide sum = n ? std::pow(far, -n) / n - (n + 1) * std::pow(far, -n - 2) / 24 : std::log(far) + 1 / (24 * far * far);
  for (int k = terms; k-- > 0;) sum += n ? std::pow(Wide(x) + k, -n - 1) : -1 / (Wide(x) + k);
  return static_cast<double>(n ? (n % 2 ? 1 : -1) * std::tgamma(Wide(n) + 1) * sum : sum);
}
/// I0 or I1 by the series of powers.
double modified(int order, double x) {
  double term = order ? x / 2 : 1, sum = term;
  for (int k = 1; k < 60; ++k) term *= x * x / 4 / (k * (k + order)), sum += term;
  return sum;
}

/// P(a, x) by its series.
double gamma_series(double a, double x) {
  using Wide = long double;
  Wide term = std::exp(a * std::log(Wide(x)) - x - std::lgamma(Wide(a) + 1)), sum = term;
  for (int n = 1; n < 200; ++n) term *= x / (Wide(a) + n), sum += term;
  return static_cast<double>(sum);
}
/// I_x(2, 3).
double beta_2_3(double x) { return x * x * (6 - 8 * x + 3 * x * x); }
/// Like x, all of this value.
template <class T> Tensor same(const T& x, double value) { return full_like(elements(x), value); }

const Entries special_functions{
    special("lgamma", "log |Γ(x)|", 1.7, TERN_CALL(lgamma), [](double x) { return std::lgamma(x); }),
    special("digamma", "The derivative of log Γ(x)", 1.7, TERN_CALL(digamma),
            [](double x) { return polygamma_of(0, x); }),
    {.name = "polygamma",
     .family = Family::special,
     .arguments = "n, x",
     .says = "The n-th derivative of digamma, n from 0 to 20 (else `value`)",
     .tolerance = kShifted,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return polygamma(1, x + 2.0); },
                  .reference = shifted(2, [](double x) { return polygamma_of(1, x); })},
                 {.with = "the fourth",
                  .shapes = matrix,
                  .call = [](const auto& x) { return polygamma(4, x + 3.0); },
                  .reference = shifted(3, [](double x) { return polygamma_of(4, x); })}},
     .bad = {{value, {"polygamma", "0 to 20", "21"}, [](auto make) { polygamma(21, make({2})); }},
             {value, {"polygamma", "-1"}, [](auto make) { polygamma(-1, make({2})); }},
             {dtype, {"polygamma", "floats"}, [](auto make) { polygamma(1, make({2}, i32)); }}}},
    special("j0", "The Bessel function J0", 2.5, TERN_CALL(j0), [](double x) { return ::j0(x); }),
    special("j1", "The Bessel function J1", 0.3, TERN_CALL(j1), [](double x) { return ::j1(x); }),
    special("y0", "The Bessel function Y0: -inf at 0, NaN below", 2.5, TERN_CALL(y0), [](double x) { return ::y0(x); }),
    special("y1", "The Bessel function Y1: -inf at 0, NaN below", 9.5, TERN_CALL(y1), [](double x) { return ::y1(x); }),
    special("i0", "The modified Bessel function I0", 0.3, TERN_CALL(i0), [](double x) { return modified(0, x); }),
    special("i1", "The modified Bessel function I1", 0.3, TERN_CALL(i1), [](double x) { return modified(1, x); }),
    special("i0e", "I0(x)·e^(-|x|), which does not overflow", 1.5, TERN_CALL(i0e),
            [](double x) { return modified(0, x) * std::exp(-x); }),
    special("i1e", "I1(x)·e^(-|x|), which does not overflow", 1.5, TERN_CALL(i1e),
            [](double x) { return modified(1, x) * std::exp(-x); }),
    {.name = "gammainc",
     .family = Family::special,
     .arguments = "a, x",
     .says = "P(a, x) = ∫ t^(a - 1)·e^-t dt / Γ(a) from 0 to x, for finite a > 0 and x >= 0 (else NaN)",
     .tolerance = kShifted,
     .orders_on_gpus = 2,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return gammainc(same(x, 4), x + 4.0); },
                  .reference = shifted(4, [](double x) { return gamma_series(4, x); })}},
     .bad = {{dtype, {"gammainc", "floats"}, [](auto make) { gammainc(make({2}), make({2}, i32)); }},
             {ErrorKind::shape, {"[2]", "[3]"}, [](auto make) { gammainc(make({2}), make({3})); }}}},
    {.name = "gammaincc",
     .family = Family::special,
     .arguments = "a, x",
     .says = "Q(a, x) = 1 - P(a, x)",
     .tolerance = kShifted,
     .orders_on_gpus = 2,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return gammaincc(same(x, 1.5), x + 4.0); },
                  .reference = shifted(4, [](double x) { return 1 - gamma_series(1.5, x); })}},
     .bad = {{dtype, {"gammaincc", "floats"}, [](auto make) { gammaincc(make({2}), make({2}, i32)); }}}},
    {.name = "betainc",
     .family = Family::special,
     .arguments = "a, b, x",
     .says =
         "I_x(a, b) = ∫ t^(a - 1)·(1 - t)^(b - 1) dt / B(a, b) from 0 to x, for a and b above 0 and to 1000, 0 <= x "
         "<= 1 (else NaN)",
     .tolerance = kShifted,
     .orders_on_gpus = 2,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return betainc(same(x, 2), same(x, 3), 0.25 * x + 0.5); },
                  .reference =
                      [](const auto& x) { return shifted(0, [](double v) { return beta_2_3(0.25 * v + 0.5); })(x); },
                  .knows_results = true}},
     .bad = {{dtype, {"betainc", "floats"}, [](auto make) { betainc(make({2}), make({2}), make({2}, i32)); }}}},
    {.name = "nextafter",
     .family = Family::special,
     .arguments = "x, y",
     .says = "The floating-point number after x in the direction of y: x where they are equal",
     .differentiable = false,
     .tolerance = {0, "exact, as tests/contract/incomplete.cpp holds"},
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return nextafter(x, x); },
                  .reference = [](const auto& x) { return x; }}},
     .bad = {{dtype, {"nextafter", "floats"}, [](auto make) { nextafter(make({2}), make({2}, i32)); }}}},
};
#undef TERN_CALL

}  // namespace
}  // namespace tern::operations
