// Entries of the products of matrices (operation_matmul.cpp, operation_epilogue.cpp, operation_matmul_epilogue.cpp).
#include <cmath>

#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

// ---- references ----
/// f(element, row, column) of every element of a matrix.
template <class F> Values changed(Values y, F f) {
  const auto columns = static_cast<std::size_t>(y.shape.back());
  for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] = f(y.of[i], i / columns, i % columns);
  return y;
}
Values with_row(const Values& y, const Values& row) {
  return changed(y, [&](double v, std::size_t, std::size_t column) { return v + row.of[column]; });
}
double silu_of(double x) { return x / (1 + std::exp(-x)); }
Values sum_of_rows(const Values& x) {
  Values y{{x.shape[1]}, std::vector<double>(static_cast<std::size_t>(x.shape[1]))};
  for (std::size_t i = 0; i < x.of.size(); ++i) y.of[i % y.of.size()] += x.of[i];
  return y;
}

// ---- what the archive has ----
/// Products whose factors lie each way, of few tiles and of many, and deep ones, for which there is split-K.
std::vector<ArchivedCall> archived_products() {
  const auto factor = [](std::int64_t rows, std::int64_t columns, bool transposed, DType dtype) {
    return transposed ? zeros({columns, rows}, dtype).transpose(0, 1) : zeros({rows, columns}, dtype);
  };
  constexpr std::int64_t side = kArchivedSide;
  std::vector<ArchivedCall> list;
  for (const std::int64_t n : {side, std::int64_t{4096}})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        list.push_back([=](DType dtype) { matmul(factor(n, n, a, dtype), factor(n, n, b, dtype)); });
  list.push_back([](DType dtype) { matmul(zeros({side, 1 << 14}, dtype), zeros({1 << 14, side}, dtype)); });
  for (const Shape& second : {Shape{side, side}, Shape{2, side, side}})
    list.push_back([=](DType dtype) {
      return matmul(Var(zeros({2, side, side}, dtype), is_floating(dtype)),
                    Var(zeros(second, dtype), is_floating(dtype)));
    });
  return list;
}

// ---- operands ----
std::vector<Shape> factors_and_bias(Sizes s) { return {{s.rows, s.columns}, {s.columns, s.rows}, {s.rows}}; }
const std::vector<Sizes> kNoColumns = {{2, 0}};

constexpr Tolerance kActivatedProducts{64, "sums of 37 products, and an activation of a few roundings"};

/// An epilogue without an independent reference: its parts are compared elsewhere, its gradients as all are.
template <class F> Sample epilogue(const char* with, std::vector<Shape> shapes, std::vector<Sizes> empty, F call) {
  return {.with = with,
          .shapes =
              [shapes](Sizes s) {
                std::vector<Shape> list = shapes;
                for (Shape& shape : list)  // whose 0 is the rows, of which there may be none
                  for (std::size_t i = 0; i < shape.size(); ++i)
                    if (shape[i] == 0) shape[i] = s.rows;
                return list;
              },
          .call = call,
          .sizes = {{2, 3}},
          .empty = std::move(empty)};
}

