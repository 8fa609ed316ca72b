// matmul: NumPy's rules, every layout, every dtype.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Matmul : public EveryDevice {};
TERN_EVERY_DEVICE(Matmul);

void expect_product(const Tensor& a, const Tensor& b, const std::string& what) {
  if (left_out(a.device(), 3)) return;
  expect_within(matmul(a, b), matmul(Array(a), Array(b), work_epsilon(a.dtype())),
                what + " " + std::string(to_string(a.dtype())));
}
struct MatmulSizes {
  std::int64_t m, k, n;
};
const MatmulSizes kMatmulSizes[] = {{1, 1, 1},     {2, 3, 4},     {7, 5, 3},     {16, 16, 16},   {17, 33, 65},
                                    {1, 100, 50},  {50, 100, 1},  {100, 1, 100}, {1, 1000, 1},   {129, 70, 31},
                                    {64, 300, 48}, {5, 2, 257},   {90, 1, 300},  {150, 4, 1100}, {3, 40, 1500},
                                    {320, 64, 48}, {48, 320, 64}, {600, 3, 3},   {700, 16, 16},  {515, 4, 2},
                                    {513, 1, 2},   {601, 7, 13}};

TEST_P(Matmul, SizesAndTranspositions) {
  for (const DType dtype : all_floats(device()))
    for (const MatmulSizes& s : kMatmulSizes) {
      if (in_software(device()) && (&s - kMatmulSizes) % (dtype == f32 ? 2 : 3) != 0) continue;
      Random random(71);
      const Tensor a = random.tensor({s.m, s.k}, dtype, device()), b = random.tensor({s.k, s.n}, dtype, device());
      const Tensor ta = a.transpose(0, 1).clone().transpose(0, 1), tb = b.transpose(0, 1).clone().transpose(0, 1);
      const std::string size = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
      expect_product(a, b, size), expect_product(ta, b, size + " aT"), expect_product(a, tb, size + " bT"),
          expect_product(ta, tb, size + " aT bT");
      expect_product(strided(a), strided(b), size + " strided"),
          expect_product(strided(ta), strided(tb.transpose(0, 1)).transpose(0, 1), size + " strided T");
    }
}
TEST_P(Matmul, MatricesTimesLongVectors) {
  for (const DType dtype : all_floats(device()))
    for (const MatmulSizes& s : {MatmulSizes{1, 256, 7}, {37, 257, 1}, {1, 4097, 33}, {70, 1031, 1}, {1, 600, 1}}) {
      Random random(74);
      const Tensor a = random.tensor({s.m, s.k}, dtype, device()), b = random.tensor({s.k, s.n}, dtype, device());
      const Tensor ta = a.transpose(0, 1).clone().transpose(0, 1), tb = b.transpose(0, 1).clone().transpose(0, 1);
      const std::string size = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
      expect_product(a, b, size), expect_product(ta, tb, size + " aT bT"), expect_product(strided(a), strided(b), size);
      const Tensor bias = random.tensor({s.n}, dtype, device());
      const Tensor batched = matmul_bias(a.unsqueeze(0).broadcast_to({3, s.m, s.k}), b, bias);
      const Array one = matmul(Array(a), Array(b), work_epsilon(dtype));
      expect_within(batched[2], add(one, Array(bias), work_epsilon(dtype)), size + " with a bias, the last of a batch");
    }
}
TEST_P(Matmul, EveryOtherElement) {
  Random random(72);
  const Tensor a = random.tensor({20, 30}, f32, device()).slice(1, 0, 30, 2).slice(0, 1, 20, 3),
               b = random.tensor({30, 26}, f32, device()).slice(0, 1, 30, 2).slice(1, 0, 26, 5);
  expect_product(a, b, "steps");
}
TEST_P(Matmul, BroadcastOperands) {
  const Tensor row = tensor({1.0f, 2.0f, 3.0f}), a = row.broadcast_to({4, 3}),
               b = row.unsqueeze(1).broadcast_to({3, 5});
  expect_product(a, b, "stride 0");
  expect_product(row.unsqueeze(1).broadcast_to({3, 3}), row.broadcast_to({3, 3}), "stride 0 the other way");
}
TEST_P(Matmul, Vectors) {
  const Tensor v = tensor({1.0f, 2.0f, 3.0f}),
               m = tensor({1.0f, 0.0f, 2.0f, 0.0f, 1.0f, 1.0f, 3.0f, 0.0f, 0.0f}, {3, 3});
  expect_values(matmul(v, v), {}, {14});
  expect_values(matmul(m, v), {3}, {7, 5, 3});
  expect_values(matmul(v, m), {3}, {10, 2, 4});
  expect_values(matmul(v, zeros({2, 3, 5})), {2, 5}, std::vector<double>(10, 0.0));
  expect_values(matmul(ones({4, 2, 3}), v), {4, 2}, std::vector<double>(8, 6.0));
}
/// Corrupts the heap elsewhere.
TEST_P(Matmul, SquareTimesVector) {
  for (const std::int64_t n : {1, 2, 3, 8, 31, 64, 100, 257}) {
    Random random(73);
    const Tensor a = random.tensor({n, n}, f32, device()), v = random.tensor({n}, f32, device());
    expect_within(matmul(a, v).reshape({n, 1}), matmul(Array(a), Array({n, 1}, doubles(v)), epsilon(f32)),
                  std::to_string(n));
    expect_within(matmul(v, a).reshape({1, n}), matmul(Array({1, n}, doubles(v)), Array(a), epsilon(f32)),
                  std::to_string(n));
  }
}
TEST_P(Matmul, Batches) {
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 4, 5}, {3, 5, 6}},       {{3, 4, 5}, {5, 6}},          {{4, 5}, {3, 5, 6}},
      {{1, 4, 5}, {3, 5, 6}},       {{3, 4, 5}, {1, 5, 6}},       {{2, 1, 4, 5}, {3, 5, 6}},
      {{2, 1, 4, 5}, {1, 3, 5, 6}}, {{2, 3, 4, 5}, {2, 3, 5, 1}}, {{70, 1, 5}, {70, 5, 1}},
      {{3, 64, 64}, {3, 64, 64}},   {{3, 20, 2}, {3, 2, 300}},    {{2, 2, 2, 33, 17}, {2, 1, 17, 9}}};
  for (const DType dtype : all_floats(device()))
    for (const auto& [x, y] : shapes) {
      if (in_software(device()) && x.rank() == 3 && x[1] == 4 && y.rank() == 3) continue;
      Random random(74);
      const Tensor a = random.tensor(x, dtype, device()), b = random.tensor(y, dtype, device());
      expect_product(a, b, to_string(x) + to_string(y));
      expect_product(strided(a), strided(b), to_string(x) + to_string(y) + " strided");
    }
}
TEST_P(Matmul, Empty) {
  expect_values(matmul(zeros({2, 0}), zeros({0, 3})), {2, 3}, std::vector<double>(6, 0.0));
  expect_values(matmul(zeros({0}), zeros({0})), {}, {0});
  EXPECT_EQ(matmul(zeros({0, 3}), zeros({3, 2})).shape(), Shape({0, 2}));
  EXPECT_EQ(matmul(zeros({2, 3}), zeros({3, 0})).shape(), Shape({2, 0}));
  EXPECT_EQ(matmul(zeros({0, 2, 3}), zeros({3, 2})).shape(), Shape({0, 2, 2}));
  EXPECT_EQ(matmul(zeros({0, 2, 3}), zeros({1, 3, 2})).shape(), Shape({0, 2, 2}));
  expect_values(matmul(zeros({5, 2, 0}), zeros({0, 3})), {5, 2, 3}, std::vector<double>(30, 0.0));
}
TEST_P(Matmul, Integers) {
  for (const DType dtype : dtypes_of(device(), {i32, u32, i64})) {
    const Tensor a = arange(0, 15, 1, i32).reshape({3, 5}).to(dtype),
                 b = arange(0, 20, 1, i32).reshape({5, 4}).to(dtype);
    EXPECT_EQ(matmul(a, b).dtype(), dtype);
    expect_values(matmul(a, b), {3, 4}, matmul(Array(a), Array(b), 0).value, std::string(to_string(dtype)));
  }
  for (const DType dtype : dtypes_of(device(), {i32, i64})) {
    const Tensor a = arange(-9, 9, 1, i32).reshape({6, 3}).to(dtype),
                 b = arange(-400, 500, 1, i32).reshape({3, 300}).to(dtype);
    expect_values(matmul(a, b), {6, 300}, matmul(Array(a), Array(b), 0).value,
                  "short rows of " + std::string(to_string(dtype)));
  }
  EXPECT_EQ(matmul(full({1, 2}, 65536, i32), full({2, 1}, 65536, i32)).item<std::int32_t>(), 0) << "wraps";
  for (const DType dtype : {boolean, u8, i8, i16})
    expect_error(ErrorKind::dtype, {"matmul", std::string(to_string(dtype))}, [=] {
      matmul(ones({2, 2}, dtype), ones({2, 2}, dtype));
    });
}
/// With an epilogue, and as the gradient of an operand that a batch of two shares.
TEST_P(Matmul, ShortDepthsInOtherRoles) {
  for (const DType dtype : all_floats(device())) {
    Random random(77);
    const Tensor a = random.tensor({70, 2}, dtype, device()), b = random.tensor({2, 300}, dtype, device());
    const Tensor squared = matmul_activation(a.to(f32), b.to(f32), op::square), product = matmul(a.to(f32), b.to(f32));
    EXPECT_EQ(doubles(squared), doubles(product * product));
    const Tensor batch = random.tensor({2, 1, 40}, dtype, device()), grad = random.tensor({2, 1, 300}, dtype, device());
    const Var shared(random.tensor({40, 300}, dtype, device()));
    const Tensor got = backward(matmul(Var(batch, false), shared), grad)[shared];
    expect_within(
        got, matmul(Array(batch.reshape({2, 40}).transpose(0, 1)), Array(grad.reshape({2, 300})), work_epsilon(dtype)),
        "two segments");
  }
}
TEST_P(Matmul, SixteenBitsAccumulateInSingle) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16})) {
    Random random(75);
    expect_product(random.tensor({10, 784}, dtype, device()), random.tensor({784, 12}, dtype, device()), "K = 784");
    EXPECT_EQ(doubles(matmul(ones({1, 4096}, dtype), ones({4096, 1}, dtype)))[0], 4096);
  }
}
TEST_P(Matmul, InfinitiesAndNan) {
  const float inf = INFINITY, nan = std::nanf("");
  const Tensor a = tensor({1.0f, inf, nan, 0.0f}, {2, 2}), b = tensor({1.0f, 0.0f, 0.0f, 1.0f}, {2, 2});
  const std::vector<double> got = doubles(matmul(a, b));
  EXPECT_TRUE(std::isnan(got[0]));  // inf · 0
  EXPECT_EQ(got[1], inf);
  EXPECT_TRUE(std::isnan(got[2]) && std::isnan(got[3]));
}
TEST_P(Matmul, ThreadsDoNotChangeBits) {
  const int before = num_threads();
  const MatmulSizes sizes[] = {{300, 200, 250}, {1, 2000, 700},  {700, 2000, 1},   {16, 5000, 16},   {1000, 8, 1000},
                               {600, 2, 700},   {256, 256, 256}, {300, 2100, 300}, {129, 1030, 129}, {20, 1030, 600}};
  const std::vector<DType> dtypes =
      device() == cpu() ? all_floats(device()) : std::vector{f32};  // the threads are the CPU's
  for (const DType dtype : dtypes)
    for (const MatmulSizes& s : sizes) {
      if (left_out(device(), 4)) continue;
      Random random(76);
      const Tensor a = random.tensor({s.m, s.k}, dtype, device()), b = random.tensor({s.k, s.n}, dtype, device());
      set_num_threads(1);
      const std::vector<double> one = doubles(matmul(a, b));
      for (const int threads : {2, 3, 8}) {
        set_num_threads(threads);
        EXPECT_EQ(doubles(matmul(a, b)), one) << s.m << " " << s.k << " " << s.n << " " << to_string(dtype);
      }
    }
  set_num_threads(before);
}
TEST_P(Matmul, GradientsOfVectorsAndBatches) {
  const std::pair<Shape, Shape> shapes[] = {
      {{3}, {3}},       {{2, 3}, {3}},       {{3}, {3, 2}},          {{4, 2, 3}, {3}},
      {{3}, {4, 3, 2}}, {{4, 2, 3}, {3, 2}}, {{1, 2, 3}, {4, 3, 2}}, {{2, 1, 2, 3}, {4, 3, 2}}};
  for (const auto& [x, y] : shapes) {
    Random random(77);
    const Var a(random.tensor(x, f32, device())), b(random.tensor(y, f32, device()));
    const Gradients g = backward(sum(matmul(a, b)));
    EXPECT_EQ(g[a].shape(), x) << to_string(x) << to_string(y);
    EXPECT_EQ(g[b].shape(), y) << to_string(x) << to_string(y);
  }
}
/// Products of integers with floats are refused, whichever way they are computed.
TEST_P(Matmul, OfTwoKinds) {
  const Tensor a = ones({2, 2}), b = ones({2, 2}, i32), yes = ones({2, 2}, boolean);
  const Tensor row = ones({2}), of_i32 = ones({2}, i32);
  const auto refused = [](const char* op, auto f) { expect_error(ErrorKind::dtype, {op, "f32", "i32"}, f); };
  for (const char* equation : {"ij,jk->ik", "ij,ij->ij", "ij,ij->", "ij,kl->ijkl", "ij,ij->i"}) {
    refused("einsum", [&] { einsum(equation, a, b); });
    refused("einsum", [&] { einsum(equation, b, Var(a)); });
    expect_values(einsum(equation, a, yes).to(f32), einsum(equation, a, a).shape(), doubles(einsum(equation, a, a)));
  }
  refused("einsum", [&] { einsum("i,i,i->i", ones({2}, boolean), row, of_i32); });
  refused("vecdot", [&] { vecdot(row, of_i32); });
  refused("inner", [&] { inner(of_i32, row); });
  refused("inner", [&] { inner(full({}, 1), of_i32); });
  refused("outer", [&] { outer(row, of_i32); });
  refused("matmul", [&] { matmul(a, b); });
  EXPECT_EQ(vecdot(ones({2}, i8), ones({2}, i32)).dtype(), i32);
  expect_error(ErrorKind::value, {"einsum", "unexpected '%'"}, [&] { einsum("i%->i", a); });
  expect_error(ErrorKind::value, {"einsum", "unexpected"}, [&] { einsum("ij->i->j", a); });
  expect_error(ErrorKind::value, {"einsum", "'k'"}, [&] { einsum("ij->k", a); });
  expect_error(ErrorKind::value, {"einsum", "1 operand"}, [&] { einsum("ij", a, a); });
  expect_error(ErrorKind::shape, {"einsum", "'j'"}, [&] { einsum("ij,jk", a, ones({3, 2})); });
}
TEST_P(Matmul, NegativePowersOfMatrices) {
  const Tensor a = tensor({2.0f, 1.0f, 1.0f, 1.0f}, {2, 2}, device());
  expect_values(round(matrix_power(a, -1)), {2, 2}, {1, -1, -1, 2});
  expect_values(round(matrix_power(a, -3)), {2, 2}, {5, -8, -8, 13});
  const Var v(a);
  EXPECT_NEAR(doubles(backward(sum(matrix_power(v, -1)))[v])[0], 0, 1e-5);  // -(Σ of row)·(Σ of column) of the inverse
}
TEST_P(Matmul, AlignmentAndOffsets) {
  Random random(78);
  const Tensor big = random.tensor({40, 40}, f32, device());
  for (int offset = 0; offset < 9; ++offset) {
    const Tensor a = big.slice(0, offset, offset + 9).slice(1, offset, offset + 13),
                 b = big.slice(0, 3, 16).slice(1, 2 * offset, 2 * offset + 11);
    expect_product(a, b, "offset " + std::to_string(offset));
  }
}

}  // namespace
}  // namespace tern::test
