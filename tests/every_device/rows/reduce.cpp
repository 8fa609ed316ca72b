// Reductions over every set of axes, of every layout and length. (Longer than other files: one reference serves all.)
#include <complex>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Reduce : public EveryDevice {};
TERN_EVERY_DEVICE(Reduce);

struct AxisSet {
  Shape shape;
  unsigned mask;
};
/// Every axis set of shapes of 1 to 4 axes.
std::vector<AxisSet> every_axis_set() {
  std::vector<AxisSet> list;
  for (const Shape& shape :
       {Shape{7}, Shape{4, 5}, Shape{3, 1, 4}, Shape{2, 3, 4, 5}, Shape{1}, Shape{33, 70}, Shape{1, 3, 1, 2}})
    for (unsigned mask = 1; mask < 1u << shape.rank(); ++mask) list.push_back({shape, mask});
  return list;
}
Axes axes_of(const AxisSet& s, bool negative) {
  Axes axes;
  for (int i = 0; i < s.shape.rank(); ++i)
    if (s.mask >> i & 1) axes.push_back(negative ? i - s.shape.rank() : i);
  return axes;
}
Shape kept_shape(const AxisSet& s, bool keepdim) {
  Shape shape;
  for (int i = 0; i < s.shape.rank(); ++i) {
    if (!(s.mask >> i & 1)) shape.push_back(s.shape[static_cast<std::size_t>(i)]);
    else if (keepdim) shape.push_back(1);
  }
  return shape;
}
/// The groups of values that are reduced together, in row-major order.
std::vector<std::vector<double>> groups_of(const AxisSet& s, const std::vector<double>& values) {
  const Shape kept = kept_shape(s, true);
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(kept.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) groups[broadcast_position(i, s.shape, kept)].push_back(values[i]);
  return groups;
}

/// A reduction in plain C++: the value, and a bound of the error in units of epsilon.
struct ReductionReference {
  const char* name;
  Tensor (*run)(const Tensor&, const Axes&, KeepDim);
  double (*value)(const std::vector<double>&);
  double (*bound)(const std::vector<double>&);
};
using Numbers = std::vector<double>;
double total(const Numbers& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double magnitude(const Numbers& v) {
  double s = 0;
  for (double x : v) s += std::abs(x);
  return s;
}
double count(const Numbers& v) { return static_cast<double>(v.size()); }
double average(const Numbers& v) { return total(v) / count(v); }
double product_of(const Numbers& v) {
  double p = 1;
  for (double x : v) p *= x;
  return p;
}
double largest_of(const Numbers& v) { return *std::max_element(v.begin(), v.end()); }
double smallest_of(const Numbers& v) { return *std::min_element(v.begin(), v.end()); }
double log_total(const Numbers& v) {
  const double top = largest_of(v);
  double s = 0;
  for (double x : v) s += std::exp(x - top);
  return std::log(s) + top;
}
double variance(const Numbers& v) {
  const double m = average(v);
  double s = 0;
  for (double x : v) s += (x - m) * (x - m);
  return s / (count(v) - 1);
}
double deviation(const Numbers& v) { return std::sqrt(variance(v)); }
double length_of(const Numbers& v) {
  double s = 0;
  for (double x : v) s += x * x;
  return std::sqrt(s);
}
double length_bound(const Numbers& v) { return (count(v) + 6) * length_of(v); }
double sum_bound(const Numbers& v) { return (count(v) + 1) * magnitude(v); }
double mean_bound(const Numbers& v) { return sum_bound(v) / count(v) + 1; }
double product_bound(const Numbers& v) { return (count(v) + 1) * std::abs(product_of(v)); }
double no_bound(const Numbers&) { return 0; }
double log_bound(const Numbers& v) { return count(v) + 8 + 2 * std::abs(log_total(v)) + std::abs(largest_of(v)); }
double variance_bound(const Numbers& v) {
  return 4 * (count(v) + 4) * (variance(v) + magnitude(v) * magnitude(v) / (count(v) * count(v)));
}
double deviation_bound(const Numbers& v) { return variance_bound(v) / deviation(v); }

std::vector<ReductionReference> references() {
  return {{"sum", sum, total, sum_bound},
          {"mean", mean, average, mean_bound},
          {"prod", prod, product_of, product_bound},
          {"max", max, largest_of, no_bound},
          {"min", min, smallest_of, no_bound},
          {"logsumexp", logsumexp, log_total, log_bound},
          {"var", var, variance, variance_bound},
          {"std", std, deviation, deviation_bound},
          {"norm", norm, length_of, length_bound}};
}
Array expected_reduction(const ReductionReference& r, const AxisSet& s, const Tensor& x, bool keepdim) {
  Array want(kept_shape(s, keepdim));
  const auto groups = groups_of(s, doubles(x));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    want.value[i] = r.value(groups[i]);
    want.bound[i] = std::isfinite(want.value[i]) ? work_epsilon(x.dtype()) * r.bound(groups[i]) : 0;
  }
  return want;
}
std::string reduction_label(const ReductionReference& r, const AxisSet& s, DType dtype) {
  return std::string(r.name) + to_string(s.shape) + " mask " + std::to_string(s.mask) + " " +
         std::string(to_string(dtype));
}

