// Factorisations of as many small matrices as a vector has lanes, for the SIMD target being compiled (no include guard:
// once per target file). (Longer than other files: each factorisation in registers and in memory.)
//
// Every lane does the same, so there is no shuffle but where matrices become lanes, by 4×4 in registers. Matrices of up
// to four rows are eliminated in registers, whose rows are exchanged by selections; of larger ones rows are exchanged
// in memory, lane by lane. Elements are computed as dot products, four rows at a time: two loads for each
// multiply-add become 1.25. A block of 32×32 in f32 is 64 KiB with sixteen lanes: it stays in L2.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "primitives/linalg/lanes.hpp"

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
/// Turns each square of pieces.
HWY_INLINE void Turn(hn::Vec<Lanes<float>::D>* v) {
  const Lanes<float>::D d;
  const hn::Repartition<double, Lanes<float>::D> wide;
  const auto a = hn::BitCast(wide, hn::InterleaveLower(d, v[0], v[1]));
  const auto b = hn::BitCast(wide, hn::InterleaveUpper(d, v[0], v[1]));
  const auto c = hn::BitCast(wide, hn::InterleaveLower(d, v[2], v[3]));
  const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(wide, a, c)), v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, a, c));
  v[2] = hn::BitCast(d, hn::InterleaveLower(wide, b, e)), v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, b, e));
}
HWY_INLINE void Turn(hn::Vec<Lanes<double>::D>* v) {
  const Lanes<double>::D d;
  const auto a = v[0];
  v[0] = hn::InterleaveLower(d, a, v[1]), v[1] = hn::InterleaveUpper(d, a, v[1]);
}

