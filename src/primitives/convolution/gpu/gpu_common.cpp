#include "primitives/convolution/gpu/gpu_common.hpp"

#include <algorithm>

#include "gpu/elementwise.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu::conv {
namespace {

View in_row_major(Storage* storage, DType dtype, const Shape& shape) {
  View to{storage, dtype, 0, {}};
  to.strides.resize(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) to.strides[i] = step;
  return to;
}
/// Whether a formula gives the sums back.
bool gives_sums(const detail::ConvRequest& r) {
  const detail::Step& result = r.epilogue->steps[static_cast<std::size_t>(r.epilogue->outputs[0].step)];
  return r.outputs.size() == 1 && result.kind == detail::StepKind::input && result.index == 0;
}
View channels_second(View v) {
  const std::int64_t channel = v.strides[v.strides.size() - 1];
  for (std::size_t i = v.strides.size() - 1; i > 1; --i) v.strides[i] = v.strides[i - 1];
  v.strides[1] = channel;
  return v;
}

}  // namespace

View row_major(GpuBackend& backend, const char* op, const View& view, const Shape& shape, Temporaries& temporaries) {
  temporaries.push_back(backend.temporary(shape.numel(), view.dtype));
  const View to = in_row_major(temporaries.back().get(), view.dtype, shape);
  copy_view(backend, op, view, to, shape);
  return to;
}

bool counts_places(const detail::Program& program) {
  return std::ranges::any_of(program.steps, [](const auto& s) { return s.kind == detail::StepKind::position; });
}

void run_with_pass(GpuBackend& backend, const detail::ConvRequest& r,
                   const std::function<bool(const detail::ConvRequest&)>& run) {
  const Shape y = r.sizes.of_y();
  const DType dtype = gives_sums(r) ? r.x.dtype : DType::f32;
  const std::shared_ptr<Storage> memory = backend.temporary(y.numel(), dtype);
  View sums = in_row_major(memory.get(), dtype, y);
  detail::ConvRequest alone = r;
  alone.epilogue = plain_epilogue(r.op, sums.dtype), alone.inputs = {}, alone.outputs = {&sums, 1};
  if (!run(alone)) throw Error(ErrorKind::backend, std::string(r.op) + ": a result of more bytes than a kernel sees");
  detail::FusedRequest pass;
  pass.op = r.op, pass.program = r.epilogue, pass.space = {y[0], y[y.size() - 1]};
  for (std::size_t i = 1; i + 1 < y.size(); ++i) pass.space.push_back(y[i]);
  std::vector<detail::Operand> inputs{{channels_second(sums), {}, nullptr}};
  for (detail::Operand operand : r.inputs) {
    if (operand.view.storage) operand.view = channels_second(operand.view);
    inputs.push_back(operand);
  }
  std::vector<View> outputs;
  for (const View& view : r.outputs) outputs.push_back(channels_second(view));
  pass.inputs = inputs, pass.outputs = outputs;
  backend.execute(pass);
}

}  // namespace tern::detail_gpu::conv
