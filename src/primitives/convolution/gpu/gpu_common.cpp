#include "primitives/convolution/gpu/gpu_common.hpp"

#include <algorithm>
#include <set>

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

ConvSizes with_flipped_axes(ConvSizes s, std::array<bool, 3>& axes) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) {
    if (s.kernel[i] == 1) s.dilation[i] = 1;
    axes[i] = s.dilation[i] < 0;
    if (axes[i]) s.before[i] -= (s.kernel[i] - 1) * s.dilation[i], s.dilation[i] = -s.dilation[i];
  }
  return s;
}

detail::GemmRequest product_of(const detail::ConvRequest& r) {
  const Shape y = r.sizes.of_y();
  const std::size_t last = y.size() - 2;
  detail::GemmRequest g;
  g.op = r.op, g.m = y[last], g.n = r.sizes.groups * r.sizes.o, g.k = 1;
  for (std::size_t i = 0; i < last; ++i) g.batch.push_back(y[i]);
  // Places follow each other; what the factors are besides is the kernel's.
  g.a = {r.x.storage, r.x.dtype, 0, {}}, g.b = {r.w.storage, r.w.dtype, 0, {}};
  g.a.strides.resize(y.size(), 1), g.b.strides.resize(y.size(), 0);
  for (std::size_t i = last; i-- > 0;) g.a.strides[i] = g.a.strides[i + 1] * y[i + 1];
  g.epilogue = r.epilogue, g.inputs = r.inputs, g.outputs = r.outputs;
  return g;
}

bool in_one_binding(const GpuBackend& backend, const View& view, const Shape& shape) {
  const ByteRange touched = bytes_touched(view, {shape.begin(), shape.size()});
  const auto most = static_cast<std::int64_t>(backend.limits().binding_bytes) - backend.limits().binding_alignment;
  return touched.end - touched.begin + kVectorBytes <= most;
}

bool fits_bindings(const GpuBackend& backend, const detail::ConvRequest& r, const View& x, const View& w) {
  const Shape y = r.sizes.of_y();
  std::set<const Storage*> storages{x.storage, w.storage};
  const auto fits = [&](const View& view) { return storages.insert(view.storage), in_one_binding(backend, view, y); };
  bool all = true;
  for (const detail::Operand& input : r.inputs)
    if (input.view.storage) all = all && fits(input.view);
  for (const View& output : r.outputs) all = all && fits(output);
  return all && storages.size() <= backend.limits().bindings;
}

std::int64_t samples_at_once(const GpuBackend& backend, const ConvSizes& s) {
  const std::int64_t steps = s.flops() / 2 / std::max<std::int64_t>(s.n, 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(backend.limits().steps) / std::max<std::int64_t>(steps, 1),
                                  1, std::max<std::int64_t>(s.n, 1));
}

SomeSamples::SomeSamples(const detail::ConvRequest& whole, const Samples& samples)
    : request(whole), inputs_(whole.inputs.begin(), whole.inputs.end()) {
  request.sizes.n = samples.count, request.x = samples.of(whole.x);
  for (detail::Operand& input : inputs_)
    if (input.view.storage) input.view = samples.of(input.view);
  for (const View& output : whole.outputs) outputs_.push_back(samples.of(output));
  request.inputs = inputs_, request.outputs = outputs_;
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
