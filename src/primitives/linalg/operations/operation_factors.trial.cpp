// Entries of factorisations. Signs of factors are not determined, so samples compare squares of their elements.
#include "primitives/linalg/operations/operation.trial.hpp"

namespace tern::operations::matrices {
namespace {

const Entries factorisations{
    {.name = "cholesky",
     .family = Family::linalg,
     .arguments = "a, upper = false",
     .says = "The lower triangular L with L·Lᴴ = a, or with `upper` U = Lᴴ, of Hermitian positive definite matrices",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(cholesky(definite(x))),
                  .reference = [](const auto& x) { return std::vector{values(lower_factor(definite(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing},
                 {.with = "upper",
                  .shapes = square_matrix,
                  .call = TERN_ON(cholesky(definite(x), true)),
                  .reference =
                      [](const auto& x) { return std::vector{values(transposed(lower_factor(definite(x[0]))))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("cholesky", cholesky(x))},
    {.name = "cholesky_ex",
     .family = Family::linalg,
     .arguments = "a, upper = false",
     .says = "{l, info}: cholesky that throws nothing for values: info, i32 [..], is 0, or the order of the leading "
             "minor that is not positive, or -1 where an element is not finite",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(cholesky_ex(definite(x)).l),
                  .reference = [](const auto& x) { return std::vector{values(lower_factor(definite(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("cholesky_ex", cholesky_ex(x))},
    {.name = "lu",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{p, l, u} with p·l·u = a: a permutation, a lower triangle with ones on its diagonal, an upper triangle",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call =
                      [](const auto& x) {
                        const auto f = lu(regular(x));
                        return list(f.l, f.u);
                      },
                  .reference =
                      [](const auto& x) {
                        Dense l = lu_factors(regular(x[0])).lu, u = l;
                        for (std::size_t i = 0; i < l.rows; ++i)
                          for (std::size_t j = 0; j < l.rows; ++j) (j > i ? l : u)(i, j) = j == i ? u(i, j) : 0;
                        for (std::size_t i = 0; i < l.rows; ++i) l(i, i) = 1;
                        return std::vector{values(l), values(u)};
                      },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("lu", TERN_ON(lu(x))), no_floats("lu", TERN_ON(lu(x)))}},
    {.name = "lu_factor",
     .family = Family::linalg,
     .arguments = "a",
     .says =
         "{lu, pivots}: both triangles in one matrix, and pivots (i32, [.., min(M, N)], from 0): row i was exchanged "
         "with row pivots[i]",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(lu_factor(regular(x)).lu),
                  .reference = [](const auto& x) { return std::vector{values(lu_factors(regular(x[0])).lu)}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("lu_factor", TERN_ON(lu_factor(x))), no_floats("lu_factor", TERN_ON(lu_factor(x)))}},
    {.name = "lu_factor_ex",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{lu, pivots, info}: lu_factor that throws nothing for values: info is 0, or the number (from 1) of the "
             "first pivot that is 0, or -1 where an element is not finite",
     .tolerance = kSolved,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(lu_factor_ex(regular(x)).lu),
                  .reference = [](const auto& x) { return std::vector{values(lu_factors(regular(x[0])).lu)}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("lu_factor_ex", TERN_ON(lu_factor_ex(x)))}},
    {.name = "qr",
     .family = Family::linalg,
     .arguments = "a, complete = false",
     .says =
         "{q, r} with q·r = a, q of orthonormal columns and r upper triangular: q [.., M, K] with K = min(M, N), or "
         "M where `complete`",
     .tolerance = kSpectra,
     .samples = {{.with = "tall",
                  .shapes = tall,
                  .call = TERN_ON(square(qr(apart(x)).r) * 0.0625),
                  .reference =
                      [](const auto& x) {
                        const Dense a = apart(x[0]);
                        return std::vector{
                            values(times(squares(transposed(lower_factor(product(transposed(a), a)))), 0.0625))};
                      },
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}},
                 {.with = "wide",
                  .shapes = matrix,
                  .call = TERN_ON(square(qr(apart(x)).r) * 0.0625),
                  .reference =
                      [](const auto& x) {
                        const Dense a = apart(x[0]);
                        Dense first{a.rows, a.rows};
                        for (std::size_t i = 0; i < a.rows; ++i)
                          for (std::size_t j = 0; j < a.rows; ++j) first(i, j) = a(i, j);
                        // r = L⁻¹·firstᵀ·a, L the factor of firstᵀ·first
                        const Dense l = lower_factor(product(transposed(first), first));
                        return std::vector{values(times(squares(solved(l, product(transposed(first), a))), 0.0625))};
                      },
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}}},
     .bad = {no_matrix("qr", TERN_ON(qr(x))), no_floats("qr", TERN_ON(qr(x)))}},
    {.name = "svd",
     .family = Family::linalg,
     .arguments = "a, full_matrices = true",
     .says =
         "{u, s, vh} with u·diag(s)·vh = a, s descending; u and vh square, or with `full_matrices` = false of min(M, "
         "N) columns and rows",
     .tolerance = kSpectra,
     .samples = {{.with = "tall",
                  .shapes = tall,
                  .call =
                      [](const auto& x) {
                        const auto f = svd(apart(x), false);
                        return list(square(f.u), f.s);
                      },
                  .reference =
                      [](const auto& x) {
                        Dense u{0, 0};
                        const Rotated r = rotated(apart(x[0]), u);
                        return std::vector{values(squares(u)), vector(r.values)};
                      },
                  .sizes = {{1, 3}, {1, 1}},
                  .empty = {}},
                 {.with = "square",
                  .shapes = square_matrix,
                  .call = TERN_ON(square(svd(nearer(x)).vh)),
                  .reference =
                      [](const auto& x) {
                        Dense u{0, 0};
                        return std::vector{values(squares(transposed(rotated(nearer(x[0]), u).vectors)))};
                      },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("svd", TERN_ON(svd(x))), no_floats("svd", TERN_ON(svd(x)))}},
    {.name = "svdvals",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The singular values, descending",
     .tolerance = kSpectra,
     .samples = {{.shapes = matrix,
                  .call = TERN_ON(svdvals(apart(x))),
                  .reference = [](const auto& x) { return std::vector{vector(singular_values(apart(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("svdvals", TERN_ON(svdvals(x)))}},
    {.name = "eigh",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{eigenvalues, eigenvectors} of Hermitian matrices, of which the lower triangle is read: values real and "
             "ascending, vectors as columns",
     .tolerance = kSpectra,
     .samples = {{.shapes = square_matrix,
                  .call =
                      [](const auto& x) {
                        const auto f = eigh(symmetric(x));
                        return list(f.eigenvalues, square(f.eigenvectors));
                      },
                  .reference =
                      [](const auto& x) {
                        // Positive definite by the steps on its diagonal, so singular values are eigenvalues.
                        Dense u{0, 0};
                        Dense shifted = symmetric(x[0]);
                        for (std::size_t i = 0; i < shifted.rows; ++i) shifted(i, i) += 10;
                        Rotated r = rotated(shifted, u);
                        const std::size_t n = r.values.size();
                        Dense v{n, n};
                        for (std::size_t i = 0; i < n; ++i)
                          for (std::size_t j = 0; j < n; ++j) v(i, j) = u(i, n - 1 - j);
                        std::ranges::reverse(r.values);
                        for (double& value : r.values) value -= 10;
                        return std::vector{vector(r.values), values(squares(v))};
                      },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("eigh", eigh(x))},
    {.name = "eigvalsh",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The eigenvalues of Hermitian matrices, ascending",
     .tolerance = kSpectra,
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(eigvalsh(symmetric(x))),
                  .reference =
                      [](const auto& x) {
                        Dense shifted = symmetric(x[0]);
                        for (std::size_t i = 0; i < shifted.rows; ++i) shifted(i, i) += 10;
                        std::vector<double> list = singular_values(shifted);
                        std::ranges::reverse(list);
                        for (double& value : list) value -= 10;
                        return std::vector{vector(list)};
                      },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("eigvalsh", eigvalsh(x))},
    {.name = "eig",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{eigenvalues, eigenvectors} of square matrices: complex, in no order, vectors of length 1 as columns",
     .tolerance = kSpectra,
     .orders_on_gpus = 0,
     .samples = {{.with = "a sixteenth of the matrix squared, of its parts",
                  .shapes = square_matrix,
                  .call =
                      [](const auto& x) {
                        const auto f = eig(apart(x));
                        const auto scaled = f.eigenvectors * square(f.eigenvalues).unsqueeze(-2);
                        return (real(solve(f.eigenvectors.mT(), scaled.mT()).mT()) * 0.0625).to(x.dtype());
                      },
                  .reference =
                      [](const auto& x) {
                        return std::vector{values(times(product(apart(x[0]), apart(x[0])), 0.0625))};
                      },
                  .knows_results = true,
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}}},
     .bad = TERN_BAD("eig", eig(x))},
    {.name = "eigvals",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The eigenvalues of square matrices: complex, in no order",
     .tolerance = kSpectra,
     .orders_on_gpus = 0,
     .samples = {{.with = "a sixteenth of the sum of their squares",
                  .shapes = square_matrix,
                  .call = TERN_ON((real(sum(square(eigvals(apart(x))))) * 0.0625).to(x.dtype())),
                  .reference =
                      [](const auto& x) {
                        const Dense a = product(apart(x[0]), apart(x[0]));
                        double sum = 0;
                        for (std::size_t i = 0; i < a.rows; ++i) sum += a(i, i);
                        return std::vector{number(sum * 0.0625)};
                      },
                  .knows_results = true,
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}}},
     .bad = TERN_BAD("eigvals", eigvals(x))},
};

}  // namespace
}  // namespace tern::operations::matrices
