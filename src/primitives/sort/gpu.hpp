// Sorts that have kernels of their own.
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/sort/kernels.hpp"

namespace tern::detail_gpu {

/// Whether the view's lines along the axis are dense, one after the other, of words (or, where `narrow`, of anything).
bool in_words(const detail::View& v, const Shape& space, int axis, bool narrow);

/// The places of booleans in order, by two kernels and a scan; false, having done nothing, where the request is
/// another.
bool sort_booleans(GpuBackend& backend, const detail::SortRequest& request);

}  // namespace tern::detail_gpu
