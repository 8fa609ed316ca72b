// Primitive `convolution`: windows of images times kernels, with a formula applied to the result; and the gradient of
// the kernels.
#pragma once
#include <array>

#include "backend/primitive.hpp"

namespace tern::detail {

/// The numbers of one convolution over 1 to 3 axes. Along an axis, element k of the kernel at place i of the result
/// meets element i·stride + k·dilation − before of the image; outside are zeros. dilation may be negative, and before
/// may be anything: a kernel read backwards, or the part of a transpose that one phase of its stride sees.
struct ConvSizes {
  using Sizes = std::array<std::int64_t, 3>;
  int axes = 0;
  std::int64_t n = 0, groups = 1;  // samples
  std::int64_t c = 0, o = 0;       // channels of the image, and of the result, in each group
  Sizes in{}, out{}, kernel{}, stride{}, dilation{}, before{};

  /// Depthwise, or a single channel.
  bool one_channel_a_group() const { return c == 1 && o == 1; }
  Shape of_x() const { return image(in, groups * c); }
  Shape of_y() const { return image(out, groups * o); }
  Shape of_w() const {
    Shape shape{groups, o, c};
    for (int i = 0; i < axes; ++i) shape.push_back(kernel[static_cast<std::size_t>(i)]);
    return shape;
  }
  /// Of the channels of a sum, how many elements of the kernels meet them.
  std::int64_t taps() const {
    std::int64_t taps = 1;
    for (int i = 0; i < axes; ++i) taps *= kernel[static_cast<std::size_t>(i)];
    return taps;
  }
  template <class Add> void parameters(Add&& add) const {
    add(of_x()), add(of_y()), add(of_w()), add(groups);
    for (std::size_t i = 0; i < 3; ++i) add(stride[i]), add(dilation[i]), add(before[i]);
  }
  std::int64_t flops() const { return 2 * of_y().numel() * c * taps(); }

 private:
  Shape image(const Sizes& sizes, std::int64_t channels) const {
    Shape shape{n};
    for (int i = 0; i < axes; ++i) shape.push_back(sizes[static_cast<std::size_t>(i)]);
    shape.push_back(channels);
    return shape;
  }
};

/// outputs = epilogue(Σ x·w, operands…). x [N, in.., G·c], w [G, o, c, k..], outputs and operands over [N, out.., G·o];
/// positions that the epilogue asks for are those of [N, G·o, out..]. Input 0 of the epilogue is the sum; f16 and bf16
/// operands are summed in f32 and reach it unrounded. c, o and the sizes of kernels are at least 1.
struct ConvRequest {
  const char* op = "";
  ConvSizes sizes;
  View x, w;
  const Program* epilogue = nullptr;
  std::span<const Operand> inputs;
  std::span<const View> outputs;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.x, r.sizes.of_x()), visit.reads(r.w, r.sizes.of_w());
    visit.program(*r.epilogue, 1, r.inputs, r.outputs, r.sizes.of_y());
  }
  template <class Add> void parameters(Add&& add) const {
    add(epilogue->serial), sizes.parameters(add), add(x.dtype), add(w.dtype);
  }
  std::int64_t flops() const;
  std::string text() const;
};

/// w = Σ x·y over samples and places: the transpose of the above towards w, in the same order of axes. Dilations are
/// positive.
struct ConvWeightRequest {
  const char* op = "";
  ConvSizes sizes;
  View x, y, w;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.x, r.sizes.of_x()), visit.reads(r.y, r.sizes.of_y());
    visit.writes(r.w, r.sizes.of_w());
  }
  template <class Add> void parameters(Add&& add) const { sizes.parameters(add), add(x.dtype), add(w.dtype); }
  std::int64_t flops() const { return sizes.flops(); }
  std::string text() const;
};

class Backend;
/// Whether a backend has a kernel for such a convolution, and it is faster than one product over its windows.
bool convolution_pays(Backend& backend, const ConvSizes& sizes, DType dtype);
/// The same of the gradient of its kernels.
bool convolution_weight_pays(Backend& backend, const ConvSizes& sizes, DType dtype);
/// Whether the transpose of such a convolution, whose stride is its kernel's extent, is faster as products whose sums
/// are placed.
bool convolution_blocks_pay(Backend& backend, const ConvSizes& sizes, DType dtype);
/// And whether that of one with a stride is faster with the phases of the stride as channels of one convolution.
bool convolution_phases_join(Backend& backend, const ConvSizes& sizes, DType dtype);

}  // namespace tern::detail
