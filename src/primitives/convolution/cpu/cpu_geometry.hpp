// What the kernels of convolutions on the CPU share: a request's numbers over exactly three axes, and its operands.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>

#include "cpu/products/gemm_depth.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/scratch.hpp"
#include "cpu/simd/dispatch.hpp"
#include "primitives/convolution/convolution.hpp"
#include "primitives/convolution/cpu/lanes.hpp"

namespace tern::detail_cpu::conv {

using detail_cpu::ceil_div;
/// Towards minus infinity, b > 0.
constexpr Int64 floor_divide(Int64 a, Int64 b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

struct Strided {
  std::byte* data = nullptr;
  Int64 group = 0, batch = 0, channel = 0, axis[3] = {};  // elements
};

/// Axes that are not there have one element. Dilations are positive: kernels that are read backwards have negative
/// strides.
struct Geometry {
  Int64 n, groups, c, o;
  Int64 in[3], out[3], kernel[3], stride[3], dilation[3], before[3];
  DType dtype;
  GemmTypes types;
  const ConvKernels* kernels;
  Strided x, w, y;  // of w, batch: from result to result of a group, channel: of those that are summed

  explicit Geometry(const detail::ConvSizes& s, const detail::View& image, const detail::View& weight)
      : n(s.n), groups(s.groups), c(s.c), o(s.o), dtype(image.dtype), types(gemm_types(image.dtype)) {
    kernels = image.dtype == DType::f64 ? &conv_kernels().f64 : &conv_kernels().f32;
    for (int i = 0; i < 3; ++i) {
      const int from = i - (3 - s.axes);
      const auto at = static_cast<std::size_t>(std::max(from, 0));
      in[i] = from < 0 ? 1 : s.in[at], out[i] = from < 0 ? 1 : s.out[at], kernel[i] = from < 0 ? 1 : s.kernel[at];
      stride[i] = from < 0 ? 1 : s.stride[at], dilation[i] = from < 0 ? 1 : s.dilation[at];
      before[i] = from < 0 ? 0 : s.before[at];
    }
    x = of_image(image, s.axes);
    w = of_kernels(weight, s.axes);
    for (int i = 0; i < 3; ++i) {
      if (dilation[i] >= 0) continue;
      before[i] -= (kernel[i] - 1) * dilation[i], dilation[i] = -dilation[i];
      w.data += (kernel[i] - 1) * w.axis[i] * static_cast<Int64>(dtype_size(weight.dtype)), w.axis[i] = -w.axis[i];
    }
  }
  /// The same with the last two axes exchanged.
  Geometry transposed() const {
    Geometry g = *this;
    for (Int64* sizes : {g.in, g.out, g.kernel, g.stride, g.dilation, g.before, g.x.axis, g.w.axis})
      std::swap(sizes[1], sizes[2]);
    return g;
  }
  static std::byte* address(const detail::View& v) {
    return static_cast<std::byte*>(v.storage->data()) + v.offset * static_cast<Int64>(dtype_size(v.dtype));
  }
  static Strided of_image(const detail::View& v, int axes) {
    Strided s{address(v), 0, v.strides[0], v.strides[static_cast<std::size_t>(axes) + 1], {}};
    for (int i = 0; i < axes; ++i) s.axis[3 - axes + i] = v.strides[static_cast<std::size_t>(1 + i)];
    return s;
  }
  static Strided of_kernels(const detail::View& v, int axes) {
    Strided s{address(v), v.strides[0], v.strides[1], v.strides[2], {}};
    for (int i = 0; i < axes; ++i) s.axis[3 - axes + i] = v.strides[static_cast<std::size_t>(3 + i)];
    return s;
  }

  Int64 size() const { return types.size; }          // of an element in memory
  Int64 wide() const { return types.compute_size; }  // of one that is computed with
  Int64 taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  Int64 reach(int i) const { return (kernel[i] - 1) * dilation[i] + 1; }
  /// The element of the image that element k of the kernel meets at a place of the result.
  Int64 met(int i, Int64 place, Int64 k) const { return place * stride[i] + k * dilation[i] - before[i]; }
  bool inside(int i, Int64 at) const { return at >= 0 && at < in[i]; }
  /// A place of the result in the order [N, out.., G·o].
  Int64 position(Int64 sample, Int64 z, Int64 row, Int64 column) const {
    return (((sample * out[0] + z) * out[1] + row) * out[2] + column) * groups * o;
  }
};

/// The axis among [N, out.., channels] for each of [N, channels, out..].
struct CoordinateOrder {
  int of[5] = {};
  explicit CoordinateOrder(int axes) {
    of[1] = axes + 1;
    for (int i = 0; i < axes; ++i) of[2 + i] = 1 + i;
  }
};

/// Whether the accumulators are the result as it lies in memory, channels side by side; `rounds`: or their rounding.
inline bool goes_straight(const detail::ConvRequest& r, bool stores_accumulators, bool rounds = false) {
  const detail::View& out = r.outputs[0];
  return stores_accumulators && out.dtype == r.x.dtype &&
         (out.dtype == DType::f32 || out.dtype == DType::f64 || rounds) &&
         out.strides[static_cast<std::size_t>(r.sizes.axes) + 1] == 1;
}

void run_depthwise(const detail::ConvRequest& request);
void run_depthwise_weight(const detail::ConvWeightRequest& request);
void run_direct(const detail::ConvRequest& request);
void run_direct_weight(const detail::ConvWeightRequest& request);

}  // namespace tern::detail_cpu::conv
