// What CUDA's kernels of rows, columns and pointwise formulas compute, without a GPU: their texts on the host against
// the CPU.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include "on_host.hpp"

namespace tern::test {
namespace {

class OnHost : public OnHostGpu {};

TEST_F(OnHost, RowsInRegisters) {
  HostGpu gpu(false);
  const auto residual = [](auto u, auto w) {  // a value of the first pass serves in both others
    auto y = gelu(u), c = y - mean(y);
    return c * rsqrt(mean(c * c) + 1e-5) * w + y;
  };
  for (const DType dtype : {f32, bf16}) {
    for (const Shape& shape : {Shape{300, 128}, Shape{4, 1032}, Shape{600, 24}}) {
      if (dtype == bf16 && shape[1] != 128) continue;
      const Tensor x = random(shape, dtype), g = random(shape, dtype), w = random({shape[1]}, dtype);
      const std::string what = std::string(to_string(dtype)) + to_string(shape);
      expect_equal("softmax " + what, gpu, {x}, tolerance(dtype), [](const Tensors& t) { return softmax(t[0], -1); });
      EXPECT_TRUE(holds(gpu)) << what;
      expect_equal("residual norm " + what, gpu, {x, w}, tolerance(dtype),
                   [&](const Tensors& t) { return row_formula(residual, t[0], t[1]); });
      EXPECT_TRUE(holds(gpu)) << what;
      expect_equal("var " + what, gpu, {x}, tolerance(dtype), [](const Tensors& t) { return var(t[0], -1); });
      expect_equal("layer norm's gradient " + what, gpu, {x, g, w}, tolerance(dtype), [](const Tensors& t) {
        const Var v(t[0]);
        return backward(layer_norm(v, t[2], t[2]), t[1])[v];
      });
    }
  }
  const Tensor x = random({4, 6, 96}, f32);
  expect_equal("rows that do not lie in vectors", gpu, {x}, 1e-5,
               [](const Tensors& t) { return softmax(t[0].slice(2, 1, 65), -1); });
  EXPECT_FALSE(holds(gpu));
  expect_equal("rows apart", gpu, {x}, 1e-5,
               [](const Tensors& t) { return softmax(t[0].transpose(0, 1).slice(2, 4, 68), -1); });
  EXPECT_TRUE(holds(gpu));
  expect_equal("the same row again", gpu, {x}, 1e-5, [](const Tensors& t) {
    return softmax(t[0].slice(1, 0, 1).broadcast_to({4, 6, 96}), -1);
  });
}

TEST_F(OnHost, RowsOfInfinitiesAndNan) {
  HostGpu gpu(false);
  const float inf = INFINITY, nan = NAN;
  std::vector<float> x(7 * 32, 1);
  std::fill_n(&x[32], 32, -inf), std::fill_n(&x[64], 32, inf), std::fill_n(&x[96], 32, nan);
  x[130] = inf, x[165] = -inf, x[200] = nan;
  const Tensor rows = tensor(x, {7, 32}, cpu());
  for (const DType dtype : {f32, bf16}) {
    expect_equal("softmax", gpu, {rows.to(dtype)}, 1e-2, [](const Tensors& t) { return softmax(t[0], -1); });
    expect_equal("log_softmax", gpu, {rows.to(dtype)}, 1e-2, [](const Tensors& t) { return log_softmax(t[0], -1); });
    expect_equal("logsumexp", gpu, {rows.to(dtype)}, 1e-2, [](const Tensors& t) { return logsumexp(t[0], -1); });
  }
}

TEST_F(OnHost, Columns) {
  HostGpu gpu(false);
  for (const DType dtype : {f32, bf16})
    for (const Shape& shape : {Shape{64, 300}, Shape{700, 24}, Shape{3, 8000}}) {
      const Tensor x = random(shape, dtype), g = random(shape, dtype), row = random({shape[1]}, dtype);
      const std::string what = std::string(to_string(dtype)) + to_string(shape);
      expect_equal("sum " + what, gpu, {x}, 2e-2, [](const Tensors& t) { return sum(t[0], 0); });
      expect_equal("var " + what, gpu, {x}, 2e-2, [](const Tensors& t) { return var(t[0], 0); });
      const Pointwise biased{"biased", [](auto u, auto b) { return op::gelu(u + b); }};
      expect_equal("gradients of a formula and its row " + what, gpu, {x, g, row}, 2e-2, [&](const Tensors& t) {
        const Var v(t[0]), b(t[2]);
        return backward(biased(v, b), t[1])[b];
      });
    }
}

/// Rows and columns that are read backwards.
TEST_F(OnHost, ReversedViews) {
  HostGpu gpu(false);
  for (const DType dtype : {f32, bf16}) {
    const Tensor x = random({40, 64}, dtype);
    for (const bool rows : {true, false})
      for (const int axis : {0, 1}) {
        const auto reversed = [axis](const Tensor& t) { return t.slice(axis, {}, {}, -1); };
        const std::string what =
            std::string(to_string(dtype)) + (rows ? " rows" : " columns") + ", reversed axis " + std::to_string(axis);
        expect_equal("sum of " + what, gpu, {x}, tolerance(dtype),
                     [=](const Tensors& t) { return sum(reversed(t[0]), rows ? 1 : 0); });
        expect_equal("softmax of " + what, gpu, {x}, tolerance(dtype),
                     [=](const Tensors& t) { return softmax(reversed(t[0]), rows ? 1 : 0); });
      }
    expect_equal("a copy", gpu, {x}, 0,
                 [](const Tensors& t) { return t[0].slice(0, {}, {}, -3).slice(1, {}, {}, -1).clone(); });
    expect_equal("written backwards", gpu, {x, random({40, 64}, dtype)}, 0, [](const Tensors& t) {
      Tensor to = t[1].clone();
      to.slice(1, {}, {}, -1).copy_from(t[0]);
      return to;
    });
  }
}

/// An invocation has groups of four columns, of which the last may be cut short: nothing before an operand's first
/// element is read for the others, nor far behind its last.
TEST_F(OnHost, OperandsOfColumnsThatAreNotThere) {
  HostGpu gpu(false);
  static constexpr Pointwise joined{"joined", [](auto acc, auto bias, auto apart) { return acc * bias + apart; }};
  for (const DType dtype : {f64, f32})
    for (const std::int64_t n : {5, 6, 7}) {
      const Tensor a = random({9, 12}, dtype), b = random({12, n}, dtype), bias = random({n}, dtype),
                   apart = random({n, 9}, dtype);
      expect_equal("columns " + std::to_string(n), gpu, {a, b, bias, apart}, tolerance(dtype), [](const Tensors& t) {
        const auto reversed = [](const Tensor& x) { return x.slice(0, {}, {}, -1); };
        return matmul_epilogue(t[0], t[1], joined, reversed(t[2]), reversed(t[3]).transpose(0, 1));
      });
    }
}

/// Layouts at random: broadcast, permuted, cut, backwards, of the archive's kernels and of those made when they are
/// met.
TEST_F(OnHost, PointwiseInAnyLayout) {
  std::mt19937 engine(5);
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine);
  };
  const Pointwise f{"f", [](auto a, auto b) { return a * 2 - b; }};
  for (const bool archived : {true, false}) {
    HostGpu gpu(archived);
    for (int trial = 0; trial < (archived ? 150 : 20); ++trial) {
      const Shape shape{pick(1, 3), pick(1, 5), 4 * pick(1, 5) + (pick(0, 3) == 0)};
      const auto operand = [&]() -> std::pair<Tensor, std::function<Tensor(const Tensor&)>> {
        const int kind = static_cast<int>(pick(0, 6));
        const Shape wide{shape[0], shape[1], shape[2] + 8}, swapped{shape[1], shape[0], shape[2]};
        const std::int64_t begin = pick(0, 1) * 4 + (pick(0, 4) == 0);
        if (kind == 0) return {random({shape[2]}, f32), [](const Tensor& t) { return t; }};
        if (kind == 1) return {random({shape[1], 1}, f32), [](const Tensor& t) { return t; }};
        if (kind == 2)
          return {random(wide, f32), [begin, n = shape[2]](const Tensor& t) { return t.slice(2, begin, begin + n); }};
        if (kind == 3) return {random(swapped, f32), [](const Tensor& t) { return t.transpose(0, 1); }};
        if (kind == 5) return {random(shape, f32), [](const Tensor& t) { return t.slice(2, {}, {}, -1); }};
        if (kind == 6)
          return {random(shape, f32), [](const Tensor& t) { return t.slice(0, {}, {}, -1).slice(1, {}, {}, -1); }};
        return {random(shape, f32), [](const Tensor& t) { return t; }};
      };
      const auto a = operand(), b = operand();
      expect_equal(to_string(shape) + (archived ? " archived" : ""), gpu, {a.first, b.first}, 1e-6,
                   [&](const Tensors& t) { return f(a.second(t[0]), b.second(t[1])); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(OnHost, Positions) {
  const Pointwise f{"f", [](auto a, auto b) { return where(tern::index(a, 0) * 3 > tern::index(a, -1) + 2, a, b); }};
  for (const bool archived : {true, false}) {
    HostGpu gpu(archived);
    for (const Shape& shape :
         {Shape{4000}, Shape{4001}, Shape{9, 16}, Shape{5, 7}, Shape{3, 6, 8}, Shape{2, 3, 4, 8}}) {
      const std::string what = to_string(shape) + (archived ? " archived" : "");
      expect_equal(what, gpu, {random(shape, f32), random(shape, f32)}, 0,
                   [&](const Tensors& t) { return f(t[0], t[1]); });
      EXPECT_EQ(gpu.last_text.find("vec4<u32>*") != std::string::npos,
                shape[shape.size() - 1] % 4 == 0 || shape.size() == 1)
          << what;
      expect_equal(what + " and a row", gpu, {random(shape, f32), random({shape[shape.size() - 1]}, f32)}, 0,
                   [&](const Tensors& t) { return f(t[0], t[1]); });
    }
  }
}

TEST_F(OnHost, TransposedInTiles) {
  HostGpu gpu(false);
  const Pointwise f{"f", [](auto a, auto b) { return a * 2 - b; }};
  for (const DType d : {f32, bf16})
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{16, 16}, {40, 72}, {33, 48}, {100, 16}}) {
      const std::string name = std::string(to_string(d)) + " " + std::to_string(m) + "x" + std::to_string(n);
      expect_equal(name, gpu, {random({3, m, n}, d), random({n, 3, m}, d)}, tolerance(d), [&](const Tensors& t) {
        return f(t[0], t[1].permute({1, 2, 0}));
      });
      EXPECT_EQ(gpu.last_text.find("across") != std::string::npos, d == f32 || n >= 32) << name;
      expect_equal(name + " twice", gpu, {random({m, n}, d), random({n, m}, d)}, 2 * tolerance(d),
                   [&](const Tensors& t) { return f(t[1].transpose(0, 1), t[1].transpose(0, 1)) + t[0]; });
    }
}

TEST_F(OnHost, RunningSums) {
  HostGpu gpu(false);
  for (const DType d : {f32, bf16}) {
    const std::string name(to_string(d));
    for (const Shape& shape : {Shape{1, 2048}, Shape{64, 300}, Shape{65, 2070}, Shape{200, 2048}}) {
      expect_equal(name + " columns", gpu, {random(shape, d)}, tolerance(d),
                   [](const Tensors& t) { return cumsum(t[0], 0); });
      EXPECT_NE(gpu.last_text.find(shape[0] <= 64 ? "scan, short lines" : "scan, columns"), std::string::npos);
    }
    for (const Shape& shape : {Shape{300, 3}, Shape{70, 7}, Shape{9, 100}}) {
      expect_equal(name + " short rows", gpu, {random(shape, d)}, tolerance(d),
                   [](const Tensors& t) { return cumsum(t[0], 1); });
      EXPECT_NE(gpu.last_text.find("scan, short lines"), std::string::npos);
    }
    expect_equal(name + " columns of batches", gpu, {random({2, 70, 3, 400}, d)}, tolerance(d),
                 [](const Tensors& t) { return cumsum(t[0], 1); });
    EXPECT_NE(gpu.last_text.find("scan, columns"), std::string::npos);
    expect_equal(name + " rows", gpu, {random({5, 3000}, d)}, tolerance(d),
                 [](const Tensors& t) { return cumsum(t[0], 1); });
  }
}

/// Lines whose neighbours are read together, both ways, whole and in segments; and others.
TEST_F(OnHost, RunningSumsInVectors) {
  for (const bool archived : {false, true}) {
    HostGpu gpu(archived);
    const auto sums = [](const Tensors& t) { return cumsum(t[0], -1); };
    const auto backwards = [](const Tensors& t) {
      const Var x(t[0]);
      return Tensor(backward(cumsum(x, -1), t[0])[x]);
    };
    for (const DType d : {f64, f32, bf16})
      for (const std::int64_t n : {2056, 20480, 20483}) {
        if (n > 4096 && (d == f64 || (n == 20483 && d == bf16))) continue;
        const std::string name =
            std::string(archived ? "archived " : "") + std::string(to_string(d)) + " " + std::to_string(n);
        const double within = d == f64 ? 1e-12 : tolerance(d);
        expect_equal(name, gpu, {random({2, n}, d)}, within, sums);
        EXPECT_EQ(gpu.last_text.find("vec4<u32>*") != std::string::npos,
                  n % (16 / static_cast<std::int64_t>(dtype_size(d))) == 0)
            << name;
        expect_equal(name + " backwards", gpu, {random({2, n}, d)}, within, backwards);
        if (n > 4096) continue;
        expect_equal(name + " of one line", gpu, {random({n}, d)}, within, sums);
        expect_equal(name + " not aligned", gpu, {random({n + 1}, d)}, within,
                     [&](const Tensors& t) { return cumsum(t[0].slice(0, 1, n + 1), 0); });
        expect_equal(name + " of batches", gpu, {random({2, 3, n}, d)}, within,
                     [&](const Tensors& t) { return cumsum(t[0].slice(1, 0, 2), 2); });
      }
    for (const DType d : {i8, i16, i32, i64}) {
      const Tensor x = tensor(std::vector<std::int32_t>(8192, 1), {2, 4096}, cpu()).to(d);
      expect_equal((archived ? "archived " : "") + std::string(to_string(d)), gpu, {x}, 0, sums);
    }
  }
}

/// Lines read and written in vectors, short and of several blocks, and others.
TEST_F(OnHost, Sorts) {
  for (const bool archived : {false, true}) {
    HostGpu gpu(archived);
    for (const DType d : {f64, bf16, i8})
      for (const std::int64_t n : {48, 1040, 2083}) {
        if (n > 100 && d != bf16) continue;
        const std::string name =
            std::string(archived ? "archived " : "") + std::string(to_string(d)) + " " + std::to_string(n);
        const Tensor x = (random({3, n}, f64) * 20.0).to(d);  // many of them alike
        const bool descending = d == bf16;
        const auto sorted = [=](const Tensor& t) { return sort(t, 1, descending); };
        expect_equal(name, gpu, {x}, 0, [&](const Tensors& t) { return sorted(t[0]).values; });
        EXPECT_EQ(gpu.last_text.find("vec4<u32>*") != std::string::npos, n != 2083) << name;
        EXPECT_EQ(values(HostGpu::to_cpu(sorted(gpu.from(x)).indices)), values(sorted(x).indices)) << name;
        if (n == 1040) continue;
        expect_equal(name + ", not aligned", gpu, {random({3 * n + 1}, f64).to(d)}, 0,
                     [&](const Tensors& t) { return sorted(t[0].slice(0, 1, 3 * n + 1).reshape({3, n})).values; });
        expect_equal(name + ", of columns", gpu, {random({n, 3}, f64).to(d)}, 0,
                     [&](const Tensors& t) { return sorted(t[0].transpose(0, 1)).values; });
        if (n > 100) continue;
        expect_equal(name + ", columns", gpu, {x}, 0, [&](const Tensors& t) { return sort(t[0], 0).values; });
        expect_equal(name + ", of batches", gpu, {random({2, 3, n}, f64).to(d)}, 0,
                     [&](const Tensors& t) { return sort(t[0].slice(1, 1, 3), 2).values; });
      }
  }
}

/// Rows added up by index, looked through and sorted, whose neighbours are added together and others.
TEST_F(OnHost, SumsByIndex) {
  for (const bool archived : {false, true}) {
    HostGpu gpu(archived);
    for (const DType d : {f64, f32})
      for (const std::int64_t rows : {5, 2300})
        for (const std::int64_t columns : {1, 8, 33}) {
          if (d == f64 && columns != 8) continue;
          const std::string name =
              std::string(archived ? "archived " : "") + std::string(to_string(d)) + to_string(Shape{rows, columns});
          std::vector<std::int32_t> at(static_cast<std::size_t>(rows));
          for (std::size_t i = 0; i < at.size(); ++i)
            at[i] = static_cast<std::int32_t>(i * i % 7) - (i % 3 == 0 ? 7 : 0);
          const Tensor indices = tensor(at, {rows}, cpu()), x = random({7, columns}, d);
          const double within = d == f64 ? 1e-12 : 1e-5;
          expect_equal(name, gpu, {x, indices, random({rows, columns}, d)}, within,
                       [](const Tensors& t) { return scatter_add(t[0], t[1], t[2]); });
          // Many entries for each element are fetched by a workgroup; of few, neighbouring elements are an
          // invocation's.
          EXPECT_EQ(gpu.last_text.find("scatter, fetched") != std::string::npos, rows > 5) << name;
          EXPECT_EQ(gpu.last_text.find("acc1") != std::string::npos, columns == 8 && rows == 5) << name;
          expect_equal(name + " of columns", gpu, {random({columns, 7}, d), indices, random({columns, rows}, d)},
                       within, [](const Tensors& t) { return scatter_add(t[0], t[1], t[2], 1); });
          expect_equal(name + " in batches", gpu, {random({2, 7, columns}, d), indices, random({2, rows, columns}, d)},
                       within, [](const Tensors& t) { return scatter_add(t[0], t[1], t[2], 1); });
          if (rows == 5)
            expect_equal(name + " each its own", gpu,
                         {random({7, columns}, d), tensor(at, {rows, 1}, cpu()).broadcast_to({rows, columns}),
                          random({rows, columns}, d)},
                         within, [](const Tensors& t) { return scatter_add(t[0], t[1], t[2], 0); });
        }
  }
}

/// Rows added up by index where there are more places than entries, and rows that repeat, several taken as one.
TEST_F(OnHost, RowsByEntryAndTogether) {
  HostGpu gpu(false);
  std::vector<std::int32_t> at(2300);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int32_t>(i * i % 2401) - (i % 3 == 0 ? 2401 : 0);
  const Tensor indices = tensor(at, {2300}, cpu());
  for (const std::int64_t columns : {1, 4})
    expect_equal("rows of " + std::to_string(columns), gpu,
                 {random({2401, columns}, f32), indices, random({2300, columns}, f32)}, 1e-5,
                 [](const Tensors& t) { return scatter_add(t[0], t[1], t[2]); });
  EXPECT_NE(gpu.last_text.find("scatter, by entry"), std::string::npos);
  for (const DType d : {f32, bf16}) {
    expect_equal("rows of 3", gpu, {random({349'528, 3}, d), random({3}, d)}, d == f32 ? 1e-6 : 1e-2,
                 [](const Tensors& t) { return t[0] * t[1]; });
  }
}

/// Groups that are cut read nothing behind the memory there is.
TEST_F(OnHost, CutGroupsStayInside) {
  HostGpu gpu(false);
  const Pointwise<> below("below", [](auto v) { return minimum(v, -0.5); });
  for (const DType d : {f16, bf16, f32})
    for (const std::int64_t skipped : {0, 1, 2, 7}) {
      const std::string name = std::string(to_string(d)) + " from " + std::to_string(skipped);
      const Tensor x = random({4096}, d), table = random({64, 65}, d),
                   last = tensor(std::vector<std::int32_t>{63}, {1}, cpu());
      expect_equal(name + ", the last row", gpu, {table, last}, 0,
                   [&](const Tensors& t) { return take(t[0], t[1], 0); });
      expect_equal(name, gpu, {x}, 0, [&](const Tensors& t) { return below(t[0].slice(0, skipped, 4096)); });
      expect_equal(name + ", converted", gpu, {x}, 0,
                   [&](const Tensors& t) { return t[0].slice(0, skipped, 4096).to(f64); });
      expect_equal(name + ", softmax", gpu, {x}, tolerance(d),
                   [&](const Tensors& t) { return softmax(t[0].slice(0, skipped, 4096), 0); });
      expect_equal(name + ", a column", gpu, {random({9, 2048}, d)}, 0,
                   [&](const Tensors& t) { return below(t[0].slice(1, 0, 1)); });
    }
}

/// A step of a formula has one value in all passes over a row: its extreme is found again, and nothing is beyond it.
TEST_F(OnHost, ARowsExtremeIsFoundAgain) {
  HostGpu gpu(false);
  const auto found = [](auto a) {
    auto p = a * 0.3f, v = p + 1.7f;
    return where(v == max(v), p * 0 + 1, p * 0);
  };
  const auto below = [](auto a) {
    auto p = a * 0.3f, v = p + 1.7f;
    return where(max(v) - v < 0, 1, 0) + p * 0;
  };
  for (const DType d : {f16, bf16})
    for (const Shape& shape : {Shape{500, 96}, Shape{100, 1001}}) {
      const Tensor x = random(shape, d) * random({shape[0], 1}, d),
                   one = max(x, Axes{1}, true);  // extremes of many sizes
      const std::vector<double> extremes = values(HostGpu::to_cpu(row_formula(found, gpu.from(x))));
      EXPECT_EQ(extremes, values((x == one).to(f32))) << to_string(shape) << " " << to_string(d);
      const std::vector<double> beyond = values(HostGpu::to_cpu(row_formula(below, gpu.from(x))));
      EXPECT_EQ(beyond, std::vector<double>(beyond.size())) << to_string(shape) << " " << to_string(d);
    }
}

}  // namespace
}  // namespace tern::test

#endif
