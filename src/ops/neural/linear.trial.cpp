// Entries of linear layers, embeddings and rotary positions (linear.cpp).
#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// x·weightᵀ + bias of matrices; no bias: null.
std::vector<Values> linear_of(const Values& x, const Values& weight, const Values* bias) {
  const std::size_t rows = size(x, 0), in = size(x, 1), out = size(weight, 0);
  Values y{{rows, out}, {}};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t o = 0; o < out; ++o) {
      double sum = bias ? bias->of[o] : 0;
      for (std::size_t k = 0; k < in; ++k) sum += x.of[i * in + k] * weight.of[o * in + k];
      y.of.push_back(sum);
    }
  return {y};
}
/// Turned pairs of x [L, D]: elements `apart` from each other, pair i beginning at first(i).
template <class F> std::vector<Values> rope_of(const std::vector<Values>& x, std::size_t apart, F first) {
  Values y = x[0];
  const std::size_t half = size(x[0], 1) / 2;
  for (std::size_t row = 0; row < size(x[0], 0); ++row)
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t a = row * 2 * half + first(i), b = a + apart, t = row * half + i;
      y.of[a] = x[0].of[a] * x[1].of[t] - x[0].of[b] * x[2].of[t];
      y.of[b] = x[0].of[a] * x[2].of[t] + x[0].of[b] * x[1].of[t];
    }
  return {y};
}
std::vector<Shape> pairs_and_rotations(Sizes s) {
  return {{s.rows, 2 * s.columns}, {s.rows, s.columns}, {s.rows, s.columns}};
}
const std::vector<std::int32_t> kNamed = {1, 0, 1, -1};
constexpr Tolerance kRotations{4, "two products and their sum"};

