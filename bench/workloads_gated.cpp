// How fast are gated activations, in memory and in cache, forward, and forward and backward through autograd?
#include <fmt/format.h>

#include "peers.hpp"

namespace bench {
namespace {

std::vector<double> expected_gated(const GatedCase& c, const Inputs& in) {
  std::vector<double> y, d_a, d_b;
  for (const std::int64_t i : sample_positions(c.rows * c.columns)) {
    const double a = in[0].at(i), b = in[1].at(i), active = activate(c.activation, a);
    y.push_back(active * b);
    if (!c.backward) continue;
    const double grad = in[2].at(i);
    d_a.push_back(grad * b * activate_derivative(c.activation, a));
    d_b.push_back(grad * active);
  }
  if (!c.backward) return y;
  d_a.insert(d_a.end(), d_b.begin(), d_b.end());
  return d_a;
}

Prepared prepare(const GatedCase& c, const Peers& peers) {
  const std::int64_t count = c.rows * c.columns;
  const Inputs in{Buffer::pattern(c.dtype, count, 1, 4), Buffer::pattern(c.dtype, count, 2),
                  Buffer::pattern(c.dtype, c.backward ? count : 0, 3)};
  const tern::Pointwise<> gated = c.activation == Activation::gelu ? tern::op::gelu_mul : tern::op::silu_mul;
  const tern::Tensor a = in[0].tensor({c.rows, c.columns}), b = in[1].tensor({c.rows, c.columns});
  Contender tern{.library = "tern",
                 .run = [=] { const tern::Tensor y = gated(a, b); },
                 .result = [=] { return sample(gated(a, b)); }};
  if (c.backward) {
    const tern::Var va(a), vb(b);
    const tern::Tensor grad = in[2].tensor({c.rows, c.columns});
    tern.run = [=] { backward(gated(va, vb), grad); };
    tern.result = [=] {
      const tern::Gradients g = backward(gated(va, vb), grad);
      return sample(g[va], g[vb]);
    };
  }
  return {contenders(std::move(tern), peers, c, in, &Peer::gated), expected_gated(c, in)};
}

}  // namespace

void add_gated(Workloads& workloads, const Peers& peers) {
  struct Size {
    std::int64_t rows, columns;
  };
  for (const Size size : {Size{4096, 4096}, Size{256, 1024}})
    for (const Activation activation : {Activation::silu, Activation::gelu})
      for (const tern::DType dtype : {tern::f32, tern::bf16})
        for (const bool backward : {false, true}) {
          const GatedCase c{dtype, size.rows, size.columns, activation, backward};
          const bool large = size.rows == 4096;
          const double bytes =
              static_cast<double>(size.rows * size.columns) * static_cast<double>(tern::dtype_size(dtype));
          workloads.push_back({.name = fmt::format("gated/{}_mul/{}/{}x{}/{}", name_of(activation), name_of(dtype),
                                                   c.rows, c.columns, backward ? "both" : "forward"),
                               .unit = Unit::bytes,
                               .work = (backward ? 8 : 3) * bytes,  // a, b -> y; grad, a, b -> d_a, d_b
                               .roof = large ? "triad" : "",
                               .quick = activation == Activation::silu && (dtype == tern::f32 || (large && backward)),
                               .tolerance = tolerance(dtype),
                               .prepare = [c, &peers] { return prepare(c, peers); }});
        }
}

}  // namespace bench
