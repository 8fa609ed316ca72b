// Powers with exponents that have a shorter way, and remainders of moderate and of huge quotients: the same values as
// the long ways give, wherever in a tensor they stand.
#include <bit>
#include <cmath>
#include <random>

#include "every_device.hpp"

namespace tern {
namespace {

class PowersAndRemainders : public test::EveryDevice {};

template <class T> T remainder_of(T a, T b) {
  const T r = std::fmod(a, b);
  if (r == 0) return std::copysign(T(0), b);
  return (r < 0) != (b < 0) ? r + b : r;
}
template <class T> bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// f(T{}) for f32 and, where the device has it, f64.
template <class F> void of_both(const F& f) {
  f(0.0f);
  try {
    f(0.0);
  } catch (const UnsupportedDType&) {
  }
}

/// Quotients below 1, moderate, of 2^20 to 2^60, multiples and their neighbours, and edges, in one tensor.
template <class T> void remainder_points(std::vector<T>& a, std::vector<T>& b) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 20'000; ++i) {
    const T divisor = static_cast<T>(std::ldexp(unit(random), i % 13 - 6));
    T value = static_cast<T>(std::ldexp(unit(random), i % 67 - 6));
    if (i % 3 == 0) value = static_cast<T>(std::floor(1000 * unit(random))) * divisor;
    if (i % 6 == 0) value = std::nextafter(value, static_cast<T>(unit(random) > 0 ? 1e30 : -1e30));
    a.push_back(value), b.push_back(divisor);
  }
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
          large = std::numeric_limits<T>::max();
  for (const T x : {T(0), T(-0.0), T(1), T(-1), T(0.7), T(-2.5), large, -large, inf, -inf, nan})
    for (const T y : {T(0), T(-0.0), T(1), T(-1), T(0.7), T(3), T(-3), large, -large, inf, -inf, nan})
      a.push_back(x), b.push_back(y);
}
TEST_P(PowersAndRemainders, RemaindersAreExact) {
  of_both([&](auto zero) {
    using T = decltype(zero);
    std::vector<T> a, b;
    remainder_points(a, b);
    const std::vector<T> got = (tensor(a) % tensor(b)).template to_vector<T>();
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (const T want = remainder_of(a[i], b[i]); !same(got[i], want) && ++wrong < 10) {
        ADD_FAILURE() << a[i] << " % " << b[i] << " = " << got[i] << ", not " << want;
      }
    for (const double divisor : {0.7, -3.0, 1e-3, 0x1p-40}) {
      const std::vector<T> by = (tensor(a) % divisor).template to_vector<T>();
      for (std::size_t i = 0; i < a.size(); ++i)
        if (const T want = remainder_of(a[i], static_cast<T>(divisor)); !same(by[i], want) && ++wrong < 20) {
          ADD_FAILURE() << a[i] << " % " << divisor << " = " << by[i] << ", not " << want;
        }
    }
    EXPECT_EQ(wrong, 0);
  });
}

TEST_P(PowersAndRemainders, SquaresAreProducts) {
  of_both([&](auto zero) {
    using T = decltype(zero);
    std::vector<T> x;
    std::mt19937_64 random(6);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (int i = 0; i < 5000; ++i)
      x.push_back(static_cast<T>(std::ldexp(1 + 0.5 * unit(random), i % 120 - 60)) * (i % 2 ? 1 : -1));
    const Var v(tensor(x));
    const Var y = pow(v, 2);
    const std::vector<T> got = y.value().template to_vector<T>(), slope = backward(sum(y))[v].template to_vector<T>();
    constexpr Pointwise literal{"literal", [](auto e) { return pow(e, 2); }};
    const std::vector<T> inside = literal(v.value()).template to_vector<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(got[i], x[i] * x[i]);
      EXPECT_EQ(inside[i], x[i] * x[i]);
      EXPECT_EQ(slope[i], 2 * x[i]);
    }
  });
}

/// The edges of C's pow, and bits that do not depend on a neighbour's exponent.
TEST_P(PowersAndRemainders, OfFewExponents) {
  of_both([&](auto zero) {
    using T = decltype(zero);
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
            large = std::numeric_limits<T>::max();
    std::vector<T> x, exponents;
    const std::vector<T> edges{T(0),    T(-0.0),  T(1),  T(-1),  T(2), T(-3), T(0.3),
                               T(1e19), T(-1e19), large, -large, inf,  -inf,  nan};
    const std::vector<T> powers{T(2), T(1), T(-1), T(0.5), T(3), T(-2), T(2.5), T(0), T(1.5)};
    for (const T e : edges)
      for (const T p : powers) x.push_back(e), exponents.push_back(p);
    const std::vector<T> mixed = pow(tensor(x), tensor(exponents)).template to_vector<T>();
    for (std::size_t p = 0; p < powers.size(); ++p) {
      const std::vector<T> alone = pow(tensor(edges), static_cast<double>(powers[p])).template to_vector<T>();
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const T got = mixed[e * powers.size() + p], want = std::pow(edges[e], powers[p]);
        EXPECT_TRUE(same(alone[e], got)) << edges[e] << "^" << powers[p] << ": " << alone[e] << " and " << got;
        const bool close = std::isfinite(want) && want != 0 &&
                           std::fabs(got - want) <= 4 * std::numeric_limits<T>::epsilon() * std::fabs(want);
        // WGSL may flush subnormal numbers (15.7.2).
        const bool flushed = device().kind() == DeviceKind::webgpu && got == 0 &&
                             std::fabs(want) < std::numeric_limits<T>::min() && std::signbit(got) == std::signbit(want);
        EXPECT_TRUE(close || flushed || same(got, want)) << edges[e] << "^" << powers[p] << ": " << got;
      }
    }
  });
}
TERN_EVERY_DEVICE(PowersAndRemainders);

}  // namespace
}  // namespace tern
