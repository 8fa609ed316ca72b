// Matrices of up to four rows, one a lane, eliminated in registers, where rows are exchanged by selections (no include
// guard: once per target file, behind lanes_blocks-inl.h).
//
// Dense batches go straight from memory to registers and back, as long as no matrix needs care: pivots' reciprocals are
// exact enough, and every element is finite. Both show in the pivots: what is not finite becomes, or makes, a pivot
// that is not, since the largest of a column is chosen, and NaN is passed on to every row that is left.
HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::matrices {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// [a | b], N rows of N + M elements.
template <class T, int N, int M> struct RegisterRows {
  using L = Lanes<T>;
  using V = typename L::V;
  static constexpr int kAll = N + M;
  V x[N * kAll], inverse[N], sign, least, most;
  typename L::M zeros[N];
};

/// Makes a upper triangular: rows are exchanged so that the largest element of what is left of a column stands on the
/// diagonal. Rows are eliminated by division: by a reciprocal, of two equal rows a pivot of 1e-16 might be left. Where
/// not kExact, reciprocals are noted for the solution.
template <bool kExact, class T, int N, int M> HWY_INLINE void MakeTriangular(RegisterRows<T, N, M>& r) {
  using L = Lanes<T>;
  using V = typename L::V;
  const typename L::D d;
  constexpr int kAll = N + M;
  r.sign = r.least = r.most = L::Set(1);
  TERN_LANES_UNROLL for (int k = 0; k < N; ++k) {
    TERN_LANES_UNROLL for (int i = k + 1; i < N; ++i) {
      const auto larger = hn::Gt(hn::Abs(r.x[i * kAll + k]), hn::Abs(r.x[k * kAll + k]));
      TERN_LANES_UNROLL for (int j = k; j < kAll; ++j) {
        const V first = r.x[k * kAll + j], second = r.x[i * kAll + j];
        r.x[k * kAll + j] = hn::IfThenElse(larger, second, first);
        r.x[i * kAll + j] = hn::IfThenElse(larger, first, second);
      }
      r.sign = hn::IfThenElse(larger, hn::Neg(r.sign), r.sign);
    }
    const V pivot = r.x[k * kAll + k];
    if constexpr (kExact) {
      r.zeros[k] = hn::Eq(pivot, hn::Zero(d));
    } else {
      const V size = hn::Abs(pivot);
      r.least = hn::Min(size, r.least), r.most = hn::Max(size, r.most);
      r.inverse[k] = hn::Div(L::Set(1), pivot);
    }
    TERN_LANES_UNROLL for (int i = k + 1; i < N; ++i) {
      const V factor = hn::Div(r.x[i * kAll + k], kExact ? hn::IfThenElse(r.zeros[k], L::Set(1), pivot) : pivot);
      TERN_LANES_UNROLL for (int j = k + 1; j < kAll; ++j) r.x[i * kAll + j] =
          hn::NegMulAdd(factor, r.x[k * kAll + j], r.x[i * kAll + j]);
    }
  }
}
/// Whether reciprocals of pivots were right, and every pivot finite. The last pivot is NaN where one before was.
template <class T, int N, int M> HWY_INLINE bool NeedsNoCare(const RegisterRows<T, N, M>& r) {
  const typename Lanes<T>::D d;
  const auto normal = hn::Set(d, std::numeric_limits<T>::min() * 4), most = hn::Set(d, std::numeric_limits<T>::max());
  const auto last = r.x[(N - 1) * (N + M) + N - 1];
  const auto good = hn::And(hn::And(hn::Ge(r.least, normal), hn::Le(r.most, most)), hn::Eq(last, last));
  return HWY_LIKELY(hn::AllTrue(d, good));
}
/// By reciprocals of pivots; kExact: of those that have a normal one, as a matrix's bits are not to depend on the other
/// matrices of its block.
template <bool kExact, class T, int N, int M> HWY_INLINE void SolveTriangle(RegisterRows<T, N, M>& r) {
  using L = Lanes<T>;
  constexpr int kAll = N + M;
  const auto quotient = [&](auto left, int i) {
    if constexpr (!kExact) {
      return hn::Mul(left, r.inverse[i]);
    } else {
      const typename L::D d;
      const auto pivot = r.x[i * kAll + i], size = hn::Abs(pivot);
      const auto normal = hn::And(hn::Ge(size, hn::Set(d, std::numeric_limits<T>::min() * 4)),
                                  hn::Le(size, hn::Set(d, std::numeric_limits<T>::max())));
      return hn::IfThenElse(normal, hn::Mul(left, hn::Div(L::Set(1), pivot)), hn::Div(left, pivot));
    }
  };
  TERN_LANES_UNROLL for (int j = N; j < kAll; ++j) {
    TERN_LANES_UNROLL for (int i = N - 1; i >= 0; --i) {
      auto left = r.x[i * kAll + j];
      TERN_LANES_UNROLL for (int k = i + 1; k < N; ++k) left =
          hn::NegMulAdd(r.x[i * kAll + k], r.x[k * kAll + j], left);
      r.x[i * kAll + j] = quotient(left, i);
    }
  }
}
/// The pivots' product in an order in which no part of it is beyond the type, or too small for it, unless the whole is:
/// the largest by the smallest, and then what brings the product nearer to 1 (formula/fixed.cpp has the same).
/// By value, so that rows stay in registers.
template <class T, int N, class V> HWY_NOINLINE V BalancedProduct(V sign, V p0, V p1, V p2, V p3) {
  using L = Lanes<T>;
  V p[] = {p0, p1, p2, p3};
  for (int last = N - 1; last > 0; --last)
    for (int k = 0; k < last; ++k) {
      const auto larger = hn::Gt(hn::Abs(p[k]), hn::Abs(p[k + 1]));
      const auto small = hn::IfThenElse(larger, p[k + 1], p[k]);
      p[k + 1] = hn::IfThenElse(larger, p[k], p[k + 1]), p[k] = small;
    }
  const auto ends = hn::Mul(hn::Mul(sign, p[N - 1]), p[0]);
  if constexpr (N == 3) return hn::Mul(ends, p[1]);
  const auto large = hn::Ge(hn::Abs(ends), L::Set(1));
  const auto first = hn::IfThenElse(large, p[1], p[N - 2]), second = hn::IfThenElse(large, p[N - 2], p[1]);
  return hn::Mul(hn::Mul(ends, first), second);
}
template <bool kExact, class T, int N, int M>
HWY_INLINE typename Lanes<T>::V Determinant(const RegisterRows<T, N, M>& r) {
  const typename Lanes<T>::D d;
  const auto pivot = [&](int k) { return r.x[k * (N + M) + k]; };
  auto product = hn::Mul(r.sign, pivot(0));
  if constexpr (N < 3) return hn::Mul(product, pivot(1));
  if constexpr (!kExact) {  // MakeTriangular knows: of pivots like these no part of the product is beyond T
    constexpr T far = static_cast<T>(sizeof(T) == 4 ? 0x1p31 : 0x1p255);
    const auto near = hn::And(hn::Ge(r.least, hn::Set(d, 1 / far)), hn::Le(r.most, hn::Set(d, far)));
    if (HWY_LIKELY(hn::AllTrue(d, near))) {
      TERN_LANES_UNROLL for (int k = 1; k < N; ++k) product = hn::Mul(product, pivot(k));
      return product;
    }
  }
  auto least = hn::Set(d, std::numeric_limits<T>::max()), most = hn::Zero(d);
  TERN_LANES_UNROLL for (int k = 1; k < N - 1; ++k) {
    product = hn::Mul(product, pivot(k));
    least = hn::Min(least, hn::Abs(product)), most = hn::Max(most, hn::Abs(product));
  }
  const auto normal = hn::And(hn::Ge(least, hn::Set(d, std::numeric_limits<T>::min())),
                              hn::Le(most, hn::Set(d, std::numeric_limits<T>::max())));
  const auto balanced = BalancedProduct<T, N>(r.sign, pivot(0), pivot(1), pivot(2), pivot(N - 1));
  return hn::IfThenElse(normal, hn::Mul(product, pivot(N - 1)), balanced);
}

/// b = a⁻¹·b in memory. By reciprocals of pivots; where one of them has none, false.
template <class T, int N, int M, bool kExact>
HWY_INLINE bool Eliminate(T* a, T* b, bool identity, T* det, bool sign_only, std::int32_t* status) {
  using L = Lanes<T>;
  constexpr int kAll = N + M;
  RegisterRows<T, N, M> r;
  TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
    TERN_LANES_UNROLL for (int j = 0; j < N; ++j) r.x[i * kAll + j] = L::Load(a, i * N + j);
    TERN_LANES_UNROLL for (int j = 0; j < M; ++j) r.x[i * kAll + N + j] =
        identity ? L::Set(i == j) : L::Load(b, i * M + j);
  }
  MakeTriangular<kExact>(r);
  if constexpr (!kExact) {
    if (!NeedsNoCare(r)) return false;
  } else {
    TERN_LANES_UNROLL for (int k = 0; k < N; ++k) NoteStatus<T>(r.zeros[k], k + 1, status);
  }
  if (det) L::Store(sign_only ? r.sign : Determinant<kExact>(r), det, 0);
  if (det && sign_only) TERN_LANES_UNROLL for (int k = 0; k < N; ++k) L::Store(r.x[k * kAll + k], a, k * (N + 1));
  SolveTriangle<kExact>(r);
  TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
    TERN_LANES_UNROLL for (int j = 0; j < M; ++j) L::Store(r.x[i * kAll + N + j], b, i * M + j);
  }
  return true;
}
template <class T, int N, int M>
void DirectOf(bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status) {
  if (!Eliminate<T, N, M, false>(a, b, identity, det, sign_only, status))
    Eliminate<T, N, M, true>(a, b, identity, det, sign_only, status);
}
template <class T, int N>
bool DirectOfRows(int right, bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status) {
  if (right == 0) return DirectOf<T, N, 0>(false, a, b, det, sign_only, status), true;
  if (right == 1) return DirectOf<T, N, 1>(identity, a, b, det, sign_only, status), true;
  if (right == N) return DirectOf<T, N, N>(identity, a, b, det, sign_only, status), true;
  return false;
}

