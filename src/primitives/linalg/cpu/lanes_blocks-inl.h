// Blocks of small matrices, one a lane, for the SIMD target being compiled (no include guard: once per target file):
// matrices become lanes by 4×4 in registers (2×2 in f64) and go back so.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "primitives/linalg/cpu/lanes.hpp"
#include "primitives/linalg/linalg.hpp"
#include "primitives/linalg/sweeps.hpp"

#if defined(__clang__)
#define TERN_LANES_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERN_LANES_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::matrices {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T> struct Lanes {
  using D = hn::CappedTag<T, kMostLanes>;
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  static constexpr std::int64_t kCount = hn::MaxLanes(D());
  static constexpr std::int64_t kPiece = 16 / static_cast<std::int64_t>(sizeof(T));  // elements of 128 bits
  static HWY_INLINE V Load(const T* block, std::int64_t i) { return hn::LoadU(D(), block + i * kCount); }
  static HWY_INLINE void Store(V v, T* block, std::int64_t i) { hn::StoreU(v, D(), block + i * kCount); }
  static HWY_INLINE V Set(double x) { return hn::Set(D(), static_cast<T>(x)); }
};

// ---- between memory and blocks ----

/// One piece of 128 bits of every kPiece-th matrix, one after the other.
template <class D, class T = hn::TFromD<D>> HWY_INLINE hn::Vec<D> Pieces(D d, const T* const* at, std::int64_t e) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) <= 16) {
    return hn::LoadU(d, at[0] + e);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, Pieces(half, at + hn::MaxLanes(half), e), Pieces(half, at, e));
  }
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StorePieces(D d, hn::Vec<D> v, T* const* at, std::int64_t e) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) <= 16) {
    hn::StoreU(v, d, at[0] + e);
  } else {
    const hn::Half<D> half;
    StorePieces(half, hn::LowerHalf(half, v), at, e);
    StorePieces(half, hn::UpperHalf(half, v), at + hn::MaxLanes(half), e);
  }
}
/// Transposes each square of pieces.
HWY_INLINE void TransposeSquares(hn::Vec<Lanes<float>::D>* v) {
  const Lanes<float>::D d;
  const hn::Repartition<double, Lanes<float>::D> wide;
  const auto a = hn::BitCast(wide, hn::InterleaveLower(d, v[0], v[1]));
  const auto b = hn::BitCast(wide, hn::InterleaveUpper(d, v[0], v[1]));
  const auto c = hn::BitCast(wide, hn::InterleaveLower(d, v[2], v[3]));
  const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(wide, a, c)), v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, a, c));
  v[2] = hn::BitCast(d, hn::InterleaveLower(wide, b, e)), v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, b, e));
}
HWY_INLINE void TransposeSquares(hn::Vec<Lanes<double>::D>* v) {
  const Lanes<double>::D d;
  const auto a = v[0];
  v[0] = hn::InterleaveLower(d, a, v[1]), v[1] = hn::InterleaveUpper(d, a, v[1]);
}

