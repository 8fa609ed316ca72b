// Operations of your own: a formula, a formula over rows, an epilogue of a matrix product, and a gradient that no
// formula can say. Each is used forward and backward, and its first and second derivatives are held against
// differences.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include <tern/tern.hpp>

namespace {

using tern::Tensor;
using tern::Var;

// ---- a formula: one kernel, differentiable to any order ----
constexpr tern::Pointwise snake{"snake", [](auto x, auto a) { return x + square(sin(a * x)) / a; }};

// ---- a formula over rows: reductions run along the last axis ----
constexpr tern::Pointwise energy_norm{"energy_norm", [](auto x, auto gain) {
  auto power = mean(x * x);
  return x * rsqrt(power + 1e-5) * gain + 0.1 * log1p(power);
}};

// ---- an epilogue: an activation that tern does not have, applied to the product's tiles ----
constexpr tern::Pointwise bias_mish{"bias_mish", [](auto acc, auto bias) {
  auto u = acc + bias;
  return u * tanh(softplus(u));
}};

// ---- an epilogue: gate and value from one stacked weight, one product: [W_gate W_up] side by side, or interleaved
// ----
constexpr tern::Pointwise gate{"gate", [](auto g, auto u, auto bias) { return silu(g + bias) * u; }};

// ---- an epilogue with a sum over each row: a layer's values and the sum of their squares, for a norm that follows
// ----
constexpr tern::Pointwise with_power{"with_power", [](auto acc, auto bias) {
  auto y = silu(acc + bias);
  return std::array{y, sum(y * y, -1)};
}};

// ---- an epilogue with two results and dropout: the mask is drawn inside, and again in backward ----
template <int Outputs> using Formula = tern::Pointwise<Outputs>;
Formula<2> residual_dropout(std::int64_t width, double keep, double seed) {
  return {"residual_dropout", [=](auto acc, auto bias, auto skip) {
    auto y = acc + bias;
    auto kept = random_uniform(index(y, -2) * width + index(y, -1), seed) < keep;
    return std::array{where(kept, y / keep, 0) + skip, y};
  }};
}

/// Prints a line; gives whether both checks passed. They need f64.
template <class F, class... T> bool report(const char* name, const F& f, const T&... x) {
  const std::string kernels = tern::explain([&] { tern::vjp(f, std::tuple{x...}, f(Var(x, false)...)); });
  long calls = 0;
  for (const char c : kernels) calls += c == '\n';
  const tern::GradCheck first = tern::gradcheck(f, x...), second = tern::gradgradcheck(f, x...);
  std::printf("%-18s %2ld kernel calls forward and backward; first derivatives %s, second %s\n", name, calls,
              first ? "right" : first.message.c_str(), second ? "right" : second.message.c_str());
  return first && second;
}

bool run(std::uint64_t seed) {
  tern::Generator random{seed};
  const auto draw = [&](const tern::Shape& shape) { return randn(shape, random, tern::f64); };
  const Tensor x = draw({4, 6}), w = draw({6, 10}) * 0.4, half = draw({5}), row = draw({10}), skip = draw({4, 10});
  bool right = report("snake", [](const Var& v) { return snake(v, 1.5); }, x);
  right &= report(
      "energy_norm", [](const Var& v, const Var& g) { return row_formula(energy_norm, v, g); }, x, draw({6}));
  right &= report("bias_mish", [](const Var& v, const Var& m, const Var& b) {
    return matmul_epilogue(v, m, bias_mish, b);
  }, x, w, row);
  for (const bool interleaved : {false, true})
    right &= report(interleaved ? "gate, interleaved" : "gate", [&](const Var& v, const Var& m, const Var& b) {
      return matmul_epilogue(v, m, gate, {.parts = 2, .interleaved = interleaved}, b);
    }, x, w, half);
  right &= report("with_power", [](const Var& v, const Var& m, const Var& b) {
    const auto [y, power] = matmul_epilogue(v, m, with_power, b);
    return y * rsqrt(power + 1e-5);
  }, x, w, row);
  const auto dropout = residual_dropout(10, 0.8, 3);
  right &= report("residual_dropout", [&](const Var& v, const Var& m, const Var& b, const Var& s) {
    return matmul_epilogue(v, m, dropout, b, s)[0];
  }, x, w, row, skip);
  // No formula says this: the largest root of y² - a·y - b = 0, whose gradient follows from the equation itself.
  const auto root = tern::custom_gradient(
      "root", [](const Tensor& a, const Tensor& b) { return 0.5 * (a + sqrt(a * a + 4 * b)); },
      [](const Var& g, const Var& y, const Var& a, const Var&) {
        const Var d = g / (2 * y - a);
        return std::tuple{d * y, d};
      });
  right &= report("root", [&](const Var& a, const Var& b) { return root(a, square(b) + 1); }, x, draw({4, 6}));
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::string device;
  std::uint64_t seed = 1;
  CLI::App app{"Runs operations that are not tern's own, and checks their derivatives."};
  app.add_option("--device", device, "A device with f64 (default: cpu)")->type_name("NAME");
  app.add_option("--seed", seed, "Seed of the numbers they run on")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    tern::set_default_device(device.empty() ? tern::cpu() : tern::Device::parse(device));
    return run(seed) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "custom_op: %s\n", e.what());
    return 2;
  }
}
