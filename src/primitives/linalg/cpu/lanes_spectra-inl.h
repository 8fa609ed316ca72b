// QR by Householder's reflections, and symmetric eigenvalues and singular values by Jacobi's rotations, of as many
// small matrices as a vector has lanes (no include guard: once per target file, behind lanes_blocks-inl.h).
//
// Sweeps go on until no lane rotates anything; a lane that is done is rotated by nothing, so that what it gives does
// not depend on its neighbours. Pairs are taken in rounds of disjoint ones (Brent and Luk 1985): the angle of the next
// pair does not wait for the one before. Larger matrices are taken row by row, so that one row of the two stays in L1.
// Lanes are scaled by powers of two, so that squares neither overflow nor vanish.
HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::matrices {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kInL1 = 16;

/// 2^k ≤ |x| < 2^(k+1), of subnormal numbers and 0 the least normal one.
template <class T> HWY_INLINE typename Lanes<T>::V PowerOf(typename Lanes<T>::V x) {
  using L = Lanes<T>;
  const hn::RebindToUnsigned<typename L::D> bits;
  const auto exponent = hn::BitCast(bits, hn::Inf(typename L::D()));
  const auto power = hn::BitCast(typename L::D(), hn::And(hn::BitCast(bits, x), exponent));
  return hn::Max(power, hn::Set(typename L::D(), std::numeric_limits<T>::min()));
}
template <class T> HWY_INLINE void Scale(T* x, std::int64_t count, typename Lanes<T>::V by) {
  for (std::int64_t i = 0; i < count; ++i) Lanes<T>::Store(hn::Mul(Lanes<T>::Load(x, i), by), x, i);
}
template <class T> HWY_INLINE typename Lanes<T>::V Largest(const T* x, std::int64_t count) {
  auto most = hn::Zero(typename Lanes<T>::D());
  for (std::int64_t i = 0; i < count; ++i) most = hn::Max(most, hn::Abs(Lanes<T>::Load(x, i)));
  return most;
}
template <class T> HWY_INLINE typename Lanes<T>::V Dot(const T* a, const T* b, int count) {
  using L = Lanes<T>;
  auto even = hn::Zero(typename L::D()), odd = even;
  int i = 0;
  for (; i + 2 <= count; i += 2) {
    even = hn::MulAdd(L::Load(a, i), L::Load(b, i), even);
    odd = hn::MulAdd(L::Load(a, i + 1), L::Load(b, i + 1), odd);
  }
  if (i < count) even = hn::MulAdd(L::Load(a, i), L::Load(b, i), even);
  return hn::Add(even, odd);
}
template <class T> void Identity(int rows, int columns, T* block) {
  using L = Lanes<T>;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) L::Store(L::Set(i == j), block, std::int64_t{i} * columns + j);
}

// ---- rotations ----

/// t, the tangent of the smaller angle that makes 0 of the element `off` between the diagonal's, whose difference is
/// given; cosine and sine. Nothing is rotated but `where`.
template <class T> struct Rotation {
  using L = Lanes<T>;
  using V = typename L::V;
  V t, c, s;
  HWY_INLINE Rotation(V difference, V off, typename L::M where) {
    const auto one = L::Set(1);
    const auto cotangent = hn::Div(difference, hn::Add(off, off));  // of twice the angle
    const auto below = hn::Add(hn::Abs(cotangent), hn::Sqrt(hn::MulAdd(cotangent, cotangent, one)));
    t = hn::IfThenElseZero(where, hn::Div(hn::CopySign(one, cotangent), below));
    c = hn::Div(one, hn::Sqrt(hn::MulAdd(t, t, one))), s = hn::Mul(t, c);
  }
  HWY_INLINE void Rotate(T* a, T* b) const {
    const auto x = L::Load(a, 0), y = L::Load(b, 0);
    L::Store(hn::NegMulAdd(s, y, hn::Mul(c, x)), a, 0), L::Store(hn::MulAdd(s, x, hn::Mul(c, y)), b, 0);
  }
  HWY_INLINE void Rotate(T* a, T* b, int count) const {
    for (int i = 0; i < count; ++i) Rotate(a + i * L::kCount, b + i * L::kCount);
  }
};
/// pair(p, q), p < q, returns whether it rotated something: every pair once, in n - 1 or n rounds of disjoint ones, or
/// row by row.
template <class Pair> HWY_INLINE bool Sweep(int n, Pair pair) {
  const int even = n + n % 2;
  bool rotated = false;
  if (n > kInL1) {
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) rotated |= pair(p, q);
    return rotated;
  }
  for (int round = 0; round < even - 1; ++round)
    for (int i = 0; i < even / 2; ++i) {
      const int a = i == 0 ? even - 1 : (round + i) % (even - 1), b = (round + even - 1 - i) % (even - 1);
      if (std::max(a, b) < n) rotated |= pair(std::min(a, b), std::max(a, b));
    }
  return rotated;
}
/// Sweeps until nothing is rotated: false if they never end.
template <class Once> HWY_INLINE bool SweepAll(Once once) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep)
    if (!once()) return true;
  return false;
}

