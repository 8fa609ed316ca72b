#include "cpu/tape/online.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tern::detail_cpu {
namespace {

/// What is subtracted from x where the maximum is m: exp(x - m) of infinities is NaN, which a later, larger m could not
/// undo.
template <class T> T finite(T m) { return std::abs(m) < std::numeric_limits<T>::infinity() ? m : T{0}; }

template <class T> void make_finite(const void* max, void* shift, std::int64_t n) {
  const auto* from = static_cast<const T*>(max);
  auto* to = static_cast<T*>(shift);
  for (std::int64_t i = 0; i < n; ++i) to[i] = finite(from[i]);
}
/// exponent[i] = before - now, and 0 where both are the same (infinity, too).
template <class T> void make_exponents(const void* before, const void* now, void* exponent, std::int64_t n) {
  const auto *old = static_cast<const T*>(before), *grown = static_cast<const T*>(now);
  auto* to = static_cast<T*>(exponent);
  for (std::int64_t i = 0; i < n; ++i) to[i] = old[i] == grown[i] ? T{0} : old[i] - finite(grown[i]);
}

/// Whether it is exact does not matter: any mean will do.
template <class T> T reciprocal(T count) { return T{1} / std::max(count, T{1}); }

/// An OnlineParts of values of T, whose sum is of (x - mean)^power.
template <class T> struct Moments {
  T* sum;
  const T *total, *count, *lower[2];

  explicit Moments(const OnlineParts& p)
      : sum(static_cast<T*>(p.sum)),
        total(static_cast<const T*>(p.pivot)),
        count(static_cast<const T*>(p.count)),
        lower{static_cast<const T*>(p.lower[0]), static_cast<const T*>(p.lower[1])} {}

  T mean(std::int64_t i) const { return total[i] * reciprocal(count[i]); }
  /// Whether a sum stays what it is: 0 times an infinity is NaN, and what overflowed does not come back.
  static bool stays(T value, T mean, T other) { return mean == other || !std::isfinite(value); }
  /// `value`, a sum for the mean that there is, as one for another mean.
  T moved(T value, T other, std::int64_t i) const {
    const T d = mean(i) - other;
    if (stays(value, mean(i), other)) return value;
    return value + d * (lower[1] ? 2 * lower[1][i] + d * lower[0][i] : lower[0][i]);
  }
};

/// All positions have the same count.
template <class T> void make_means(const OnlineParts& now, void* means, std::int64_t n) {
  const Moments<T> m(now);
  const T factor = reciprocal(m.count[0]);
  for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(means)[i] = m.total[i] * factor;
}
template <class T> void join_sums(const OnlineParts& part, const OnlineParts& other, std::int64_t n) {
  const Moments<T> a(part), b(other);
  for (std::int64_t i = 0; i < n; ++i) {
    const T both = (a.total[i] + b.total[i]) * reciprocal(a.count[i] + b.count[i]);
    a.sum[i] = a.moved(a.sum[i], both, i) + b.moved(b.sum[i], both, i);
  }
}
/// The finished lower sum is that of the new mean: with Σ (x - m) = lower - d · Σ 1 the correction of the square is
/// this.
template <class T> void finish_sums(const OnlineParts& whole, const void* shift, std::int64_t n) {
  const Moments<T> m(whole);
  for (std::int64_t i = 0; i < n; ++i) {
    const T other = static_cast<const T*>(shift)[i], d = m.mean(i) - other;
    if (!Moments<T>::stays(m.sum[i], m.mean(i), other))
      m.sum[i] += d * (m.lower[1] ? 2 * m.lower[1][i] - d * m.lower[0][i] : m.lower[0][i]);
  }
}

/// Where an extreme changed, what stood at the old one stands nowhere; a NaN remains one. Then the lesser of that and
/// of `part` (null: none). Without branches, for the compiler's vectors.
template <class T>
void follow_places(const void* before, const void* now, std::int32_t* places, const std::int32_t* part,
                   std::int64_t n) {
  const auto *old = static_cast<const T*>(before), *last = static_cast<const T*>(now);
  for (std::int64_t i = 0; i < n; ++i) {
    const bool stays = (old[i] == last[i]) | !(old[i] == old[i]);
    places[i] = stays ? places[i] : detail::OnlineSum::kNowhere;
  }
  for (std::int64_t i = 0; part && i < n; ++i) places[i] = places[i] < part[i] ? places[i] : part[i];
}

}  // namespace

OnlineKernels::OnlineKernels(const TapeOnline& online, const Tape& tape, const KernelTable& table, bool rows)
    : power_(online.power), rows_(rows) {
  const TapeOp& op = tape.ops[static_cast<std::size_t>(online.sum)];
  const int type = static_cast<int>(op.type);
  const auto elementary = [&](Elementary which) { return table.elementary[static_cast<int>(which)][type]; };
  maximum_ = elementary(Elementary::maximum), sub_ = elementary(Elementary::sub), exp_ = elementary(Elementary::exp),
  mul_ = elementary(Elementary::mul);
  add_ = elementary(Elementary::add), powers_ = table.powers_of_rows[type], sum_ = rows ? op.rows : op.columns;
  moments_ = (rows ? table.moments_of_rows : table.moments_of_columns)[type], move_ = table.move_moments[type];
  wide_ = detail::is_wide(op.type);
  const TapeOp& pivot = tape.ops[static_cast<std::size_t>(online.pivot)];
  extreme_ = pivot.combine, pivot_ = pivot.type;
}

