#include "primitives/convolution/cuda/cuda_windows.hpp"

#include <algorithm>

#include "gpu/elementwise.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu::conv {
namespace {

constexpr const char* kWindows =
#include "primitives/convolution/cuda/cuda_windows.cu.inc"
    ;
constexpr std::int64_t kAligned = kVectorBytes / 2;  // elements; addresses and strides are multiples

bool is_stride(std::int64_t stride) { return stride > 0 && stride % kAligned == 0 && stride < std::int64_t{1} << 38; }

/// A matrix as one to be fetched across its rows; none where the copy engine cannot.
std::optional<BoxMap> matrix_across(const View& view, std::int64_t elements, std::int64_t rows, std::int64_t stride) {
  if (!begins_in_vectors(view) || !is_stride(stride) || stride < elements) return std::nullopt;
  BoxMap map;
  map.storage = view.storage, map.begin = 2 * static_cast<std::uint64_t>(view.offset);
  map.sizes[0] = static_cast<std::uint64_t>(elements), map.sizes[1] = static_cast<std::uint64_t>(rows);
  map.strides[0] = map.strides[1] = 2 * static_cast<std::uint64_t>(stride);
  return map;
}

}  // namespace

bool fetches_windows(const ConvSizes& sizes, DType dtype) {
  if ((dtype != DType::f16 && dtype != DType::bf16) || sizes.groups != 1) return false;
  if (sizes.c % kAligned != 0 || sizes.o % kAligned != 0) return false;
  std::array<bool, 3> axes{};
  const ConvSizes s = with_flipped_axes(sizes, axes);
  // Corners and taps have so many bits (PTX ISA, cp.async.bulk.tensor; cuTensorMapEncodeIm2col). Those of the
  // transpose, phase by phase of the stride, lie no further out than this sum.
  const std::int64_t corners = std::int64_t{1} << ((s.axes == 1 ? 16 : s.axes == 2 ? 8 : 5) - 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) {
    const std::int64_t upper = (s.out[i] - 1) * s.stride[i] - s.before[i] - (s.in[i] - 1);
    if (s.in[i] < 1 || s.out[i] < 1 || s.stride[i] > 8 || s.dilation[i] < 1) return false;
    if (std::abs(s.before[i]) + std::abs(upper) + (s.kernel[i] - 1) * s.dilation[i] + s.stride[i] >= corners)
      return false;
  }
  return true;
}

FetchedWindows::FetchedWindows(GpuBackend& backend, const char* op, const ConvSizes& sizes, const View& image,
                               Temporaries& temporaries)
    : backend_(backend), op_(op), sizes_(with_flipped_axes(sizes, flipped_axes_)), image_(image) {
  const Shape shape = sizes_.of_x();
  bool fits = begins_in_vectors(image) && image.strides[shape.size() - 1] == 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) fits = fits && (shape[i] == 1 || is_stride(image.strides[i]));
  if (!fits) image_ = row_major(backend, op, image, shape, temporaries);
}

BoxMap FetchedWindows::map() const {
  BoxMap map;
  map.storage = image_.storage, map.begin = 2 * static_cast<std::uint64_t>(image_.offset);
  map.windows = true, map.axes = static_cast<std::uint32_t>(sizes_.axes) + 2;
  const Shape shape = sizes_.of_x();
  map.sizes[0] = static_cast<std::uint64_t>(sizes_.c);
  for (std::size_t i = 1; i < map.axes; ++i) {
    const std::size_t axis = map.axes - 1 - i;  // the last one first, samples at the end
    map.sizes[i] = static_cast<std::uint64_t>(shape[axis]);
    map.strides[i - 1] = shape[axis] == 1 ? 2 * static_cast<std::uint64_t>(sizes_.c)
                                          : 2 * static_cast<std::uint64_t>(image_.strides[axis]);
  }
  for (std::size_t i = 0; i + 2 < map.axes; ++i) {
    const std::size_t axis = map.axes - 3 - i;
    map.lower[i] = static_cast<std::int32_t>(-sizes_.before[axis]);
    map.upper[i] = static_cast<std::int32_t>((sizes_.out[axis] - 1) * sizes_.stride[axis] - sizes_.before[axis] -
                                             (sizes_.in[axis] - 1));
    map.steps[i] = static_cast<std::uint32_t>(sizes_.stride[axis]);
  }
  return map;
}

