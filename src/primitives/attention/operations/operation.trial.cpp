// The entry of attention (operation.cpp).
#include <limits>

#include "ops/entry.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;
using ScorePlace = std::array<std::int64_t, 4>;  // batch, head, row, column

/// Attention in plain loops: `score` of a score and its places, `seen` of places.
struct AttentionLoops {
  std::function<double(double, ScorePlace)> score = [](double s, ScorePlace) { return s; };
  std::function<bool(ScorePlace)> seen = [](ScorePlace) { return true; };
  double scale = 0;  // none: 1/√D

  /// q [B, H, L, D], k [B, G, S, D], v [B, G, S, Dv].
  std::vector<Values> operator()(const std::vector<Values>& x) const {
    const Shape q = x[0].shape, k = x[1].shape, v = x[2].shape;
    const double factor = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(q[3]));
    Values y{{q[0], q[1], q[2], v[3]}, {}};
    for (std::int64_t b = 0; b < q[0]; ++b)
      for (std::int64_t h = 0; h < q[1]; ++h)
        for (std::int64_t i = 0; i < q[2]; ++i) {
          const std::int64_t group = h / (q[1] / k[1]);
          std::vector<double> powers;
          double total = 0;
          for (std::int64_t j = 0; j < k[2]; ++j) {
            double sum = 0;
            for (std::int64_t d = 0; d < q[3]; ++d)
              sum += at(x[0], ((b * q[1] + h) * q[2] + i) * q[3] + d) *
                     at(x[1], ((b * k[1] + group) * k[2] + j) * k[3] + d);
            powers.push_back(seen({b, h, i, j}) ? std::exp(score(factor * sum, {b, h, i, j})) : 0);
            total += powers.back();
          }
          for (std::int64_t d = 0; d < v[3]; ++d) {
            double sum = 0;
            for (std::int64_t j = 0; j < k[2]; ++j)
              sum += powers[static_cast<std::size_t>(j)] * at(x[2], ((b * k[1] + group) * k[2] + j) * v[3] + d);
            y.of.push_back(total > 0 ? sum / total : 0);
          }
        }
    return {y};
  }
  static double at(const Values& x, std::int64_t i) { return x.of[static_cast<std::size_t>(i)]; }
};

std::vector<Shape> grouped_heads(Sizes s) {
  return {{2, 4, 3, s.rows + 1}, {2, 2, s.columns + 1, s.rows + 1}, {2, 2, s.columns + 1, 3}};
}
std::vector<Shape> biased(Sizes s) {
  return {{1, 2, 3, 2}, {1, 1, s.columns + 1, 2}, {1, 1, s.columns + 1, 2}, {2, 3, s.columns + 1}};
}
const std::vector<Sizes> kFewKeys = {{2, 3}, {1, 1}, {3, 9}};
constexpr Tolerance kAttention{64, "sums of up to 10 products, exponentials, and sums of 10 products of what is stored",
                               6};