const Entries matrix_products{
    {.name = "matmul",
     .family = Family::products,
     .arguments = "a, b",
     .says = "NumPy's rules: [.., M, K] × [.., K, N] → [.., M, N], batch axes broadcast; 1-D operands are a row on the "
             "left, a "
             "column on the right, and their axis is dropped",
     .tolerance = kActivatedProducts,
     .archived = archived_products(),
     .samples = {{.with = "matrices",
                  .shapes = shapes_of_factors,
                  .call = [](const auto& a, const auto& b) { return matmul(a, b); },
                  .reference = [](const auto& x) { return std::vector{matrix_product(x[0], x[1])}; },
                  .empty = kNoColumns,
                  .kernel_calls = 1,
                  .flops = [](Sizes s) { return 2 * s.rows * s.columns * s.rows; }},
                 {.with = "a row and a batch",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.columns}, {2, s.columns, s.rows}};
                      },
                  .call = [](const auto& a, const auto& b) { return matmul(a, b); },
                  .reference =
                      [](const auto& x) {
                        Values y = matrix_product({{1, x[0].shape[0]}, x[0].of}, x[1]);
                        y.shape = {2, x[1].shape[2]};
                        return std::vector{y};
                      },
                  .empty = {}},
                 {.with = "a batch of one and a matrix",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{1, s.rows, s.columns}, {s.columns, s.rows}};
                      },
                  .call = [](const auto& a, const auto& b) { return matmul(a, b); },
                  .reference = [](const auto& x) { return std::vector{matrix_product(x[0], x[1])}; },
                  .empty = {}},
                 {.with = "a batch and a column",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{2, s.rows, s.columns}, {s.columns}};
                      },
                  .call = [](const auto& a, const auto& b) { return matmul(a, b); },
                  .reference =
                      [](const auto& x) {
                        Values y = matrix_product(x[0], {{x[1].shape[0], 1}, x[1].of});
                        y.shape = {2, x[0].shape[1]};
                        return std::vector{y};
                      },
                  .empty = {}}},
     .bad = {{shape,
              {"matmul: inner dimensions differ: a is f32[64, 128], b is f32[256, 32]"},
              [](auto make) {
                matmul(make({64, 128}), make({256, 32}));
              }},
             {shape, {"matmul", "f32[3]", "f32[4]"}, [](auto make) { matmul(make({3}), make({4})); }},
             {shape, {"matmul", "f32[]"}, [](auto make) { matmul(make({}), make({4})); }},
             {shape,
              {"matmul", "f32[2, 3, 4]", "f32[3, 4, 5]"},
              [](auto make) {
                matmul(make({2, 3, 4}), make({3, 4, 5}));
              }}}},
    {.name = "matmul_bias_activation",
     .family = Family::products,
     .arguments = "a, b, bias, activation, options = {}",
     .says = "activation(a·b + bias) with a, b at least 2-D and bias [N]; the activation is any one-argument formula, "
             "a lambda "
             "or one of op::identity, op::relu, op::gelu, op::silu, op::sigmoid, op::tanh",
     .tolerance = kActivatedProducts,
     .samples = {{.shapes = factors_and_bias,
                  .call = [](const auto& a, const auto& b,
                             const auto& bias) { return matmul_bias_activation(a, b, bias, op::silu); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{changed(with_row(matrix_product(x[0], x[1]), x[2]),
                                                   [](double v, auto, auto) { return silu_of(v); })};
                      },
                  .empty = kNoColumns,
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"matmul_bias_activation", "inner dimensions", "f32[2, 3]", "f32[4, 3]"},
              [](auto make) {
                matmul_bias_activation(make({2, 3}), make({4, 3}), make({3}), op::relu);
              }},
             {shape,
              {"matmul_bias_activation", "bias", "[4]", "f32[3]"},
              [](auto make) {
                matmul_bias_activation(make({2, 3}), make({3, 4}), make({3}), op::relu);
              }},
             {shape,
              {"matmul_bias_activation", "activation", "2"},
              [](auto make) {
                matmul_bias_activation(make({2, 3}), make({3, 4}), make({4}), op::add);
              }}}},
    {.name = "matmul_bias",
     .family = Family::products,
     .arguments = "a, b, bias",
     .says = "a·b + bias",
     .tolerance = kActivatedProducts,
     .samples = {{.shapes = factors_and_bias,
                  .call = [](const auto& a, const auto& b, const auto& bias) { return matmul_bias(a, b, bias); },
                  .reference = [](const auto& x) { return std::vector{with_row(matrix_product(x[0], x[1]), x[2])}; },
                  .empty = kNoColumns,
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"matmul_bias", "f32[3]"},
              [](auto make) {
                matmul_bias(make({3}), make({3, 4}), make({4}));
              }}}},
    {.name = "matmul_activation",
     .family = Family::products,
     .arguments = "a, b, activation",
     .says = "activation(a·b)",
     .tolerance = kActivatedProducts,
     .samples = {{.shapes = shapes_of_factors,
                  .call = [](const auto& a, const auto& b) { return matmul_activation(a, b, op::tanh); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{
                            changed(matrix_product(x[0], x[1]), [](double v, auto, auto) { return std::tanh(v); })};
                      },
                  .empty = kNoColumns,
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"matmul_activation", "f32[3]"},
              [](auto make) {
                matmul_activation(make({2, 3}), make({3}), op::relu);
              }},
             {dtype,
              {"matmul_activation", "floating-point"},
              [](auto make) {
                matmul_activation(make({2, 3}, i32), make({3, 2}, i32), op::relu);
              }}}},
    {.name = "matmul_bias_residual",
     .family = Family::products,
     .arguments = "a, b, bias, residual",
     .says = "a·b + bias + residual, residual of the result's shape (or broadcasting to it)",
     .tolerance = kActivatedProducts,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.columns, s.rows}, {s.rows}, {s.rows, s.rows}};
                      },
                  .call = [](const auto& a, const auto& b, const auto& bias,
                             const auto& r) { return matmul_bias_residual(a, b, bias, r); },
                  .reference =
                      [](const auto& x) {
                        const auto columns = static_cast<std::size_t>(x[3].shape[1]);
                        return std::vector{changed(with_row(matrix_product(x[0], x[1]), x[2]),
                                                   [&](double v, std::size_t row, std::size_t column) {
                                                     return v + x[3].of[row * columns + column];
                                                   })};
                      },
                  .empty = kNoColumns,
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"matmul_bias_residual", "[5]", "[2, 4]"},
              [](auto make) {
                matmul_bias_residual(make({2, 3}), make({3, 4}), make({4}), make({5}));
              }}}},
    {.name = "matmul_bias_activation_bwd",
     .family = Family::products,
     .arguments = "grad, a, b, bias, activation, options = {}",
     .says = "With pre = a·b + bias and g = grad · activation'(pre): d_a = g·bᵀ, d_b = aᵀ·g, d_bias = Σ g, each in the "
             "shape of "
             "its input (summed over the batch axes on which that was broadcast)",
     .differentiable = false,
     .tolerance = {64,
                   "the gradient of a·b + bias is stored, and its roundings are up to 4 times as large in sums of 37",
                   4},
     .samples =
         {{.shapes =
               [](Sizes s) {
                 return std::vector<Shape>{{s.rows, s.rows}, {s.rows, s.columns}, {s.columns, s.rows}, {s.rows}};
               },
           .call = Call::of_one_type([](const auto& grad, const auto& a, const auto& b, const auto& bias) {
             const auto g =
                 matmul_bias_activation_bwd(elements(grad), elements(a), elements(b), elements(bias), op::square);
             return std::vector{g.d_a, g.d_b, g.d_bias};
           }),
           .reference =
               [](const auto& x) {
                 const Values pre = with_row(matrix_product(x[1], x[2]), x[3]);
                 const auto n = static_cast<std::size_t>(pre.shape[1]);
                 const Values g = changed(x[0], [&](double v, std::size_t row, std::size_t column) {
                   return v * 2 * pre.of[row * n + column];
                 });
                 return std::vector{matrix_product(g, transposed(x[2])), matrix_product(transposed(x[1]), g),
                                    sum_of_rows(g)};
               },
           .empty = {}}},
     .bad = {{shape,
              {"matmul_bias_activation_bwd", "grad", "f32[2, 4]", "f32[4]"},
              [](auto) {
                matmul_bias_activation_bwd(ones({4}), ones({2, 3}), ones({3, 4}), ones({4}), op::relu);
              }}}},
};

