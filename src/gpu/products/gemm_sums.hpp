// Products of few rows or few columns as sums along k: a matrix is read once, at the speed of memory, where tiles of
// workgroup memory would be all but empty. The kernels are those of rows and columns (src/gpu/reductions), of a program
// that has the product's epilogue behind its sums.
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// Whether to run it as sums even where a vendor's library multiplies: a matrix times a vector, of floats, whose
/// neighbours in memory lie along k, and enough of them; and in f32 a matrix times two to four vectors.
bool is_long_sums(const detail::GemmRequest& request);
/// Whether to run it as sums where no library does: such a product, or any of few rows or few columns.
bool is_few_sums(const detail::GemmRequest& request);

/// Runs a product, of which is_few_sums() is true, as sums.
void multiply_as_sums(GpuBackend& backend, const detail::GemmRequest& request);

}  // namespace tern::detail_gpu
