// The incomplete gamma and beta functions, and nextafter, as formulas. All pieces are computed for every element, and
// `where` chooses; loops are written out.
#include <array>
#include <limits>
#include <span>
#include <string>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"
#include "ops/special/special.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/special.hpp"

namespace tern {

using namespace detail;

namespace {

// ---- the incomplete gamma functions ----

/// Temme's uniform expansion (DLMF 8.12.10): c_k by powers of η, computed for tern from its recurrence in 40 digits, as
/// many as |η| < 1/2 and a > 20 ask for in f64.
constexpr double kTemme0[] = {
    -0.3333333333333333,    0.08333333333333333,    -0.014814814814814815,   0.0011574074074074073,
    0.0003527336860670194,  -0.0001787551440329218, 3.919263178522438e-05,   -2.185448510679992e-06,
    -1.85406221071516e-06,  8.296711340953087e-07,  -1.7665952736826078e-07, 6.707853543401498e-09,
    1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10,    -2.5514193994946248e-11,
    -5.830772132550426e-11, 2.4361948020667415e-11, -5.0276692801141755e-12};
constexpr double kTemme1[] = {-0.001851851851851852,   -0.003472222222222222,   0.0026455026455026454,
                              -0.0009902263374485596,  0.00020576131687242798,  -4.018775720164609e-07,
                              -1.8098550334489977e-05, 7.64916091608111e-06,    -1.6120900894563446e-06,
                              4.647127802807434e-09,   1.378633446915721e-07,   -5.752545603517705e-08,
                              1.1951628599778148e-08,  -1.7543241719747647e-11, -1.0091543710600413e-09,
                              4.162792991842583e-10,   -8.56390702649298e-11};
constexpr double kTemme2[] = {0.004133597883597883,    -0.0026813271604938273, 0.0007716049382716049,
                              2.0093878600823047e-06,  -0.0001073665322636516, 5.2923448829120125e-05,
                              -1.2760635188618728e-05, 3.423578734096138e-08,  1.3721957309062934e-06,
                              -6.298992138380055e-07,  1.4280614206064242e-07, -2.0477098421990866e-10,
                              -1.409252991086752e-08,  6.228974084922022e-09,  -1.3670488396617114e-09,
                              9.428356159014678e-13,   1.2872252400089318e-10};
constexpr double kTemme3[] = {
    0.0006494341563786008,   0.00022947209362139917,  -0.0004691894943952557,  0.00026772063206283885,
    -7.561801671883977e-05,  -2.396505113867297e-07,  1.1082654115347302e-05,  -5.6749528269915965e-06,
    1.4230900732435883e-06,  -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08,
    -1.9111168485973655e-08, 2.3928620439808118e-12,  2.0620131815488797e-09,  -9.460496661855133e-10};
constexpr double kTemme4[] = {-0.0008618882909167117,  0.0007840392217200666,  -0.0002990724803031902,
                              -1.4638452578843418e-06, 6.641498215465122e-05,  -3.968365047179435e-05,
                              1.1375726970678419e-05,  2.507497226237533e-10,  -1.6954149536558305e-06,
                              8.907507532205309e-07,   -2.292934834000805e-07, 2.956794137544049e-11,
                              2.8865829742708783e-08,  -1.4189739437803219e-08};
constexpr double kTemme5[] = {-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392,
                              -0.00019932570516188847, 6.797780477937208e-05,  1.419062920643967e-07,
                              -1.3594048189768693e-05, 8.018470256334202e-06,  -2.291481176508095e-06,
                              -3.252473551298454e-10,  3.4652846491085265e-07, -1.8447187191171344e-07,
                              4.8240967037894184e-08};
constexpr double kTemme6[] = {0.0005313079364639922,   -0.0005921664373536939,  0.0002708782096718045,
                              7.902353232660328e-07,   -8.153969367561969e-05,  5.61168275310625e-05,
                              -1.8329116582843375e-05, -3.0796134506033047e-09, 3.465155368803609e-06,
                              -2.0291327396058603e-06, 5.788792863149004e-07};
constexpr double kTemme7[] = {0.00034436760689237765, 5.171790908260592e-05,   -0.00033493161081142234,
                              0.0002812695154763237,  -0.00010976582244684731, -1.2741009095484485e-07,
                              2.7744451511563645e-05, -1.8263488805711332e-05, 5.7876949497350525e-06};
constexpr double kTemme8[] = {-0.0006526239185953094, 0.0008394987206720873,  -0.000438297098541721,
                              -6.969091458420552e-07, 0.00016644846642067547, -0.00012783517679769218,
                              4.629953263691304e-05};
constexpr double kTemme9[] = {-0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328,
                              -0.0006401475260262758, 0.00027750107634328704};
constexpr double kTemme10[] = {0.0013324454494800656, -0.0019144384985654776, 0.0011089369134596636};
constexpr double kTemme11[] = {0.001579727660730835};
constexpr std::span<const double> kTemme[] = {kTemme0, kTemme1, kTemme2, kTemme3, kTemme4,  kTemme5,
                                              kTemme6, kTemme7, kTemme8, kTemme9, kTemme10, kTemme11};

struct Incomplete {
  Expr lower, upper;
};
/// P and Q where |x/a - 1| < 0.4 and a > 20.
Incomplete uniform(Expr a, Expr m) {
  const Expr half = half_square(m), eta = copysign(sqrt(2 * half), m), z = sqrt(a * half);
  const Expr inverse = 1 / a;
  Expr sum = 0;
  for (std::size_t k = std::size(kTemme); k-- > 0;) sum = sum * inverse + polynomial(eta, kTemme[k]);
  const Expr rest = exp(-(a * half)) / sqrt(2 * kPi * a) * sum;
  const Expr tail = 0.5 * erfc(z), smaller = where(m < 0, tail - rest, tail + rest);
  return {where(m < 0, smaller, 1 - smaller), where(m < 0, 1 - smaller, smaller)};
}
/// x^a·e^-x/Γ(a + 1).
Expr prefix(Expr a, Expr x) {
  const Expr large = a > 5, b = where(large, a, 6), m = (x - b) / b;
  const Expr half = where(abs(m) < 0.4, half_square(m), m - log(x / b));
  return where(large, exp(-(b * half) - stirling_rest(b)) / sqrt(2 * kPi * b), exp(xlogy(a, x) - x - lgamma(a + 1)));
}
/// Σ x^n/((a + 1)…(a + n)), from its end; three terms at a time, for divisions take longest.
Expr gamma_series(Expr a, Expr x) {
  Expr sum = 1;
  for (int n = kGammaTerms - 2; n > 0; n -= 3) {
    const Expr p = a + n, q = a + (n + 1), r = a + (n + 2);
    sum = 1 + x * (q * r + x * (r + x * sum)) / (p * q * r);
  }
  return sum;
}
/// x + 1 - a - 1·(1 - a)/(x + 3 - a - 2·(2 - a)/(x + 5 - a - …)), from its end; a division for three steps.
Expr gamma_fraction(Expr a, Expr x) {
  a = minimum(a, kGammaFractionEnd), x = minimum(x, kGammaFractionEnd);
  Expr above = x + (2 * kGammaTerms + 1) - a, below = 1;
  for (int n = kGammaTerms; n > 0; --n) {
    const Expr next = (x + (2 * n - 1) - a) * above - n * (n - a) * below;
    below = above, above = next;
    if (n % 3 == 1) below = below / above, above = 1;
  }
  return 1 / below;
}
Incomplete incomplete_gamma(Expr a, Expr x) {
  const Expr large = a > 20, b = where(large, a, 21), m = (x - b) / b, near = large & (abs(m) < 0.4);
  const Incomplete middle = uniform(b, where(near, m, 0));
  const Expr before = x < a + 1, scale = prefix(a, x);
  const Expr series = gamma_series(a, where(before, x, 0));
  const Expr fraction = gamma_fraction(a, where(before, a + 1, where(isinf(x), 1, x)));
  const Expr lower = scale * series, upper = where(isinf(x), 0, scale * a / fraction);
  const Expr p = where(near, middle.lower, where(before, lower, 1 - upper));
  const Expr q = where(near, middle.upper, where(before, 1 - lower, upper));
  const Expr inside = (a > 0) & (x >= 0) & (a < kInfinity);
  return {where(inside, p, kNone), where(inside, q, kNone)};
}
/// ∂P/∂x = x^(a - 1)·e^-x/Γ(a).
Expr density(Expr a, Expr x) {
  return where(a > 5, prefix(a, x) * a / where(x == 0, 1, x), exp(xlogy(a - 1, x) - x - lgamma(a)));
}
/// ∂P/∂a: that of the point at which P keeps its value, times -∂P/∂log x = -a·x^a·e^-x/Γ(a + 1).
Expr slope_in_a(Expr a, Expr x) {
  const Expr inner = (x > 0) & (x < kInfinity), t = where(inner, x, 1);
  const Expr slope = where(inner, -(prefix(a, t) * log_quantile_slope_times_a(log(t), a)), 0);
  return where((a > 0) & (x >= 0) & (a < kInfinity), slope, kNone);
}
constexpr Pointwise gammainc_formula{"gammainc", [](Expr a, Expr x) { return incomplete_gamma(a, x).lower; },
                                     [](Expr a, Expr x) {
                                       return std::array{slope_in_a(a, x), density(a, x)};
                                     }};
constexpr Pointwise gammaincc_formula{"gammaincc", [](Expr a, Expr x) { return incomplete_gamma(a, x).upper; },
                                      [](Expr a, Expr x) {
                                        return std::array{-slope_in_a(a, x), -density(a, x)};
                                      }};

// ---- the incomplete beta function ----

/// x^a·(1 - x)^b/(a·B(a, b)), y = 1 - x. Above 5 by the distances from the mean a/(a + b), as the gamma function's.
Expr beta_prefix(Expr a, Expr b, Expr x, Expr y) {
  const Expr large = (a > 5) & (b > 5), p = where(large, a, 6), q = where(large, b, 6), n = p + q;
  const auto half = [](Expr m, Expr ratio) { return where(abs(m) < 0.4, half_square(m), m - log(ratio)); };
  const Expr m = x * q - y * p;  // n·x - p, which is q - n·y
  const Expr exponent = p * half(m / p, x * n / p) + q * half(-m / q, y * n / q);
  const Expr rests = stirling_rest(n) - stirling_rest(p) - stirling_rest(q);
  return where(large, exp(rests - exponent) * sqrt(q / (2 * kPi * p * n)),
               exp(xlogy(a, x) + xlogy(b, y) + (lgamma(a + b) - lgamma(b)) - lgamma(a + 1)));
}
constexpr int kBetaTerms = 64;
/// I_x(a, b) for x < (a + 1)/(a + b + 2): the continued fraction DLMF 8.17.22, from its end, as above/below.
Expr beta_fraction(Expr a, Expr b, Expr x) {
  Expr above = 1, below = 1;
  for (int m = kBetaTerms; m > 0; --m) {
    const Expr before = a + (2 * m - 1), after = a + (2 * m + 1), by = x / (before * (a + 2 * m) * after);
    const Expr next = above - (a + m) * (a + b + m) * (before * by) * below;
    const Expr last = next + m * (b - m) * (after * by) * above;
    below = next, above = last;
    if (m % 8 == 0) below = below / above, above = 1;
  }
  return above / (above - (a + b) * (x / (a + 1)) * below);
}
Expr betainc_value(Expr a, Expr b, Expr x) {
  const Expr y = 1 - x, before = x * (a + b + 2) < a + 1;
  const Expr p = where(before, a, b), q = where(before, b, a), t = where(before, x, y), u = where(before, y, x);
  const Expr value = beta_prefix(p, q, t, u) * beta_fraction(p, q, t);
  const Expr inside = (minimum(a, b) > 0) & (maximum(a, b) <= 1000) & (x >= 0) & (x <= 1);
  return where(inside, where(before, value, 1 - value), kNone);
}
/// x^(a - 1)·(1 - x)^(b - 1)/B(a, b).
Expr beta_density(Expr a, Expr b, Expr x) {
  const Expr y = 1 - x, near = beta_prefix(a, b, x, y) * a / where((x == 0) | (y == 0), 1, x * y);
  return where((a > 5) & (b > 5), near,
               exp(xlogy(a - 1, x) + xlogy(b - 1, y) + (lgamma(a + b) - lgamma(b)) - lgamma(a)));
}
/// A value and its derivatives in a and b.
struct BetaDual {
  Expr value, by_a, by_b;
};
/// above + factor·below, where the factor's derivatives are known.
BetaDual stepped(const BetaDual& above, const BetaDual& factor, const BetaDual& below) {
  return {above.value + factor.value * below.value, above.by_a + factor.by_a * below.value + factor.value * below.by_a,
          above.by_b + factor.by_b * below.value + factor.value * below.by_b};
}
BetaDual quotient(const BetaDual& below, const BetaDual& above) {
  const Expr inverse = 1 / above.value, ratio = below.value * inverse;
  return {ratio, (below.by_a - ratio * above.by_a) * inverse, (below.by_b - ratio * above.by_b) * inverse};
}
/// beta_fraction with its derivatives.
BetaDual beta_fraction_slopes(Expr a, Expr b, Expr x) {
  BetaDual above{1, 0, 0}, below{1, 0, 0};
  for (int m = kBetaTerms; m > 0; --m) {
    const Expr c = 1 / (a + 2 * m), after = 1 / (a + (2 * m + 1)), by = x * c * after;
    const Expr left = (a + m) * by, product = left * (a + b + m);
    const BetaDual odd{-product, product * (c + after) - by * (2 * a + b + 2 * m), -left};
    const BetaDual next = stepped(above, odd, below);
    const Expr before = 1 / (a + (2 * m - 1)), each = m * x * before * c, value = each * (b - m);
    const BetaDual last = stepped(next, {value, -value * (before + c), each}, above);
    below = next, above = last;
    if (m % 8 == 0) below = quotient(below, above), above = {1, 0, 0};
  }
  const Expr after = 1 / (a + 1), by = x * after, product = (a + b) * by;  // without 1/a, which may be infinite
  const BetaDual first = stepped(above, {-product, product * after - by, -by}, below);
  below = above, above = first;
  return quotient(below, above);
}
/// ∂I/∂a and ∂I/∂b. With t = x or 1 - x as in betainc_value, and (p, q) accordingly: of the prefix's logarithm,
/// log t + ψ(p + q) - ψ(p + 1) and log(1 - t) + ψ(p + q) - ψ(q), and of the fraction.
std::array<Expr, 2> slopes_in_a_and_b(Expr a, Expr b, Expr x) {
  const Expr inner = (x > 0) & (x < 1), safe = where(inner, x, 0.5), y = 1 - safe;
  const Expr before = safe * (a + b + 2) < a + 1;
  const Expr p = where(before, a, b), q = where(before, b, a), t = where(before, safe, y), u = where(before, y, safe);
  const BetaDual fraction = beta_fraction_slopes(p, q, t);
  const Expr prefix = beta_prefix(p, q, t, u), together = digamma(p + q);
  const Expr by_p = prefix * (fraction.value * (log(t) + (together - digamma(p + 1))) + fraction.by_a);
  const Expr by_q = prefix * (fraction.value * (log(u) + (together - digamma(q))) + fraction.by_b);
  const Expr inside = (minimum(a, b) > 0) & (maximum(a, b) <= 1000) & (x >= 0) & (x <= 1);
  const auto bounded = [&](Expr slope) { return where(inside, where(inner, slope, 0), kNone); };
  return {bounded(where(before, by_p, -by_q)), bounded(where(before, by_q, -by_p))};
}
constexpr Pointwise betainc_formula{"betainc", [](Expr a, Expr b, Expr x) { return betainc_value(a, b, x); },
                                    [](Expr a, Expr b, Expr x) {
                                      const auto [by_a, by_b] = slopes_in_a_and_b(a, b, x);
                                      return std::array{by_a, by_b, beta_density(a, b, x)};
                                    }};

template <TensorOrVar T> void require_floats(const char* op, const char* name, const T& x) {
  require_defined(op, name, value_of(x));
  if (!is_floating(x.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": " + name + " must be of floats, it is " + describe(value_of(x)));
}
// ---- nextafter ----

/// What there is of a floating dtype to step by: u = eps/2, the least and the largest number.
struct Spacing {
  double u, least, largest;
};
Spacing spacing_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {0x1p-11, 0x1p-24, 65504};
    case DType::bf16: return {0x1p-8, 0x1p-133, 0x1.fep127};
    case DType::f32: return {0x1p-24, 0x1p-149, std::numeric_limits<float>::max()};
    default: return {0x1p-53, 0x1p-1074, std::numeric_limits<double>::max()};
  }
}
/// x ± φ·|x|, φ = u·(1 + 2u), rounds to the next number (Rump, Zimmermann, Boldo and Melquiond, 2009), where φ·|x| is
/// no subnormal number: else that of a multiple of x, or x ± the least number. Numbers of 16 bits are stepped in f32,
/// and rounded when they are stored.
constexpr Pointwise next_formula{"nextafter", [](Expr x, Expr y, Expr u, Expr least, Expr largest) {
                                   const Expr phi = u * (1 + 2 * u), size = abs(x), way = where(y > x, 1, -1),
                                              multiple = x / u;
                                   const Expr scaled = (multiple + way * (phi * abs(multiple))) * u;
                                   Expr next = where(size < least / u / u / 2, scaled, x + way * (phi * size));
                                   next = where(size < least / u, x + way * least, next);
                                   next = where(next == 0, copysign(0, x), where(isinf(x), copysign(largest, x), next));
                                   return where(isnan(x) | isnan(y), x + y, where(x == y, y, next));
                                 }};

}  // namespace

