// Convolution of each channel by itself where there is no kernel for it (operation_direct.cpp), such as on GPUs for
// kernels of many elements: a sum over the window, which they read from their caches.
#include "primitives/convolution/operations/operation.hpp"

namespace tern::detail {

namespace {

/// Memory [N, C, P..] as [N, C, out.., k..].
Tensor windows_of(const Conv& g, const Tensor& x) {
  ConvLayout l;
  l.add(g.n, step_of(x, 0)), l.add(g.groups, step_of(x, 1));
  for (int i = 0; i < g.axes; ++i) l.add(g.out[g.at(i)], g.stride[g.at(i)] * step_of(x, 2 + i));
  for (int i = 0; i < g.axes; ++i) l.add(g.kernel[g.at(i)], g.dilation[g.at(i)] * step_of(x, 2 + i));
  return l.of(x);
}
const FormulaGraph* sum_of_products() {
  return graph_of([](auto a, auto b) { return sum(a * b); });
}
std::uint32_t bits(int first, int count) { return ((1u << count) - 1) << first; }
Conv::Sizes padded_sizes(const Conv& g) {
  Conv::Sizes sizes{};
  for (int i = 0; i < g.axes; ++i) sizes[g.at(i)] = g.padded(i);
  return sizes;
}

Tensor summed_result(const Conv& g, const Tensor& x, const Tensor& w) {
  Shape shape{g.groups};
  for (int i = 0; i < g.axes; ++i) shape.push_back(1);
  for (int i = 0; i < g.axes; ++i) shape.push_back(g.kernel[g.at(i)]);
  const Tensor windows = windows_of(g, x), factors = w.reshape(shape);
  const Argument arguments[] = {Argument(windows), Argument(factors)};
  return fused_one<Tensor>({g.op, sum_of_products(), bits(2 + g.axes, g.axes), {}, {}, true}, arguments);
}
Tensor summed_weight(const Conv& g, const Tensor& x, const Tensor& y) {
  ConvLayout l;
  for (int i = 0; i < y.dim(); ++i) l.add(y.size(i), step_of(y, i));
  for (int i = 0; i < g.axes; ++i) l.add(g.kernel[g.at(i)], 0);
  const Tensor windows = windows_of(g, x), factors = l.of(y);
  const Argument arguments[] = {Argument(windows), Argument(factors)};
  return fused_one<Tensor>({g.op, sum_of_products(), bits(2, g.axes) | 1u, {}, {}, true}, arguments);
}

}  // namespace

Tensor depthwise_result(const Conv& g, const Tensor& x, const Tensor& w, const Conv::Sizes& offsets,
                        const Conv::Sizes& steps) {
  return summed_result(g, placed_in_zeros(x, 2, g.axes, padded_sizes(g), offsets, steps), w);
}

Tensor depthwise_weight(const Conv& g, const Tensor& x, const Tensor& y) {
  Shape whole{g.groups, 1};
  for (int i = 0; i < g.axes; ++i) whole.push_back(g.kernel[g.at(i)]);
  return summed_weight(g, placed_in_zeros(x, 2, g.axes, padded_sizes(g), g.before, {1, 1, 1}), y).reshape(whole);
}

}  // namespace tern::detail
