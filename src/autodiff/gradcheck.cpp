// Gradients against central differences.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "backend/tensor_impl.hpp"
#include "tern/transforms.hpp"

namespace tern::detail {
namespace {

/// Fixed weights make a scalar of any output; irrational steps keep entries from cancelling.
Var weighted_sum(const Var& y) {
  std::vector<double> weights(static_cast<std::size_t>(y.numel()));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = 0.5 + std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
  return (y * as_var(tensor(weights, y.shape(), y.device()))).sum();
}

}  // namespace

GradCheck check_gradients(const char* op, const ListFunction& f, std::vector<Tensor> x) {
  for (const Tensor& t : x) require_defined(op, "an argument", t);
  const bool constants = std::ranges::any_of(x, [](const Tensor& t) { return is_floating(t.dtype()); });
  for (Tensor& t : x) {
    if (t.dtype() != DType::f64 && !(constants && !is_floating(t.dtype())))
      throw Error(ErrorKind::dtype, std::string(op) + ": arguments must be f64, got " + describe(t));
    t = t.clone();
  }
  std::vector<Var> at;
  for (const Tensor& t : x) at.emplace_back(t, is_floating(t.dtype()));
  const std::vector<Var> results = f(at);
  check_results(op, results);
  const Var y = weighted_sum(joined(results)), seed = ones_like(y);
  const std::vector<Var> analytic = backward_to({&y, 1}, {&seed, 1}, at, {});
  const auto value_at = [&](std::size_t argument, std::int64_t entry, double step) {
    std::vector<Var> moved;  // constants: nothing is recorded but what f differentiates itself
    for (const Tensor& t : x) moved.push_back(as_var(t));
    std::vector<double> values = x[argument].to_vector<double>();
    values[static_cast<std::size_t>(entry)] += step;
    moved[argument] = as_var(tensor(values, x[argument].shape(), x[argument].device()));
    return weighted_sum(joined(f(moved))).item<double>();
  };
  GradCheck result{true, 0, "all gradients agree"};
  for (std::size_t a = 0; a < x.size(); ++a) {
    if (!is_floating(x[a].dtype())) continue;
    const std::vector<double> g = or_zeros(analytic[a], at[a]).to_vector<double>(), values = x[a].to_vector<double>();
    for (std::int64_t i = 0; i < x[a].numel(); ++i) {
      // Richardson: (4 D(h) - D(2h)) / 3 has error O(h⁴); at h = 2e-3 that and rounding (eps/h) are both near 1e-11.
      const double h = 2e-3 * std::max(1.0, std::abs(values[static_cast<std::size_t>(i)]));
      const double near = (value_at(a, i, h) - value_at(a, i, -h)) / (2 * h),
                   far = (value_at(a, i, 2 * h) - value_at(a, i, -2 * h)) / (4 * h);
      const double numeric = (4 * near - far) / 3, got = g[static_cast<std::size_t>(i)];
      // The difference of the two estimates bounds the truncation error left.
      const double tolerance = 1e-7 * std::max(1.0, std::abs(numeric)) + 0.1 * std::abs(near - far);
      const double error = std::abs(got - numeric) / tolerance;
      if (!(error <= result.worst)) {
        result.worst = std::isnan(error) ? kInf : error;
        if (result.worst > 1) {
          char text[200];
          std::snprintf(
              text, sizeof text,
              "argument %zu, element %lld: gradient %.12g, central difference %.12g (%.3g times the tolerance)", a + 1,
              static_cast<long long>(i), got, numeric, result.worst);
          result.ok = false, result.message = text;
        }
      }
    }
  }
  return result;
}

GradCheck check_second_gradients(const ListFunction& f, std::vector<Tensor> x) {
  constexpr const char* op = "gradgradcheck";
  const std::size_t count = x.size();
  std::vector<Var> at;
  for (const Tensor& t : x) at.push_back(as_var(require_defined(op, "an argument", t)));
  const std::vector<Var> results = f(at);
  check_results(op, results);
  for (const Var& y : results) {  // the cotangents are further arguments, with values of their own
    if (!is_floating(y.dtype()))
      throw Error(ErrorKind::dtype, std::string(op) + ": the function must give f64, got " + describe(y.value()));
    std::vector<double> cotangent(static_cast<std::size_t>(y.numel()));
    for (std::size_t i = 0; i < cotangent.size(); ++i)
      cotangent[i] = std::cos(1.0 + 1.7 * static_cast<double>(i + x.size()));
    x.push_back(tensor(cotangent, y.shape(), y.device()));
  }
  const auto gradient = [&](std::span<const Var> all) {
    const RecordingScope recording;
    const std::vector<Var> here = aliases(op, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)});
    const std::vector<Var> y = f(here);
    std::vector<Var> g = filled(backward_to(y, all.subspan(count), here, {.create_graph = true}), here);
    std::erase_if(g, [](const Var& v) { return !is_floating(v.dtype()); });
    return g;
  };
  return check_gradients(op, gradient, std::move(x));
}

}  // namespace tern::detail
