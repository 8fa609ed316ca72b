// Entries of sums of products over named axes (einsum.cpp, products.cpp).
#include "ops/operands.trial.hpp"
#include "tern/products.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// Σ f(k) for k below n.
template <class F> double summed(std::size_t n, F f) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += f(k);
  return sum;
}
std::vector<Values> kronecker(const Values& a, const Values& b) {
  return std::vector{made(size(a, 0) * size(b, 0), size(a, 1) * size(b, 1), [&](std::size_t i, std::size_t j) {
    return at(a, i / size(b, 0), j / size(b, 1)) * at(b, i % size(b, 0), j % size(b, 1));
  })};
}
/// Rows of three, crossed.
std::vector<Values> crossed(const Values& a, const Values& b) {
  return std::vector{made(size(a, 0), 3, [&](std::size_t i, std::size_t j) {
    return at(a, i, (j + 1) % 3) * at(b, i, (j + 2) % 3) - at(a, i, (j + 2) % 3) * at(b, i, (j + 1) % 3);
  })};
}

constexpr Tolerance kSumsOfProducts{64, "sums of 37 products"};
constexpr Tolerance kTwoSums{64, "two sums of 37 products, one of which is stored", 40};

const Entries named_products{
    {.name = "einsum",
     .family = Family::products,
     .arguments = "equation, operands",
     .says =
         "Σ of products over the letters that the result lacks, as NumPy writes it: \"ij,jk->ik\", "
         "\"bhld,bhmd->bhlm\", \"ii->i\", \"...ij,...jk\" (without -> the result has the letters that stand once, in "
         "alphabetical order)",
     .tolerance = kTwoSums,
     .samples = {{.with = "matrices",
                  .shapes = shapes_of_factors,
                  .call = [](const auto& a, const auto& b) { return einsum("ij,jk->ik", a, b); },
                  .reference = [](const auto& x) { return std::vector{matrix_product(x[0], x[1])}; },
                  .empty = {{0, 3}, {2, 0}}},
                 {.with = "the result turned",
                  .shapes = shapes_of_factors,
                  .call = [](const auto& a, const auto& b) { return einsum("ij,jk->ki", a, b); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{made(size(x[1], 1), size(x[0], 0), [&](std::size_t j, std::size_t i) {
                          return summed(size(x[0], 1), [&](std::size_t k) { return at(x[0], i, k) * at(x[1], k, j); });
                        })};
                      },
                  .empty = {{2, 0}}},
                 {.with = "rows",
                  .shapes = two_alike,
                  .call = [](const auto& a, const auto& b) { return einsum("ij, ij -> i", a, b); },
                  .reference =
                      [](const auto& x) {
                        Values y{{x[0].shape[0]}, {}};
                        for (std::size_t i = 0; i < size(x[0], 0); ++i)
                          y.of.push_back(
                              summed(size(x[0], 1), [&](std::size_t k) { return at(x[0], i, k) * at(x[1], i, k); }));
                        return std::vector{y};
                      }},
                 {.with = "three operands",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.columns, 2}, {2, s.rows}};
                      },
                  .call = [](const auto& a, const auto& b, const auto& c) { return einsum("ij,jk,kl", a, b, c); },
                  .reference =
                      [](const auto& x) { return std::vector{matrix_product(matrix_product(x[0], x[1]), x[2])}; }},
                 {.with = "a diagonal",
                  .shapes = square_matrix,
                  .call = [](const auto& x) { return einsum("ii->i", x); },
                  .reference =
                      [](const auto& x) {
                        Values y{{x[0].shape[0]}, {}};
                        for (std::size_t i = 0; i < size(x[0], 0); ++i) y.of.push_back(at(x[0], i, i));
                        return std::vector{y};
                      }}},
     .bad = {{value,
              {"einsum", "ij,jk->ik", "names 2 operands, got 1"},
              [](auto make) {
                einsum("ij,jk->ik", make({2, 3}));
              }},
             {value,
              {"einsum", "unexpected '1'"},
              [](auto make) {
                einsum("i1->i", make({2, 3}));
              }},
             {value,
              {"einsum", "'z'", "no operand"},
              [](auto make) {
                einsum("ij->z", make({2, 3}));
              }},
             {value,
              {"einsum", "'i' twice"},
              [](auto make) {
                einsum("ij->ii", make({2, 3}));
              }},
             {shape,
              {"einsum", "operand 1", "f32[2, 3]", "3 axes"},
              [](auto make) {
                einsum("ijk->i", make({2, 3}));
              }},
             {shape,
              {"einsum", "'j'", "3 and 4"},
              [](auto make) {
                einsum("ij,jk", make({2, 3}), make({4, 5}));
              }},
             {shape,
              {"einsum", "'i'", "2 and 3"},
              [](auto make) {
                einsum("ii", make({2, 3}));
              }}}},
    {.name = "tensordot",
     .family = Family::products,
     .arguments = "a, b, axes = 2",
     .says = "Σ of products over the last `axes` axes of a and the first ones of b, in order: of 1 the product of "
             "matrices, of 0 the outer product",
     .tolerance = kSumsOfProducts,
     .samples =
         {{.shapes = shapes_of_factors,
           .call = [](const auto& a, const auto& b) { return tensordot(a, b, 1); },
           .reference = [](const auto& x) { return std::vector{matrix_product(x[0], x[1])}; },
           .empty = {{0, 3}, {2, 0}}},
          {.with = "pairs of axes",
           .shapes = shapes_of_factors,
           .call =
               [](const auto& a, const auto& b) {
                 return tensordot(a, b, {1, 0}, {0, 1});
               },
           .reference =
               [](const auto& x) {
                 const auto y = matrix_product(x[0], x[1]);
                 return std::vector{Values{{}, {summed(size(y, 0), [&](std::size_t i) { return at(y, i, i); })}}};
               }}},
     .bad = {{index,
              {"tensordot", "3 axes", "f32[2, 3]"},
              [](auto make) {
                tensordot(make({2, 3}), make({2, 3}), 3);
              }},
             {shape,
              {"tensordot", "axis 1 of a", "axis 0 of b"},
              [](auto make) {
                tensordot(make({2, 3}), make({2, 3}), 1);
              }},
             {shape,
              {"tensordot", "as many axes"},
              [](auto make) {
                tensordot(make({2, 3}), make({2, 3}), {0}, {0, 1});
              }},
             {index,
              {"tensordot", "twice"},
              [](auto make) {
                tensordot(make({2, 2}), make({2, 2}), {0, 0}, {0, 1});
              }}}},
    {.name = "inner",
     .family = Family::products,
     .arguments = "a, b",
     .says = "Σ of products over the last axes: [.., K] and [.., K] give the first's other axes, then the second's",
     .tolerance = kSumsOfProducts,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& a, const auto& b) { return inner(a, b); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{made(size(x[0], 0), size(x[1], 0), [&](std::size_t i, std::size_t j) {
                          return summed(size(x[0], 1), [&](std::size_t k) { return at(x[0], i, k) * at(x[1], j, k); });
                        })};
                      },
                  .empty = {{2, 0}}}},
     .bad = {{shape,
              {"inner", "f32[2, 3]", "f32[3, 2]"},
              [](auto make) {
                inner(make({2, 3}), make({3, 2}));
              }}}},
    {.name = "outer",
     .family = Family::products,
     .arguments = "a, b",
     .says = "Every element of a times every element of b, both taken as lists: [N] and [M] give [N, M]",
     .tolerance = {1, "one product"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows}, {s.columns}};
                      },
                  .call = [](const auto& a, const auto& b) { return outer(a, b); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{made(x[0].of.size(), x[1].of.size(),
                                                [&](std::size_t i, std::size_t j) { return x[0].of[i] * x[1].of[j]; })};
                      }}},
     .bad = {{shape, {"outer", "undefined"}, [](auto make) { outer(make({2}), decltype(make({}))()); }}}},
    {.name = "vecdot",
     .family = Family::products,
     .arguments = "a, b, axis = -1",
     .says = "Σ a·b along an axis, after broadcasting",
     .tolerance = kSumsOfProducts,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& a, const auto& b) { return vecdot(a, b); },
                  .reference =
                      [](const auto& x) {
                        Values y{{x[0].shape[0]}, {}};
                        for (std::size_t i = 0; i < size(x[0], 0); ++i)
                          y.of.push_back(
                              summed(size(x[0], 1), [&](std::size_t k) { return at(x[0], i, k) * at(x[1], i, k); }));
                        return std::vector{y};
                      },
                  .kernel_calls = 1}},
     .bad = {{shape, {"vecdot", "[2]", "[3]"}, [](auto make) { vecdot(make({2}), make({3})); }},
             {index, {"vecdot", "axis 1"}, [](auto make) { vecdot(make({2}), make({2}), 1); }}}},
    {.name = "cross",
     .family = Family::products,
     .arguments = "a, b, axis = -1",
     .says = "The vector product a × b along an axis of size 3, after broadcasting",
     .tolerance = {4, "two products and their difference"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 3}, {s.rows, 3}};
                      },
                  .call = [](const auto& a, const auto& b) { return cross(a, b); },
                  .reference = [](const auto& x) { return crossed(x[0], x[1]); }}},
     .bad = {{shape, {"cross", "size 3", "f32[2]"}, [](auto make) { cross(make({2}), make({2})); }}}},
    {.name = "kron",
     .family = Family::products,
     .arguments = "a, b",
     .says = "The Kronecker product: blocks a[i, j]·b, of tensors of any rank",
     .tolerance = {1, "one product"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 2}, {2, s.columns}};
                      },
                  .call = [](const auto& a, const auto& b) { return kron(a, b); },
                  .reference = [](const auto& x) { return kronecker(x[0], x[1]); }}},
     .bad = {{shape,
              {"kron", "4 axes"},
              [](auto make) {
                kron(make({1, 1, 1, 1, 1}), make({2}));
              }}}},
    {.name = "trace",
     .family = Family::products,
     .arguments = "x, offset = 0",
     .says = "Σ x[.., i, i + offset] over the diagonal of the last two axes",
     .tolerance = kSumsOfProducts,
     .samples =
         {{.shapes = square_matrix,
           .call = [](const auto& x) { return trace(x); },
           .reference =
               [](const auto& x) {
                 return std::vector{Values{{}, {summed(size(x[0], 0), [&](std::size_t i) { return at(x[0], i, i); })}}};
               },
           .empty = {{2, 0}}}},
     .bad = {{shape, {"trace", "two axes", "f32[3]"}, [](auto make) { trace(make({3})); }}}},
    {.name = "matrix_power",
     .family = Family::products,
     .arguments = "x, n",
     .says = "The product of n times the square matrix x, by squaring; of 0 the identity, of a negative n that of its "
             "inverse",
     .tolerance = {200, "two sums of 7 products of up to 7", 50},
     .samples = {{.shapes = square_matrix,
                  .call = [](const auto& x) { return matrix_power(x, 3); },
                  .reference =
                      [](const auto& x) { return std::vector{matrix_product(matrix_product(x[0], x[0]), x[0])}; },
                  .sizes = kSmall,
                  .empty = {{2, 0}}}},
     .bad = {{shape,
              {"matrix_power", "square", "f32[2, 3]"},
              [](auto make) {
                matrix_power(make({2, 3}), 2);
              }},
             {dtype, {"matrix_power", "inv"}, [](auto) { matrix_power(ones({2, 2}, i32), -1); }}}},
    {.name = "multi_dot",
     .family = Family::products,
     .arguments = "matrices",
     .says = "The product of two or more matrices in the order that takes the fewest multiplications",
     .tolerance = kTwoSums,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.columns, 2}, {2}};
                      },
                  .call = Call::of_one_type([](const auto& a, const auto& b, const auto& c) {
                    return multi_dot(std::vector{a, b, c});
                  }),
                  .reference =
                      [](const auto& x) {
                        Values column{{2, 1}, x[2].of}, y = matrix_product(matrix_product(x[0], x[1]), column);
                        y.shape = {y.shape[0]};
                        return std::vector{y};
                      }}},
     .bad = {{shape, {"multi_dot", "at least two", "1"}, [](auto make) { multi_dot(std::vector{make({2, 2})}); }},
             {shape,
              {"multi_dot", "1 and 2", "f32[2, 3]"},
              [](auto make) { multi_dot(std::vector{make({2, 3}), make({2, 3})}); }},
             {shape,
              {"multi_dot", "matrix 2", "f32[2]"},
              [](auto make) { multi_dot(std::vector{make({2, 2}), make({2}), make({2, 2})}); }}}},
};

}  // namespace
}  // namespace tern::operations
