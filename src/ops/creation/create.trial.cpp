// Entries of creation (create.cpp) and random numbers (random.cpp).
#include <cmath>

#include "ops/creation/created.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// Draws with the generator's mean and spread; that every number is what Philox makes it is
/// tests/every_device/random/random.cpp's.
constexpr Tolerance kDrawn{0, "the sample makes of what is drawn what does not depend on it"};

/// Drawn, and drawn in a recording, where the generator's state is in memory.
template <class F> std::vector<ArchivedCall> archived_draws(F draw) {
  return {[draw](DType dtype) { draw(Generator{1}, dtype); },
          [draw](DType dtype) {
            Generator generator{1};
            capture(default_device(), [&] { draw(generator, dtype); }).replay();
          }};
}
std::vector<ArchivedCall> integer_draws() {
  const auto between = [](std::int64_t low, std::int64_t high) {
    return [low, high](auto&& generator, DType dtype) {
      randint(low, high, {kArchivedSide}, generator, {.dtype = dtype});
    };
  };
  std::vector<ArchivedCall> list = archived_draws(between(0, 5));
  list.push_back(archived_draws(between(INT32_MIN, std::int64_t{1} << 31))[0]);
  list.push_back(archived_draws(between(0, std::int64_t{1} << 32))[0]);
  return list;
}

