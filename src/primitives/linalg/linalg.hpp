// The primitives of linear algebra: factorisations of matrices, and what solves with them. Every request is of a batch:
// its views are laid over [.., rows, columns] with the same leading axes, in any layout, of f32, f64, c64 or c128.
//
// `status` is i32, a number for each matrix: 0, or the number (from 1) of the pivot or minor that failed, or -1 where
// an element is not finite. Of a request that is `checked` a number that is not 0 is an Error of kind linalg.
#pragma once
#include <algorithm>
#include <cmath>

#include "backend/primitive.hpp"
#include "backend/tensor_impl.hpp"

namespace tern::detail {

struct MatrixRequest {
  const char* op = "";
  Shape space;  // of the matrices that are factorised or solved with
  bool checked = false;
  View status;

  std::int64_t rows() const { return space[static_cast<std::size_t>(space.rank() - 2)]; }
  std::int64_t columns() const { return space[static_cast<std::size_t>(space.rank() - 1)]; }
  std::int64_t least() const { return std::min(rows(), columns()); }
  std::int64_t most() const { return std::max(rows(), columns()); }
  Shape batch() const { return batch_of(space); }
  std::int64_t count() const { return batch().numel(); }
  Shape results(std::initializer_list<std::int64_t> sizes) const { return with_sizes(batch(), sizes); }
  template <class Self, class Visitor> static void visit_status(Self& r, Visitor&& visit) {
    if (r.status.storage) visit.writes(r.status, r.batch());
  }
  /// Whether a kernel of a GPU that carries it out notes what failed, for an error when the device is waited for.
  bool notes_status() const { return checked; }
  std::string text() const { return to_string(space); }
};

/// factor·factorᴴ = input, of which the lower triangle is read; the factor is lower.
struct CholeskyRequest : MatrixRequest {
  View input, factor;
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.factor, r.space), r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(checked), add(status.storage != nullptr), add(input.dtype);
  }
  std::int64_t flops() const { return count() * rows() * rows() * rows() / 3; }
};

/// P·L·U = input with partial pivoting: L, without its ones, below U in one matrix. pivots (i32, [.., min(M, N)], from
/// 0): row i was exchanged with row pivots[i]. Where b has storage, of square matrices, x with input·x = b besides, of
/// `right` columns; where the factors are not `kept` they may then be left as they were.
struct LuRequest : MatrixRequest {
  std::int64_t right = 0;
  bool kept = true;
  View input, lu, pivots, b, x;
  Shape sides() const { return results({rows(), right}); }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space);
    if (r.b.storage) visit.reads(r.b, r.sides());
    visit.writes(r.lu, r.space), visit.writes(r.pivots, r.results({r.least()}));
    if (r.b.storage) visit.writes(r.x, r.sides());
    r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(checked), add(status.storage != nullptr), add(input.dtype), add(right), add(kept);
  }
  std::int64_t flops() const {
    return count() * (least() * least() * (3 * most() - least()) / 3 + 2 * rows() * rows() * right);
  }
};

/// A·X = B, or Aᴴ·X = B (`adjoint`), of A = P·L·U; where it only `permutes`, of A = P.
struct LuSolveRequest : MatrixRequest {
  bool adjoint = false, permutes = false;
  std::int64_t right = 0;  // columns of B
  View lu, pivots, b, x;
  Shape sides() const { return results({rows(), right}); }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.lu, r.space), visit.reads(r.pivots, r.results({r.rows()})), visit.reads(r.b, r.sides());
    visit.writes(r.x, r.sides());
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(adjoint), add(permutes), add(right), add(lu.dtype);
  }
  std::int64_t flops() const { return permutes ? 0 : 2 * count() * rows() * rows() * right; }
};
/// What is left of a request with sides once its matrices are factorised.
LuSolveRequest solution_of(const LuRequest& r);

