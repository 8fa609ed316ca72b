#include "primitives/linalg/linalg.hpp"

#include "backend/run.hpp"
#include "primitives/linalg/kernels.hpp"

namespace tern::detail {

#define TERN_MATRIX_PRIMITIVE(name, Request)                                                              \
  template <> const Primitive& primitive_of<Request>() {                                                  \
    static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::name##_on_cpu>()}};          \
    static constexpr Primitive primitive{PrimitiveId::name, #name, kernels};                              \
    return primitive;                                                                                     \
  }                                                                                                       \
  template void run(Backend&, const Request&);
TERN_MATRIX_PRIMITIVE(cholesky, CholeskyRequest)
TERN_MATRIX_PRIMITIVE(lu, LuRequest)
TERN_MATRIX_PRIMITIVE(lu_solve, LuSolveRequest)
TERN_MATRIX_PRIMITIVE(triangular, TriangularRequest)
TERN_MATRIX_PRIMITIVE(qr, QrRequest)
TERN_MATRIX_PRIMITIVE(eigh, EighRequest)
TERN_MATRIX_PRIMITIVE(svd, SvdRequest)
TERN_MATRIX_PRIMITIVE(eig, EigRequest)
#undef TERN_MATRIX_PRIMITIVE

Error matrix_error(const char* op, bool batched, std::int64_t matrix, std::int64_t status, PrimitiveId primitive) {
  std::string what = std::string(op) + ": " +
                     (batched ? "matrix " + std::to_string(matrix) + " of the batch" : std::string("the matrix"));
  const std::string at = std::to_string(status);
  if (status < 0) what += " has elements that are not finite";
  else if (primitive == PrimitiveId::cholesky)
    what += " is not positive definite: its leading minor of order " + at + " is not positive";
  else if (primitive == PrimitiveId::lu) what += " is singular: pivot " + at + " is zero";
  else what += " has no factorisation that was found: the iteration did not converge (" + at + ")";
  return Error(ErrorKind::linalg, what);
}

}  // namespace tern::detail
