// How fast are gated activations, in memory and in cache, forward, and forward and backward through autograd?
#include <fmt/format.h>

#include "reference.hpp"

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

Prepared prepare(const GatedCase& c, const Target& target) {
  const std::int64_t count = c.rows * c.columns;
  const Inputs in{Buffer::pattern(c.dtype, count, 1, 4), Buffer::pattern(c.dtype, count, 2),
                  Buffer::pattern(c.dtype, c.backward ? count : 0, 3)};
  const tern::Pointwise<> gated = c.activation == Activation::gelu ? tern::op::gelu_mul : tern::op::silu_mul;
  const tern::Shape shape{c.rows, c.columns};
  const tern::Tensor a = in[0].tensor(shape, target.device), b = in[1].tensor(shape, target.device);
  Contender tern =
      target.tern([=] { const tern::Tensor y = gated(a, b); }, [=] { return sample(gated(a, b)); });
  if (c.backward) {
    const tern::Var va(a), vb(b);
    const tern::Tensor grad = in[2].tensor(shape, target.device);
    tern.run = [=] { backward(gated(va, vb), grad); };
    tern.result = [=] {
      const tern::Gradients g = backward(gated(va, vb), grad);
      return sample(g[va], g[vb]);
    };
  }
  return {contenders(std::move(tern), target.peers, c, in, &Peer::gated), expected_gated(c, in)};
}

void add(Workloads& workloads, const Target& target, const GatedCase& c, bool quick) {
  const double bytes = static_cast<double>(c.rows * c.columns) * static_cast<double>(tern::dtype_size(c.dtype));
  workloads.push_back({.name = fmt::format("gated/{}_mul/{}/{}x{}/{}", name_of(c.activation), name_of(c.dtype), c.rows,
                                           c.columns, c.backward ? "both" : "forward"),
                       .unit = Unit::bytes,
                       .work = (c.backward ? 8 : 3) * bytes,  // a, b -> y; grad, a, b -> d_a, d_b
                       .roof = c.rows >= 4096 ? target.memory_roof() : "",
                       .quick = quick,
                       .tolerance = tolerance(c.dtype),
                       .prepare = [c, target] { return prepare(c, target); }});
}

}  // namespace

void add_gated(Workloads& workloads, const Target& target) {
  struct Size {
    std::int64_t rows, columns;
  };
  const auto on_cpu = {Size{4096, 4096}, Size{256, 1024}};
  const auto on_gpu = {Size{8192, 14336}, Size{8191, 14335}, Size{256, 1024}};
  for (const Size size : target.gpu() ? std::vector<Size>(on_gpu) : std::vector<Size>(on_cpu))
    for (const Activation activation : {Activation::silu, Activation::gelu})
      for (const tern::DType dtype : {tern::f32, tern::bf16, tern::f16})
        for (const bool backward : {false, true}) {
          if (dtype == tern::f16 && !target.gpu()) continue;
          const bool silu = activation == Activation::silu, f32 = dtype == tern::f32, f16 = dtype == tern::f16;
          const bool quick = target.gpu() ? size.rows == 8192 ? !f16 || silu : size.rows == 8191 && silu && !f16
                                          : silu && (f32 || (size.rows == 4096 && backward));
          add(workloads, target, {dtype, size.rows, size.columns, activation, backward}, quick);
        }
}

}  // namespace bench
