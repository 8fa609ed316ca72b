// Matrix products: tiles in workgroup memory, accumulators in registers, any formula as the epilogue.
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// Runs a product that fits the limits.
using Multiply = void (*)(GpuBackend& backend, const detail::GemmRequest& request);
/// By a kernel of src/gpu.
void multiply_on_gpu(GpuBackend& backend, const detail::GemmRequest& request);

/// Runs a product, in parts where its operands do not fit a binding, where it would run for long, or where it is deep
/// and has few results; each of them by `multiply`.
void multiply_in_parts(GpuBackend& backend, const detail::GemmRequest& request, Multiply multiply);
/// Runs a product as one kernel.
void run_gemm_kernel(GpuBackend& backend, const detail::GemmRequest& request);

class GatheredFactor;
/// The same of a product whose factor a is gathered (gemm_plan.hpp). Of the request's a the dtype counts, and strides
/// over batch + [m, k], which say whether batches are more rows.
void run_gathered_product(GpuBackend& backend, const detail::GemmRequest& request, GatheredFactor& a);

/// Whether the one output is the product itself.
bool is_plain_product(const detail::GemmRequest& request);

}  // namespace tern::detail_gpu
