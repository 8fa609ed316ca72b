// Products of few rows or few columns, which GPUs run as sums along k: both sides of every threshold, every layout,
// batches that own or share a matrix, epilogues, and what is not finite. Small whole numbers, whose sums are exact,
// beside the CPU's; what 16 bits round, they round alike.
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "every_device.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class FewRows : public EveryDevice {};
TERN_EVERY_DEVICE(FewRows);

Tensor small_wholes(const Shape& shape, DType dtype, std::int64_t step = 7) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<std::int64_t>(i) * step % 11 - 5);
  return tensor(values, shape, cpu()).to(dtype);
}
/// The same elements, stored as the transposed matrices; every other one of a larger tensor, behind one element.
Tensor turned(const Tensor& x) { return x.transpose(-1, -2).contiguous().transpose(-1, -2); }
Tensor apart(const Tensor& x) {
  Tensor wide = zeros({x.size(0), 2 * x.size(1) + 1}, {.dtype = x.dtype(), .device = x.device()});
  Tensor view = wide.slice(1, 1, 2 * x.size(1) + 1, 2);
  view.copy_from(x);
  return view;
}
struct Sides { std::int64_t m, k, n; };
std::string name_of_sides(const Sides& s, DType dtype) {
  return std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n) + " " +
         std::string(to_string(dtype));
}
/// Rows and columns of one vector to more than eight, short and long k, widths of no, one and several vectors.
const Sides kFew[] = {{1, 128, 64}, {1, 300, 65}, {2, 127, 40}, {2, 1031, 40}, {3, 257, 96},  {4, 512, 33},
                      {5, 256, 48}, {1, 256, 1},  {64, 128, 1}, {65, 300, 2},  {40, 1031, 8}, {96, 512, 4},
                      {2, 640, 2},  {1, 4100, 8}, {4, 140, 4},  {8, 600, 71}, {9, 256, 40}};
/// Deep products of more rows than that, which are cut along k, and of few steps.
const Sides kOthers[] = {{9, 4096, 40},  {16, 4103, 64}, {40, 4130, 9}, {300, 1, 70}, {3, 1, 5},
                         {513, 2, 129}, {64, 3, 64},    {130, 4, 40},  {64, 5, 64},  {1, 1, 300}};

