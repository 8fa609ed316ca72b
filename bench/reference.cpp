#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {
std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

double activate(Activation activation, double x) {
  if (activation == Activation::identity) return x;
  if (activation == Activation::silu) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
double activate_derivative(Activation activation, double x) {
  if (activation == Activation::identity) return 1;
  if (activation == Activation::silu) {
    const double s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
  const double t = std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

Values values_of(const Buffer& buffer) {
  Values values;
  for (std::int64_t i = 0; i < buffer.count(); ++i) values.push_back(buffer.at(i));
  return values;
}

Values linear(const Values& x, const Values& w, const Values& bias, std::int64_t m, std::int64_t k, std::int64_t n) {
  Values y;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = bias[index(j)];
      for (std::int64_t t = 0; t < k; ++t) sum += x[index(i * k + t)] * w[index(t * n + j)];
      y.push_back(sum);
    }
  return y;
}

void linear_gradients(const Values& x, const Values& d_y, std::int64_t m, std::int64_t k, std::int64_t n, Values& d_w,
                      Values& d_bias) {
  d_w.assign(index(k * n), 0);
  d_bias.assign(index(n), 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t t = 0; t < k; ++t)
      for (std::int64_t j = 0; j < n; ++j) d_w[index(t * n + j)] += x[index(i * k + t)] * d_y[index(i * n + j)];
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) d_bias[index(j)] += d_y[index(i * n + j)];
}

Values input_gradient(const Values& d_y, const Values& w, std::int64_t m, std::int64_t k, std::int64_t n) {
  Values d_x;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t t = 0; t < k; ++t) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += d_y[index(i * n + j)] * w[index(t * n + j)];
      d_x.push_back(sum);
    }
  return d_x;
}

double cross_entropy(Values& logits, const Buffer& labels, std::int64_t classes) {
  const std::int64_t rows = labels.count();
  double loss = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = logits.begin() + i * classes, end = row + classes;
    const std::int32_t label = labels.data<std::int32_t>()[i];
    const double largest = *std::max_element(row, end), right = row[label];
    double sum = 0;
    for (auto z = row; z != end; ++z) sum += std::exp(*z - largest);
    loss += std::log(sum) + largest - right;
    for (auto z = row; z != end; ++z) *z = std::exp(*z - largest) / sum / static_cast<double>(rows);
    row[label] -= 1.0 / static_cast<double>(rows);
  }
  return loss / static_cast<double>(rows);
}

}  // namespace bench
