// What the files of linear algebra share: checks, the primitives on plain tensors, and the differentiable pieces that
// rules are written with.
#pragma once
#include <string>
#include <utility>

#include "autodiff/instances.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/fused/operation_widened.hpp"
#include "primitives/linalg/linalg.hpp"
#include "primitives/linalg/operations/operation_small.hpp"
#include "tern/creation.hpp"
#include "tern/linalg.hpp"

namespace tern::detail {

/// Throws shape where x is no batch of matrices, dtype where it is not floating or complex.
void require_matrices(const char* op, const char* argument, const Tensor& x);
void require_square(const char* op, const char* argument, const Tensor& x);

template <TensorOrVar T> T adjoint(const T& a) {
  if (is_complex(a.dtype())) return conj(a).mT();
  return a.mT();
}
template <TensorOrVar T> T conjugated(const T& a) {
  if (is_complex(a.dtype())) return conj(a);
  return a;
}
/// (a + aᴴ) / 2
template <TensorOrVar T> T hermitian(const T& a) { return (a + adjoint(a)) * 0.5; }
/// x[.., N] as the columns' factors of [.., M, N], and as the rows' of [.., N, M].
template <TensorOrVar T> T for_columns(const T& x) { return x.unsqueeze(-2); }
template <TensorOrVar T> T for_rows(const T& x) { return x.unsqueeze(-1); }
inline Tensor identity_like(const Tensor& a, std::int64_t n) {
  return eye(n, {.dtype = a.dtype(), .device = a.device()});
}

// ---- the primitives on tensors ----
struct LuTensors {
  Tensor lu, pivots, info;
  Tensor x;  // a⁻¹·b, where there was a right-hand side
};
/// A right-hand side over the batch of a already, and whether the factors are looked at besides.
struct SidesOfLu {
  Tensor b;
  bool kept = true;
};
Tensor cholesky_tensor(const char* op, const Tensor& a, bool checked, Tensor* info);
LuTensors lu_tensors(const char* op, const Tensor& a, bool checked, bool with_info, const SidesOfLu& sides = {});
/// b over the batch of lu already.
Tensor lu_solve_tensor(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint,
                       bool permutes);
Tensor triangular_tensor(const char* op, const Tensor& a, const Tensor& b, bool upper, char how, bool unit);
std::pair<Tensor, Tensor> qr_tensors(const char* op, const Tensor& a, bool full);
std::pair<Tensor, Tensor> eigh_tensors(const char* op, const Tensor& a, bool vectors);
struct SvdTensors {
  Tensor u, s, vh;
};
SvdTensors svd_tensors(const char* op, const Tensor& a, bool full, bool vectors);
std::pair<Tensor, Tensor> eig_tensors(const char* op, const Tensor& a, bool vectors);

/// Throws linalg where a status is not 0; on a GPU when it is next waited for.
void require_status(const char* op, const Tensor& a, const Tensor& info, PrimitiveId by);

// ---- differentiable pieces, of equal batches ----
/// op(a)⁻¹·b with how 'N' or 'C' and a triangle of a.
template <TensorOrVar T> T triangular(const char* op, const T& a, const T& b, bool upper, char how, bool unit = false);
/// a⁻¹·b, or a⁻ᴴ·b, with the factors of a known, or with factors.x what there is to compute: in b and, through the
/// equation, in a.
Tensor solve_with(const char* op, const Tensor& a, const LuTensors& factors, const Tensor& b, bool adjoint);
Var solve_with(const char* op, const Var& a, const LuTensors& factors, const Var& b, bool adjoint);
/// P·x, or Pᵀ·x, of the permutation of pivots.
template <TensorOrVar T> T permuted(const char* op, const Tensor& pivots, const T& x, bool transposed);
/// The broadcast batch of both, each with its own last two axes.
template <TensorOrVar A, TensorOrVar B> void broadcast_batches(const char* op, A& a, B& b);

}  // namespace tern::detail
