// Pointwise operations and users' formulas: broadcasting, numbers, dtypes, several outputs.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class PointwiseTest : public EveryDevice {};
TERN_EVERY_DEVICE(PointwiseTest);

struct Binary { const char* name; Pointwise<> formula; double (*value)(double, double); };
std::vector<Binary> binaries() {
  return {{"add", op::add, [](double x, double y) { return x + y; }},
          {"sub", op::sub, [](double x, double y) { return x - y; }},
          {"mul", op::mul, [](double x, double y) { return x * y; }},
          {"div", op::div, [](double x, double y) { return x / y; }},
          {"maximum", op::maximum, [](double x, double y) { return std::max(x, y); }},
          {"minimum", op::minimum, [](double x, double y) { return std::min(x, y); }}};
}
Array binary_reference(const Binary& f, const Array& a, const Array& b) {
  return zip(a, b, [&](double x, double y, double, double, double& e) { return e = 0, f.value(x, y); });
}
const std::pair<Shape, Shape> kBroadcastShapes[] = {{{}, {}},
                                                    {{5}, {5}},
                                                    {{5}, {}},
                                                    {{}, {5}},
                                                    {{3, 4}, {4}},
                                                    {{4}, {3, 4}},
                                                    {{3, 1}, {1, 4}},
                                                    {{2, 1, 3}, {4, 1}},
                                                    {{1}, {2, 3}},
                                                    {{7, 1, 5}, {1, 6, 1}},
                                                    {{0, 3}, {3}},
                                                    {{1, 3}, {0, 3}},
                                                    {{1000}, {1000}},
                                                    {{33, 65}, {33, 65}},
                                                    {{65, 1000}, {1000}},
                                                    {{300, 1}, {1, 300}},
                                                    {{2, 3, 4, 5}, {3, 1, 5}}};

