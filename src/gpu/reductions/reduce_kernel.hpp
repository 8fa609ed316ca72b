// One kernel with reductions: its place over the iteration space, and what it reads and writes.
#pragma once
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/plan/plan.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

/// Workgroups that fill a large GPU.
inline constexpr std::int64_t kEnoughGroups = 512;

/// One result of a reduction for every kept position (and segment), in memory.
struct StoredResult {
  int step = -1;
  View view;  // no strides: addressed by the linear kept position
};

/// What one launch does.
struct Stage {
  int first = 0, last = 0;  // passes: pass p gives the reductions at the end of pass p (Step::pass is p + 1)
  std::vector<StoredResult>
      partials;  // read (with `joins`) or written (with `splits`): one for each reduction of the pass
  std::vector<StoredResult> known;    // results of earlier passes
  std::vector<StoredResult> results;  // written: joined results that later kernels need
  bool joins = false, splits = false;
  bool reduced_outputs = false, full_outputs = false;
  std::int64_t segments = 1;  // into which the reduced range is split (splits), or of which results are joined
  std::int64_t first_segment = 0, all_segments = 1;  // where this launch's partial results go
};

/// How invocations lie over the iteration space. In columns, where operands are aligned, an invocation handles a few
/// neighbours: there are then fewer across and more along.
struct ThreadGrid {
  bool rows = true;  // neighbours lie along the reduced axes
  int across = 1, along = 256;
  int threads() const { return across * along; }
};

/// The pass over the reduced axes (counted from 0) that writes a full output: the first that knows all it reads.
int pass_of_full_output(const detail::FusedRequest& request, std::size_t output);

/// Queues one kernel of a request: `stage` says what it computes, over `space`, whose first element has the coordinates
/// `begin` in the request.
void run_reduce_kernel(GpuBackend& backend, const detail::FusedRequest& request, const Stage& stage,
                       const ThreadGrid& tiling, const std::vector<std::int64_t>& begin, const Shape& space);

/// The same with rows that stay in registers between passes; false, having done nothing, where they do not fit there,
/// are not read in vectors, or are traversed only once.
bool run_resident_rows(GpuBackend& backend, const detail::FusedRequest& request, const Stage& stage,
                       const ThreadGrid& tiling, const std::vector<std::int64_t>& begin, const Shape& space);

/// Whether there is one, for any layout (Limits::archived).
bool has_reduce_kernel(GpuBackend& backend, const detail::FusedRequest& request, const Stage& stage,
                       const ThreadGrid& tiling, const std::vector<std::int64_t>& begin, const Shape& space);

}  // namespace tern::detail_gpu