void expect_every_layout(std::span<const Sides> all, DType dtype, Device device) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (left_out(device, 3)) continue;
    const Sides& s = all[i];
    const Tensor a = small_wholes({s.m, s.k}, dtype), b = small_wholes({s.k, s.n}, dtype, 3);
    const std::vector<double> want = doubles(matmul(a, b));
    const Tensor x = a.to(device), y = b.to(device);
    const std::string name = name_of_sides(s, dtype);
    EXPECT_EQ(doubles(matmul(x, y)), want) << name;
    EXPECT_EQ(doubles(matmul(turned(x), y)), want) << name << ", a transposed";
    EXPECT_EQ(doubles(matmul(x, turned(y))), want) << name << ", b transposed";
    if (i % 3 == 1) {
      EXPECT_EQ(doubles(matmul(apart(x), apart(y))), want) << name << ", spread";
      EXPECT_EQ(doubles(matmul(x.flip(1), y.flip(0))), want) << name << ", backwards";
    }
  }
}
TEST_P(FewRows, OfEveryLayout) {
  for (const DType dtype : all_floats(device())) expect_every_layout(kFew, dtype, device());
}
TEST_P(FewRows, OfMoreRowsAndOfFewSteps) {
  for (const DType dtype : all_floats(device())) expect_every_layout(kOthers, dtype, device());
}
/// Batches that own their matrices, and two, four and five that share one, or one of several.
TEST_P(FewRows, InBatches) {
  for (const DType dtype : all_floats(device())) {
    const auto expect = [&](const Shape& a, const Shape& b) {
      const Tensor x = small_wholes(a, dtype), y = small_wholes(b, dtype, 3);
      EXPECT_EQ(doubles(matmul(x.to(device()), y.to(device()))), doubles(matmul(x, y)))
          << to_string(a) << " times " << to_string(b) << ", " << to_string(dtype);
    };
    expect({3, 2, 150}, {3, 150, 20}), expect({2, 1, 150}, {150, 20});
    if (in_software(device()) && dtype != f32) continue;
    expect({3, 20, 150}, {3, 150, 2}), expect({4, 1, 150}, {150, 20}), expect({5, 1, 150}, {150, 20});
    expect({2, 2, 150}, {1, 150, 20}), expect({1, 20, 150}, {2, 150, 2}), expect({2, 3, 1, 130}, {3, 130, 24});
    expect({3, 2, 1, 130}, {3, 1, 130, 24}), expect({20, 300}, {6, 300, 1}), expect({0, 1, 130}, {0, 130, 24});
    expect({1, 0}, {0, 24}), expect({0, 130}, {130, 24}), expect({1, 130}, {130, 0});
  }
}
/// Formulas with operands that all rows share, or not; of numbers that differ from call to call; with two results; and
/// such as ask for a position, which are a pass behind the sums.
TEST_P(FewRows, WithEpilogues) {
  const auto scaled = [](auto acc, auto bias, auto skip, auto number) { return relu(acc + bias) * number + skip; };
  const auto two = [](auto acc, auto column) { return std::tuple(acc * column, acc - column); };
  const auto placed = [](auto acc) { return acc + cast(index(acc, -1) + 3 * index(acc, -2), f32); };
  for (const DType dtype : all_floats(device()))
    for (const Sides& s :
         {Sides{1, 200, 40}, Sides{3, 200, 40}, Sides{40, 200, 2}, Sides{40, 1, 30}, Sides{9, 3, 20}}) {
      if (in_software(device()) && dtype != f32 && s.m != 3 && s.k != 1) continue;
      const Tensor a = small_wholes({s.m, s.k}, dtype), b = small_wholes({s.k, s.n}, dtype, 3),
                   bias = small_wholes({s.n}, dtype), skip = small_wholes({s.m, s.n}, dtype, 5),
                   column = small_wholes({s.m, 1}, dtype);
      const auto on = [&](const Tensor& x) { return x.to(device()); };
      const std::string name = name_of_sides(s, dtype);
      for (const double number : {0.5, 0.25, 2.0})
        EXPECT_EQ(doubles(matmul_epilogue(on(a), on(b), scaled, on(bias), on(skip), number)),
                  doubles(matmul_epilogue(a, b, scaled, bias, skip, number)))
            << name << " by " << number;
      const auto [product, difference] = matmul_epilogue(on(a), on(b), two, on(column));
      const auto [want_product, want_difference] = matmul_epilogue(a, b, two, column);
      EXPECT_EQ(doubles(product), doubles(want_product)) << name;
      EXPECT_EQ(doubles(difference), doubles(want_difference)) << name;
      if (dtype != f32) continue;
      EXPECT_EQ(doubles(matmul_epilogue(on(a), on(b), placed)), doubles(matmul_epilogue(a, b, placed))) << name;
    }
}
TEST_P(FewRows, KeepTheirSumsInF32) {
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) != 2) continue;  // 2048 + 1 is 2048 in f16, and 256 + 1 is 256 in bf16
    const Tensor a = ones({2, 4096}, {.dtype = dtype, .device = device()}),
                 b = ones({4096, 24}, {.dtype = dtype, .device = device()});
    const Tensor less = matmul_epilogue(a, b, [](auto acc) { return acc - 2; });
    for (const Tensor& product : {matmul(a, b), matmul(a, turned(b)), less})
      for (const double x : doubles(product)) ASSERT_NEAR(x, 4096, 4) << to_string(dtype);
    for (const double x : doubles(matmul_epilogue(a, b, [](auto acc) { return acc - 4095; }))) ASSERT_EQ(x, 1);
  }
}
TEST_P(FewRows, OfWhatIsNotFinite) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values(2 * 200, 1.0f);
  values[17] = inf, values[200 + 60] = std::nanf("");
  const Tensor a = tensor(values, {2, 200}, cpu());
  Tensor b = small_wholes({200, 12}, f32, 3).contiguous();
  const auto want = doubles(matmul(a, b)), got = doubles(matmul(a.to(device()), b.to(device())));
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : want[i] == got[i]) << i << ": " << got[i];
}
TEST_P(FewRows, GradientsAreThoseOfTheCpu) {
  for (const Sides& s : {Sides{1, 300, 140}, Sides{140, 300, 1}, Sides{3, 150, 130}, Sides{150, 2, 140}}) {
    const auto gradients = [&](Device where) {
      const Var a(small_wholes({s.m, s.k}, f32).to(where)), b(small_wholes({s.k, s.n}, f32, 3).to(where)),
          bias(small_wholes({s.n}, f32).to(where));
      const Var y = matmul_epilogue(a, b, [](auto acc, auto w) { return relu(acc + w); }, bias);
      const Gradients g = backward(y, small_wholes({s.m, s.n}, f32, 5).to(where));
      return std::vector{doubles(y.value()), doubles(g[a]), doubles(g[b]), doubles(g[bias])};
    };
    const auto want = gradients(cpu()), got = gradients(device());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i], want[i]) << name_of_sides(s, f32) << ", " << i;
  }
}
/// What a recording asks for at each replay, and results that go where operands lie.
TEST_P(FewRows, Replayed) {
  const Tensor a = small_wholes({2, 200}, f32), b = small_wholes({200, 40}, f32, 3);
  const Tensor x = a.to(device()), y = b.to(device());
  Tensor to = zeros({2, 40}, {.device = device()});
  const auto step = [](auto acc, auto before) { return acc + before; };
  const Graph graph = capture(device(), [&] { to.copy_from(matmul_epilogue(x, y, step, to)); });
  graph.replay(), graph.replay();
  EXPECT_EQ(doubles(to), doubles(matmul(a, b) * 2));
}
/// WebGPU runs up to eight vectors that meet the same matrix so, along a k of 128 and more; others in tiles, along a k
/// of 4096 and more in segments; and what has few steps as a formula.
TEST_P(FewRows, RunAsSums) {
  if (device().kind() != DeviceKind::webgpu) GTEST_SKIP();
  const auto notes = [&](const Tensor& a, const Tensor& b) { return explain([&] { (void)matmul(a, b); }); };
  const auto of = [&](const Shape& a, const Shape& b) { return notes(zeros(a), zeros(b)); };
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in " << text;
  };
  expect(of({1, 128}, {128, 40}), "1 vector times a matrix, as sums along k");
  expect(of({1, 128}, {128, 40}), "columns");
  expect(notes(zeros({1, 128}), zeros({40, 128}).transpose(0, 1)), "rows");
  expect(of({4, 128}, {128, 40}), "4 vectors times a matrix");
  expect(of({40, 128}, {128, 3}), "3 vectors times a matrix");
  expect(of({2, 2, 128}, {128, 40}), "4 vectors times a matrix");
  expect(of({7, 2, 128}, {7, 128, 40}), "2 vectors times a matrix");
  expect(of({8, 128}, {128, 40}), "8 vectors times a matrix");
  expect(of({9, 128}, {128, 40}), "tiles of");
  expect(of({1, 127}, {127, 40}), "tiles of");
  expect(of({9, 1, 128}, {128, 40}), "tiles of");
  expect(of({16, 4096}, {4096, 40}), "columns");  // which add up the segments
  EXPECT_EQ(of({16, 4095}, {4095, 40}).find("columns"), std::string::npos);
  expect(of({30, 4}, {4, 40}), "elementwise");
  expect(of({30, 5}, {5, 40}), "tiles of");
}

}  // namespace
}  // namespace tern::test
