// Entries of the reductions (reduce.cpp, sum.cpp).
#include <algorithm>
#include <cmath>

#include "ops/entry.hpp"
#include "tern/statistics.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

using List = std::vector<double>;
using OfList = double (*)(const List&);  // an independent reference for one reduced list

std::vector<Shape> matrix(Sizes s) { return {{s.rows, s.columns}}; }
/// f of each row (axis 1), of each column (axis 0), or of everything (axis 2).
std::vector<Values> reduced(const Values& x, int axis, OfList f) {
  const auto rows = static_cast<std::size_t>(x.shape[0]), columns = static_cast<std::size_t>(x.shape[1]);
  if (axis == 2) return {{{}, {f(x.of)}}};
  Values y{{x.shape[axis == 0 ? 1 : 0]}, {}};
  for (std::size_t i = 0; i < (axis == 0 ? columns : rows); ++i) {
    List list;
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
std::vector<Sample> samples(F reduce, OfList reference, bool of_nothing, std::int64_t least = 1,
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
template <class F> std::vector<Sample> and_masked(std::vector<Sample> list, F reduce, OfList reference) {
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
                          List line;
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
template <class F> std::vector<BadInput> bad(const std::string& name, F reduce) {
  return {{index,
           {name, "axis 2", "out of range"},
           [=](auto make) {
             reduce(make({2, 3}), {2}, false);
           }},
          {index, {name, "axis", "twice"}, [=](auto make) {
             reduce(make({2, 3}), {0, -2}, true);
           }}};
}
template <class F> std::vector<BadInput> bad_or_empty(const std::string& name, F reduce) {
  std::vector<BadInput> list = bad(name, reduce);
  list.push_back({shape, {name, "f32[0, 3]", "empty"}, [=](auto make) { reduce(make({0, 3}), {0}, false); }});
  return list;
}
#define TERN_CALL(name) [](const auto& x, const Axes& axes, bool keepdim) { return tern::name(x, axes, keepdim); }
#define TERN_WHERE(name) [](const auto& x, const Where& which) { return tern::name(x, {1}, false, which); }
#define TERN_BAD_MASKS(name) [](const Tensor& mask) { tern::name(ones({2, 3}), {}, false, Where{mask}); }

double total(const List& list) {
  double sum = 0;
  for (const double v : list) sum += v;
  return sum;
}
double product(const List& list) {
  double all = 1;
  for (const double v : list) all *= v;
  return all;
}
double variance(const List& list) {
  const double mean = total(list) / static_cast<double>(list.size());
  double squares = 0;
  for (const double v : list) squares += (v - mean) * (v - mean);
  return squares / static_cast<double>(list.size() - 1);
}
double deviation(const List& list) { return std::sqrt(variance(list)); }
double max_of(const List& list) { return *std::ranges::max_element(list); }
double min_of(const List& list) { return *std::ranges::min_element(list); }
double two_norm(const List& list) {
  double squares = 0;
  for (const double v : list) squares += v * v;
  return std::sqrt(squares);
}
double any_above(const List& list) {
  return std::ranges::any_of(list, [](double v) { return v > 0.5; }) ? 1.0 : 0.0;
}
double all_above(const List& list) {
  return std::ranges::all_of(list, [](double v) { return v > -0.5; }) ? 1.0 : 0.0;
}
double log_sum_exp(const List& list) {
  double sum = 0;
  for (const double v : list) sum += std::exp(v);
  return std::log(sum);
}
double place(const List& list, bool largest) {
  const auto at = largest ? std::ranges::max_element(list) : std::ranges::min_element(list);
  return static_cast<double>(at - list.begin());
}

/// And, fused with them, those of least squares.
std::vector<Sample> sums() {
  std::vector<Sample> list =
      samples([](const auto& x, const Axes& axes, bool keepdim) { return sum(x, axes, keepdim); }, total, true);
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
std::vector<Sample> means(OfList reference) {
  const auto plain = [](const auto& x, const Axes& axes, bool keepdim) { return mean(x, axes, keepdim); };
  std::vector<Sample> list = samples(plain, reference, false, 1, {1, 2});
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
                  .ahead = Ahead::yes});
  return and_masked(list, TERN_WHERE(mean), reference);
}

constexpr const char* kArguments = "x, axes = {}, keepdim = false";
constexpr Tolerance kSums{
    185, "a rounding for each of at most 185 elements, of partial sums that the total or 1 exceeds on average"};
constexpr Tolerance kRoots{370, "sums of 185 squares of differences, each with two roundings"};
constexpr Tolerance kExact{0, "it is one of the elements"};
constexpr Tolerance kPlaces{0, "it is a place or a predicate"};

const Entries reductions{
    {.name = "sum",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "The sum",
     .tolerance = kSums,
     .archived = archived_sums(),
     .samples = sums(),
     .bad = and_bad_masks(bad("sum", TERN_CALL(sum)), "sum", TERN_BAD_MASKS(sum))},
    {.name = "mean",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "The mean",
     .tolerance = kSums,
     .archived = archived(TERN_CALL(mean)),
     .samples = means([](const List& x) { return total(x) / static_cast<double>(x.size()); }),
     .bad = and_bad_masks(bad("mean", TERN_CALL(mean)), "mean", TERN_BAD_MASKS(mean))},
    {.name = "prod",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "The product",
     .tolerance = kSums,
     .recorded_roundings = 185,  // under autograd halves are multiplied, whose gradient is right at zeros
     .archived = archived(TERN_CALL(prod), false),
     .samples = and_masked(samples(TERN_CALL(prod), product, true), TERN_WHERE(prod), product),
     .bad = and_bad_masks(bad("prod", TERN_CALL(prod)), "prod", TERN_BAD_MASKS(prod))},
    {.name = "max",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "The largest element; NaN where one is NaN, over nothing an error",
     .tolerance = kExact,
     .archived = archived(TERN_CALL(max)),
     .samples = and_masked(samples(TERN_CALL(max), max_of, false), TERN_WHERE(max), max_of),
     .bad = and_bad_masks(bad_or_empty("max", TERN_CALL(max)), "max", TERN_BAD_MASKS(max))},
    {.name = "min",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "The smallest element; otherwise like max",
     .tolerance = kExact,
     .archived = archived(TERN_CALL(min)),
     .samples = and_masked(samples(TERN_CALL(min), min_of, false), TERN_WHERE(min), min_of),
     .bad = and_bad_masks(bad_or_empty("min", TERN_CALL(min)), "min", TERN_BAD_MASKS(min))},
    {.name = "logsumexp",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "log Σ exp(x), whatever the size of x",
     .tolerance = kSums,
     .archived = archived(TERN_CALL(logsumexp)),
     .samples = samples(TERN_CALL(logsumexp), log_sum_exp, false, 1, {0, 1}),
     .bad = bad_or_empty("logsumexp", TERN_CALL(logsumexp))},
    {.name = "var",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "Σ (x - mean)² / (n - 1): Bessel's correction, as NumPy's ddof = 1 and PyTorch",
     .tolerance = kRoots,
     .archived = archived(TERN_CALL(var)),
     .samples = and_masked(samples(TERN_CALL(var), variance, false, 2, {1}), TERN_WHERE(var), variance),
     .bad = and_bad_masks(bad("var", TERN_CALL(var)), "var", TERN_BAD_MASKS(var))},
    {.name = "std",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "The square root of var",
     .tolerance = kRoots,
     .archived = archived(TERN_CALL(std)),
     .samples = and_masked(samples(TERN_CALL(std), deviation, false, 2, {1}), TERN_WHERE(std), deviation),
     .bad = and_bad_masks(bad("std", TERN_CALL(std)), "std", TERN_BAD_MASKS(std))},
    {.name = "norm",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "√Σ x², the 2-norm, scaled by the largest |x| so that no square overflows or vanishes",
     .tolerance = kRoots,
     .archived = archived(TERN_CALL(norm)),
     .samples = samples(TERN_CALL(norm), two_norm, false, 1, {1}),
     .bad = bad("norm", TERN_CALL(norm))},
    {.name = "argmax",
     .family = Family::reductions,
     .arguments = kArguments,
     .says =
         "Position (i32) of the first largest element, row-major within the axes; of the first NaN where there is one",
     .differentiable = false,
     .tolerance = kPlaces,
     .archived = archived(TERN_CALL(argmax), false),
     .samples = samples(
         TERN_CALL(argmax), [](const List& x) { return place(x, true); }, false),
     .bad = bad_or_empty("argmax", TERN_CALL(argmax))},
    {.name = "argmin",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "Position (i32) of the first smallest element; otherwise like argmax",
     .differentiable = false,
     .tolerance = kPlaces,
     .archived = archived(TERN_CALL(argmin), false),
     .samples = samples(
         TERN_CALL(argmin), [](const List& x) { return place(x, false); }, false),
     .bad = bad_or_empty("argmin", TERN_CALL(argmin))},
    {.name = "any",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "Whether any element is true (not zero)",
     .differentiable = false,
     .tolerance = kPlaces,
     .archived = archived(TERN_CALL(any), false),
     .samples = and_masked(
         samples([](const auto& x, const Axes& axes, bool keepdim) { return any(x > 0.5, axes, keepdim); }, any_above,
                 true),
         [](const auto& x, const Where& which) { return any(x > 0.5, {1}, false, which); }, any_above),
     .bad = and_bad_masks(bad("any", TERN_CALL(any)), "any", TERN_BAD_MASKS(any))},
    {.name = "all",
     .family = Family::reductions,
     .arguments = kArguments,
     .says = "Whether all elements are true (not zero)",
     .differentiable = false,
     .tolerance = kPlaces,
     .archived = archived(TERN_CALL(all), false),
     .samples = and_masked(
         samples([](const auto& x, const Axes& axes, bool keepdim) { return all(x > -0.5, axes, keepdim); }, all_above,
                 true),
         [](const auto& x, const Where& which) { return all(x > -0.5, {1}, false, which); }, all_above),
     .bad = and_bad_masks(bad("all", TERN_CALL(all)), "all", TERN_BAD_MASKS(all))},
};
#undef TERN_CALL
#undef TERN_WHERE
#undef TERN_BAD_MASKS

}  // namespace
}  // namespace tern::operations