void check_all(const Tensor& x, const AxisSet& s, const std::string& layout) {
  for (const ReductionReference& r : references()) {
    if (left_out(x.device(), 4)) continue;
    for (const bool keepdim : {false, true})
      expect_within(r.run(x, axes_of(s, keepdim), keepdim), expected_reduction(r, s, x, keepdim),
                    layout + reduction_label(r, s, x.dtype()));
  }
}

TEST_P(Reduce, EveryAxisSet) {
  for (const DType dtype : in_software(device()) ? std::vector{f32} : all_floats(device()))
    for (const AxisSet& s : every_axis_set()) check_all(Random(61).tensor(s.shape, dtype, device()), s, "");
}
TEST_P(Reduce, StridedInputs) {
  for (const DType dtype : wide_floats(device()))
    for (const AxisSet& s : every_axis_set()) {
      const Tensor x = Random(62).tensor(s.shape, dtype, device());
      check_all(strided(x), s, "strided ");
      if (s.shape.rank() > 1) {
        const Tensor y = x.transpose(0, -1);
        AxisSet t{y.shape(), s.mask};
        check_all(y, t, "transposed ");
      }
    }
}
/// Whole numbers, and ones of both signs for products, of which every reduction is exact: lengths and widths on both
/// sides of a vector, of the rows that are joined at once, and of blocks and segments; also from the second row on.
TEST_P(Reduce, WhereTheyLieAreExact) {
  const std::vector<Shape> shapes{{1, 5, 3},      {2, 9, 17},    {1, 64, 100},   {3, 70, 1000},
                                  {1, 8, 1024},   {1, 17, 1025}, {1, 66, 4096},  {2, 65, 4097},
                                  {1, 130, 1500}, {1, 1, 5000},  {1, 300, 2100}, {5, 3, 9000}};
  for (const DType dtype : in_software(device()) ? std::vector{f16} : std::vector{f32, f16, bf16})
    for (const Shape& shape : shapes) {
      const auto outer = static_cast<std::size_t>(shape[0]), length = static_cast<std::size_t>(shape[1]),
                 width = static_cast<std::size_t>(shape[2]);
      std::vector<float> values((outer + 1) * length * width), signs(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>((7 * (i / width) + 5 * (i % width)) % 11) - 4;
        signs[i] = (i * i + i / 7) % 3 == 0 ? -1.0f : 1.0f;
      }
      const auto rest = [&](const std::vector<float>& from) {
        return tensor(from, {shape[0] + 1, shape[1], shape[2]}, device()).to(dtype).slice(0, 1, shape[0] + 1);
      };
      const Tensor x = rest(values), sign = rest(signs);
      for (const int axis : {1, 2}) {
        const std::string what =
            to_string(shape) + " axis " + std::to_string(axis) + " " + std::string(to_string(dtype));
        const std::size_t reduced = axis == 1 ? length : width, others = outer * length * width / reduced;
        std::vector<double> sums(others), most(others, -1e9), least(others, 1e9), products(others, 1);
        for (std::size_t o = 0; o < outer; ++o)
          for (std::size_t r = 0; r < length; ++r)
            for (std::size_t c = 0; c < width; ++c) {
              const std::size_t at = axis == 1 ? o * width + c : o * length + r, i = ((o + 1) * length + r) * width + c;
              const double v = static_cast<double>(values[i]);
              sums[at] += v, most[at] = std::max(most[at], v), least[at] = std::min(least[at], v),
                             products[at] *= static_cast<double>(signs[i]);
            }
        // The sum is exact in f32 and rounded once.
        const Tensor want =
            tensor(std::vector<float>(sums.begin(), sums.end()), Shape{static_cast<std::int64_t>(others)}, device())
                .to(dtype);
        EXPECT_EQ(doubles(sum(x, axis)), doubles(want)) << what;
        EXPECT_EQ(doubles(max(x, {axis})), most) << what;
        EXPECT_EQ(doubles(min(x, {axis})), least) << what;
        EXPECT_EQ(doubles(prod(sign, axis)), products) << what;
      }
    }
}
/// What is not a number reaches the results of its own column and row, and no others.
TEST_P(Reduce, WhereTheyLieKeepNaN) {
  for (const DType dtype : {f32, f16, bf16})
    for (const Shape& shape : {Shape{70, 1100}, {9, 33}, {3, 9000}, {20, 100}}) {
      std::vector<float> values(static_cast<std::size_t>(shape.numel()), 0.5f);
      const std::int64_t row = shape[0] / 2, column = shape[1] - 2;
      values[static_cast<std::size_t>(row * shape[1] + column)] = std::nanf("");
      const Tensor x = tensor(values, shape, device()).to(dtype);
      for (const auto& [axis, at] : {std::pair{0, column}, std::pair{1, row}})
        for (const ReductionReference& r : references()) {
          if (left_out(device(), 4)) continue;
          const std::vector<double> got = doubles(r.run(x, axis, false));
          for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(std::isnan(got[i]), static_cast<std::int64_t>(i) == at)
                << r.name << to_string(shape) << " axis " << axis << " element " << i << " " << to_string(dtype);
        }
    }
}
TEST_P(Reduce, BroadcastInputs) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f}).broadcast_to({4, 3});
  expect_values(sum(x, 0), {3}, {4, 8, 12});
  expect_values(sum(x), {}, {24});
  expect_values(max(x, {1}), {4}, {3, 3, 3, 3});
}
TEST_P(Reduce, AllAxesByDefault) {
  const Tensor x = ones({2, 3});
  expect_values(sum(x), {}, {6});
  expect_values(sum(x, {}), {}, {6});
  expect_values(sum(x, {}, true), {1, 1}, {6});
  expect_values(sum(full({}, 5)), {}, {5});
  expect_values(max(full({}, 5)), {}, {5});
}

