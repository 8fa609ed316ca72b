// Factorisations of as many small matrices as a vector has lanes, for the SIMD target being compiled (no include guard:
// once per target file).
//
// Every lane does the same, so there is no shuffle but where matrices become lanes. Of matrices of more than four rows
// (others: lanes_registers-inl.h) rows are exchanged in memory, lane by lane. Elements are computed as dot products,
// four rows at a time: two loads for each multiply-add become 1.25. A block of 32×32 in f32 is 64 KiB with sixteen
// lanes: it stays in L2.
#include "primitives/linalg/cpu/lanes_blocks-inl.h"
#include "primitives/linalg/cpu/lanes_registers-inl.h"
#include "primitives/linalg/cpu/lanes_spectra-inl.h"
#include "primitives/linalg/cpu/lanes_exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::matrices {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
          &Direct<T>,
          &DenseDirect<T>,
          &DenseCholesky<T>,
          &Qr<T>,
          &Eigh<T>,
          &Svd<T>,
          &Exponential<T>};
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
