// Large matrices on GPUs by the library of the vendor (gpu/matrix_library.hpp), where there is one.
#pragma once
#include "gpu/matrix_library.hpp"
#include "primitives/linalg/blocks/gpu_blocks.hpp"
#include "primitives/linalg/small/gpu_small.hpp"

namespace tern::detail_gpu {

void by_library(GpuBackend&, MatrixLibrary&, const detail::CholeskyRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::LuRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::LuSolveRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::TriangularRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::QrRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::EighRequest&);
void by_library(GpuBackend&, MatrixLibrary&, const detail::SvdRequest&);

/// Whether a call takes the whole batch, so that it may be of any size.
template <class R> bool at_once(MatrixLibrary&, const R&) { return false; }
bool at_once(MatrixLibrary&, const detail::CholeskyRequest&);
bool at_once(MatrixLibrary&, const detail::LuRequest&);
bool at_once(MatrixLibrary&, const detail::LuSolveRequest&);
bool at_once(MatrixLibrary&, const detail::TriangularRequest&);
bool at_once(MatrixLibrary&, const detail::EighRequest&);

/// The library; null where there is none, where a native recording could not hold its calls, or where it has nothing to
/// do.
MatrixLibrary* library_for(GpuBackend& backend, const detail::MatrixRequest& r);
/// Whether a call a matrix does, which takes tens of microseconds: batches of many small ones the CPU's threads share.
bool pays_one_by_one(const detail::MatrixRequest& r);
void note_library(MatrixLibrary& library);
/// Whether the library takes longer than tern's kernels of blocks.
template <class R> bool slower_by_library(const R&) { return false; }
bool slower_by_library(const detail::CholeskyRequest& r);
bool slower_by_library(const detail::LuRequest& r);
bool slower_by_library(const detail::LuSolveRequest& r);
bool slower_by_library(const detail::TriangularRequest& r);
bool slower_by_library(const detail::QrRequest& r);
/// Carries the request out where the library takes longer: false, having done nothing, where it does not.
template <class R> bool before_library(GpuBackend& backend, const R& r) {
  return slower_by_library(r) && by_blocks(backend, r);
}
/// 16 of 64 took the library 44.6 ms, 16 of 256 89.7, 64 of 128 294, and blocks 1.0, 8.3 and 3.3; one of 1024 35.7 and
/// 70 (f32, CUDA, H200, 27 November 2026).
inline bool before_library(GpuBackend& backend, const detail::SvdRequest& r) {
  return r.vectors() && r.count() >= 4 && r.most() <= 1024 && by_rotations(backend, r);
}

/// A request that no kernel takes alone: by the library, by blocks, or on the CPU.
template <class R> void without_kernel(GpuBackend& backend, const R& r) {
  SeenWhole seen(backend);
  R::views(r, seen);
  if (seen.whole && seen.largest <= seen.most)  // copies without gaps are seen whole, too
    if (MatrixLibrary* const library = library_for(backend, r); library) {
      if (before_library(backend, r)) return;
      if (at_once(*library, r) || pays_one_by_one(r))
        return note_library(*library), by_library(backend, *library, r);
    }
  if (!by_blocks(backend, r)) detail::kernel_on_host(backend, r);
}

}  // namespace tern::detail_gpu