/// The lower factor in place of the lower triangle; bad[k] where minor k + 1 is not positive.
template <class T, int N> HWY_INLINE void CholeskyInRegisters(typename Lanes<T>::V* x, typename Lanes<T>::M* bad) {
  const typename Lanes<T>::D d;
  TERN_LANES_UNROLL for (int j = 0; j < N; ++j) {
    TERN_LANES_UNROLL for (int i = j; i < N; ++i) {
      auto left = x[i * N + j];
      TERN_LANES_UNROLL for (int k = 0; k < j; ++k) left = hn::NegMulAdd(x[i * N + k], x[j * N + k], left);
      if (i == j) bad[j] = hn::Not(hn::Gt(left, hn::Zero(d)));
      x[i * N + j] = i == j ? hn::Sqrt(left) : hn::Div(left, x[j * N + j]);
    }
  }
  TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
    TERN_LANES_UNROLL for (int j = i + 1; j < N; ++j) x[i * N + j] = hn::Zero(d);
  }
}
template <class T, int N> void CholeskyOf(T* block, std::int32_t* status) {
  using L = Lanes<T>;
  typename L::V x[N * N];
  typename L::M bad[N];
  TERN_LANES_UNROLL for (int e = 0; e < N * N; ++e) x[e] = L::Load(block, e);
  CholeskyInRegisters<T, N>(x, bad);
  TERN_LANES_UNROLL for (int e = 0; e < N * N; ++e) L::Store(x[e], block, e);
  TERN_LANES_UNROLL for (int k = 0; k < N; ++k) NoteStatus<T>(bad[k], k + 1, status);
}