// ---- positions and predicates ----
double first_at(const Numbers& v, double (*best)(const Numbers&)) {
  return static_cast<double>(std::find(v.begin(), v.end(), best(v)) - v.begin());
}
TEST_P(Reduce, ArgmaxAndArgmin) {
  for (const AxisSet& s : every_axis_set()) {
    Tensor x = Random(63).tensor(s.shape, f32, device(), -3, 3);
    x = round(x);  // ties
    const auto groups = groups_of(s, doubles(x));
    Numbers most, least;
    for (const Numbers& g : groups) most.push_back(first_at(g, largest_of)), least.push_back(first_at(g, smallest_of));
    const Tensor a = argmax(x, axes_of(s, false)), b = argmin(x, axes_of(s, true), true);
    EXPECT_EQ(a.dtype(), i32);
    expect_values(a, kept_shape(s, false), most, "argmax " + to_string(s.shape));
    expect_values(b, kept_shape(s, true), least, "argmin " + to_string(s.shape));
  }
}
TEST_P(Reduce, AnyAndAll) {
  const Tensor x = tensor(std::vector<bool>{true, false, true, true, false, false}, {3, 2});
  expect_values(any(x, 1), {3}, {1, 1, 0});
  expect_values(all(x, 1), {3}, {0, 1, 0});
  EXPECT_EQ(any(x).dtype(), boolean);
  EXPECT_TRUE(any(tensor({0.0f, std::nanf("")})).item<bool>());
  EXPECT_FALSE(any(tensor({0.0f, -0.0f})).item<bool>());
}

