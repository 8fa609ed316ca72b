#include "cpu/online.hpp"

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

}  // namespace

OnlineKernels::OnlineKernels(const TapeOnline& online, const Tape& tape, const KernelTable& table, bool rows)
    : rows_(rows) {
  const TapeOp& op = tape.ops[static_cast<std::size_t>(online.sum)];
  const int lane = static_cast<int>(op.lane);
  const auto leaf = [&](Leaf which) { return table.leaf[static_cast<int>(which)][lane]; };
  maximum_ = leaf(Leaf::maximum), sub_ = leaf(Leaf::sub), exp_ = leaf(Leaf::exp), mul_ = leaf(Leaf::mul);
  add_ = leaf(Leaf::add), fill_ = table.fill[lane], sum_ = rows ? op.rows : op.columns;
  wide_ = detail::is_wide_lane(op.lane);
}

void OnlineKernels::take_power(const void* x, const void* max, void* power, const Block& b) const {
  alignas(64) std::byte shift[kSlotBytes];
  const std::size_t width = wide_ ? 8 : 4, kept = static_cast<std::size_t>(b.kept) * width;
  (wide_ ? make_finite<double> : make_finite<float>)(max, shift, b.kept);
  const std::int64_t along = b.size() / b.kept;
  if (rows_) {
    for (std::int64_t g = b.kept - 1; g >= 0; --g) {  // from the last on: the first run overwrites the shifts
      alignas(8) std::byte one[8];
      std::memcpy(one, shift + static_cast<std::size_t>(g) * width, width);
      fill_(one, shift + static_cast<std::size_t>(g * along) * width, static_cast<std::size_t>(along));
    }
  } else {
    for (std::int64_t r = 1; r < along; ++r) std::memcpy(shift + static_cast<std::size_t>(r) * kept, shift, kept);
  }
  run(sub_, x, shift, power, b.size());
  run(exp_, power, nullptr, power, b.size());
}

void OnlineKernels::add(const void* power, const void* weight, const void* before, const void* max, void* sum,
                        const Block& b) const {
  alignas(64) std::byte product[kSlotBytes], part[kSlotBytes];
  const void* terms = power;
  if (weight) run(mul_, weight, power, product, b.size()), terms = product;
  const std::int64_t along = b.size() / b.kept;
  const auto groups = static_cast<std::size_t>(rows_ ? b.kept : along),
             each = static_cast<std::size_t>(rows_ ? along : b.kept);
  if (!before) return sum_(terms, sum, groups, each);
  sum_(terms, part, groups, each);
  scale(before, max, sum, b.kept);
  run(add_, sum, part, sum, b.kept);
}

/// sum *= exp(before - now). A maximum seldom grows after the first blocks.
void OnlineKernels::scale(const void* before, const void* now, void* sum, std::int64_t kept) const {
  if (std::memcmp(before, now, static_cast<std::size_t>(kept) * (wide_ ? 8 : 4)) == 0) return;
  alignas(64) std::byte factor[kSlotBytes];
  (wide_ ? make_exponents<double> : make_exponents<float>)(before, now, factor, kept);
  run(exp_, factor, nullptr, factor, kept);
  run(mul_, sum, factor, sum, kept);
}

void OnlineKernels::join(const void* max, void* sum, const void* other_max, const void* other_sum,
                         std::int64_t kept) const {
  alignas(64) std::byte both[kSlotBytes], other[kSlotBytes];
  run(maximum_, max, other_max, both, kept);
  std::memcpy(other, other_sum, static_cast<std::size_t>(kept) * (wide_ ? 8 : 4));
  scale(max, both, sum, kept);
  scale(other_max, both, other, kept);
  run(add_, sum, other, sum, kept);
}

void OnlineKernels::finish(const void* max, const void* shift, void* sum, std::int64_t kept) const {
  alignas(64) std::byte factor[kSlotBytes];
  (wide_ ? make_finite<double> : make_finite<float>)(max, factor, kept);
  run(sub_, factor, shift, factor, kept);
  run(exp_, factor, nullptr, factor, kept);
  run(mul_, sum, factor, sum, kept);
}

}  // namespace tern::detail_cpu
