// Every differentiable operation that is no formula, and how it is tried: what docs/ops.md lists must stand here.
#pragma once
#include <functional>

#include "derivatives.hpp"
#include "tern/checkpoint.hpp"

namespace tern::test {

using Vars = std::vector<Var>;

/// How an operation is tried: on inputs of these shapes, with values around 0.
struct Trial {
  std::string name;
  std::vector<Shape> shapes;
  std::function<Var(const Vars&)> run;
  std::vector<Shape> empty = {};  // shapes without elements that it takes as well; none: it takes none
  int broadcast_axis = 0;         // along which its arguments may be the same everywhere
};
inline Tensor indices(std::vector<std::int32_t> values, const Shape& shape) { return tensor(values, shape); }

/// The next wider dtype the device has: a conversion to it keeps every bit, and the gradient is converted back.
inline DType wider(const Var& x) {
  if (dtype_size(x.dtype()) == 2) return f32;
  const std::vector<DType> all = all_floats(x.device());
  return std::find(all.begin(), all.end(), f64) != all.end() ? f64 : x.dtype();
}

inline std::vector<Trial> differentiable() {
  static const auto halved = custom_gradient(
      "halved", [](const Tensor& a, const Tensor& b) { return tanh(a) * b / 2; },
      [](const Var& g, const Var& a, const Var& b) {
        const Var t = tanh(a);
        return std::tuple{g * b * (1 - t * t) / 2, g * t / 2};
      });
  std::vector<Trial> list{
      {"cast", {{3}}, [](const Vars& x) { return cast(x[0], wider(x[0])); }, {{0}}},
      {"max", {{2, 3}}, [](const Vars& x) { return max(x[0], {1}) * max(x[0], {0}).slice(0, 0, 1); }},
      {"min", {{2, 3}}, [](const Vars& x) { return min(x[0], {1}) * min(x[0]); }},
      {"matmul", {{2, 3}, {3, 2}}, [](const Vars& x) { return matmul(x[0], x[1]); }, {{2, 0}, {0, 2}}},
      {"matmul", {{3}, {2, 3, 2}}, [](const Vars& x) { return matmul(x[0], x[1]); }},
      {"matmul", {{2, 2, 2}, {2}}, [](const Vars& x) { return matmul(x[0], x[1]); }},
      {"matmul_bias_activation", {{2, 2}, {2, 2}, {2}}, [](const Vars& x) { return matmul_bias_activation(x[0], x[1], x[2], op::silu); }, {{0, 2}, {2, 2}, {2}}},
      {"matmul_bias", {{2, 2}, {2, 2}, {2}}, [](const Vars& x) { return matmul_bias(x[0], x[1], x[2]); }, {{0, 2}, {2, 2}, {2}}},
      {"matmul_activation", {{2, 2}, {2, 2}}, [](const Vars& x) { return matmul_activation(x[0], x[1], op::tanh); }, {{2, 0}, {0, 2}}},
      {"matmul_bias_residual", {{2, 2}, {2, 2}, {2}, {2, 2}}, [](const Vars& x) { return matmul_bias_residual(x[0], x[1], x[2], x[3]); }, {{2, 0}, {0, 2}, {2}, {2, 2}}},
      {"matmul_epilogue", {{2, 2}, {2, 3}, {3}, {2, 1}}, [](const Vars& x) {
         return matmul_epilogue(x[0], x[1], [](auto acc, auto row, auto column) { return silu(acc + row) * column; }, x[2], x[3]);
       }, {{0, 2}, {2, 3}, {3}, {0, 1}}},
      {"matmul_epilogue", {{2, 2}, {2, 3}, {3}}, [](const Vars& x) {
         const auto [y, rows] = matmul_epilogue(x[0], x[1], [](auto acc, auto row) {
           const auto v = tanh(acc + row);
           return std::array{v, sum(v * acc, -1)};
         }, x[2]);
         return y * rows;
       }, {{0, 2}, {2, 3}, {3}}},
      {"matmul_epilogue", {{2, 2}, {2, 4}}, [](const Vars& x) {
         return matmul_epilogue(x[0], x[1], [](auto gate, auto up) { return silu(gate) * up; }, {.parts = 2});
       }, {{0, 2}, {2, 4}}},
      {"matmul_epilogue", {{2, 2}, {2, 4}, {2}}, [](const Vars& x) {
         const auto [y, rows] = matmul_epilogue(x[0], x[1], [](auto gate, auto up, auto bias) {
           const auto v = silu(gate + bias) * up;
           return std::array{v, sum(v, -1)};
         }, {.parts = 2, .interleaved = true}, x[2]);
         return y * rows;
       }, {{0, 2}, {2, 4}, {2}}},
      {"matmul_epilogue", {{2, 2, 2}, {2, 3}, {3}}, [](const Vars& x) {
         const auto [y, columns] = matmul_epilogue(x[0], x[1], [](auto acc, auto row) {
           const auto v = tanh(acc) + row;
           return std::array{v, sum(v * v, -2)};
         }, x[2]);
         return y * columns;
       }},
      {"checkpoint", {{2, 3}, {3}}, [](const Vars& x) {
         return checkpoint([](const Var& a, const Var& b) { return softmax(tanh(a) * b) + a; })(x[0], x[1]);
       }, {{0, 3}, {3}}},
      {"custom_gradient", {{2, 3}, {2, 3}}, [](const Vars& x) { return halved(x[0], x[1]); }, {{0, 3}, {0, 3}}},
      {"row_formula", {{2, 3}, {3}}, [](const Vars& x) {
         return row_formula(Pointwise{"unit", [](auto v, auto gain) { return v * rsqrt(sum(v * v) + 0.5) * gain; }}, x[0], x[1]);
       }, {{0, 3}, {3}}},
      {"causal_softmax", {{2, 3}}, [](const Vars& x) { return causal_softmax(x[0]); }, {{0, 2, 3}}},
      {"add_rms_norm", {{2, 3}, {2, 3}, {3}}, [](const Vars& x) { return add_rms_norm(x[0], x[1], x[2], 0.1).result; }, {{0, 3}, {0, 3}, {3}}},
      {"add_rms_norm", {{2, 3}, {2, 3}, {3}}, [](const Vars& x) {
         const auto [y, total] = add_rms_norm(x[0], x[1], x[2], 0.1);
         return y * total;
       }, {{0, 3}, {0, 3}, {3}}},
      {"add_layer_norm", {{2, 3}, {2, 3}, {3}, {3}}, [](const Vars& x) { return add_layer_norm(x[0], x[1], x[2], x[3], 0.1).result; }, {{0, 3}, {0, 3}, {3}, {3}}},
      {"add_layer_norm", {{2, 3}, {2, 3}, {3}, {3}}, [](const Vars& x) {
         const auto [y, total] = add_layer_norm(x[0], x[1], x[2], x[3], 0.1);
         return y * total;
       }, {{0, 3}, {0, 3}, {3}, {3}}},
      {"softmax", {{2, 3}}, [](const Vars& x) { return softmax(x[0], 0); }, {{3, 0}}},
      {"log_softmax", {{2, 3}}, [](const Vars& x) { return log_softmax(x[0]); }, {{0, 3}}},
      {"rms_norm", {{2, 3}, {3}}, [](const Vars& x) { return rms_norm(x[0], x[1]); }, {{0, 3}, {3}}},
      {"layer_norm", {{2, 3}, {3}, {3}}, [](const Vars& x) { return layer_norm(x[0], x[1], x[2], 0.1); }, {{0, 3}, {3}, {3}}},
      {"cross_entropy", {{2, 3}}, [](const Vars& x) { return cross_entropy(x[0], indices({2, 0}, {2})) * 4; }},
      {"cross_entropy", {{3, 3}}, [](const Vars& x) { return cross_entropy(x[0], indices({2, -1, 0}, {3}), {.ignored = -1}) * 4; }},
      {"cross_entropy", {{3, 3}}, [](const Vars& x) { return cross_entropy(x[0], indices({2, 7, 0}, {3}), {.ignored = 7, .smoothing = 0.25}) * 4; }},
      {"take", {{3, 2}}, [](const Vars& x) { return take(x[0], indices({2, 0, 2, -1}, {2, 2})); }},
      {"take", {{2, 3}}, [](const Vars& x) { return take(x[0], indices({2, 0, 2}, {3}), 1); }, {{0, 3}}},
      {"gather", {{3, 2}}, [](const Vars& x) { return gather(x[0], indices({2, 0, 0, 0, 1, 1}, {3, 2}), 0); }},
      {"scatter_add", {{3, 2}, {4, 2}}, [](const Vars& x) { return scatter_add(x[0], indices({2, 0, 2, 1}, {4}), x[1]); }},
      {"scatter_add", {{2, 3}, {2, 2}}, [](const Vars& x) { return scatter_add(x[0], indices({0, 2, 1, 1}, {2, 2}), x[1], 1); }},
      {"take", {{3, 2}}, [](const Vars& x) { return take(x[0], indices({}, {0})); }, {{3, 0}}},
      {"scatter_add", {{3, 2}, {0, 2}}, [](const Vars& x) { return scatter_add(x[0], indices({}, {0}), x[1]); }, {{3, 0}, {0, 0}}},
      {"cumsum", {{2, 3}}, [](const Vars& x) { return cumsum(x[0], 1); }, {{2, 0}}},
      {"sort", {{2, 3}}, [](const Vars& x) { return sort(x[0], 1).values; }, {{0, 3}}},
      {"sort", {{3, 2}}, [](const Vars& x) { return sort(x[0], 0, true).values; }, {{3, 0}}},
      {"topk", {{4, 2}}, [](const Vars& x) { return topk(x[0], 3, 0).values; }, {{4, 0}}},
      {"topk", {{2, 4}}, [](const Vars& x) { return topk(x[0], 2, 1, false).values; }},
      {"concatenate", {{2, 2}, {2, 1}}, [](const Vars& x) { return concatenate({x[0], x[1], x[0]}, 1); }, {{2, 0}, {2, 0}}},
      {"stack", {{2, 2}, {2, 2}}, [](const Vars& x) { return stack({x[0], x[1]}, 1); }, {{0, 2}, {0, 2}}},
      {"split", {{4, 2}}, [](const Vars& x) { return split(x[0], 2)[0] * split(x[0], 2)[1]; }, {{0, 2}}},
      {"x.to", {{3}}, [](const Vars& x) { return x[0].to(wider(x[0])).to(cpu()).to(x[0].device()); }, {{0}}},
      {"x.contiguous", {{2, 3}}, [](const Vars& x) { return x[0].transpose(0, 1).contiguous(); }, {{0, 3}}},
      {"x.clone", {{2, 3}}, [](const Vars& x) { return x[0].clone(); }, {{2, 0}}},
      {"x.reshape", {{2, 3}}, [](const Vars& x) { return x[0].transpose(0, 1).reshape({2, -1}); }},
      {"x.transpose", {{2, 3}}, [](const Vars& x) { return x[0].transpose(0, 1); }, {{0, 3}}},
      {"x.permute", {{2, 1, 3}}, [](const Vars& x) { return x[0].permute({2, 0, 1}); }, {{2, 1, 0}}},
      {"x.slice", {{5}}, [](const Vars& x) { return x[0].slice(0, 1, 5, 2); }},
      {"x.slice", {{3, 5}}, [](const Vars& x) { return x[0].slice(1, {}, {}, -2) * x[0][1].slice(0, 2); }},
      {"x.flatten", {{2, 2}}, [](const Vars& x) { return x[0].transpose(0, 1).flatten(); }},
      {"x.T", {{2, 3}}, [](const Vars& x) { return x[0].T(); }, {{0, 3}}},
      {"x.mT", {{1, 2, 3}}, [](const Vars& x) { return x[0].mT(); }, {{0, 3}}},
      {"x.squeeze", {{2, 1}}, [](const Vars& x) { return x[0].squeeze(1); }, {{0, 1}}},
      {"x.unsqueeze", {{2}}, [](const Vars& x) { return x[0].unsqueeze(0); }, {{0}}},
      {"x.broadcast_to", {{2, 1}}, [](const Vars& x) { return x[0].broadcast_to({2, 2, 3}); }},
  };
  // Reductions of which every axis set is smooth.
  using Reduce = Var (*)(const Var&, const Axes&, bool);
  const std::pair<const char*, Reduce> reductions[] = {
      {"sum", &sum}, {"mean", &mean},     {"prod", &prod}, {"logsumexp", &logsumexp},
      {"var", &var}, {"std", &tern::std}, {"norm", &norm}};
  for (const auto& [name, reduce] : reductions)
    for (const int axis : {0, 1, 2}) {
      const Axes axes = axis < 2 ? Axes{axis} : Axes{};
      const bool of_nothing = reduce == reductions[0].second || reduce == reductions[2].second || axis == 1;
      list.push_back({name, {{2, 3}}, [reduce = reduce, axes](const Vars& x) { return reduce(x[0], axes, false); },
                      of_nothing ? std::vector<Shape>{{0, 3}} : std::vector<Shape>{}, axis == 0 ? 1 : 0});
    }
  return list;
}

}  // namespace tern::test