/// A·X = B, Aᵀ·X = B (op 'T') or Aᴴ·X = B ('C') with A triangular: only that triangle is read.
struct TriangularRequest : MatrixRequest {
  bool upper = false, unit = false;
  char how = 'N';
  std::int64_t right = 0;
  View a, b, x;
  Shape sides() const { return results({rows(), right}); }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.a, r.space), visit.reads(r.b, r.sides()), visit.writes(r.x, r.sides());
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(upper), add(unit), add(how), add(right), add(a.dtype);
  }
  std::int64_t flops() const { return count() * rows() * rows() * right; }
};

/// q·r = input by Householder's reflections: q [.., M, K], r [.., K, N] with K = min(M, N), or M where `full`.
struct QrRequest : MatrixRequest {
  bool full = false;
  View input, q, r;
  std::int64_t inner() const { return full ? rows() : least(); }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.q, r.results({r.rows(), r.inner()}));
    visit.writes(r.r, r.results({r.inner(), r.columns()}));
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(full), add(checked), add(status.storage != nullptr), add(input.dtype);
  }
  std::int64_t flops() const { return 4 * count() * least() * least() * (3 * most() - least()) / 3; }
};

/// Eigenvalues (real, ascending) of Hermitian matrices, of which the lower triangle is read, and their vectors as
/// columns; `vectors` may have no storage.
struct EighRequest : MatrixRequest {
  View input, values, vectors;
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.values, r.results({r.rows()}));
    if (r.vectors.storage) visit.writes(r.vectors, r.space);
    r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(checked), add(status.storage != nullptr), add(vectors.storage != nullptr), add(input.dtype);
  }
  std::int64_t flops() const { return 9 * count() * rows() * rows() * rows(); }
};

/// u·diag(s)·vh = input, s (real) descending; u and vh may have no storage, both.
struct SvdRequest : MatrixRequest {
  bool full = false;
  View input, u, s, vh;
  bool vectors() const { return u.storage != nullptr; }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    const std::int64_t left = r.full ? r.rows() : r.least(), right = r.full ? r.columns() : r.least();
    visit.reads(r.input, r.space);
    if (r.u.storage) visit.writes(r.u, r.results({r.rows(), left}));
    visit.writes(r.s, r.results({r.least()}));
    if (r.vh.storage) visit.writes(r.vh, r.results({right, r.columns()}));
    r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(full), add(checked), add(status.storage != nullptr), add(vectors()), add(input.dtype);
  }
  std::int64_t flops() const { return count() * least() * least() * (vectors() ? 20 * most() : 4 * most()); }
};

/// Eigenvalues (complex, in no order) of any square matrices, and their right vectors, of length 1, as columns;
/// `vectors` may have no storage.
struct EigRequest : MatrixRequest {
  View input, values, vectors;
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.values, r.results({r.rows()}));
    if (r.vectors.storage) visit.writes(r.vectors, r.space);
    r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(checked), add(status.storage != nullptr), add(vectors.storage != nullptr), add(input.dtype);
  }
  std::int64_t flops() const { return 25 * count() * rows() * rows() * rows(); }
};

/// Sides up to which matrices of a batch are taken many at a time.
inline constexpr std::int64_t kManyAtOnce = 32;
/// Whether a batch is: of few large ones each is work enough.
inline bool many_at_once(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t count) {
  const std::int64_t most = std::max(rows, columns);
  return (dtype == DType::f32 || dtype == DType::f64) && most <= kManyAtOnce && (most <= 8 || count >= 8);
}

/// By LU with partial pivoting, whose factors are not kept, of real matrices of up to kManyAtOnce rows: X = A⁻¹·B with
/// `right` columns, where B has no storage of B = 1; and det A, or where `log` has storage its sign and log|det A|.
/// Results without storage are not asked for.
struct DirectSolveRequest : MatrixRequest {
  std::int64_t right = 0;
  View a, b, x, det, log;
  Shape sides() const { return results({rows(), right}); }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.a, r.space);
    if (r.b.storage) visit.reads(r.b, r.sides());
    if (r.x.storage) visit.writes(r.x, r.sides());
    if (r.det.storage) visit.writes(r.det, r.batch());
    if (r.log.storage) visit.writes(r.log, r.batch());
    r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(checked), add(status.storage != nullptr), add(right), add(a.dtype), add(b.storage != nullptr);
    add(x.storage != nullptr), add(det.storage != nullptr), add(log.storage != nullptr);
  }
  std::int64_t flops() const { return count() * rows() * rows() * (2 * rows() / 3 + 2 * right); }
};