const Entries epilogues{
    {.name = "matmul_epilogue",
     .family = Family::products,
     .arguments = "a, b, formula, options, operands",
     .says = "formula(a·b, operands…) in one pass over the product, a and b at least 2-D: the formula is a Pointwise "
             "or a lambda "
             "of the accumulator and the operands (tensors or numbers) in call order",
     .tolerance = kActivatedProducts,
     .samples = {{.with = "a row and a column",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.columns, 3}, {3}, {s.rows, 1}};
                      },
                  .call =
                      [](const auto& a, const auto& b, const auto& row, const auto& column) {
                        return matmul_epilogue(
                            a, b, [](auto acc, auto r, auto c) { return silu(acc + r) * c; }, row, column);
                      },
                  .reference =
                      [](const auto& x) {
                        return std::vector{
                            changed(with_row(matrix_product(x[0], x[1]), x[2]),
                                    [&](double v, std::size_t row, auto) { return silu_of(v) * x[3].of[row]; })};
                      },
                  .empty = {{0, 2}}},
                 epilogue("sums of rows", {{0, 2}, {2, 3}, {3}}, {{0, 2}},
                          [](const auto& a, const auto& b, const auto& row) {
                            const auto [y, rows] = matmul_epilogue(
                                a, b,
                                [](auto acc, auto r) {
                                  const auto v = tanh(acc + r);
                                  return std::array{v, sum(v * acc, -1)};
                                },
                                row);
                            return std::vector{y, rows};
                          }),
                 epilogue("two products", {{0, 2}, {2, 4}}, {{0, 2}},
                          [](const auto& a, const auto& b) {
                            return matmul_epilogue(a, b, [](auto gate, auto up) { return silu(gate) * up; },
                                                   {.parts = 2});
                          }),
                 epilogue("two products, interleaved", {{0, 2}, {2, 4}, {2}}, {{0, 2}},
                          [](const auto& a, const auto& b, const auto& bias) {
                            const auto [y, rows] = matmul_epilogue(
                                a, b,
                                [](auto gate, auto up, auto r) {
                                  const auto v = silu(gate + r) * up;
                                  return std::array{v, sum(v, -1)};
                                },
                                {.parts = 2, .interleaved = true}, bias);
                            return std::vector{y, rows};
                          }),
                 epilogue("sums of columns", {{2, 2, 2}, {2, 3}, {3}}, {},
                          [](const auto& a, const auto& b, const auto& row) {
                            const auto [y, columns] = matmul_epilogue(
                                a, b,
                                [](auto acc, auto r) {
                                  const auto v = tanh(acc) + r;
                                  return std::array{v, sum(v * v, -2)};
                                },
                                row);
                            return std::vector{y, columns};
                          })},
     .bad = {{shape,
              {"matmul_epilogue"},
              [](auto make) {
                matmul_epilogue(
                    make({2, 3}), make({3, 4}), [](auto acc, auto r) { return acc + r; }, make({5}));
              }}}},
};

}  // namespace
}  // namespace tern::operations