void OnlineKernels::take_power(const void* x, const OnlineParts& now, void* power, const Block& b) const {
  alignas(64) std::byte shift[kSlotBytes];
  const std::size_t width = wide_ ? 8 : 4, kept = static_cast<std::size_t>(b.kept) * width;
  (wide_ ? make_finite<double> : make_finite<float>)(now.pivot, shift, b.kept);
  const std::int64_t along = b.size() / b.kept;
  if (rows_) return powers_(x, shift, power, static_cast<std::size_t>(b.kept), static_cast<std::size_t>(along));
  for (std::int64_t r = 1; r < along; ++r) std::memcpy(shift + static_cast<std::size_t>(r) * kept, shift, kept);
  run(sub_, x, shift, power, b.size());
  run(exp_, power, nullptr, power, b.size());
}

void OnlineKernels::add_power(const void* power, const void* weight, const OnlineParts* before, const OnlineParts& now,
                              const Block& b) const {
  alignas(64) std::byte product[kSlotBytes], part[kSlotBytes];
  const void* terms = power;
  if (weight) run(mul_, weight, power, product, b.size()), terms = product;
  const Groups g = groups(b);
  if (!before) return sum_(terms, now.sum, g.count, g.length, false);
  sum_(terms, part, g.count, g.length, false);
  scale(before->pivot, now.pivot, now.sum, b.kept);
  run(add_, now.sum, part, now.sum, b.kept);
}

void OnlineKernels::add_moments(const void* x, const void* weight, const OnlineParts* before, const OnlineParts& now,
                                void* second, const Block& b) const {
  alignas(64) std::byte means[kSlotBytes], old[kSlotBytes], part[2][kSlotBytes];
  const Groups g = groups(b);
  const auto make = wide_ ? make_means<double> : make_means<float>;
  make(now, means, b.kept);
  if (!before) return moments_(x, weight, means, now.sum, second, g.count, g.length);
  make(*before, old, b.kept);
  moments_(x, weight, means, part[0], second ? part[1] : nullptr, g.count, g.length);
  move_({old, means, before->lower[0], part[0], part[1], now.sum, second}, static_cast<std::size_t>(b.kept));
}

OnlineKernels::Groups OnlineKernels::groups(const Block& b) const {
  const auto kept = static_cast<std::size_t>(b.kept), along = static_cast<std::size_t>(b.size()) / kept;
  return rows_ ? Groups{kept, along} : Groups{along, kept};
}

/// sum *= exp(before - now). A maximum seldom grows after the first blocks.
void OnlineKernels::scale(const void* before, const void* now, void* sum, std::int64_t kept) const {
  if (std::memcmp(before, now, static_cast<std::size_t>(kept) * (wide_ ? 8 : 4)) == 0) return;
  alignas(64) std::byte factor[kSlotBytes];
  (wide_ ? make_exponents<double> : make_exponents<float>)(before, now, factor, kept);
  run(exp_, factor, nullptr, factor, kept);
  run(mul_, sum, factor, sum, kept);
}

void OnlineKernels::join(const OnlineParts& part, const OnlineParts& other, std::int64_t kept) const {
  if (power_ == detail::OnlineSum::kPlace) join_places(part, other, kept);
  else if (power_ > 0) (wide_ ? join_sums<double> : join_sums<float>)(part, other, kept);
  else join_powers(part, other, kept);
}
void OnlineKernels::join_powers(const OnlineParts& part, const OnlineParts& other, std::int64_t kept) const {
  alignas(64) std::byte both[kSlotBytes], copy[kSlotBytes];
  run(maximum_, part.pivot, other.pivot, both, kept);
  std::memcpy(copy, other.sum, static_cast<std::size_t>(kept) * (wide_ ? 8 : 4));
  scale(part.pivot, both, part.sum, kept);
  scale(other.pivot, both, copy, kept);
  run(add_, part.sum, copy, part.sum, kept);
}

void OnlineKernels::follow(const void* before, const void* now, std::int32_t* places, const std::int32_t* part,
                           std::int64_t kept) const {
  switch (pivot_) {
    case ComputeType::f32: return follow_places<float>(before, now, places, part, kept);
    case ComputeType::f64: return follow_places<double>(before, now, places, part, kept);
    case ComputeType::i64: return follow_places<std::int64_t>(before, now, places, part, kept);
    default: return follow_places<std::uint32_t>(before, now, places, part, kept);
  }
}
void OnlineKernels::add_place(const OnlineParts& before, const OnlineParts& now, const std::int32_t* part,
                              std::int64_t kept) const {
  follow(before.pivot, now.pivot, static_cast<std::int32_t*>(now.sum), part, kept);
}
void OnlineKernels::join_places(const OnlineParts& part, const OnlineParts& other, std::int64_t kept) const {
  alignas(64) std::byte both[kSlotBytes];
  std::int32_t copy[kTapeBlock];
  auto* const places = static_cast<std::int32_t*>(part.sum);
  run(extreme_, part.pivot, other.pivot, both, kept);
  std::memcpy(copy, other.sum, static_cast<std::size_t>(kept) * sizeof *copy);
  follow(other.pivot, both, copy, nullptr, kept);
  follow(part.pivot, both, places, copy, kept);
}

void OnlineKernels::finish(const OnlineParts& whole, const void* shift, std::int64_t kept) const {
  if (power_ == detail::OnlineSum::kPlace) return;
  if (power_ > 0) return (wide_ ? finish_sums<double> : finish_sums<float>)(whole, shift, kept);
  alignas(64) std::byte factor[kSlotBytes];
  (wide_ ? make_finite<double> : make_finite<float>)(whole.pivot, factor, kept);
  run(sub_, factor, shift, factor, kept);
  run(exp_, factor, nullptr, factor, kept);
  run(mul_, whole.sum, factor, whole.sum, kept);
}

}  // namespace tern::detail_cpu
