// How fast are batches of small products, 2x2 to 16x16, where both sides are batches, one is shared, transposed, or
// part of wider rows? Beside loops whose sizes the compiler knows: plain ones, and Eigen's matrices of fixed size.
#include <fmt/format.h>

#ifdef BENCH_EIGEN
#include <Eigen/Core>
#endif

#include "peers.hpp"

namespace bench {
namespace {

enum class Sides { own, shared, transposed, strided };
constexpr const char* kSides[] = {"", "/shared", "/transposed", "/strided"};

/// The matrices of a case, as they lie in memory: a of rows `pitch` elements apart (transposed: read along columns),
/// and b, or one b for all.
template <class T, int kSize> struct Matrices {
  static constexpr std::int64_t kOfOne = kSize * kSize, kCount = 40'000 / kOfOne;
  Sides sides;
  std::int64_t pitch;
  Buffer a, b, c;

  Matrices(tern::DType dtype, Sides sides)
      : sides(sides),
        pitch(sides == Sides::strided ? kSize + 1 : kSize),
        a(Buffer::pattern(dtype, kCount * kSize * pitch, 1)),
        b(Buffer::pattern(dtype, sides == Sides::shared ? kOfOne : kCount * kOfOne, 2)),
        c(Buffer::pattern(dtype, kCount * kOfOne, 3)) {}

  tern::Tensor left() const {
    const tern::Tensor all = a.tensor({kCount, kSize, pitch});
    return sides == Sides::transposed ? all.transpose(1, 2) : sides == Sides::strided ? all.slice(2, 0, kSize) : all;
  }
  tern::Tensor right() const {
    return sides == Sides::shared ? b.tensor({kSize, kSize}) : b.tensor({kCount, kSize, kSize});
  }
  const T* of_a(std::int64_t i) const { return a.data<T>() + i * kSize * pitch; }
  const T* of_b(std::int64_t i) const { return b.data<T>() + (sides == Sides::shared ? 0 : i * kOfOne); }
};

/// By plain loops. What stays the same for all matrices is known when it is compiled.
template <Sides kSides_, class T, int kSize> void multiply(const Matrices<T, kSize>& m) {
  constexpr int kPitch = kSides_ == Sides::strided ? kSize + 1 : kSize;
  constexpr int kRow = kSides_ == Sides::transposed ? 1 : kPitch, kColumn = kSides_ == Sides::transposed ? kSize : 1;
  T* __restrict to = m.c.template data<T>();
  for (std::int64_t i = 0; i < m.kCount; ++i, to += m.kOfOne) {
    const T* __restrict p = m.of_a(i), * __restrict q = m.of_b(i);
    for (int r = 0; r < kSize; ++r)
      for (int s = 0; s < kSize; ++s) {
        T sum = 0;
        for (int k = 0; k < kSize; ++k) sum += p[r * kRow + k * kColumn] * q[k * kSize + s];
        to[r * kSize + s] = sum;
      }
  }
}

#ifdef BENCH_EIGEN
template <Sides kSides_, class T, int kSize> void multiply_by_eigen(const Matrices<T, kSize>& m) {
  using Rows = Eigen::Matrix<T, kSize, kSize, Eigen::RowMajor>;
  using Columns = Eigen::Matrix<T, kSize, kSize, Eigen::ColMajor>;
  using Stride = Eigen::OuterStride<kSides_ == Sides::strided ? kSize + 1 : kSize>;
  using Left = Eigen::Map<const std::conditional_t<kSides_ == Sides::transposed, Columns, Rows>, 0, Stride>;
  T* to = m.c.template data<T>();
  for (std::int64_t i = 0; i < m.kCount; ++i, to += m.kOfOne)
    Eigen::Map<Rows>(to).noalias() = Left(m.of_a(i)) * Eigen::Map<const Rows>(m.of_b(i));
}
#endif

template <Sides kSides_, class T, int kSize> void add(Workloads& workloads, const Target& target, tern::DType dtype) {
  const auto prepare = [=] {
    const Matrices<T, kSize> m(dtype, kSides_);
    const tern::Tensor x = m.left(), y = m.right();
    const auto loop = [=] { multiply<kSides_>(m); };
    loop();
    Prepared p;
    p.expected = sample(m.c);
    p.contenders.push_back(target.tern([=] { tern::matmul(x, y); }, [=] { return sample(tern::matmul(x, y)); }));
    p.contenders.push_back({.library = "loop", .run = loop, .result = [=] { return loop(), sample(m.c); }});
#ifdef BENCH_EIGEN
    const auto eigen = [=] { multiply_by_eigen<kSides_>(m); };
    p.contenders.push_back({.library = "Eigen", .run = eigen, .result = [=] { return eigen(), sample(m.c); }});
#endif
    return p;
  };
  workloads.push_back({.name = fmt::format("cliffs/products/{}/{}x{}{}", name_of(dtype), kSize, kSize,
                                           kSides[static_cast<int>(kSides_)]),
                       .unit = Unit::calls,
                       .roof = "",
                       .quick = kSides_ == Sides::own,
                       .tolerance = sizeof(T) == 8 ? 1e-13 : 1e-5,
                       .prepare = prepare});
}

template <class T, int kSize> void add_sides(Workloads& workloads, const Target& target, tern::DType dtype) {
  add<Sides::own, T, kSize>(workloads, target, dtype);
  add<Sides::shared, T, kSize>(workloads, target, dtype);
  add<Sides::transposed, T, kSize>(workloads, target, dtype);
  add<Sides::strided, T, kSize>(workloads, target, dtype);
}
template <class T, int... kSizes> void add_sizes(Workloads& workloads, const Target& target, tern::DType dtype) {
  (add_sides<T, kSizes>(workloads, target, dtype), ...);
}

}  // namespace

void add_small_products(Workloads& workloads, const Target& target) {
  if (target.gpu()) return;
  add_sizes<float, 2, 3, 4, 6, 8, 12, 16>(workloads, target, tern::f32);
  add_sizes<double, 2, 3, 4, 6, 8, 12, 16>(workloads, target, tern::f64);
}

}  // namespace bench
