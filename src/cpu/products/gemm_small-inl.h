// Products of few rows and columns, many at once: the rows of a result are vectors in registers, and B is read where it
// lies. Included by gemm_kernels-inl.h, whose helpers it uses.

/// `cols` elements of a row of B, at most Lanes(d), zeros behind them; nothing else is read.
template <class D, class T> HWY_INLINE hn::Vec<D> LoadColumns(D d, const T* from, std::int64_t cols) {
  if (cols == static_cast<std::int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(cols)), d, from);
#else
  HWY_ALIGN T some[hn::MaxLanes(D())] = {};
  for (std::int64_t j = 0; j < cols; ++j) some[j] = from[j];
  return hn::Load(d, some);
#endif
}
template <class D, class V, class T> HWY_INLINE void StoreColumns(D d, V v, T* to, std::int64_t cols) {
  if (cols == static_cast<std::int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, to);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(cols)), d, to);
#elif HWY_HAVE_SCALABLE
  HWY_ALIGN T some[hn::MaxLanes(D())];
  hn::Store(v, d, some);
  for (std::int64_t j = 0; j < cols; ++j) to[j] = some[j];
#else
  // By halves: a masked store of AVX2 takes 18 micro-operations on Zen 3, and more through memory.
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    constexpr auto kHalf = static_cast<std::int64_t>(hn::MaxLanes(half));
    if (cols < kHalf) return StoreColumns(half, hn::LowerHalf(half, v), to, cols);
    hn::StoreU(hn::LowerHalf(half, v), half, to);
    if (cols > kHalf) StoreColumns(half, hn::UpperHalf(half, v), to + kHalf, cols - kHalf);
  }
#endif
}

/// Rows whose sums registers hold beside the rest.
constexpr int kSmallRows = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 6 : 8;
template <int kCount> struct Count {
  static constexpr int value = kCount;
};

/// Vectors of columns side by side where registers are few. 8 rows of one vector are 6 and 2 of them, whose sums wait
/// for each other: 8x8 in f64 had 0.83 of the speed of a plain loop, by 4 rows of two 1.20 (Zen 3, 30 November 2026).
constexpr int kSmallVectors = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 2 : 1;
/// Rows of so many vectors.
template <int kVectors> constexpr int kRowsOf = kVectors == 1 ? kSmallRows : 4;

