// The gradient of attention with a row to each lane, for the target being compiled (no include guard: once per target
// file, by attention_kernels-inl.h).
//
//             16 rows a panel, panels side by side     For a tile of columns and a group of panels, in L1 and L2:
//           ┌────────┬────────┬───                   scores  = k · qᵀ              6 columns a call, panel by panel
//   columns │ shares │        │ …                    shares  = exp(scores) / sum   in L1
//   of k    │ slopes │        │                      slopes  = v · out_gradᵀ       then shares · (slopes - means), in
//           └────────┴────────┴───                                                 the registers of the product
//   elements┌────────┐                               q_grad += kᵀ · slopes         6 elements of k a call
//   of q    │ q_grad │                               v_grad += shares · out_grad   6 columns by 16 elements a call,
//           └────────┘                               k_grad += slopes · q          along the rows of all panels
//
// Three products have a row to each lane, as forward does; the last two sum over rows, with an element to each lane.
// Each reads its 6 numbers a step as broadcasts from where the one before has written them, so that no tile is packed.
#include <hwy/highway.h>

#include "cpu/products/attention_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace attention_simd {
namespace hn = hwy::HWY_NAMESPACE;

/// slopes(i, ·) = shares(i, ·) · (Σ_p a(i, p) · b(p, ·) - mean) for i < kRows.
template <class T, int kRows>
void SlopeTile(const T* a, const T* b, std::int64_t depth, const T* shares, const T* mean, T* slopes) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V sum[kRows][2];
  LaneSums<T, kRows>(a, b, depth, sum);
  TERN_ATTENTION_UNROLL for (int v = 0; v < 2; ++v) {
    const V less = hn::LoadU(d, mean + v * kLanes);
    TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) {
      const std::int64_t at = (2 * i + v) * kLanes;
      hn::StoreU(hn::Mul(hn::LoadU(d, shares + at), hn::Sub(sum[i][v], less)), d, slopes + at);
    }
  }
}
template <class T, int kRows>
HWY_INLINE void PickSlopeTile(std::int64_t rows, const T* a, const T* b, std::int64_t depth, const T* shares,
                              const T* mean, T* slopes) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return PickSlopeTile<T, kRows - 1>(rows, a, b, depth, shares, mean, slopes);
  }
  SlopeTile<T, kRows>(a, b, depth, shares, mean, slopes);
}

/// c(i, ·) += Σ over the rows of all panels of a(i, row) · b(row, ·) for i < kRows: a tile of shares or slopes, whose
/// panels are a_panel apart, and rows of a panel's width.
template <class T, int kRows>
void RowsTile(const T* a, std::int64_t a_panel, std::int64_t panels, const T* b, T* c, std::int64_t c_row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T), kPanel = 2 * kLanes, kSteps = 4;
  V sum[kRows][2];
  TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  for (std::int64_t panel = 0; panel < panels; ++panel, a += a_panel)
    for (std::int64_t from = 0; from < kPanel; from += kSteps, b += kSteps * kPanel) {
      TERN_ATTENTION_UNROLL for (std::int64_t step = 0; step < kSteps; ++step) {
        const V b0 = hn::LoadU(d, b + step * kPanel), b1 = hn::LoadU(d, b + step * kPanel + kLanes);
        TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) {
          const V x = hn::Set(d, a[i * kPanel + from + step]);
          sum[i][0] = hn::MulAdd(x, b0, sum[i][0]), sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
        }
      }
    }
  TERN_ATTENTION_UNROLL for (int i = 0; i < kRows; ++i) {
    T* const to = c + i * c_row;
    hn::StoreU(hn::Add(hn::LoadU(d, to), sum[i][0]), d, to);
    hn::StoreU(hn::Add(hn::LoadU(d, to + kLanes), sum[i][1]), d, to + kLanes);
  }
}
template <class T, int kRows>
HWY_INLINE void PickRowsTile(std::int64_t rows, const T* a, std::int64_t a_panel, std::int64_t panels, const T* b, T* c,
                             std::int64_t c_row) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return PickRowsTile<T, kRows - 1>(rows, a, a_panel, panels, b, c, c_row);
  }
  RowsTile<T, kRows>(a, a_panel, panels, b, c, c_row);
}
/// c (cols × elements, whole panels) += tile · b, whose panels of elements are b_block apart.
template <class T>
void RowsProduct(const T* tile, std::int64_t panels, std::int64_t cols, const T* b, std::int64_t b_block,
                 std::int64_t elements, T* c, std::int64_t c_row) {
  constexpr std::int64_t kPanel = 2 * HWY_LANES(T);
  for (std::int64_t w = 0; w < elements; w += kPanel, b += b_block)
    for (std::int64_t j = 0; j < cols; j += kBeside)
      PickRowsTile<T, kBeside>(cols - j, tile + j * kPanel, cols * kPanel, panels, b, c + j * c_row + w, c_row);
}

