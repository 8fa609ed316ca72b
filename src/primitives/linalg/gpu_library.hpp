// Large matrices on GPUs by the library of the vendor (gpu/matrix_library.hpp), where there is one.
#pragma once
#include "gpu/matrix_library.hpp"
#include "primitives/linalg/gpu_blocks.hpp"
#include "primitives/linalg/gpu_small.hpp"

namespace tern::detail_gpu {

void by_library(GpuBackend&, MatrixLibrary&, const detail::CholeskyRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::LuRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::LuSolveRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::TriangularRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::QrRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::EighRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::SvdRequest&);

/// The library that takes the request; null where there is none, where a batch is of many small ones, which the CPU's
/// threads share, where a native recording could not hold its calls, or where it has nothing to do.
MatrixLibrary* library_for(GpuBackend& backend, const detail::MatrixRequest& r);

/// A request that no kernel takes alone: by the library, by blocks, or on the CPU.
template <class R> void without_kernel(GpuBackend& backend, const R& r) {
  Seen seen(backend);
  R::views(r, seen);
  if (seen.whole && seen.largest <= seen.most)  // copies without gaps are seen whole, too
    if (MatrixLibrary* const library = library_for(backend, r)) return by_library(backend, *library, r);
  if (!by_blocks(backend, r)) detail::kernel_on_host(backend, r);
}

}  // namespace tern::detail_gpu
