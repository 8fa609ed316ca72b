// Derivatives of any order against central differences, independent of the library's gradcheck.
#pragma once
#include <functional>
#include <tuple>

#include "every_device/reference.hpp"

namespace tern::test {

inline Tensor weights_like(const Shape& shape, Device device) {
  std::vector<double> w(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.6 + 0.5 * std::cos(1.0 + 2.3 * static_cast<double>(i));
  return make(w, shape, f64, device);
}
/// A scalar of any output: Σ weight · y.
inline Var weighted(const Var& y) { return sum(y * weights_like(y.shape(), y.device())); }

/// f's weighted sum as a scalar function of any number of Vars.
template <class F> auto scalar_of(F f) {
  return [f](const auto&... x) { return weighted(f(x...)); };
}
/// Σ weight · ∂f/∂x over all arguments: its gradient is a mixture of second derivatives.
template <class F> auto derivative_of(F f) {
  return [f](const auto&... x) {
    const auto parts = [&] {
      if constexpr (sizeof...(x) == 1) return std::make_tuple(grad(f)(x...));
      else return grad(f)(x...);
    }();
    return std::apply([](const auto&... g) { return (weighted(g) + ...); }, parts);
  };
}

/// The derivative at 0 of a function of one number: central differences, extrapolated twice; and its own error.
struct Difference { double value, error; };
template <class F> Difference difference(F f) {
  const double h = 0x1p-8;
  double d[3], largest = 1;
  for (int i = 0; i < 3; ++i) {
    const double step = std::ldexp(h, -i), up = f(step), down = f(-step);
    d[i] = (up - down) / (2 * step), largest = std::max({largest, std::abs(up), std::abs(down)});
  }
  const double first = (4 * d[1] - d[0]) / 3, second = (4 * d[2] - d[1]) / 3, value = (16 * second - first) / 15;
  return {value, 4 * std::abs(value - second) + 256 * 0x1p-52 * largest / (h / 4)};
}

using Function = std::function<Var(const Var&)>;
/// The derivative of this order: each contracted with w before the next.
inline Function derived(Function f, const Tensor& w, int order) {
  for (int n = 0; n < order; ++n)
    f = [f, w](const Var& x) { return grad([&](const Var& u) { return sum(f(u) * w); })(x); };
  return f;
}
/// Derivatives of these orders, fused on x's device and operation by operation in f64 on the CPU: within `tolerance` ·
/// 4^order, relative to the largest of what is there.
inline void expect_orders(const std::string& what, const Function& fused, const Function& unfused, const Tensor& x,
                          const Tensor& w, int first, int last, double tolerance) {
  const Tensor exact_x = x.to(cpu()).to(f64), exact_w = w.to(cpu()).to(f64);
  for (int order = first; order <= last; ++order) {
    const std::vector<double> got = doubles(derived(fused, w, order)(Var(x)).value()),
                              want = doubles(derived(unfused, exact_w, order)(Var(exact_x)).value());
    ASSERT_EQ(got.size(), want.size()) << what;
    double largest = 0;
    for (const double value : want) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], tolerance * std::pow(4, order) * largest)
          << what << ", order " << order << ", at " << i << " of rows of " << x.size(-1) << " in "
          << to_string(x.dtype());
  }
}

/// Checks the gradient of a scalar function of Vars with respect to every entry of every argument.
template <class F, class... T> void check_gradient(const std::string& what, const F& f, const T&... tensors) {
  const std::vector<Tensor> x{tensors...};
  const auto call = [&](const std::vector<Var>& at) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(at[I]...); }(std::index_sequence_for<T...>{});
  };
  std::vector<Var> leaves;
  for (const Tensor& t : x) leaves.emplace_back(t);
  const Var y = call(leaves);
  ASSERT_EQ(y.numel(), 1) << what;
  const Gradients g = y.requires_grad() ? backward(y) : Gradients();
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Tensor* got = g.get(leaves[k].id());
    std::vector<double> analytic(static_cast<std::size_t>(x[k].numel()));
    if (got) {
      ASSERT_EQ(got->shape(), x[k].shape()) << what;
      ASSERT_EQ(got->dtype(), x[k].dtype()) << what;
      analytic = doubles(*got);
    }
    for (std::size_t i = 0; i < analytic.size(); ++i) {
      const Difference numeric = difference([&](double step) {
        std::vector<Var> moved;
        for (const Tensor& t : x) moved.emplace_back(t, false);
        std::vector<double> values = doubles(x[k]);
        values[i] += step;
        moved[k] = Var(make(values, x[k].shape(), f64, x[k].device()), false);
        return call(moved).template item<double>();
      });
      ASSERT_LE(std::abs(analytic[i] - numeric.value), numeric.error)
          << what << ": argument " << k << ", entry " << i << ": got " << analytic[i] << ", central differences give "
          << numeric.value;
    }
  }
}
/// First, second and third derivatives of f, whatever its shape.
template <class F, class... T> void check_three_orders(const std::string& what, F f, const T&... x) {
  const auto first = scalar_of(f);
  check_gradient(what + ", order 1", first, x...);
  check_gradient(what + ", order 2", derivative_of(first), x...);
  check_gradient(what + ", order 3", derivative_of(derivative_of(first)), x...);
}

/// A test in f64, for the devices that have it: the others take EveryOrder's, and are asserted to refuse it.
class InDouble : public EveryDevice {
 protected:
  Tensor random(const Shape& shape, double low = -1, double high = 1) {
    return random_.tensor(shape, f64, device(), low, high);
  }
  /// Values in (-1, 1) in any order, no two of which are nearer than 1 / count: where extremes change, there are no
  /// differences to compare with.
  Tensor apart(std::int64_t count) {
    const std::vector<double> keys = doubles(random({count})), shifts = doubles(random({count}));
    std::vector<double> values(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto rank = std::count_if(keys.begin(), keys.end(), [&](double key) { return key < keys[i]; });
      values[i] = (2 * static_cast<double>(rank) + 1 + 0.5 * shifts[i]) / static_cast<double>(count) - 1;
    }
    return tensor(values, device());
  }

  Random random_{41};
};

/// The devices present that have f64.
inline std::vector<Device> devices_with_double() {
  std::vector<Device> list = present_devices();
  std::erase_if(list, [](Device d) { return refuses_f64(d); });
  return list;
}

}  // namespace tern::test

/// Instantiates a suite derived from InDouble.
#define TERN_EVERY_DEVICE_IN_DOUBLE(Suite)                                                                        \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, testing::ValuesIn(tern::test::devices_with_double()), \
                           tern::test::device_name)
