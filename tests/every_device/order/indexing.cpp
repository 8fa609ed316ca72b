// Entries, and slices with open ends and negative steps.
#include <numeric>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

/// Views with axes in reverse, each with the same elements in memory of their own.
struct Reversed {
  std::string name;
  Tensor view, plain;
};
std::vector<Reversed> reversals(const Tensor& x);

class Indexing : public EveryDevice {
 protected:
  // Where each layout's kernel is compiled anew, a few of the combinations: TERN_TEST_FULL=1 takes all.
  bool all() const { return device() == cpu() || full_test(); }
  std::vector<DType> some_dtypes(std::vector<DType> few = {f32, u8},
                                 std::vector<DType> every = {u8, i16, i32, i64, f16, bf16, f32, f64}) const {
    return dtypes_of(device(), all() ? every : few);
  }
  std::vector<Shape> some_shapes(std::vector<Shape> shapes) const {
    if (!all()) shapes.resize(1);
    return shapes;
  }
  std::vector<Reversed> some_reversals(const Tensor& x) const {
    std::vector<Reversed> list = reversals(x);
    if (!all()) list = {list[2], list[4]};  // both axes, and every third column
    return list;
  }
};
TERN_EVERY_DEVICE(Indexing);

// ---- entries ----
TEST_P(Indexing, EntriesAreViewsWithoutTheFirstAxis) {
  Tensor x = counted({3, 4});
  expect_values(x[1], {4}, {4, 5, 6, 7});
  expect_values(x[-1], {4}, {8, 9, 10, 11});
  expect_values(x[2][-4], {}, {8});
  EXPECT_EQ(x[0][3].item<float>(), 3);
  x[1] += 10;
  x[0].copy_from(x[2]);
  expect_values(x, {3, 4}, {8, 9, 10, 11, 14, 15, 16, 17, 8, 9, 10, 11});
}
TEST_P(Indexing, EntriesOutOfRange) {
  const Tensor x = counted({3, 4});
  for (const std::int64_t i : {std::int64_t{3}, std::int64_t{-4}, std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max()})
    expect_error(ErrorKind::index, {"[]", std::to_string(i), "f32[3, 4]"}, [&] { x[i]; });
  expect_error(ErrorKind::index, {"[]", "f32[]"}, [&] { full({}, 1)[0]; });
  expect_error(ErrorKind::index, {"f32[0, 2]"}, [&] { zeros({0, 2})[0]; });
  expect_error(ErrorKind::shape, {"[]"}, [] { Tensor()[0]; });
  const Var v(x);
  expect_error(ErrorKind::index, {"[]"}, [&] { v[5]; });
}
TEST_P(Indexing, EntriesAreDifferentiable) {
  const Var x(counted({3, 2}));
  expect_values(backward(sum(square(x[1]) + x[-1]))[x], {3, 2}, {0, 0, 4, 6, 1, 1});
  const auto cubes = [](const Var& v) { return sum(v[-1] * v[-1] * v[-1] + v[0]); };
  expect_values(hvp(cubes, x.value(), ones({3, 2})), {3, 2}, {0, 0, 0, 0, 24, 30});
}