/// kRows rows of `cols` columns: of kVectors vectors, all of them where it is kFull. Every element is summed from zero,
/// step by step; kDepth steps, or call.k where that is 0.
template <int kRows, int kVectors, int kDepth, bool kFull, class D, class T>
HWY_INLINE void SmallRows(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c,
                          std::int64_t cols) {
  static_assert(kFull || kVectors == 1);
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  hn::Vec<D> sum[kRows][kVectors];
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] =
      hn::Zero(d);
  const auto step = [&](std::int64_t p) HWY_ATTR {
    hn::Vec<D> row[kVectors];
    TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) row[v] =
        kFull ? hn::LoadU(d, b + p * b_row + v * kLanes) : LoadColumns(d, b + p * b_row, cols);
    TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) {
      const auto factor = hn::Set(d, a[i * call.a_row + p * call.a_col]);
      TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = MultiplyAdd<T>(factor, row[v], sum[i][v]);
    }
  };
  if constexpr (kDepth > 0) {
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) step(p);
  } else {
    for (std::int64_t p = 0; p < call.k; ++p) step(p);
  }
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) {
    if constexpr (kFull) {
      TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[i][v], d, c + i * call.c_row + v * kLanes);
    } else {
      StoreColumns(d, sum[i][0], c + i * call.c_row, cols);
    }
  }
}
/// The same rows of all products, which lie at even steps: what does not change from one to the next is found once.
/// (With the choice of rows in this loop 4x4 in f64 took 110 instructions each, half of them for that.)
template <int kRows, int kVectors, int kDepth, bool kFull, class D, class T>
void RowsOfEach(D d, const GemmSmall& given, const T* a, const T* b, T* c, std::int64_t cols) {
  const GemmSmall call = given;  // a copy that no store can change
  for (std::int64_t i = 0; i < call.count; ++i, a += call.a_step, b += call.b_step, c += call.c_step)
    SmallRows<kRows, kVectors, kDepth, kFull>(d, call, a, b, call.b_row, c, cols);
}
/// All rows of products at even steps, whose B has rows that each lie in one run.
template <int kVectors, int kDepth, bool kFull, class D, class T>
void EvenProducts(D d, const GemmSmall& call, const T* a, const T* b, T* c, std::int64_t cols) {
  std::int64_t i = 0;
  const auto rows = [&](auto count) HWY_ATTR {
    constexpr int kRows = decltype(count)::value;
    RowsOfEach<kRows, kVectors, kDepth, kFull>(d, call, a + i * call.a_row, b, c + i * call.c_row, cols);
    i += kRows;
  };
  constexpr int kMost = kRowsOf<kVectors>;
  while (call.m - i >= kMost) rows(Count<kMost>());
  const std::int64_t left = call.m - i;
  if constexpr (kMost > 4) {
    switch (left) {
      case 5: return rows(Count<5>());
      case 6: return rows(Count<6>());
      case 7: return rows(Count<7>());
      default: break;
    }
  }
  switch (left) {
    case 1: return rows(Count<1>());
    case 2: return rows(Count<2>());
    case 3: return rows(Count<3>());
    default: break;
  }
  if constexpr (kMost > 4)
    if (left == 4) return rows(Count<4>());
}
/// Whether some rows of all products come before the next rows of the first: where they are all its rows, or a product
/// is little work. (Zen 3, one product after the other: 8x8 f32 1.2 to 1.6 times as long, f64 1.1; 12x12 f64 0.8.)
template <int kVectors> bool goes_by_rows(const GemmSmall& call, std::int64_t cols) {
  return call.m <= kRowsOf<kVectors> || call.m * call.k * cols <= 512;
}
/// Products at even steps. Bs whose rows do not lie in one run are copied first, some at a time.
template <int kVectors, int kDepth, bool kFull, class D, class T>
void EvenColumns(D d, const GemmSmall& given, const T* a, const T* b, T* c, std::int64_t cols) {
  constexpr std::int64_t kPacked = 8 * kSmallMost * kSmallMost;  // 16 KiB of f64, for L1
  HWY_ALIGN T packed[kPacked];
  const bool transposed = given.b_col != 1 && cols > 1, by_blocks = given.b_row == 1 && given.k >= 4 && cols >= 4;
  const std::int64_t size = given.k * cols;
  std::int64_t together = goes_by_rows<kVectors>(given, cols) ? given.count : 1;
  if (transposed && given.b_step != 0 && together > kPacked / size) together = kPacked / size;
  GemmSmall call = given;
  if (transposed) call.b_row = cols, call.b_step = given.b_step == 0 ? 0 : size;
  for (std::int64_t first = 0; first < given.count; first += together) {
    call.count = given.count - first < together ? given.count - first : together;
    const T* from = b + first * given.b_step;
    for (std::int64_t i = 0; transposed && i < (given.b_step == 0 ? 1 : call.count); ++i) {
      const T* const one = from + i * given.b_step;
      T* const to = packed + i * size;
      if (by_blocks) {
        CopyTransposed(one, given.b_col, given.k, cols, to, cols);
      } else {
        for (std::int64_t p = 0; p < given.k; ++p)
          for (std::int64_t j = 0; j < cols; ++j) to[p * cols + j] = one[p * given.b_row + j * given.b_col];
      }
    }
    EvenProducts<kVectors, kDepth, kFull>(d, call, a + first * given.a_step, transposed ? packed : from,
                                c + first * given.c_step, cols);
  }
}
/// Columns from `col` on of all products: of those with lists of offsets, one after the other.
template <int kVectors, int kDepth, bool kFull, class D, class T = hn::TFromD<D>>
void SmallColumns(D d, const GemmSmall& given, std::int64_t col, std::int64_t cols) {
  const T *const a = static_cast<const T*>(given.a), *const b = static_cast<const T*>(given.b) + col * given.b_col;
  T* const c = static_cast<T*>(given.c) + col;
  if (!given.a_offsets && !given.b_offsets && !given.c_offsets)
    return EvenColumns<kVectors, kDepth, kFull>(d, given, a, b, c, cols);
  GemmSmall one = given;
  one.count = 1;
  for (std::int64_t i = 0; i < given.count; ++i) {
    const std::int64_t a_at = given.a_offsets ? given.a_offsets[i] : i * given.a_step,
                       b_at = given.b_offsets ? given.b_offsets[i] : i * given.b_step,
                       c_at = given.c_offsets ? given.c_offsets[i] : i * given.c_step;
    EvenColumns<kVectors, kDepth, kFull>(d, one, a + a_at, b + b_at, c + c_at, cols);
  }
}
/// Integers have the code for every depth alone, a quarter of the others' (10,000 products of i32, Emerald Rapids: 2×2
/// 63 µs where 52 were possible, 3×3 90 and 87, 4×4 as before).
template <bool kFull, class D> void SmallOfDepth(D d, const GemmSmall& call, std::int64_t col, std::int64_t cols) {
  if constexpr (!kIsInteger<hn::TFromD<D>>) {
    switch (call.k) {
      case 2: return SmallColumns<1, 2, kFull>(d, call, col, cols);
      case 3: return SmallColumns<1, 3, kFull>(d, call, col, cols);
      case 4: return SmallColumns<1, 4, kFull>(d, call, col, cols);
      default: break;
    }
  }
  SmallColumns<1, 0, kFull>(d, call, col, cols);
}
/// Vectors of one and of two lanes are always full.
template <class D> void SmallOfWidth(D d, const GemmSmall& call, std::int64_t col, std::int64_t cols) {
  if constexpr (hn::MaxLanes(D()) > 2)
    if (cols < static_cast<std::int64_t>(hn::Lanes(d))) return SmallOfDepth<false>(d, call, col, cols);
  SmallOfDepth<true>(d, call, col, cols);
}
/// By vectors as wide as there are columns for.
template <class T> void Small(const GemmSmall& call) {
  const hn::CappedTag<T, 2> two;
  const hn::CappedTag<T, 4> four;
  const hn::CappedTag<T, 8> eight;
  const hn::CappedTag<T, 16> most;
  constexpr std::int64_t kMost = hn::MaxLanes(hn::CappedTag<T, 16>());
  std::int64_t col = 0;
  if constexpr (kSmallVectors == 2)
    for (; call.n - col >= 2 * kMost; col += 2 * kMost) SmallColumns<2, 0, true>(most, call, col, 2 * kMost);
  for (; col < call.n; col += kMost) {
    const std::int64_t cols = call.n - col < kMost ? call.n - col : kMost;
    if (cols == 1) SmallOfWidth(hn::CappedTag<T, 1>(), call, col, cols);
    else if (cols <= static_cast<std::int64_t>(hn::Lanes(two))) SmallOfWidth(two, call, col, cols);
    else if (cols <= static_cast<std::int64_t>(hn::Lanes(four))) SmallOfWidth(four, call, col, cols);
    else if (cols <= static_cast<std::int64_t>(hn::Lanes(eight))) SmallOfWidth(eight, call, col, cols);
    else SmallOfWidth(most, call, col, cols);
  }
}