/// `count` elements that lie together in every matrix, from `first` on, to places that do so or are `step` apart. The
/// last piece goes back over elements of the one before.
template <class T>
HWY_INLINE void LoadRun(const LaneView<const T>& v, std::int64_t first, std::int64_t count, T* block,
                        std::int64_t step) {
  using L = Lanes<T>;
  std::int64_t e = 0;
  for (; e < count && count >= L::kPiece; e += L::kPiece) {
    e = std::min(e, count - L::kPiece);
    typename L::V x[L::kPiece];
    TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) x[q] = Pieces(typename L::D(), v.at + q, first + e);
    TransposeSquares(x);
    TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) L::Store(x[q], block, (e + q) * step);
  }
  for (; e < count; ++e)
    for (int l = 0; l < L::kCount; ++l) block[e * step * L::kCount + l] = v.at[l][first + e];
}
template <class T>
HWY_INLINE void StoreRun(const T* block, std::int64_t step, const LaneView<T>& v, std::int64_t first,
                         std::int64_t count) {
  using L = Lanes<T>;
  std::int64_t e = 0;
  if (v.count == L::kCount && count >= L::kPiece) {
    for (; e < count; e += L::kPiece) {
      e = std::min(e, count - L::kPiece);
      typename L::V x[L::kPiece];
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) x[q] = L::Load(block, (e + q) * step);
      TransposeSquares(x);
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) StorePieces(typename L::D(), x[q], v.at + q, first + e);
    }
  }
  for (; e < count; ++e)
    for (int l = 0; l < v.count; ++l) v.at[l][first + e] = block[e * step * L::kCount + l];
}
template <class T> void LoadBlock(const LaneView<const T>& v, T* block) {
  using L = Lanes<T>;
  if (v.column_step == 1 && (v.row_step == v.columns || v.rows == 1))
    return LoadRun(v, 0, v.rows * v.columns, block, 1);
  if (v.column_step == 1 && v.columns > 1) {
    for (std::int64_t i = 0; i < v.rows; ++i)
      LoadRun(v, i * v.row_step, v.columns, block + i * v.columns * L::kCount, 1);
  } else if (v.row_step == 1) {
    for (std::int64_t j = 0; j < v.columns; ++j)
      LoadRun(v, j * v.column_step, v.rows, block + j * L::kCount, v.columns);
  } else {
    for (std::int64_t i = 0; i < v.rows; ++i)
      for (std::int64_t j = 0; j < v.columns; ++j)
        for (int l = 0; l < L::kCount; ++l)
          block[(i * v.columns + j) * L::kCount + l] = v.at[l][i * v.row_step + j * v.column_step];
  }
}
template <class T> void StoreBlock(const T* block, const LaneView<T>& v) {
  using L = Lanes<T>;
  if (v.column_step == 1 && (v.row_step == v.columns || v.rows == 1))
    return StoreRun(block, 1, v, 0, v.rows * v.columns);
  if (v.column_step == 1 && v.columns > 1) {
    for (std::int64_t i = 0; i < v.rows; ++i)
      StoreRun(block + i * v.columns * L::kCount, 1, v, i * v.row_step, v.columns);
  } else if (v.row_step == 1) {
    for (std::int64_t j = 0; j < v.columns; ++j)
      StoreRun(block + j * L::kCount, v.columns, v, j * v.column_step, v.rows);
  } else {
    for (std::int64_t i = 0; i < v.rows; ++i)
      for (std::int64_t j = 0; j < v.columns; ++j)
        for (int l = 0; l < v.count; ++l)
          v.at[l][i * v.row_step + j * v.column_step] = block[(i * v.columns + j) * L::kCount + l];
  }
}

// ---- between dense memory and registers ----

/// Pieces of matrices that lie kApart elements from each other.
template <std::int64_t kApart, class D, class T = hn::TFromD<D>> HWY_INLINE hn::Vec<D> EvenPieces(D d, const T* at) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) <= 16) {
    return hn::LoadU(d, at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, EvenPieces<kApart>(half, at + hn::MaxLanes(half) * kApart), EvenPieces<kApart>(half, at));
  }
}
template <std::int64_t kApart, class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreEvenPieces(D d, hn::Vec<D> v, T* at) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) <= 16) {
    hn::StoreU(v, d, at);
  } else {
    const hn::Half<D> half;
    StoreEvenPieces<kApart>(half, hn::LowerHalf(half, v), at);
    StoreEvenPieces<kApart>(half, hn::UpperHalf(half, v), at + hn::MaxLanes(half) * kApart);
  }
}
#if HWY_TARGET <= HWY_AVX3
/// Transposes a square of 4×4 pieces of 128 bits.
HWY_INLINE void TransposePieces(hn::Vec<Lanes<float>::D>* v) {
  const __m512 a = _mm512_shuffle_f32x4(v[0].raw, v[1].raw, 0x44), b = _mm512_shuffle_f32x4(v[0].raw, v[1].raw, 0xee);
  const __m512 c = _mm512_shuffle_f32x4(v[2].raw, v[3].raw, 0x44), d = _mm512_shuffle_f32x4(v[2].raw, v[3].raw, 0xee);
  v[0].raw = _mm512_shuffle_f32x4(a, c, 0x88), v[1].raw = _mm512_shuffle_f32x4(a, c, 0xdd);
  v[2].raw = _mm512_shuffle_f32x4(b, d, 0x88), v[3].raw = _mm512_shuffle_f32x4(b, d, 0xdd);
}
HWY_INLINE void TransposePieces(hn::Vec<Lanes<double>::D>* v) {
  const hn::Repartition<float, Lanes<double>::D> narrow;
  const Lanes<double>::D d;
  hn::Vec<Lanes<float>::D> x[4];
  TERN_LANES_UNROLL for (int i = 0; i < 4; ++i) x[i] = hn::BitCast(narrow, v[i]);
  TransposePieces(x);
  TERN_LANES_UNROLL for (int i = 0; i < 4; ++i) v[i] = hn::BitCast(d, x[i]);
}
constexpr bool kTransposesPieces = true;
#else
template <class V> HWY_INLINE void TransposePieces(V*) {}
constexpr bool kTransposesPieces = false;
#endif

