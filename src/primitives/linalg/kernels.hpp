// The kernels of linear algebra.
#pragma once
#include "primitives/linalg/linalg.hpp"

namespace tern::detail_cpu {
void cholesky_on_cpu(detail::Backend&, const detail::CholeskyRequest&);
void lu_on_cpu(detail::Backend&, const detail::LuRequest&);
void lu_solve_on_cpu(detail::Backend&, const detail::LuSolveRequest&);
void triangular_on_cpu(detail::Backend&, const detail::TriangularRequest&);
void qr_on_cpu(detail::Backend&, const detail::QrRequest&);
void eigh_on_cpu(detail::Backend&, const detail::EighRequest&);
void svd_on_cpu(detail::Backend&, const detail::SvdRequest&);
void eig_on_cpu(detail::Backend&, const detail::EigRequest&);
void direct_solve_on_cpu(detail::Backend&, const detail::DirectSolveRequest&);
void exponential_on_cpu(detail::Backend&, const detail::ExponentialRequest&);
void status_on_cpu(detail::Backend&, const detail::StatusRequest&);
}  // namespace tern::detail_cpu
namespace tern::detail_gpu {
class GpuBackend;
void cholesky_on_gpu(GpuBackend&, const detail::CholeskyRequest&);
void lu_on_gpu(GpuBackend&, const detail::LuRequest&);
void lu_solve_on_gpu(GpuBackend&, const detail::LuSolveRequest&);
void triangular_on_gpu(GpuBackend&, const detail::TriangularRequest&);
void qr_on_gpu(GpuBackend&, const detail::QrRequest&);
void eigh_on_gpu(GpuBackend&, const detail::EighRequest&);
void svd_on_gpu(GpuBackend&, const detail::SvdRequest&);
void exponential_on_gpu(GpuBackend&, const detail::ExponentialRequest&);
void status_on_gpu(GpuBackend&, const detail::StatusRequest&);
}  // namespace tern::detail_gpu
namespace tern::detail {
/// On a device without a kernel for it: there and back through the CPU's memory.
template <class R> void kernel_on_host(Backend& device, const R& request);
}  // namespace tern::detail
