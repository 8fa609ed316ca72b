// The error of special functions (include/tern/special.hpp) over their domains, against __float128, and what they give
// at the ends of these. Where a function has zeros that no piece of it is made for, the bound is in terms of what is
// added up there.
#include <cmath>
#include <limits>

#include "contract/quad.hpp"
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

constexpr Quad kPi = M_PIq;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

Quad cotangent(Quad x) {
  const Quad r = x - rintq(x);
  return cosq(kPi * r) / sinq(kPi * r);
}
Quad digamma_of(Quad x) {
  return x < 0.5Q ? polygamma_positive(0, 1 - x) - kPi * cotangent(x) : polygamma_positive(0, x);
}
/// π·dⁿ/dxⁿ cot(πx), n = 1, 2, 3.
Quad cotangent_slope(int n, Quad x) {
  const Quad c = cotangent(x), s = 1 + c * c, p = kPi * kPi;
  return n == 1 ? -p * s : n == 2 ? 2 * p * kPi * c * s : -2 * p * p * s * (1 + 3 * c * c);
}
Quad polygamma_of(int n, Quad x) {
  return x < 0 ? (n % 2 ? -1 : 1) * polygamma_positive(n, 1 - x) - cotangent_slope(n, x) : polygamma_positive(n, x);
}
Quad lgamma_of(Quad x) {
  if (x > 0) return lgammaq(x);
  return logq(kPi / fabsq(x * sinq(kPi * (x - rintq(x))))) - lgammaq(-x);
}
Quad envelope(Quad x) { return fminq(1, sqrtq(2 / (kPi * fabsq(x)))); }

struct Special {
  const char* name;
  Tensor (*call)(const Tensor& x);
  Quad (*truth)(Quad x);
  Quad (*scale)(Quad x);  // what the error is relative to, where that is more than the value
  double eps;             // the bound stated in special.hpp, of f64 and of f32 on the CPU
  double lowest, highest;
};
inline void PrintTo(const Special& f, std::ostream* stream) { *stream << f.name; }

Quad none(Quad) { return 0; }
Quad lgamma_scale(Quad x) {
  return x > 0 ? 0 : fabsq(logq(kPi / fabsq(x * sinq(kPi * (x - rintq(x)))))) + fabsq(lgammaq(-x));
}
Quad digamma_scale(Quad x) { return x > 0 ? 0 : 1 + fabsq(kPi * cotangent(x)); }
template <int n> Quad polygamma_scale(Quad x) {
  return x > 0 ? 0 : fabsq(polygamma_positive(n, 1 - x)) + fabsq(cotangent_slope(n, x));
}

const Special kSpecial[] = {
    {"lgamma", [](const Tensor& x) { return lgamma(x); }, &lgamma_of, &lgamma_scale, 4, -170, 1e6},
    {"digamma", [](const Tensor& x) { return digamma(x); }, &digamma_of, &digamma_scale, 5, -170, 1e6},
    {"polygamma_1", [](const Tensor& x) { return polygamma(1, x); }, [](Quad x) { return polygamma_of(1, x); },
     &polygamma_scale<1>, 8, -170, 1e6},
    {"polygamma_2", [](const Tensor& x) { return polygamma(2, x); }, [](Quad x) { return polygamma_of(2, x); },
     &polygamma_scale<2>, 10, -170, 1e6},
    {"polygamma_3", [](const Tensor& x) { return polygamma(3, x); }, [](Quad x) { return polygamma_of(3, x); },
     &polygamma_scale<3>, 12, -170, 1e6},
    {"polygamma_7", [](const Tensor& x) { return polygamma(7, x); }, [](Quad x) { return polygamma_positive(7, x); },
     &none, 20, 1e-3, 1e3},
    {"polygamma_20", [](const Tensor& x) { return polygamma(20, x); }, [](Quad x) { return polygamma_positive(20, x); },
     &none, 46, 0.1, 30},
    {"j0", [](const Tensor& x) { return j0(x); }, [](Quad x) { return j0q(x); }, &envelope, 24, -1e4, 1e4},
    {"j1", [](const Tensor& x) { return j1(x); }, [](Quad x) { return j1q(x); },
     [](Quad x) { return fabsq(x) < 1 ? 0 : envelope(x); }, 6, -1e4, 1e4},
    {"y0", [](const Tensor& x) { return y0(x); }, [](Quad x) { return y0q(x); }, &envelope, 32, 0, 1e4},
    {"y1", [](const Tensor& x) { return y1(x); }, [](Quad x) { return y1q(x); }, &envelope, 9, 0, 1e4},
    {"i0", [](const Tensor& x) { return i0(x); }, [](Quad x) { return modified_bessel(0, x); }, &none, 6, -88, 88},
    {"i1", [](const Tensor& x) { return i1(x); },
     [](Quad x) { return x < 0 ? -modified_bessel(1, -x) : modified_bessel(1, x); }, &none, 6, -88, 88},
    {"i0e", [](const Tensor& x) { return i0e(x); }, [](Quad x) { return modified_bessel(0, x) * expq(-fabsq(x)); },
     &none, 6, -300, 300},
    {"i1e", [](const Tensor& x) { return i1e(x); },
     [](Quad x) { return (x < 0 ? -modified_bessel(1, -x) : modified_bessel(1, x)) * expq(-fabsq(x)); }, &none, 6, -300,
     300},
};

