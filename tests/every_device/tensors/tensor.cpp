// Tensors: creation, reading, copies, borrowed memory, writes in place, printing.
#include <sstream>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class TensorTest : public EveryDevice {
 protected:
  std::vector<DType> every_dtype() {
    return dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64});
  }
};
TERN_EVERY_DEVICE(TensorTest);

std::string printed(const Tensor& t) {
  std::ostringstream stream;
  stream << t;
  return stream.str();
}

// ---- creation ----
TEST_P(TensorTest, FromBraces) {
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), f32);
  EXPECT_EQ(tensor({1.0f}).dtype(), f32);
  EXPECT_EQ(tensor({1, 2, 3}).dtype(), i32);
  EXPECT_EQ(tensor({true, false}).dtype(), boolean);
  EXPECT_EQ(tensor({1, 2, 3}).shape(), Shape({3}));
  expect_values(tensor({1.5, 2.5, 3.5, 4.5}, {2, 2}), {2, 2}, {1.5, 2.5, 3.5, 4.5});
  expect_values(tensor({7.0}, {}), {}, {7});
}
TEST_P(TensorTest, FromRanges) {
  EXPECT_EQ(tensor(std::vector<std::uint8_t>{1, 255}).dtype(), u8);
  EXPECT_EQ(tensor(std::array<std::int16_t, 2>{1, 2}).dtype(), i16);
  EXPECT_EQ(tensor(std::vector<float16>{float16(1.5f)}).dtype(), f16);
  const std::vector<float> v{1, 2, 3, 4};
  expect_values(tensor(std::span<const float>(v), {2, 2}), {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(tensor(std::vector<bool>{true, false, true}).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(tensor(std::vector<bool>{true, false}, {2, 1}).shape(), Shape({2, 1}));
  EXPECT_EQ(tensor(std::vector<float>{}).shape(), Shape({0}));
}
TEST_P(TensorTest, FilledOfEveryDtype) {
  for (const DType d : every_dtype()) {
    const std::string name(to_string(d));
    EXPECT_EQ(zeros({2}, d).dtype(), d);
    expect_values(zeros({2, 2}, d), {2, 2}, {0, 0, 0, 0}, name);
    expect_values(ones({3}, d), {3}, {1, 1, 1}, name);
    expect_values(full({2}, 1, d), {2}, {1, 1}, name);
    expect_values(full({2}, 1.0, d), {2}, {1, 1}, name);
    expect_values(eye(3, d), {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, name);
  }
}
TEST_P(TensorTest, RangesOfEveryDtype) {
  for (const DType d : every_dtype()) {
    if (d == boolean) continue;
    expect_values(arange(0, 5, 1, d), {5}, {0, 1, 2, 3, 4}, std::string(to_string(d)));
    expect_values(arange(1, 8, 3, d), {3}, {1, 4, 7}, std::string(to_string(d)));
  }
  expect_values(arange(5, 0, -2), {3}, {5, 3, 1});
  expect_values(arange(0, 5), {5}, {0, 1, 2, 3, 4});
  expect_values(arange(3, 3), {0}, {});
  expect_values(arange(0, 1, 0.25, f32), {4}, {0, 0.25, 0.5, 0.75});
  if (supports(device(), i64)) {
    const Tensor big = arange(5000000000, 5000000003, 1, i64);
    EXPECT_EQ(big.to_vector<std::int64_t>(), (std::vector<std::int64_t>{5000000000, 5000000001, 5000000002}));
  }
  expect_error(ErrorKind::dtype, {"arange"}, [] { arange(0, 2, 0.5, i32); });
}
TEST_P(TensorTest, Linspace) {
  expect_values(linspace(0, 1, 5), {5}, {0, 0.25, 0.5, 0.75, 1});
  expect_values(linspace(1, 0, 2), {2}, {1, 0});
  expect_values(linspace(3, 9, 1), {1}, {3});
  expect_values(linspace(3, 9, 0), {0}, {});
  for (const DType d : wide_floats(device())) {
    const std::vector<double> v = doubles(linspace(0.1, 0.7, 101, d));
    EXPECT_EQ(v.back(), d == f32 ? 0.7f : 0.7);
    for (std::size_t i = 0; i < 101; ++i) EXPECT_NEAR(v[i], 0.1 + 0.006 * static_cast<double>(i), 3 * epsilon(d));
  }
}
TEST_P(TensorTest, OptionsInEveryForm) {
  EXPECT_EQ(zeros({2}, {}).dtype(), f32);
  EXPECT_EQ(zeros({2}, {.dtype = f16}).dtype(), f16);
  EXPECT_EQ(zeros({2}, {.device = cpu()}).device(), cpu());
  EXPECT_EQ(zeros({2}, {.dtype = i32, .device = device()}).device(), device());
  EXPECT_EQ(zeros({2}, f16).dtype(), f16);
  EXPECT_EQ(ones({2}, cpu()).device(), cpu());
  EXPECT_EQ(full({2}, 3, {}).dtype(), f32);
  EXPECT_EQ(full({2}, 3, cpu()).device(), cpu());
  EXPECT_EQ(eye(2, {}).dtype(), f32);
  EXPECT_EQ(linspace(0, 1, 2, {}).dtype(), f32);
  EXPECT_EQ(zeros({}, {}).shape(), Shape());
  EXPECT_EQ(zeros({2}).device(), device());
}
TEST_P(TensorTest, LargeNumbersKeepTheirBits) {
  if (!supports(device(), i64)) return;
  EXPECT_EQ(full({}, (1ll << 53) + 1, i64).item<std::int64_t>(), (1ll << 53) + 1);
  EXPECT_EQ((zeros({1}, i64) + ((1ll << 53) + 1)).item<std::int64_t>(), (1ll << 53) + 1);
  EXPECT_EQ(full({}, 4000000000u, u32).item<std::uint32_t>(), 4000000000u);
}

// ---- reading ----
TEST_P(TensorTest, HandlesShareAndClonesCopy) {
  Tensor a = tensor({1.0f, 2.0f}), b = a, c = a.clone();
  a += 1;
  expect_values(b, {2}, {2, 3});
  expect_values(c, {2}, {1, 2});
  EXPECT_TRUE(Tensor(a).defined());
  EXPECT_FALSE(Tensor().defined());
}
TEST_P(TensorTest, ItemAndToVector) {
  EXPECT_EQ(tensor({5}).item<std::int32_t>(), 5);
  EXPECT_EQ(full({1, 1}, 2.5).item<float>(), 2.5f);
  EXPECT_TRUE(tensor({true}).item<bool>());
  EXPECT_EQ(tensor({1, 2, 3, 4}, {2, 2}).transpose(0, 1).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 3, 2, 4}));
  EXPECT_TRUE(zeros({0, 3}).to_vector<float>().empty());
  EXPECT_EQ(zeros({}).to_vector<float>().size(), 1u);
}
TEST_P(TensorTest, Contiguity) {
  const Tensor x = arange(0, 6, 1, f32).reshape({2, 3});
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_FALSE(x.transpose(0, 1).is_contiguous());
  EXPECT_EQ(x.contiguous().impl(), x.impl());
  const Tensor y = x.transpose(0, 1).contiguous();
  EXPECT_TRUE(y.is_contiguous());
  expect_values(y, {3, 2}, {0, 3, 1, 4, 2, 5});
  EXPECT_EQ(x.strides(), (std::vector<std::int64_t>{3, 1}));
}

// ---- borrowed memory ----
TEST_P(TensorTest, ViewOfCallersMemory) {
  if (device() != cpu()) return;
  float data[12];
  for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
  Tensor v = Tensor::view(data, {3, 2}, {4, 2});
  expect_values(v, {3, 2}, {0, 2, 4, 6, 8, 10});
  v += 100;
  EXPECT_EQ(data[2], 102);
  EXPECT_EQ(data[1], 1);
  data[0] = -1;
  EXPECT_EQ(v.slice(0, 0, 1).slice(1, 0, 1).item<float>(), -1);
  expect_values(Tensor::view(data + 11, {3}, {-1}), {3}, {11, 110, 9});
  expect_values(Tensor::view(data + 1, {2, 2}, {0, 2}), {2, 2}, {1, 3, 1, 3});
  const double constant[2] = {1, 2};
  expect_values(sum(Tensor::view(constant, {2})), {}, {3});
}
TEST_P(TensorTest, BorrowedMemoryIsKeptAlive) {
  if (device() != cpu()) return;
  auto memory = std::make_shared<std::vector<float>>(4, 2.0f);
  const std::weak_ptr<std::vector<float>> watch = memory;
  {
    Tensor t = Tensor::view(memory->data(), {4}, {}, memory);
    memory.reset();
    const Tensor half = t.slice(0, 2, 4);
    t = Tensor();
    EXPECT_FALSE(watch.expired());
    expect_values(half, {2}, {2, 2});
  }
  EXPECT_TRUE(watch.expired());
}

// ---- in place ----
TEST_P(TensorTest, WritesAreSeenByViews) {
  Tensor x = zeros({3, 4});
  Tensor column = x.slice(1, 1, 2), row = x.slice(0, 2, 3);
  column.copy_from(full({3, 1}, 5));
  row += 1;
  x.slice(1, 0, 4, 3) *= tensor({10.0f, 20.0f});
  expect_values(x, {3, 4}, {0, 5, 0, 0, 0, 5, 0, 0, 10, 6, 1, 20});
}
TEST_P(TensorTest, CopyFromBroadcasts) {
  Tensor x = zeros({2, 3});
  x.copy_from(tensor({1.0f, 2.0f, 3.0f}));
  expect_values(x, {2, 3}, {1, 2, 3, 1, 2, 3});
  x.copy_from(full({}, 9));
  expect_values(x, {2, 3}, std::vector<double>(6, 9.0));
  x.transpose(0, 1).copy_from(tensor({1.0f, 2.0f}));
  expect_values(x, {2, 3}, {1, 1, 1, 2, 2, 2});
}
TEST_P(TensorTest, OverlappingCopies) {
  for (const std::int64_t n : {10, 5000}) {
    const Tensor original = arange(0, n, 1, f32);
    Tensor x = original.clone();
    x.slice(0, 1, n).copy_from(x.slice(0, 0, n - 1));
    EXPECT_EQ(doubles(x.slice(0, 1, n)), doubles(original.slice(0, 0, n - 1))) << "forwards";
    x.copy_from(original);
    x.slice(0, 0, n - 1).copy_from(x.slice(0, 1, n));
    EXPECT_EQ(doubles(x.slice(0, 0, n - 1)), doubles(original.slice(0, 1, n))) << "backwards";
  }
  Tensor m = arange(0, 9, 1, f32).reshape({3, 3});
  m.copy_from(m.transpose(0, 1));
  expect_values(m, {3, 3}, {0, 3, 6, 1, 4, 7, 2, 5, 8});
  Tensor s = arange(0, 9, 1, f32).reshape({3, 3});
  s += s.transpose(0, 1);
  expect_values(s, {3, 3}, {0, 4, 8, 4, 8, 12, 8, 12, 16});
  Tensor r = tensor({1.0f, 2.0f, 3.0f});
  r -= r.slice(0, 0, 1);
  expect_values(r, {3}, {0, 1, 2});
  r += r;
  expect_values(r, {3}, {0, 2, 4});
}
TEST_P(TensorTest, InPlaceOperators) {
  for (const DType d : all_floats(device())) {
    Tensor x = full({5}, 6, d);
    x += 2, x -= full({5}, 1, d), x *= 4, x /= full({1}, 2, d), x /= 7;
    expect_values(x, {5}, std::vector<double>(5, 2.0), std::string(to_string(d)));
  }
  Tensor i = tensor({7, 8});
  i += 1, i *= tensor({2, 3}), i -= 1;
  expect_values(i, {2}, {15, 26});
}

// ---- printing ----
TEST_P(TensorTest, PrintsLikeNumpy) {
  EXPECT_EQ(printed(tensor({1, 20, 3})), "[ 1, 20,  3]");
  EXPECT_EQ(printed(tensor({1, 2, 3, 4}, {2, 2})), "[[1, 2],\n [3, 4]]");
  EXPECT_EQ(printed(tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2})), "[[[1, 2],\n  [3, 4]],\n\n [[5, 6],\n  [7, 8]]]");
  EXPECT_EQ(printed(full({}, 3)), "3.");
  EXPECT_EQ(printed(zeros({0})), "[]");
  EXPECT_EQ(printed(arange(0, 2000)), "[   0,    1,    2, ..., 1997, 1998, 1999]");
  EXPECT_NE(printed(tensor({std::nanf(""), INFINITY, -INFINITY})).find("nan"), std::string::npos);
  EXPECT_NE(printed(tensor({INFINITY, -INFINITY})).find("-inf"), std::string::npos);
  EXPECT_EQ(printed(Tensor()), "undefined");
}
TEST_P(TensorTest, PrintsLargeTensorsQuickly) {
  const Tensor x = zeros({1000, 1000, 10});
  const std::string text = printed(x);
  EXPECT_LT(text.size(), 5000u);
  EXPECT_NE(text.find("..."), std::string::npos);
}

}  // namespace
}  // namespace tern::test