const Entries attentions{
    {.name = "attention",
     .family = Family::neural,
     .arguments = "q, k, v, options, formula, operands",
     .says =
         "softmax(scores)·v with scores = formula(scale·q·kᵀ, batch, head, i, j, operands…): q [.., H, L, D], k "
         "[.., G, S, D] and v [.., G, S, Dv] of one dtype give [.., H, L, Dv]; H is a multiple of G, whose keys H/G "
         "heads share",
     .tolerance = kAttention,
     // On CUDA small ones of f32 are decomposed where gradients will be asked for: 9 products and 9 columns in another
     // order, an exponential and a division.
     .recorded_roundings = 24,
     .samples =
         {{.with = "shared keys",
           .shapes = grouped_heads,
           .call = [](const auto& q, const auto& k, const auto& v) { return attention(q, k, v); },
           .reference = AttentionLoops{},
           .sizes = kFewKeys,
           .empty = {{0, -1}},
           .kernel_calls = 1,
           // Of a score: a multiplication and an addition for each element of k's and v's rows, and four for the
           // softmax.
           .flops =
               [](Sizes s) {
                 const std::int64_t scores = 2 * 4 * 3 * (s.columns + 1), depth = s.rows + 1, width = 3;
                 return scores * (2 * (depth + width) + 4);
               },
           .ways_differ = true},
          {.with = "causal, a window, lengths",
           .shapes = grouped_heads,
           .call =
               [](const auto& q, const auto& k, const auto& v) {
                 const auto first = static_cast<std::int32_t>(std::min<std::int64_t>(3, k.size(-2)));
                 return attention(
                     q, k, v,
                     {.scale = 0.75, .causal = true, .window = 2, .lengths = tensor({first, 1}, q.device())});
               },
           .reference =
               [](const auto& x) {
                 const std::int64_t shift = x[1].shape[2] - x[0].shape[2];
                 return AttentionLoops{.seen =
                                           [=](ScorePlace p) {
                                             return p[3] <= p[2] + shift && p[3] > p[2] + shift - 2 &&
                                                    p[3] < (p[0] == 0 ? 3 : 1);
                                           },
                                       .scale = 0.75}(x);
               },
           .sizes = kFewKeys},
          {.with = "causal, two rows at a time",
           .shapes = grouped_heads,
           .call = [](const auto& q, const auto& k,
                      const auto& v) { return attention(q, k, v, {.causal = true, .window = 3, .rows_at_once = 2}); },
           .reference =
               [](const auto& x) {
                 const std::int64_t shift = x[1].shape[2] - x[0].shape[2];
                 return AttentionLoops{
                     .seen = [=](ScorePlace p) { return p[3] <= p[2] + shift && p[3] > p[2] + shift - 3; }}(x);
               },
           .sizes = kFewKeys,
           .empty = {{0, -1}}},
          {.with = "a mask by formula",
           .shapes = grouped_heads,
           .call =
               [](const auto& q, const auto& k, const auto& v) {
                 return attention(q, k, v,
                                  {.mask = Pointwise<>([](auto b, auto h, auto i, auto j, auto limit) {
                                     return (j != i + b) & (j < limit + h);
                                   }),
                                   .mask_operands = {tensor({1, 2, 1, 3}, q.device()).reshape({4, 1, 1})}});
               },
           .reference =
               [](const auto& x) {
                 return AttentionLoops{.seen = [](ScorePlace p) {
                   constexpr std::int64_t limits[] = {1, 2, 1, 3};
                   return p[3] != p[2] + p[0] && p[3] < limits[p[1]] + p[1];
                 }}(x);
               },
           .sizes = kFewKeys},
          {.with = "a mask in blocks",
           .shapes = grouped_heads,
           .call =
               [](const auto& q, const auto& k, const auto& v) {
                 const BlockMask mask = block_mask(
                     [](auto b, auto h, auto i, auto j, auto limit) { return (j != i + b) & (j < limit + h); }, 2, 4, 3,
                     k.size(-2), tensor({1, 2, 1, 3}, q.device()).reshape({4, 1, 1}));
                 return attention(q, k, v, {.block_mask = mask});
               },
           .reference =
               [](const auto& x) {
                 return AttentionLoops{.seen = [](ScorePlace p) {
                   constexpr std::int64_t limits[] = {1, 2, 1, 3};
                   return p[3] != p[2] + p[0] && p[3] < limits[p[1]] + p[1];
                 }}(x);
               },
           .sizes = kFewKeys},
          {.with = "a formula on the scores",
           .shapes = biased,
           .call =
               [](const auto& q, const auto& k, const auto& v, const auto& bias) {
                 return attention(
                     q, k, v, {},
                     [](auto s, auto, auto head, auto i, auto j, auto add, auto slope) {
                       return 2 * tanh(s / 2) + add - slope * cast((head + 1) * abs(i - j), f32);
                     },
                     bias, 0.25);
               },
           .reference =
               [](const auto& x) {
                 const std::int64_t columns = x[1].shape[2];
                 return AttentionLoops{.score = [&](double s, ScorePlace p) {
                   const double bias = AttentionLoops::at(x[3], (p[1] * 3 + p[2]) * columns + p[3]);
                   return 2 * std::tanh(s / 2) + bias - 0.25 * static_cast<double>((p[1] + 1) * std::abs(p[2] - p[3]));
                 }}(x);
               },
           .sizes = kFewKeys,
           .empty = {}}},
     .bad = {{shape,
              {"attention", "q", "k's 2 heads", "3"},
              [](auto make) {
                attention(make({1, 3, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 4, 2}));
              }},
             {shape,
              {"attention", "k", "last axis of 2", "f32[1, 2, 4, 3]"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({1, 2, 4, 3}), make({1, 2, 4, 2}));
              }},
             {shape,
              {"attention", "v", "rows of k", "f32[1, 2, 5, 2]"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 5, 2}));
              }},
             {shape,
              {"attention", "k", "batch of q", "f32[2, 2, 4, 2]"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({2, 2, 4, 2}), make({1, 2, 4, 2}));
              }},
             {shape,
              {"attention", "operand", "[1, 2, 4, 4]", "f32[3]"},
              [](auto make) {
                attention(
                    make({1, 2, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 4, 2}), {},
                    [](auto s, auto, auto, auto, auto, auto bias) { return s + bias; }, make({3}));
              }},
             {shape,
              {"attention", "formula", "5 arguments", "2"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 4, 2}), {},
                          [](auto s, auto b) { return s + b; });
              }},
             {shape,
              {"attention", "lengths", "[1]", "i32[2]"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 4, 2}), {.lengths = tensor({1, 2})});
              }},
             {shape,
              {"attention", "window", "1 or more"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 4, 2}), {.window = 0});
              }},
             {value,
              {"attention", "generator", "none"},
              [](auto make) {
                attention(make({1, 2, 4, 2}), make({1, 2, 4, 2}), make({1, 2, 4, 2}), {.dropout = 0.5});
              }},
             {shape,
              {"attention", "block_mask", "[1, 2, 4, 4]", "[1, 1, 4, 5]"},
              [](auto make) {
                const auto x = make({1, 2, 4, 2});
                attention(x, x, x,
                          {.block_mask = block_mask([](auto, auto, auto i, auto j) { return j < i; }, 1, 1, 4, 5)});
              }},
             {dtype,
              {"attention", "k", "f16", "f32"},
              [](auto make) {
                attention(make({1, 2, 4, 2}, f16), make({1, 2, 4, 2}), make({1, 2, 4, 2}, f16));
              }}}},
};

}  // namespace
}  // namespace tern::operations
