#include "primitives/convolution/gpu/gpu_depthwise_common.hpp"

#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu::conv {

Shape shape_by_tap(const ConvSizes& s) {
  Shape taps;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) taps.push_back(s.kernel[i]);
  taps.push_back(s.groups);
  return taps;
}

View kernels_by_tap(const ConvSizes& s, const std::array<bool, 3>& axes, const View& view) {
  View w{view.storage, view.dtype, view.offset, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) {
    const std::int64_t stride = view.strides[3 + i];
    if (axes[i]) w.offset += (s.kernel[i] - 1) * stride;
    w.strides.push_back(axes[i] ? -stride : stride);
  }
  w.strides.push_back(view.strides[0]);
  return w;
}

void add_parts(GpuBackend& backend, const detail::ConvWeightRequest& r, const View& parts, std::int64_t shares) {
  const ConvSizes& s = r.sizes;
  View sums{parts.storage, DType::f32, 0, {s.taps() * s.groups}}, w{r.w.storage, r.w.dtype, r.w.offset, {0}};
  Shape space{shares};
  std::int64_t step = s.taps() * s.groups;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) {
    step /= s.kernel[i], space.push_back(s.kernel[i]);
    sums.strides.push_back(step), w.strides.push_back(r.w.strides[3 + i]);
  }
  space.push_back(s.groups), sums.strides.push_back(1), w.strides.push_back(r.w.strides[0]);
  static const detail::FormulaGraph* const total = [] {
    const Expr x = sum(detail::make_input(0));
    return detail::make_graph({&x, 1}, 1);
  }();
  const detail::InputType type{r.w.dtype, false};  // summed in f32, as the parts are
  const detail::Operand operand{sums, {}, nullptr};
  detail::FusedRequest pass;
  pass.op = r.op, pass.space = space, pass.reduced = 1;
  pass.program = &detail::type_program(r.op, total, {&type, 1});
  pass.inputs = {&operand, 1}, pass.outputs = {&w, 1};
  backend.execute(pass);
}

}  // namespace tern::detail_gpu::conv