const Entries creation{
    {.name = "zeros",
     .family = Family::creation,
     .arguments = "shape, options = {}",
     .says = "Every element 0",
     .differentiable = false,
     .tolerance = kGiven,
     .samples = creates([] { return zeros({2}); }, {2}, {0, 0}),
     .bad = {{shape,
              {"[2, -1]", "negative"},
              [](auto) {
                zeros({2, -1});
              }}}},
    {.name = "ones",
     .family = Family::creation,
     .arguments = "shape, options = {}",
     .says = "Every element 1",
     .differentiable = false,
     .tolerance = kGiven,
     .archived = {[](DType dtype) { ones({3}, dtype); }},
     .samples = creates(
         [] {
           return ones({2, 1});
         },
         {2, 1}, {1, 1}),
     .bad = {{shape,
              {"[2, -1]", "negative"},
              [](auto) {
                ones({2, -1});
              }}}},
    {.name = "full",
     .family = Family::creation,
     .arguments = "shape, value, options = {}",
     .says = "Every element `value`; one that is no value of an integer dtype throws `dtype`",
     .differentiable = false,
     .tolerance = kGiven,
     .samples = creates([] { return full({2}, 7); }, {2}, {7, 7}),
     .bad = {{dtype, {"0.5"}, [](auto) { full({2}, 0.5, i32); }}}},
    {.name = "arange",
     .family = Family::creation,
     .arguments = "begin, end, step, options",
     .says = "begin, begin + step, … below end; integers are counted exactly",
     .differentiable = false,
     .tolerance = kGiven,
     .archived = {[](DType dtype) { arange(0, 5, 1, {.dtype = dtype}); }},
     .samples = creates([] { return arange(1, 4); }, {3}, {1, 2, 3}),
     .bad = {{shape, {"arange", "step"}, [](auto) { arange(0, 3, 0); }},
             {dtype, {"arange", "boolean"}, [](auto) { arange(0, 2, 1, boolean); }}}},
    {.name = "linspace",
     .family = Family::creation,
     .arguments = "begin, end, count, options = {}",
     .says = "`count` values from begin to end, both included",
     .differentiable = false,
     .tolerance = kGiven,
     .archived = {[](DType dtype) { linspace(0, 1, 3, {.dtype = dtype}); }},
     .samples = creates([] { return linspace(0, 1, 3); }, {3}, {0, 0.5, 1}),
     .bad = {{shape, {"linspace"}, [](auto) { linspace(0, 1, -1); }}}},
    {.name = "logspace",
     .family = Family::creation,
     .arguments = "begin, end, count, base = 10, options = {}",
     .says = "`count` values from base^begin to base^end, both included, each the same multiple of the one before",
     .differentiable = false,
     .tolerance = {200, "a power, of a rounded exponent, beside 100"},
     .samples = creates([] { return logspace(0, 2, 3); }, {3}, {1, 10, 100}),
     .bad = {{shape, {"logspace"}, [](auto) { logspace(0, 1, -1); }}}},
    {.name = "geomspace",
     .family = Family::creation,
     .arguments = "begin, end, count, options = {}",
     .says = "`count` values from begin to end, both included, each the same multiple of the one before; of one sign, "
             "and not 0",
     .differentiable = false,
     .tolerance = {20, "a power, of a rounded exponent, beside 4"},
     .samples = creates([] { return geomspace(1, 4, 3); }, {3}, {1, 2, 4}),
     .bad = {{shape, {"geomspace"}, [](auto) { geomspace(0, 1, 3); }}}},
    {.name = "from_function",
     .family = Family::creation,
     .arguments = "f, shape, options = {}",
     .says = "f(i, j, …) for each element, of its coordinates, as many as there are axes: a formula, in one kernel",
     .differentiable = false,
     .tolerance = kGiven,
     .samples = creates([] { return from_function([](auto i, auto j) { return 3 * i + j; }, {2, 3}); }, {2, 3},
                        {0, 1, 2, 3, 4, 5}),
     .bad = {{shape,
              {"from_function", "2 coordinates", "[3]"},
              [](auto) {
                from_function([](auto i, auto j) { return i + j; }, {3});
              }}}},
    {.name = "empty",
     .family = Family::creation,
     .arguments = "shape, options = {}",
     .says = "Elements of any value: to be written before they are read",
     .differentiable = false,
     .tolerance = kGiven,
     .samples = creates([] { return empty({2, 0}); }, {2, 0}, {}),
     .bad = {{shape, {"-1", "negative"}, [](auto) { empty({-1}); }}}},
    {.name = "eye",
     .family = Family::creation,
     .arguments = "size, options = {}",
     .says = "The identity matrix",
     .differentiable = false,
     .tolerance = kGiven,
     .archived = {[](DType dtype) { eye(3, {.dtype = dtype}); }},
     .samples = creates([] { return eye(2); }, {2, 2}, {1, 0, 0, 1}),
     .bad = {{shape, {"-1"}, [](auto) { eye(-1); }}}},
    {.name = "rand",
     .family = Family::random,
     .arguments = "shape, generator, options = {}",
     .says = "Uniform in [0, 1): multiples of 2^-11 in f16, 2^-8 in bf16, 2^-24 in f32, 2^-53 in f64",
     .differentiable = false,
     .tolerance = kDrawn,
     .ahead = {[](DType dtype, const Shape&) { rand({kArchivedSide}, Generator{1}, {.dtype = dtype}); }},
     .archived =
         archived_draws([](auto&& generator, DType dtype) { rand({kArchivedSide}, generator, {.dtype = dtype}); }),
     .samples = creates([] { return floor(rand({2}, Generator{1})); }, {2}, {0, 0}),
     .bad = {{dtype, {"rand", "i32"}, [](auto) { rand({2}, Generator{1}, i32); }}}},
    {.name = "randn",
     .family = Family::random,
     .arguments = "shape, generator, options = {}",
     .says = "Standard normal (Box-Muller), to 6.7 standard deviations on either side, in f64 to 9.4",
     .differentiable = false,
     .tolerance = kDrawn,
     .ahead = {[](DType dtype, const Shape&) { randn({kArchivedSide}, Generator{1}, {.dtype = dtype}); }},
     .archived =
         archived_draws([](auto&& generator, DType dtype) { randn({kArchivedSide}, generator, {.dtype = dtype}); }),
     .samples = creates([] { return abs(randn({2}, Generator{1})) < 6.75; }, {2}, {1, 1}),
     .bad = {{dtype, {"randn", "i32"}, [](auto) { randn({2}, Generator{1}, i32); }}}},
    {.name = "randint",
     .family = Family::random,
     .arguments = "low, high, shape, generator, options = {.dtype = DType::i32}",
     .says = "Uniform integers in [low, high), which must be values of the dtype (`dtype` error otherwise)",
     .differentiable = false,
     .tolerance = kDrawn,
     .archived = integer_draws(),
     .samples = creates([] { return randint(4, 5, {2}, Generator{1}); }, {2}, {4, 4}),
     .bad = {{dtype, {"randint", "300"}, [](auto) { randint(0, 300, {2}, Generator{1}, {.dtype = u8}); }}}},
};

}  // namespace
}  // namespace tern::operations
