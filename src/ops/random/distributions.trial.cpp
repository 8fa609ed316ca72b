// Entries of distributions (distributions.cpp, counts.cpp, choices.cpp). Their numbers: tests/every_device/random/
// distributions.cpp holds them to their distribution functions, and gradients that are no derivatives of the numbers
// (by quantiles: gamma's in its concentration, and what is made of it) to those of quantiles and means.
#include "ops/entry.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// A sample without operands, with two results.
template <class F> std::vector<Sample> certain_draws(F f, std::vector<double> values) {
  return {{.shapes = [](Sizes) { return std::vector<Shape>{}; },
           .call = f,
           .reference =
               [values](const auto&) {
                 return std::vector<Values>{{Shape{static_cast<std::int64_t>(values.size())}, values}};
               },
           .sizes = {{}},
           .empty = {}}};
}
constexpr Tolerance kCertain{0, "what is certain of them"};

const Entries distributions{
    {.name = "bernoulli",
     .family = Family::random,
     .arguments = "p, shape, generator, options = {}",
     .says = "1 with probability p, else 0",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws([] { return bernoulli(1.0, {2}, Generator{1}); }, {1, 1}),
     .bad = {{value, {"bernoulli", "p must be"}, [](auto) { bernoulli(-0.5, {2}, Generator{1}); }}}},
    {.name = "exponential",
     .family = Family::random,
     .arguments = "rate, shape, generator, options = {}",
     .says = "Exponential: -log(u)/rate, to 22/rate (f64: 44/rate)",
     .tolerance = kCertain,
     .samples = certain_draws([] { return exponential(1.0, {2}, Generator{1}) > 0; }, {1, 1}),
     .bad = {{value, {"exponential", "rate must be"}, [](auto) { exponential(0.0, {2}, Generator{1}); }}}},
    {.name = "laplace",
     .family = Family::random,
     .arguments = "location, scale, shape, generator, options = {}",
     .says = "Laplace: an exponential number of either sign, times scale, plus location",
     .tolerance = kCertain,
     .samples = certain_draws([] { return abs(laplace(0.0, 1.0, {2}, Generator{1})) < 23; }, {1, 1}),
     .bad = {{value, {"laplace", "scale must be"}, [](auto) { laplace(0.0, 0.0, {2}, Generator{1}); }}}},
    {.name = "gumbel",
     .family = Family::random,
     .arguments = "location, scale, shape, generator, options = {}",
     .says = "Gumbel: location - scale·log(an exponential number)",
     .tolerance = kCertain,
     .samples = certain_draws([] { return gumbel(9.0, 1.0, {2}, Generator{1}) > 5; }, {1, 1}),
     .bad = {{value, {"gumbel", "scale must be"}, [](auto) { gumbel(0.0, -1.0, {2}, Generator{1}); }}}},
    {.name = "cauchy",
     .family = Family::random,
     .arguments = "location, scale, shape, generator, options = {}",
     .says = "Cauchy: location + scale·tan(an angle of (-π/2, π/2))",
     .tolerance = kCertain,
     .samples = certain_draws([] { return isfinite(cauchy(0.0, 1.0, {2}, Generator{1})); }, {1, 1}),
     .bad = {{value, {"cauchy", "scale must be"}, [](auto) { cauchy(0.0, -1.0, {2}, Generator{1}); }}}},
    {.name = "lognormal",
     .family = Family::random,
     .arguments = "mean, deviation, shape, generator, options = {}",
     .says = "The exponential of a normal number of this mean and standard deviation",
     .tolerance = kCertain,
     .samples = certain_draws([] { return lognormal(0.0, 1.0, {2}, Generator{1}) > 0; }, {1, 1}),
     .bad = {{value, {"lognormal", "deviation must be"}, [](auto) { lognormal(0.0, -1.0, {2}, Generator{1}); }}}},
    {.name = "truncated_normal",
     .family = Family::random,
     .arguments = "low, high, shape, generator, options = {}",
     .says = "Standard normal within [low, high], by the inverse of the distribution function; low < high",
     .tolerance = kCertain,
     .samples = certain_draws([] { return floor(truncated_normal(0.25, 0.75, {2}, Generator{1})); }, {0, 0}),
     .bad = {{value, {"truncated_normal", "below high"}, [](auto) { truncated_normal(1.0, 1.0, {2}, Generator{1}); }}}},
    {.name = "gamma",
     .family = Family::random,
     .arguments = "concentration, rate, shape, generator, options = {}",
     .says = "Gamma, by the rejection of Marsaglia and Tsang (2000): 12 proposals, of which the last is taken where "
             "all others are refused (below 10^-14 of the elements)",
     .tolerance = kCertain,
     .samples = certain_draws([] { return gamma(2.0, 1.0, {2}, Generator{1}) > 0; }, {1, 1}),
     .bad = {{value, {"gamma", "concentration must be"}, [](auto) { gamma(0.0, 1.0, {2}, Generator{1}); }}}},
    {.name = "beta",
     .family = Family::random,
     .arguments = "a, b, shape, generator, options = {}",
     .says = "Beta, by two of gamma's",
     .tolerance = kCertain,
     .samples = certain_draws([] { return floor(beta(2.0, 2.0, {2}, Generator{1})); }, {0, 0}),
     .bad = {{value, {"beta", "b must be"}, [](auto) { beta(1.0, 0.0, {2}, Generator{1}); }}}},
    {.name = "student_t",
     .family = Family::random,
     .arguments = "freedom, shape, generator, options = {}",
     .says = "Student's t of so many degrees of freedom: a normal number by the root of one of gamma's",
     .tolerance = kCertain,
     .samples = certain_draws([] { return isfinite(student_t(3.0, {2}, Generator{1})); }, {1, 1}),
     .bad = {{value, {"student_t", "freedom must be"}, [](auto) { student_t(0.0, {2}, Generator{1}); }}}},
    {.name = "dirichlet",
     .family = Family::random,
     .arguments = "concentration, shape, generator, options = {}",
     .says = "Dirichlet along the last axis of `shape`: gamma's of the concentrations, divided by their sum",
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return round(sum(dirichlet(1.0, {2, 3}, Generator{1}), -1));
         },
         {1, 1}),
     .bad = {{ErrorKind::shape, {"dirichlet"}, [](auto) { dirichlet(1.0, {}, Generator{1}); }}}},
    {.name = "poisson",
     .family = Family::random,
     .arguments = "rate, shape, generator, options = {}",
     .says = "Poisson, as whole numbers of a floating dtype: below a rate of 10 by inversion, else by Hörmann's "
             "rejection (PTRS, 1993; 24 proposals)",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws([] { return poisson(0.0, {2}, Generator{1}); }, {0, 0}),
     .bad = {{value, {"poisson", "rate must be"}, [](auto) { poisson(-1.0, {2}, Generator{1}); }}}},
    {.name = "binomial",
     .family = Family::random,
     .arguments = "count, p, shape, generator, options = {}",
     .says = "Binomial: successes among `count` trials, as whole numbers of a floating dtype; where count·min(p, 1 - "
             "p) < 10 by inversion, else by Hörmann's rejection (BTRS, 1993; 24 proposals)",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws([] { return binomial(7.0, 1.0, {2}, Generator{1}); }, {7, 7}),
     .bad = {{value, {"binomial", "count must be"}, [](auto) { binomial(-1.0, 0.5, {2}, Generator{1}); }},
             {value, {"binomial", "whole", "2.5"}, [](auto) { binomial(2.5, 0.5, {2}, Generator{1}); }}}},
    {.name = "categorical",
     .family = Family::random,
     .arguments = "logits, shape, generator",
     .says = "Indices (i32) along the last axis of logits, drawn with probabilities softmax(logits): the place of the "
             "largest of logits + gumbel",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return categorical(log(tensor({0.0f, 1.0f})), {2}, Generator{1});
         },
         {1, 1}),
     .bad = {{value, {"categorical", "choices"}, [](auto) { categorical(ones({0}), {2}, Generator{1}); }}}},
    {.name = "multinomial",
     .family = Family::random,
     .arguments = "weights, count, replacement, generator",
     .says = "`count` indices (i32) along the last axis of weights, drawn with probabilities in proportion: [.., K] "
             "gives [.., count]",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return multinomial(tensor({0.0f, 1.0f}), 2, false, Generator{1});
         },
         {1, 0}),
     .bad = {{value, {"multinomial", "count must be"}, [](auto) { multinomial(ones({2}), 3, false, Generator{1}); }}}},
    {.name = "permutation",
     .family = Family::random,
     .arguments = "n, generator, device = default_device()",
     .says = "The numbers 0 to n - 1 (i32) in random order: the order of keys of 64 bits, so that no two are alike",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws([] { return permutation(2, Generator{1}) < 2; }, {1, 1}),
     .bad = {{value, {"permutation", "n must be"}, [](auto) { permutation(-1, Generator{1}); }}}},
    {.name = "choice",
     .family = Family::random,
     .arguments = "n, shape, generator, replacement = true",
     .says = "`shape` elements (i32) of 0 to n - 1; without replacement all differ",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws([] { return choice(1, {2}, Generator{1}); }, {0, 0}),
     .bad = {{value, {"choice", "without replacement"}, [](auto) { choice(1, {2}, Generator{1}, false); }}}},
    {.name = "kaiming",
     .family = Family::random,
     .arguments = "shape, generator, options = {}",
     .says = "Normal with variance 2/fan_in, for layers before relu (He et al., 2015): weight[out, in, ..]; fan_in is "
             "the product of all axes but the first",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return flatten(abs(kaiming({2, 1}, Generator{1})) < 10);
         },
         {1, 1}),
     .bad = {{ErrorKind::shape, {"kaiming", "[out, in, ..]"}, [](auto) { kaiming({2}, Generator{1}); }}}},
    {.name = "xavier",
     .family = Family::random,
     .arguments = "shape, generator, options = {}",
     .says = "Uniform within ±√(6/(fan_in + fan_out)), (Glorot and Bengio, 2010): weight[out, in, ..]",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return flatten(abs(xavier({2, 4}, Generator{1}).slice(1, 0, 1)) <= 1);
         },
         {1, 1}),
     .bad = {{ErrorKind::shape, {"xavier", "[out, in, ..]"}, [](auto) { xavier({2}, Generator{1}); }}}},
    {.name = "orthogonal",
     .family = Family::random,
     .arguments = "shape, generator, options = {}",
     .says = "Weights [out, in, ..] whose rows (all axes but the first as one) are orthonormal, or their columns where "
             "those are fewer; uniform among all such (Mezzadri, 2007): q of a normal matrix's q·r, with r's diagonal "
             "made positive",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return round(sum(square(orthogonal({2, 4}, Generator{1})), {-1}));
         },
         {1, 1}),
     .bad = {{ErrorKind::shape, {"orthogonal", "[out, in, ..]"}, [](auto) { orthogonal({2}, Generator{1}); }}}},
    {.name = "sobol",
     .family = Family::random,
     .arguments = "shape, skip = 0, options = {}",
     .says =
         "The points number skip, skip + 1, … of Sobol's sequence in the unit cube: shape [points, dimensions], f32 "
         "or f64 (16 bits are rounded)",
     .differentiable = false,
     .tolerance = kCertain,
     .samples = certain_draws(
         [] {
           return flatten(sobol({4, 2}));
         },
         {0, 0, 0.5, 0.5, 0.75, 0.25, 0.25, 0.75}),
     .bad = {{ErrorKind::shape, {"sobol", "[points, dimensions]"}, [](auto) { sobol({2}); }},
             {value,
              {"sobol", "1024"},
              [](auto) {
                sobol({2, 1025});
              }},
             {value,
              {"sobol", "-1"},
              [](auto) {
                sobol({2, 2}, -1);
              }},
             {dtype,
              {"sobol", "i32"},
              [](auto) {
                sobol({2, 2}, 0, {.dtype = i32});
              }}}},
    {.name = "dropout",
     .family = Family::random,
     .arguments = "x, p, generator",
     .says = "x with elements that are 0 with probability p, and the others divided by 1 - p; 0 <= p < 1",
     .tolerance = {1, "a product"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}};
                      },
                  .call = [](const auto& x) { return dropout(x, 0, Generator{1}); },
                  .reference = [](const auto& x) { return x; }},
                 {.with = "half of them left out",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}};
                      },
                  .call = [](const auto& x) { return dropout(x, 0.5, Generator{1}); }}},
     .bad = {{value, {"dropout", "p must be"}, [](auto make) { dropout(make({2}), 1.0, Generator{1}); }},
             {dtype, {"dropout", "floats"}, [](auto make) { dropout(make({2}, i32), 0.5, Generator{1}); }}}},
};

}  // namespace
}  // namespace tern::operations