const Entries linear_layers{
    {.name = "linear",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}",
     .says =
         "x·weightᵀ + bias: x [.., in], weight [out, in], bias [out] or none (an undefined Tensor), result [.., out]",
     .tolerance = {64, "sums of 37 products"},
     .samples = {{.with = "a bias",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {4, s.columns}, {4}};
                      },
                  .call = [](const auto& x, const auto& weight, const auto& bias) { return linear(x, weight, bias); },
                  .reference = [](const auto& x) { return linear_of(x[0], x[1], &x[2]); },
                  .empty = {{0, 3}, {2, 0}}},
                 {.with = "no bias",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {4, s.columns}};
                      },
                  .call = [](const auto& x, const auto& weight) { return linear(x, weight); },
                  .reference = [](const auto& x) { return linear_of(x[0], x[1], nullptr); }},
                 {.with = "one row",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.columns}, {4, s.columns}, {4}};
                      },
                  .call = [](const auto& x, const auto& weight, const auto& bias) { return linear(x, weight, bias); },
                  .reference =
                      [](const auto& x) {
                        Values y = linear_of({{1, x[0].shape[0]}, x[0].of}, x[1], &x[2])[0];
                        y.shape = {4};
                        return std::vector{y};
                      },
                  .empty = {}}},
     .bad = {{shape,
              {"linear", "x", "[.., 3]", "f32[2, 4]"},
              [](auto make) {
                linear(make({2, 4}), make({5, 3}));
              }},
             {shape,
              {"linear", "weight", "[out, in]", "f32[3]"},
              [](auto make) {
                linear(make({2, 3}), make({3}));
              }},
             {shape,
              {"linear", "bias", "[5] or none", "f32[4]"},
              [](auto make) {
                linear(make({2, 3}), make({5, 3}), make({4}));
              }},
             {dtype,
              {"linear", "x", "floating"},
              [](auto make) {
                linear(make({2, 3}, i32), make({5, 3}));
              }}}},
    {.name = "embedding",
     .family = Family::neural,
     .arguments = "indices, weight",
     .says = "The rows of weight [count, D] that `indices` (i32 or i64) name: their shape + [D]",
     .tolerance = {0, "no element changes"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows + 1, s.columns}};
                      },
                  .call =
                      [](const auto& weight) {
                        return embedding(tensor(kNamed).reshape({2, 2}), weight);
                      },
                  .reference =
                      [](const auto& x) {
                        const std::size_t columns = size(x[0], 1);
                        Values y{{2, 2, columns}, {}};
                        for (const std::int32_t i : kNamed)
                          for (std::size_t j = 0; j < columns; ++j)
                            y.of.push_back(
                                x[0].of[(i < 0 ? size(x[0], 0) - 1 : static_cast<std::size_t>(i)) * columns + j]);
                        return std::vector{y};
                      },
                  .empty = {{2, 0}}}},
     .bad = {{dtype,
              {"embedding", "indices", "i32 or i64"},
              [](auto make) {
                embedding(ones({2}), make({2, 3}));
              }},
             {shape,
              {"embedding", "weight", "[count, D]", "f32[3]"},
              [](auto make) { embedding(tensor({0}), make({3})); }},
             {index,
              {"embedding", "f32[0, 3]"},
              [](auto make) { embedding(tensor({0}), make({0, 3})); }}}},
    {.name = "rope",
     .family = Family::neural,
     .arguments = "x, cosines, sines, options = {}",
     .says = "Pairs of elements of x [.., L, D], turned by angles whose cosines and sines [L, D/2] (or broadcasting to "
             "[.., L, D/2]) are given: (a·cos - b·sin, a·sin + b·cos)",
     .tolerance = kRotations,
     .samples =
         {{.with = "halves",
           .shapes = pairs_and_rotations,
           .call = [](const auto& x, const auto& c, const auto& s) { return rope(x, c, s); },
           .reference = [](const auto& x) { return rope_of(x, size(x[0], 1) / 2, [](std::size_t i) { return i; }); }},
          {.with = "neighbours",
           .shapes = pairs_and_rotations,
           .call = [](const auto& x, const auto& c, const auto& s) { return rope(x, c, s, {.interleaved = true}); },
           .reference = [](const auto& x) { return rope_of(x, 1, [](std::size_t i) { return 2 * i; }); }}},
     .bad = {{shape,
              {"rope", "x", "even", "f32[2, 3]"},
              [](auto make) {
                rope(make({2, 3}), make({2, 1}), make({2, 1}));
              }},
             {shape,
              {"rope", "sines", "[2, 2]", "f32[3, 2]"},
              [](auto make) {
                rope(make({2, 4}), make({2, 2}), make({3, 2}));
              }}}},
    {.name = "rope_tables",
     .family = Family::neural,
     .arguments = "length, dimension, options = {}",
     .says = "Cosines and sines [length, dimension/2] of position·base^(-2i/dimension), for rope; taken in f64, then "
             "rounded",
     .differentiable = false,
     .tolerance = {32, "angles of up to 11, which are rounded in f64 before their cosine is taken"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}};
                      },
                  .call =
                      [](const auto& x) {
                        const RopeTables t = rope_tables(x.shape()[0], 2 * x.shape()[1],
                                                         {.start = 7, .dtype = x.dtype(), .device = x.device()});
                        return std::vector<Tensor>{t.cosines, t.sines};
                      },
                  .reference =
                      [](const auto& x) {
                        Values c{x[0].shape, {}}, s = c;
                        const std::size_t half = size(x[0], 1);
                        for (std::size_t i = 0; i < x[0].of.size(); ++i) {
                          const double angle =
                              static_cast<double>(7 + i / half) /
                              std::pow(10000.0, static_cast<double>(i % half) / static_cast<double>(half));
                          c.of.push_back(std::cos(angle)), s.of.push_back(std::sin(angle));
                        }
                        return std::vector{c, s};
                      }}},
     .bad = {{shape, {"rope_tables", "dimension", "even", "3"}, [](auto) { rope_tables(2, 3); }},
             {shape, {"rope_tables", "length", "-1"}, [](auto) { rope_tables(-1, 2); }}}},
};

}  // namespace
}  // namespace tern::operations
