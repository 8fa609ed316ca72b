// Attention forward with a row to each lane, for the target being compiled (no include guard: once per target file, by
// attention_kernels-inl.h).
//
//              16 rows: two vectors                 For a tile of columns and a panel of rows (f32 by vectors of 32
//            ┌─────────────┐                        bytes), all in L1:
//   columns  │   scores    │  270 · 64 bytes        scores = k · qᵀ       6 columns a call, their greatest in passing
//   of k     │             │                        shares = exp(scores - top), down the columns
//            └─────────────┘                        sums  += vᵀ · shares  6 elements of v a call
//   elements ┌─────────────┐
//   of v     │    sums     │  64 bytes each         k and v lie packed for the broadcasts of both products, six columns
//            └─────────────┘                        or elements side by side, and come from L2: 24 bytes a step.
//
// Shares are the panel that the second product reads, so that nothing is packed in between, and neither a row's
// greatest score nor its sum is one across lanes. Both products run at 0.94 to 1 of a core's multiply-adds, those of
// rows apart at 0.75 to 0.85 (docs/tuning.md).
#include <hwy/highway.h>

#include "cpu/products/attention_kernels.hpp"

#undef TERN_ATTENTION_UNROLL
#if defined(__clang__)
#define TERN_ATTENTION_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERN_ATTENTION_UNROLL _Pragma("GCC unroll 32")
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace attention_simd {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kBeside = kAttentionBeside;

/// sum(i) += a(i, p) · b(p, ·) for `kSteps` steps, i < kRows.
template <class T, int kSteps, int kRows, class V>
HWY_INLINE void LaneSteps(V (&sum)[kRows][2], const T*& a, const T*& b) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  TERN_ATTENTION_UNROLL for (int step = 0; step < kSteps; ++step) {
    const V b0 = hn::LoadU(d, b + 2 * step * kLanes), b1 = hn::LoadU(d, b + (2 * step + 1) * kLanes);
    TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[step * kBeside + i]);
      sum[i][0] = hn::MulAdd(x, b0, sum[i][0]), sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
    }
  }
  a += kSteps * kBeside, b += 2 * kSteps * kLanes;
}

/// sum(i) = Σ_p a(i, p) · b(p, ·) for i < kRows.
template <class T, int kRows, class V>
HWY_INLINE void LaneSums(const T* a, const T* b, std::int64_t depth, V (&sum)[kRows][2]) {
  const hn::ScalableTag<T> d;
  constexpr int kSteps = 4;
  TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  std::int64_t left = depth;
  for (; left >= kSteps; left -= kSteps) LaneSteps<T, kSteps>(sum, a, b);
  for (; left > 0; --left) LaneSteps<T, 1>(sum, a, b);
}

/// c(i, ·) = or += Σ_p a(i, p) · b(p, ·) for i < kRows; `greatest` by lanes of what is written, where it is not null.
template <class T, int kRows>
void LaneTile(const T* a, const T* b, std::int64_t depth, T* c, bool add, T* greatest) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V sum[kRows][2];
  LaneSums<T, kRows>(a, b, depth, sum);
  TERN_ATTENTION_UNROLL for (int v = 0; v < 2; ++v) {
    TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) {
      T* const to = c + (2 * i + v) * kLanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sum[i][v]) : sum[i][v], d, to);
    }
    if (!greatest) continue;
    V most = hn::LoadU(d, greatest + v * kLanes);
    TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) most = hn::Max(most, sum[i][v]);
    hn::StoreU(most, d, greatest + v * kLanes);
  }
}
template <class T, int kRows>
HWY_INLINE void PickLaneTile(std::int64_t rows, const T* a, const T* b, std::int64_t depth, T* c, bool add,
                             T* greatest) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return PickLaneTile<T, kRows - 1>(rows, a, b, depth, c, add, greatest);
  }
  LaneTile<T, kRows>(a, b, depth, c, add, greatest);
}

