// Distributions made of uniform and normal numbers: by inverse transforms, and gamma's by rejection with a fixed number
// of proposals, so that how far a generator advances follows from shapes alone.
#include "ops/random/distributions.hpp"

#include <cmath>
#include <numbers>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"
#include "ops/special/special.hpp"

namespace tern {

using namespace detail;
using namespace detail_draws;

namespace {

constexpr int kGammaProposals = 12;

// ---- by inverse transforms ----

constexpr Pointwise bernoulli_formula{
    "bernoulli", [](Expr u, Expr p) { return where((p >= 0) & (p <= 1), where(abs(u) <= p, 1, 0), kNone); }};
constexpr Pointwise exponential_formula{"exponential",
                                        [](Expr u, Expr rate) { return where(rate > 0, -log(abs(u)) / rate, kNone); }};
constexpr Pointwise laplace_formula{"laplace", [](Expr u, Expr location, Expr scale) {
                                      const Expr e = log(abs(u));
                                      return where(scale > 0, location + scale * where(u < 0, e, -e), kNone);
                                    }};
/// Of -log(1 - m), which is small where m is, and m is fine there: that is the longer tail.
constexpr Pointwise gumbel_formula{"gumbel", [](Expr u, Expr location, Expr scale, Expr most) {
                                     return where(scale > 0,
                                                  location - scale * log(-log1p(-minimum(abs(u), most))), kNone);
                                   }};
constexpr Pointwise cauchy_formula{"cauchy", [](Expr u, Expr location, Expr scale) {
                                     return where(scale > 0,
                                                  location + scale * copysign(1 / tan(0.5 * kPi * abs(u)), u), kNone);
                                   }};
constexpr Pointwise lognormal_formula{"lognormal", [](Expr n, Expr mean, Expr deviation) {
                                        return where(deviation >= 0, exp(mean + deviation * n), kNone);
                                      }};
constexpr Pointwise truncated_formula{
    "truncated_normal", [](Expr u, Expr low, Expr high, Expr most) {
      const Expr a = erf(low * (1 / std::numbers::sqrt2)), b = erf(high * (1 / std::numbers::sqrt2));
      const Expr x = std::numbers::sqrt2 * erfinv(clamp(a + abs(u) * (b - a), -most, most));
      return where(low < high, clamp(x, low, high), kNone);
    }};

/// The largest number below 1.
double below_one(const Options& options) { return work_dtype(options) == DType::f64 ? 1 - 0x1p-53 : 1 - 0x1p-24; }

}  // namespace

namespace detail {

Tensor draw_bernoulli(const Argument& p, const Shape& shape, Source from, const Options& options) {
  check("bernoulli", shape, options, {{"p", p, Domain::probability}});
  return transformed<Tensor>(bernoulli_formula, signed_numbers("bernoulli", shape, from.generator, options), options,
                             {p});
}
template <TensorOrVar R>
R draw_exponential(const Argument& rate, const Shape& shape, Source from, const Options& options) {
  check("exponential", shape, options, {{"rate", rate, Domain::positive}});
  return transformed<R>(exponential_formula, signed_numbers("exponential", shape, from.generator, options), options,
                        {rate});
}
#define TERN_LOCATION_SCALE(name, ...)                                                                       \
  template <TensorOrVar R>                                                                                   \
  R draw_##name(const Argument& location, const Argument& scale, const Shape& shape, Source from,            \
                const Options& options) {                                                                    \
    check(#name, shape, options, {{"location", location, Domain::any}, {"scale", scale, Domain::positive}}); \
    return transformed<R>(name##_formula, signed_numbers(#name, shape, from.generator, options), options,    \
                          {location, scale __VA_OPT__(, ) __VA_ARGS__});                                     \
  }
TERN_LOCATION_SCALE(laplace)
TERN_LOCATION_SCALE(gumbel, below_one(options))
TERN_LOCATION_SCALE(cauchy)
#undef TERN_LOCATION_SCALE
template <TensorOrVar R>
R draw_lognormal(const Argument& mean, const Argument& deviation, const Shape& shape, Source from,
                 const Options& options) {
  check("lognormal", shape, options, {{"mean", mean, Domain::any}, {"deviation", deviation, Domain::not_negative}});
  return transformed<R>(lognormal_formula, normal_numbers(shape, from.generator, options), options, {mean, deviation});
}
template <TensorOrVar R>
R draw_truncated_normal(const Argument& low, const Argument& high, const Shape& shape, Source from,
                        const Options& options) {
  check("truncated_normal", shape, options, {{"low", low, Domain::any}, {"high", high, Domain::any}});
  if (is_number(low) && is_number(high) && real(low) >= real(high))
    throw Error(ErrorKind::value, "truncated_normal: low must be below high, they are " + std::to_string(real(low)) +
                                      " and " + std::to_string(real(high)));
  return transformed<R>(truncated_formula, signed_numbers("truncated_normal", shape, from.generator, options), options,
                        {low, high, below_one(options)});
}

}  // namespace detail

// ---- gamma and what is made of it ----

namespace {

/// What a proposal gives: the logarithm of d·v where Marsaglia and Tsang accept it, or where it is the last, in which
/// case v is not below its least; else what there was. Taken ones are numbers, the others NaN.
constexpr Pointwise propose_gamma{
    "gamma", [](Expr taken, Expr n, Expr u, Expr concentration, Expr last) {
      const Expr a = where(concentration < 1, concentration + 1, concentration), d = a - 1.0 / 3;
      const Expr t = n / (3 * sqrt(d)), root = 1 + t, v = root * root * root;
      // n²/2 + d - d·v + d·log v, of which all but the fourth power of t and higher ones cancel: near 1 those alone,
      // for with d = 10^8 what cancels is beyond f32's digits.
      const Expr powers = t * (1.0 / 5 - t * (1.0 / 6 - t * (1.0 / 7 - t * (1.0 / 8 - t * (1.0 / 9 - t / 10)))));
      const Expr rest = where(abs(t) < 0.125, -(n * n) * (t * t) * (0.25 - powers) / 3,
                              0.5 * n * n + d - d * v + d * log(v));
      const Expr accepted = (root > 0) & (log(abs(u)) < rest);
      return where(isnan(taken), where(accepted | (last > 0), log(d * maximum(v, 1e-30)), kNone), taken);
    }};
/// Γ(a) = Γ(a + 1)·u^(1/a) below 1, in logarithms.
constexpr Pointwise finish_gamma{"gamma", [](Expr taken, Expr u, Expr a) {
                                   return where(a > 0, taken + where(a < 1, log(abs(u)) / where(a < 1, a, 1), 0),
                                                kNone);
                                 }};
/// The logarithm of a number of this concentration and rate 1, in the dtype that is computed in.
Tensor log_gamma_values(const char* op, const Argument& concentration, const Shape& shape, Generator& generator,
                        const Options& options) {
  const Converted<Tensor> a(concentration, work_dtype(options));
  Tensor taken = full(shape, kNone, {.dtype = work_dtype(options), .device = options.device});
  for (int i = 0; i < kGammaProposals; ++i) {
    const Tensor n = normal_numbers(shape, generator, options), u = signed_numbers(op, shape, generator, options);
    taken = applied<Tensor>(propose_gamma, std::vector<Argument>{taken, n, u, a.argument(), i + 1 == kGammaProposals});
  }
  const Tensor u = signed_numbers(op, shape, generator, options);
  return applied<Tensor>(finish_gamma, std::vector<Argument>{taken, u, a.argument()});
}
/// The same with its gradient in a concentration that is a Var.
template <TensorOrVar R>
R log_gamma_numbers(const char* op, const Argument& concentration, const Shape& shape, Generator& generator,
                    const Options& options) {
  const Tensor values = log_gamma_values(op, concentration, shape, generator, options);
  if (!concentration.var) return operand_as<R>(values);
  const Converted<R> a(concentration, work_dtype(options));
  return applied<R>(op, implicit_log_gamma(), std::vector<Argument>{values, a.argument()});
}
constexpr Pointwise scaled_gamma{
    "gamma", [](Expr log_gamma, Expr rate) { return where(rate > 0, exp(log_gamma) / rate, kNone); }};
constexpr Pointwise student_formula{
    "student_t", [](Expr n, Expr log_gamma, Expr freedom) { return n * exp(0.5 * (log(0.5 * freedom) - log_gamma)); }};

}  // namespace

namespace detail {

template <TensorOrVar R>
R draw_gamma(const Argument& concentration, const Argument& rate, const Shape& shape, Source from,
             const Options& options) {
  check("gamma", shape, options,
        {{"concentration", concentration, Domain::positive}, {"rate", rate, Domain::positive}});
  return transformed<R>(scaled_gamma, log_gamma_numbers<R>("gamma", concentration, shape, from.generator, options),
                        options, {rate});
}
template <TensorOrVar R>
R draw_beta(const Argument& a, const Argument& b, const Shape& shape, Source from, const Options& options) {
  check("beta", shape, options, {{"a", a, Domain::positive}, {"b", b, Domain::positive}});
  const R x = log_gamma_numbers<R>("beta", a, shape, from.generator, options);
  return sigmoid(x - log_gamma_numbers<R>("beta", b, shape, from.generator, options)).to(options.dtype);
}
template <TensorOrVar R>
R draw_student_t(const Argument& freedom, const Shape& shape, Source from, const Options& options) {
  check("student_t", shape, options, {{"freedom", freedom, Domain::positive}});
  const Converted<R> f(freedom, work_dtype(options));
  const Tensor n = normal_numbers(shape, from.generator, options);
  std::optional<R> halved;
  Argument half(0.0);
  if (is_number(freedom)) {
    half = Argument(0.5 * real(freedom));
  } else {
    if constexpr (std::same_as<R, Var>)
      halved = 0.5 * (f.argument().var ? *f.argument().var : as_var(*f.argument().tensor));
    else halved = 0.5 * *f.argument().tensor;
    half = Argument(*halved);
  }
  const R g = log_gamma_numbers<R>("student_t", half, shape, from.generator, options);
  return applied<R>(student_formula, std::vector<Argument>{n, Argument(g), f.argument()}).to(options.dtype);
}
template <TensorOrVar R>
R draw_dirichlet(const Argument& concentration, const Shape& shape, Source from, const Options& options) {
  if (shape.empty()) throw Error(ErrorKind::shape, "dirichlet: shape must have an axis to sum along, it is []");
  check("dirichlet", shape, options, {{"concentration", concentration, Domain::positive}});
  return softmax(log_gamma_numbers<R>("dirichlet", concentration, shape, from.generator, options)).to(options.dtype);
}

#define TERN_DRAWS_2(name)                                                                              \
  template Tensor name<Tensor>(const Argument&, const Argument&, const Shape&, Source, const Options&); \
  template Var name<Var>(const Argument&, const Argument&, const Shape&, Source, const Options&);
#define TERN_DRAWS_1(name)                                                             \
  template Tensor name<Tensor>(const Argument&, const Shape&, Source, const Options&); \
  template Var name<Var>(const Argument&, const Shape&, Source, const Options&);
TERN_DRAWS_1(draw_exponential)
TERN_DRAWS_1(draw_student_t)
TERN_DRAWS_1(draw_dirichlet)
#undef TERN_DRAWS_1
TERN_DRAWS_2(draw_laplace)
TERN_DRAWS_2(draw_gumbel)
TERN_DRAWS_2(draw_cauchy)
TERN_DRAWS_2(draw_lognormal)
TERN_DRAWS_2(draw_truncated_normal)
TERN_DRAWS_2(draw_gamma)
TERN_DRAWS_2(draw_beta)
#undef TERN_DRAWS_2

}  // namespace detail

}  // namespace tern
