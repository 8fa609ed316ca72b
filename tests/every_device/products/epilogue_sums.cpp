// matmul_epilogue with sums over the rows and columns of its results.
#include "every_device/products/epilogues.hpp"

namespace tern::test {
namespace {

class EpilogueSums : public EveryDevice {};
class EpilogueSumsGradients : public InDouble {};
TERN_EVERY_DEVICE(EpilogueSums);
TERN_EVERY_DEVICE_IN_DOUBLE(EpilogueSumsGradients);

// ---- sums over rows and columns as outputs ----
TEST_P(EpilogueSums, RowAndColumnSums) {
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
TEST_P(EpilogueSums, SumsTakeOnePassForEachAxis) {
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
TEST_P(EpilogueSums, SumsInEveryDtypeAreRoundedOnce) {
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
TEST_P(EpilogueSums, GradientsOfSixteenBitSums) {
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) != 2) continue;
    Random random(18);
    const Tensor ta = random.tensor({4, 6}, dtype, device()), tb = random.tensor({6, 8}, dtype, device()),
                 tz = random.tensor({8}, dtype, device());
    for (const int parts : {1, 2}) {
      if (left_out(device(), 2)) continue;
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
TEST_P(EpilogueSums, SumsOverAStackedWeightAndOverNothing) {
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
TEST_P(EpilogueSums, SumsNameTheirAxis) {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  expect_error(ErrorKind::index, {"sum(x, 0)", "-1", "-2"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return sum(acc, 0); }); });
  expect_error(ErrorKind::unsupported, {"matmul_epilogue", "both axes"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return sum(acc, -1) + sum(acc, -2); }); });
  expect_error(ErrorKind::unsupported, {"matmul_epilogue", "names no axis"},
               [&] { matmul_epilogue(a, b, [](auto acc) { return sum(acc, -1) / extent(); }); });
  expect_error(ErrorKind::unsupported, {"row_formula"}, [&] { Pointwise{"p", [](auto x) { return sum(x, -1); }}(a); });
  expect_error(ErrorKind::unsupported, {"own", "matmul_epilogue"}, [&] {
    row_formula(Pointwise{"own", [](auto x) { return x / sum(x, -1); }}, a);
  });
  expect_error(ErrorKind::unsupported, {"reduction"}, [&] {
    matmul_bias_activation(a, b, ones({4}), Pointwise{"p", [](auto x) { return x / sum(x, -1); }});
  });
}

TEST_P(EpilogueSumsGradients, SumsOverRowsAndColumns) {
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

}  // namespace
}  // namespace tern::test
