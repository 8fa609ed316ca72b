// How fast is the fused linear layer, forward, and forward and backward through autograd?
#include <fmt/format.h>

#include <cmath>

#include "peers.hpp"

namespace bench {

double activate(Activation activation, double x) {
  if (activation == Activation::silu) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
double activate_derivative(Activation activation, double x) {
  if (activation == Activation::silu) {
    const double s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
  const double t = std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}
std::string name_of(Activation activation) { return activation == Activation::gelu ? "gelu" : "silu"; }

namespace {

/// The layer in f64, one value at a time.
struct Reference {
  const LinearCase& c;
  std::vector<double> a, b, bias, grad;

  Reference(const LinearCase& linear, const Inputs& in) : c(linear) {
    std::vector<double>* const to[] = {&a, &b, &bias, &grad};
    for (std::size_t t = 0; t < 4; ++t)
      for (std::int64_t i = 0; i < in[t].count(); ++i) to[t]->push_back(in[t].at(i));
  }
  double pre(std::int64_t i, std::int64_t j) const {
    double sum = bias[static_cast<std::size_t>(j)];
    for (std::int64_t k = 0; k < c.k; ++k)
      sum += a[static_cast<std::size_t>(i * c.k + k)] * b[static_cast<std::size_t>(k * c.n + j)];
    return sum;
  }
  double grad_pre(std::int64_t i, std::int64_t j) const {
    return grad[static_cast<std::size_t>(i * c.n + j)] * activate_derivative(c.activation, pre(i, j));
  }
};

/// Samples of y, or where it goes backward what linear_samples picks of the gradients: few, for each costs a product.
std::vector<double> expected_linear(const LinearCase& c, const Inputs& in) {
  const Reference r(c, in);
  std::vector<double> expected;
  if (!c.backward) {
    for (const std::int64_t at : sample_positions(c.m * c.n))
      expected.push_back(activate(c.activation, r.pre(at / c.n, at % c.n)));
    return expected;
  }
  for (const std::int64_t i : {std::int64_t{0}, c.m - 1}) {
    double sum = 0;
    for (std::int64_t j = 0; j < c.n; ++j) sum += r.grad_pre(i, j) * r.b[static_cast<std::size_t>((c.k - 1) * c.n + j)];
    expected.push_back(sum);
  }
  for (const std::int64_t j : {std::int64_t{0}, c.n - 1}) {
    double sum = 0, bias = 0;
    for (std::int64_t i = 0; i < c.m; ++i) {
      const double g = r.grad_pre(i, j);
      sum += g * r.a[static_cast<std::size_t>(i * c.k + c.k - 1)];
      bias += g;
    }
    expected.push_back(sum);
    expected.push_back(bias);
  }
  return expected;
}

const tern::Pointwise<>& formula(Activation activation) {
  return activation == Activation::gelu ? tern::op::gelu : tern::op::silu;
}

double element(const tern::Tensor& t, std::int64_t at) {
  return t.reshape({-1}).slice(0, at, at + 1).to(tern::f64).item<double>();
}

Contender tern_forward(const LinearCase& c, const Inputs& in) {
  const tern::Tensor a = in[0].tensor({c.m, c.k}), b = in[1].tensor({c.k, c.n}), bias = in[2].tensor({c.n});
  const tern::Pointwise<> activation = formula(c.activation);
  return {.library = "tern",
          .run = [=] { const tern::Tensor y = matmul_bias_activation(a, b, bias, activation); },
          .result = [=] { return sample(matmul_bias_activation(a, b, bias, activation)); }};
}

Contender tern_both(const LinearCase& c, const Inputs& in) {
  const tern::Var a(in[0].tensor({c.m, c.k})), b(in[1].tensor({c.k, c.n})), bias(in[2].tensor({c.n}));
  const tern::Tensor grad = in[3].tensor({c.m, c.n});
  const tern::Pointwise<> activation = formula(c.activation);
  const auto both = [=] { return backward(matmul_bias_activation(a, b, bias, activation), grad); };
  return {.library = "tern",
          .run = [=] { both(); },
          .result =
              [=] {
                const tern::Gradients g = both();
                return linear_samples(
                    c, [&](std::int64_t at) { return element(g[a], at); },
                    [&](std::int64_t at) { return element(g[b], at); },
                    [&](std::int64_t at) { return element(g[bias], at); });
              }};
}

Prepared prepare(const LinearCase& c, const Peers& peers) {
  const double scale = 2 / std::sqrt(static_cast<double>(c.k));
  const Inputs in{Buffer::pattern(c.dtype, c.m * c.k, 1), Buffer::pattern(c.dtype, c.k * c.n, 2, scale),
                  Buffer::pattern(c.dtype, c.n, 3), Buffer::pattern(c.dtype, c.backward ? c.m * c.n : 0, 4)};
  Contender tern = c.backward ? tern_both(c, in) : tern_forward(c, in);
  return {contenders(std::move(tern), peers, c, in, &Peer::linear), expected_linear(c, in)};
}

}  // namespace

void add_linear(Workloads& workloads, const Peers& peers) {
  struct Size {
    std::int64_t m, k, n;
  };
  for (const tern::DType dtype : {tern::f32, tern::bf16})
    for (const Size size : {Size{1024, 1024, 4096}, Size{64, 784, 256}, Size{1, 1024, 4096}})
      for (const Activation activation : {Activation::gelu, Activation::silu})
        for (const bool backward : {false, true}) {
          const LinearCase c{dtype, size.m, size.k, size.n, activation, backward};
          const double product = 2.0 * static_cast<double>(c.m * c.k) * static_cast<double>(c.n);
          workloads.push_back({.name = fmt::format("linear/{}/{}/{}x{}x{}/{}", name_of(activation), name_of(dtype), c.m,
                                                   c.k, c.n, backward ? "both" : "forward"),
                               .unit = Unit::flops,
                               .work = backward ? 3 * product : product,
                               .roof = name_of(dtype),
                               .quick = activation == Activation::gelu && (dtype == tern::f32 || c.m == 1024),
                               .tolerance = tolerance(dtype),
                               .prepare = [c, &peers] { return prepare(c, peers); }});
        }
}

}  // namespace bench
