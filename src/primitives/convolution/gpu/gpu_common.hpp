// What convolutions on GPUs share: memory that their planning makes, and formulas in a pass of their own.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "primitives/convolution/convolution.hpp"

namespace tern::detail_gpu::conv {

using detail::View;

/// Memory that a request's planning makes.
using Temporaries = std::vector<std::shared_ptr<Storage>>;
/// A copy in row-major order, in memory that is kept there.
View row_major(GpuBackend& backend, const char* op, const View& view, const Shape& shape, Temporaries& temporaries);

bool counts_places(const detail::Program& program);
/// Sums in memory, [samples, out.., results], by `run`, and the formula over them in a pass, which counts channels
/// second.
void run_with_pass(GpuBackend& backend, const detail::ConvRequest& r,
                   const std::function<bool(const detail::ConvRequest&)>& run);

}  // namespace tern::detail_gpu::conv