class Specials : public testing::TestWithParam<std::tuple<Device, Special>> {};

/// Numbers of the domain: of all magnitudes, near 0, between, and beside whole and half numbers.
template <class S> std::vector<S> special_points(const Special& f) {
  std::vector<S> x;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const double u = random_unit(i), v = random_unit(i ^ 0xabcdef);
    double at = f.lowest + (f.highest - f.lowest) * u;
    if (i % 4 == 0) at = std::max(f.lowest, -20.0) + (std::min(f.highest, 20.0) - std::max(f.lowest, -20.0)) * u;
    if (i % 4 == 1) at = (v < 0.5 && f.lowest < 0 ? -1 : 1) * std::exp2(-20 + 30 * u);
    if (i % 4 == 2) at = std::round(20 * (2 * u - 1)) / 2 + std::exp2(-3 - 18 * v) * (i % 8 == 2 ? 1 : -1);
    const S rounded = static_cast<S>(at);
    if (at >= f.lowest && at <= f.highest && rounded != 0) x.push_back(rounded);
  }
  return x;
}

/// On GPUs the elementary functions are up to twice as far off, and WGSL may round an operation by one unit more.
template <class S> void check_special(const Special& f, Device device) {
  const std::vector<S> x = special_points<S>(f);
  const std::vector<S> got = f.call(tensor(x, Shape{x.size()}, device)).template to_vector<S>();
  const double budget = f.eps * (device.kind() == DeviceKind::cpu ? 1 : device.kind() == DeviceKind::cuda ? 2 : 3);
  Report report(std::string(f.name) + " " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  double worst = 0, where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Quad at = x[i], want = f.truth(at), size = fmaxq(fabsq(want), f.scale(at));
    if (size < static_cast<Quad>(std::numeric_limits<S>::min()) * 1024) continue;
    if (std::isinf(static_cast<S>(want)) && std::isinf(got[i])) continue;
    const double off = static_cast<double>(fabsq(got[i] - want) / (size * std::numeric_limits<S>::epsilon()));
    if (!(off <= worst)) worst = off, where = x[i];
    if (!(off <= budget))
      report.add([&] {
        return hex(x[i]) + " got " + hex(got[i]) + ", want " + hex(static_cast<double>(want)) + ", off by " +
               std::to_string(off) + " eps";
      });
  }
  if (std::getenv("TERN_TEST_SHOW_ERRORS"))
    std::printf("%s %s %.3f eps at %s\n", f.name, sizeof(S) == 8 ? "f64" : "f32", worst, hex(where).c_str());
}
TEST_P(Specials, AreWithinTheirBounds) {
  const auto& [device, f] = GetParam();
  check_special<float>(f, device);
  try {
    check_special<double>(f, device);
  } catch (const UnsupportedDType&) {
  }
}
INSTANTIATE_TEST_SUITE_P(Special, Specials,
                         testing::Combine(testing::ValuesIn(test::present_devices()), testing::ValuesIn(kSpecial)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param).to_string() + "_" + std::get<1>(info.param).name;
                           for (char& c : name)
                             if (c == ':') c = '_';
                           return name;
                         });

