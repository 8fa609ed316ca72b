// How fast is the fused linear layer, forward, and forward and backward through autograd?
#include <fmt/format.h>

#include <cmath>

#include "reference.hpp"

namespace bench {

std::string name_of(Activation activation) {
  return activation == Activation::gelu ? "gelu" : activation == Activation::silu ? "silu" : "identity";
}

namespace {

/// The layer in f64, one value at a time.
struct Reference {
  const LinearCase& c;
  const Buffer &a, &b, &bias, &grad;

  Reference(const LinearCase& linear, const Inputs& in) : c(linear), a(in[0]), b(in[1]), bias(in[2]), grad(in[3]) {}
  double pre(std::int64_t i, std::int64_t j) const {
    double sum = bias.at(j);
    for (std::int64_t k = 0; k < c.k; ++k) sum += a.at(i * c.k + k) * b.at(k * c.n + j);
    return sum;
  }
  double grad_pre(std::int64_t i, std::int64_t j) const {
    return grad.at(i * c.n + j) * activate_derivative(c.activation, pre(i, j));
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
  for (const std::int64_t i : {std::int64_t{0}, c.m - 1})
    expected.push_back(
        parallel_sum(c.n, [&](std::int64_t j) { return r.grad_pre(i, j) * r.b.at((c.k - 1) * c.n + j); }));
  for (const std::int64_t j : {std::int64_t{0}, c.n - 1}) {
    Values g(static_cast<std::size_t>(c.m));
    const double bias =
        parallel_sum(c.m, [&](std::int64_t i) { return g[static_cast<std::size_t>(i)] = r.grad_pre(i, j); });
    expected.push_back(parallel_sum(
        c.m, [&](std::int64_t i) { return g[static_cast<std::size_t>(i)] * r.a.at(i * c.k + c.k - 1); }));
    expected.push_back(bias);
  }
  return expected;
}

const tern::Pointwise<>& formula(Activation activation) {
  switch (activation) {
    case Activation::gelu: return tern::op::gelu;
    case Activation::silu: return tern::op::silu;
    default: return tern::op::identity;
  }
}

/// The layer's inputs as tern's tensors.
struct Tensors {
  tern::Tensor a, b, bias, grad;
  Tensors(const LinearCase& c, const Inputs& in, tern::Device device)
      : a(in[0].tensor({c.m, c.k}, device)), b(in[1].tensor({c.k, c.n}, device)), bias(in[2].tensor({c.n}, device)) {
    if (c.backward) grad = in[3].tensor({c.m, c.n}, device);
  }
};

Contender tern_forward(const LinearCase& c, const Tensors& t, const Target& target) {
  const tern::Pointwise<> activation = formula(c.activation);
  return target.tern([=] { const tern::Tensor y = matmul_bias_activation(t.a, t.b, t.bias, activation); },
                     [=] { return sample(matmul_bias_activation(t.a, t.b, t.bias, activation)); });
}

/// The product alone, which a fused layer should not take much longer than.
Contender tern_product(const Tensors& t, const Target& target) {
  Contender product = target.tern([=] { const tern::Tensor y = matmul(t.a, t.b); }, {});
  product.library = "tern, product", product.part = true;
  return product;
}

Contender tern_both(const LinearCase& c, const Tensors& t, const Target& target) {
  const tern::Var a(t.a), b(t.b), bias(t.bias);
  const tern::Tensor grad = t.grad;
  const tern::Pointwise<> activation = formula(c.activation);
  const auto both = [=] { return backward(matmul_bias_activation(a, b, bias, activation), grad); };
  return target.tern([=] { both(); },
                     [=] {
                       const tern::Gradients g = both();
                       return linear_samples(
                           c, [&](std::int64_t at) { return element(g[a], at); },
                           [&](std::int64_t at) { return element(g[b], at); },
                           [&](std::int64_t at) { return element(g[bias], at); });
                     });
}

Prepared prepare(const LinearCase& c, const Target& target) {
  const double scale = 2 / std::sqrt(static_cast<double>(c.k));
  const Inputs in{Buffer::pattern(c.dtype, c.m * c.k, 1), Buffer::pattern(c.dtype, c.k * c.n, 2, scale),
                  Buffer::pattern(c.dtype, c.n, 3), Buffer::pattern(c.dtype, c.backward ? c.m * c.n : 0, 4)};
  const Tensors tensors(c, in, target.device);
  Contender tern = c.backward ? tern_both(c, tensors, target) : tern_forward(c, tensors, target);
  Prepared prepared{contenders(std::move(tern), target.peers, c, in, &Peer::linear), expected_linear(c, in)};
  if (target.gpu() && !c.backward) prepared.contenders.push_back(tern_product(tensors, target));
  return prepared;
}

void add(Workloads& workloads, const Target& target, const LinearCase& c, bool quick) {
  const double product = 2.0 * static_cast<double>(c.m * c.k) * static_cast<double>(c.n);
  workloads.push_back({.name = fmt::format("linear/{}/{}/{}x{}x{}/{}", name_of(c.activation), name_of(c.dtype), c.m,
                                           c.k, c.n, c.backward ? "both" : "forward"),
                       .unit = Unit::flops,
                       .work = c.backward ? 3 * product : product,
                       .roof = target.gpu() ? "" : name_of(c.dtype),
                       .quick = quick,
                       .tolerance = tolerance(c.dtype),
                       .prepare = [c, target] { return prepare(c, target); }});
}

void add_for_cpu(Workloads& workloads, const Target& target) {
  struct Size {
    std::int64_t m, k, n;
  };
  for (const tern::DType dtype : {tern::f32, tern::bf16})
    for (const Size size : {Size{1024, 1024, 4096}, Size{64, 784, 256}, Size{1, 1024, 4096}})
      for (const Activation activation : {Activation::gelu, Activation::silu})
        for (const bool backward : {false, true})
          add(workloads, target, {dtype, size.m, size.k, size.n, activation, backward},
              activation == Activation::gelu && (dtype == tern::f32 || size.m == 1024));
}

void add_for_gpu(Workloads& workloads, const Target& target) {
  const bool cuda = target.device.kind() == tern::DeviceKind::cuda;
  for (const bool backward : {false, true}) {
    for (const Activation activation : {Activation::identity, Activation::gelu, Activation::silu})
      add(workloads, target, {tern::bf16, 8192, 4096, 16384, activation, backward}, cuda);
    add(workloads, target, {tern::f32, 4096, 4096, 4096, Activation::gelu, backward}, !cuda || backward);
    add(workloads, target, {tern::f16, 4096, 4096, 4096, Activation::gelu, backward}, !cuda);
    add(workloads, target, {tern::bf16, 512, 768, 3072, Activation::gelu, backward}, backward);
    add(workloads, target, {tern::f32, 64, 784, 256, Activation::gelu, backward}, false);
  }
}

}  // namespace

void add_linear(Workloads& workloads, const Target& target) {
  if (target.gpu()) add_for_gpu(workloads, target);
  else add_for_cpu(workloads, target);
}

}  // namespace bench