/// kEach elements of every lane's matrix, which lie one behind the other.
template <class T, int kEach> HWY_INLINE void LoadDense(const T* at, typename Lanes<T>::V* x) {
  using L = Lanes<T>;
  const typename L::D d;
  if constexpr (kEach == 1) {
    x[0] = hn::LoadU(d, at);
  } else if constexpr (kEach < L::kPiece) {
    if constexpr (kEach == 2) hn::LoadInterleaved2(d, at, x[0], x[1]);
    else hn::LoadInterleaved3(d, at, x[0], x[1], x[2]);
  } else if constexpr (kTransposesPieces && kEach % (4 * L::kPiece) == 0) {
    TERN_LANES_UNROLL for (int e = 0; e < kEach; e += 4 * L::kPiece) {
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) {
        typename L::V part[4];
        TERN_LANES_UNROLL for (int l = 0; l < 4; ++l) part[l] = hn::LoadU(d, at + (q + l * L::kPiece) * kEach + e);
        TransposePieces(part);
        TERN_LANES_UNROLL for (int p = 0; p < 4; ++p) x[e + p * L::kPiece + q] = part[p];
      }
      TERN_LANES_UNROLL for (int p = 0; p < 4; ++p) TransposeSquares(x + e + p * L::kPiece);
    }
  } else {
    constexpr int kPieces = static_cast<int>((kEach + L::kPiece - 1) / L::kPiece);
    TERN_LANES_UNROLL for (int p = 0; p < kPieces; ++p) {
      const auto e = std::min<std::int64_t>(p * L::kPiece, kEach - L::kPiece);
      typename L::V part[L::kPiece];
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) part[q] = EvenPieces<kEach>(d, at + q * kEach + e);
      TransposeSquares(part);
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) x[e + q] = part[q];
    }
  }
}
template <class T, int kEach> HWY_INLINE void StoreDense(const typename Lanes<T>::V* x, T* at) {
  using L = Lanes<T>;
  const typename L::D d;
  if constexpr (kEach == 1) {
    hn::StoreU(x[0], d, at);
  } else if constexpr (kEach < L::kPiece) {
    if constexpr (kEach == 2) hn::StoreInterleaved2(x[0], x[1], d, at);
    else hn::StoreInterleaved3(x[0], x[1], x[2], d, at);
  } else if constexpr (kTransposesPieces && kEach % (4 * L::kPiece) == 0) {
    TERN_LANES_UNROLL for (int e = 0; e < kEach; e += 4 * L::kPiece) {
      typename L::V transposed[4 * L::kPiece];
      TERN_LANES_UNROLL for (int i = 0; i < 4 * L::kPiece; ++i) transposed[i] = x[e + i];
      TERN_LANES_UNROLL for (int p = 0; p < 4; ++p) TransposeSquares(transposed + p * L::kPiece);
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) {
        typename L::V part[4];
        TERN_LANES_UNROLL for (int p = 0; p < 4; ++p) part[p] = transposed[p * L::kPiece + q];
        TransposePieces(part);
        TERN_LANES_UNROLL for (int l = 0; l < 4; ++l) hn::StoreU(part[l], d, at + (q + l * L::kPiece) * kEach + e);
      }
    }
  } else {
    constexpr int kPieces = static_cast<int>((kEach + L::kPiece - 1) / L::kPiece);
    TERN_LANES_UNROLL for (int p = 0; p < kPieces; ++p) {
      const auto e = std::min<std::int64_t>(p * L::kPiece, kEach - L::kPiece);
      typename L::V part[L::kPiece];
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) part[q] = x[e + q];
      TransposeSquares(part);
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) StoreEvenPieces<kEach>(d, part[q], at + q * kEach + e);
    }
  }
}

// ---- statuses ----

/// `value` in the lanes of `where` whose status is 0.
template <class T> HWY_INLINE void NoteStatus(typename Lanes<T>::M where, std::int32_t value, std::int32_t* status) {
  using L = Lanes<T>;
  if (HWY_LIKELY(hn::AllFalse(typename L::D(), where))) return;
  HWY_ALIGN T lanes[L::kCount];
  L::Store(hn::IfThenElseZero(where, L::Set(1)), lanes, 0);
  for (int l = 0; l < L::kCount; ++l)
    if (lanes[l] != 0 && status[l] == 0) status[l] = value;
}
template <class T> void Finite(const T* block, int count, int n, std::int32_t* finite) {
  using L = Lanes<T>;
  const typename L::D d;
  auto sum = hn::Zero(d);  // 0, or NaN once an element was not finite
  if (n == 0) {
    for (int i = 0; i < count; ++i) sum = hn::MulAdd(L::Load(block, i), hn::Zero(d), sum);
  } else {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) sum = hn::MulAdd(L::Load(block, i * n + j), hn::Zero(d), sum);
  }
  HWY_ALIGN T lanes[L::kCount];
  L::Store(sum, lanes, 0);
  for (int l = 0; l < L::kCount; ++l) finite[l] = lanes[l] == 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu::matrices
HWY_AFTER_NAMESPACE();
