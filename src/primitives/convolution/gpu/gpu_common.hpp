// What convolutions on GPUs share: memory that their planning makes, and formulas in a pass of their own.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "primitives/convolution/convolution.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu::conv {

using detail::ConvSizes;
using detail::View;

/// Memory that a request's planning makes.
using Temporaries = std::vector<std::shared_ptr<Storage>>;
/// A copy in row-major order, in memory that is kept there.
View row_major(GpuBackend& backend, const char* op, const View& view, const Shape& shape, Temporaries& temporaries);

/// With dilations that are positive, and which axes were flipped for that: elements of their kernels are counted from
/// the last one.
ConvSizes with_flipped_axes(ConvSizes sizes, std::array<bool, 3>& axes);
/// A convolution as a product, over whose rows, the places, outputs and operands are laid; its factors are those of
/// another kernel.
detail::GemmRequest product_of(const detail::ConvRequest& request);

/// Whether all that a view reaches over is in one binding.
bool in_one_binding(const GpuBackend& backend, const View& view, const Shape& shape);
/// And of all of a request, whose factors are these, in as many bindings as there are.
bool fits_bindings(const GpuBackend& backend, const detail::ConvRequest& request, const View& x, const View& w);

/// Part of a request: samples from one on.
struct Samples {
  std::int64_t first = 0, count = 0;
  View of(View view) const { return view.offset += first * view.strides[0], view; }
};
/// Of a launch's length: Limits::steps.
std::int64_t samples_at_once(const GpuBackend& backend, const ConvSizes& sizes);
/// A request with these alone.
class SomeSamples {
 public:
  SomeSamples(const detail::ConvRequest& whole, const Samples& samples);
  SomeSamples(const SomeSamples&) = delete;
  SomeSamples& operator=(const SomeSamples&) = delete;
  detail::ConvRequest request;

 private:
  std::vector<detail::Operand> inputs_;
  std::vector<View> outputs_;
};

bool counts_places(const detail::Program& program);
/// Sums in memory, [samples, out.., results], by `run`, and the formula over them in a pass, which counts channels
/// second.
void run_with_pass(GpuBackend& backend, const detail::ConvRequest& r,
                   const std::function<bool(const detail::ConvRequest&)>& run);

}  // namespace tern::detail_gpu::conv