/// The order of each lane's n keys, and the rows of `width` elements that belong to them.
template <class T> class LaneOrder {
 public:
  using L = Lanes<T>;
  LaneOrder(int n, T* keys, bool descending) : n_(n) {
    for (int l = 0; l < L::kCount; ++l) {
      std::uint8_t* const order = order_[l];
      T list[32];
      for (int k = 0; k < n; ++k) {
        const T key = keys[k * L::kCount + l];
        int at = k;
        for (; at > 0 && (descending ? list[at - 1] < key : key < list[at - 1]); --at)
          list[at] = list[at - 1], order[at] = order[at - 1];
        list[at] = key, order[at] = static_cast<std::uint8_t>(k);
      }
      for (int k = 0; k < n; ++k) keys[k * L::kCount + l] = list[k];
    }
  }
  void Sort(int width, const T* from, T* to) const {
    for (int k = 0; k < n_; ++k) {
      T* const row = to + std::int64_t{k} * width * L::kCount;
      for (int l = 0; l < L::kCount; ++l) {
        const T* const source = from + std::int64_t{order_[l][k]} * width * L::kCount;
        for (int i = 0; i < width; ++i) row[i * L::kCount + l] = source[i * L::kCount + l];
      }
    }
  }

 private:
  int n_;
  std::uint8_t order_[kMostLanes][32];
};

/// Ascending eigenvalues of symmetric a, of which the lower triangle is read; vectors as rows, or null. spare: n × n.
template <class T> void Eigh(int n, T* a, T* vectors, T* spare, T* values, std::int32_t* status) {
  using L = Lanes<T>;
  const typename L::D d;
  const auto at = [=](int i, int j) { return a + (std::int64_t{i} * n + j) * L::kCount; };
  auto most = hn::Zero(d), norm = hn::Zero(d);
  for (int i = 0; i < n; ++i) most = hn::Max(most, Largest(at(i, 0), i + 1));
  const auto power = PowerOf<T>(most), down = hn::Div(L::Set(1), power);
  for (int i = 0; i < n; ++i) {
    Scale(at(i, 0), i + 1, down);
    norm = hn::Add(norm, hn::MulAdd(L::Load(at(i, i), 0), L::Load(at(i, i), 0),
                                    hn::Mul(L::Set(2), Dot<T>(at(i, 0), at(i, 0), i))));
  }
  // All that is left below this changes the matrix by less than a rounding of its norm.
  const auto little = hn::Mul(hn::Sqrt(norm), hn::Set(d, std::numeric_limits<T>::epsilon() / static_cast<T>(2 * n)));
  T* const rows = vectors ? spare : nullptr;
  if (rows) Identity(n, n, rows);
  auto still = hn::Zero(d);
  const auto pair = [&](int p, int q) {
    const auto off = L::Load(at(q, p), 0);
    const auto where = hn::Gt(hn::Abs(off), little);
    if (hn::AllFalse(d, where)) return false;
    const auto first = L::Load(at(p, p), 0), second = L::Load(at(q, q), 0);
    const Rotation<T> r(hn::Sub(second, first), off, where);
    still = hn::IfThenElse(where, L::Set(1), still);
    L::Store(hn::NegMulAdd(r.t, off, first), at(p, p), 0), L::Store(hn::MulAdd(r.t, off, second), at(q, q), 0);
    L::Store(hn::IfThenZeroElse(where, off), at(q, p), 0);
    r.Rotate(at(p, 0), at(q, 0), p);
    for (int k = p + 1; k < q; ++k) r.Rotate(at(k, p), at(q, k));
    for (int k = q + 1; k < n; ++k) r.Rotate(at(k, p), at(k, q));
    if (rows) r.Rotate(rows + std::int64_t{p} * n * L::kCount, rows + std::int64_t{q} * n * L::kCount, n);
    return true;
  };
  if (!SweepAll([&] { return still = hn::Zero(d), Sweep(n, pair); }))
    NoteStatus<T>(hn::Gt(still, hn::Zero(d)), 1, status);
  for (int k = 0; k < n; ++k) L::Store(hn::Mul(L::Load(at(k, k), 0), power), values, k);
  const LaneOrder<T> order(n, values, false);
  if (rows) order.Sort(n, rows, vectors);
}

