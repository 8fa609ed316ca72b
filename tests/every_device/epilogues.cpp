// matmul_epilogue: the user's formula on the accumulator, its operands, its outputs, and its derived backward.
#include "derivatives.hpp"

namespace tern::test {
namespace {

class Epilogues : public EveryDevice {};
class EpilogueGradients : public InDouble {};
TERN_EVERY_DEVICE(Epilogues);
TERN_EVERY_DEVICE_IN_DOUBLE(EpilogueGradients);

using enum ErrorKind;

constexpr Pointwise mish{"mish", [](auto x) { return x * tanh(softplus(x)); }};

/// Sizes for which a bound of k·eps·Σ|a·b| covers the product, and one formula of a few leaves.
void expect_near(const Tensor& got, const Tensor& want, double eps, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  const std::vector<double> x = doubles(got), y = doubles(want);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], eps * (1 + std::abs(y[i]))) << what << " at " << i;
}

TEST_P(Epilogues, BiasAndMishAgainstThePassesOneByOne) {
  for (const DType dtype : all_floats(device())) {
    Random random(3);
    const Tensor a = random.tensor({33, 20}, dtype, device()), b = random.tensor({20, 17}, dtype, device()),
                 bias = random.tensor({17}, dtype, device());
    const Tensor wide = matmul(a.to(f32), b.to(f32)) + bias.to(f32);
    // 20 products of values below 1, the sum rounded once; mish changes by at most 1.1 of its argument's change.
    expect_near(matmul_epilogue(a, b, [](auto acc, auto z) { return mish(acc + z); }, bias), mish(wide).to(dtype),
                (20 * 4 + 40) * work_epsilon(f32) + epsilon(dtype), std::string(to_string(dtype)));
  }
}
TEST_P(Epilogues, OperandsOfEveryKind) {
  const std::int64_t m = 3, n = 5, k = 4;
  Random random(4);
  const Tensor a = random.tensor({m, k}, f32, device()), b = random.tensor({k, n}, f32, device());
  const auto f = [](auto acc, auto x) { return acc * x; };
  const Tensor product = matmul(a, b);
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{n}, Shape{1, n}, Shape{m, 1}, Shape{m, n}}) {
    const Tensor x = random.tensor(shape, f32, device());
    EXPECT_EQ(doubles(matmul_epilogue(a, b, f, x)), doubles(product * x)) << to_string(shape);
  }
  const Tensor column = random.tensor({m}, f32, device());
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, column)), doubles(product * column.unsqueeze(1)));
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, 3)), doubles(product * 3));
  const double captured = 0.25;
  EXPECT_EQ(doubles(matmul_epilogue(a, b, [captured](auto acc) { return captured * acc; })), doubles(product * 0.25));
}
TEST_P(Epilogues, KindsDecideWhatAFlatOperandOfASquareResultIs) {
  Random random(5);
  const Tensor a = random.tensor({4, 3}, f32, device()), b = random.tensor({3, 4}, f32, device()),
               x = random.tensor({4}, f32, device());
  const auto f = [](auto acc, auto v) { return acc + v; };
  const Tensor product = matmul(a, b);
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, x)), doubles(product + x));
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, {.kinds = {OperandKind::row}}, x)), doubles(product + x));
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, {.kinds = {OperandKind::column}}, x)), doubles(product + x.unsqueeze(1)));
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, {.kinds = {OperandKind::tile}}, product)), doubles(product + product));
  EXPECT_EQ(doubles(matmul_epilogue(a, b, f, {.kinds = {OperandKind::scalar}}, x.slice(0, 0, 1))),
            doubles(product + x.slice(0, 0, 1)));
  const Var v(x);
  const Var y = matmul_epilogue(
      a, b, [](auto acc, auto r, auto c) { return acc * r * c; }, {.kinds = {OperandKind::row, OperandKind::column}}, v,
      v);
  EXPECT_EQ(doubles(y), doubles(product * x * x.unsqueeze(1)));
}
TEST_P(Epilogues, BatchesAndStridedOperands) {
  Random random(6);
  const Tensor a = strided(random.tensor({3, 4, 5}, f32, device())), b = strided(random.tensor({5, 6}, f32, device()));
  const Tensor tile = strided(random.tensor({3, 4, 6}, f32, device())),
               column = random.tensor({3, 4, 1}, f32, device());
  const Tensor fused = matmul_epilogue(a, b, [](auto acc, auto t, auto c) { return acc * t + c; }, tile, column);
  // Where a device contracts acc * t + c, one rounding of the product is saved: half a unit of numbers below 8.
  const double contraction = device() == cpu() ? 0 : 4 * epsilon(f32);
  EXPECT_LE(doubles(max(abs(fused - (matmul(a, b) * tile + column))))[0], contraction);
}
TEST_P(Epilogues, SeveralOutputs) {
  Random random(7);
  const Tensor a = random.tensor({4, 3}, f32, device()), b = random.tensor({3, 6}, f32, device()),
               bias = random.tensor({6}, f32, device());
  const auto f = [](auto acc, auto z) { return std::array{tanh(acc + z), acc + z}; };
  const auto [y, pre] = matmul_epilogue(a, b, f, bias);
  EXPECT_EQ(doubles(pre), doubles(matmul_bias(a, b, bias)));
  EXPECT_EQ(doubles(y), doubles(tanh(pre)));
  const TraceCounts before = trace_counts();
  matmul_epilogue(a, b, f, bias);
  EXPECT_EQ(trace_counts().calls - before.calls, 1);
}
TEST_P(Epilogues, TheOldProductsAreEpilogues) {
  Random random(8);
  const Tensor a = random.tensor({9, 7}, f32, device()), b = random.tensor({7, 11}, f32, device()),
               bias = random.tensor({11}, f32, device());
  EXPECT_EQ(doubles(matmul_epilogue(
                a, b, [](auto acc, auto z) { return gelu(acc + z); }, bias)),
            doubles(matmul_bias_activation(a, b, bias, op::gelu)));
  EXPECT_EQ(doubles(matmul_epilogue(a, b, op::silu)), doubles(matmul_activation(a, b, op::silu)));
  const Var va(a), vb(b), vz(bias);
  const Gradients g = backward(sum(matmul_epilogue(va, vb, [](auto acc, auto z) { return gelu(acc + z); }, vz)));
  const Gradients h = backward(sum(matmul_bias_activation(va, vb, vz, op::gelu)));
  for (const Var& v : {va, vb, vz}) EXPECT_EQ(doubles(g[v]), doubles(h[v]));
}
TEST_P(Epilogues, ADropoutMaskFromACounterAndAResidual) {
  Random random(9);
  const Tensor a = random.tensor({16, 8}, f32, device()), b = random.tensor({8, 24}, f32, device());
  const Tensor bias = random.tensor({24}, f32, device()), residual = random.tensor({16, 24}, f32, device());
  Generator generator{7};
  const Tensor mask = rand({16, 24}, generator) < 0.75;
  const auto f = [](auto acc, auto z, auto keep, auto r) { return where(keep, (acc + z) / 0.75, 0) + r; };
  const Var va(a), vb(b), vz(bias), vr(residual);
  const Var y = matmul_epilogue(va, vb, f, vz, mask, vr);
  EXPECT_EQ(doubles(y), doubles(where(mask, matmul_bias(a, b, bias) / 0.75, 0) + residual));
  const Gradients g = backward(sum(y));
  const Tensor kept = mask.to(f32) / 0.75;
  expect_near(g[va], matmul(kept, b.transpose(0, 1)), 48 * work_epsilon(f32), "d_a");
  expect_near(g[vb], matmul(a.transpose(0, 1), kept), 48 * work_epsilon(f32), "d_b");
  expect_near(g[vz], sum(kept, 0), 48 * work_epsilon(f32), "d_bias");
  expect_values(g[vr], {16, 24}, std::vector<double>(16 * 24, 1));
}
/// Coordinates count along the result's own axes, batch axes included.
TEST_P(Epilogues, CoordinatesInAnEpilogue) {
  const Tensor a = ones({2, 3, 1}), b = zeros({1, 4});
  std::vector<double> want;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) want.push_back(100 * i + 10 * j + k);
  const auto f = [](auto acc) {
    return acc + cast(100 * tern::index(acc, 0) + 10 * tern::index(acc, -2) + tern::index(acc, -1), f32);
  };
  expect_values(matmul_epilogue(a, b, f), {2, 3, 4}, want);
}
/// Dropout whose mask is drawn inside the epilogue, and drawn again in backward: no mask in memory.
TEST_P(Epilogues, DropoutDrawnInTheEpilogue) {
  const std::int64_t m = 12, n = 40;
  const double keep = 0.75, seed = 9;
  const Pointwise dropout{"dropout", [=](auto acc, auto r) {
    return where(random_uniform(tern::index(acc, -2) * n + tern::index(acc, -1), seed) < keep, acc / keep, 0) + r;
  }};
  Random random(12);
  const Tensor a = random.tensor({m, 8}, f32, device()), b = random.tensor({8, n}, f32, device()),
               r = random.tensor({m, n}, f32, device());
  const Pointwise numbers{"numbers",
                          [=](auto x) { return random_uniform(tern::index(x, -2) * n + tern::index(x, -1), seed); }};
  const Tensor drawn = numbers(zeros({m, n})), mask = drawn < keep;
  double mean_of = 0;
  for (const double d : doubles(drawn)) mean_of += d / static_cast<double>(m * n);
  EXPECT_NEAR(mean_of, 0.5, 4 / std::sqrt(12.0 * static_cast<double>(m * n))) << "four standard deviations";
  EXPECT_NE(doubles(drawn), doubles(Pointwise{"other", [=](auto x) {
                                                return random_uniform(tern::index(x, -2) * n + tern::index(x, -1), seed,
                                                                      1);
                                              }}(zeros({m, n}))));
  const Var va(a), vb(b), vr(r);
  const Var y = matmul_epilogue(va, vb, dropout, vr);
  EXPECT_EQ(doubles(y), doubles(where(mask, matmul(a, b) / keep, 0) + r));
  EXPECT_EQ(y.grad_fn()->saved_tensors().size(), 2u) << "a and b";
  const Gradients g = backward(sum(y));
  expect_near(g[va], matmul(mask.to(f32) / keep, b.transpose(0, 1)), 100 * work_epsilon(f32), "d_a");
}
TEST_P(Epilogues, SwiGluFromOneStackedWeight) {
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
TEST_P(Epilogues, BackwardOfAStackedWeightIsOnePassAndTwoProducts) {
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
TEST_P(Epilogues, HalvesOfAStackedWeightAreRoundedOnce) {
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
TEST_P(Epilogues, GradientsOfAStackedWeightInHalves) {
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

TEST_P(Epilogues, AStackedWeightWithoutAGradientGetsNone) {
  const Var x(ones({2, 3})), w(ones({3, 4})), z(ones({2}));
  const Gradients g = backward(sum(matmul_epilogue(
      x, w, [](auto a, auto b, auto c) { return detach(a * b) * c; }, {.parts = 2}, z)));
  EXPECT_EQ(g.get(w.id()), nullptr);
  expect_values(g[z], {2}, {18, 18});
}

// ---- sums over rows and columns as outputs ----
TEST_P(Epilogues, RowAndColumnSums) {
  Random random(14);
  for (const auto& [sa, sb] :
       {std::pair<Shape, Shape>{{6, 5}, {5, 7}}, {{3, 4, 5}, {5, 6}}, {{2, 1, 3, 2}, {4, 2, 5}}}) {
    const Tensor a = random.tensor(sa, f32, device()), b = random.tensor(sb, f32, device()),
                 bias = random.tensor({sb.back()}, f32, device());
    const auto f = [](auto acc, auto z) {
      const auto y = tanh(acc + z);
      return std::array{y, sum(y, -1), sum(y * y, -1), sum(acc, -2), y / (2 + sum(y * y, -2))};
    };
    const auto [y, rows, squares, columns, scaled] = matmul_epilogue(a, b, f, bias);
    const Tensor product = matmul(a, b), want = tanh(product + bias);
    const double eps = 20 * epsilon(f32);
    expect_near(y, want, eps, "y");
    expect_near(rows, sum(want, -1, true), 7 * eps, "row sums");
    expect_near(squares, sum(want * want, -1, true), 7 * eps, "row sums of squares");
    expect_near(columns, sum(product, -2, true), 7 * eps, "column sums");
    expect_near(scaled, want / (2 + sum(want * want, -2, true)), 7 * eps, "scaled");
  }
}
TEST_P(Epilogues, SumsTakeOnePassForEachAxis) {
  Random random(15);
  const Tensor a = random.tensor({8, 5}, f32, device()), b = random.tensor({5, 6}, f32, device()),
               bias = random.tensor({6}, f32, device());
  const auto rows = [](auto acc, auto z) {
    const auto y = silu(acc + z);
    return std::array{y, sum(y, -1), sum(square(y), -1)};
  };
  const auto both = [](auto acc, auto z) {
    const auto y = silu(acc + z);
    return std::array{sum(y, -2), y, sum(y, -1)};
  };
  EXPECT_EQ(cost_of([&] { matmul_epilogue(a, b, rows, bias); }).calls, 2);
  EXPECT_EQ(cost_of([&] { matmul_epilogue(a, b, both, bias); }).calls, 3);
  const Var va(a), vb(b), z(bias);
  const auto [y, mean_of, square_of] = matmul_epilogue(va, vb, rows, z);
  const Var loss = sum(y * mean_of + square_of);
  const Var v = silu(matmul(va, vb) + z), same = sum(v * sum(v, -1, true) + sum(square(v), -1, true));
  EXPECT_LT(cost_of([&] { backward(loss); }).calls, cost_of([&] { backward(same); }).calls);
  const Var total = matmul_epilogue(va, vb, [](auto acc, auto x) { return sum(silu(acc + x), -1); }, z);
  EXPECT_EQ(cost_of([&] {
              backward(total, ones({8, 1}));
            }).calls,
            1 + 1 + 1 + 2)
      << "ones, one pass, the sum for the bias, two products";
}
/// Sums of 16-bit products add what has not been rounded to 16 bits: their error is one rounding of their own.
TEST_P(Epilogues, SumsInEveryDtypeAreRoundedOnce) {
  constexpr std::size_t n = 400;
  for (const DType dtype : all_floats(device())) {
    Random random(16);
    const DType wide = dtype == f64 ? f64 : f32;
    const Tensor a = random.tensor({5, 3}, dtype, device()), b = random.tensor({3, n}, dtype, device(), 0.5, 1);
    const Tensor w = random.tensor({3, 2 * n}, dtype, device(), 0.5, 1);
    const auto check = [&](const Tensor& got, const Tensor& exact, int axis, const char* what) {
      ASSERT_EQ(got.dtype(), dtype);
      const Array terms(exact), want = sum_to(terms, got.shape(), work_epsilon(dtype));
      const std::vector<double> values = doubles(got);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double terms_error = static_cast<double>(terms.size() / values.size()) * 8 * work_epsilon(dtype);
        EXPECT_NEAR(values[i], want.value[i],
                    want.bound[i] + terms_error + 0.5 * epsilon(dtype) * std::abs(want.value[i]))
            << what << " along axis " << axis << " in " << to_string(dtype);
      }
    };
    const auto [y, rows, columns] = matmul_epilogue(a, b, [](auto acc) {
      return std::array{acc, sum(acc, -1), sum(acc, -2)};
    });
    const Tensor exact = matmul(a.to(wide), b.to(wide));
    check(y, exact, 0, "the product"), check(rows, exact, -1, "sums"), check(columns, exact, -2, "sums");
    const auto [gate, total] = matmul_epilogue(a, w,
                                               [](auto g, auto u) {
                                                 return std::array{g * u, sum(g * u, -1)};
                                               },
                                               {.parts = 2});
    const Tensor both = matmul(a.to(wide), w.to(wide)), product = both.slice(1, 0, n) * both.slice(1, n, 2 * n);
    check(gate, product, 0, "a stacked product"), check(total, product, -1, "sums of a stacked product");
  }
}
/// Their gradients have the operands' dtype, to second order.
TEST_P(Epilogues, GradientsOfSixteenBitSums) {
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) != 2) continue;
    Random random(18);
    const Tensor ta = random.tensor({4, 6}, dtype, device()), tb = random.tensor({6, 8}, dtype, device()),
                 tz = random.tensor({8}, dtype, device());
    for (const int parts : {1, 2}) {
      const auto loss = [&](const Var& a, const Var& b, const Var& z) {
        if (parts == 2) {
          const auto [y, total] = matmul_epilogue(a, b,
                                                  [](auto g, auto u) {
                                                    const auto v = silu(g) * u;
                                                    return std::array{v, sum(v, -1)};
                                                  },
                                                  {.parts = 2});
          return sum((y + total).to(f32)) + sum(z.to(f32));
        }
        const auto [y, rows, columns] = matmul_epilogue(a, b, [](auto acc, auto s) {
          const auto v = tanh(acc + s);
          return std::array{v, sum(v * v, -1), sum(v, -2)};
        }, z);
        return sum((y * rows + columns).to(f32));
      };
      const auto squares = [&](const Var& a, const Var& b, const Var& z) {
        const auto [ga, gb, gz] = grad(loss)(a, b, z);
        return sum(square(ga.to(f32))) + sum(square(gb.to(f32))) + sum(square(gz.to(f32)));
      };
      const auto compare = [&](const auto& narrow, const auto& wide, const char* what) {
        const auto each = [&](const Tensor& got, const Tensor& want) {
          EXPECT_EQ(got.dtype(), dtype);
          const std::vector<double> g = doubles(got), w = doubles(want);
          double scale = 0;
          for (const double v : w) scale = std::max(scale, std::abs(v));
          for (std::size_t i = 0; i < g.size(); ++i)
            EXPECT_NEAR(g[i], w[i], 32 * epsilon(dtype) * scale) << what << ", " << parts << " parts";
        };
        each(std::get<0>(narrow), std::get<0>(wide)), each(std::get<1>(narrow), std::get<1>(wide)),
            each(std::get<2>(narrow), std::get<2>(wide));
      };
      compare(grad(loss)(ta, tb, tz), grad(loss)(ta.to(f32), tb.to(f32), tz.to(f32)), "first");
      compare(grad(squares)(ta, tb, tz), grad(squares)(ta.to(f32), tb.to(f32), tz.to(f32)), "second");
    }
  }
}
TEST_P(Epilogues, SumsOverAStackedWeightAndOverNothing) {
  Random random(17);
  const Tensor x = random.tensor({6, 5}, f32, device()), w = random.tensor({5, 8}, f32, device());
  const auto f = [](auto g, auto u) {
    const auto y = silu(g) * u;
    return std::array{y, sum(y, -1), sum(y, -2)};
  };
  const auto [y, rows, columns] = matmul_epilogue(x, w, f, {.parts = 2});
  const Tensor want = matmul_epilogue(x, w, [](auto g, auto u) { return silu(g) * u; }, {.parts = 2});
  EXPECT_EQ(doubles(y), doubles(want));
  expect_near(rows, sum(want, -1, true), 40 * epsilon(f32), "rows");
  expect_near(columns, sum(want, -2, true), 40 * epsilon(f32), "columns");
  const auto none = [](auto acc) { return std::array{sum(acc + 1, -1), sum(acc + 1, -2)}; };
  const auto [r, c] = matmul_epilogue(zeros({0, 2}), zeros({2, 3}), none);
  EXPECT_EQ(r.shape(), Shape({0, 1}));
  expect_values(c, {1, 3}, {0, 0, 0});
}
TEST_P(Epilogues, SumsNameTheirAxis) {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  expect_error(ErrorKind::index, {"sum(x, 0)", "-1", "-2"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return sum(acc, 0); }); });
  expect_error(unsupported, {"matmul_epilogue", "both axes"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return sum(acc, -1) + sum(acc, -2); }); });
  expect_error(unsupported, {"matmul_epilogue", "names no axis"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return sum(acc, -1) / extent(); }); });
  expect_error(unsupported, {"row_formula"}, [&] { Pointwise{"p", [](auto x) { return sum(x, -1); }}(a); });
  expect_error(unsupported, {"own", "matmul_epilogue"}, [&] {
    row_formula(Pointwise{"own", [](auto x) { return x / sum(x, -1); }}, a);
  });
  expect_error(unsupported, {"reduction"}, [&] {
    matmul_bias_activation(a, b, ones({4}), Pointwise{"p", [](auto x) { return x / sum(x, -1); }});
  });
}

