// The entry of the exponential.
#include "primitives/linalg/operations/operation.trial.hpp"

namespace tern::operations::matrices {
namespace {

const Entries exponentials{
    {.name = "expm",
     .family = Family::linalg,
     .arguments = "a",
     .says = "e^a by scaling and squaring with Padé's approximant of order 13 (Higham, 2005)",
     .tolerance = {400, "k·n roundings of products of numbers up to e^3", 8},
     .samples = {{.shapes = square_matrix,
                  .call = TERN_ON(expm(x)),
                  .reference =
                      [](const auto& x) {
                        const Dense a = dense(x[0]);
                        Dense term = identity(a.rows), sum = term;
                        for (int k = 1; k < 80; ++k) {
                          term = product(term, a);
                          for (double& v : term.of) v /= k;
                          for (std::size_t i = 0; i < sum.of.size(); ++i) sum.of[i] += term.of[i];
                        }
                        return std::vector{values(sum)};
                      },
                  .sizes = {{2, 3}, {1, 1}, {2, 5}},
                  .empty = kNothing}},
     .bad = TERN_BAD("expm", expm(x))},
};

}  // namespace
}  // namespace tern::operations::matrices