// ---- reflections ----

/// x -= (v·x)·v·tau for `count` columns of m elements, `apart` elements from each other.
template <class T>
HWY_INLINE void Reflect(const T* v, typename Lanes<T>::V tau, int m, int count, std::int64_t apart, T* x) {
  using L = Lanes<T>;
  const typename L::D d;
  const auto four = [&](T* a, T* b, T* c, T* e) {
    auto wa = hn::Zero(d), wb = wa, wc = wa, we = wa;
    for (int i = 0; i < m; ++i) {
      const auto y = L::Load(v, i);
      wa = hn::MulAdd(y, L::Load(a, i), wa), wb = hn::MulAdd(y, L::Load(b, i), wb);
      wc = hn::MulAdd(y, L::Load(c, i), wc), we = hn::MulAdd(y, L::Load(e, i), we);
    }
    wa = hn::Mul(wa, tau), wb = hn::Mul(wb, tau), wc = hn::Mul(wc, tau), we = hn::Mul(we, tau);
    for (int i = 0; i < m; ++i) {
      const auto y = L::Load(v, i);
      L::Store(hn::NegMulAdd(y, wa, L::Load(a, i)), a, i), L::Store(hn::NegMulAdd(y, wb, L::Load(b, i)), b, i);
      L::Store(hn::NegMulAdd(y, wc, L::Load(c, i)), c, i), L::Store(hn::NegMulAdd(y, we, L::Load(e, i)), e, i);
    }
  };
  const std::int64_t step = apart * L::kCount;
  int j = 0;
  for (; j + 4 <= count; j += 4, x += 4 * step) four(x, x + step, x + 2 * step, x + 3 * step);
  for (; j < count; ++j, x += step) {
    const auto w = hn::Mul(Dot<T>(v, x, m), tau);
    for (int i = 0; i < m; ++i) L::Store(hn::NegMulAdd(L::Load(v, i), w, L::Load(x, i)), x, i);
  }
}
/// Column k of what is left, from its diagonal on: becomes the reflection's vector, whose tau is returned, and
/// `reflected` what it makes of the column.
template <class T> HWY_INLINE typename Lanes<T>::V MakeReflection(T* x, int m, typename Lanes<T>::V& reflected) {
  using L = Lanes<T>;
  const typename L::D d;
  const auto power = PowerOf<T>(Largest(x, m));  // what is left of a column may be nothing but roundings, or less
  Scale(x, m, hn::Div(L::Set(1), power));
  const auto first = L::Load(x, 0), below = Dot<T>(x + L::kCount, x + L::kCount, m - 1);
  const auto none = hn::Eq(below, hn::Zero(d));  // nothing to reflect
  const auto size = hn::Sqrt(hn::MulAdd(first, first, below));
  const auto made = hn::IfThenElse(none, first, hn::CopySign(size, hn::Neg(first)));
  reflected = hn::Mul(made, power);
  const auto to = hn::Sub(first, made);
  L::Store(L::Set(1), x, 0);
  Scale(x + L::kCount, m - 1, hn::IfThenElseZero(hn::Not(none), hn::Div(L::Set(1), to)));
  return hn::IfThenElseZero(hn::Not(none), hn::Div(hn::Neg(to), made));
}
/// q·r = x, columns as rows: x is [n][m] and becomes r, [n][inner]; q, [inner][m], may be null. Every column is scaled
/// by itself, which R undoes.
template <class T> void Qr(int m, int n, int inner, T* x, T* q) {
  using L = Lanes<T>;
  const typename L::D d;
  using V = typename L::V;
  const int least = std::min(m, n);
  V tau[32], reflected[32], power[32];
  const auto at = [=](int j, int i) { return x + (std::int64_t{j} * m + i) * L::kCount; };
  for (int j = 0; j < n; ++j)
    power[j] = PowerOf<T>(Largest(at(j, 0), m)), Scale(at(j, 0), m, hn::Div(L::Set(1), power[j]));
  for (int k = 0; k < least; ++k) {
    tau[k] = MakeReflection(at(k, k), m - k, reflected[k]);
    if (k + 1 < n) Reflect<T>(at(k, k), tau[k], m - k, n - k - 1, m, at(k + 1, k));
  }
  if (q) {
    Identity(inner, m, q);
    for (int k = least; k-- > 0;)
      Reflect<T>(at(k, k), tau[k], m - k, inner - k, m, q + (std::int64_t{k} * m + k) * L::kCount);
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < inner; ++i)
      L::Store(i > j ? hn::Zero(d) : hn::Mul(i == j && j < least ? reflected[j] : L::Load(at(j, i), 0), power[j]), x,
               std::int64_t{j} * inner + i);
}

