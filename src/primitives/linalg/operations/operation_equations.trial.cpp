// Entries of equations, inverses and determinants.
#include "primitives/linalg/operations/operation.trial.hpp"

namespace tern::operations::matrices {
namespace {

const auto solution = [](const auto& x) { return std::vector{values(solved(regular(x[0]), dense(x[1])))}; };
const auto inverse = [](const auto& x) {
  const Dense a = regular(x[0]);
  return std::vector{values(solved(a, identity(a.rows)))};
};
const BadInput other_rows(const char* name, auto call) {
  return {shape, {name, "rows", "[2, 2]", "[3, 1]"}, [call](auto make) { call(make({2, 2}), make({3, 1})); }};
}
#define TERN_ON_TWO(...) [](const auto& x, const auto& b) { return __VA_ARGS__; }

const Entries equations{
    {.name = "lu_solve",
     .family = Family::linalg,
     .arguments = "lu, pivots, b",
     .says = "The solution of a·x = b from what lu_factor gave, b [.., N, K]",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call =
                      [](const auto& x, const auto& b) {
                        const auto f = lu_factor(regular(x));
                        return lu_solve(f.lu, f.pivots, b);
                      },
                  .reference = solution,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("lu_solve", TERN_ON_TWO(lu_solve(x, zeros({2}, i32), b)))}},
    {.name = "solve",
     .family = Family::linalg,
     .arguments = "a, b",
     .says = "The solution x of a·x = b, a [.., N, N], b [.., N, K] or vectors: [N], or of the shape of a without its "
             "last axis",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = TERN_ON_TWO(solve(regular(x), b)),
                  .reference = solution,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("solve", TERN_ON_TWO(solve(x, b))),
             {shape,
              {"solve", "square", "[2, 3]"},
              [](auto make) {
                solve(make({2, 3}), make({2, 1}));
              }}}},
    {.name = "solve_ex",
     .family = Family::linalg,
     .arguments = "a, b",
     .says = "{result, info}: solve that throws nothing for values; info as of lu_factor_ex",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = TERN_ON_TWO(solve_ex(regular(x), b).result),
                  .reference = solution,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("solve_ex", TERN_ON_TWO(solve_ex(x, b)))}},
    {.name = "solve_triangular",
     .family = Family::linalg,
     .arguments = "a, b, upper, left = true, unit_triangular = false",
     .says =
         "The solution of a·x = b, or with `left` = false of x·a = b, with a triangle of a: `unit_triangular` takes "
         "its diagonal as ones",
     .tolerance = kSolved,
     .samples = {{.with = "lower",
                  .shapes = square_and_right,
                  .call = TERN_ON_TWO(solve_triangular(regular(x), b, false)),
                  .reference =
                      [](const auto& x) {
                        Dense a = regular(x[0]);
                        for (std::size_t i = 0; i < a.rows; ++i)
                          for (std::size_t j = i + 1; j < a.rows; ++j) a(i, j) = 0;
                        return std::vector{values(solved(a, dense(x[1])))};
                      },
                  .sizes = kSmall,
                  .empty = kNothing},
                 {.with = "upper, right, ones",
                  .shapes = square_and_right,
                  .call = TERN_ON_TWO(solve_triangular(x * 0.5, b.mT(), true, false, true)),
                  .reference =
                      [](const auto& x) {
                        Dense a = dense(x[0]);
                        for (std::size_t i = 0; i < a.rows; ++i)
                          for (std::size_t j = 0; j < a.rows; ++j) a(i, j) = j > i ? a(i, j) * 0.5 : i == j;
                        return std::vector{values(transposed(solved(transposed(a), dense(x[1]))))};
                      },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("solve_triangular", TERN_ON_TWO(solve_triangular(x, b, true)))}},
    {.name = "cholesky_solve",
     .family = Family::linalg,
     .arguments = "b, l, upper = false",
     .says = "The solution of l·lᴴ·x = b, b [.., N, K], with the factor that cholesky gave; with `upper` of lᴴ·l·x = b",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = TERN_ON_TWO(cholesky_solve(b, cholesky(definite(x)))),
                  .reference = [](const auto& x) { return std::vector{values(solved(definite(x[0]), dense(x[1])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("cholesky_solve", TERN_ON_TWO(cholesky_solve(b, x)))}},
    {.name = "inv",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The inverse",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(inv(regular(x))),
                  .reference = inverse,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("inv", inv(x))},
    {.name = "inv_ex",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{inverse, info}: inv that throws nothing for values; info as of lu_factor_ex",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(inv_ex(regular(x)).inverse),
                  .reference = inverse,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("inv_ex", inv_ex(x))},
    {.name = "pinv",
     .family = Family::linalg,
     .arguments = "a, rtol = -1",
     .says = "The Moore-Penrose inverse [.., N, M], of matrices of any shape: singular values up to rtol times the "
             "largest count as 0",
     .tolerance = kSpectra,
     .samples = {{.with = "tall",
                  .shapes = tall,
                  .call = TERN_ON(pinv(nearer(x))),
                  .reference =
                      [](const auto& x) {
                        const Dense a = nearer(x[0]);
                        return std::vector{values(solved(product(transposed(a), a), transposed(a)))};
                      },
                  .sizes = kSmall,
                  .empty = {}},
                 {.with = "wide",
                  .shapes = matrix,
                  .call = TERN_ON(pinv(nearer(x))),
                  .reference =
                      [](const auto& x) {
                        const Dense a = transposed(nearer(x[0]));
                        return std::vector{values(transposed(solved(product(transposed(a), a), transposed(a))))};
                      },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {no_matrix("pinv", TERN_ON(pinv(x)))}},
    {.name = "det",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The determinant",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(det(regular(x))),
                  .reference = [](const auto& x) { return std::vector{number(determinant(regular(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("det", det(x))},
    {.name = "slogdet",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{sign, logabsdet}: the determinant as sign·exp(logabsdet); of singular matrices 0 and -inf",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call =
                      [](const auto& x) {
                        const auto d = slogdet(regular(x));
                        return list(d.sign, d.logabsdet);
                      },
                  .reference =
                      [](const auto& x) {
                        const double d = determinant(regular(x[0]));
                        return std::vector{number(d < 0 ? -1 : 1), number(std::log(std::abs(d)))};
                      },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("slogdet", slogdet(x))},
    {.name = "lstsq",
     .family = Family::linalg,
     .arguments = "a, b, rtol = -1",
     .says = "{solution, rank, singular_values}: the x that makes the 2-norm of a·x - b smallest, the shortest where "
             "there are many",
     .tolerance = kSpectra,
     .samples = {{.shapes = tall_and_right,
                  .call = TERN_ON_TWO(lstsq(apart(x), b).solution),
                  .reference =
                      [](const auto& x) {
                        const Dense a = apart(x[0]);
                        return std::vector{
                            values(solved(product(transposed(a), a), product(transposed(a), dense(x[1]))))};
                      },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {other_rows("lstsq", TERN_ON_TWO(lstsq(x, b)))}},
};
#undef TERN_ON_TWO

}  // namespace
}  // namespace tern::operations::matrices
