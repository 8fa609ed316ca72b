// What workloads compute, in f64 and by hand: the values that every library must give.
#pragma once
#include <cstdint>
#include <vector>

#include "peers.hpp"

namespace bench {

using Values = std::vector<double>;

/// An activation and its derivative.
double activate(Activation activation, double x);
double activate_derivative(Activation activation, double x);

Values values_of(const Buffer& buffer);
/// y = x[m, k] · w[k, n] + bias[n]
Values linear(const Values& x, const Values& w, const Values& bias, std::int64_t m, std::int64_t k, std::int64_t n);
/// Gradients of w and bias, in their place, from that of y.
void linear_gradients(const Values& x, const Values& d_y, std::int64_t m, std::int64_t k, std::int64_t n, Values& d_w,
                      Values& d_bias);
/// The gradient of x[m, k].
Values input_gradient(const Values& d_y, const Values& w, std::int64_t m, std::int64_t k, std::int64_t n);
/// The mean loss over rows of logits; they become its gradient. labels: i32[rows].
double cross_entropy(Values& logits, const Buffer& labels, std::int64_t classes);

}  // namespace bench
