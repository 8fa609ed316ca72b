// Entries of norms.
#include "primitives/linalg/operations/operation.trial.hpp"

namespace tern::operations::matrices {
namespace {

const Entries norms_of_matrices{
    {.name = "matrix_norm",
     .family = Family::linalg,
     .arguments = "a, norm = \"fro\", keepdim = false",
     .says = "The norm of each matrix: \"fro\", \"nuc\" (the sum of singular values), 2 and -2 (the largest and the "
             "smallest), 1 and -1 (of sums of |column|), inf and -inf (of rows)",
     .tolerance = kSpectra,
     .samples = {{.with = "fro",
                  .shapes = matrix,
                  .call = TERN_ON(matrix_norm(nearer(x))),
                  .reference =
                      [](const auto& x) {
                        double sum = 0;
                        for (const double v : squares(nearer(x[0])).of) sum += v;
                        return std::vector{number(std::sqrt(sum))};
                      },
                  .sizes = kSmall,
                  .empty = {}},
                 {.with = "nuc",
                  .shapes = matrix,
                  .call = TERN_ON(matrix_norm(nearer(x), "nuc", true)),
                  .reference =
                      [](const auto& x) {
                        double sum = 0;
                        for (const double v : singular_values(nearer(x[0]))) sum += v;
                        return std::vector{Values{{1, 1}, {sum}}};
                      },
                  .sizes = kSmall,
                  .empty = {}},
                 {.with = "2",
                  .shapes = matrix,
                  .call = TERN_ON(matrix_norm(nearer(x), 2)),
                  .reference = [](const auto& x) { return std::vector{number(singular_values(nearer(x[0]))[0])}; },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {no_matrix("matrix_norm", TERN_ON(matrix_norm(x))),
             {ErrorKind::value,
              {"matrix_norm", "3"},
              [](auto make) {
                matrix_norm(make({2, 2}), 3);
              }},
             {ErrorKind::shape,
              {"matrix_norm", "without elements", "f32[0, 3]"},
              [](auto make) {
                matrix_norm(make({0, 3}), 2);
              }}}},
    {.name = "vector_norm",
     .family = Family::linalg,
     .arguments = "x, norm = 2, axes = {}, keepdim = false",
     .says =
         "(Σ |x|^p)^(1/p) over `axes` (default: all); of infinities the largest and smallest |x|, of 0 how many are "
         "not 0",
     .tolerance = {64, "a sum of 21 powers and its root"},
     .samples = {{.with = "3",
                  .shapes = matrix,
                  .call = TERN_ON(vector_norm(x + 2, 3)),
                  .reference =
                      [](const auto& x) {
                        double sum = 0;
                        for (const double v : x[0].of) sum += std::pow(v + 2, 3);
                        return std::vector{number(std::cbrt(sum))};
                      },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {{ErrorKind::value, {"vector_norm", "\"fro\""}, [](auto make) { vector_norm(make({2}), "fro"); }}}},
    {.name = "matrix_rank",
     .family = Family::linalg,
     .arguments = "a, rtol = -1",
     .says = "How many singular values exceed rtol times the largest (i32)",
     .differentiable = false,
     .tolerance = {0, "a count"},
     .samples = {{.shapes = matrix,
                  .call = TERN_ON(matrix_rank(apart(x))),
                  .reference =
                      [](const auto& x) {
                        return std::vector{number(static_cast<double>(std::min(x[0].shape[0], x[0].shape[1])))};
                      },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {no_matrix("matrix_rank", TERN_ON(matrix_rank(x)))}},
    {.name = "cond",
     .family = Family::linalg,
     .arguments = "a, norm = 2",
     .says = "The condition number: norm(a)·norm(a⁻¹); of the norm 2 the quotient of singular values, of any shape",
     .tolerance = kSpectra,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(cond(apart(x))),
                  .reference =
                      [](const auto& x) {
                        const std::vector<double> s = singular_values(apart(x[0]));
                        return std::vector{number(s.front() / s.back())};
                      },
                  .sizes = {{2, 3}, {2, 2}},
                  .empty = {}}},
     .bad = {no_matrix("cond", TERN_ON(cond(x)))}},
};

}  // namespace
}  // namespace tern::operations::matrices
