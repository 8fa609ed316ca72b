// Exponentials of as many small matrices as a vector has lanes, as linalg.hpp says (no include guard: once per target
// file, behind lanes_spectra-inl.h).
//
// Every lane is halved as often as its own norm asks for. Squarings go on until the last lane has its own; a lane that
// is done keeps what it has, so that what it gives does not depend on its neighbours.
HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::matrices {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// In lanes-inl.h, which includes this file.
template <class T> void Lu(int m, int n, T* block, std::int32_t* pivots, std::int32_t* status);
template <class T> void Triangle(const LaneTriangle<T>& t, int right, T* b);
template <class T> void Permute(int n, int right, const std::int32_t* pivots, bool back, T* b);

/// R × C elements of c = a·b, which are in registers meanwhile: of 4 × 4 two multiply-adds go with a load.
template <class T, int R, int C> HWY_INLINE void ProductTile(int n, const T* a, const T* b, T* c) {
  using L = Lanes<T>;
  typename L::V sum[R * C];
  TERN_LANES_UNROLL for (int e = 0; e < R * C; ++e) sum[e] = hn::Zero(typename L::D());
  for (int k = 0; k < n; ++k) {
    typename L::V y[C];
    TERN_LANES_UNROLL for (int j = 0; j < C; ++j) y[j] = L::Load(b, std::int64_t{k} * n + j);
    TERN_LANES_UNROLL for (int i = 0; i < R; ++i) {
      const auto x = L::Load(a, std::int64_t{i} * n + k);
      TERN_LANES_UNROLL for (int j = 0; j < C; ++j) sum[i * C + j] = hn::MulAdd(x, y[j], sum[i * C + j]);
    }
  }
  TERN_LANES_UNROLL for (int i = 0; i < R; ++i) {
    TERN_LANES_UNROLL for (int j = 0; j < C; ++j) L::Store(sum[i * C + j], c, std::int64_t{i} * n + j);
  }
}
/// c = a·b of n × n matrices; c is neither. The last tiles go back over elements of those before.
template <class T> void Product(int n, const T* a, const T* b, T* c) {
  using L = Lanes<T>;
  switch (n) {
    case 1: return ProductTile<T, 1, 1>(n, a, b, c);
    case 2: return ProductTile<T, 2, 2>(n, a, b, c);
    case 3: return ProductTile<T, 3, 3>(n, a, b, c);
    default: break;
  }
  for (int row = 0; row < n; row += 4)
    for (int column = 0; column < n; column += 4) {
      const std::int64_t i = std::min(row, n - 4), j = std::min(column, n - 4);
      ProductTile<T, 4, 4>(n, a + i * n * L::kCount, b + j * L::kCount, c + (i * n + j) * L::kCount);
    }
}

/// The sums of columns' absolute values, times `weights` of the rows where there are some; and the largest sum.
template <class T>
typename Lanes<T>::V ColumnSums(int n, const T* a, const T* weights, T* sums) {
  using L = Lanes<T>;
  auto most = hn::Zero(typename L::D());
  for (int j = 0; j < n; ++j) {
    auto sum = hn::Zero(typename L::D());
    for (int i = 0; i < n; ++i) {
      const auto size = hn::Abs(L::Load(a, std::int64_t{i} * n + j));
      sum = weights ? hn::MulAdd(size, L::Load(weights, i), sum) : hn::Add(size, sum);
    }
    L::Store(sum, sums, j);
    most = hn::Max(most, sum);
  }
  return most;
}
/// The powers of the approximant, and what it takes besides: `sums` and `spare`, a block each, and a row behind it.
template <class T> struct LanePowers {
  int n;
  T *a, *a2, *a4, *a6, *sums, *spare;

  std::int64_t size() const { return std::int64_t{n} * n; }
  void take() {
    Product(n, a, a, a2), Product(n, a2, a2, a4), Product(n, a4, a2, a6);
  }
  /// Those of 2^doublings · a, which are exact.
  void double_them(const T* doublings) {
    using L = Lanes<T>;
    HWY_ALIGN T powers[L::kCount];
    for (std::int64_t l = 0; l < L::kCount; ++l) powers[l] = std::ldexp(T{1}, static_cast<int>(doublings[l]));
    const auto two = L::Load(powers, 0), four = hn::Mul(two, two), sixteen = hn::Mul(four, four);
    Scale(a, size(), two), Scale(a2, size(), four), Scale(a4, size(), sixteen);
    Scale(a6, size(), hn::Mul(sixteen, four));
  }
  /// b6·a6 + b4·a4 + b2·a2 + b0, of the numbers b from kPade, added to what `to` has or instead of it.
  void add_terms(double b6, double b4, double b2, double b0, bool instead, T* to) const {
    using L = Lanes<T>;
    const auto x6 = L::Set(b6), x4 = L::Set(b4), x2 = L::Set(b2), x0 = L::Set(b0);
    for (std::int64_t e = 0; e < size(); ++e) {
      auto sum = hn::MulAdd(L::Load(a6, e), x6, hn::MulAdd(L::Load(a4, e), x4, hn::Mul(L::Load(a2, e), x2)));
      if (!instead) sum = hn::Add(sum, L::Load(to, e));
      L::Store(sum, to, e);
    }
    for (std::int64_t e = 0; e < size(); e += n + 1) L::Store(hn::Add(L::Load(to, e), x0), to, e);
  }
  /// e^a, in a2; spare, a4 and a6 are other memory then.
  void approximate() {
    using L = Lanes<T>;
    const auto& b = detail::exponential::kPade;
    add_terms(b[13], b[11], b[9], 0, true, sums), Product(n, a6, sums, spare);
    add_terms(b[7], b[5], b[3], b[1], false, spare), Product(n, a, spare, sums);
    T *const odd = sums, *const even = a;
    add_terms(b[12], b[10], b[8], 0, true, spare), Product(n, a6, spare, even);
    add_terms(b[6], b[4], b[2], b[0], false, even);
    for (std::int64_t e = 0; e < size(); ++e) {
      const auto x = L::Load(even, e), y = L::Load(odd, e);
      L::Store(hn::Sub(x, y), a4, e), L::Store(hn::Add(x, y), a2, e);
    }
    std::int32_t pivots[32 * kMostLanes], unused[kMostLanes] = {};  // even - odd is far from singular
    Lu(n, n, a4, pivots, unused), Permute(n, n, pivots, false, a2);
    Triangle<T>({a4, n, n, 1, true, true}, n, a2), Triangle<T>({a4, n, n, 1, false, false}, n, a2);
  }
  /// How many of its halvings each lane can do without.
  bool count_spared(const T* halvings, T* doublings) const {
    using L = Lanes<T>;
    HWY_ALIGN T fourth[L::kCount], sixth[L::kCount], norm[L::kCount], largest[L::kCount];
    L::Store(ColumnSums<T>(n, a4, nullptr, spare), fourth, 0), L::Store(ColumnSums<T>(n, a6, nullptr, spare), sixth, 0);
    bool any = false;
    for (std::int64_t l = 0; l < L::kCount; ++l) {
      const double most = detail::exponential::most_spared(sizeof(T) == 8);
      doublings[l] = 0;
      if (halvings[l] > 0)
        doublings[l] = static_cast<T>(detail::exponential::spared(fourth[l], sixth[l], halvings[l], most));
      any = any || doublings[l] > 0;
    }
    if (!any) return false;
    T *column = spare, *next = spare + n * L::kCount;
    auto power = ColumnSums<T>(n, a, nullptr, column);
    L::Store(power, norm, 0);
    for (int i = 0; i < detail::exponential::kCheckedPower; ++i, std::swap(column, next))
      power = ColumnSums<T>(n, a, column, next);
    L::Store(power, largest, 0);
    for (std::int64_t l = 0; l < L::kCount; ++l)
      if (doublings[l] > 0)
        doublings[l] = static_cast<T>(detail::exponential::allowed(doublings[l], largest[l], norm[l]));
    return true;
  }
};

/// a becomes e^a; spare: five blocks of its size, and a row. Status -1 of lanes whose norm is not finite.
template <class T> void Exponential(int n, T* a, T* spare, std::int32_t* status) {
  using L = Lanes<T>;
  const std::int64_t step = std::int64_t{n} * n * L::kCount;
  LanePowers<T> p{n, a, spare, spare + step, spare + 2 * step, spare + 3 * step, spare + 4 * step};
  HWY_ALIGN T norms[L::kCount], halvings[L::kCount], powers[L::kCount], doublings[L::kCount];
  L::Store(ColumnSums<T>(n, a, nullptr, p.sums), norms, 0);
  for (std::int64_t l = 0; l < L::kCount; ++l) {
    status[l] = std::isfinite(norms[l]) ? 0 : -1;
    halvings[l] = status[l] ? T{0} : static_cast<T>(detail::exponential::halvings(norms[l]));
    powers[l] = std::ldexp(T{1}, -static_cast<int>(halvings[l]));
  }
  Scale(a, p.size(), L::Load(powers, 0));
  p.take();
  if (p.count_spared(halvings, doublings)) {
    p.double_them(doublings);
    for (std::int64_t l = 0; l < L::kCount; ++l) halvings[l] -= doublings[l];
  }
  p.approximate();
  const T least = *std::min_element(halvings, halvings + L::kCount);
  const T most = *std::max_element(halvings, halvings + L::kCount);
  T *power = p.a2, *square = p.spare;
  for (int i = 0; i < most; ++i) {
    Product(n, power, power, square);
    std::swap(power, square);
    if (i < least) continue;
    const auto goes_on = hn::Gt(L::Load(halvings, 0), L::Set(i));
    for (std::int64_t e = 0; e < p.size(); ++e)
      L::Store(hn::IfThenElse(goes_on, L::Load(power, e), L::Load(square, e)), power, e);
  }
  std::copy_n(power, step, a);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu::matrices
HWY_AFTER_NAMESPACE();