// ---- singular values ----

/// The lengths of n columns of m elements, times `power`, each measured by itself: some vanish in squares.
template <class T> void MeasureLengths(int m, int n, const T* columns, typename Lanes<T>::V power, T* lengths) {
  using L = Lanes<T>;
  const typename L::D d;
  for (int j = 0; j < n; ++j, columns += std::int64_t{m} * L::kCount) {
    const auto own = PowerOf<T>(Largest(columns, m)), up = hn::Div(L::Set(1), own);
    auto sum = hn::Zero(d);
    for (int i = 0; i < m; ++i) {
      const auto x = hn::Mul(L::Load(columns, i), up);
      sum = hn::MulAdd(x, x, sum);
    }
    L::Store(hn::Mul(hn::Mul(hn::Sqrt(sum), own), power), lengths, j);
  }
}

/// Descending singular values of the matrix whose n columns of m ≥ n elements are the rows of w. With `right`, [n][n],
/// whose rows are the vectors of the short side, `left`, [inner][m], are those of the long one. spare: n·m elements.
template <class T>
void Svd(int m, int n, int inner, T* w, T* left, T* right, T* spare, T* values, std::int32_t* status) {
  using L = Lanes<T>;
  const typename L::D d;
  const auto at = [=](T* x, int j, int width) { return x + std::int64_t{j} * width * L::kCount; };
  const auto power = PowerOf<T>(Largest(w, std::int64_t{n} * m));
  Scale(w, std::int64_t{n} * m, hn::Div(L::Set(1), power));
  // Columns that are nothing beside the largest are not rotated: their squares would vanish.
  const auto floor = hn::Set(d, std::sqrt(std::numeric_limits<T>::min()));
  const auto little = hn::Set(d, std::sqrt(static_cast<T>(m)) * std::numeric_limits<T>::epsilon());
  T* const v = right ? spare : nullptr;
  if (v) Identity(n, n, v);
  auto still = hn::Zero(d);
  const auto pair = [&](int p, int q) {
    T *const x = at(w, p, m), *const y = at(w, q, m);
    const auto a = L::Load(values, p), b = L::Load(values, q), off = Dot<T>(x, y, m);
    const auto where =
        hn::And(hn::Gt(hn::Min(a, b), floor), hn::Gt(hn::Abs(off), hn::Mul(little, hn::Sqrt(hn::Mul(a, b)))));
    if (hn::AllFalse(d, where)) return false;
    const Rotation<T> r(hn::Sub(b, a), off, where);
    still = hn::IfThenElse(where, L::Set(1), still);
    L::Store(hn::NegMulAdd(r.t, off, a), values, p), L::Store(hn::MulAdd(r.t, off, b), values, q);
    r.Rotate(x, y, m);
    if (v) r.Rotate(at(v, p, n), at(v, q, n), n);
    return true;
  };
  const auto measure = [&] {
    for (int j = 0; j < n; ++j) L::Store(Dot<T>(at(w, j, m), at(w, j, m), m), values, j);
  };
  if (!SweepAll([&] { return still = hn::Zero(d), measure(), Sweep(n, pair); }))
    NoteStatus<T>(hn::Gt(still, hn::Zero(d)), 1, status);
  MeasureLengths<T>(m, n, w, power, values);
  const LaneOrder<T> order(n, values, true);
  if (!v) return;
  // Directions of columns, orthogonal also where these are 0: the reflections that make them a diagonal.
  order.Sort(n, v, right);
  T* const sorted = spare;
  order.Sort(m, w, sorted);
  Qr(m, n, inner, sorted, left);
  for (int j = 0; j < n; ++j) {
    const auto sign = hn::CopySign(L::Set(1), L::Load(sorted, std::int64_t{j} * inner + j));
    Scale(at(left, j, m), m, sign);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu::matrices
HWY_AFTER_NAMESPACE();