TEST_P(PointwiseTest, BroadcastingBothWays) {
  for (const DType dtype : all_floats(device()))
    for (const auto& [x, y] : kBroadcastShapes) {
      if (left_out(device(), 2)) continue;
      Random random(91);
      const Tensor a = random.tensor(x, dtype, device()), b = random.tensor(y, dtype, device(), 0.5, 2);
      for (const Binary& f : binaries())
        expect_within(f.formula(a, b), binary_reference(f, Array(a), Array(b)), f.name + to_string(x) + to_string(y));
    }
}
TEST_P(PointwiseTest, StridedOperands) {
  Random random(92);
  const Tensor a = strided(random.tensor({17, 33}, f32, device())),
               b = random.tensor({33, 17}, f32, device(), 1, 2).transpose(0, 1),
               c = random.tensor({17, 66}, f32, device(), 1, 2).slice(1, 0, 66, 2);
  for (const Binary& f : binaries()) {
    expect_within(f.formula(a, b), binary_reference(f, Array(a), Array(b)), f.name);
    expect_within(f.formula(c, a), binary_reference(f, Array(c), Array(a)), f.name);
  }
}
TEST_P(PointwiseTest, NumbersOnEitherSide) {
  const Tensor x = tensor({1.0f, -2.0f, 4.0f});
  expect_values(x + 1, {3}, {2, -1, 5});
  expect_values(1 - x, {3}, {0, 3, -3});
  expect_values(2.5 * x, {3}, {2.5, -5, 10});
  expect_values(x / 2, {3}, {0.5, -1, 2});
  expect_values(8 / x, {3}, {8, -4, 2});
  expect_values(-x, {3}, {-1, 2, -4});
  expect_values(maximum(x, 0), {3}, {1, 0, 4});
  expect_values(minimum(0, x), {3}, {0, -2, 0});
  expect_values(where(x > 0, x, 0), {3}, {1, 0, 4});
  expect_values(where(x > 0, 1.0, x), {3}, {1, -2, 1});
  expect_values(clamp(x, -1, 2), {3}, {1, -1, 2});
  expect_values(clamp(x, tensor({0.0f, 0.0f, 5.0f}), 10), {3}, {1, 0, 5});
  expect_values(pow(x, 2), {3}, {1, 4, 16});
  for (const DType d : all_floats(device())) EXPECT_EQ((ones({2}, d) + 0.5).dtype(), d);
}
TEST_P(PointwiseTest, NumbersAreRoundedToTheDtype) {
  EXPECT_EQ((zeros({1}) + 0.1).item<float>(), 0.1f);
  if (supports(device(), f64)) {
    EXPECT_EQ((zeros({1}, f64) + 0.1).item<double>(), 0.1);
  }
}
TEST_P(PointwiseTest, ComparisonsGiveBoolean) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f}), y = tensor({2.0f});
  for (const Tensor& t : {x < y, x <= y, x > y, x >= y, x == y, x != y}) EXPECT_EQ(t.dtype(), boolean);
  expect_values(x < y, {3}, {1, 0, 0}), expect_values(x <= y, {3}, {1, 1, 0}), expect_values(x > y, {3}, {0, 0, 1});
  expect_values(x >= 2, {3}, {0, 1, 1}), expect_values(2 == x, {3}, {0, 1, 0}), expect_values(x != 2, {3}, {1, 0, 1});
  const Tensor nan = tensor({std::nanf("")});
  expect_values(nan == nan, {1}, {0}), expect_values(nan != nan, {1}, {1}), expect_values(nan < 1, {1}, {0});
}
TEST_P(PointwiseTest, ComparisonsOfEveryDtype) {
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    const Tensor x = tensor({0, 1, 1}).to(d), y = tensor({1, 1, 0}).to(d);
    expect_values(x < y, {3}, {1, 0, 0}, std::string(to_string(d)));
    expect_values(x == y, {3}, {0, 1, 0}, std::string(to_string(d)));
    expect_values(where(x == y, x, y), {3}, {1, 1, 0}, std::string(to_string(d)));
    expect_values(maximum(x, y), {3}, {1, 1, 1}, std::string(to_string(d)));
  }
}
TEST_P(PointwiseTest, BooleanCombinesWithAnything) {
  const Tensor b = tensor({true, false});
  for (const DType d : dtypes_of(device(), {u8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    const Tensor x = tensor({3, 4}).to(d);
    EXPECT_EQ((x * b).dtype(), d);
    expect_values(x * b, {2}, {3, 0}, std::string(to_string(d)));
    expect_values(b + x, {2}, {4, 4}, std::string(to_string(d)));
    expect_values(x == b, {2}, {0, 0}, std::string(to_string(d)));
  }
  expect_values(b & tensor({true, true}), {2}, {1, 0});
  expect_values(b | tensor({false, false}), {2}, {1, 0});
  expect_values(b ^ tensor({true, true}), {2}, {0, 1});
}
TEST_P(PointwiseTest, IntegerArithmetic) {
  const Tensor x = tensor({7, -7, 2147483647}), y = tensor({2, 2, 1});
  expect_values(x + y, {3}, {9, -5, -2147483648.0});
  expect_values(x % y, {3}, doubles(x - floor_divide(x, y) * y));
  expect_values(floor_divide(x, 0), {3}, {0, 0, 0});
  expect_values(x % 0, {3}, {0, 0, 0});
  expect_values(floor_divide(tensor({-2147483647 - 1}), -1), {1}, {-2147483648.0});
  expect_values(tensor({-2147483647 - 1}) % -1, {1}, {0});
  expect_values(tensor({1, 1}) << tensor({33, 4}), {2}, {2, 16});
  expect_values(~tensor({0, 5}), {2}, {-1, -6});
  expect_values(full({1}, 200, u8) + full({1}, 100, u8), {1}, {44});
  expect_values(full({1}, 127, i8) + 1, {1}, {-128});
  expect_values(abs(tensor({-3, 4})), {2}, {3, 4});
}

// ---- the library's formulas ----
TEST_P(PointwiseTest, RegisteredFormulas) {
  struct Unary { Tensor (*run)(const Tensor&); double (*value)(double); };
  const std::vector<Unary> list{
      {[](const Tensor& x) { return relu(x); }, [](double x) { return std::max(x, 0.0); }},
      {[](const Tensor& x) { return identity(x); }, [](double x) { return x; }},
      {[](const Tensor& x) { return square(x); }, [](double x) { return x * x; }},
      {[](const Tensor& x) { return leaky_relu(x); }, [](double x) { return x > 0 ? x : 0.01 * x; }},
      {[](const Tensor& x) { return elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); }},
      {[](const Tensor& x) { return gelu_erf(x); }, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {[](const Tensor& x) { return softplus(x); }, [](double x) { return std::log1p(std::exp(x)); }},
      {[](const Tensor& x) { return exp(-x * x); }, [](double x) { return std::exp(-x * x); }}};
  for (const DType d : all_floats(device())) {
    const Tensor x = Random(93).tensor({1000}, d, device(), -4, 4);
    for (std::size_t i = 0; i < list.size(); ++i)
      expect_within(list[i].run(x),
                    map(Array(x), list[i].value,
                        [&](double v) {
                          return 40 * (1 + v * v) * work_epsilon(d) * std::abs(list[i].value(v)) +
                                 0.5 * epsilon(d) * (i == 7 ? 2 * v * v * std::exp(-v * v) : 0) * 2;
                        }),
                    "formula " + std::to_string(i));
  }
}

// ---- users' formulas ----
TEST_P(PointwiseTest, ACapturelessFormulaIsConstant) {
  static constexpr Pointwise cubic{"cubic", [](auto x) { return x * x * x - 2 * x + 0.5; }};
  expect_values(cubic(tensor({0.0f, 1.0f, 2.0f})), {3}, {0.5, -0.5, 4.5});
  EXPECT_STREQ(cubic.name(), "cubic");
}
TEST_P(PointwiseTest, ACapturingFormulaKeepsItsValues) {
  std::vector<Pointwise<>> list;
  for (int i = 0; i < 5; ++i) list.push_back(Pointwise("scaled", [i](auto x) { return i * x + 0.25; }));
  for (int i = 0; i < 5; ++i) expect_values(list[static_cast<std::size_t>(i)](tensor({2.0f})), {1}, {2.0 * i + 0.25});
  Pointwise<> copy = list[3];
  list.clear();
  expect_values(copy(tensor({2.0f})), {1}, {6.25});
  copy = op::neg;
  expect_values(copy(tensor({2.0f})), {1}, {-2});
}
TEST_P(PointwiseTest, ManyCapturedValuesAreOneKernel) {
  const Tensor x = ones({8});
  const auto run = [&](double v) { return Pointwise("offset", [v](auto t) { return t * v + 1; })(x); };
  expect_values(run(0.5), {8}, std::vector<double>(8, 1.5));  // the kernels of reading back, too
  const std::int64_t kernels = cache_stats(device()).kernels;
  for (int i = 0; i < 1000; ++i) expect_values(run(i), {8}, std::vector<double>(8, i + 1.0));
  EXPECT_EQ(cache_stats(device()).kernels, kernels);
}
TEST_P(PointwiseTest, NumbersSizesAndStridesMakeNoNewKernels) {
  const Tensor x = ones({8});
  (x * 0.5 + x).clone();
  const std::int64_t kernels = cache_stats(device()).kernels;
  for (int i = 1; i < 100; ++i) {
    const Tensor y = ones({8 + i});
    EXPECT_EQ((y * static_cast<double>(i) + y).numel(), 8 + i);
  }
  EXPECT_EQ(cache_stats(device()).kernels, kernels);
}
TEST_P(PointwiseTest, SeveralOutputs) {
  constexpr Pointwise polar{"polar", [](auto r, auto phi) { return std::array{r * cos(phi), r * sin(phi)}; }};
  const auto [x, y] = polar(tensor({2.0f, 3.0f}), tensor({0.0f}));
  expect_values(x, {2}, {2, 3}), expect_values(y, {2}, {0, 0});
  const Pointwise mixed{"mixed", [](auto a) { return std::tuple{a + 1, a > 1, cast(a, i32)}; }};
  const auto outputs = mixed(tensor({1.0f, 2.5f}));
  EXPECT_EQ(outputs[1].dtype(), boolean);
  EXPECT_EQ(outputs[2].dtype(), i32);
  expect_values(outputs[0], {2}, {2, 3.5}), expect_values(outputs[1], {2}, {0, 1}),
      expect_values(outputs[2], {2}, {1, 2});
}
TEST_P(PointwiseTest, ChosenAtRunTime) {
  const std::vector<std::pair<std::string, Pointwise<>>> table{
      {"relu", op::relu}, {"neg", op::neg}, {"mine", [](auto x) { return x + 10; }}};
  const std::vector<double> want{0, 1, 9};
  for (std::size_t i = 0; i < 3; ++i) expect_values(table[i].second(tensor({-1.0f})), {1}, {want[i]}, table[i].first);
  const bool condition = device() == device();
  const Pointwise act = condition ? op::tanh : op::silu;
  expect_values(act(zeros({1})), {1}, {0});
}
TEST_P(PointwiseTest, FormulasInFormulas) {
  static constexpr Pointwise inner{"inner", [](auto x) { return x * 2; }};
  static constexpr Pointwise outer{"outer", [](auto x) { return inner(x) + relu(x) - silu_mul(x, 0); }};
  expect_values(outer(tensor({3.0f, -1.0f})), {2}, {9, -2});
  const double k = 5;
  const Pointwise capturing{"capturing", [k](auto x) { return k * x; }};
  const Pointwise around{"around", [&](auto x) { return capturing(x) + k; }};
  expect_values(around(tensor({2.0f})), {1}, {15});
}
TEST_P(PointwiseTest, AFormulaThatIgnoresAnInputOrReturnsIt) {
  constexpr Pointwise second{"second", [](auto, auto y) { return y; }},
      constant{"constant", [](auto x) { return 0 * x + 7; }};
  expect_values(second(zeros({2, 1}), tensor({1.0f, 2.0f})), {2, 2}, {1, 2, 1, 2});
  expect_values(constant(zeros({2})), {2}, {7, 7});
}
TEST_P(PointwiseTest, IndexIsTheCoordinate) {
  constexpr Pointwise positions{"positions",
                                [](auto x) { return cast(index(x, 0), f32) * 10 + cast(index(x, -1), f32) + 0 * x; }};
  expect_values(positions(zeros({2, 3})), {2, 3}, {0, 1, 2, 10, 11, 12});
}
/// What the plain operation refuses for a dtype, the same operation inside a formula refuses, and what it takes, too.
TEST_P(PointwiseTest, AFormulaTakesTheDtypesThatTheOperationTakes) {
  const auto outcome = [](auto f) -> std::string {
    try {
      std::string text;
      for (const double d : doubles(f())) text += std::to_string(d) + " ";
      return text;
    } catch (const Error& e) {
      return "error " + std::to_string(static_cast<int>(e.kind()));
    }
  };
  const auto compare = [&](const char* what, const Tensor& x, auto f) {
    const auto plain = [&] { return f(x); };
    const auto in_formula = [&] { return Pointwise{"inner", f}(x); };
    EXPECT_EQ(outcome(in_formula), outcome(plain)) << what << " of " << to_string(x.dtype());
  };
  int refused = 0;
  for (const DType dtype : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    const Tensor x = tensor({0, 1, 1}, {3}, cpu()).to(dtype).to(device());
    refused += outcome([&] { return x / 1; }).starts_with("error");
    compare("x / 1", x, [](const auto& v) { return v / 1; });
    compare("x / 2", x, [](const auto& v) { return v / 2; });
    compare("x * 1", x, [](const auto& v) { return v * 1; });
    compare("1 * x", x, [](const auto& v) { return 1 * v; });
    compare("x * -1", x, [](const auto& v) { return v * -1; });
    compare("x - 0", x, [](const auto& v) { return v - 0; });
    compare("-(-x)", x, [](const auto& v) { return -(-v); });
    compare("x + -x", x, [](const auto& v) { return v + -v; });
    compare("where(x, x, x)", x, [](const auto& v) { return where(v, v, v); });
    compare("x * 0.5", x, [](const auto& v) { return v * 0.5; });
    compare("exp(x)", x, [](const auto& v) { return exp(v); });
  }
  EXPECT_EQ(refused, static_cast<int>(dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64}).size()));
}
TEST_P(PointwiseTest, TwelveInputs) {
  constexpr Pointwise twelve{
      "twelve", [](auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h, auto i, auto j, auto k, auto l) {
        return a + b + c + d + e + f + g + h + i + j + k + l;
      }};
  const Tensor x = ones({3});
  expect_values(twelve(x, x, x, x, x, x, x, x, x, x, x, 1), {3}, {12, 12, 12});
}
TEST_P(PointwiseTest, EmptyAndScalarTensors) {
  EXPECT_EQ((zeros({0}) + 1).shape(), Shape({0}));
  EXPECT_EQ((zeros({3, 0, 2}) * zeros({1, 2})).shape(), Shape({3, 0, 2}));
  expect_values(full({}, 2) * full({}, 3), {}, {6});
}

}  // namespace
}  // namespace tern::test