/// The exponential of a matrix, by scaling and squaring (Higham 2005), for all that computes it: whole batches at once
/// (operation_exponential.cpp), and small matrices one a lane or a few a workgroup. A matrix is halved until its 1-norm
/// is at most kTheta13, its exponential is Padé's approximant of order 13, which is squared as often. Of matrices whose
/// powers grow less than their norms do, fewer halvings (Al-Mohy and Higham 2009): every needless squaring costs a bit.
namespace exponential {

/// Up to this norm the approximant of order 13 is exact to f64's roundings.
inline constexpr double kTheta13 = 5.371920351148152, kTheta13Log2 = 2.4254379142487057;
/// With odd = a·(a6·(b13·a6 + b11·a4 + b9·a2) + b7·a6 + b5·a4 + b3·a2 + b1), and even of the others likewise, the
/// approximant is the solution of (even - odd)·x = even + odd.
inline constexpr double kPade[] = {64764752532480000.,
                                   32382376266240000.,
                                   7771770303897600.,
                                   1187353796428800.,
                                   129060195264000.,
                                   10559470521600.,
                                   670442572800.,
                                   33522128640.,
                                   1323241920.,
                                   40840800.,
                                   960960.,
                                   16380.,
                                   182.,
                                   1.};
/// How many of its halvings a matrix may do without at most: its powers, doubled so often, are within the dtype, and so
/// are the approximant's sums.
constexpr double most_spared(bool f64) { return f64 ? 160 : 20; }
/// log2(2^-53 / c): roundings allow fewer. Powers that cancel leave roundings as large as those of |a| are. With
/// r = ‖|a|^27‖₁ / ‖a‖₁ the approximant's part is c·r·2^(26·doublings), c = 1/(27!·(26 over 13)), of the size of f64's
/// roundings.
inline constexpr double kRoundingOverC = 63.44;
inline constexpr int kCheckedPower = 26;

// These of one matrix; of whole batches operation_exponential.cpp has them as formulas.
inline double halvings(double norm) { return norm > kTheta13 ? std::ceil(std::log2(norm / kTheta13)) : 0; }
/// By the norms of its fourth and sixth power.
inline double spared(double fourth, double sixth, double halvings, double most) {
  const double growth = std::max(std::log2(fourth) / 4, std::log2(sixth) / 6);
  return std::min(std::min(std::max(std::floor(kTheta13Log2 - growth), 0.0), most), halvings);
}
/// Of these, what roundings allow: `largest` is the norm of |a|^27.
inline double allowed(double spared, double largest, double norm) {
  const double ratio = norm > 0 ? std::log2(largest) - std::log2(norm) : 0;
  return std::min(spared, std::max(std::floor((kRoundingOverC - ratio) / kCheckedPower), 0.0));
}

}  // namespace exponential

/// e^input of real square matrices of up to kManyAtOnce rows; of one that is not finite status -1.
struct ExponentialRequest : MatrixRequest {
  View input, result;
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.result, r.space);
    r.visit_status(r, visit);
  }
  template <class Add> void parameters(Add&& add) const {
    add(space), add(checked), add(status.storage != nullptr), add(input.dtype);
  }
  std::int64_t flops() const { return 20 * count() * rows() * rows() * rows(); }
};

/// Throws where a status is not 0: of the primitive `by`, which did not throw itself.
struct StatusRequest : MatrixRequest {
  PrimitiveId by = PrimitiveId::lu;
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) { visit.reads(r.status, r.batch()); }
  template <class Add> void parameters(Add&& add) const { add(space), add(by); }
  std::int64_t flops() const { return 0; }
};

/// What a status means, as an error: "cholesky: matrix 3 of the batch is not positive definite: …".
Error matrix_error(const char* op, bool batched, std::int64_t matrix, std::int64_t status, PrimitiveId primitive);

}  // namespace tern::detail
