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
/// The vectors of a kernel: their lanes, and whether each step of k loads its own.
struct TinyVectors {
  Int64 lanes;
  bool by_step;
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
/// At one step of k, or at all.
OffsetRange range(const TinyProducts& t, const TinyLayout& x, Int64 first, Int64 count, bool one_step) {
  OffsetRange r{INT64_MAX, INT64_MIN};
  for (Int64 e = first; e < first + count; ++e) {
    const Int64 at = offset(t, x, e);
    r.low = std::min(r.low, at), r.high = std::max(r.high, at);
  }
  const Int64 along = one_step ? 0 : (t.k - 1) * x.inner;
  return {r.low + std::min<Int64>(along, 0), r.high + std::max<Int64>(along, 0)};
}
/// Vectors to load (see TinySide), for the results first … first + count; 5: too many.
Int64 vectors(const TinyProducts& t, const TinyLayout& x, Int64 first, Int64 count, const TinyVectors& v) {
  if (x.step == 0) return 0;
  const bool one_product = first / (t.m * t.n) == (first + count - 1) / (t.m * t.n);
  if (!x.rows && t.n == 4 && x.outer == 1 && one_product && first % 4 == 0 && count % 4 == 0) return kTinyQuads;
  const OffsetRange r = range(t, x, first, count, v.by_step);
  const Int64 loads = ceil_div(r.high - r.low + 1, v.lanes);
  return loads <= 3 ? loads : kTooMany;
}

/// About the cycles a product takes where so many are a group; 0: it cannot be.
double cost(const TinyProducts& t, Int64 together, const TinyVectors& v) {
  // Cycles of picking from one to three vectors, and of loading them (Zen 4: a permutation of two vectors takes two;
  // Zen 3: two of one vector and a choice, and loads come with them).
  constexpr double kPicks[] = {0, 1, 2, 3, 0.75}, kPicksByStep[] = {0, 1, 2.5, 4, 0.5}, kLoad[] = {0, 1, 2, 3, 0};
  const double* const pick = v.by_step ? kPicksByStep : kPicks;
  const Int64 results = together * t.m * t.n;
  if (ceil_div(results, v.lanes) > kTinyUnits) return 0;
  double sum = 0;
  for (Int64 first = 0; first < results; first += v.lanes) {
    const Int64 count = std::min(v.lanes, results - first);
    const Int64 a = vectors(t, a_of(t), first, count, v), b = vectors(t, b_of(t), first, count, v);
    if (a == kTooMany || b == kTooMany) return 0;
    sum += static_cast<double>(t.k) * (pick[a] + pick[b] + 0.5) + (v.by_step ? 0 : kLoad[a] + kLoad[b]) + 1.5;
  }
  return sum / static_cast<double>(together);
}

/// About the cycles of a product by the kernel that takes them one by one, on the scale of cost(), whose cycles are 0.6
/// of those measured on Zen 3.
double cost_one_by_one(const TinyProducts& t, Int64 lanes) {
  const auto steps = static_cast<double>(t.k), rows = static_cast<double>(t.m), columns = static_cast<double>(t.n);
  const bool partial = t.n > 2 && t.n != 4 && t.n % lanes != 0;
  const double packing = t.b_col != 1 && t.n > 1 ? 1.5 * steps * columns : 0;
  return 0.6 * (8 + rows * steps * static_cast<double>(ceil_div(t.n, lanes)) + (partial ? 4 * rows : 0) + packing);
}

TinySide side(const TinyProducts& t, const TinyLayout& x, Int64 first, Int64 count, const TinyVectors& v) {
  const OffsetRange r = range(t, x, first, count, v.by_step);
  TinySide s{};
  s.from = r.low, s.vectors = static_cast<int>(vectors(t, x, first, count, v));
  for (Int64 p = 0; p < t.k; ++p) {
    s.start[p] = v.by_step ? p * x.inner : 0;
    for (Int64 e = 0; e < count; ++e)
      s.at[p][e] = static_cast<std::int32_t>(offset(t, x, first + e) + p * x.inner - s.start[p] - r.low);
  }
  return s;
}

void make(TinyPlan& plan, const TinyProducts& t, const TinyVectors& v) {
  plan.of = t, plan.vector = v.lanes, plan.by_step = v.by_step, plan.together = 0, plan.units = 0;
  double least = 0;
  for (Int64 together = 1; together <= kMostTogether; ++together) {
    const double c = cost(t, together, v);
    if (c > 0 && (plan.together == 0 || c < least)) plan.together = together, least = c;
  }
  if (v.by_step && least > cost_one_by_one(t, v.lanes)) plan.together = 0;
  const Int64 results = plan.together * t.m * t.n;
  for (Int64 first = 0; first < results; first += v.lanes) {
    const Int64 count = std::min(v.lanes, results - first);
    plan.unit[plan.units++] = {side(t, a_of(t), first, count, v), side(t, b_of(t), first, count, v), count};
  }
}

/// Groups of an operand that lie wholly before the end of the last of `count` products.
Int64 groups_before_end(const TinyPlan& plan, const TinyLayout& x, const TinySide& side, Int64 count) {
  if (side.vectors == 0 || side.vectors == kTinyQuads) return INT64_MAX;  // nothing beyond its elements is read
  const TinyProducts& t = plan.of;
  const Int64 end = (count - 1) * x.step + range(t, x, 0, t.m * t.n, false).high + 1;
  const Int64 last_start = std::max(side.start[0], side.start[t.k - 1]);
  const Int64 spare = end - (side.from + last_start + side.vectors * plan.vector);
  return spare < 0 ? 0 : spare / (plan.together * x.step) + 1;
}

}  // namespace

std::int64_t TinyPlan::groups(std::int64_t count) const {
  Int64 most = count / together;
  for (int u = 0; u < units; ++u) {
    most = std::min(most, groups_before_end(*this, a_of(of), unit[u].a, count));
    most = std::min(most, groups_before_end(*this, b_of(of), unit[u].b, count));
  }
  return most;
}

const TinyPlan& tiny_plan(const TinyProducts& products, const GemmKernelsOf& kernels) {
  constexpr int kKept = 4;
  thread_local TinyPlan kept[kKept];  // a cache
  thread_local int next = 0;
  for (const TinyPlan& plan : kept)
    if (plan.vector == kernels.lanes && plan.by_step == kernels.tiny_by_step && plan.of == products) return plan;
  TinyPlan& plan = kept[next++ % kKept];
  make(plan, products, {kernels.lanes, kernels.tiny_by_step});
  return plan;
}

}  // namespace tern::detail_cpu
