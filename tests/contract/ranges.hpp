// Interval arithmetic over the values a correct implementation may return. A Range<T> holds numbers of the type T the
// kernel computes in; an elementary function maps the ranges of its arguments to the range of its results, widened by
// the elementary function's budget.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "contract/references.hpp"
#include "formula/rule.hpp"

namespace tern::contract {

template <class T> struct Range {
  T lo = std::numeric_limits<T>::infinity(), hi = -std::numeric_limits<T>::infinity();  // none when lo > hi
  bool nan = false;                                                                     // NaN is possible
  static Range of(T v) {
    return v != v ? Range{std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(), true}
                  : Range{v, v, false};
  }
  static Range anything() { return {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity(), true}; }
  bool empty() const { return lo > hi; }
  bool vacuous() const { return lo == -std::numeric_limits<T>::infinity() && hi == std::numeric_limits<T>::infinity(); }
  /// Exactly one value, NaN included; zeros of both signs are two values.
  bool single() const { return nan ? empty() : lo == hi && std::signbit(lo) == std::signbit(hi); }
  T value() const { return empty() ? std::numeric_limits<T>::quiet_NaN() : lo; }
};

/// a < b, with -0 before +0.
template <class T> bool before(T a, T b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

template <class T> void include(Range<T>& range, T v) {
  if (v != v) {
    range.nan = true;
  } else {
    if (range.empty() || before(v, range.lo)) range.lo = v;
    if (range.hi < range.lo || before(range.hi, v)) range.hi = v;
  }
}
template <class T> void include(Range<T>& range, const Range<T>& other) {
  range.nan |= other.nan;
  if (other.empty()) return;
  const T lo = other.lo, hi = other.hi;
  if (range.empty()) {
    range.lo = lo, range.hi = hi;
  } else {
    if (before(lo, range.lo)) range.lo = lo;
    if (before(range.hi, hi)) range.hi = hi;
  }
}

template <class T> struct Format {
  static constexpr int kDigits = std::numeric_limits<T>::digits;
  static constexpr int kLowest = std::numeric_limits<T>::min_exponent - 1,
                       kHighest = std::numeric_limits<T>::max_exponent - 1;
};

/// The neighbours of v: nextafter, inline.
template <class T> T next_up(T v) {
  using B = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (v != v || v == std::numeric_limits<T>::infinity()) return v;
  if (v == 0) return std::numeric_limits<T>::denorm_min();
  const B bits = std::bit_cast<B>(v);
  return std::bit_cast<T>(v > 0 ? bits + 1 : bits - 1);
}
template <class T> T next_down(T v) { return -next_up(-v); }

/// Distance of neighbouring numbers of type T at r.
template <class T, class Real> Real spacing_at(Real r) {
  const int e = r == 0 ? Format<T>::kLowest : std::clamp(exponent_of(r), Format<T>::kLowest, Format<T>::kHighest);
  return power_of_two(r, e - (Format<T>::kDigits - 1));
}
/// The smallest T not below v, and the largest not above; 2^kHighest+1 counts as inf.
template <class T, class Real> T up(Real v) {
  const T near = static_cast<T>(v);
  if (std::isinf(near) && near < 0)
    return v <= -power_of_two(v, Format<T>::kHighest + 1) ? near : std::numeric_limits<T>::lowest();
  return static_cast<Real>(near) < v ? next_up(near) : near;
}
template <class T, class Real> T down(Real v) { return -up<T>(-v); }

/// What may be returned for the true value r with an error of `budget` ulp. 0.5 means correctly rounded.
/// A Real with doubts gives a range within the one of the exact r, or an empty one.
template <class T, class Real> Range<T> around(Real r, double budget) {
  if (budget <= 0.5 || r == 0 || r - r != 0) return Range<T>::of(static_cast<T>(r));  // ±inf and NaN, too
  const Real doubt = (r < 0 ? -r : r) * static_cast<Real>(Doubt<Real>::value);
  const Real slack = spacing_at<T>(r < 0 ? r + doubt : r - doubt) * static_cast<Real>(budget) - doubt;
  Range<T> range{up<T>(r - slack), down<T>(r + slack), false};
  if (r > 0 && range.lo <= 0) range.lo = 0;
  if (r < 0 && range.hi >= 0) range.hi = -T(0);
  return range;
}

/// How to evaluate: `outward` also keeps the exact real values inside (for comparisons with mathematics instead of with
/// a kernel); `extra_ulps` is what a device may add to an elementary function's budget.
struct Policy {
  bool outward = false;
  double extra_ulps = 0;
  bool on_cuda = false, on_webgpu = false;
  bool in_halves = false;  // the kernel's results are stored in 16 bits
  bool flushes = false;    // subnormal operands and results may be zeros of their sign (WGSL 15.7.2)
};

/// Of the magnitudes of x with the signs of y.
template <class T> Range<T> with_sign(const Range<T>& x, const Range<T>& y) {
  const T low = std::fabs(x.lo), high = std::fabs(x.hi), most = std::max(low, high);
  const T least = std::signbit(x.lo) != std::signbit(x.hi) ? T(0) : std::min(low, high);
  Range<T> result;
  for (const T side : {y.lo, y.hi})
    include(result, std::signbit(side) ? Range<T>{-most, -least, false} : Range<T>{least, most, false});
  return result;
}

/// The comparisons: 0, 1 or either.
template <class T> Range<T> predicate(detail::Elementary elementary, const Range<T>& x, const Range<T>& y) {
  using L = detail::Elementary;
  bool yes = false, no = x.nan || y.nan;
  const bool differ = !(x.lo == x.hi && y.lo == y.hi);
  if (!x.empty() && !y.empty()) {
    const bool overlap = x.lo <= y.hi && y.lo <= x.hi;
    switch (elementary) {
      case L::less: yes = x.lo < y.hi, no |= x.hi >= y.lo; break;
      case L::less_equal: yes = x.lo <= y.hi, no |= x.hi > y.lo; break;
      case L::greater: yes = x.hi > y.lo, no |= x.lo <= y.hi; break;
      case L::greater_equal: yes = x.hi >= y.lo, no |= x.lo < y.hi; break;
      case L::equal: yes = overlap, no |= !overlap || differ; break;
      default: yes = true, no = true;
    }
  }
  if (elementary == L::not_equal) yes = true, no = true;  // no formula uses it on results
  return {no ? T(0) : T(1), yes ? T(1) : T(0), false};
}

/// Elementary functions on ranges. `unsure()` says that the quick reference was too close to a decision.
template <class T, class Real> class ElementaryFunctions {
 public:
  explicit ElementaryFunctions(Policy policy) : policy_(policy) {}
  bool unsure() const { return unsure_; }
  void reset() { unsure_ = false; }

  Range<T> operator()(detail::Elementary elementary, const Range<T>* x) {
    const detail::Rule& rule = detail::rule_of(elementary);
    return policy_.flushes ? flushing(elementary, rule, x) : result_of(elementary, rule, x);
  }
  Range<T> constant(const Number& number) const {
    Range<T> range = Range<T>::of(number.is_integer ? static_cast<T>(number.integer) : static_cast<T>(number.real));
    if (policy_.outward && !number.is_integer) widen(range);
    return range;
  }

 private:
  using L = detail::Elementary;

  static constexpr T kLeastNormal = std::numeric_limits<T>::min();
  /// What flushing may make of a result. (The least normal number may be a subnormal one, rounded after the flush.)
  static Range<T> flushed(Range<T> range) {
    if (range.lo > 0 && range.lo <= kLeastNormal) range.lo = 0;
    if (range.hi < 0 && range.hi >= -kLeastNormal) range.hi = -T(0);
    return range;
  }
  /// Of any choice of the subnormal arguments flushed. Those of one value stay one value: ranges would widen the rest.
  Range<T> flushing(L elementary, const detail::Rule& rule, const Range<T>* x) {
    Range<T> result;
    for (int chosen = 0; chosen < 1 << rule.arity; ++chosen) {
      Range<T> args[3];
      bool possible = true;
      for (int i = 0; i < rule.arity; ++i) {
        const bool one = x[i].single() && !x[i].nan;
        if ((chosen >> i & 1) == 0) {
          args[i] = one ? x[i] : flushed(x[i]);
        } else {
          possible &= one && x[i].lo != 0 && std::fabs(x[i].lo) < kLeastNormal;
          args[i] = Range<T>::of(std::copysign(T(0), x[i].lo));
        }
      }
      if (possible) include(result, result_of(elementary, rule, args));
    }
    return flushed(result);
  }

  Range<T> result_of(L elementary, const detail::Rule& rule, const Range<T>* x) {
    Range<T> result;
    if (rule.gives == detail::Gives::branch) {
      if (x[0].hi != 0) include(result, x[1]);
      if (x[0].lo == 0) include(result, x[2]);
      return result;
    }
    if (elementary == L::signbit && x[0].nan) return {T(0), T(1), false};  // that of NaN is either
    if (elementary == L::copysign && x[1].nan) {
      if (!x[0].empty()) result = with_sign(x[0], {T(-1), T(1), false});
      result.nan = x[0].nan;
      return result;
    }
    bool single = true;
    for (int i = 0; i < rule.arity; ++i) single &= x[i].single();
    if (single) {
      T v[3] = {};
      for (int i = 0; i < rule.arity; ++i) v[i] = x[i].value();
      result = exact(elementary, rule, v);
    } else {
      result = rule.arity == 1 ? unary(elementary, rule, x[0]) : binary(elementary, rule, x[0], x[1]);
    }
    if (elementary == detail::Elementary::sign && result.lo == 0 && result.hi == 0) result.lo = -T(0), result.hi = T(0);
    if (policy_.outward && budget(rule) > 0) widen(result);
    return result;
  }
  static void widen(Range<T>& range) {
    if (range.empty()) return;
    range.lo = next_down(range.lo), range.hi = next_up(range.hi);
  }
  double budget(const detail::Rule& rule) const {
    double ulps = sizeof(T) == 8 ? rule.ulp_f64 : rule.ulp_f32;
    if (policy_.on_cuda && sizeof(T) == 8) ulps = std::max(ulps, rule.ulp_f64_cuda);
    if (policy_.in_halves)
      ulps = std::max(ulps, policy_.on_cuda     ? rule.ulp_half_cuda
                            : policy_.on_webgpu ? rule.ulp_half_wgsl
                                                : rule.ulp_half_cpu);
    return ulps > 0 ? ulps + policy_.extra_ulps : 0;
  }

  /// One value for each argument.
  Range<T> exact(L elementary, const detail::Rule& rule, const T* v) {
    if constexpr (Doubt<Real>::value > 0) {  // IEEE operations of the processor are correctly rounded
      if (policy_.extra_ulps == 0) switch (elementary) {
          case L::add: return Range<T>::of(v[0] + v[1]);
          case L::sub: return Range<T>::of(v[0] - v[1]);
          case L::mul: return Range<T>::of(v[0] * v[1]);
          case L::div: return Range<T>::of(v[0] / v[1]);
          case L::sqrt: return Range<T>::of(std::sqrt(v[0]));
          default: break;
        }
    }
    Real r[3] = {};
    for (int i = 0; i < rule.arity; ++i) r[i] = static_cast<Real>(v[i]);
    return around_surely(reference(elementary, r), budget(rule) * cancellation(elementary, r));
  }
  /// How much more than its result's the magnitude is of what an elementary function adds up. (A Real with doubts is
  /// cautious.)
  static double cancellation(L elementary, const Real* x) {
    if (elementary != L::pow_partial || !(x[0] > 0) || x[0] - x[0] != 0) return 1;
    const int k = static_cast<int>(x[2]) % 5, m = static_cast<int>(x[2]) / 5;
    const Real b = x[1], log_a = reference(L::log, x);
    const auto factor = [&](bool magnitudes) {
      return static_cast<double>(factor_of_pow_partial(b, log_a, k, m, magnitudes));
    };
    const double all = factor(true), sum = std::fabs(factor(false));
    return all > sum && sum > 0 ? all / sum * (Doubt<Real>::value > 0 ? 0.98 : 1) : 1;
  }
  Range<T> around_surely(Real r, double ulps) {
    const Range<T> range = around<T>(r, ulps);
    if constexpr (Doubt<Real>::value > 0) {
      unsure_ |= range.empty() && !range.nan;
      if (ulps == 0.5) {
        const Real doubt = r * static_cast<Real>(Doubt<Real>::value);
        unsure_ |= r - r == 0 && static_cast<T>(r - doubt) != static_cast<T>(r + doubt);
      }
      // An underflow to 0 in Real gives a narrower range than the truth: safe for a filter.
    }
    return range;
  }
  Range<T> at(L elementary, const detail::Rule& rule, T a) { return exact(elementary, rule, &a); }
  Range<T> at(L elementary, const detail::Rule& rule, T a, T b) {
    const T v[] = {a, b};
    return exact(elementary, rule, v);
  }

  Range<T> unary(L elementary, const detail::Rule& rule, const Range<T>& x) {
    Range<T> result;
    if (!x.empty()) result = unary_values(elementary, rule, x.lo, x.hi);
    result.nan |= x.nan;
    return result;
  }
  Range<T> unary_values(L elementary, const detail::Rule& rule, T lo, T hi) {
    Range<T> result = at(elementary, rule, lo);
    include(result, at(elementary, rule, hi));
    switch (elementary) {
      case L::exp:
      case L::expm1:
      case L::exp2:
      case L::log2:
      case L::log10:
      case L::atan:
      case L::log:
      case L::log1p:
      case L::sqrt:
      case L::tanh:
      case L::sigmoid:
      case L::softplus:
      case L::erf:
      case L::erfc:
      case L::erfinv:
      case L::floor:
      case L::ceil:
      case L::round:
      case L::sign:
      case L::detach:
      case L::neg:
        if (result.nan && !result.empty()) result.lo = -std::numeric_limits<T>::infinity();  // the domain begins inside
        return result;
      case L::abs:
        if (lo <= 0 && hi >= 0) include(result, T(0));
        return result;
      case L::rsqrt: return std::signbit(lo) && !(hi < 0) ? Range<T>::anything() : result;
      case L::sin:
      case L::cos: return oscillating(rule, elementary, lo, hi);
      default: return Range<T>::anything();
    }
  }
  /// sin and cos: between two points at a distance w the extreme exceeds both ends by at most w²/8.
  Range<T> oscillating(const detail::Rule& rule, L elementary, T lo, T hi) {
    if (std::isinf(lo) || std::isinf(hi)) return {T(-1), T(1), true};
    Real a = static_cast<Real>(lo), b = static_cast<Real>(hi);
    const Real w = b - a, f = reference(elementary, &a), g = reference(elementary, &b);
    const Real low = std::max<Real>(std::min<Real>(f, g) - w * w / 8, -1),
               high = std::min<Real>(std::max<Real>(f, g) + w * w / 8, 1);
    Range<T> result = around_surely(low, budget(rule));
    include(result, around_surely(high, budget(rule)));
    return result;
  }

  Range<T> binary(L elementary, const detail::Rule& rule, const Range<T>& x, const Range<T>& y) {
    if (rule.gives == detail::Gives::predicate) return predicate(elementary, x, y);
    if (elementary == L::pow) return power(rule, x, y);
    Range<T> result;
    if (!x.empty() && !y.empty()) result = binary_values(elementary, rule, x, y);
    result.nan |= x.nan || y.nan;
    return result;
  }
  Range<T> binary_values(L elementary, const detail::Rule& rule, const Range<T>& x, const Range<T>& y) {
    const auto holds_zero = [](const Range<T>& r) { return r.lo <= 0 && r.hi >= 0; };
    const auto holds_inf = [](const Range<T>& r) { return std::isinf(r.lo) || std::isinf(r.hi); };
    switch (elementary) {
      case L::add:
      case L::sub:
      case L::maximum:
      case L::minimum: return corners(elementary, rule, x, y);
      case L::mul: {
        Range<T> result = corners(elementary, rule, x, y);
        result.nan |= (holds_zero(x) && holds_inf(y)) || (holds_inf(x) && holds_zero(y));
        return result;
      }
      case L::div:
        if (y.lo < 0 ? y.hi >= 0 : y.lo == 0 && std::signbit(y.lo) && y.hi > 0) return Range<T>::anything();
        return corners(elementary, rule, x, y);
      case L::mod: return remainder(rule, x, y);
      case L::bit_and:
      case L::bit_or: return corners(elementary, rule, x, y);  // of predicates
      case L::copysign: return with_sign(x, y);
      default: return Range<T>::anything();
    }
  }
  Range<T> corners(L elementary, const detail::Rule& rule, const Range<T>& x, const Range<T>& y) {
    Range<T> result = at(elementary, rule, x.lo, y.lo);
    if (!y.single() && y.lo != y.hi) include(result, at(elementary, rule, x.lo, y.hi));
    if (x.lo != x.hi) include(result, at(elementary, rule, x.hi, y.lo));
    include(result, at(elementary, rule, x.hi, y.hi));
    return result;
  }
  Range<T> remainder(const detail::Rule& rule, const Range<T>& x, const Range<T>& y) {
    if (y.lo != y.hi || y.lo == 0 || std::isinf(y.lo) || std::isinf(x.lo) || std::isinf(x.hi))
      return Range<T>::anything();
    const Real b = static_cast<Real>(y.lo), first = static_cast<Real>(x.lo) / b, last = static_cast<Real>(x.hi) / b;
    if (static_cast<long double>(first) - std::floor(static_cast<long double>(first)) > 1e-3L &&
        std::floor(static_cast<long double>(first)) == std::floor(static_cast<long double>(last)))
      return corners(L::mod, rule, x, y);
    Range<T> result{std::min(T(0), y.lo), std::max(T(0), y.lo), false};
    return result;
  }
  Range<T> power(const detail::Rule& rule, const Range<T>& a, const Range<T>& b) {
    if (a.nan || b.nan || a.empty() || b.empty()) return Range<T>::anything();
    const bool positive = a.lo > 0 || (a.lo == 0 && !std::signbit(a.lo));
    const bool negative_integral = a.hi < 0 && b.lo == b.hi && b.lo == std::trunc(b.lo) && !std::isinf(b.lo);
    return positive || negative_integral ? corners(L::pow, rule, a, b) : Range<T>::anything();
  }

  Policy policy_;
  bool unsure_ = false;
};

}  // namespace tern::contract