/// e^x for x ≤ 0 or NaN, of vectors side by side: one by one their chains of 50 cycles fill the scheduler (softmax of
/// 15,000 scores: 14 µs in place of 7). By one power of two, as its exponent has room above: 2^(n + 64), and 2^-64.
template <class D, int kCount, class V> HWY_INLINE void ExpBeside(D d, V (&x)[kCount]) {
  using R = Traits<D>;
  constexpr int kShift = 64;
  const V magic = Num(d, R::kRoundingMagic + static_cast<int>(R::kBias) + kShift);
  const V lowest = hn::Set(d, R::kExpLowest), low = Num(d, 0x1p-64);
  V r[kCount], power[kCount], y[kCount];
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) r[i] = AtLeast(d, x[i], R::kExpLowest);
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) power[i] = hn::MulAdd(r[i], Num(d, 1.4426950408889634), magic);
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) y[i] = hn::Sub(power[i], magic);
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) r[i] = hn::NegMulAdd(y[i], Num(d, R::kLn2High), r[i]);
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) r[i] = hn::NegMulAdd(y[i], Num(d, R::kLn2Low), r[i]);
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) y[i] = ExpPolynomial(d, r[i]);
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i)
      y[i] = hn::Add(Num(d, 1), hn::MulAdd(hn::Mul(r[i], r[i]), y[i], r[i]));
  TERN_ATTENTION_UNROLL for (int i = 0; i < kCount; ++i) {
    const V scaled = hn::BitCast(d, hn::ShiftLeft<R::kMantissaBits>(ToBits(d, power[i])));
    x[i] = hn::Mul(hn::Mul(hn::IfThenZeroElse(hn::Le(x[i], lowest), y[i]), scaled), low);
  }
}

/// Scores of columns that a row does not see become -inf; the greatest of the others.
template <class T>
void HideLanes(T* scores, std::int64_t cols, const T* firsts, const T* ends, T* greatest) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  const auto hidden = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int v = 0; v < 2; ++v) {
    const auto first = hn::LoadU(d, firsts + v * kLanes), end = hn::LoadU(d, ends + v * kLanes);
    auto most = hidden;
    for (std::int64_t j = 0; j < cols; ++j) {
      T* const at = scores + (2 * j + v) * kLanes;
      const auto column = hn::Set(d, static_cast<T>(j));
      const auto seen = hn::And(hn::Ge(column, first), hn::Lt(column, end));
      const auto score = hn::IfThenElse(seen, hn::LoadU(d, at), hidden);
      hn::StoreU(score, d, at);
      most = hn::Max(most, score);
    }
    hn::StoreU(most, d, greatest + v * kLanes);
  }
}

/// The greatest scores and totals of the rows go on by this tile; how sums of before are multiplied: false, by 1.
template <class T> HWY_INLINE bool MoveTops(const AttentionLanes& r, const T* greatest, T* shift, T* factor) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  const auto nothing = hn::Set(d, -std::numeric_limits<T>::infinity()), scale = hn::Set(d, static_cast<T>(r.scale));
  T* const top = static_cast<T*>(r.top);
  bool same = true;
  for (int v = 0; v < 2; ++v) {
    const auto before = hn::LoadU(d, top + v * kLanes);
    const auto here = hn::Mul(scale, hn::LoadU(d, greatest + v * kLanes));
    const auto now = hn::IfThenElse(hn::Or(hn::Gt(here, before), hn::Ne(here, here)), here, before);
    // A row that has seen nothing: exp(-inf - 0).
    const auto less = hn::IfThenZeroElse(hn::Eq(now, nothing), now);
    const auto stays = hn::Eq(now, before);
    decltype(hn::Zero(d)) power[1] = {hn::Sub(before, less)};
    ExpBeside(d, power);
    hn::StoreU(hn::IfThenElse(stays, hn::Set(d, T{1}), power[0]), d, factor + v * kLanes);
    hn::StoreU(now, d, top + v * kLanes), hn::StoreU(less, d, shift + v * kLanes);
    same = same && hn::AllTrue(d, stays);
  }
  return !same;
}

/// Scores of `kColumns` columns become shares; what they add up to is added to `sum`.
template <class T, int kColumns, class V> HWY_INLINE void ShareColumns(T* at, V scale, V less0, V less1, V (&sum)[2]) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V x[2 * kColumns];
  TERN_ATTENTION_UNROLL for (int i = 0; i < 2 * kColumns; ++i)
      x[i] = hn::Sub(hn::Mul(scale, hn::LoadU(d, at + i * kLanes)), i % 2 ? less1 : less0);
  ExpBeside(d, x);
  TERN_ATTENTION_UNROLL for (int i = 0; i < 2 * kColumns; ++i) {
    hn::StoreU(x[i], d, at + i * kLanes);
    sum[i % 2] = hn::Add(sum[i % 2], x[i]);
  }
}

