// Batches of small real matrices on the CPU, a matrix a SIMD lane.
#pragma once
#include "primitives/linalg/cpu/cpu.hpp"

namespace tern::detail_cpu {

/// Whether matrices of this dtype are taken so: the others go one by one.
bool goes_in_lanes(const MatrixRequest& r, DType dtype);
/// The same where rotations do the work: several times as many operations as LAPACK's, which few lanes do not win.
bool goes_in_lanes(const detail::EighRequest& r);
/// Those without LAPACK are taken so, too: Eigen's by halves (BDCSVD) is less exact.
bool goes_in_lanes(const detail::SvdRequest& r);

void cholesky_in_lanes(const detail::CholeskyRequest& r, Statuses& statuses);
void lu_in_lanes(const detail::LuRequest& r, Statuses& statuses);
void lu_solve_in_lanes(const detail::LuSolveRequest& r);
void triangular_in_lanes(const detail::TriangularRequest& r);
void qr_in_lanes(const detail::QrRequest& r);
void eigh_in_lanes(const detail::EighRequest& r, Statuses& statuses);
void svd_in_lanes(const detail::SvdRequest& r, Statuses& statuses);

}  // namespace tern::detail_cpu