// ---- dense batches ----

template <class T, int N, int M, bool kIdentity> std::int64_t DenseDirectOf(const DenseBlocks<T>& dense) {
  using L = Lanes<T>;
  constexpr int kAll = N + M;
  for (std::int64_t block = 0; block < dense.blocks; ++block) {
    const std::int64_t first = block * L::kCount;
    typename L::V a[N * N], b[N * M + 1];
    LoadDense<T, N * N>(dense.a + first * N * N, a);
    if constexpr (M > 0 && !kIdentity) LoadDense<T, N * M>(dense.b + first * N * M, b);
    RegisterRows<T, N, M> r;
    TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
      TERN_LANES_UNROLL for (int j = 0; j < N; ++j) r.x[i * kAll + j] = a[i * N + j];
      TERN_LANES_UNROLL for (int j = 0; j < M; ++j) r.x[i * kAll + N + j] = kIdentity ? L::Set(i == j) : b[i * M + j];
    }
    MakeTriangular<false>(r);
    if (!NeedsNoCare(r)) return block;
    if (dense.det) L::Store(Determinant<false>(r), dense.det, block);
    if constexpr (M > 0) {
      SolveTriangle<false>(r);
      TERN_LANES_UNROLL for (int i = 0; i < N; ++i) {
        TERN_LANES_UNROLL for (int j = 0; j < M; ++j) b[i * M + j] = r.x[i * kAll + N + j];
      }
      StoreDense<T, N * M>(b, dense.x + first * N * M);
    }
  }
  return dense.blocks;
}
template <class T, int N> std::int64_t DenseCholeskyOf(const DenseBlocks<T>& dense) {
  using L = Lanes<T>;
  const typename L::D d;
  for (std::int64_t block = 0; block < dense.blocks; ++block) {
    const std::int64_t first = block * L::kCount * N * N;
    typename L::V x[N * N];
    typename L::M bad[N];
    LoadDense<T, N * N>(dense.a + first, x);
    CholeskyInRegisters<T, N>(x, bad);
    auto any = bad[0];
    TERN_LANES_UNROLL for (int k = 0; k < N; ++k) any =
        hn::Or(any, hn::Or(bad[k], hn::Gt(x[k * (N + 1)], hn::Set(d, std::numeric_limits<T>::max()))));
    if (HWY_UNLIKELY(!hn::AllFalse(d, any))) return block;
    StoreDense<T, N * N>(x, dense.x + first);
  }
  return dense.blocks;
}
template <class T, int N> DenseKernel<T> DenseDirectOfRows(int right, bool identity) {
  if (right == 0) return &DenseDirectOf<T, N, 0, false>;
  if (right == N && identity) return &DenseDirectOf<T, N, N, true>;
  if (right == N) return &DenseDirectOf<T, N, N, false>;
  return right == 1 && !identity ? &DenseDirectOf<T, N, 1, false> : nullptr;
}
template <class T> DenseKernel<T> DenseDirect(int n, int right, bool identity) {
  switch (n) {
    case 2: return DenseDirectOfRows<T, 2>(right, identity);
    case 3: return DenseDirectOfRows<T, 3>(right, identity);
    case 4: return DenseDirectOfRows<T, 4>(right, identity);
    default: return nullptr;
  }
}
template <class T> DenseKernel<T> DenseCholesky(int n) {
  switch (n) {
    case 2: return &DenseCholeskyOf<T, 2>;
    case 3: return &DenseCholeskyOf<T, 3>;
    case 4: return &DenseCholeskyOf<T, 4>;
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu::matrices
HWY_AFTER_NAMESPACE();