TEST_P(Epilogues, EmptyProducts) {
  const auto f = [](auto acc, auto z) { return acc + z; };
  expect_values(matmul_epilogue(zeros({2, 0}), zeros({0, 3}), f, ones({3})), {2, 3}, std::vector<double>(6, 1));
  EXPECT_EQ(matmul_epilogue(zeros({0, 2}), zeros({2, 3}), f, ones({3})).shape(), Shape({0, 3}));
  const Var a(zeros({0, 2})), b(ones({2, 3})), z(ones({3}));
  const Gradients g = backward(matmul_epilogue(a, b, f, z), zeros({0, 3}));
  EXPECT_EQ(g[a].shape(), Shape({0, 2}));
  expect_values(g[b], {2, 3}, std::vector<double>(6, 0));
  expect_values(g[z], {3}, {0, 0, 0});
}

/// What backward keeps: of act(acc + bias) the sum, of an output that suffices the output, of a linear formula nothing.
TEST_P(Epilogues, SavesWhatBackwardReads) {
  const Var a(ones({2, 3})), b(ones({3, 4})), z(ones({4})), t(ones({2, 4}));
  const auto saved = [&](const Var& y) { return y.grad_fn()->saved_tensors().size(); };
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return mish(acc + x); }, z)), 3u);
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return tanh(acc + x); }, z)), 3u);
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return acc + x; }, z)), 2u);
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return silu(acc) * x; }, t)), 4u);
  EXPECT_EQ(matmul_epilogue(
                a, b, [](auto acc, auto x) { return mish(acc + x); }, z)
                .grad_fn()
                ->name(),
            "MatmulEpilogueBackward");
  const TraceCounts before = trace_counts();
  backward(matmul_epilogue(
               a, b, [](auto acc, auto x, auto r) { return mish(acc + x) * r; }, z, t),
           Tensor(ones({2, 4})));
  EXPECT_LE(trace_counts().calls - before.calls, 1 + 1 + 1 + 2)
      << "ones, the product, one pass or two for three gradients, two products";
}

