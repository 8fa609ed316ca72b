// A basket option by Monte Carlo, with its sensitivities by one backward pass: price, deltas and vegas of a call on the
// geometric mean of three correlated stocks, held against the closed form that this mean has.
#include <cmath>

#include "program.hpp"

namespace {

using tern::Tensor;
using tern::Var;

constexpr double kRate = 0.03, kYears = 1.5, kStrike = 100;

double normal(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// The price for stocks S and volatilities v (each [3]): the geometric mean is lognormal, so Black and Scholes know it.
double closed_form(const std::vector<double>& s, const std::vector<double>& v, const std::vector<double>& correlation) {
  double variance = 0, drift = 0, log_mean = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) variance += v[i] * v[j] * correlation[3 * i + j] / 9;
    drift += (kRate - 0.5 * v[i] * v[i]) / 3;
    log_mean += std::log(s[i]) / 3;
  }
  const double deviation = std::sqrt(variance * kYears),
               forward = std::exp(log_mean + drift * kYears + 0.5 * variance * kYears);
  const double d1 = std::log(forward / kStrike) / deviation + 0.5 * deviation;
  return std::exp(-kRate * kYears) * (forward * normal(d1) - kStrike * normal(d1 - deviation));
}

bool price(std::int64_t paths, std::uint64_t seed) {
  const tern::DefaultDType precise(tern::f64);
  const Tensor stocks = tern::tensor({100.0, 95.0, 110.0}), volatilities = tern::tensor({0.2, 0.3, 0.25});
  const Tensor correlation = tern::tensor({{1.0, 0.5, 0.3}, {0.5, 1.0, 0.4}, {0.3, 0.4, 1.0}});
  tern::Generator random{seed};
  const Tensor draws = matmul(randn({paths, 3}, random), tern::linalg::cholesky(correlation).transpose(0, 1));

  const auto value = [&](const Var& s, const Var& v) {
    const Var ends = log(s) + (kRate - 0.5 * square(v)) * kYears + v * std::sqrt(kYears) * draws;  // [paths, 3]
    return std::exp(-kRate * kYears) * maximum(exp(ends.mean(-1)) - kStrike, 0).mean();
  };
  const auto [simulated, sensitivities] = tern::value_and_grad(value)(stocks, volatilities);
  const auto& [deltas, vegas] = sensitivities;
  std::cout << std::setprecision(5) << "price " << simulated << ", deltas " << deltas << ", vegas " << vegas << '\n';

  // The closed form, and its differences.
  const auto exact = [&](int bumped_stock, int bumped_volatility, double by) {
    std::vector<double> s = stocks.to_vector<double>(), v = volatilities.to_vector<double>();
    if (bumped_stock >= 0) s[bumped_stock] += by;
    if (bumped_volatility >= 0) v[bumped_volatility] += by;
    return closed_form(s, v, correlation.to_vector<double>());
  };
  const double expected = exact(-1, -1, 0), noise = 30 / std::sqrt(static_cast<double>(paths));
  bool right = std::abs(simulated.item<double>() - expected) < noise;
  for (int i = 0; i < 3; ++i) {
    const double delta = (exact(i, -1, 1e-3) - exact(i, -1, -1e-3)) / 2e-3,
                 vega = (exact(-1, i, 1e-4) - exact(-1, i, -1e-4)) / 2e-4;
    std::printf("stock %d: delta %.4f (closed form %.4f), vega %.3f (%.3f)\n", i, deltas[i].item<double>(), delta,
                vegas[i].item<double>(), vega);
    right &= std::abs(deltas[i].item<double>() - delta) < noise && std::abs(vegas[i].item<double>() - vega) < 5 * noise;
  }
  std::printf("the closed form's price is %.4f\n", expected);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t paths = 200000;
  std::uint64_t seed = 1;
  return run_program(
      argc, argv, "Prices a call on the geometric mean of three stocks by simulation; needs a device with f64.",
      [&](CLI::App& app) {
        app.add_option("--paths", paths, "Simulated paths")->check(CLI::PositiveNumber)->capture_default_str();
        app.add_option("--seed", seed, "Seed of the paths")->capture_default_str();
      },
      [&] { return price(paths, seed); });
}