FetchedFactor FetchedWindows::kernels(const View& view, Temporaries& temporaries) {
  View w = view;
  const Shape shape = sizes_.of_w();
  const auto axes = static_cast<std::size_t>(sizes_.axes);
  std::int64_t step = 0, taps = 1;  // between taps, where all of them are as far apart
  bool even = true;
  for (std::size_t i = axes; i-- > 0;) {
    std::int64_t& stride = w.strides[3 + i];
    if (flipped_axes_[i]) w.offset += (shape[3 + i] - 1) * stride, stride = -stride;
    if (shape[3 + i] == 1) continue;
    if (taps == 1) step = stride;
    even = even && stride == step * taps, taps *= shape[3 + i];
  }
  flipped_ = step < 0;
  View lowest = w;
  if (flipped_) lowest.offset += (taps - 1) * step, step = -step;
  const std::int64_t of_o = w.strides[1], of_c = w.strides[2];
  FetchedFactor f;
  f.along_k = of_c == 1, f.batched = true;
  const std::int64_t rows = f.along_k ? sizes_.o : sizes_.c, elements = f.along_k ? sizes_.c : sizes_.o;
  std::optional<BoxMap> map;
  if (even && (of_c == 1 || of_o == 1) && (taps == 1 || is_stride(step)))
    map = matrix_across(lowest, elements, rows, f.along_k ? of_o : of_c);
  if (!map) {
    flipped_ = false, f.along_k = true, step = sizes_.c;
    Shape order{sizes_.o};
    View seen{w.storage, w.dtype, w.offset, {}};
    seen.strides.push_back(of_o);
    for (std::size_t i = 0; i < axes; ++i) order.push_back(shape[3 + i]), seen.strides.push_back(w.strides[3 + i]);
    order.push_back(sizes_.c), seen.strides.push_back(of_c);
    map = matrix_across(row_major(backend_, op_, seen, order, temporaries), sizes_.c, sizes_.o, taps * sizes_.c);
  }
  f.map = *map, f.map.sizes[2] = static_cast<std::uint64_t>(taps);
  if (taps > 1) f.map.strides[1] = 2 * static_cast<std::uint64_t>(step);
  return f;
}

BoxMap results_across(GpuBackend& backend, const char* op, const ConvSizes& sizes, const View& view,
                      Temporaries& temporaries) {
  const Shape shape = sizes.of_y();
  const std::size_t last = shape.size() - 2;
  std::int64_t rows = 1, stride = sizes.o;  // places, where all of them are as far apart
  bool even = view.strides[last + 1] == 1;
  for (std::size_t i = last + 1; i-- > 0;) {
    if (shape[i] == 1) continue;
    if (rows == 1) stride = view.strides[i];
    even = even && view.strides[i] == stride * rows, rows *= shape[i];
  }
  if (even)
    if (const std::optional<BoxMap> map = matrix_across(view, sizes.o, rows, stride)) return *map;
  return *matrix_across(row_major(backend, op, view, shape, temporaries), sizes.o, rows, sizes.o);
}

StepsText FetchedWindows::steps() const {
  StepsText steps{kWindows, {}, {}};
  steps.holes["axes"] = cat(sizes_.axes, "u"), steps.holes["flipped"] = flipped_ ? "true" : "false";
  // Earlier by a multiple of what an instruction multiplies. Zeros cost as much as channels, and more to fetch: on an
  // H200, 30 November 2026, bf16, us forward, 3x3, with zeros and without: 32x96x56x56 -> 96 91, 85; 32x160x28x28 ->
  // 160 43, 39; 32x224x28x28 -> 224 63, 58.
  constexpr std::int64_t kMultiplied = 16;
  const std::int64_t skipped = padded_channels() - sizes_.c;
  const bool skips = sizes_.c > kTileK && skipped % kMultiplied == 0;
  steps.holes["skipped"] = cat(skips ? skipped : 0, "u");
  steps.holes["steps_of_skip"] = cat(skips ? padded_channels() / kTileK : 1, "u");
  for (std::size_t i = static_cast<std::size_t>(sizes_.axes); i-- > 0;)
    for (const std::int64_t number : {sizes_.out[i], sizes_.stride[i], sizes_.before[i], sizes_.kernel[i],
                                      sizes_.dilation[i], sizes_.kernel[i] * sizes_.dilation[i]})
      steps.numbers.push_back(number);
  steps.numbers.push_back(sizes_.c), steps.numbers.push_back(taps());
  return steps;
}

}  // namespace tern::detail_gpu::conv
