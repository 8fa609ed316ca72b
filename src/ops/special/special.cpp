// Special functions as formulas: pieces chosen by `where`, so that every backend has them, and their derivatives. The
// coefficients were fitted for tern at Chebyshev nodes in 50 digits (to 2^-56 or less of the value), unless a comment
// says otherwise.
#include "tern/special.hpp"

#include <cmath>
#include <span>
#include <string>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"
#include "ops/special/special.hpp"
#include "primitives/fused/operation.hpp"

namespace tern {

namespace detail {
namespace {
/// stirling_rest times z, by 1/z².
constexpr double kStirling[] = {0.08333333333333333,    -0.002777777777774819, 0.0007936507916595258,
                                -0.0005952375748326184, 0.0008416819215726276, -0.001912308703536899,
                                0.006170995245104829,   -0.022755897916882394, 0.059261685874747075};
}  // namespace
Expr polynomial(Expr x, std::span<const double> c) {
  Expr y = c.back();
  for (std::size_t k = c.size() - 1; k-- > 0;) y = y * x + c[k];
  return y;
}
Expr stirling_rest(Expr z) { return polynomial(1 / (z * z), kStirling) / z; }
}  // namespace detail

using namespace detail;

namespace {

/// x from the nearest integer: of numbers below 1/2 themselves, with their sign.
Expr fraction(Expr x) { return where(abs(x) < 0.5, x, x - round(x)); }

/// cot(πx), also near its zeros: there as the tangent of the distance from them.
Expr cotangent(Expr x) {
  const Expr r = fraction(x), y = abs(r), near = y < 0.25, t = tan(kPi * where(near, y, 0.5 - y));
  return copysign(where(near, 1 / t, t), r);
}

// ---- the gamma function's family ----

/// log Γ(1 + v)/(v(v - 1)) for -1/4 <= v < 4, by v + 1/4.
constexpr double kLgP[] = {0.6504990445801452,   3.192057433316516,     6.442975113671605,     6.942963313490924,
                           4.3468768522398245,   1.6178063716594595,    0.35340037132156754,   0.04336189162586738,
                           0.002747370664654124, 7.688931843922618e-05, 6.742482628807906e-07, 3.5086796983969343e-10};
constexpr double kLgQ[] = {1.0,
                           5.448765627221202,
                           12.404035959901082,
                           15.373044807846947,
                           11.349465214113268,
                           5.1458310380414485,
                           1.4303651779897184,
                           0.23729043584040224,
                           0.022248940289531016,
                           0.0010719011833829695,
                           2.227590798499883e-05,
                           1.3389486766719532e-07};

/// log Γ(1 + v) for v >= -1/4.
Expr lgamma_above(Expr v) {
  const Expr w = v + 0.25, z = 1 + v, near = v * (v - 1) * (polynomial(w, kLgP) / polynomial(w, kLgQ));
  const Expr far = (v + 0.5) * (log(z) - 1) + (0.41893853320467274 + stirling_rest(z));
  return where(v < 4, near, far);
}
// Γ(x) = Γ(1 + x)/x below 3/4; Γ(x)·Γ(-x) = -π/(x·sin πx).
Expr lgamma_value(Expr x) {
  const Expr y = abs(x), small = y < 0.75, core = lgamma_above(where(small, y, y - 1));
  const Expr sine = abs(sin(kPi * fraction(y))) * (1 / kPi);
  const Expr other = where(x < 0, where(small, sine, y * sine), where(small, y, 1));
  return where(isinf(x), y, where(x < 0, -core, core) - log(other));
}

/// ψ(z)/(z - z0) for 1/2 <= z < 5, by z - 1/2; z0 = kPsiRoot + kPsiRootRest is ψ's zero.
constexpr double kPsiP[] = {2.041851487905516,     4.740321860678527,     4.061506499289057,     1.6947181087047127,
                            0.37510202232961565,   0.0443546350281327,    0.0026535987969406004, 6.987469255927356e-05,
                            5.774665387848812e-07, 2.5673733725058014e-10};
constexpr double kPsiQ[] = {1.0,
                            3.7949368694909698,
                            4.827180769540608,
                            2.8989458661804415,
                            0.9265852767352313,
                            0.1634856027096342,
                            0.0156596534069197,
                            0.000758106741694421,
                            1.5804171010123264e-05,
                            9.594720727985663e-08};
constexpr double kPsiRoot = 1.4616321325302124, kPsiRootRest = 1.2438149938918910e-8;
/// The rest times kPsiP.
constexpr auto kPsiRestP = [] {
  std::array<double, std::size(kPsiP)> c{};
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = kPsiRootRest * kPsiP[i];
  return c;
}();
/// (log z - 1/(2z) - ψ(z))·z² for z >= 5, by 1/z².
constexpr double kPsiFar[] = {0.08333333333333331,   -0.008333333333283502, 0.003968253934687767,
                              -0.004166657878794356, 0.007574590332864346,  -0.021003999723503565,
                              0.07922951673611547,   -0.3250416170412674,   0.8992546266570963};

Expr digamma_value(Expr x) {
  const Expr mirrored = x < 0.5, z = where(mirrored, 1 - x, x), w = z - 0.5, u = 1 / (z * z);
  // Not (z - root - rest)·P: compilers of WGSL subtract root + rest, also where rest·P stands apart.
  const Expr near = ((z - kPsiRoot) * polynomial(w, kPsiP) - polynomial(w, kPsiRestP)) / polynomial(w, kPsiQ);
  const Expr far = log(z) - (0.5 / z + u * polynomial(u, kPsiFar));
  const Expr pole = (x < 0) & (fraction(x) == 0);
  return where(pole, kNone, where(z < 5, near, far) - where(mirrored, kPi * cotangent(x), 0));
}

/// x^n by squares, n >= 1.
Expr power(Expr x, int n) {
  if (n == 1) return x;
  const Expr half = power(x, n / 2), square = half * half;
  return n % 2 ? square * x : square;
}
/// dⁿ/dxⁿ cot(πx) = πⁿ·P(c), c = cot(πx), by P_0 = c, P_{n+1} = -(1 + c²)·P_n'(c): of alternating signs, so that
/// nothing cancels in P.
std::vector<double> cotangent_polynomial(int n) {
  std::vector<double> p{0, 1};
  for (int i = 0; i < n; ++i) {
    std::vector<double> next(p.size() + 1);
    for (std::size_t k = 1; k < p.size(); ++k) {
      next[k - 1] -= kPi * static_cast<double>(k) * p[k];
      next[k + 1] -= kPi * static_cast<double>(k) * p[k];
    }
    p = next;
  }
  return p;
}
Expr cotangent_derivative(Expr x, int n) {
  const Expr c = cotangent(x), square = c * c;
  const std::vector<double> p = cotangent_polynomial(n);
  std::vector<double> half;
  for (std::size_t k = (n + 1) % 2; k < p.size(); k += 2) half.push_back(p[k]);
  const Expr q = polynomial(square, half);
  return n % 2 ? q : where(fraction(x) == 0, kNone, c * q);
}
/// ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹·n!·ζ(n + 1, x) for n >= 1: 10 + n terms of the sum, whose rest is Euler-Maclaurin's. Powers are
/// those of 2^e/x, so that they and n! stay within the range of f32. Below 0 by ψ(1 - x) - ψ(x) = π·cot(πx).
Expr polygamma_value(Expr x, int n) {
  // B_2k/(2k)!
  constexpr double bernoulli[] = {8.3333333333333333e-02,  -1.3888888888888889e-03, 3.3068783068783069e-05,
                                  -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
                                  1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15};
  const double factorial = std::tgamma(n + 1.0), scale = std::exp2(std::floor(std::log2(factorial) / (n + 1)));
  const Expr z = where(x < 0, 1 - x, x), far = z + (10 + n), s = scale / far;
  std::vector<double> tail;
  double rising = 1;  // (2k + n - 1)!/n!
  for (int k = 1; k <= 9; ++k) {
    if (k > 1) rising *= (2 * k + n - 2);
    rising *= (2 * k + n - 1);
    tail.push_back(bernoulli[k - 1] * rising);
  }
  const Expr v = 1 / (far * far);
  Expr sum = scale * (power(s, n) * (1.0 / n + (0.5 / far + v * polynomial(v, tail))));
  for (int k = 10 + n; k-- > 0;) sum = sum + power(scale / (z + k), n + 1);
  const Expr positive = (n % 2 ? 1 : -1) * (factorial / std::pow(scale, n + 1)) * sum;
  return where(x < 0, (n % 2 ? -1 : 1) * positive - kPi * cotangent_derivative(x, n), positive);
}
constexpr int kPolygammaOrders = 20;
/// Each is the derivative of the one before: what the chain rule makes of their sums would be thousands of operations.
template <int n>
constexpr Pointwise<> polygamma_formula = [] {
  constexpr int last = kPolygammaOrders + 3;  // third derivatives of all
  const auto value = [](Expr x) { return polygamma_value(x, n); };
  if constexpr (n == last) return Pointwise<>{"polygamma", value};
  else return Pointwise<>{"polygamma", value, [](Expr x) { return polygamma_formula<n + 1>(x); }};
}();
constexpr Pointwise digamma_formula{"digamma", [](Expr x) { return digamma_value(x); },
                                    [](Expr x) { return polygamma_formula<1>(x); }};
constexpr Pointwise lgamma_formula{"lgamma", [](Expr x) { return lgamma_value(x); },
                                   [](Expr x) { return digamma_formula(x); }};

template <int... n> const Pointwise<>& polygamma_by_order(int order, std::integer_sequence<int, n...>) {
  static const Pointwise<>* const formulas[] = {&digamma_formula, &polygamma_formula<n + 1>...};
  return *formulas[order];
}

// ---- Bessel functions: below 8 polynomials of x², above Hankel's form with polynomials of (8/x)² ----

/// (J0 - 1)/x², J1/x, and Y0 and Y1/x without their logarithms (and without Y1's pole), by x²/32 - 1, |x| < 8.
constexpr double kJ0[] = {
    -0.02981782297313082,    0.058889736951126356,   -0.07915440204760084,   0.053901626807923125,
    -0.021452268647181808,   0.005593892214459901,   -0.0010317406967228675, 0.00014196824013295998,
    -1.5153271721373433e-05, 1.2924616450179044e-06, -9.017421400368428e-08, 5.244551265366286e-09,
    -2.5826482664823345e-10, 1.0910646845558117e-11, -4.013146955742735e-13, 1.2872003179273387e-14};
constexpr double kJ1[] = {-0.05814382795599107,    0.08105866038589796,    0.15151665143806634,
                          -0.2595948652859303,     0.15858376432721938,    -0.05474581821284722,
                          0.012456814392255438,    -0.0020290394945705996, 0.00024949458139090494,
                          -2.4045748659686987e-05, 1.8684525372057272e-06, -1.1967081867872172e-07,
                          6.431268785753088e-09,   -2.943013798390916e-10, 1.1610597914042965e-11,
                          -4.004572738786147e-13,  1.2093613396338289e-14};
constexpr double kY0[] = {-0.382250654459425,     -0.8284358903604587,    1.6470964788745468,
                          0.14412632369302475,    -1.0775477338215995,    0.6721770783431679,
                          -0.2189574709617164,    0.046367047681375125,   -0.007025741057270546,
                          0.0008061586059616401,  -7.279541882544516e-05, 5.321318810394401e-06,
                          -3.218507833909702e-07, 1.6390875017619395e-08, -7.130468040126112e-10,
                          2.6926937109987802e-11, -8.838468394309022e-13};
constexpr double kY1[] = {0.07075985882118005,     -0.24337743079193114,    0.023367571720993584,
                          0.23507209206669755,     -0.19639839859930425,    0.07854786922242532,
                          -0.019628756833099427,   0.0034224907399188495,   -0.00044381734351148726,
                          4.4674330126463756e-05,  -3.6009998743823114e-06, 2.3804930420500538e-07,
                          -1.3153322522176987e-08, 6.169688029976363e-10,   -2.4887527719058385e-11,
                          8.760000901470383e-13,   -2.6946935633741497e-14};
/// P and x·Q of H_n(x) = √(2/(πx))·(P + iQ)·e^(i(x - nπ/2 - π/4)), by (8/x)².
constexpr double kP0[] = {1.0,
                          -0.0010986328124996737,
                          2.738088367210925e-05,
                          -2.183919034228364e-06,
                          3.620330952117351e-07,
                          -1.0239239991285831e-07,
                          4.381269851659981e-08,
                          -2.5395434404589036e-08,
                          1.7236203631436015e-08,
                          -1.1558696461553848e-08,
                          6.567427583722439e-09,
                          -2.76653496584312e-09,
                          7.40786355874299e-10,
                          -9.295402447025163e-11};
constexpr double kQ0[] = {-0.125,
                          0.001144409179687305,
                          -5.544628946288653e-05,
                          6.590756795952852e-06,
                          -1.4531820095514896e-06,
                          5.133482632689874e-07,
                          -2.6473676855524164e-07,
                          1.8413969513443346e-07,
                          -1.5615468790191792e-07,
                          1.4160563832587765e-07,
                          -1.2048980717692888e-07,
                          8.65211964324453e-08,
                          -4.810519829143669e-08,
                          1.8963590466714375e-08,
                          -4.659581676362058e-09,
                          5.328820031131975e-10};
constexpr double kP1[] = {1.0,
                          0.0018310546874999183,
                          -3.520399331425915e-05,
                          2.5809957084251754e-06,
                          -4.1031021445045996e-07,
                          1.13216540368538e-07,
                          -4.7852205020518215e-08,
                          2.8061164232288557e-08,
                          -2.0225115693826013e-08,
                          1.539333595044538e-08,
                          -1.0680888038192473e-08,
                          5.987425166109584e-09,
                          -2.43072716498713e-09,
                          6.210641356887602e-10,
                          -7.413353768445221e-11};
constexpr double kQ1[] = {0.375,
                          -0.0016021728515622957,
                          6.776768712423157e-05,
                          -7.604719441483395e-06,
                          1.6241453478187875e-06,
                          -5.62244383389116e-07,
                          2.859462140195578e-07,
                          -1.9695161178799472e-07,
                          1.6591783310913582e-07,
                          -1.4983857986393377e-07,
                          1.2718220893336876e-07,
                          -9.119335545265014e-08,
                          5.0657131211755266e-08,
                          -1.9957918134949365e-08,
                          4.901952246425112e-09,
                          -5.604422138347481e-10};
/// √x·e^(-x)·I_n(x) for x >= 8, by 16/x - 1.
constexpr double kI0[] = {
    0.4021765094450081,      0.0033605519836678952,  0.00013621607439232331, 1.1143033787275584e-05,
    1.4838475438243874e-06,  2.973599767644935e-07,  8.872268159449189e-08,  3.932406801895563e-08,
    2.154284266201996e-08,   7.5697853481114e-09,    -6.710009122908793e-09, -1.3489076269553394e-08,
    -5.5690915951813135e-09, 7.834486613945546e-09,  7.910874951287916e-09,  -4.184530373123889e-09,
    -6.914553302849191e-09,  2.6548028617885265e-09, 4.957155513652175e-09,  -1.888112639728407e-09,
    -2.841148916595847e-09,  1.1916899505320296e-09, 1.1879289491646377e-09, -5.517834696597898e-10,
    -3.146958336077688e-10,  1.5884549416031153e-10, 3.9084155535250154e-11, -2.1026870236264374e-11};
constexpr double kI1[] = {
    0.38939845902587233,     -0.009749577193235768,   -0.00021923576383429784, -1.503854719709424e-05,
    -1.8349101098111922e-06, -3.4838568822467537e-07, -1.0001338661448636e-07, -4.3127486976345195e-08,
    -2.3368170447125203e-08, -8.442156703480218e-09,  6.6953024128998785e-09,  1.411078097379515e-08,
    6.145365782569837e-09,   -7.912029945378005e-09,  -8.388086828787364e-09,  4.076470859760784e-09,
    7.242390816765442e-09,   -2.5283133691517617e-09, -5.1669615209216875e-09, 1.796629485289017e-09,
    2.9562604012914858e-09,  -1.1425609687093282e-09, -1.2354990435335952e-09, 5.328821198041716e-10,
    3.2730688337238665e-10,  -1.5422858577758392e-10, -4.0658024476133175e-11, 2.0493557898071096e-11};

/// (P·a - Q·b)/√(πx), x >= 8.
Expr hankel(Expr x, std::span<const double> p, std::span<const double> q, Expr a, Expr b) {
  const Expr v = 8 / x, u = v * v;
  return 0.5641895835477563 * (polynomial(u, p) * a - polynomial(u, q) / x * b) / sqrt(x);
}
Expr squared(Expr x) { return x * x * (1.0 / 32) - 1; }
Expr j0_near(Expr x) { return 1 + x * x * polynomial(squared(x), kJ0); }
Expr j1_near(Expr x) { return x * polynomial(squared(x), kJ1); }
Expr j0_value(Expr x) {
  const Expr y = abs(x), s = sin(y), c = cos(y);
  return where(y < 8, j0_near(x), where(isinf(y), 0, hankel(y, kP0, kQ0, c + s, s - c)));
}
Expr j1_value(Expr x) {
  const Expr y = abs(x), s = sin(y), c = cos(y), far = hankel(y, kP1, kQ1, s - c, -(s + c));
  return where(y < 8, j1_near(x), where(isinf(y), 0, where(x < 0, -far, far)));
}
Expr y0_value(Expr x) {
  const Expr s = sin(x), c = cos(x);
  const Expr near = 2 / kPi * log(x) * j0_near(x) + polynomial(squared(x), kY0);
  return where(x < 8, near, where(x == kInfinity, 0, hankel(x, kP0, kQ0, s - c, -(s + c))));
}
Expr y1_value(Expr x) {
  const Expr s = sin(x), c = cos(x);
  const Expr near = 2 / kPi * (log(x) * j1_near(x) - 1 / x) + x * polynomial(squared(x), kY1);
  const Expr far = hankel(x, kP1, kQ1, -(s + c), c - s);
  return where(x == 0, -kInfinity, where(x < 8, near, where(x == kInfinity, 0, far)));
}
constexpr Pointwise j1_formula{"j1", [](Expr x) { return j1_value(x); }};
constexpr Pointwise y1_formula{"y1", [](Expr x) { return y1_value(x); }};
constexpr Pointwise j0_formula{"j0", [](Expr x) { return j0_value(x); }, [](Expr x) { return -j1_formula(x); }};
constexpr Pointwise y0_formula{"y0", [](Expr x) { return y0_value(x); }, [](Expr x) { return -y1_formula(x); }};

/// I0, and I1 by x: Taylor's series to (x²/4)^26, below 8.
Expr modified_near(Expr x, int order) {
  std::vector<double> series{1};
  for (int k = 1; k <= 26; ++k) series.push_back(series.back() / (k * (k + order)));
  const Expr sum = polynomial(0.25 * x * x, series);
  return order ? 0.5 * x * sum : sum;
}
/// Its exponentially scaled value from 8 on, without its sign.
Expr modified_far(Expr y, int order) {
  return polynomial(16 / y - 1, order ? std::span<const double>(kI1) : std::span<const double>(kI0)) / sqrt(y);
}
/// I0e's slope from 8 on, -I0e(y)/(2y) less what the polynomial gives: I1e - I0e would lose 2y times its rounding.
Expr i0e_slope_far(Expr y) {
  std::vector<double> slope;
  for (std::size_t k = 1; k < std::size(kI0); ++k) slope.push_back(static_cast<double>(k) * kI0[k]);
  return -(0.5 * modified_far(y, 0) + 16 / y * polynomial(16 / y - 1, slope) / sqrt(y)) / y;
}
Expr signed_as(Expr value, Expr x, int order) { return order ? where(x < 0, -value, value) : value; }
// By e^(x/2) twice: e^x overflows where the result does not.
Expr modified(Expr x, int order) {
  const Expr y = abs(x), half = exp(0.5 * y), far = half * (half * modified_far(y, order));
  return where(y < 8, modified_near(x, order), signed_as(where(isinf(y), y, far), x, order));
}
Expr modified_scaled(Expr x, int order) {
  const Expr y = abs(x);
  return where(y < 8, exp(-y) * modified_near(x, order), signed_as(modified_far(y, order), x, order));
}
constexpr Pointwise i1_formula{"i1", [](Expr x) { return modified(x, 1); }};
constexpr Pointwise i1e_formula{"i1e", [](Expr x) { return modified_scaled(x, 1); }};
constexpr Pointwise i0_formula{"i0", [](Expr x) { return modified(x, 0); }, [](Expr x) { return i1_formula(x); }};
constexpr Pointwise i0e_formula{"i0e", [](Expr x) { return modified_scaled(x, 0); },
                                [](Expr x) {
                                  const Expr y = abs(x), far = i0e_slope_far(y);
                                  const Expr near = modified_scaled(x, 1) - sign(x) * modified_scaled(x, 0);
                                  return where(y < 8, near, where(x < 0, -far, far));
                                }};

template <TensorOrVar T> void require(const char* op, const T& x) {
  require_defined(op, "x", value_of(x));
  if (!is_floating(x.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": x must be of floats, it is " + describe(value_of(x)));
}

}  // namespace

#define TERN_SPECIAL(name)                        \
  template <TensorOrVar T> T name(const T& x) {   \
    require(#name, x);                            \
    return name##_formula(x);                     \
  }                                               \
  Expr name(Expr x) { return name##_formula(x); } \
  TERN_INSTANCES_1(std::type_identity_t, name)
TERN_SPECIAL(lgamma)
TERN_SPECIAL(digamma)
TERN_SPECIAL(j0)
TERN_SPECIAL(j1)
TERN_SPECIAL(y0)
TERN_SPECIAL(y1)
TERN_SPECIAL(i0)
TERN_SPECIAL(i1)
TERN_SPECIAL(i0e)
TERN_SPECIAL(i1e)
#undef TERN_SPECIAL

template <TensorOrVar T> T polygamma(int n, const T& x) {
  require("polygamma", x);
  if (n < 0 || n > kPolygammaOrders)
    throw Error(ErrorKind::value,
                "polygamma: n must be 0 to " + std::to_string(kPolygammaOrders) + ", it is " + std::to_string(n));
  return polygamma_by_order(n, std::make_integer_sequence<int, kPolygammaOrders>{})(x);
}
template Tensor polygamma(int, const Tensor&);
template Var polygamma(int, const Var&);

}  // namespace tern