/// Scores of `kColumns` columns become shares; those of a row whose factor is 0 are 0, whatever its scores.
template <class T, int kColumns, class V>
HWY_INLINE void FinalShares(T* at, V scale, const V (&less)[2], const V (&times)[2]) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V x[2 * kColumns];
  TERN_ATTENTION_UNROLL for (int i = 0; i < 2 * kColumns; ++i)
      x[i] = hn::Sub(hn::Mul(scale, hn::LoadU(d, at + i * kLanes)), less[i % 2]);
  ExpBeside(d, x);
  TERN_ATTENTION_UNROLL for (int i = 0; i < 2 * kColumns; ++i)
      hn::StoreU(hn::IfThenZeroElse(hn::Eq(times[i % 2], hn::Zero(d)), hn::Mul(x[i], times[i % 2])), d,
                 at + i * kLanes);
}

/// Shares, slopes and the gradient of q of panel `panel` of the group.
template <class T> void PanelBackward(const AttentionLanesBackward& r, std::int64_t panel) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T), kPanel = 2 * kLanes;
  const auto of_panel = [&](const void* rows, std::int64_t each) {
    return static_cast<const T*>(rows) + panel * kPanel * each;
  };
  T* const shares = static_cast<T*>(r.shares) + panel * kPanel * r.cols;
  T* const slopes = static_cast<T*>(r.slopes) + panel * kPanel * r.cols;
  for (std::int64_t j = 0; j < r.cols; j += kBeside)
    PickLaneTile<T, kBeside>(r.cols - j, static_cast<const T*>(r.k) + j * r.depth, of_panel(r.q, r.depth), r.depth,
                             shares + j * kPanel, false, nullptr);
  HWY_ALIGN T greatest[kPanel];
  if (r.first) HideLanes(shares, r.cols, of_panel(r.first, 1), of_panel(r.end, 1), greatest);
  const V scale = hn::Set(d, static_cast<T>(r.scale));
  const T *const shift = of_panel(r.shift, 1), *const factor = of_panel(r.factor, 1);
  const V less[2] = {hn::LoadU(d, shift), hn::LoadU(d, shift + kLanes)};
  const V times[2] = {hn::LoadU(d, factor), hn::LoadU(d, factor + kLanes)};
  std::int64_t j = 0;
  for (; j + 2 <= r.cols; j += 2) FinalShares<T, 2>(shares + j * kPanel, scale, less, times);
  for (; j < r.cols; ++j) FinalShares<T, 1>(shares + j * kPanel, scale, less, times);
  for (j = 0; j < r.cols; j += kBeside)
    PickSlopeTile<T, kBeside>(r.cols - j, static_cast<const T*>(r.v) + j * r.width, of_panel(r.out_grad, r.width),
                              r.width, shares + j * kPanel, of_panel(r.mean, 1), slopes + j * kPanel);
  T* const q_grad = static_cast<T*>(r.q_grad) + panel * kPanel * r.depth;
  for (std::int64_t p = 0; p < r.depth; p += kBeside)
    PickLaneTile<T, kBeside>(r.depth - p, static_cast<const T*>(r.k_beside) + p / kBeside * r.k_block, slopes, r.cols,
                             q_grad + p * kPanel, true, nullptr);
}

template <class T> void LanesBackward(const AttentionLanesBackward& r) {
  for (std::int64_t panel = 0; panel < r.panels; ++panel) PanelBackward<T>(r, panel);
  RowsProduct(static_cast<const T*>(r.shares), r.panels, r.cols, static_cast<const T*>(r.out_grad_rows), r.rows_block,
              r.width, static_cast<T*>(r.v_grad), r.v_row);
  RowsProduct(static_cast<const T*>(r.slopes), r.panels, r.cols, static_cast<const T*>(r.q_rows), r.rows_block, r.depth,
              static_cast<T*>(r.k_grad), r.k_row);
}

}  // namespace attention_simd
}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
#undef TERN_ATTENTION_UNROLL
