// Entries of the reductions (reduce.cpp, sum.cpp, allclose.cpp).
#include <algorithm>
#include <cmath>

#include "ops/lines.trial.hpp"
#include "tern/statistics.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

using OfLine = double (*)(const Line&);  // an independent reference for one reduced list

/// f of each row (axis 1), of each column (axis 0), or of everything (axis 2).
std::vector<Values> reduced(const Values& x, int axis, OfLine f) {
  const auto rows = static_cast<std::size_t>(x.shape[0]), columns = static_cast<std::size_t>(x.shape[1]);
  if (axis == 2) return {{{}, {f(x.of)}}};
  Values y{{x.shape[axis == 0 ? 1 : 0]}, {}};
  for (std::size_t i = 0; i < (axis == 0 ? columns : rows); ++i) {
    Line list;
    for (std::size_t j = 0; j < (axis == 0 ? rows : columns); ++j)
      list.push_back(x.of[axis == 0 ? j * columns + i : i * columns + j]);
    y.of.push_back(f(list));
  }
  return {y};
}
Axes axes_of(int axis) { return axis == 2 ? Axes{} : Axes{axis}; }

/// Along each axis and over everything, of the elements as they are; `and_gradients`: theirs too.
template <class F> std::vector<ArchivedCall> archived(F reduce, bool and_gradients = true) {
  std::vector<ArchivedCall> list;
  for (const Shape& shape : {archived_square(), archived_long_rows()})
    for (const int axis : {1, 0, 2}) {
      list.push_back([=](DType dtype) { reduce(zeros(shape, dtype), axes_of(axis), false); });
      if (!and_gradients) continue;
      if constexpr (std::same_as<decltype(reduce(Var(), Axes{}, false)), Var>)
        list.push_back(
            [=](DType dtype) { return reduce(Var(zeros(shape, dtype), is_floating(dtype)), axes_of(axis), false); });
    }
  return list;
}
std::vector<ArchivedCall> archived_sums() {
  const auto plain = [](const auto& x, const Axes& axes, bool keepdim) { return sum(x, axes, keepdim); };
  const auto in_i64 = [](const Tensor& x, const Axes& axes, bool keepdim) { return sum(x, axes, keepdim, i64); };
  std::vector<ArchivedCall> list = archived(plain);
  for (const Shape& shape : {archived_square(), archived_long_rows()})
    for (const int axis : {1, 0, 2})
      list.push_back([=](DType dtype) { in_i64(zeros(shape, dtype), axes_of(axis), false); });
  return list;
}

