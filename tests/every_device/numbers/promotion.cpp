// Operands of different dtypes: what they are computed in, and of which dtype results and gradients are.
#include <array>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Promotion : public EveryDevice {};
TERN_EVERY_DEVICE(Promotion);

/// What PyTorch's torch.promote_types() gives, but for u32, of which PyTorch has no arithmetic with other integers. The
/// order is that of DType: boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64.
constexpr int kRealCount = 11;
constexpr std::array<std::array<DType, kRealCount>, kRealCount> kRealTable{{
    {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64},
    {u8, u8, i16, i16, i32, u32, i64, f16, bf16, f32, f64},
    {i8, i16, i8, i16, i32, i64, i64, f16, bf16, f32, f64},
    {i16, i16, i16, i16, i32, i64, i64, f16, bf16, f32, f64},
    {i32, i32, i32, i32, i32, i64, i64, f16, bf16, f32, f64},
    {u32, u32, i64, i64, i64, u32, i64, f16, bf16, f32, f64},
    {i64, i64, i64, i64, i64, i64, i64, f16, bf16, f32, f64},
    {f16, f16, f16, f16, f16, f16, f16, f16, f32, f32, f64},
    {bf16, bf16, bf16, bf16, bf16, bf16, bf16, f32, bf16, f32, f64},
    {f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f64},
    {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
}};
/// With a complex number among them the complex one of the parts' dtype: c128 beside f64, else c64 of c64.
DType expected_of(DType a, DType b) {
  const auto wide = [](DType d) { return d == f64 || d == c128; };
  if (is_complex(a) || is_complex(b)) return wide(a) || wide(b) ? c128 : c64;
  return kRealTable[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

/// Values that every dtype holds, so that sums and products of two are exact in the narrowest of results, u8.
Tensor small(DType dtype, const std::vector<std::int32_t>& values, Device device) {
  return tensor(values, cpu()).to(dtype).to(device);
}

/// f(a, b) for every pair of dtypes of the device, whose result's dtype it may lack.
template <class F> void for_pairs(Device device, F f) {
  for (int i = 0; i < kDTypeCount; ++i)
    for (int j = 0; j < kDTypeCount; ++j) {
      const auto a = static_cast<DType>(i), b = static_cast<DType>(j);
      if (supports(device, a) && supports(device, b)) f(a, b);
    }
}

TEST(PromotionTable, IsPyTorchs) {
  for (int i = 0; i < kDTypeCount; ++i)
    for (int j = 0; j < kDTypeCount; ++j) {
      const auto a = static_cast<DType>(i), b = static_cast<DType>(j);
      EXPECT_EQ(promote_types(a, b), expected_of(a, b)) << to_string(a) << " and " << to_string(b);
    }
}

TEST_P(Promotion, SumsOfEveryPair) {
  for_pairs(device(), [&](DType a, DType b) {
    if ((a == boolean && b == boolean) || left_out(device(), 3)) return;  // those of truth have no sum
    SCOPED_TRACE(std::string(to_string(a)) + " + " + std::string(to_string(b)));
    const Tensor x = small(a, {0, 1, 1, 0}, device()), y = small(b, {1, 1, 0, 0}, device());
    const DType result = expected_of(a, b);
    if (!supports(device(), result)) {
      EXPECT_THROW(x + y, UnsupportedDType);
      return;
    }
    const Tensor sum = x + y;
    EXPECT_EQ(sum.dtype(), result);
    EXPECT_EQ(doubles(real(sum)), (std::vector<double>{1, 2, 1, 0}));
    EXPECT_EQ(where(x == y, x, y).dtype(), result);
    if (is_complex(result)) return;  // which have no order
    if (in_software(device()) && (static_cast<int>(a) + static_cast<int>(b)) % 4 != 0) return;
    EXPECT_EQ((x < y).to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
    EXPECT_EQ(maximum(x, y).dtype(), result);
  });
}

/// In PyTorch a tensor without axes changes no dtype within its kind: torch.ones(2) + torch.full((), 1.,
/// dtype=float64) is f32 there. Here it counts as any other tensor.
TEST_P(Promotion, TensorsWithoutAxesWiden) {
  for_pairs(device(), [&](DType a, DType b) {
    if ((a == boolean && b == boolean) || !supports(device(), promote_types(a, b))) return;
    EXPECT_EQ((ones({2}, a) + full({}, 1, b)).dtype(), expected_of(a, b)) << to_string(a) << " and " << to_string(b);
  });
  const bool wide = supports(device(), f64);
  EXPECT_EQ((ones({2}, wide ? f32 : f16) + full({}, 1, wide ? f64 : f32)).dtype(), wide ? f64 : f32);
}

TEST_P(Promotion, ValuesOfBothAreHeld) {
  const auto sum = [&](DType a, std::int32_t x, DType b, std::int32_t y) {
    return doubles(small(a, {x}, device()) + small(b, {y}, device()))[0];
  };
  EXPECT_EQ(sum(u8, 255, i8, -128), 127);
  EXPECT_EQ(sum(u8, 255, i16, 32767), -32514) << "i16 wraps";
  EXPECT_EQ(sum(i8, -1, i32, 2147483647), 2147483646);
  EXPECT_EQ(sum(i16, -5, f32, 100), 95);
  EXPECT_EQ(sum(u32, 7, f32, -9), -2);
  EXPECT_EQ(sum(f16, 2049, bf16, 1), 2049) << "f16 holds 2048; f32 the sum";
  EXPECT_EQ(sum(i32, 100000, f16, 1), HUGE_VAL) << "computed in f32, rounded to f16 once";
  if (supports(device(), i64)) {
    EXPECT_EQ(sum(u32, 2147483647, i32, 2147483647), 4294967294.0);
    const Tensor huge = full({1}, std::int64_t{1} << 40, {.dtype = i64, .device = device()});
    EXPECT_EQ((huge + small(u8, {1}, device())).item<std::int64_t>(), (std::int64_t{1} << 40) + 1);
  }
  if (supports(device(), f64)) {
    const Tensor third = full({1}, 1.0 / 3, {.dtype = f64, .device = device()});
    EXPECT_EQ((third + small(f32, {1}, device())).item<double>(), 1.0 / 3 + 1);
  }
}

TEST_P(Promotion, NumbersAndBooleansChangeNothing) {
  const Tensor half = small(f16, {1, 2}, device()), byte = small(u8, {1, 0}, device());
  EXPECT_EQ((half * 1e-3).dtype(), f16);
  EXPECT_EQ((half + (half > 1)).dtype(), f16);
  EXPECT_EQ((byte + 3).dtype(), u8);
  expect_error(ErrorKind::dtype, {"fractional number 0.5"}, [&] { byte + 0.5; });
}

TEST_P(Promotion, TakesOneKernelAndNoCopy) {
  const Tensor x = ones({4, 5}, {.dtype = bf16, .device = device()}), w = ones({5}, device()),
               n = ones({4, 1}, {.dtype = i32, .device = device()});
  const TraceCounts before = trace_counts();
  const Tensor y = Pointwise([](auto a, auto b, auto c) { return a * b + c; })(x, w, n);
  const TraceCounts after = trace_counts();
  EXPECT_EQ(after.calls - before.calls, 1);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 20 * 2 + 5 * 4 + 4 * 4);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 20 * 4);
}

/// The relative error of one rounding.
double rounding(DType dtype) { return dtype == bf16 ? 0x1p-8 : dtype == f16 ? 0x1p-11 : 0x1p-24; }
void expect_within_roundings(const Tensor& got, const Tensor& want, double roundings) {
  double largest = 1;
  for (const double value : doubles(want)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < doubles(want).size(); ++i)
    EXPECT_NEAR(doubles(got)[i], doubles(want)[i], roundings * largest) << i;
}

/// The gradients of f(a, b), one kernel call, with operands of two dtypes against those in f32, which hold every number
/// of theirs. A gradient is rounded to its dtype once; in a second derivative, the first ones have been before.
template <class F> void expect_promoted_gradients(Device device, DType first, DType second, F f, bool linear = false) {
  SCOPED_TRACE(std::string(to_string(first)) + ", " + std::string(to_string(second)));
  Generator generator{5};
  const Tensor a = randn({3, 4}, generator, cpu()).to(bf16), b = randn({4}, generator, cpu()).to(bf16);
  const auto gradients = [&](DType x, DType y, bool second_order) {
    const Var u(a.to(x).to(device)), v(b.to(y).to(device));
    auto grads = backward(f(u, v), ones({3, 4}, {.dtype = promote_types(x, y), .device = device}),
                          {.create_graph = second_order});
    if (!second_order) return std::pair{grads[u], grads[v]};
    auto more = backward(sum(square(grads.var(u))) + sum(square(grads.var(v))));
    return std::pair{more[u], more[v]};
  };
  const double narrow = std::max(rounding(first), rounding(second));
  for (const bool second_order : {false, true}) {
    if (second_order && linear) continue;
    const auto [du, dv] = gradients(first, second, second_order);
    const auto [eu, ev] = gradients(f32, f32, second_order);
    EXPECT_EQ(du.dtype(), first);
    EXPECT_EQ(dv.dtype(), second);
    // In f32 itself: sums of 12 terms. Second derivatives: 12 products of first ones, which were rounded.
    expect_within_roundings(du, eu, second_order ? 24 * narrow : rounding(first) + 12 * rounding(f32));
    expect_within_roundings(dv, ev, second_order ? 24 * narrow : rounding(second) + 12 * rounding(f32));
  }
}

TEST_P(Promotion, GradientsHaveTheirInputsDtypes) {
  std::vector<std::pair<DType, DType>> pairs{{bf16, f32}, {f32, bf16}, {f16, f32}};
  if (supports(device(), f64)) pairs.push_back({f32, f64}), pairs.push_back({bf16, f64}), pairs.push_back({f64, f16});
  for (const auto& [a, b] : pairs) {
    expect_promoted_gradients(device(), a, b, Pointwise([](auto x, auto y) { return x * y + x; }));
    expect_promoted_gradients(device(), a, b, Pointwise([](auto x, auto y) { return x + y; }), true);
    expect_promoted_gradients(device(), a, b, Pointwise([](auto x, auto y) { return where(x > 0, tanh(x) * y, y); }));
    expect_promoted_gradients(device(), a, b, [](const auto& x, const auto& y) { return rms_norm(x, y); });
    expect_promoted_gradients(device(), a, b, [](const auto& x, const auto& y) {
      return row_formula([](auto u, auto v) { return (u - mean(u)) * sum(u * v); }, x, y);
    });
  }
}

TEST_P(Promotion, ProductsWithinAKind) {
  const Tensor a = small(bf16, {1, 2, 3, 4, 5, 6}, device()).reshape({2, 3}),
               b = small(f32, {1, 0, 2, 1, 0, 1}, device()).reshape({3, 2}), bias = small(f16, {1, 2}, device());
  const std::vector<double> product{5, 5, 14, 11};
  EXPECT_EQ(matmul(a, b).dtype(), f32);
  EXPECT_EQ(doubles(matmul(a, b)), product);
  EXPECT_EQ(matmul(b, a).dtype(), f32);
  EXPECT_EQ(doubles(matmul(b.mT()[0], a.mT())), (std::vector<double>{5, 14}));
  const Tensor biased = matmul_bias_activation(a, b, bias, op::relu);
  EXPECT_EQ(biased.dtype(), f32);
  EXPECT_EQ(doubles(biased), (std::vector<double>{6, 7, 15, 13}));
  const Tensor narrow = matmul_bias(a, b.to(bf16), b[0]);
  EXPECT_EQ(narrow.dtype(), f32) << "the epilogue's operand is wider than the product's";
  EXPECT_EQ(doubles(narrow), (std::vector<double>{6, 5, 15, 11}));
  EXPECT_EQ(doubles(matmul_epilogue(
                a, b, [](auto acc, auto c) { return acc * c; }, bias)),
            (std::vector<double>{5, 10, 14, 22}));
  expect_error(ErrorKind::dtype, {"matmul", "f32", "i32", ".to()"}, [&] { matmul(b, a.to(i32)); });
  if (!supports(device(), f64)) return;
  const Tensor wider = matmul_bias(b, b.mT(), full({3}, 1.0 / 3, f64));
  EXPECT_EQ(wider.dtype(), f64);
  EXPECT_EQ(doubles(wider)[0], 1 + 1.0 / 3);
  EXPECT_EQ(matmul(a, b.to(f64)).dtype(), f64);
}

TEST_P(Promotion, GradientsOfProducts) {
  const Var a(small(bf16, {1, 2, 3, 4, 5, 6}, device()).reshape({2, 3})),
      b(small(f32, {1, 0, 2, 1, 0, 1}, device()).reshape({3, 2})), bias(small(f16, {1, 2}, device()));
  auto grads = backward(sum(square(matmul_bias_activation(a, b, bias, op::relu))));
  EXPECT_EQ(grads[a].dtype(), bf16);
  EXPECT_EQ(grads[b].dtype(), f32);
  EXPECT_EQ(grads[bias].dtype(), f16);
  EXPECT_EQ(doubles(grads[bias]), (std::vector<double>{42, 40}));
  EXPECT_EQ(doubles(grads[b]), (std::vector<double>{132, 118, 174, 158, 216, 198}));
  const Var x(small(bf16, {1, 2, 3, 4}, device()).reshape({2, 2})), wide(small(f32, {3, 5}, device()));
  const Var scaled = matmul_epilogue(
      x, x, [](auto acc, auto c) { return acc * c; }, wide);
  auto of_row = backward(sum(matmul_bias(x, x, wide) * scaled));
  EXPECT_EQ(of_row[x].dtype(), bf16);
  EXPECT_EQ(of_row[wide].dtype(), f32);
}

TEST_P(Promotion, JoinedAndScattered) {
  const Var a(small(f16, {1, 2}, device())), b(small(f32, {3, 4}, device()));
  const Var joined = concatenate(std::vector<Var>{a, b});
  EXPECT_EQ(joined.dtype(), f32);
  EXPECT_EQ(doubles(joined), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(backward(sum(square(joined)))[a].dtype(), f16);
  EXPECT_EQ(stack(std::vector<Tensor>{small(u8, {255}, device()), small(i8, {-1}, device())}).dtype(), i16);
  const Tensor at = tensor({1, 1}, device());
  const Var summed = scatter_add(a, at, b);
  EXPECT_EQ(summed.dtype(), f32);
  EXPECT_EQ(doubles(summed), (std::vector<double>{1, 9}));
  auto grads = backward(sum(square(summed)));
  EXPECT_EQ(grads[a].dtype(), f16);
  EXPECT_EQ(doubles(grads[b]), (std::vector<double>{18, 18}));
}

TEST_P(Promotion, InPlaceKeepsTheDtype) {
  Tensor x = small(f16, {1, 2}, device());
  x += small(f32, {1, 3}, device());
  EXPECT_EQ(x.dtype(), f16);
  EXPECT_EQ(doubles(x), (std::vector<double>{2, 5}));
  Tensor bytes = small(u8, {250, 3}, device());
  bytes += small(i32, {10, -4}, device());
  EXPECT_EQ(bytes.dtype(), u8);
  EXPECT_EQ(doubles(bytes), (std::vector<double>{4, 255})) << "u8 wraps";
  x *= small(i32, {3, 4}, device());
  EXPECT_EQ(doubles(x), (std::vector<double>{6, 20}));
  expect_error(ErrorKind::dtype, {"add", "u8[2]", "f16", ".to()"}, [&] { bytes += x; });
  EXPECT_EQ(doubles(bytes), (std::vector<double>{4, 255})) << "nothing was written";
  Var v(small(bf16, {1, 2}, device()));
  v += small(f32, {1, 1}, device());
  EXPECT_EQ(v.dtype(), bf16);
  x.copy_from(small(i8, {-1, 7}, device()));
  EXPECT_EQ(doubles(x), (std::vector<double>{-1, 7}));
  expect_error(ErrorKind::dtype, {"copy_from", "f32", "f16", ".to(f16)"}, [&] {
    x.copy_from(small(f32, {1, 2}, device()));
  });
}

}  // namespace
}  // namespace tern::test