std::span<const std::span<const double>> detail::temme_coefficients() { return kTemme; }

// By log(1 + m) = 2·artanh(m/(2 + m)).
Expr detail::half_square(Expr m) {
  const Expr s = m / (2 + m), t = s * s;
  double series[14];
  for (int k = 0; k < 14; ++k) series[k] = 2.0 / (2 * k + 3);
  return s * m - s * t * polynomial(t, series);  // m - 2s = s·m
}

Expr detail::half_square_ratio(Expr m) {
  const Expr inverse = 1 / (2 + m), s = m * inverse;
  double series[14];
  for (int k = 0; k < 14; ++k) series[k] = 2.0 / (2 * k + 3);
  return inverse - s * inverse * inverse * polynomial(s * s, series);
}

template <TensorOrVar A, TensorOrVar X> ResultOf<A, X> gammainc(const A& a, const X& x) {
  require_floats("gammainc", "a", a), require_floats("gammainc", "x", x);
  return ResultOf<A, X>(gammainc_formula(a, x));
}
TERN_INSTANCES_2(ResultOf, gammainc)

template <TensorOrVar A, TensorOrVar X> ResultOf<A, X> gammaincc(const A& a, const X& x) {
  require_floats("gammaincc", "a", a), require_floats("gammaincc", "x", x);
  return ResultOf<A, X>(gammaincc_formula(a, x));
}
TERN_INSTANCES_2(ResultOf, gammaincc)

template <TensorOrVar A, TensorOrVar B, TensorOrVar X> ResultOf<A, B, X> betainc(const A& a, const B& b, const X& x) {
  require_floats("betainc", "a", a), require_floats("betainc", "b", b), require_floats("betainc", "x", x);
  return ResultOf<A, B, X>(betainc_formula(a, b, x));
}
TERN_INSTANCES_3(ResultOf, betainc)

template <TensorOrVar X, TensorOrVar Y> Tensor nextafter(const X& x, const Y& y) {
  require_floats("nextafter", "x", x), require_floats("nextafter", "y", y);
  const Spacing f = spacing_of(promote_types(x.dtype(), y.dtype()));
  return next_formula(value_of(x), value_of(y), f.u, f.least, f.largest);
}
template Tensor nextafter(const Tensor&, const Tensor&);
template Tensor nextafter(const Tensor&, const Var&);
template Tensor nextafter(const Var&, const Tensor&);
template Tensor nextafter(const Var&, const Var&);

}  // namespace tern