struct At {
  double x, y;
};
void expect_at(const char* name, Tensor (*f)(const Tensor&), const std::vector<At>& edges, Device device) {
  std::vector<float> x;
  for (const At& e : edges) x.push_back(static_cast<float>(e.x));
  const std::vector<float> y = f(tensor(x, Shape{x.size()}, device)).to_vector<float>();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double want = edges[i].y;
    EXPECT_TRUE(want != want ? y[i] != y[i]
                             : y[i] == want && (want != 0 || name == std::string("lgamma") ||
                                                std::signbit(y[i]) == std::signbit(want)))
        << name << "(" << x[i] << ") = " << y[i] << " on " << device.to_string() << ", want " << want;
  }
}
TEST(SpecialEdges, AreTheLimits) {
  for (const Device device : test::present_devices()) {
    expect_at(
        "lgamma", [](const Tensor& x) { return lgamma(x); },
        {{0, kInf}, {-0.0, kInf}, {1, 0}, {2, 0}, {-1, kInf}, {-7, kInf}, {kInf, kInf}, {-kInf, kInf}, {kNaN, kNaN}},
        device);
    expect_at(
        "digamma", [](const Tensor& x) { return digamma(x); },
        {{0, -kInf}, {-0.0, kInf}, {-1, kNaN}, {-6, kNaN}, {kInf, kInf}, {-kInf, kNaN}, {kNaN, kNaN}}, device);
    expect_at(
        "trigamma", [](const Tensor& x) { return polygamma(1, x); },
        {{0, kInf}, {-0.0, kInf}, {-1, kInf}, {kInf, 0}, {-kInf, kNaN}, {kNaN, kNaN}}, device);
    expect_at(
        "polygamma 2", [](const Tensor& x) { return polygamma(2, x); },
        {{0, -kInf}, {-1, kNaN}, {kInf, -0.0}, {-kInf, kNaN}, {kNaN, kNaN}}, device);
    expect_at(
        "j0", [](const Tensor& x) { return j0(x); }, {{0, 1}, {kInf, 0}, {-kInf, 0}, {kNaN, kNaN}}, device);
    expect_at(
        "j1", [](const Tensor& x) { return j1(x); }, {{0, 0}, {-0.0, -0.0}, {kInf, 0}, {-kInf, 0}, {kNaN, kNaN}},
        device);
    for (const auto f : {+[](const Tensor& x) { return y0(x); }, +[](const Tensor& x) { return y1(x); }})
      expect_at("y0 and y1", f, {{0, -kInf}, {-0.0, -kInf}, {-1, kNaN}, {kInf, 0}, {-kInf, kNaN}, {kNaN, kNaN}},
                device);
    expect_at(
        "i0", [](const Tensor& x) { return i0(x); }, {{0, 1}, {kInf, kInf}, {-kInf, kInf}, {kNaN, kNaN}}, device);
    expect_at(
        "i1", [](const Tensor& x) { return i1(x); }, {{0, 0}, {-0.0, -0.0}, {kInf, kInf}, {-kInf, -kInf}, {kNaN, kNaN}},
        device);
    expect_at(
        "i0e", [](const Tensor& x) { return i0e(x); }, {{0, 1}, {kInf, 0}, {-kInf, 0}, {kNaN, kNaN}}, device);
    expect_at(
        "i1e", [](const Tensor& x) { return i1e(x); }, {{0, 0}, {-0.0, -0.0}, {kInf, 0}, {-kInf, -0.0}, {kNaN, kNaN}},
        device);
  }
}

}  // namespace
}  // namespace tern::contract