TEST_P(EpilogueGradients, ThreeOrders) {
  const Tensor a = random({2, 3}), b = random({3, 2}), row = random({2}), column = random({2, 1}),
               tile = random({2, 2});
  check_three_orders(
      "bias and mish",
      [](const Var& x, const Var& y, const Var& z) {
        return matmul_epilogue(
            x, y, [](auto acc, auto v) { return mish(acc + v); }, z);
      },
      a, b, row);
  check_three_orders(
      "every kind",
      [](const Var& x, const Var& y, const Var& r, const Var& c, const Var& t, const Var& s) {
        return matmul_epilogue(
            x, y, [](auto acc, auto v, auto w, auto u, auto q) { return sin(acc * v + w) * u + q * acc; }, r, c, t, s);
      },
      a, b, row, column, tile, random({}));
  check_three_orders("operands only", [&](const Var& r, const Var& t) {
    return matmul_epilogue(a, b, [](auto acc, auto v, auto u) { return silu(acc + v) * u; }, r, t);
  }, row, tile);
}
TEST_P(EpilogueGradients, Batches) {
  for (const auto& [x, y] : {std::pair<Shape, Shape>{{2, 2, 2}, {2, 2}}, {{2, 2}, {2, 2, 2}}, {{1, 2, 2}, {2, 2, 2}}})
    check_three_orders(to_string(x) + to_string(y), [](const Var& a, const Var& b, const Var& c) {
      return matmul_epilogue(a, b, [](auto acc, auto v) { return gelu(acc) * v; }, {.kinds = {OperandKind::column}}, c);
    }, random(x), random(y), random({2}));
}
TEST_P(EpilogueGradients, SeveralOutputs) {
  const auto both = [](auto acc, auto z) { return std::array{tanh(acc + z), square(acc) * z}; };
  const Tensor a = random({2, 2}), b = random({2, 3}), z = random({3});
  check_three_orders("both", [&](const Var& x, const Var& y, const Var& w) {
    const auto [u, v] = matmul_epilogue(x, y, both, w);
    return u * v;
  }, a, b, z);
  for (const std::size_t k : {0, 1})
    check_three_orders(
        "output " + std::to_string(k),
        [&](const Var& x, const Var& y, const Var& w) { return matmul_epilogue(x, y, both, w)[k]; }, a, b, z);
}
TEST_P(EpilogueGradients, StackedWeights) {
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
TEST_P(EpilogueGradients, SumsOverRowsAndColumns) {
  const Tensor a = random({2, 3}), b = random({3, 2}), z = random({2});
  const auto one = [](auto acc, auto v) { return sum(silu(acc + v), -1); };
  check_three_orders(
      "row sums", [=](const Var& x, const Var& y, const Var& v) { return matmul_epilogue(x, y, one, v); }, a, b, z);
  const auto several = [](auto acc, auto v) {
    const auto y = sin(acc * v);
    return std::array{y, sum(y * y, -1), sum(acc, -2), y * sum(v + acc, -2)};
  };
  check_three_orders("all at once", [=](const Var& x, const Var& y, const Var& v) {
    const auto [full, rows, columns, mixed] = matmul_epilogue(x, y, several, v);
    return full * rows + columns * mixed;
  }, a, b, z);
  for (const std::size_t k : {0, 1, 2, 3})
    check_three_orders(
        "output " + std::to_string(k),
        [=](const Var& x, const Var& y, const Var& v) { return matmul_epilogue(x, y, several, v)[k]; }, a, b, z);
  check_three_orders("softmax over the columns of each batch", [](const Var& x, const Var& y) {
    return matmul_epilogue(x, y, [](auto acc) { return exp(acc) / sum(exp(acc), -2); });
  }, random({2, 2, 2}), random({2, 2}));
  for (const bool interleaved : {false, true})
    check_three_orders("stacked", [=](const Var& x, const Var& w) {
      const auto [y, rows, columns] = matmul_epilogue(x, w, [](auto g, auto u) {
        const auto v = tanh(g) * u;
        return std::array{v, sum(v, -1), sum(g * v, -2)};
      }, {.parts = 2, .interleaved = interleaved});
      return y * rows * columns;
    }, random({2, 2}), random({2, 4}));
  check_three_orders("a gradient that is the same along a row", [](const Var& x, const Var& w) {
    return square(matmul_epilogue(x, w, [](auto g, auto u) { return 3 * sum(g, -1) + sum(u * u, -1); }, {.parts = 2}));
  }, random({2, 2}), random({2, 4}));
}
TEST_P(EpilogueGradients, DropoutAndResidual) {
  const Tensor mask = rand({2, 3}, Generator{3}) < 0.6;
  check_three_orders("dropout", [&](const Var& x, const Var& w, const Var& r) {
    return matmul_epilogue(x, w, [](auto acc, auto keep, auto v) { return where(keep, exp(acc), 0) * v; }, mask, r);
  }, random({2, 2}), random({2, 3}), random({2, 3}));
}
/// Two outputs whose gradients together read the input, but one of them alone its own value, which was not saved.
TEST_P(EpilogueGradients, OneOutputOfAFormulaThatSavedItsInput) {
  constexpr Pointwise both{"both", [](auto x) { return std::array{tanh(x), x * x * x}; }};
  for (const std::size_t k : {0, 1})
    check_three_orders(
        "output " + std::to_string(k), [&](const Var& x) { return both(x)[k]; }, random({3}));
}

TEST_P(Epilogues, Errors) {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  const auto f = [](auto acc, auto x) { return acc + x; };
  expect_error(shape, {"matmul_epilogue: inner dimensions differ: a is f32[2, 3], b is f32[4, 3]"}, [&] {
    matmul_epilogue(a, ones({4, 3}), f, 1);
  });
  expect_error(shape, {"matmul_epilogue", "operand 1", "f32[5]", "[2, 4]"},
               [&] { matmul_epilogue(a, b, f, ones({5})); });
  expect_error(shape, {"matmul_epilogue", "operand 1", "f32[3, 2, 4]"}, [&] {
    matmul_epilogue(a, b, f, ones({3, 2, 4}));
  });
  expect_error(shape, {"operand 1", "f32[2, 1]", "row"}, [&] {
    matmul_epilogue(a, b, f, {.kinds = {OperandKind::row}}, ones({2, 1}));
  });
  expect_error(shape, {"operand 1", "f32[4]", "column"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::column}}, ones({4})); });
  expect_error(shape, {"operand 1", "f32[4]", "tile"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::tile}}, ones({4})); });
  expect_error(shape, {"operand 1", "f32[4]", "scalar"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::scalar}}, ones({4})); });
  expect_error(shape, {"operand 1", "number", "row"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::row}}, 3); });
  expect_error(shape, {"a kind for each of the 1 operands, got 2"}, [&] {
    matmul_epilogue(a, b, f, {.kinds = {OperandKind::row, OperandKind::row}}, 3);
  });
  expect_error(shape, {"takes 2 arguments, got 1"}, [&] { matmul_epilogue(a, b, f); });
  expect_error(shape, {"takes 2 arguments, got 3"}, [&] { matmul_epilogue(a, b, f, {.parts = 2}, 1); });
  expect_error(shape, {"4 columns", "3 parts"}, [&] { matmul_epilogue(a, b, f, {.parts = 3}); });
  expect_error(shape, {"operand 1"}, [&] { matmul_epilogue(a, b, f, Tensor()); });
  expect_error(dtype, {"matmul_epilogue", "i32"}, [&] { matmul_epilogue(a, ones({3, 4}, i32), f, 1); });
  expect_error(unsupported, {"matmul_epilogue", "reduction"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return acc / sum(acc); }); });
  expect_error(ErrorKind::index, {"matmul_epilogue", "index(x, 2)", "2 axes"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return where(tern::index(acc, 2) > 0, acc, 0); }); });
  expect_error(ErrorKind::index, {"index(x, -9)", "2 axes"}, [&] {
    Pointwise{"p", [](auto x) { return tern::index(x, -9); }}(a);
  });
  expect_error(shape, {"matmul_epilogue", "at least 2 axes"}, [&] { matmul_epilogue(ones({3}), b, f, 1); });
  expect_error(autograd, {"MatmulEpilogueBackward", "in place"}, [&] {
    Tensor t = ones({2, 3});
    const Var x(t), w(b), y = matmul_epilogue(x, w, op::silu);
    t += 1;
    backward(sum(y));
  });
}

}  // namespace
}  // namespace tern::test
