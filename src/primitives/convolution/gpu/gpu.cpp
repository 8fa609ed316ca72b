// Convolutions in what the GPU languages share: products of the windows of an image (gpu_windows.wgsl) by the kernel of
// products, with its tiles and its epilogue (src/gpu/products/gemm.wgsl).
#include <algorithm>
#include <optional>

#include "gpu/products/gemm.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "primitives/convolution/gpu/gpu_common.hpp"
#include "primitives/convolution/gpu/gpu_depthwise.hpp"
#include "primitives/convolution/gpu/gpu_windows.hpp"
#include "primitives/convolution/kernels.hpp"
#include "primitives/gemm/prepared.hpp"

namespace tern::detail_gpu {
namespace {

using conv::PlaceSplits;
using conv::Temporaries;
using conv::WindowFactor;
using detail::ConvRequest;
using detail::ConvSizes;
using detail::ConvWeightRequest;
using detail::GemmRequest;

std::int64_t positions(const ConvSizes& s) { return s.of_y().numel() / (s.groups * s.o); }

/// A view over [first axes.., channels] as one over (groups,) rows, channels of a group; none where its rows are not
/// evenly apart.
std::optional<View> as_rows(const View& view, const Shape& shape, std::int64_t groups) {
  const std::size_t last = shape.size() - 1;
  std::int64_t rows = 1, stride = 0;
  for (std::size_t i = last; i-- > 0;) {
    if (shape[i] == 1) continue;
    if (rows == 1) stride = view.strides[i];
    if (view.strides[i] != stride * rows) return std::nullopt;
    rows *= shape[i];
  }
  View of{view.storage, view.dtype, view.offset, {}};
  if (groups > 1) of.strides.push_back(shape[last] / groups * view.strides[last]);
  of.strides.push_back(stride), of.strides.push_back(view.strides[last]);
  return of;
}

/// With channels next to each other in memory, copied where they are not.
View channels_in_memory(GpuBackend& backend, const char* op, const View& image, const Shape& shape,
                        Temporaries& temporaries) {
  const std::size_t channel = shape.size() - 1;
  if ((shape[channel] == 1 || image.strides[channel] == 1) && conv::in_one_binding(backend, image, shape)) return image;
  return conv::row_major(backend, op, image, shape, temporaries);
}

/// A factor's view as a product asks for it: batches are no further rows of what is gathered.
View of_no_rows(const View& image, const Shape& batch) {
  View a{image.storage, image.dtype, image.offset, {}};
  a.strides.resize(batch.size() + 2, 0);
  if (batch.size() > 0) a.strides[0] = 1;
  return a;
}

/// The kernels [G, o, c, k..] as matrices (G,) [k.. and c, o].
View kernel_matrices(GpuBackend& backend, const char* op, const ConvSizes& s, const View& w,
                     Temporaries& temporaries) {
  View transposed{w.storage, w.dtype, w.offset, {}};
  Shape shape{s.groups};
  transposed.strides.push_back(w.strides[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i)
    shape.push_back(s.kernel[i]), transposed.strides.push_back(w.strides[3 + i]);
  shape.push_back(s.c), transposed.strides.push_back(w.strides[2]);
  shape.push_back(s.o), transposed.strides.push_back(w.strides[1]);
  View matrices = conv::row_major(backend, op, transposed, shape, temporaries);
  const std::int64_t of_group = s.taps() * s.c * s.o;
  matrices.strides = {};
  if (s.groups > 1) matrices.strides.push_back(of_group);
  matrices.strides.push_back(s.o), matrices.strides.push_back(1);
  return matrices;
}

/// Runs a product with its epilogue; false, having done nothing, where an operand or output does not lie over the
/// places as over the rows of a matrix.
bool run_rows(GpuBackend& backend, const ConvRequest& r, const View& image, const View& kernels) {
  const ConvSizes& s = r.sizes;
  if (conv::counts_places(*r.epilogue) || !conv::fits_bindings(backend, r, image, kernels)) return false;
  std::vector<detail::Operand> inputs(r.inputs.begin(), r.inputs.end());
  std::vector<View> outputs(r.outputs.begin(), r.outputs.end());
  const auto rows_of = [&](View& view) {
    const std::optional<View> rows = as_rows(view, s.of_y(), s.groups);
    return rows && (view = *rows, true);
  };
  for (detail::Operand& input : inputs)
    if (input.view.storage && !rows_of(input.view)) return false;
  for (View& output : outputs)
    if (!rows_of(output)) return false;
  GemmRequest g;
  g.op = r.op, g.m = positions(s), g.n = s.o, g.k = s.taps() * s.c;
  if (s.groups > 1) g.batch = {s.groups};
  g.a = of_no_rows(image, g.batch), g.b = kernels, g.epilogue = r.epilogue, g.inputs = inputs, g.outputs = outputs;
  WindowFactor windows(s, image);
  run_gathered_product(backend, g, windows);
  return true;
}

/// Splits of k, which goes over places, for the gradient of the kernels: as many as give the device work.
PlaceSplits splits_of(const ConvSizes& s) {
  constexpr std::int64_t kWorkgroups = 512, kLeast = 512, kMost = 256, kTile = 128;
  const std::int64_t tiles = ceil_div(s.taps() * s.c, kTile) * ceil_div(s.o, kTile) * s.groups, places = positions(s);
  const std::int64_t wanted = std::clamp<std::int64_t>(ceil_div(kWorkgroups, tiles), 1,
                                                       std::min(kMost, std::max<std::int64_t>(1, places / kLeast)));
  PlaceSplits splits;
  splits.length = round_up(ceil_div(places, wanted), 64);
  splits.count = ceil_div(places, splits.length);
  return splits;
}

void run_result(GpuBackend& backend, const ConvRequest& r) {
  Temporaries temporaries;
  const View x = channels_in_memory(backend, r.op, r.x, r.sizes.of_x(), temporaries);
  const View kernels = kernel_matrices(backend, r.op, r.sizes, r.w, temporaries);
  const std::int64_t at_once = conv::samples_at_once(backend, r.sizes);
  const auto run = [&](const ConvRequest& part) {
    for (conv::Samples some; some.first < r.sizes.n; some.first += some.count) {
      some.count = std::min(at_once, r.sizes.n - some.first);
      const conv::SomeSamples now(part, some);
      if (!run_rows(backend, now.request, some.of(x), kernels)) return false;
    }
    return true;
  };
  if (!run(r)) conv::run_with_pass(backend, r, run);
}

void run_weight(GpuBackend& backend, const ConvWeightRequest& r) {
  const ConvSizes& s = r.sizes;
  Temporaries temporaries;
  const View x = channels_in_memory(backend, r.op, r.x, s.of_x(), temporaries);
  std::optional<View> y = as_rows(r.y, s.of_y(), s.groups);
  if (!y || !conv::in_one_binding(backend, r.y, s.of_y()))
    y = as_rows(conv::row_major(backend, r.op, r.y, s.of_y(), temporaries), s.of_y(), s.groups);
  const PlaceSplits all = splits_of(s);
  const std::int64_t m = s.taps() * s.c, results = s.groups * m * s.o;
  // Sums [splits, groups, taps and channels, results].
  temporaries.push_back(backend.temporary(all.count * results, DType::f32));
  const View sums{temporaries.back().get(), DType::f32, 0, {results, m * s.o, s.o, 1}};
  const std::int64_t steps = std::max<std::int64_t>(1, results * all.length);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(backend.limits().steps) / steps, 1, all.count);
  for (PlaceSplits some{all.length, 0, 0}; some.first < all.count; some.first += some.count) {
    some.count = std::min(at_once, all.count - some.first);
    GemmRequest g;
    g.op = r.op, g.m = m, g.n = s.o, g.k = all.length;
    g.epilogue = plain_epilogue(r.op, DType::f32);
    const std::int64_t of_rows = y->strides[y->strides.size() - 2], of_length = some.first * all.length * of_rows;
    View to{sums.storage, DType::f32, some.first * results, {}}, b{y->storage, y->dtype, y->offset + of_length, {}};
    const auto add_batch = [&](std::int64_t size, std::int64_t step, std::int64_t step_b) {
      if (size > 1) g.batch.push_back(size), to.strides.push_back(step), b.strides.push_back(step_b);
    };
    add_batch(some.count, results, all.length * of_rows), add_batch(s.groups, m * s.o, y->strides[0]);
    to.strides.push_back(s.o), to.strides.push_back(1);
    b.strides.push_back(of_rows), b.strides.push_back(y->strides[y->strides.size() - 1]);
    g.a = of_no_rows(x, g.batch), g.b = b, g.outputs = {&to, 1};
    WindowFactor windows(s, x, some);
    run_gathered_product(backend, g, windows);
  }
  // Over [G, k.., c, o].
  View parts{sums.storage, DType::f32, 0, {results, m * s.o}}, w{r.w.storage, r.w.dtype, r.w.offset, {r.w.strides[0]}};
  Shape space{s.groups};
  std::int64_t step = m * s.o;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) {
    space.push_back(s.kernel[i]), step /= s.kernel[i];
    parts.strides.push_back(step), w.strides.push_back(r.w.strides[3 + i]);
  }
  space.push_back(s.c), parts.strides.push_back(s.o), w.strides.push_back(r.w.strides[2]);
  space.push_back(s.o), parts.strides.push_back(1), w.strides.push_back(r.w.strides[1]);
  add_up(backend, r.op, parts, all.count, w, space);
}

}  // namespace

