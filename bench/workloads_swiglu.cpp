// How fast is the feed-forward block of today's language models, forward and backward through autograd?
#include <fmt/format.h>

#include <cmath>

#include "reference.hpp"

namespace bench {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The block in f64, one value at a time.
struct Reference {
  const SwigluCase& c;
  const Buffer &x, &wg, &wu, &wd, &grad;

  Reference(const SwigluCase& s, const Inputs& in) : c(s), x(in[0]), wg(in[1]), wu(in[2]), wd(in[3]), grad(in[4]) {}
  double product(const Buffer& w, std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t k = 0; k < c.d; ++k) sum += x.at(i * c.d + k) * w.at(k * c.h + j);
    return sum;
  }
  struct Hidden {
    double value, d_gate, d_up;
  };
  Hidden hidden(std::int64_t i, std::int64_t j) const {
    const double gate = product(wg, i, j), up = product(wu, i, j);
    double d = 0;
    for (std::int64_t k = 0; k < c.d; ++k) d += grad.at(i * c.d + k) * wd.at(j * c.d + k);
    return {activate(Activation::silu, gate) * up, d * up * activate_derivative(Activation::silu, gate),
            d * activate(Activation::silu, gate)};
  }
};

/// Where gradients are compared: d_x in its last element; d_wg and d_wu in their last rows and d_wd in its first
/// column, for the first and the last hidden unit. Few, for each costs a product.
Values expected_swiglu(const SwigluCase& c, const Inputs& in) {
  const Reference r(c, in);
  Values expected;
  expected.push_back(parallel_sum(c.h, [&](std::int64_t j) {
    const Reference::Hidden h = r.hidden(c.m - 1, j);
    return h.d_gate * r.wg.at((c.d - 1) * c.h + j) + h.d_up * r.wu.at((c.d - 1) * c.h + j);
  }));
  for (const std::int64_t j : {std::int64_t{0}, c.h - 1}) {
    Values gate(index(c.m)), up(index(c.m)), value(index(c.m));
    parallel_sum(c.m, [&](std::int64_t i) {
      const Reference::Hidden h = r.hidden(i, j);
      return gate[index(i)] = h.d_gate, up[index(i)] = h.d_up, value[index(i)] = h.value;
    });
    double d_wg = 0, d_wu = 0, d_wd = 0;
    for (std::int64_t i = 0; i < c.m; ++i) {
      const double last = r.x.at(i * c.d + c.d - 1);
      d_wg += last * gate[index(i)], d_wu += last * up[index(i)], d_wd += value[index(i)] * r.grad.at(i * c.d);
    }
    expected.insert(expected.end(), {d_wg, d_wu, d_wd});
  }
  return expected;
}

Prepared prepare(const SwigluCase& c, const Target& target) {
  const double in_scale = 2 / std::sqrt(static_cast<double>(c.d)), out_scale = 2 / std::sqrt(static_cast<double>(c.h));
  const Inputs in{Buffer::pattern(c.dtype, c.m * c.d, 1), Buffer::pattern(c.dtype, c.d * c.h, 2, in_scale),
                  Buffer::pattern(c.dtype, c.d * c.h, 3, in_scale), Buffer::pattern(c.dtype, c.h * c.d, 4, out_scale),
                  Buffer::pattern(c.dtype, c.m * c.d, 5)};
  const tern::Var x(in[0].tensor({c.m, c.d}, target.device)), wg(in[1].tensor({c.d, c.h}, target.device)),
      wu(in[2].tensor({c.d, c.h}, target.device)), wd(in[3].tensor({c.h, c.d}, target.device));
  const tern::Tensor grad = in[4].tensor({c.m, c.d}, target.device);
  const auto both = [=] { return backward(matmul(silu_mul(matmul(x, wg), matmul(x, wu)), wd), grad); };
  Contender tern =
      target.tern([=] { both(); },
                  [=] {
                    const tern::Gradients g = both();
                    Values values{element(g[x], c.m * c.d - 1)};
                    for (const std::int64_t j : {std::int64_t{0}, c.h - 1})
                      values.insert(values.end(), {element(g[wg], (c.d - 1) * c.h + j),
                                                   element(g[wu], (c.d - 1) * c.h + j), element(g[wd], j * c.d)});
                    return values;
                  });
  return {{std::move(tern)}, expected_swiglu(c, in)};
}

}  // namespace

void add_swiglu(Workloads& workloads, const Target& target) {
  const SwigluCase large{tern::bf16, 8192, 4096, 14336}, small{tern::f32, 256, 256, 512};
  for (const SwigluCase& c : target.gpu() ? std::vector{large, small} : std::vector{small})
    workloads.push_back({.name = fmt::format("swiglu/{}/{}x{}x{}/both", name_of(c.dtype), c.m, c.d, c.h),
                         .unit = Unit::flops,
                         .work = 18.0 * static_cast<double>(c.m * c.d) * static_cast<double>(c.h),
                         .roof = target.gpu() ? "" : name_of(c.dtype),
                         .quick = target.device.kind() == tern::DeviceKind::cuda && c.m == large.m,
                         .tolerance = tolerance(c.dtype),
                         .prepare = [c, target] { return prepare(c, target); }});
}

}  // namespace bench