// ---- slices ----
TEST_P(Indexing, OpenEnds) {
  const Tensor x = counted({10});
  expect_values(x.slice(0, 7), {3}, {7, 8, 9});
  expect_values(x.slice(0, {}, 3), {3}, {0, 1, 2});
  expect_values(x.slice(0, -2), {2}, {8, 9});
  expect_values(x.slice(0, {}, {}, 4), {3}, {0, 4, 8});
  expect_values(x.slice(0, Slice()), {10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_values(x.slice(0, Slice(2, 8, 2)), {3}, {2, 4, 6});
  expect_values(x.slice(0, Slice{.begin = 8}), {2}, {8, 9});
  expect_values(x.slice(0, Slice{.step = -3}), {4}, {9, 6, 3, 0});
  const std::size_t from = 1;
  expect_values(x.slice(0, from, from + 2), {2}, {1, 2});
}
TEST_P(Indexing, NegativeSteps) {
  const Tensor x = counted({6});
  expect_values(x.slice(0, {}, {}, -1), {6}, {5, 4, 3, 2, 1, 0});
  expect_values(x.slice(0, 4, 1, -1), {3}, {4, 3, 2});
  expect_values(x.slice(0, -1, -4, -1), {3}, {5, 4, 3});
  expect_values(x.slice(0, 5, 0, -2), {3}, {5, 3, 1});
  expect_values(x.slice(0, 3, {}, -1), {4}, {3, 2, 1, 0});
  expect_values(x.slice(0, {}, 3, -1), {2}, {5, 4});
  expect_values(x.slice(0, 2, 2, -1), {0}, {});
  expect_values(x.slice(0, 6, 6, -1), {0}, {});
  expect_values(x.slice(0, {}, {}, std::numeric_limits<std::int64_t>::min()), {1}, {5});
  expect_values(zeros({0}).slice(0, {}, {}, -1), {0}, {});
  expect_values(x.slice(0, {}, {}, -2).slice(0, {}, {}, -1), {3}, {1, 3, 5});
  for (const Slice bad :
       {Slice(6, 2, -1), Slice(1, 4, -1), Slice(-7, {}, -1), Slice(4, -7, -1), Slice(4, 1, 0), Slice(7, 7, -1)})
    expect_error(ErrorKind::index, {"slice"}, [&] { x.slice(0, bad); });
  expect_error(ErrorKind::index, {"slice: [6, 2) with step -1", "f32[6]"}, [&] { x.slice(0, 6, 2, -1); });
}
TEST_P(Indexing, SlicesOfVars) {
  const Var x(counted({5}));
  expect_values(backward(x.slice(0, {}, {}, -2), tensor({1.0f, 2.0f, 3.0f}))[x], {5}, {3, 0, 2, 0, 1});
  expect_values(backward(x.slice(0, 3), tensor({1.0f, 2.0f}))[x], {5}, {0, 0, 0, 1, 2});
  const auto f = [](const Var& v) { return sum(v * v.slice(0, {}, {}, -1)); };
  expect_values(hvp(f, x.value(), tensor({1.0f, 0.0f, 0.0f, 0.0f, 0.0f})), {5}, {0, 0, 0, 0, 2});
}

std::vector<Reversed> reversals(const Tensor& x) {
  std::vector<Reversed> list;
  // The plain elements come from x's values by arithmetic, not by strides. A step below 0 begins at the end.
  const std::vector<double> all = doubles(x);
  const auto add = [&](const char* name, std::int64_t row_step, std::int64_t col_step) {
    const Tensor view = x.slice(0, {}, {}, row_step).slice(1, {}, {}, col_step);
    const auto place = [](std::int64_t size, std::int64_t i, std::int64_t step) {
      return (step < 0 ? size - 1 : 0) + i * step;
    };
    std::vector<double> values;
    for (std::int64_t r = 0; r < view.size(0); ++r)
      for (std::int64_t c = 0; c < view.size(1); ++c)
        values.push_back(
            all[static_cast<std::size_t>(place(x.size(0), r, row_step) * x.size(1) + place(x.size(1), c, col_step))]);
    list.push_back({name, view, make(values, view.shape(), x.dtype(), x.device())});
  };
  add("rows", -1, 1);
  add("columns", 1, -1);
  add("both", -1, -1);
  add("every other row", -2, 1);
  add("every third column", 1, -3);
  return list;
}
Tensor whole_numbers(const Shape& s, DType d, double high = 100) {
  Random random(5);
  return round(random.tensor(s, f32, default_device(), is_floating(d) || d == i32 || d == i64 ? -high : 0, high)).to(d);
}

TEST_P(Indexing, OperationsOnReversedViews) {
  for (const DType d : some_dtypes())
    for (const Shape& s : some_shapes({{5, 7}, {64, 48}, {3, 2100}})) {
      const Tensor x = whole_numbers(s, d);
      for (const Reversed& r : some_reversals(x)) {
        SCOPED_TRACE(std::string(to_string(d)) + to_string(s) + " reversed " + r.name);
        const Tensor &v = r.view, &p = r.plain;
        const auto same = [&](const char* what, const Tensor& got, const Tensor& want) {
          ASSERT_EQ(got.shape(), want.shape()) << what;
          EXPECT_TRUE(doubles(got) == doubles(want)) << what;
        };
        same("read", v, p), same("clone", v.clone(), p), same("reshape", v.reshape({-1}), p.reshape({-1}));
        same("x + x", v + v, p + p), same("x * number", v * 2, p * 2), same("x + plain", v + p, p + p);
        same("transpose", v.transpose(0, 1).clone(), p.transpose(0, 1).clone());
        same("cast", v.to(f32), p.to(f32)), same("compare", v > p, p > p);
        same("with a row", v + v[0], p + p[0]), same("with a column", v * v.slice(1, 0, 1), p * p.slice(1, 0, 1));
        for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}}) {
          same("sum", sum(v, axes), sum(p, axes)), same("max", max(v, axes), max(p, axes)),
              same("argmax", argmax(v, axes), argmax(p, axes));
        }
        for (const int axis : {0, 1}) {
          const Sorted<Tensor> a = sort(v, axis), b = sort(p, axis), top = topk(v, 2, axis), want = topk(p, 2, axis);
          same("sort", a.values, b.values), same("sort's indices", a.indices, b.indices);
          same("topk", top.values, want.values), same("topk's indices", top.indices, want.indices);
          same("cumsum", cumsum(v, axis), cumsum(p, axis));
          const Tensor at = tensor({1, 0, -1, 1});
          same("take", take(v, at, axis), take(p, at, axis));
          same("scatter_add", scatter_add(v, at, take(v, at, axis), axis), scatter_add(p, at, take(p, at, axis), axis));
          same("reversed indices", take(p, at.slice(0, {}, {}, -1), axis), take(p, tensor({1, -1, 0, 1}), axis));
          same("concatenate", concatenate(std::vector<Tensor>{v, p, v}, axis),
               concatenate(std::vector<Tensor>{p, p, p}, axis));
          if (is_floating(d))
            same("softmax", softmax(v, axis), softmax(p, axis)), same("var", var(v, axis), var(p, axis));
        }
        if (is_floating(d)) same("rms_norm", rms_norm(v, v[0]), rms_norm(p, p[0]));
      }
    }
}
TEST_P(Indexing, ProductsOfReversedViews) {
  for (const DType d : some_dtypes({f32, bf16}, {i32, f16, bf16, f32, f64}))
    for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{5, 7, 3}, {64, 96, 80}, {1, 40, 33}, {130, 4, 1}}) {
      if (!all() && m != 64) continue;
      const Tensor a = whole_numbers({m, k}, d, 3), b = whole_numbers({k, n}, d, 3);
      for (const Reversed& x : some_reversals(a))
        for (const Reversed& y : some_reversals(b)) {
          if (x.view.size(1) != y.view.size(0)) continue;
          SCOPED_TRACE(std::string(to_string(d)) + to_string(a.shape()) + " " + x.name + ", " + to_string(b.shape()) +
                       " " + y.name);
          EXPECT_TRUE(doubles(matmul(x.view, y.view)) == doubles(matmul(x.plain, y.plain)));
          EXPECT_TRUE(doubles(matmul(y.view.transpose(0, 1), x.view.transpose(0, 1))) ==
                      doubles(matmul(y.plain.transpose(0, 1), x.plain.transpose(0, 1))));
        }
      const Tensor batch = whole_numbers({4, 6, k}, d, 3), back = batch.slice(0, {}, {}, -1);
      EXPECT_TRUE(doubles(matmul(back, b)) == doubles(matmul(back.clone(), b))) << to_string(d);
      EXPECT_TRUE(doubles(matmul(back, batch.transpose(1, 2))) == doubles(matmul(back.clone(), batch.transpose(1, 2))))
          << to_string(d);
    }
}
TEST_P(Indexing, WritesIntoReversedViews) {
  for (const DType d : some_dtypes())
    for (const Shape& s : some_shapes({{5, 7}, {33, 64}})) {
      const Tensor values = whole_numbers(s, d, 50);
      for (const int axis : {0, 1}) {
        SCOPED_TRACE(std::string(to_string(d)) + to_string(s) + " axis " + std::to_string(axis));
        Tensor x = zeros(s, d);
        x.slice(axis, {}, {}, -1).copy_from(values);
        EXPECT_TRUE(doubles(x) == doubles(values.slice(axis, {}, {}, -1)));
        x.slice(axis, {}, {}, -1) += values;
        EXPECT_TRUE(doubles(x) == doubles(values.slice(axis, {}, {}, -1) * 2));
        x.copy_from(values);
        x.copy_from(x.slice(axis, {}, {}, -1));  // reads what it writes
        EXPECT_TRUE(doubles(x) == doubles(values.slice(axis, {}, {}, -1)));
        x.copy_from(zeros(s, d));
        x.slice(axis, {}, {}, -2).copy_from(values.slice(axis, {}, (s[static_cast<std::size_t>(axis)] + 1) / 2));
        EXPECT_TRUE(doubles(x.slice(axis, {}, {}, -2)) ==
                    doubles(values.slice(axis, {}, (s[static_cast<std::size_t>(axis)] + 1) / 2)));
        EXPECT_EQ(sum(x.to(f32)).item<float>(),
                  sum(values.slice(axis, {}, (s[static_cast<std::size_t>(axis)] + 1) / 2).to(f32)).item<float>());
      }
    }
}
TEST_P(Indexing, ReversedViewsInCaptures) {
  const Tensor x = counted({4, 3});
  Tensor y = zeros({4, 3}), total = zeros({3});
  const Graph g = capture(device(), [&] {
    y.slice(0, {}, {}, -1).copy_from(x * 2);
    total.copy_from(sum(y.slice(1, {}, {}, -1), 0));
  });
  x.slice(0, 0, 1).copy_from(full({1, 3}, 100));
  g.replay();
  expect_values(y, {4, 3}, {18, 20, 22, 12, 14, 16, 6, 8, 10, 200, 200, 200});
  expect_values(total, {3}, {248, 242, 236});
}
TEST_P(Indexing, ReversedViewsAcrossDevices) {
  const Tensor x = counted({4, 3}).slice(0, {}, {}, -1);
  expect_values(x.to(cpu()), {4, 3}, {9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2});
  EXPECT_EQ(x.to_vector<float>().front(), 9);
  const Tensor here = arange(0, 6, 1, {.dtype = f32, .device = cpu()}).slice(0, {}, {}, -2);
  expect_values(here.to(device()), {3}, {5, 3, 1});
}

}  // namespace
}  // namespace tern::test