/// `count` elements that lie together in every matrix, from `first` on, to places that do so or are `step` apart.
template <class T>
HWY_INLINE void LoadRun(const LaneView<const T>& v, std::int64_t first, std::int64_t count, T* block,
                        std::int64_t step) {
  using L = Lanes<T>;
  std::int64_t e = 0;
  for (; e + L::kPiece <= count; e += L::kPiece) {
    typename L::V x[L::kPiece];
    TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) x[q] = Pieces(typename L::D(), v.at + q, first + e);
    Turn(x);
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
  if (v.count == L::kCount) {
    for (; e + L::kPiece <= count; e += L::kPiece) {
      typename L::V x[L::kPiece];
      TERN_LANES_UNROLL for (int q = 0; q < L::kPiece; ++q) x[q] = L::Load(block, (e + q) * step);
      Turn(x);
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

// ---- of any size, in memory ----

/// first - Σ_k a[k·step_a] · b[k·step_b], in elements of a matrix.
template <class T>
HWY_INLINE typename Lanes<T>::V LessDot(typename Lanes<T>::V first, const T* a, std::int64_t step_a, const T* b,
                                        std::int64_t step_b, int count) {
  using L = Lanes<T>;
  for (int k = 0; k < count; ++k) first = hn::NegMulAdd(L::Load(a, k * step_a), L::Load(b, k * step_b), first);
  return first;
}
/// The same for four: of a's and of firsts that are apart_a and apart apart, into x, with one b.
template <class T>
HWY_INLINE void LessFourDots(T* x, std::int64_t apart, const T* a, std::int64_t apart_a, std::int64_t step_a,
                             const T* b, std::int64_t step_b, int count) {
  using L = Lanes<T>;
  auto x0 = L::Load(x, 0), x1 = L::Load(x, apart), x2 = L::Load(x, 2 * apart), x3 = L::Load(x, 3 * apart);
  for (int k = 0; k < count; ++k, a += step_a * L::kCount) {
    const auto y = L::Load(b, k * step_b);
    x0 = hn::NegMulAdd(L::Load(a, 0), y, x0), x1 = hn::NegMulAdd(L::Load(a, apart_a), y, x1);
    x2 = hn::NegMulAdd(L::Load(a, 2 * apart_a), y, x2), x3 = hn::NegMulAdd(L::Load(a, 3 * apart_a), y, x3);
  }
  L::Store(x0, x, 0), L::Store(x1, x, apart), L::Store(x2, x, 2 * apart), L::Store(x3, x, 3 * apart);
}

template <class T> void Cholesky(int n, T* block, std::int32_t* status) {
  using L = Lanes<T>;
  const typename L::D d;
  const auto at = [=](int i, int j) { return block + (std::int64_t{i} * n + j) * L::kCount; };
  for (int j = 0; j < n; ++j) {
    const auto left = LessDot<T>(L::Load(at(j, j), 0), at(j, 0), 1, at(j, 0), 1, j);
    NoteStatus<T>(hn::Not(hn::Gt(left, hn::Zero(d))), j + 1, status);
    const auto root = hn::Sqrt(left);
    L::Store(root, at(j, j), 0);
    int i = j + 1;
    for (; i + 4 <= n; i += 4) {
      LessFourDots(at(i, j), n, at(i, 0), n, 1, at(j, 0), 1, j);
      for (int r = i; r < i + 4; ++r) L::Store(hn::Div(L::Load(at(r, j), 0), root), at(r, j), 0);
    }
    for (; i < n; ++i)
      L::Store(hn::Div(LessDot<T>(L::Load(at(i, j), 0), at(i, 0), 1, at(j, 0), 1, j), root), at(i, j), 0);
    for (int c = j + 1; c < n; ++c) L::Store(hn::Zero(d), at(j, c), 0);
  }
}

/// Rows k and pivots[lane] of every lane change places.
template <class T> HWY_INLINE void Exchange(int columns, int k, const std::int32_t* pivots, T* block) {
  using L = Lanes<T>;
  for (int l = 0; l < L::kCount; ++l) {
    if (pivots[l] == k) continue;
    T *const a = block + std::int64_t{k} * columns * L::kCount + l, *const b =
                                                                        block +
                                                                        std::int64_t{pivots[l]} * columns * L::kCount +
                                                                        l;
    for (std::int64_t j = 0; j < columns; ++j) std::swap(a[j * L::kCount], b[j * L::kCount]);
  }
}
/// By columns (Crout): those to the left are done.
template <class T> void Lu(int m, int n, T* block, std::int32_t* pivots, std::int32_t* status) {
  using L = Lanes<T>;
  const typename L::D d;
  const auto at = [=](int i, int j) { return block + (std::int64_t{i} * n + j) * L::kCount; };
  for (int j = 0; j < n; ++j) {
    const int above = std::min(j, m);
    for (int i = 1; i < above; ++i)
      L::Store(LessDot<T>(L::Load(at(i, j), 0), at(i, 0), 1, at(0, j), n, i), at(i, j), 0);
    int i = above;
    for (; i + 4 <= m; i += 4) LessFourDots(at(i, j), n, at(i, 0), n, 1, at(0, j), n, j);
    for (; i < m; ++i) L::Store(LessDot<T>(L::Load(at(i, j), 0), at(i, 0), 1, at(0, j), n, j), at(i, j), 0);
    if (j >= m) continue;
    auto best = hn::Abs(L::Load(at(j, j), 0)), place = L::Set(j);
    for (i = j + 1; i < m; ++i) {
      const auto size = hn::Abs(L::Load(at(i, j), 0));
      const auto larger = hn::Gt(size, best);
      best = hn::IfThenElse(larger, size, best), place = hn::IfThenElse(larger, L::Set(i), place);
    }
    HWY_ALIGN T places[L::kCount];
    L::Store(place, places, 0);
    std::int32_t* const rows = pivots + std::int64_t{j} * L::kCount;
    for (int l = 0; l < L::kCount; ++l) rows[l] = static_cast<std::int32_t>(places[l]);
    Exchange(n, j, rows, block);
    const auto pivot = L::Load(at(j, j), 0), none = hn::Zero(d);
    const auto zero = hn::Eq(pivot, none);
    NoteStatus<T>(zero, j + 1, status);
    const auto by = hn::IfThenElse(zero, L::Set(1), pivot);
    for (i = j + 1; i < m; ++i) L::Store(hn::Div(L::Load(at(i, j), 0), by), at(i, j), 0);
  }
}

template <class T> void Triangle(const LaneTriangle<T>& t, int right, T* b) {
  using L = Lanes<T>;
  for (int row = 0; row < t.n; ++row) {
    const int i = t.lower ? row : t.n - 1 - row, first = t.lower ? 0 : i + 1, known = row;
    const T* const a = t.block + (i * t.row_step + first * t.column_step) * L::kCount;
    const T* const x = b + std::int64_t{first} * right * L::kCount;
    T* const to = b + std::int64_t{i} * right * L::kCount;
    const auto diagonal = t.unit ? L::Set(1) : L::Load(t.block, i * (t.row_step + t.column_step));
    int c = 0;
    for (; c + 4 <= right; c += 4)
      LessFourDots(to + c * L::kCount, 1, x + c * L::kCount, 1, right, a, t.column_step, known);
    for (; c < right; ++c)
      L::Store(LessDot<T>(L::Load(to, c), a, t.column_step, x + c * L::kCount, right, known), to, c);
    if (!t.unit)
      for (c = 0; c < right; ++c) L::Store(hn::Div(L::Load(to, c), diagonal), to, c);
  }
}
template <class T> void Permute(int n, int right, const std::int32_t* pivots, bool back, T* b) {
  for (int k = 0; k < n; ++k) {
    const int row = back ? n - 1 - k : k;
    Exchange(right, row, pivots + std::int64_t{row} * Lanes<T>::kCount, b);
  }
}

// ---- of up to four rows, in registers ----

/// [a | b] with a made upper triangular and b solved for; rows are exchanged so that the largest element of what is
/// left of a column stands on the diagonal. By reciprocals of pivots; where one of them has none, false.
template <class T, int N, int M, bool kExact>
HWY_INLINE bool Eliminate(const T* block, T* a_out, T* b_block, bool identity, T* det, bool sign_only,
                          std::int32_t* status) {
  using L = Lanes<T>;
  using V = typename L::V;
  const typename L::D d;
  constexpr int kAll = N + M;
  V x[N * kAll], inverse[N];
  TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
    TERN_LANES_UNROLL for (int j = 0; j < N; ++j) x[i * kAll + j] = L::Load(block, i * N + j);
    TERN_LANES_UNROLL for (int j = 0; j < M; ++j) x[i * kAll + N + j] =
        identity ? L::Set(i == j) : L::Load(b_block, i * M + j);
  }
  V sign = L::Set(1), least = L::Set(1);
  typename L::M zeros[N];
  TERN_LANES_UNROLL for (int k = 0; k < N; ++k) {
    TERN_LANES_UNROLL for (int i = k + 1; i < N; ++i) {
      const auto larger = hn::Gt(hn::Abs(x[i * kAll + k]), hn::Abs(x[k * kAll + k]));
      TERN_LANES_UNROLL for (int j = k; j < kAll; ++j) {
        const V first = x[k * kAll + j], second = x[i * kAll + j];
        x[k * kAll + j] = hn::IfThenElse(larger, second, first),
                     x[i * kAll + j] = hn::IfThenElse(larger, first, second);
      }
      sign = hn::IfThenElse(larger, hn::Neg(sign), sign);
    }
    const V pivot = x[k * kAll + k];
    zeros[k] = hn::Eq(pivot, hn::Zero(d));
    if constexpr (!kExact) least = hn::Min(least, hn::Abs(pivot)), inverse[k] = hn::Div(L::Set(1), pivot);
    const V by = hn::IfThenElse(zeros[k], L::Set(1), pivot);
    TERN_LANES_UNROLL for (int i = k + 1; i < N; ++i) {
      const V factor = kExact ? hn::Div(x[i * kAll + k], by) : hn::Mul(x[i * kAll + k], inverse[k]);
      TERN_LANES_UNROLL for (int j = k + 1; j < kAll; ++j) x[i * kAll + j] =
          hn::NegMulAdd(factor, x[k * kAll + j], x[i * kAll + j]);
    }
  }
  if constexpr (!kExact) {
    const V normal = hn::Set(d, std::numeric_limits<T>::min() * 4);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Ge(least, normal)))) return false;
  } else {
    TERN_LANES_UNROLL for (int k = 0; k < N; ++k) NoteStatus<T>(zeros[k], k + 1, status);
  }
  if (det) {
    V product = sign;
    TERN_LANES_UNROLL for (int k = 0; k < N; ++k) {
      if (sign_only) L::Store(x[k * kAll + k], a_out, k * (N + 1));
      else product = hn::Mul(product, x[k * kAll + k]);
    }
    L::Store(product, det, 0);
  }
  TERN_LANES_UNROLL for (int j = N; j < kAll; ++j) {
    TERN_LANES_UNROLL for (int i = N - 1; i >= 0; --i) {
      V left = x[i * kAll + j];
      TERN_LANES_UNROLL for (int k = i + 1; k < N; ++k) left = hn::NegMulAdd(x[i * kAll + k], x[k * kAll + j], left);
      x[i * kAll + j] = kExact ? hn::Div(left, x[i * kAll + i]) : hn::Mul(left, inverse[i]);
      L::Store(x[i * kAll + j], b_block, i * M + j - N);
    }
  }
  return true;
}
template <class T, int N, int M>
void DirectOf(bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status) {
  if (!Eliminate<T, N, M, false>(a, a, b, identity, det, sign_only, status))
    Eliminate<T, N, M, true>(a, a, b, identity, det, sign_only, status);
}
template <class T, int N> void CholeskyOf(T* block, std::int32_t* status) {
  using L = Lanes<T>;
  using V = typename L::V;
  const typename L::D d;
  V x[N * N];
  typename L::M bad[N];
  TERN_LANES_UNROLL for (int j = 0; j < N; ++j) {
    TERN_LANES_UNROLL for (int i = j; i < N; ++i) {
      V left = L::Load(block, i * N + j);
      TERN_LANES_UNROLL for (int k = 0; k < j; ++k) left = hn::NegMulAdd(x[i * N + k], x[j * N + k], left);
      if (i == j) bad[j] = hn::Not(hn::Gt(left, hn::Zero(d)));
      x[i * N + j] = i == j ? hn::Sqrt(left) : hn::Div(left, x[j * N + j]);
    }
  }
  TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
    TERN_LANES_UNROLL for (int j = 0; j < N; ++j) L::Store(j <= i ? x[i * N + j] : hn::Zero(d), block, i * N + j);
  }
  TERN_LANES_UNROLL for (int k = 0; k < N; ++k) NoteStatus<T>(bad[k], k + 1, status);
}
template <class T> void AnyCholesky(int n, T* block, std::int32_t* status) {
  switch (n) {
    case 2: return CholeskyOf<T, 2>(block, status);
    case 3: return CholeskyOf<T, 3>(block, status);
    case 4: return CholeskyOf<T, 4>(block, status);
    default: return Cholesky(n, block, status);
  }
}

