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

/// kRows rows of a vector of `cols` columns, all of them where it is kFull: every element is summed from zero, step by
/// step; kDepth steps, or call.k where that is 0.
template <int kRows, int kDepth, bool kFull, class D, class T>
HWY_INLINE void SmallRows(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c,
                          std::int64_t cols) {
  hn::Vec<D> sum[kRows];
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) sum[i] = hn::Zero(d);
  const auto step = [&](std::int64_t p) HWY_ATTR {
    const auto row = kFull ? hn::LoadU(d, b + p * b_row) : LoadColumns(d, b + p * b_row, cols);
    TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
      sum[i] = MultiplyAdd<T>(hn::Set(d, a[i * call.a_row + p * call.a_col]), row, sum[i]);
  };
  if constexpr (kDepth > 0) {
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) step(p);
  } else {
    for (std::int64_t p = 0; p < call.k; ++p) step(p);
  }
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) {
    if constexpr (kFull) hn::StoreU(sum[i], d, c + i * call.c_row);
    else StoreColumns(d, sum[i], c + i * call.c_row, cols);
  }
}
template <int kDepth, bool kFull, class D, class T>
HWY_INLINE void SmallProduct(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c,
                             std::int64_t cols) {
  std::int64_t i = 0;
  const auto rows = [&](auto count) HWY_ATTR {
    constexpr int kRows = decltype(count)::value;
    SmallRows<kRows, kDepth, kFull>(d, call, a + i * call.a_row, b, b_row, c + i * call.c_row, cols);
    i += kRows;
  };
  while (call.m - i >= kSmallRows) rows(Count<kSmallRows>());
  const std::int64_t left = call.m - i;
  if constexpr (kSmallRows > 4) {
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
    case 4: return rows(Count<4>());
    default: break;
  }
}
/// Columns from `col` on of all products. A B whose rows do not lie in one run is copied first.
template <int kDepth, bool kFull, class D, class T = hn::TFromD<D>>
void SmallColumns(D d, const GemmSmall& given, std::int64_t col, std::int64_t cols) {
  const GemmSmall call = given;  // a copy that no store can change
  HWY_ALIGN T packed[kSmallMost * kSmallMost];
  const bool transposed = call.b_col != 1 && cols > 1, by_blocks = call.b_row == 1 && call.k >= 4 && cols >= 4;
  for (std::int64_t i = 0; i < call.count; ++i) {
    const T* a = static_cast<const T*>(call.a) + (call.a_offsets ? call.a_offsets[i] : i * call.a_step);
    const T* b = static_cast<const T*>(call.b) + (call.b_offsets ? call.b_offsets[i] : i * call.b_step);
    T* const c = static_cast<T*>(call.c) + (call.c_offsets ? call.c_offsets[i] : i * call.c_step) + col;
    b += col * call.b_col;
    std::int64_t b_row = call.b_row;
    if (transposed) {
      if (by_blocks) {
        CopyTransposed(b, call.b_col, call.k, cols, packed, cols);
      } else {
        for (std::int64_t p = 0; p < call.k; ++p)
          for (std::int64_t j = 0; j < cols; ++j) packed[p * cols + j] = b[p * call.b_row + j * call.b_col];
      }
      b = packed, b_row = cols;
    }
    SmallProduct<kDepth, kFull>(d, call, a, b, b_row, c, cols);
  }
}
/// Integers have the code for every depth alone, a quarter of the others' (10,000 products of i32, Emerald Rapids: 2×2
/// 63 µs where 52 were possible, 3×3 90 and 87, 4×4 as before).
template <bool kFull, class D> void SmallOfDepth(D d, const GemmSmall& call, std::int64_t col, std::int64_t cols) {
  if constexpr (!kIsInteger<hn::TFromD<D>>) {
    switch (call.k) {
      case 2: return SmallColumns<2, kFull>(d, call, col, cols);
      case 3: return SmallColumns<3, kFull>(d, call, col, cols);
      case 4: return SmallColumns<4, kFull>(d, call, col, cols);
      default: break;
    }
  }
  SmallColumns<0, kFull>(d, call, col, cols);
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
  for (std::int64_t col = 0; col < call.n; col += kMost) {
    const std::int64_t cols = call.n - col < kMost ? call.n - col : kMost;
    if (cols == 1) SmallOfWidth(hn::CappedTag<T, 1>(), call, col, cols);
    else if (cols <= static_cast<std::int64_t>(hn::Lanes(two))) SmallOfWidth(two, call, col, cols);
    else if (cols <= static_cast<std::int64_t>(hn::Lanes(four))) SmallOfWidth(four, call, col, cols);
    else if (cols <= static_cast<std::int64_t>(hn::Lanes(eight))) SmallOfWidth(eight, call, col, cols);
    else SmallOfWidth(most, call, col, cols);
  }
}