template <class T> void Lanes(const AttentionLanes& r) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T), kPanel = 2 * kLanes;
  HWY_ALIGN T greatest[kPanel], shift[kPanel], factor[kPanel];
  T *const scores = static_cast<T*>(r.scores), *const sums = static_cast<T*>(r.sums);
  for (T& most : greatest) most = -std::numeric_limits<T>::infinity();
  for (std::int64_t j = 0; j < r.cols; j += kBeside)
    PickLaneTile<T, kBeside>(r.cols - j, static_cast<const T*>(r.k) + j * r.depth, static_cast<const T*>(r.q), r.depth,
                             scores + j * kPanel, false, greatest);
  if (r.first)
    HideLanes(scores, r.cols, static_cast<const T*>(r.first), static_cast<const T*>(r.end), greatest);
  const bool moved = MoveTops(r, greatest, shift, factor);
  const V scale = hn::Set(d, static_cast<T>(r.scale)), less0 = hn::Load(d, shift), less1 = hn::Load(d, shift + kLanes);
  V sum[2] = {hn::Zero(d), hn::Zero(d)};
  std::int64_t j = 0;
  for (; j + 2 <= r.cols; j += 2) ShareColumns<T, 2>(scores + j * kPanel, scale, less0, less1, sum);
  for (; j < r.cols; ++j) ShareColumns<T, 1>(scores + j * kPanel, scale, less0, less1, sum);
  T* const total = static_cast<T*>(r.total);
  for (int v = 0; v < 2; ++v) {
    const V by = hn::Load(d, factor + v * kLanes);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, total + v * kLanes), by, sum[v]), d, total + v * kLanes);
    for (std::int64_t w = 0; moved && w < r.width; ++w) {
      T* const at = sums + w * kPanel + v * kLanes;
      hn::StoreU(hn::Mul(hn::LoadU(d, at), by), d, at);
    }
  }
  for (std::int64_t w = 0; w < r.width; w += kBeside)
    PickLaneTile<T, kBeside>(r.width - w, static_cast<const T*>(r.v) + w / kBeside * r.v_block, scores, r.cols,
                             sums + w * kPanel, true, nullptr);
}

/// Whole vectors are read and written where what they write beyond an element's six is written again behind them.
template <class T> void ElementsBeside(const AttentionBeside& v) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  for (std::int64_t j = 0; j < v.count; ++j) {
    const T* const from = static_cast<const T*>(v.from) + j * v.row;
    T* to = static_cast<T*>(v.to) + j * kBeside;
    std::int64_t w = 0;
    if constexpr (kLanes >= kBeside)
      for (; j + 1 < v.count && w + kLanes <= v.width; w += kBeside, to += v.block)
        hn::StoreU(hn::LoadU(d, from + w), d, to);
    for (; w < v.width; w += kBeside, to += v.block)
      for (std::int64_t i = 0; i < kBeside && w + i < v.width; ++i) to[i] = from[w + i];
  }
}
template <class T> void ColumnsBeside(const AttentionBeside& k) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T), kPerBlock = 16 / sizeof(T);
  T* to = static_cast<T*>(k.to);
  for (std::int64_t j = 0; j < k.count; j += kBeside, to += k.block) {
    const T* const from = static_cast<const T*>(k.from) + j * k.row;
    std::int64_t p = 0;
    if constexpr (kLanes >= kBeside)
      for (; j + kLanes <= k.count && p + kPerBlock <= k.width; p += kPerBlock)
        gemm_simd::TransposeBlock(d, from + p, k.row, to + p * kBeside, kBeside);
    for (; p < k.width; ++p)
      for (std::int64_t i = 0; i < kBeside; ++i) to[p * kBeside + i] = j + i < k.count ? from[i * k.row + p] : T{0};
  }
}

}  // namespace attention_simd
}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
