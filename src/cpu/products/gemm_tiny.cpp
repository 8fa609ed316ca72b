#include "cpu/products/gemm_tiny.hpp"

#include <algorithm>

#include "cpu/products/gemm_depth.hpp"

namespace tern::detail_cpu {
namespace {

/// Products of a group that are tried.
constexpr Int64 kMostTogether = 16;
constexpr Int64 kTooMany = 5;

/// The elements of one operand that the results first … last (within a group) take.
struct OffsetRange {
  Int64 low, high;
};
/// A(i, p) and B(p, j) alike: an element is `outer` rows or columns and p steps away from the first of its product.
struct TinyLayout {
  Int64 step, outer, inner;
  bool rows;  // the outer index is the result's row, else its column
};
TinyLayout a_of(const TinyProducts& t) { return {t.a_step, t.a_row, t.a_col, true}; }
TinyLayout b_of(const TinyProducts& t) { return {t.b_step, t.b_col, t.b_row, false}; }

Int64 offset(const TinyProducts& t, const TinyLayout& x, Int64 result) {
  const Int64 product = result / (t.m * t.n), within = result % (t.m * t.n);
  return product * x.step + (x.rows ? within / t.n : within % t.n) * x.outer;
}
OffsetRange range(const TinyProducts& t, const TinyLayout& x, Int64 first, Int64 count) {
  OffsetRange r{INT64_MAX, INT64_MIN};
  for (Int64 e = first; e < first + count; ++e) {
    const Int64 at = offset(t, x, e);
    r.low = std::min(r.low, at), r.high = std::max(r.high, at);
  }
  const Int64 along = (t.k - 1) * x.inner;
  return {r.low + std::min<Int64>(along, 0), r.high + std::max<Int64>(along, 0)};
}
/// Vectors to load (see TinySide), for the results first … first + count; 5: too many.
Int64 vectors(const TinyProducts& t, const TinyLayout& x, Int64 first, Int64 count, Int64 vector) {
  if (x.step == 0) return 0;
  const bool one_product = first / (t.m * t.n) == (first + count - 1) / (t.m * t.n);
  if (!x.rows && t.n == 4 && x.outer == 1 && one_product && first % 4 == 0 && count % 4 == 0) return kTinyQuads;
  const OffsetRange r = range(t, x, first, count);
  const Int64 loads = ceil_div(r.high - r.low + 1, vector);
  return loads <= 3 ? loads : kTooMany;
}

/// About the cycles a product takes where so many are a group; 0: it cannot be.
double cost(const TinyProducts& t, Int64 together, Int64 vector) {
  // Cycles of a permutation, and of loading vectors (Zen 4: one of two vectors takes two).
  constexpr double kPick[] = {0, 1, 2, 3, 0.75}, kLoad[] = {0, 1, 2, 3, 0};
  const Int64 results = together * t.m * t.n;
  if (ceil_div(results, vector) > kTinyUnits) return 0;
  double sum = 0;
  for (Int64 first = 0; first < results; first += vector) {
    const Int64 count = std::min(vector, results - first);
    const Int64 a = vectors(t, a_of(t), first, count, vector), b = vectors(t, b_of(t), first, count, vector);
    if (a == kTooMany || b == kTooMany) return 0;
    sum += static_cast<double>(t.k) * (kPick[a] + kPick[b] + 0.5) + kLoad[a] + kLoad[b] + 1.5;
  }
  return sum / static_cast<double>(together);
}

TinySide side(const TinyProducts& t, const TinyLayout& x, Int64 first, Int64 count, Int64 vector) {
  const OffsetRange r = range(t, x, first, count);
  TinySide s{};
  s.from = r.low, s.vectors = static_cast<int>(vectors(t, x, first, count, vector));
  for (Int64 p = 0; p < t.k; ++p)
    for (Int64 e = 0; e < count; ++e)
      s.at[p][e] = static_cast<std::int32_t>(offset(t, x, first + e) + p * x.inner - r.low);
  return s;
}

void make(TinyPlan& plan, const TinyProducts& t, Int64 vector) {
  plan.of = t, plan.vector = vector, plan.together = 0, plan.units = 0;
  double least = 0;
  for (Int64 together = 1; together <= kMostTogether; ++together) {
    const double c = cost(t, together, vector);
    if (c > 0 && (plan.together == 0 || c < least)) plan.together = together, least = c;
  }
  const Int64 results = plan.together * t.m * t.n;
  for (Int64 first = 0; first < results; first += vector) {
    const Int64 count = std::min(vector, results - first);
    plan.unit[plan.units++] = {side(t, a_of(t), first, count, vector), side(t, b_of(t), first, count, vector), count};
  }
}

/// Groups of an operand that lie wholly before the end of the last of `count` products.
Int64 groups_before_end(const TinyProducts& t, const TinyLayout& x, const TinySide& side, Int64 count, Int64 together,
                        Int64 vector) {
  if (side.vectors == 0 || side.vectors == kTinyQuads) return INT64_MAX;  // nothing beyond its elements is read
  const Int64 end = (count - 1) * x.step + range(t, x, 0, t.m * t.n).high + 1;
  const Int64 spare = end - (side.from + side.vectors * vector);
  return spare < 0 ? 0 : spare / (together * x.step) + 1;
}

}  // namespace

std::int64_t TinyPlan::groups(std::int64_t count) const {
  Int64 most = count / together;
  for (int u = 0; u < units; ++u) {
    most = std::min(most, groups_before_end(of, a_of(of), unit[u].a, count, together, vector));
    most = std::min(most, groups_before_end(of, b_of(of), unit[u].b, count, together, vector));
  }
  return most;
}

const TinyPlan& tiny_plan(const TinyProducts& products, std::int64_t vector) {
  constexpr int kKept = 4;
  thread_local TinyPlan kept[kKept];  // a cache
  thread_local int next = 0;
  for (const TinyPlan& plan : kept)
    if (plan.vector == vector && plan.of == products) return plan;
  TinyPlan& plan = kept[next++ % kKept];
  make(plan, products, vector);
  return plan;
}

}  // namespace tern::detail_cpu