// ---- dtypes ----
TEST_P(Reduce, ResultDtypes) {
  const DType widened = supports(device(), i64) ? i64 : i32;
  for (const DType d : {u8, i8, i16}) EXPECT_EQ(sum(ones({3}, d)).dtype(), widened) << to_string(d);
  for (const DType d : {boolean, i32}) EXPECT_EQ(sum(ones({3}, d)).dtype(), i32) << to_string(d);
  for (const DType d : dtypes_of(device(), {u32, i64, f16, bf16, f32, f64})) {
    EXPECT_EQ(sum(ones({3}, d)).dtype(), d);
    EXPECT_EQ(prod(ones({3}, d)).dtype(), d);
    EXPECT_EQ(max(ones({3}, d)).dtype(), d);
  }
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64}))
    EXPECT_EQ(mean(ones({3}, d)).dtype(), f32) << to_string(d);
}
TEST_P(Reduce, Integers) {
  expect_values(sum(full({300}, 255, u8)), {}, {76500});
  expect_values(sum(full({300}, -128, i8)), {}, {-38400});
  EXPECT_EQ(prod(tensor(std::vector<std::int8_t>{100, 100})).item<std::int32_t>(), 10000);
  EXPECT_EQ(sum(ones({5}, boolean)).item<std::int32_t>(), 5);
  EXPECT_EQ(sum(full({2}, 2147483647, i32)).item<std::int32_t>(), -2) << "wraps";
  EXPECT_EQ(mean(tensor({1, 2})).item<float>(), 1.5f);
  EXPECT_EQ(max(tensor({-5, -7})).item<std::int32_t>(), -5);
  EXPECT_EQ(max(tensor(std::vector<std::uint8_t>{200, 100})).item<std::uint8_t>(), 200);
  EXPECT_EQ(max(tensor(std::vector<std::uint32_t>{4000000000u, 1})).item<std::uint32_t>(), 4000000000u);
  if (supports(device(), i64)) {
    EXPECT_EQ(sum(tensor(std::vector<std::int64_t>{1ll << 40, 1})).item<std::int64_t>(), (1ll << 40) + 1);
    EXPECT_EQ(max(tensor(std::vector<std::int64_t>{1ll << 60, (1ll << 60) + 1})).item<std::int64_t>(), (1ll << 60) + 1);
    EXPECT_EQ(argmax(tensor(std::vector<std::int64_t>{1ll << 60, (1ll << 60) + 1})).item<std::int32_t>(), 1);
  }
}

// ---- nothing ----
TEST_P(Reduce, OverNothing) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 3}}) {
    int axis = 0;
    while (shape[static_cast<std::size_t>(axis)] != 0) ++axis;
    const Tensor x = zeros(shape);
    for (double v : doubles(sum(x, axis))) EXPECT_EQ(v, 0) << to_string(shape);
    for (double v : doubles(prod(x, axis))) EXPECT_EQ(v, 1) << to_string(shape);
    for (double v : doubles(mean(x, axis))) EXPECT_TRUE(std::isnan(v)) << to_string(shape);
    for (double v : doubles(any(x, axis))) EXPECT_EQ(v, 0) << to_string(shape);
    for (double v : doubles(all(x, axis))) EXPECT_EQ(v, 1) << to_string(shape);
    expect_values(sum(x), {}, {0});
  }
  EXPECT_EQ(sum(zeros({0, 3}), 1).shape(), Shape({0}));
  EXPECT_EQ(max(zeros({0, 3}), {1}).shape(), Shape({0})) << "no row: nothing to find";
}

