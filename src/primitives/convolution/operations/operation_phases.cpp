// Transposes of images of few channels, such as the gradient of a first layer's image, where their few columns would
// leave most of a product empty: the phases of the stride (operation_direct.cpp) as further channels of one
// convolution, and one pass that places them.
//
// Along an axis place q·s + a of the image, of phase a, meets element k = s·p + a of the kernel at place q + reach − p
// of y, reach being the same for all phases: so elements p of all phases are [p, a] of the kernel. Only where each
// phase has as many elements, from the first on: elsewhere zeros would be multiplied, and what is infinite in y would
// be NaN in places that do not meet it. (Of 64 to 3 channels, 7 elements and a stride of 2, with such zeros, forward
// and all gradients had 17.3 TFLOP/s on an H200 through WebGPU, and phases one after the other 4.2, 29 November 2026.)
#include "backend/tensor_impl.hpp"
#include "primitives/convolution/convolution.hpp"
#include "primitives/convolution/operations/operation.hpp"

namespace tern::detail {

namespace {

/// The convolution of y whose results are the phases.
Conv joined(const Conv& g) {
  Conv t = g;
  t.c = g.o, t.o = g.c, t.in = g.out, t.after = {};
  for (int i = 0; i < g.axes; ++i) {
    const std::size_t at = g.at(i);
    const std::int64_t s = g.stride[at];
    t.o *= s, t.out[at] = g.in[at] / s, t.kernel[at] = g.kernel[at] / s;
    t.stride[at] = 1, t.dilation[at] = -1, t.before[at] = -g.before[at] / s;
  }
  return t;
}

/// w [o, c, k..] as [phases.. and c, o, p..].
Tensor joined_weight(const Conv& g, const Conv& t, const Tensor& w) {
  Shape apart{g.o, g.c}, together{t.o, t.c};
  Axes order;
  for (int i = 0; i < g.axes; ++i) {
    const std::size_t at = g.at(i);
    apart.push_back(t.kernel[at]), apart.push_back(g.stride[at]), together.push_back(t.kernel[at]);
    order.push_back(3 + 2 * i);
  }
  order.push_back(1), order.push_back(0);
  for (int i = 0; i < g.axes; ++i) order.push_back(2 + 2 * i);
  return w.reshape(apart).permute(order).reshape(together);
}

/// [N, phases.. and c, q..] as [N, q, phase, q, phase.., c].
Tensor phases_in_order(const Conv& g, const Conv& t, const Tensor& sums) {
  Shape apart{g.n};
  for (int i = 0; i < g.axes; ++i) apart.push_back(g.stride[g.at(i)]);
  apart.push_back(g.c);
  for (int i = 0; i < g.axes; ++i) apart.push_back(t.out[g.at(i)]);
  Axes order{0};
  for (int i = 0; i < g.axes; ++i) order.push_back(2 + g.axes + i), order.push_back(1 + i);
  order.push_back(1 + g.axes);
  return sums.reshape(apart).permute(order);
}

}  // namespace

bool phases_join(const Conv& g, const Tensor& y) {
  if (g.n == 0 || g.groups != 1) return false;
  for (int i = 0; i < g.axes; ++i) {
    const std::size_t at = g.at(i);
    const auto divides = [s = g.stride[at]](std::int64_t places) { return places % s == 0; };
    if (g.dilation[at] != 1 || g.before[at] < 0 || !divides(g.before[at]) || !divides(g.kernel[at]) ||
        !divides(g.in[at]))
      return false;
  }
  return convolution_phases_join(y.impl()->storage->backend(), sizes_of(g), y.dtype());
}

PoolVector<Tensor> input_of_joined_phases(const Conv& g, const Tensor& y, const Tensor& w, const FormulaGraph* formula,
                                          std::span<const Argument> operands) {
  if (formula && counts_positions(formula))  // which are those of the phases here
    return with_formula(g, input_of_joined_phases(g, y, w, nullptr, {})[0], formula, operands);
  const Conv t = joined(g);
  const FormulaGraph* const in_f32 = graph_of([](auto sum) { return cast(sum, f32); });
  const Tensor sums =
      direct_result(t, y, joined_weight(g, t, w), dtype_size(y.dtype()) == 2 ? in_f32 : nullptr, {})[0];
  Conv blocks = g;
  blocks.out = t.out, blocks.kernel = g.stride;
  return image_of_blocks(blocks, phases_in_order(g, t, sums), y.dtype(), formula, operands);
}

}  // namespace tern::detail
