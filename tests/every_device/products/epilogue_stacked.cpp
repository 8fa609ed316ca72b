// matmul_epilogue with a stacked weight: the parts of a row of products meet in one formula.
#include "every_device/products/epilogues.hpp"

namespace tern::test {
namespace {

class StackedEpilogues : public EveryDevice {};
class StackedEpiloguesGradients : public InDouble {};
TERN_EVERY_DEVICE(StackedEpilogues);
TERN_EVERY_DEVICE_IN_DOUBLE(StackedEpiloguesGradients);

TEST_P(StackedEpilogues, SwiGluFromOneStackedWeight) {
  Random random(10);
  const Tensor x = random.tensor({6, 5}, f32, device()), gate = random.tensor({5, 4}, f32, device()),
               up = random.tensor({5, 4}, f32, device());
  const Tensor beside = concatenate(std::vector<Tensor>{gate, up}, 1),
               interleaved = stack(std::vector<Tensor>{gate, up}, 2).reshape({5, 8});
  const auto swiglu = [](auto g, auto u) { return silu(g) * u; };
  const Tensor want = silu(matmul(x, gate)) * matmul(x, up);
  const TraceCounts before = trace_counts();
  const Tensor got = matmul_epilogue(x, beside, swiglu, {.parts = 2});
  EXPECT_EQ(trace_counts().calls - before.calls, 2) << "one product and one pass";
  expect_near(got, want, 30 * work_epsilon(f32), "side by side");
  expect_near(matmul_epilogue(x, interleaved, swiglu, {.parts = 2, .interleaved = true}), want, 30 * work_epsilon(f32),
              "interleaved");
  const Var w(beside), v(interleaved);
  const Tensor dw = backward(sum(matmul_epilogue(x, w, swiglu, {.parts = 2})))[w];
  const Tensor dv = backward(sum(matmul_epilogue(x, v, swiglu, {.parts = 2, .interleaved = true})))[v];
  const Var g(gate), u(up);
  const Gradients apart = backward(sum(silu_mul(matmul(x, g), matmul(x, u))));
  expect_near(dw, concatenate(std::vector<Tensor>{apart[g], apart[u]}, 1), 60 * work_epsilon(f32),
              "gradient, side by side");
  expect_near(dv, stack(std::vector<Tensor>{apart[g], apart[u]}, 2).reshape({5, 8}), 60 * work_epsilon(f32),
              "gradient, interleaved");
}
/// Kernel calls of a layer with a stacked weight: gate and value get their gradients in one pass, which writes them
/// side by side as the two products that follow read them.
TEST_P(StackedEpilogues, BackwardOfAStackedWeightIsOnePassAndTwoProducts) {
  Random random(13);
  const Var x(random.tensor({6, 5}, f32, device())), w(random.tensor({5, 8}, f32, device())),
      z(random.tensor({4}, f32, device()));
  const Tensor seed = random.tensor({6, 4}, f32, device());
  for (const bool interleaved : {false, true}) {
    const EpilogueOptions options{.parts = 2, .interleaved = interleaved};
    const auto swiglu = [](auto g, auto u) { return silu(g) * u; };
    const auto biased = [](auto g, auto u, auto b) { return silu(g + b) * u; };
    const auto linear = [](auto g, auto u) { return g - u; };
    const Var y = matmul_epilogue(x, w, swiglu, options), with_bias = matmul_epilogue(x, w, biased, options, z);
    EXPECT_EQ(cost_of([&] { backward(y, seed); }).calls, 1 + 2);
    EXPECT_EQ(cost_of([&] { backward(with_bias, seed); }).calls, 1 + 2)
        << "the bias gradient is summed in the same pass";
    // A gradient that is the seed itself is copied into the stack.
    const Var difference = matmul_epilogue(x, w, linear, options);
    const Gradients g = backward(difference, seed);
    const Var twice = matmul(x, w);
    const std::vector<Tensor> parts{seed, -seed};
    const Tensor stacked = interleaved ? stack(parts, 2).reshape({6, 8}) : concatenate(parts, 1);
    EXPECT_EQ(doubles(g[w]), doubles(backward(twice, stacked)[w]));
    // Only the gate: the other half is zero, not what was in memory.
    const Tensor gate_only = backward(matmul_epilogue(
                                          x, w, [](auto g, auto u) { return g + 0 * detach(u); }, options),
                                      seed)[w];
    const std::vector<Tensor> half{seed, zeros({6, 4})};
    EXPECT_EQ(doubles(gate_only),
              doubles(backward(matmul(x, w), interleaved ? stack(half, 2).reshape({6, 8}) : concatenate(half, 1))[w]));
  }
}

/// The formula is of the products as they were summed: the difference of two large ones is right to one rounding of its
/// own, recorded or not. Backward reads them in 16 bits, as it does every pre-activation.
TEST_P(StackedEpilogues, HalvesOfAStackedWeightAreRoundedOnce) {
  constexpr std::int64_t k = 300, n = 9;
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) != 2) continue;
    Random random(19);
    const Tensor x = random.tensor({5, k}, dtype, device(), 0.5, 1),
                 gate = random.tensor({k, n}, dtype, device(), 0.5, 1);
    const Tensor up = where(random.tensor({k, 1}, dtype, device(), 0, 1) < 0.03, gate * 0.5, gate);
    // k terms of up to 1, added in f32: each of the two sums is a few hundred, of which 16 bits keep units.
    const double sums = 2 * k * work_epsilon(f32) * static_cast<double>(k);
    for (const bool interleaved : {false, true}) {
      const std::vector<Tensor> both{gate, up};
      const Tensor w = interleaved ? stack(both, 2).reshape({k, 2 * n}) : concatenate(both, 1);
      const EpilogueOptions options{.parts = 2, .interleaved = interleaved};
      const auto difference = [](auto g, auto u) { return tanh((g - u) * 0.1); };
      const std::vector<double> a = doubles(x), b = doubles(gate), c = doubles(up);
      const Tensor got = matmul_epilogue(x, w, difference, options);
      const Var weight(w), recorded = matmul_epilogue(x, weight, difference, options);
      EXPECT_EQ(doubles(recorded.value()), doubles(got)) << "recorded";
      ASSERT_EQ(got.dtype(), dtype);
      const std::vector<double> values = doubles(got);
      for (std::size_t i = 0; i < values.size(); ++i) {
        double exact = 0;
        for (std::size_t j = 0; j < k; ++j) exact += a[i / n * k + j] * (b[j * n + i % n] - c[j * n + i % n]);
        const double want = std::tanh(exact * 0.1);
        ASSERT_NEAR(values[i], want, 0.1 * sums + 8 * work_epsilon(f32) + 0.5 * epsilon(dtype) * std::abs(want))
            << i << " in " << to_string(dtype);
      }
      const Tensor dw = backward(recorded, ones({5, n}, {.dtype = dtype}))[weight];
      EXPECT_EQ(dw.dtype(), dtype);
    }
  }
}
/// Gradients to the second order, from what was saved in 16 bits; what is saved is no more than that.
TEST_P(StackedEpilogues, GradientsOfAStackedWeightInHalves) {
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) != 2) continue;
    Random random(20);
    const Tensor x = random.tensor({6, 8}, dtype, device()), w = random.tensor({8, 10}, dtype, device()),
                 z = random.tensor({5}, dtype, device());
    for (const bool interleaved : {false, true}) {
      const auto f = [=](const Var& a, const Var& b, const Var& c) {
        return matmul_epilogue(
            a, b, [](auto g, auto u, auto v) { return silu(g + v) * u; }, {.parts = 2, .interleaved = interleaved}, c);
      };
      const auto loss = [=](const Var& a, const Var& b, const Var& c) { return sum(f(a, b, c).to(f32)); };
      const auto squares = [=](const Var& a, const Var& b, const Var& c) {
        const auto [ga, gb, gc] = grad(loss)(a, b, c);
        return sum(square(ga.to(f32))) + sum(square(gb.to(f32))) + sum(square(gc.to(f32)));
      };
      const auto check = [&](const auto& got, const auto& want, const char* what) {
        const auto each = [&](const Tensor& narrow, const Tensor& wide) {
          EXPECT_EQ(narrow.dtype(), dtype);
          const std::vector<double> g = doubles(narrow), e = doubles(wide);
          double scale = 0;
          for (const double v : e) scale = std::max(scale, std::abs(v));
          for (std::size_t i = 0; i < g.size(); ++i)
            EXPECT_NEAR(g[i], e[i], 32 * epsilon(dtype) * scale) << what << " in " << to_string(dtype);
        };
        each(std::get<0>(got), std::get<0>(want)), each(std::get<1>(got), std::get<1>(want)),
            each(std::get<2>(got), std::get<2>(want));
      };
      check(grad(loss)(x, w, z), grad(loss)(x.to(f32), w.to(f32), z.to(f32)), "first");
      check(grad(squares)(x, w, z), grad(squares)(x.to(f32), w.to(f32), z.to(f32)), "second");
      const Var a(x), b(w), c(z), y = f(a, b, c);
      for (const Tensor& saved : y.grad_fn()->saved_tensors()) EXPECT_EQ(saved.dtype(), dtype);
    }
  }
}

TEST_P(StackedEpilogues, AStackedWeightWithoutAGradientGetsNone) {
  const Var x(ones({2, 3})), w(ones({3, 4})), z(ones({2}));
  const Gradients g = backward(sum(matmul_epilogue(
      x, w, [](auto a, auto b, auto c) { return detach(a * b) * c; }, {.parts = 2}, z)));
  EXPECT_EQ(g.get(w.id()), nullptr);
  expect_values(g[z], {2}, {18, 18});
}

TEST_P(StackedEpiloguesGradients, StackedWeights) {
  for (const bool interleaved : {false, true})
    check_three_orders(
        "swiglu",
        [=](const Var& x, const Var& w, const Var& z) {
          return matmul_epilogue(
              x, w, [](auto g, auto u, auto v) { return silu(g) * (u + v); }, {.parts = 2, .interleaved = interleaved},
              z);
        },
        random({2, 3}), random({3, 4}), random({2}));
}

}  // namespace
}  // namespace tern::test