/// Along each axis and over everything. `of_nothing`: whether there is a value for an empty list; `least`: how many
/// elements it takes for a finite one.
template <class F>
std::vector<Sample> along_each_axis(F reduce, OfLine reference, bool of_nothing, std::int64_t least = 1,
                                    std::initializer_list<int> ahead = {}) {
  static constexpr const char* names[] = {"of columns", "of rows", "of everything"};
  std::vector<Sample> list;
  for (const int axis : {0, 1, 2}) {
    Sample s{.with = names[axis],
             .shapes = matrix,
             .call = [=](const auto& x) { return reduce(x, axes_of(axis), false); },
             .reference = [=](const auto& x) { return reduced(x[0], axis, reference); },
             .sizes = {{2, 3}, {5, 37}, {least, least}},
             .broadcast_axis = axis == 0 ? 1 : 0,
             .ahead = std::ranges::find(ahead, axis) == ahead.end() ? Ahead::no : Ahead::yes};
    if (!of_nothing && axis != 1) s.empty.clear();
    list.push_back(s);
  }
  list.push_back({.with = "of rows, which are kept",
                  .shapes = matrix,
                  .call = [=](const auto& x) { return reduce(x, {1}, true); },
                  .reference =
                      [=](const auto& x) {
                        std::vector<Values> y = reduced(x[0], 1, reference);
                        return y[0].shape.push_back(1), y;
                      },
                  .sizes = {{2, 3}, {5, 37}}});
  return list;
}
/// And of every other element of rows.
template <class F> std::vector<Sample> and_masked(std::vector<Sample> list, F reduce, OfLine reference) {
  list.push_back({.with = "of rows, where a mask is true",
                  .shapes = matrix,
                  .call =
                      [=](const auto& x) {
                        const Tensor mask = arange(0, x.size(1)) % 2 == 0;
                        return reduce(x, Where{mask});
                      },
                  .reference =
                      [=](const auto& x) {
                        Values y{{x[0].shape[0]}, {}};
                        const auto columns = static_cast<std::size_t>(x[0].shape[1]);
                        for (std::size_t row = 0; row < x[0].of.size(); row += columns) {
                          Line line;
                          for (std::size_t i = 0; i < columns; i += 2) line.push_back(x[0].of[row + i]);
                          y.of.push_back(reference(line));
                        }
                        return std::vector{y};
                      },
                  .sizes = {{2, 3}, {5, 37}}});
  return list;
}
std::vector<BadInput> and_bad_masks(std::vector<BadInput> list, const std::string& name,
                                    const std::function<void(const Tensor& mask)>& reduce) {
  list.push_back({dtype, {name, "where", "boolean", "f32"}, [=](auto) { reduce(ones({3})); }});
  list.push_back({shape, {name, "where", "boolean[2]"}, [=](auto) { reduce(ones({2}, boolean)); }});
  return list;
}
template <class F> std::vector<BadInput> bad_axes(const std::string& name, F reduce) {
  return {{index,
           {name, "axis 2", "out of range"},
           [=](auto make) {
             reduce(make({2, 3}), {2}, false);
           }},
          {index, {name, "axis", "twice"}, [=](auto make) {
             reduce(make({2, 3}), {0, -2}, true);
           }}};
}
template <class F> std::vector<BadInput> bad_axes_or_empty(const std::string& name, F reduce) {
  std::vector<BadInput> list = bad_axes(name, reduce);
  list.push_back({shape, {name, "f32[0, 3]", "empty"}, [=](auto make) { reduce(make({0, 3}), {0}, false); }});
  return list;
}
#define TERN_CALL(name) [](const auto& x, const Axes& axes, bool keepdim) { return tern::name(x, axes, keepdim); }
#define TERN_WHERE(name) [](const auto& x, const Where& which) { return tern::name(x, {1}, false, which); }
#define TERN_BAD_MASKS(name) [](const Tensor& mask) { tern::name(ones({2, 3}), {}, false, Where{mask}); }

double product_of(const Line& list) {
  double all = 1;
  for (const double v : list) all *= v;
  return all;
}
double variance(const Line& list) {
  const double mean = total(list) / static_cast<double>(list.size());
  double squares = 0;
  for (const double v : list) squares += (v - mean) * (v - mean);
  return squares / static_cast<double>(list.size() - 1);
}
double deviation(const Line& list) { return std::sqrt(variance(list)); }
double max_of(const Line& list) { return *std::ranges::max_element(list); }
double min_of(const Line& list) { return *std::ranges::min_element(list); }
double two_norm(const Line& list) {
  double squares = 0;
  for (const double v : list) squares += v * v;
  return std::sqrt(squares);
}
double any_above(const Line& list) {
  return std::ranges::any_of(list, [](double v) { return v > 0.5; }) ? 1.0 : 0.0;
}
double all_above(const Line& list) {
  return std::ranges::all_of(list, [](double v) { return v > -0.5; }) ? 1.0 : 0.0;
}
double place_of_extreme(const Line& list, bool largest) {
  const auto at = largest ? std::ranges::max_element(list) : std::ranges::min_element(list);
  return static_cast<double>(at - list.begin());
}

/// And, fused with them, those of least squares.
std::vector<Sample> sums() {
  std::vector<Sample> list =
      along_each_axis([](const auto& x, const Axes& axes, bool keepdim) { return sum(x, axes, keepdim); }, total, true);
  list.push_back({.with = "of squares",
                  .shapes = matrix,
                  .call = [](const auto& x) { return sum(x * x); },
                  .reference =
                      [](const auto& x) {
                        double all = 0;
                        for (const double v : x[0].of) all += v * v;
                        return std::vector<Values>{{{}, {all}}};
                      },
                  .ahead = Ahead::yes});
  return and_masked(list, TERN_WHERE(sum), total);
}
std::vector<Sample> means(OfLine reference) {
  const auto plain = [](const auto& x, const Axes& axes, bool keepdim) { return mean(x, axes, keepdim); };
  std::vector<Sample> list = along_each_axis(plain, reference, false, 1, {1, 2});
  list.push_back({.with = "of squared differences",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.rows, s.columns}};
                      },
                  .call = [](const auto& x, const auto& y) { return mean(square(x - y)); },
                  .reference =
                      [](const auto& x) {
                        double all = 0;
                        for (std::size_t i = 0; i < x[0].of.size(); ++i)
                          all += (x[0].of[i] - x[1].of[i]) * (x[0].of[i] - x[1].of[i]);
                        return std::vector<Values>{{{}, {all / static_cast<double>(x[0].of.size())}}};
                      },
                  .empty = {},
                  .ahead = Ahead::yes,
                  .stores = 3});  // a difference's counts twice in its square, which is stored too
  return and_masked(list, TERN_WHERE(mean), reference);
}

