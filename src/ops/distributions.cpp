// Distributions made of uniform and normal numbers: by inverse transforms, and by rejection with a fixed number of
// proposals, so that how far a generator advances follows from shapes alone.
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <string>

#include "ops/fused.hpp"
#include "ops/instances.hpp"
#include "ops/random.hpp"
#include "ops/special.hpp"
#include "tern/indexing.hpp"
#include "tern/ops.hpp"
#include "tern/random.hpp"
#include "tern/special.hpp"
#include "tern/views.hpp"

namespace tern {

using namespace detail;

namespace {

constexpr double kPi = std::numbers::pi, kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kGammaProposals = 12, kCountProposals = 24, kInversionSteps = 64;

// ---- parameters ----

enum class Domain { any, positive, not_negative, probability };
bool holds(Domain domain, double v) {
  switch (domain) {
    case Domain::any: return v == v;
    case Domain::positive: return v > 0;
    case Domain::not_negative: return v >= 0;
    case Domain::probability: return v >= 0 && v <= 1;
  }
  return false;
}
const char* words(Domain domain) {
  constexpr const char* list[] = {"a number", "above 0", "at least 0", "from 0 to 1"};
  return list[static_cast<int>(domain)];
}
struct Given {
  const char* name;
  const Argument& value;
  Domain domain;
};
bool is_number(const Argument& a) { return !a.tensor && !a.var; }
double real(const Argument& a) { return a.number.is_integer ? static_cast<double>(a.number.integer) : a.number.real; }

/// The dtype that is computed in.
DType work_dtype(const Options& options) { return options.dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Throws what is wrong with a call, before anything is drawn. `within`: what tensors broadcast to, where not to shape.
void check(const char* op, const Shape& shape, const Options& options, std::initializer_list<Given> parameters) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  for (const Given& p : parameters) {
    if (is_number(p.value)) {
      if (!holds(p.domain, real(p.value)))
        throw Error(ErrorKind::value, std::string(op) + ": " + p.name + " must be " + words(p.domain) + ", it is " +
                                          std::to_string(real(p.value)));
      continue;
    }
    const Tensor& x = value_of(p.value);
    require_defined(op, p.name, x);
    if (!is_floating(x.dtype()))
      throw Error(ErrorKind::dtype, std::string(op) + ": " + p.name + " must be of floats, it is " + describe(x));
    if (broadcast_shapes(op, x.shape(), shape) != shape)
      throw Error(ErrorKind::shape, std::string(op) + ": " + p.name + ", " + describe(x) +
                                        ", does not broadcast to the shape " + to_string(shape));
    if (x.device() != options.device)
      throw Error(ErrorKind::device, std::string(op) + ": " + p.name + " is on " + x.device().to_string() +
                                         ", the numbers are asked for on " + options.device.to_string());
  }
}
/// Throws unsupported where a gradient is asked for in a parameter that has none.
void check_no_gradient(const char* op, const Given& p) {
  if (p.value.var && p.value.var->requires_grad())
    throw Error(ErrorKind::unsupported,
                std::string(op) + ": there is no gradient in " + p.name + "; pass a Tensor or " + p.name + ".detach()");
}

/// A parameter in the dtype that is computed in.
template <TensorOrVar R> class Converted {
 public:
  Converted(const Argument& a, DType dtype) : given_(a) {
    if (a.var) {
      if constexpr (std::same_as<R, Var>) converted_ = a.var->to(dtype);
      else converted_ = a.var->value().to(dtype);
    } else if (a.tensor) {
      if constexpr (std::same_as<R, Var>) converted_ = constant(a.tensor->to(dtype));
      else converted_ = a.tensor->to(dtype);
    }
  }
  Argument argument() const { return converted_ ? Argument(*converted_) : given_; }

 private:
  Argument given_;
  std::optional<R> converted_;
};
template <TensorOrVar R> R applied(const Pointwise<>& f, std::span<const Argument> arguments) {
  R result;
  if constexpr (std::same_as<R, Var>) apply_vars(f.name(), f.graph(), {}, arguments, {&result, 1});
  else apply_tensors(f.name(), f.graph(), {}, arguments, {&result, 1});
  return result;
}
/// f(base, parameters…) in the dtype that is asked for.
template <TensorOrVar R>
R transformed(const Pointwise<>& f, const Tensor& base, const Options& options,
              std::initializer_list<Argument> parameters) {
  std::vector<Converted<R>> converted;
  for (const Argument& p : parameters) converted.emplace_back(p, base.dtype());
  std::vector<Argument> arguments{Argument(base)};
  for (const Converted<R>& c : converted) arguments.push_back(c.argument());
  return applied<R>(f, arguments).to(options.dtype);
}
Tensor signed_numbers(const char* op, const Shape& shape, Generator& generator, const Options& options) {
  return draw_signed(op, shape, generator, work_dtype(options), options.device);
}
Tensor normal_numbers(const Shape& shape, Generator& generator, const Options& options) {
  return randn(shape, generator, {.dtype = work_dtype(options), .device = options.device});
}

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
constexpr Pointwise gumbel_formula{"gumbel", [](Expr u, Expr location, Expr scale) {
                                     return where(scale > 0,
                                                  location - scale * log(-log1p(-minimum(abs(u), 0.99999994))), kNone);
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
#define TERN_LOCATION_SCALE(name)                                                                            \
  template <TensorOrVar R>                                                                                   \
  R draw_##name(const Argument& location, const Argument& scale, const Shape& shape, Source from,            \
                const Options& options) {                                                                    \
    check(#name, shape, options, {{"location", location, Domain::any}, {"scale", scale, Domain::positive}}); \
    return transformed<R>(name##_formula, signed_numbers(#name, shape, from.generator, options), options,    \
                          {location, scale});                                                                \
  }
TERN_LOCATION_SCALE(laplace)
TERN_LOCATION_SCALE(gumbel)
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
  const double most = work_dtype(options) == DType::f64 ? 1 - 0x1p-53 : 1 - 0x1p-24;
  return transformed<R>(truncated_formula, signed_numbers("truncated_normal", shape, from.generator, options), options,
                        {low, high, most});
}

}  // namespace detail

// ---- gamma and what is made of it ----

namespace {

/// What a proposal gives: the logarithm of d·v where Marsaglia and Tsang accept it, or where it is the last, in which
/// case v is not below its least; else what there was. Taken ones are numbers, the others NaN.
constexpr Pointwise propose_gamma{
    "gamma", [](Expr taken, Expr n, Expr u, Expr concentration, Expr last) {
      const Expr a = where(concentration < 1, concentration + 1, concentration), d = a - 1.0 / 3;
      const Expr root = 1 + n / (3 * sqrt(d)), v = root * root * root;
      const Expr accepted = (root > 0) & (log(abs(u)) < 0.5 * n * n + d - d * v + d * log(v));
      return where(isnan(taken), where(accepted | (last > 0), log(d * maximum(v, 1e-30)), kNone), taken);
    }};
/// Γ(a) = Γ(a + 1)·u^(1/a) below 1, in logarithms.
constexpr Pointwise finish_gamma{"gamma", [](Expr taken, Expr u, Expr a) {
                                   return where(a > 0, taken + where(a < 1, log(abs(u)) / where(a < 1, a, 1), 0),
                                                kNone);
                                 }};
/// The logarithm of a number of this concentration and rate 1, in the dtype that is computed in.
Tensor log_gamma_numbers(const char* op, const Argument& concentration, const Shape& shape, Generator& generator,
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
constexpr Pointwise scaled_gamma{
    "gamma", [](Expr log_gamma, Expr rate) { return where(rate > 0, exp(log_gamma) / rate, kNone); }};
constexpr Pointwise student_formula{
    "student_t", [](Expr n, Expr log_gamma, Expr freedom) { return n * exp(0.5 * (log(0.5 * freedom) - log_gamma)); }};

}  // namespace

namespace detail {

template <TensorOrVar R>
R draw_gamma(const Argument& concentration, const Argument& rate, const Shape& shape, Source from,
             const Options& options) {
  const Given a{"concentration", concentration, Domain::positive};
  check("gamma", shape, options, {a, {"rate", rate, Domain::positive}});
  check_no_gradient("gamma", a);
  return transformed<R>(scaled_gamma, log_gamma_numbers("gamma", concentration, shape, from.generator, options),
                        options, {rate});
}
Tensor draw_beta(const Argument& a, const Argument& b, const Shape& shape, Source from, const Options& options) {
  check("beta", shape, options, {{"a", a, Domain::positive}, {"b", b, Domain::positive}});
  const Tensor x = log_gamma_numbers("beta", a, shape, from.generator, options);
  return sigmoid(x - log_gamma_numbers("beta", b, shape, from.generator, options)).to(options.dtype);
}
Tensor draw_student_t(const Argument& freedom, const Shape& shape, Source from, const Options& options) {
  check("student_t", shape, options, {{"freedom", freedom, Domain::positive}});
  const Converted<Tensor> f(freedom, work_dtype(options));
  const Tensor n = normal_numbers(shape, from.generator, options);
  const Argument half = is_number(freedom) ? Argument(0.5 * real(freedom)) : Argument(0.0);
  const Tensor halved = is_number(freedom) ? Tensor() : value_of(f.argument()) * 0.5;
  const Tensor g =
      log_gamma_numbers("student_t", is_number(freedom) ? half : Argument(halved), shape, from.generator, options);
  return applied<Tensor>(student_formula, std::vector<Argument>{n, g, f.argument()}).to(options.dtype);
}
Tensor draw_dirichlet(const Argument& concentration, const Shape& shape, Source from, const Options& options) {
  if (shape.empty()) throw Error(ErrorKind::shape, "dirichlet: shape must have an axis to sum along, it is []");
  check("dirichlet", shape, options, {{"concentration", concentration, Domain::positive}});
  return softmax(log_gamma_numbers("dirichlet", concentration, shape, from.generator, options)).to(options.dtype);
}

}  // namespace detail

// ---- counts ----

namespace {

/// log of k!·e^k·k^-k·(2πk)^(-1/2).
Expr log_factorial_rest(Expr k) {
  return where(k < 5, lgamma(k + 1) - where(k > 0, (k + 0.5) * log(k) - k, 0) - where(k > 0, 0.9189385332046727, 0),
               stirling_rest(maximum(k, 5)));
}
/// k·log(k/mean) + mean - k, which is 0 at the mean (Loader, 2000).
Expr deviance(Expr k, Expr mean) {
  const Expr m = (mean - k) / where(k > 0, k, 1);
  return where(k > 0, k * where(abs(m) < 0.4, half_square(m), m - log(mean / k)), mean);
}
/// Half of log 2πk, of 0 nothing.
Expr half_log(Expr k) { return where(k > 0, 0.5 * log(2 * kPi * k), 0); }
Expr log_poisson(Expr k, Expr rate) { return -(deviance(k, rate) + log_factorial_rest(k) + half_log(k)); }
Expr log_binomial(Expr k, Expr n, Expr p) {
  const auto part = [](Expr c) { return log_factorial_rest(c) + half_log(c); };
  return part(n) - part(k) - part(n - k) - deviance(k, n * p) - deviance(n - k, n * (1 - p));
}

/// The first count whose distribution function is not below u. `next(k)`: the probability of k by that of k - 1. What
/// is below the resolution of u is cut off on the right.
template <class Next> Expr invert(Expr u, Expr first, Next next) {
  Expr p = first, sum = first, count = 0;
  for (int k = 1; k <= kInversionSteps; ++k) {
    const Expr beyond = (u > sum) & ((p > 1e-9) | (sum < 0.5));
    p = p * next(k), count = count + where(beyond, 1, 0), sum = sum + p;
  }
  return count;
}
constexpr Pointwise invert_poisson{"poisson", [](Expr u, Expr rate) {
                                     const Expr low = where(rate < 10, rate, 1);
                                     const Expr count =
                                         invert(abs(u), exp(-low), [&](int k) { return low * (1.0 / k); });
                                     return where(rate >= 0, where(rate < 10, count, kNone), kNone);
                                   }};
constexpr Pointwise propose_poisson{
    "poisson", [](Expr taken, Expr s, Expr t, Expr given, Expr last) {
      const Expr high = given >= 10, rate = where(high, given, 10), u = 0.5 * s, v = abs(t);
      const Expr b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, us = 0.5 - abs(u);
      const Expr k = floor((2 * a / us + b) * u + rate + 0.43), inverse = 1.1239 + 1.1328 / (b - 3.4);
      const Expr quick = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2)), within = (k >= 0) & isfinite(k);
      const Expr slow =
          ((us >= 0.013) | (v <= us)) & (log(v * inverse / (a / (us * us) + b)) <= log_poisson(maximum(k, 0), rate));
      const Expr number = where(within & (quick | slow), k, where(last > 0, floor(rate), kNone));
      return where(high & isnan(taken), number, taken);
    }};
constexpr Pointwise invert_binomial{
    "binomial", [](Expr u, Expr n, Expr p) {
      const Expr q = minimum(p, 1 - p), small = (n * q < 10) & (q > 0), m = where(small, n, 1),
                 s = where(small, q, 0.5);
      const Expr count =
          invert(abs(u), exp(m * log1p(-s)), [&](int k) { return (m - (k - 1)) * s / (1 - s) * (1.0 / k); });
      const Expr inside = (n >= 0) & (p >= 0) & (p <= 1);
      return where(inside, where(q == 0, 0, where(small, minimum(count, n), kNone)), kNone);
    }};
constexpr Pointwise propose_binomial{
    "binomial", [](Expr taken, Expr s, Expr t, Expr given_n, Expr given_p, Expr last) {
      const Expr given_q = minimum(given_p, 1 - given_p), high = given_n * given_q >= 10;
      const Expr n = where(high, given_n, 40), p = where(high, given_q, 0.5), root = sqrt(n * p * (1 - p));
      const Expr b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * p, u = 0.5 * s, v = abs(t);
      const Expr us = 0.5 - abs(u), k = floor((2 * a / us + b) * u + n * p + 0.5), mode = floor((n + 1) * p);
      const Expr within = (k >= 0) & (k <= n), quick = (us >= 0.07) & (v <= 0.92 - 4.2 / b);
      const Expr slow = log(v * ((2.83 + 5.1 / b) * root) / (a / (us * us) + b)) <=
                        log_binomial(clamp(k, 0, n), n, p) - log_binomial(mode, n, p);
      const Expr number = where(within & (quick | slow), k, where(last > 0, mode, kNone));
      return where(high & isnan(taken), number, taken);
    }};
constexpr Pointwise mirror_binomial{"binomial",
                                    [](Expr count, Expr n, Expr p) { return where(p > 0.5, n - count, count); }};

/// The least and the largest that a parameter may be, to leave out what a number has no use for.
bool may_be_below(const Argument& a, double bound) { return !is_number(a) || real(a) < bound; }
bool may_be_from(const Argument& a, double bound) { return !is_number(a) || real(a) >= bound; }

}  // namespace

namespace detail {

Tensor draw_poisson(const Argument& rate, const Shape& shape, Source from, const Options& options) {
  constexpr const char* op = "poisson";
  check(op, shape, options, {{"rate", rate, Domain::not_negative}});
  const Converted<Tensor> r(rate, work_dtype(options));
  Tensor taken =
      may_be_below(rate, 10)
          ? applied<Tensor>(invert_poisson,
                            std::vector<Argument>{signed_numbers(op, shape, from.generator, options), r.argument()})
          : full(shape, kNone, {.dtype = work_dtype(options), .device = options.device});
  for (int i = 0; may_be_from(rate, 10) && i < kCountProposals; ++i) {
    const Tensor s = signed_numbers(op, shape, from.generator, options);
    const Tensor t = signed_numbers(op, shape, from.generator, options);
    taken =
        applied<Tensor>(propose_poisson, std::vector<Argument>{taken, s, t, r.argument(), i + 1 == kCountProposals});
  }
  return taken.to(options.dtype);
}
Tensor draw_binomial(const Argument& count, const Argument& p, const Shape& shape, Source from,
                     const Options& options) {
  constexpr const char* op = "binomial";
  check(op, shape, options, {{"count", count, Domain::not_negative}, {"p", p, Domain::probability}});
  const Converted<Tensor> n(count, work_dtype(options)), q(p, work_dtype(options));
  Tensor taken = applied<Tensor>(
      invert_binomial,
      std::vector<Argument>{signed_numbers(op, shape, from.generator, options), n.argument(), q.argument()});
  const bool small = is_number(count) && is_number(p) && real(count) * std::min(real(p), 1 - real(p)) < 10;
  for (int i = 0; !small && i < kCountProposals; ++i) {
    const Tensor s = signed_numbers(op, shape, from.generator, options);
    const Tensor t = signed_numbers(op, shape, from.generator, options);
    taken = applied<Tensor>(propose_binomial,
                            std::vector<Argument>{taken, s, t, n.argument(), q.argument(), i + 1 == kCountProposals});
  }
  return applied<Tensor>(mirror_binomial, std::vector<Argument>{taken, n.argument(), q.argument()}).to(options.dtype);
}

#define TERN_DRAWS_2(name)                                                                              \
  template Tensor name<Tensor>(const Argument&, const Argument&, const Shape&, Source, const Options&); \
  template Var name<Var>(const Argument&, const Argument&, const Shape&, Source, const Options&);
template Tensor draw_exponential<Tensor>(const Argument&, const Shape&, Source, const Options&);
template Var draw_exponential<Var>(const Argument&, const Shape&, Source, const Options&);
TERN_DRAWS_2(draw_laplace)
TERN_DRAWS_2(draw_gumbel)
TERN_DRAWS_2(draw_cauchy)
TERN_DRAWS_2(draw_lognormal)
TERN_DRAWS_2(draw_truncated_normal)
TERN_DRAWS_2(draw_gamma)
#undef TERN_DRAWS_2

}  // namespace detail

}  // namespace tern
