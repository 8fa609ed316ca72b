// Distributions of counts: by inversion where they are small, else by Hörmann's rejection with a fixed number of
// proposals.
#include <algorithm>
#include <cmath>

#include "formula/extremes.hpp"
#include "ops/random/distributions.hpp"
#include "ops/special/special.hpp"
#include "tern/special.hpp"

namespace tern {

using namespace detail;
using namespace detail_draws;

namespace {

constexpr int kCountProposals = 24, kInversionSteps = 64;

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
/// is not above `least`, below the resolution of u, is cut off on the right.
template <class Next> Expr invert(Expr u, Expr first, Expr least, Next next) {
  Expr p = first, sum = first, count = 0;
  for (int k = 1; k <= kInversionSteps; ++k) {
    const Expr beyond = (u > sum) & ((p > least) | (sum < 0.5));
    p = p * next(k), count = count + where(beyond, 1, 0), sum = sum + p;
  }
  return count;
}
/// A 64th of the distance of numbers just below 1 from each other; of f32 a little less.
double least_probability(const Options& options) { return work_dtype(options) == DType::f64 ? 0x1p-59 : 1e-9; }
constexpr Pointwise invert_poisson{"poisson", [](Expr u, Expr rate, Expr least) {
                                     const Expr low = where(rate < 10, rate, 1);
                                     const Expr count =
                                         invert(abs(u), exp(-low), least, [&](int k) { return low * (1.0 / k); });
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
    "binomial", [](Expr u, Expr n, Expr p, Expr least) {
      const Expr q = minimum(p, 1 - p), small = (n * q < 10) & (q > 0), m = where(small, n, 1),
                 s = where(small, q, 0.5);
      const Expr count =
          invert(abs(u), exp(m * log1p(-s)), least, [&](int k) { return (m - (k - 1)) * s / (1 - s) * (1.0 / k); });
      const Expr inside = (n >= 0) & (floor(n) == n) & (p >= 0) & (p <= 1);
      return where(inside, where(q == 0, 0, where(small, minimum(count, n), kNone)), kNone);
    }};
constexpr Pointwise propose_binomial{
    "binomial", [](Expr taken, Expr s, Expr t, Expr given_n, Expr given_p, Expr last) {
      const Expr given_q = minimum(given_p, 1 - given_p);
      const Expr high = (given_n * given_q >= 10) & (floor(given_n) == given_n);
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
                            std::vector<Argument>{signed_numbers(op, shape, from.generator, options), r.argument(),
                                                  least_probability(options)})
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
  check(op, shape, options, {{"count", count, Domain::count}, {"p", p, Domain::probability}});
  const Converted<Tensor> n(count, work_dtype(options)), q(p, work_dtype(options));
  Tensor taken = applied<Tensor>(
      invert_binomial,
      std::vector<Argument>{signed_numbers(op, shape, from.generator, options), n.argument(), q.argument(),
                            least_probability(options)});
  const bool small = is_number(count) && is_number(p) && real(count) * std::min(real(p), 1 - real(p)) < 10;
  for (int i = 0; !small && i < kCountProposals; ++i) {
    const Tensor s = signed_numbers(op, shape, from.generator, options);
    const Tensor t = signed_numbers(op, shape, from.generator, options);
    taken = applied<Tensor>(propose_binomial,
                            std::vector<Argument>{taken, s, t, n.argument(), q.argument(), i + 1 == kCountProposals});
  }
  return applied<Tensor>(mirror_binomial, std::vector<Argument>{taken, n.argument(), q.argument()}).to(options.dtype);
}

}  // namespace detail

}  // namespace tern
