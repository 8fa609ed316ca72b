// The first and second derivatives of the Bessel functions over their domains, at 0 and on both sides of 8, where other
// pieces begin, against __float128 by the functions' differential equations.
#include <array>
#include <cmath>
#include <limits>

#include "contract/quad.hpp"
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

class BesselSlopes : public test::EveryDevice {};
TERN_EVERY_DEVICE(BesselSlopes);

/// f, f', f''.
using Jet = std::array<Quad, 3>;

/// Order 0 or 1 of an equation f'' = -f'/x - (sign - order²/x²)·f, of which f0 and f1 are solutions with f0' =
/// -sign·f1.
Jet jet_of(int order, int sign, Quad x, Quad f0, Quad f1) {
  const bool none = x == 0;  // of the solutions that are finite there
  if (order == 0) return {f0, -sign * f1, none ? -sign * 0.5Q : -sign * (f0 - f1 / x)};
  const Quad slope = none ? 0.5Q : f0 - f1 / x;
  return {f1, slope, none ? 0 : -slope / x - (sign - 1 / (x * x)) * f1};
}
Jet of_j(int order, Quad x) { return jet_of(order, 1, x, j0q(x), j1q(x)); }
Jet of_y(int order, Quad x) { return jet_of(order, 1, x, y0q(x), y1q(x)); }
Jet of_i(int order, Quad x) { return jet_of(order, -1, x, modified_bessel(0, x), modified_bessel(1, x)); }
/// Times e^(-|x|).
Jet scaled(const Jet& f, Quad x) {
  const Quad e = expq(-fabsq(x)), s = x < 0 ? -1 : x > 0 ? 1 : 0;
  return {f[0] * e, (f[1] - s * f[0]) * e, (f[2] - 2 * s * f[1] + s * s * f[0]) * e};
}

struct BesselFunction {
  const char* name;
  Var (*call)(const Var& x);
  Jet (*truth)(Quad x);
  bool negative, at_zero;  // where it has derivatives
  double most;             // of x
  bool decays = false;     // so that from 8 on its slope has no zeros, and its error is relative to itself
};
const BesselFunction kBesselFunctions[] = {
    {"j0", [](const Var& x) { return j0(x); }, [](Quad x) { return of_j(0, x); }, true, true, 1000},
    {"j1", [](const Var& x) { return j1(x); }, [](Quad x) { return of_j(1, x); }, true, true, 1000},
    {"y0", [](const Var& x) { return y0(x); }, [](Quad x) { return of_y(0, x); }, false, false, 1000},
    {"y1", [](const Var& x) { return y1(x); }, [](Quad x) { return of_y(1, x); }, false, false, 1000},
    {"i0", [](const Var& x) { return i0(x); }, [](Quad x) { return of_i(0, x); }, true, true, 60},
    {"i1", [](const Var& x) { return i1(x); }, [](Quad x) { return of_i(1, x); }, true, true, 60},
    {"i0e", [](const Var& x) { return i0e(x); }, [](Quad x) { return scaled(of_i(0, x), x); }, true, false, 60, true},
    {"i1e", [](const Var& x) { return i1e(x); }, [](Quad x) { return scaled(of_i(1, x), x); }, true, false, 60, true},
};

template <class S> std::vector<S> bessel_points(const BesselFunction& f) {
  const S eight = 8, inf = std::numeric_limits<S>::infinity();
  std::vector<S> x{eight, std::nextafter(eight, S(0)), std::nextafter(eight, inf), S(0.5), S(1), S(7.5), S(9)};
  for (std::uint64_t i = 0; i < 600; ++i) {
    const double u = random_unit(i);
    x.push_back(static_cast<S>(i % 3 == 0 ? 16 * u : std::exp(std::log(1e-3) + std::log(f.most / 1e-3) * u)));
  }
  if (f.at_zero) x.push_back(0);
  const std::size_t count = x.size();
  for (std::size_t i = 0; f.negative && i < count; ++i) x.push_back(-x[i]);
  return x;
}
/// What errors are relative to: the size of the function and its derivatives about x, not the value near their zeros.
Quad size_of(const Jet& jet) { return fmaxq(fabsq(jet[0]), fmaxq(fabsq(jet[1]), fabsq(jet[2]))); }

/// Within 32 eps, the largest bound of the functions themselves (contract/special.cpp).
template <class S> void check_slopes(const BesselFunction& f, Device device) {
  const std::vector<S> at = bessel_points<S>(f);
  const Var x(tensor(at, Shape{at.size()}, device));
  const Gradients first = backward(sum(f.call(x)), {.create_graph = true});
  const std::vector<S> slope = first[x].template to_vector<S>();
  const std::vector<S> second = backward(sum(first.var(x)))[x].template to_vector<S>();
  const double times = device.kind() == DeviceKind::cpu ? 1 : device.kind() == DeviceKind::cuda ? 2 : 3;
  Report report(std::string(f.name) + "', " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  double worst[2] = {};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Jet want = f.truth(at[i]);
    for (int order = 1; order <= 2; ++order) {
      const S got = order == 1 ? slope[i] : second[i];
      const Quad exact = want[static_cast<std::size_t>(order)];
      const Quad size = f.decays && order == 1 && std::abs(at[i]) >= 8 ? fabsq(exact) : size_of(want);
      const double off = static_cast<double>(fabsq(got - exact) / size) / std::numeric_limits<S>::epsilon();
      worst[order - 1] = std::max(worst[order - 1], off);
      if (!(off <= times * 32))
        report.add([&] { return hex(at[i]) + ", order " + std::to_string(order) + ": off by " + std::to_string(off); });
    }
  }
  if (std::getenv("TERN_TEST_SHOW_ERRORS"))
    std::printf("%s %s: %.1f, %.1f\n", f.name, sizeof(S) == 8 ? "f64" : "f32", worst[0], worst[1]);
}
TEST_P(BesselSlopes, AreWithinTheirBounds) {
  if (test::in_software(device())) return;  // in software: minutes of compilation
  for (const BesselFunction& f : kBesselFunctions) {
    check_slopes<float>(f, device());
    if (device().kind() != DeviceKind::webgpu) check_slopes<double>(f, device());
  }
}

}  // namespace
}  // namespace tern::contract
