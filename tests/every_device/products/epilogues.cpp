// matmul_epilogue: the user's formula on the accumulator, its operands, its outputs, and its derived backward.
#include "every_device/products/epilogues.hpp"
#include "every_device/products/linear_reference.hpp"

namespace tern::test {
namespace {

class Epilogues : public EveryDevice {};
class EpilogueGradients : public InDouble {};
TERN_EVERY_DEVICE(Epilogues);
TERN_EVERY_DEVICE_IN_DOUBLE(EpilogueGradients);

TEST_P(Epilogues, BiasAndMishAgainstThePassesOneByOne) {
  for (const DType dtype : all_floats(device())) {
    Random random(3);
    const Tensor a = random.tensor({33, 20}, dtype, device()), b = random.tensor({20, 17}, dtype, device()),
                 bias = random.tensor({17}, dtype, device());
    const Tensor wide = matmul(a.to(f32), b.to(f32)) + bias.to(f32);
    // 20 products of values below 1, the sum rounded once; mish changes by at most 1.1 of its argument's change.
    expect_near(matmul_epilogue(
                    a, b, [](auto acc, auto z) { return users_mish(acc + z); }, bias),
                users_mish(wide).to(dtype), (20 * 4 + 40) * work_epsilon(f32) + epsilon(dtype),
                std::string(to_string(dtype)));
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
  EXPECT_EQ(saved(matmul_epilogue(
                a, b, [](auto acc, auto x) { return users_mish(acc + x); }, z)),
            3u);
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return tanh(acc + x); }, z)), 3u);
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return acc + x; }, z)), 2u);
  EXPECT_EQ(saved(matmul_epilogue(a, b, [](auto acc, auto x) { return silu(acc) * x; }, t)), 4u);
  EXPECT_EQ(matmul_epilogue(
                a, b, [](auto acc, auto x) { return users_mish(acc + x); }, z)
                .grad_fn()
                ->name(),
            "MatmulEpilogueBackward");
  const TraceCounts before = trace_counts();
  backward(matmul_epilogue(
               a, b, [](auto acc, auto x, auto r) { return users_mish(acc + x) * r; }, z, t),
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
            x, y, [](auto acc, auto v) { return users_mish(acc + v); }, z);
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
  expect_error(ErrorKind::shape, {"matmul_epilogue: inner dimensions differ: a is f32[2, 3], b is f32[4, 3]"}, [&] {
    matmul_epilogue(a, ones({4, 3}), f, 1);
  });
  expect_error(ErrorKind::shape, {"matmul_epilogue", "operand 1", "f32[5]", "[2, 4]"},
               [&] { matmul_epilogue(a, b, f, ones({5})); });
  expect_error(ErrorKind::shape, {"matmul_epilogue", "operand 1", "f32[3, 2, 4]"}, [&] {
    matmul_epilogue(a, b, f, ones({3, 2, 4}));
  });
  expect_error(ErrorKind::shape, {"operand 1", "f32[2, 1]", "row"}, [&] {
    matmul_epilogue(a, b, f, {.kinds = {OperandKind::row}}, ones({2, 1}));
  });
  expect_error(ErrorKind::shape, {"operand 1", "f32[4]", "column"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::column}}, ones({4})); });
  expect_error(ErrorKind::shape, {"operand 1", "f32[4]", "tile"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::tile}}, ones({4})); });
  expect_error(ErrorKind::shape, {"operand 1", "f32[4]", "scalar"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::scalar}}, ones({4})); });
  expect_error(ErrorKind::shape, {"operand 1", "number", "row"},
               [&] { matmul_epilogue(a, b, f, {.kinds = {OperandKind::row}}, 3); });
  expect_error(ErrorKind::shape, {"a kind for each of the 1 operands, got 2"}, [&] {
    matmul_epilogue(a, b, f, {.kinds = {OperandKind::row, OperandKind::row}}, 3);
  });
  expect_error(ErrorKind::shape, {"takes 2 arguments, got 1"}, [&] { matmul_epilogue(a, b, f); });
  expect_error(ErrorKind::shape, {"takes 2 arguments, got 3"}, [&] { matmul_epilogue(a, b, f, {.parts = 2}, 1); });
  expect_error(ErrorKind::shape, {"4 columns", "3 parts"}, [&] { matmul_epilogue(a, b, f, {.parts = 3}); });
  expect_error(ErrorKind::shape, {"operand 1"}, [&] { matmul_epilogue(a, b, f, Tensor()); });
  expect_error(ErrorKind::dtype, {"matmul_epilogue", "i32"}, [&] { matmul_epilogue(a, ones({3, 4}, i32), f, 1); });
  expect_error(ErrorKind::unsupported, {"matmul_epilogue", "reduction"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return acc / sum(acc); }); });
  expect_error(ErrorKind::index, {"matmul_epilogue", "index(x, 2)", "2 axes"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return where(tern::index(acc, 2) > 0, acc, 0); }); });
  expect_error(ErrorKind::index, {"index(x, -9)", "2 axes"}, [&] {
    Pointwise{"p", [](auto x) { return tern::index(x, -9); }}(a);
  });
  expect_error(ErrorKind::shape, {"matmul_epilogue", "at least 2 axes"}, [&] { matmul_epilogue(ones({3}), b, f, 1); });
  expect_error(ErrorKind::autograd, {"MatmulEpilogueBackward", "in place"}, [&] {
    Tensor t = ones({2, 3});
    const Var x(t), w(b), y = matmul_epilogue(x, w, op::silu);
    t += 1;
    backward(sum(y));
  });
}

}  // namespace
}  // namespace tern::test