void convolution_on_gpu(GpuBackend& backend, const ConvRequest& r) {
  if (r.sizes.of_y().numel() == 0) return;
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, *r.epilogue);
    backend.require_supported(r.op, r.x.dtype);
    if (!r.sizes.one_channel_a_group()) return run_result(backend, r);
    const auto run = [&](const ConvRequest& part) { return conv::run_depthwise(backend, part); };
    if (!run(r)) conv::run_with_pass(backend, r, run);
  });
}
void convolution_weight_on_gpu(GpuBackend& backend, const ConvWeightRequest& r) {
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, r.x.dtype);
    r.sizes.one_channel_a_group() ? conv::run_depthwise_weight(backend, r) : run_weight(backend, r);
  });
}
bool convolution_pays_on_gpu(GpuBackend& backend, const ConvSizes& s, DType dtype) {
  if (!is_floating(dtype) || dtype == DType::f64 || backend.limits().archived) return false;
  if (s.one_channel_a_group() && !conv::has_depthwise(s, dtype)) return false;
  if (s.of_x().numel() == 0 || s.of_y().numel() == 0) return false;
  // What products in parts are for: more than a binding shows, or a sample that takes too long.
  const Limits& limits = backend.limits();
  const auto most = static_cast<std::int64_t>(limits.binding_bytes) / 8;
  return std::max({s.of_x().numel(), s.of_y().numel(), s.of_w().numel()}) < most &&
         s.flops() / 2 / s.n <= static_cast<std::int64_t>(limits.steps);
}
bool convolution_phases_join_on_gpu(const ConvSizes& s, DType) {
  std::int64_t phases = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) phases *= s.stride[i];
  return phases > 1 && s.groups == 1 && phases * s.c <= WindowFactor::kNarrow;
}

}  // namespace tern::detail_gpu