constexpr Tolerance kPartialSums{
    185, "a rounding for each of at most 185 elements, of partial sums that the total or 1 exceeds on average"};
constexpr Tolerance kRoots{370, "sums of 185 squares of differences, each with two roundings"};
constexpr Tolerance kOneElement{0, "it is one of the elements"};
constexpr Tolerance kPlaceOrPredicate{0, "it is a place or a predicate"};

const Entries reductions{
    {.name = "sum",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "The sum",
     .tolerance = kPartialSums,
     .archived = archived_sums(),
     .samples = sums(),
     .bad = and_bad_masks(bad_axes("sum", TERN_CALL(sum)), "sum", TERN_BAD_MASKS(sum))},
    {.name = "mean",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "The mean",
     .tolerance = kPartialSums,
     .archived = archived(TERN_CALL(mean)),
     .samples = means([](const Line& x) { return total(x) / static_cast<double>(x.size()); }),
     .bad = and_bad_masks(bad_axes("mean", TERN_CALL(mean)), "mean", TERN_BAD_MASKS(mean))},
    {.name = "prod",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "The product",
     .tolerance = kPartialSums,
     .recorded_roundings = 185,  // under autograd halves are multiplied, whose gradient is right at zeros
     .archived = archived(TERN_CALL(prod), false),
     .samples = and_masked(along_each_axis(TERN_CALL(prod), product_of, true), TERN_WHERE(prod), product_of),
     .bad = and_bad_masks(bad_axes("prod", TERN_CALL(prod)), "prod", TERN_BAD_MASKS(prod))},
    {.name = "max",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "The largest element; NaN where one is NaN, over nothing an error",
     .tolerance = kOneElement,
     .archived = archived(TERN_CALL(max)),
     .samples = and_masked(along_each_axis(TERN_CALL(max), max_of, false), TERN_WHERE(max), max_of),
     .bad = and_bad_masks(bad_axes_or_empty("max", TERN_CALL(max)), "max", TERN_BAD_MASKS(max))},
    {.name = "min",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "The smallest element; otherwise like max",
     .tolerance = kOneElement,
     .archived = archived(TERN_CALL(min)),
     .samples = and_masked(along_each_axis(TERN_CALL(min), min_of, false), TERN_WHERE(min), min_of),
     .bad = and_bad_masks(bad_axes_or_empty("min", TERN_CALL(min)), "min", TERN_BAD_MASKS(min))},
    {.name = "logsumexp",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "log Σ exp(x), whatever the size of x",
     .tolerance = kPartialSums,
     .archived = archived(TERN_CALL(logsumexp)),
     .samples = along_each_axis(TERN_CALL(logsumexp), [](const Line& x) { return log_sum_exp(x); }, false, 1, {0, 1}),
     .bad = bad_axes_or_empty("logsumexp", TERN_CALL(logsumexp))},
    {.name = "var",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "Σ (x - mean)² / (n - 1): Bessel's correction, as NumPy's ddof = 1 and PyTorch",
     .tolerance = kRoots,
     .archived = archived(TERN_CALL(var)),
     .samples = and_masked(along_each_axis(TERN_CALL(var), variance, false, 2, {1}), TERN_WHERE(var), variance),
     .bad = and_bad_masks(bad_axes("var", TERN_CALL(var)), "var", TERN_BAD_MASKS(var))},
    {.name = "std",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "The square root of var",
     .tolerance = kRoots,
     .archived = archived(TERN_CALL(std)),
     .samples = and_masked(along_each_axis(TERN_CALL(std), deviation, false, 2, {1}), TERN_WHERE(std), deviation),
     .bad = and_bad_masks(bad_axes("std", TERN_CALL(std)), "std", TERN_BAD_MASKS(std))},
    {.name = "norm",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "√Σ x², the 2-norm, scaled by the largest |x| so that no square overflows or vanishes",
     .tolerance = kRoots,
     .archived = archived(TERN_CALL(norm)),
     .samples = along_each_axis(TERN_CALL(norm), two_norm, false, 1, {1}),
     .bad = bad_axes("norm", TERN_CALL(norm))},
    {.name = "argmax",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says =
         "Position (i32) of the first largest element, row-major within the axes; of the first NaN where there is one",
     .differentiable = false,
     .tolerance = kPlaceOrPredicate,
     .archived = archived(TERN_CALL(argmax), false),
     .samples = along_each_axis(
         TERN_CALL(argmax), [](const Line& x) { return place_of_extreme(x, true); }, false),
     .bad = bad_axes_or_empty("argmax", TERN_CALL(argmax))},
    {.name = "argmin",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "Position (i32) of the first smallest element; otherwise like argmax",
     .differentiable = false,
     .tolerance = kPlaceOrPredicate,
     .archived = archived(TERN_CALL(argmin), false),
     .samples = along_each_axis(
         TERN_CALL(argmin), [](const Line& x) { return place_of_extreme(x, false); }, false),
     .bad = bad_axes_or_empty("argmin", TERN_CALL(argmin))},
    {.name = "any",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "Whether any element is true (not zero)",
     .differentiable = false,
     .tolerance = kPlaceOrPredicate,
     .archived = archived(TERN_CALL(any), false),
     .samples = and_masked(
         along_each_axis([](const auto& x, const Axes& axes, bool keepdim) { return any(x > 0.5, axes, keepdim); },
                         any_above, true),
         [](const auto& x, const Where& which) { return any(x > 0.5, {1}, false, which); }, any_above),
     .bad = and_bad_masks(bad_axes("any", TERN_CALL(any)), "any", TERN_BAD_MASKS(any))},
    {.name = "all",
     .family = Family::reductions,
     .arguments = kReductionArguments,
     .says = "Whether all elements are true (not zero)",
     .differentiable = false,
     .tolerance = kPlaceOrPredicate,
     .archived = archived(TERN_CALL(all), false),
     .samples = and_masked(
         along_each_axis([](const auto& x, const Axes& axes, bool keepdim) { return all(x > -0.5, axes, keepdim); },
                         all_above, true),
         [](const auto& x, const Where& which) { return all(x > -0.5, {1}, false, which); }, all_above),
     .bad = and_bad_masks(bad_axes("all", TERN_CALL(all)), "all", TERN_BAD_MASKS(all))},
    {.name = "allclose",
     .family = Family::reductions,
     .arguments = "a, b, rtol = 1e-5, atol = 1e-8, equal_nan = false",
     .says = "Whether |a - b| ≤ atol + rtol·|b| everywhere; of integers exactly, and an infinity is close to nothing "
             "but itself",
     .differentiable = false,
     .tolerance = kPlaceOrPredicate,
     .archived = {[](DType dtype) { allclose(zeros(archived_square(), dtype), zeros(archived_square(), dtype)); }},
     .samples = {{.with = "equal elements",
                  .shapes = matrix,
                  .call = [](const auto& x) { return allclose(elements(x), elements(x)); },
                  .reference =
                      [](const auto&) {
                        return std::vector<Values>{{{1}, {1}}};
                      },
                  .reads_elements = true},
                 {.with = "others",
                  .shapes = matrix,
                  .call = [](const auto& x) { return allclose(elements(x), elements(x) + 0.25); },
                  .reference =
                      [](const auto&) {
                        return std::vector<Values>{{{1}, {0}}};
                      },
                  .empty = {},
                  .reads_elements = true}},
     .bad = {{shape, {"allclose", "[2]", "[3]"}, [](auto) { allclose(ones({2}), ones({3})); }}}},
};
#undef TERN_CALL
#undef TERN_WHERE
#undef TERN_BAD_MASKS

}  // namespace
}  // namespace tern::operations