// ---- NaN, infinities, ties ----
TEST_P(Reduce, NanPropagates) {
  const float nan = std::nanf("");
  for (int at = 0; at < 40; ++at) {
    std::vector<float> v(40, 1.0f);
    v[static_cast<std::size_t>(at)] = nan;
    for (const Tensor& x :
         {tensor(v), tensor(v, {40, 1}).broadcast_to({40, 3}).clone().transpose(0, 1).slice(0, 0, 1).reshape({40})})
      for (const ReductionReference& r : references())
        EXPECT_TRUE(std::isnan(doubles(r.run(x, {}, false))[0])) << r.name << " with NaN at " << at;
    EXPECT_EQ(argmax(tensor(v)).item<std::int32_t>(), at);
    EXPECT_EQ(argmin(tensor(v)).item<std::int32_t>(), at);
  }
}
TEST_P(Reduce, Infinities) {
  const float inf = INFINITY;
  expect_values(max(tensor({-inf, -inf})), {}, {-inf});
  expect_values(logsumexp(tensor({-inf, -inf})), {}, {-inf});
  expect_values(logsumexp(tensor({inf, 1.0f})), {}, {inf});
  expect_values(argmax(tensor({-inf, -inf})), {}, {0});
  expect_values(softmax(tensor({-inf, 0.0f})), {2}, {0, 1});
  expect_within(logsumexp(tensor({1000.0f, 1000.0f})), Array({}, {1000 + std::log(2.0)}), "large values");
}
TEST_P(Reduce, NormsOfAnySize) {
  const float inf = INFINITY;
  expect_values(norm(tensor({-inf, 1.0f})), {}, {inf});
  expect_values(norm(zeros({0})), {}, {0});
  expect_values(norm(zeros({0, 2}), {0}), {2}, {0, 0});
  for (const double scale : {1.0, 0x1p100, 0x1p-100, 0x1p-120}) {
    const Var x(tensor({3 * scale, 0.0, 0.0, -4 * scale}, {4}, cpu()).to(f32).to(device()));
    const Var y = norm(x);
    expect_values(y.value(), {}, {5 * scale});
    expect_within(backward(y)[x], Array({4}, {0.6, 0, 0, -0.8}), "gradient of a norm");
  }
}
/// The subgradient 0, beside rows that have a gradient; and derivatives of it.
TEST_P(Reduce, NormsOfZeros) {
  const Var x(tensor({0.0f, 0.0f, 3.0f, 4.0f}, {2, 2}));
  const Var y = norm(x, {1});
  expect_values(y.value(), {2}, {0, 5});
  const Gradients g = backward(sum(y), {.create_graph = true});
  expect_within(g[x], Array({2, 2}, {0, 0, 0.6, 0.8}), "gradient");
  expect_within(backward(sum(g.var(x) * tensor({1.0f, 1.0f, 1.0f, 0.0f}, {2, 2})))[x],
                Array({2, 2}, {0, 0, 0.128, -0.096}), "second order");
}
TEST_P(Reduce, DeviationsOfEqualElements) {
  const Var x(tensor({2.0f, 2.0f, 1.0f, 3.0f}, {2, 2}));
  const Tensor all = ones({2, 2}, boolean);
  for (const Var& y : {std(x, {1}), std(x, {1}, false, 1.0), std(x, {1}, false, Where{all})}) {
    expect_within(y.value(), Array({2}, {0, std::sqrt(2.0)}), "deviation");
    expect_within(backward(sum(y))[x], Array({2, 2}, {0, 0, -std::sqrt(0.5), std::sqrt(0.5)}), "gradient");
  }
  const Var z(tensor({std::complex<float>(1, 1), std::complex<float>(1, 1)}));
  for (const float part : view_as_real(backward(std(z))[z]).to_vector<float>()) EXPECT_EQ(part, 0);
}
TEST_P(Reduce, GradientsOfTiesGoToTheFirst) {
  const Var x(tensor({1.0f, 3.0f, 3.0f, 0.0f, 0.0f, 3.0f}, {2, 3}));
  expect_values(backward(max(x))[x], {2, 3}, {0, 1, 0, 0, 0, 0});
  expect_values(backward(min(x))[x], {2, 3}, {0, 0, 0, 1, 0, 0});
  expect_values(backward(sum(max(x, {1})))[x], {2, 3}, {0, 1, 0, 0, 0, 1});
  expect_values(backward(sum(max(x, {0})))[x], {2, 3}, {1, 1, 1, 0, 0, 0});
  expect_values(backward(sum(min(x, {0})))[x], {2, 3}, {0, 0, 1, 1, 1, 0});
}
TEST_P(Reduce, GradientsOfProductsWithZeros) {
  const Var x(tensor({2.0f, 0.0f, 3.0f, 0.0f, 0.0f, 5.0f, 1.0f, 2.0f, 4.0f}, {3, 3}));
  expect_values(backward(sum(prod(x, 1)))[x], {3, 3}, {0, 6, 0, 0, 0, 0, 8, 4, 2});
}

