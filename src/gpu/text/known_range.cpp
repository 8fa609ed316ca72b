#include "gpu/text/known_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tern::detail_gpu {

using detail::ComputeType;
using detail::Elementary;
using detail::Step;
using detail::StepKind;

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Values from low to high, which are 0 or at least `least` away from it. None is NaN where the range has bounds.
struct KnownRange {
  double low = -kUnbounded, high = kUnbounded, least = 0;

  bool bounded() const { return low > -kUnbounded && high < kUnbounded; }
  /// After rounding to f32, which keeps the order of numbers.
  KnownRange rounded() const {
    const auto single = [](double x) { return static_cast<double>(static_cast<float>(x)); };
    return {single(low), single(high), single(least)};
  }
};

KnownRange of_integers(double low, double high) { return {low, high, 1}; }
KnownRange of_type(ComputeType type) {
  if (type == ComputeType::u32) return of_integers(0, 0x1p32 - 1);
  if (type == ComputeType::i32) return of_integers(-0x1p31, 0x1p31 - 1);
  return {};
}

/// Computes the ranges of steps, each from those of its arguments.
class KnownRanges {
 public:
  explicit KnownRanges(const detail::Program& program, int last) : program_(program) {
    for (int i = 0; i <= last; ++i) known_.push_back(range_of(program.steps[static_cast<std::size_t>(i)]));
  }
  const KnownRange& last() const { return known_.back(); }

 private:
  const Step& at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
  const KnownRange& arg(const Step& s, int i) const { return known_[static_cast<std::size_t>(s.args[i])]; }

  KnownRange range_of(const Step& s) const {
    const ComputeType type = s.result_type();
    KnownRange range = of_type(type);
    if (s.kind == StepKind::number) {
      const double value = s.number.is_integer ? static_cast<double>(s.number.integer) : s.number.real;
      if (std::isfinite(value)) range = {value, value, std::abs(value)};
      if (type == ComputeType::f32) range = range.rounded();
    } else if (s.kind == StepKind::convert) {
      range = converted(s, range);
    } else if (s.kind == StepKind::elementary && type == ComputeType::f32) {
      range = of_floats(s).rounded();
    } else if (s.kind == StepKind::elementary && s.args[1] >= 0 && at(s.args[1]).kind == StepKind::number) {
      range = of_words(s, at(s.args[1]).number, range);
    }
    return range;
  }
  /// An integer in another type, if that holds all of them.
  KnownRange converted(const Step& s, const KnownRange& all) const {
    const KnownRange& from = arg(s, 0);
    if (detail::is_float(s.from) || !from.bounded() || from.low < all.low || from.high > all.high) return all;
    return s.type == ComputeType::f32 ? from.rounded() : from;
  }
  /// Bits of an integer and a constant, or shifted by one.
  KnownRange of_words(const Step& s, const Number& number, const KnownRange& all) const {
    const double by = static_cast<double>(number.integer);
    if (!number.is_integer || by < 0) return all;
    if (s.elementary == Elementary::bit_and) return of_integers(0, by);
    if (s.elementary == Elementary::shift_right && by < 32)
      return of_integers(std::floor(std::ldexp(all.low, -static_cast<int>(by))),
                         std::floor(std::ldexp(all.high, -static_cast<int>(by))));
    return all;
  }
  static double away(double x, int sign) { return x + sign * std::abs(x) * 0x1p-20; }
  KnownRange of_floats(const Step& s) const {
    const KnownRange &a = arg(s, 0), &b = s.args[1] >= 0 ? arg(s, 1) : a;
    if (!a.bounded() || !b.bounded()) return {};
    switch (s.elementary) {
      case Elementary::neg: return {-a.high, -a.low, a.least};
      case Elementary::add:
        return {a.low + b.low, a.high + b.high, a.low >= 0 && b.low >= 0 ? std::min(a.least, b.least) : 0};
      case Elementary::mul: {
        const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
        return {low, high, a.least * b.least};
      }
      case Elementary::log:  // off by less than 2^-20 of itself; of f32, the nearest to 1 is 2^-24 below it
        if (a.low <= 0) return {};
        return {away(std::log(a.low), -1), away(std::log(a.high), 1), 0x1p-25};
      default: return {};
    }
  }

  const detail::Program& program_;
  std::vector<KnownRange> known_;
};

}  // namespace

bool is_moderate(const detail::Program& program, int step) {
  if (program.steps[static_cast<std::size_t>(step)].result_type() != ComputeType::f32) return false;
  const KnownRange range = KnownRanges(program, step).last();
  return range.low >= 0 && range.high <= 0x1p60 && range.least >= 0x1p-60;
}

}  // namespace tern::detail_gpu