/// By factors that are not kept.
template <class T>
void DirectInMemory(int n, int right, bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status) {
  using L = Lanes<T>;
  std::int32_t pivots[32 * kMostLanes];
  Lu(n, n, a, pivots, status);
  if (det) {
    for (int l = 0; l < L::kCount; ++l) {
      T product = 1;
      for (int k = 0; k < n; ++k) {
        if (!sign_only) product *= a[std::int64_t{k} * (n + 1) * L::kCount + l];
        if (pivots[k * L::kCount + l] != k) product = -product;
      }
      det[l] = product;
    }
  }
  if (right == 0) return;
  if (identity)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) L::Store(L::Set(i == j), b, std::int64_t{i} * n + j);
  Permute(n, right, pivots, false, b);
  Triangle<T>({a, n, n, 1, true, true}, right, b), Triangle<T>({a, n, n, 1, false, false}, right, b);
}
template <class T, int N>
bool DirectOfRows(int right, bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status) {
  if (right == 0) return DirectOf<T, N, 0>(false, a, b, det, sign_only, status), true;
  if (right == 1) return DirectOf<T, N, 1>(identity, a, b, det, sign_only, status), true;
  if (right == N) return DirectOf<T, N, N>(identity, a, b, det, sign_only, status), true;
  return false;
}
template <class T>
void Direct(int n, int right, bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status) {
  if (n == 2 && DirectOfRows<T, 2>(right, identity, a, b, det, sign_only, status)) return;
  if (n == 3 && DirectOfRows<T, 3>(right, identity, a, b, det, sign_only, status)) return;
  if (n == 4 && DirectOfRows<T, 4>(right, identity, a, b, det, sign_only, status)) return;
  DirectInMemory(n, right, identity, a, b, det, sign_only, status);
}

template <class T> constexpr LaneKernels<T> KernelsOf() {
  return {static_cast<int>(Lanes<T>::kCount),
          &LoadBlock<T>,
          &StoreBlock<T>,
          &Finite<T>,
          &AnyCholesky<T>,
          &Lu<T>,
          &Triangle<T>,
          &Permute<T>,
          &Direct<T>};
}

}  // namespace HWY_NAMESPACE

#define TERN_MATRIX_LANES_(name) matrix_lanes_##name
#define TERN_MATRIX_LANES(name) TERN_MATRIX_LANES_(name)
/// matrix_lanes_N_AVX2() and so on, called on processors that have the target.
const AllLaneKernels& TERN_MATRIX_LANES(HWY_NAMESPACE)() {
  static constexpr AllLaneKernels all{HWY_NAMESPACE::KernelsOf<float>(), HWY_NAMESPACE::KernelsOf<double>()};
  return all;
}
}  // namespace tern::detail_cpu::matrices
HWY_AFTER_NAMESPACE();