// ---- long and wide ----
/// Pairwise (or blocked) order: the error grows like log n, not n.
Array pairwise_bound(const std::vector<double>& v, double eps) {
  Array want({}, {total(v)});
  want.bound[0] = (std::log2(count(v)) + 40) * eps * magnitude(v);
  return want;
}
TEST_P(Reduce, LongRowsAreSummedPairwise) {
  for (const std::int64_t n : {1000, 4097, 100000, 1000000}) {
    const Tensor x = Random(64).tensor({n}, f32, device(), 0, 1);
    const std::vector<double> v = doubles(x);
    expect_within(sum(x), pairwise_bound(v, epsilon(f32)), "sum of " + std::to_string(n));
    expect_within(sum(x.unsqueeze(1), 0).reshape({}), pairwise_bound(v, epsilon(f32)),
                  "column of " + std::to_string(n));
    expect_within(sum(x.reshape({-1, 1}).broadcast_to({n, 5}).clone(), 0).slice(0, 3, 4).reshape({}),
                  pairwise_bound(v, epsilon(f32)), "columns of " + std::to_string(n));
    expect_values(max(x), {}, {largest_of(v)});
    expect_values(argmax(x), {}, {first_at(v, largest_of)});
  }
}
TEST_P(Reduce, OnesAreCountedExactly) {
  for (const DType d : wide_floats(device())) EXPECT_EQ(doubles(sum(ones({1 << 24}, d)))[0], 1 << 24);
  for (const DType d : dtypes_of(device(), {f16, bf16}))
    EXPECT_EQ(doubles(mean(ones({100000}, d)))[0], 1) << to_string(d);
}
TEST_P(Reduce, ManyShortRowsAndWideColumns) {
  for (const Shape& shape :
       {Shape{100000, 3}, Shape{3, 100000}, Shape{1000, 130}, Shape{5, 7, 3000}, Shape{3000, 7, 5}})
    for (unsigned mask = 1; mask < 1u << shape.rank(); ++mask) {
      const AxisSet s{shape, mask};
      const Tensor x = Random(65).tensor(shape, f32, device());
      for (const ReductionReference& r : references()) {
        if (std::string(r.name) == "prod" || left_out(device(), 4)) continue;  // its products underflow
        expect_within(r.run(x, axes_of(s, false), false), expected_reduction(r, s, x, false),
                      reduction_label(r, s, f32));
      }
    }
}
/// So many columns that an invocation has one by itself: its sums must still be those about the last mean.
TEST_P(Reduce, VarianceOfFewRowsAndVeryManyColumns) {
  constexpr std::int64_t kColumns = 1'200'000;
  for (const std::int64_t rows : {2, 3, 7}) {
    const Tensor x = (arange(0, rows * kColumns, 1, {.device = cpu()}) % 1013).to(f32).reshape({rows, kColumns});
    const Tensor ours = var(x.to(device()), {0}).to(cpu());
    const std::vector<float> values = x.to_vector<float>(), got = ours.to_vector<float>();
    double worst = 0;
    for (std::int64_t c = 0; c < kColumns; c += 7) {
      double mean = 0, sum = 0;
      const auto at = [&](std::int64_t r) {
        return static_cast<double>(values[static_cast<std::size_t>(r * kColumns + c)]);
      };
      for (std::int64_t r = 0; r < rows; ++r) mean += at(r) / static_cast<double>(rows);
      for (std::int64_t r = 0; r < rows; ++r) sum += (at(r) - mean) * (at(r) - mean);
      const double wanted = sum / static_cast<double>(rows - 1);
      worst = std::max(worst, std::abs(got[static_cast<std::size_t>(c)] - wanted));
    }
    EXPECT_LE(worst, 1013.0 * 1013.0 * 16 * epsilon(f32)) << rows;
  }
}
TEST_P(Reduce, ThreadsDoNotChangeBits) {
  const int before = num_threads();
  for (const Shape& shape : {Shape{1000003}, Shape{1000, 1001}, Shape{3, 400000}, Shape{400000, 3}, Shape{64, 64, 64}})
    for (unsigned mask = 1; mask < 1u << shape.rank(); ++mask) {
      const Tensor x = Random(66).tensor(shape, f32, device());
      const Axes axes = axes_of({shape, mask}, false);
      for (const ReductionReference& r : references()) {
        if (left_out(device(), 9)) continue;  // the threads are the CPU's
        set_num_threads(1);
        const std::vector<double> one = doubles(r.run(x, axes, false));
        set_num_threads(2);
        const std::vector<double> two = doubles(r.run(x, axes, false));
        for (std::size_t i = 0; i < one.size(); ++i)
          ASSERT_TRUE(one[i] == two[i] || std::isnan(one[i])) << r.name << to_string(shape) << " mask " << mask;
      }
    }
  set_num_threads(before);
}

}  // namespace
}  // namespace tern::test
