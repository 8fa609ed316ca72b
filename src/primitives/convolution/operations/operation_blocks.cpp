// Transposes whose blocks lie side by side: where the stride is as long as the kernel and nothing is padded, each place
// of y becomes a block of the image by itself. All blocks are one product for each group, [places, o] · [o, k..·c], and
// one pass that places them, in which a formula of the sums is evaluated.
#include "backend/tensor_impl.hpp"
#include "primitives/convolution/convolution.hpp"
#include "primitives/convolution/operations/operation.hpp"
#include "primitives/gemm/operation.hpp"

namespace tern::detail {

namespace {

/// The image as its blocks: [N, out, kernel, out, kernel.., G, c], without G where there is one group.
Shape blocks_shape(const Conv& g) {
  Shape shape{g.n};
  for (int i = 0; i < g.axes; ++i) shape.push_back(g.out[g.at(i)]), shape.push_back(g.kernel[g.at(i)]);
  if (g.groups > 1) shape.push_back(g.groups);
  shape.push_back(g.c);
  return shape;
}
std::int64_t product_over_axes(const Conv& g, const Conv::Sizes& sizes) {
  std::int64_t product = 1;
  for (int i = 0; i < g.axes; ++i) product *= sizes[g.at(i)];
  return product;
}

/// Σ y·w as [N, G, out.., k.., c], in f32 where the operands have 16 bits: they are rounded as they are placed.
Tensor sums_of_blocks(const Conv& g, const Tensor& y, const Tensor& w) {
  const std::int64_t places = product_over_axes(g, g.out), taps = product_over_axes(g, g.kernel);
  // Few channels of 16 bits are multiplied widened: 2048 products of 6x2 and 2x4 take 22 us in f32 and 456 in bf16.
  constexpr std::int64_t kTile = 16;
  const bool half = dtype_size(y.dtype()) == 2;
  const DType sums = half ? DType::f32 : y.dtype(), read = half && g.o < kTile ? DType::f32 : y.dtype();
  const Tensor a = y.to(read).reshape({g.n, g.groups, g.o, places}).mT();
  const Tensor b = w.to(read).reshape({g.groups, g.o, g.c, taps}).mT().reshape({1, g.groups, g.o, taps * g.c});
  Tensor result;
  run_product({g.op, nullptr, {g.n, g.groups}, sums}, a, b, {}, {}, {&result, 1});
  return result;
}

/// [N, G, out.., k.., c] in the order of blocks_shape: a view.
Tensor in_order(const Conv& g, const Tensor& sums) {
  Shape apart{g.n};
  if (g.groups > 1) apart.push_back(g.groups);
  const int first = apart.rank();
  for (int i = 0; i < g.axes; ++i) apart.push_back(g.out[g.at(i)]);
  for (int i = 0; i < g.axes; ++i) apart.push_back(g.kernel[g.at(i)]);
  apart.push_back(g.c);
  Axes order{0};
  for (int i = 0; i < g.axes; ++i) order.push_back(first + i), order.push_back(first + g.axes + i);
  if (g.groups > 1) order.push_back(1);
  order.push_back(apart.rank() - 1);
  return sums.reshape(apart).permute(order);
}

}  // namespace

bool falls_into_blocks(const Conv& g, const Tensor& y) {
  if (g.n == 0 || g.groups == 0 || g.c == 0 || g.o == 0 || (g.axes == 3 && g.groups > 1)) return false;
  for (int i = 0; i < g.axes; ++i) {
    const std::size_t at = g.at(i);
    if (g.stride[at] != g.extent(i) || g.extent(i) != g.kernel[at] || g.before[at] != 0 || g.out[at] == 0 ||
        g.in[at] != g.out[at] * g.stride[at])
      return false;
  }
  return convolution_blocks_pay(y.impl()->storage->backend(), sizes_of(g), y.dtype());
}

PoolVector<Tensor> input_of_blocks(const Conv& g, const Tensor& y, const Tensor& w, const FormulaGraph* formula,
                                   std::span<const Argument> operands) {
  if (formula && counts_positions(formula))  // which are those of the blocks here
    return with_formula(g, input_of_blocks(g, y, w, nullptr, {})[0], formula, operands);
  return image_of_blocks(g, in_order(g, sums_of_blocks(g, y, w)), y.dtype(), formula, operands);
}

PoolVector<Tensor> image_of_blocks(const Conv& g, const Tensor& sums, DType dtype, const FormulaGraph* formula,
                                   std::span<const Argument> operands) {
  Shape image{g.n}, result{g.n, g.groups * g.c};
  for (int i = 0; i < g.axes; ++i) image.push_back(g.in[g.at(i)]), result.push_back(g.in[g.at(i)]);
  image.push_back(g.groups * g.c);
  PoolVector<Tensor> laid;
  laid.reserve(operands.size());
  PoolVector<Argument> all{Argument(sums)};
  for (const Argument& a : operands) {
    if (a.tensor) laid.push_back(channels_last(a.tensor->broadcast_to(result)).reshape(blocks_shape(g)));
    all.push_back(a.tensor ? Argument(laid.back()) : a);
  }
  FusedCall call{g.op, formula_or_sums(formula), 0, blocks_shape(g)};
  if (sums.dtype() != dtype) call.wide.arguments.set(0), call.wide.dtype = dtype;
  PoolVector<Tensor> images = run_fused(call, all);
  for (Tensor& t : images) t = channels_second(t.reshape(image));
  return images;
}

}  // namespace tern::detail
