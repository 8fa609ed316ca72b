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
#else
  HWY_ALIGN T some[hn::MaxLanes(D())];
  hn::Store(v, d, some);
  for (std::int64_t j = 0; j < cols; ++j) to[j] = some[j];
#endif
}

/// kRows rows, a vector of columns: every element is summed from zero, step by step.
template <int kRows, class D, class T>
HWY_INLINE void SmallRows(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c,
                          std::int64_t cols) {
  hn::Vec<D> sum[kRows];
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) sum[i] = hn::Zero(d);
  for (std::int64_t p = 0; p < call.k; ++p) {
    const auto row = LoadColumns(d, b + p * b_row, cols);
    TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
      sum[i] = MultiplyAdd<T>(hn::Set(d, a[i * call.a_row + p * call.a_col]), row, sum[i]);
  }
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) StoreColumns(d, sum[i], c + i * call.c_row, cols);
}
template <class D, class T>
HWY_INLINE void SmallProduct(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c) {
  constexpr std::int64_t kLanes = hn::MaxLanes(D());
  for (std::int64_t j = 0; j < call.n; j += kLanes) {
    const std::int64_t cols = call.n - j < kLanes ? call.n - j : kLanes;
    std::int64_t i = 0;
    for (; i + 4 <= call.m; i += 4)
      SmallRows<4>(d, call, a + i * call.a_row, b + j, b_row, c + i * call.c_row + j, cols);
    const T* const rest = a + i * call.a_row;
    T* const to = c + i * call.c_row + j;
    switch (call.m - i) {
      case 1: SmallRows<1>(d, call, rest, b + j, b_row, to, cols); break;
      case 2: SmallRows<2>(d, call, rest, b + j, b_row, to, cols); break;
      case 3: SmallRows<3>(d, call, rest, b + j, b_row, to, cols); break;
      default: break;
    }
  }
}
/// Of kM rows and kK steps, both known to the compiler, and as many columns as a vector.
template <int kM, int kK> struct FixedSize {
  template <class D, class T>
  static HWY_INLINE void Run(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c) {
    hn::Vec<D> row[kK];
    TERN_GEMM_UNROLL for (int p = 0; p < kK; ++p) row[p] = LoadColumns(d, b + p * b_row, call.n);
    TERN_GEMM_UNROLL for (int i = 0; i < kM; ++i) {
      auto sum = hn::Zero(d);
      TERN_GEMM_UNROLL for (int p = 0; p < kK; ++p)
        sum = MultiplyAdd<T>(hn::Set(d, a[i * call.a_row + p * call.a_col]), row[p], sum);
      StoreColumns(d, sum, c + i * call.c_row, call.n);
    }
  }
};
struct AnySize {
  template <class D, class T>
  static HWY_INLINE void Run(D d, const GemmSmall& call, const T* a, const T* b, std::int64_t b_row, T* c) {
    SmallProduct(d, call, a, b, b_row, c);
  }
};
template <class Size, class D, class T = hn::TFromD<D>> void SmallProducts(D d, const GemmSmall& given) {
  const GemmSmall call = given;  // a copy that no store can change
  HWY_ALIGN T packed[kSmallMost * kSmallMost];
  for (std::int64_t i = 0; i < call.count; ++i) {
    const T* a = static_cast<const T*>(call.a) + (call.a_offsets ? call.a_offsets[i] : i * call.a_step);
    const T* b = static_cast<const T*>(call.b) + (call.b_offsets ? call.b_offsets[i] : i * call.b_step);
    T* const c = static_cast<T*>(call.c) + (call.c_offsets ? call.c_offsets[i] : i * call.c_step);
    std::int64_t b_row = call.b_row;
    if (call.b_col != 1 && call.n > 1) {
      for (std::int64_t p = 0; p < call.k; ++p)
        for (std::int64_t j = 0; j < call.n; ++j) packed[p * call.n + j] = b[p * call.b_row + j * call.b_col];
      b = packed, b_row = call.n;
    }
    Size::Run(d, call, a, b, b_row, c);
  }
}
template <int kM, class D> void SmallOfRows(D d, const GemmSmall& call) {
  switch (call.k) {
    case 2: return SmallProducts<FixedSize<kM, 2>>(d, call);
    case 3: return SmallProducts<FixedSize<kM, 3>>(d, call);
    case 4: return SmallProducts<FixedSize<kM, 4>>(d, call);
    default: return SmallProducts<AnySize>(d, call);
  }
}
template <class D> void SmallOfColumns(D d, const GemmSmall& call) {
  switch (call.m) {
    case 2: return SmallOfRows<2>(d, call);
    case 3: return SmallOfRows<3>(d, call);
    case 4: return SmallOfRows<4>(d, call);
    default: return SmallProducts<AnySize>(d, call);
  }
}
/// By vectors as wide as there are columns for.
template <class T> void Small(const GemmSmall& call) {
  const hn::CappedTag<T, 2> two;
  const hn::CappedTag<T, 4> four;
  if (call.n == 1) return SmallOfColumns(hn::CappedTag<T, 1>(), call);
  if (call.n <= static_cast<std::int64_t>(hn::Lanes(two))) return SmallOfColumns(two, call);
  if (call.n <= static_cast<std::int64_t>(hn::Lanes(four))) return SmallOfColumns(four, call);
  if (call.n <= 8) return SmallProducts<AnySize>(hn::CappedTag<T, 8>(), call);
  SmallProducts<AnySize>(hn::CappedTag<T, 16>(), call);
}
