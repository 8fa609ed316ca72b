#include "gpu/gpu_backend.hpp"
namespace tern::detail_gpu {
void GpuBackend::gemm(const detail::GemmRequest& r) { unsupported(r.op, "gemm"); }
void GpuBackend::scatter(const detail::ScatterRequest& r) { unsupported(r.op, "scatter"); }
void GpuBackend::scan(const detail::ScanRequest& r) { unsupported(r.op, "scan"); }
void GpuBackend::sort(const detail::SortRequest& r) { unsupported(r.op, "sort"); }
}
