// The first stage of a request with reductions: how it is run, which shapes and layouts alone decide, so that results
// do not depend on the device's load.
#pragma once
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/reductions/reduce_plan.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

/// How many results there are for each reduction, and how many elements each is of.
struct Extents {
  std::int64_t kept = 1, length = 1;
};
Extents extents_of(const detail::FusedRequest& r);

/// A tiling, and into how many segments the reduced range is split for workgroups of their own.
struct Split {
  ThreadGrid tiling;
  std::int64_t segments = 1;
};
Split choose_split(const GpuBackend& backend, const detail::FusedRequest& r);

/// The tiling of kernels made beforehand: a warp to a row, or a warp's width of columns.
ThreadGrid archived_tiling(bool rows);
/// Of the kernel that joins partial results.
ThreadGrid joining_tiling(const GpuBackend& backend, std::int64_t kept, std::int64_t segments);

/// One kernel cannot do it: an operand is larger than a binding, or there are too many. Or it should not: packed rows
/// whose words no invocation owns.
bool needs_stages(const GpuBackend& backend, const detail::FusedRequest& r, const ThreadGrid& tiling);
/// Whether kernels of partial results, which read `others` results besides the inputs, can also write full outputs.
bool writes_full_outputs(const GpuBackend& backend, const detail::FusedRequest& r, const ThreadGrid& tiling,
                         std::size_t others);

/// Parts of the reduced range whose operands fit a binding.
struct Chunk {
  Shape space;
  std::vector<std::int64_t> begin;
};
std::vector<Chunk> chunks_of(const GpuBackend& backend, const detail::FusedRequest& r, const Chunk& whole);

}  // namespace tern::detail_gpu
