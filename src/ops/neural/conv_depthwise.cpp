// Convolution of each channel by itself. On GPUs a sum over the window, which they read from their caches. On the CPU
// a product: 16 places along the last axis are a row of windows times a band matrix, of which each column holds the
// kernel one place further down. It multiplies by many zeros, but at the speed of products.
#include <algorithm>

#include "ops/neural/convolution.hpp"

namespace tern::detail {

namespace {

std::int64_t step_of(const Tensor& t, int axis) { return t.strides()[static_cast<std::size_t>(axis)]; }
struct Layout {
  Shape shape;
  Strides strides;
  void add(std::int64_t size, std::int64_t step) { shape.push_back(size), strides.push_back(step); }
  Tensor of(const Tensor& t) const { return make_view(t, shape, strides, t.impl()->offset); }
};

/// Memory [N, C, P..] as [N, C, out.., k..].
Tensor windows_of(const Conv& g, const Tensor& x) {
  Layout l;
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
  Layout l;
  for (int i = 0; i < y.dim(); ++i) l.add(y.size(i), step_of(y, i));
  for (int i = 0; i < g.axes; ++i) l.add(g.kernel[g.at(i)], 0);
  const Tensor windows = windows_of(g, x), factors = l.of(y);
  const Argument arguments[] = {Argument(windows), Argument(factors)};
  return fused_one<Tensor>({g.op, sum_of_products(), bits(2, g.axes) | 1u, {}, {}, true}, arguments);
}

/// The product with band matrices. Blocks of kBlock places along the last axis; `reach`: the elements a block reads.
class Bands {
 public:
  static constexpr std::int64_t kBlock = 16;
  explicit Bands(const Conv& g) : g_(g), last_(g.at(g.axes - 1)) {
    block_ = std::min(kBlock, g.out[last_]);
    blocks_ = (g.out[last_] + block_ - 1) / block_;
    reach_ = (block_ - 1) * g.stride[last_] + g.extent(g.axes - 1);
  }
  /// The sizes that x is placed in, and the length of the result's last axis.
  Conv::Sizes sizes() const {
    Conv::Sizes sizes = padded_sizes(g_);
    sizes[last_] = std::max(sizes[last_], (blocks_ - 1) * block_ * g_.stride[last_] + reach_);
    return sizes;
  }
  std::int64_t length() const { return blocks_ * block_; }

  /// Memory [N, C, P..] as batch + [rows, reach], or turned. Rows are places along the last axis but one, or samples.
  Tensor rows(const Tensor& x, bool turned) const {
    Layout l = batch(x, 0);
    const std::int64_t along = block_ * g_.stride[last_] * step_of(x, x.dim() - 1);
    l.add(blocks_, along), add_kernel(l, x);
    const auto [count, step] = row(x, true);
    if (turned) l.add(reach_, 1), l.add(count, step);
    else l.add(count, step), l.add(reach_, 1);
    return l.of(x);
  }
  /// Memory [N, C, out.., length] as batch + [rows, block].
  Tensor results(const Tensor& y) const {
    Layout l = batch(y, 1);
    l.add(blocks_, block_);
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(1, 0);
    const auto [count, step] = row(y, false);
    l.add(count, step), l.add(block_, 1);
    return l.of(y);
  }
  /// Memory [C, k.., block, reach] without the last axis of the kernel.
  Tensor memory(const Tensor& like, DType dtype) const {
    Shape shape{g_.groups};
    for (int i = 0; i + 1 < g_.axes; ++i) shape.push_back(g_.kernel[g_.at(i)]);
    shape.push_back(block_), shape.push_back(reach_);
    return zeros(shape, {.dtype = dtype, .device = like.device()});
  }
  Tensor matrices(const Tensor& t) const {
    Layout l;
    l.add(g_.groups, step_of(t, 0));
    for (int i = 0; i < g_.axes; ++i) l.add(1, 0);  // samples and places but the last two, then blocks
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(g_.kernel[g_.at(i)], step_of(t, 1 + i));
    l.add(reach_, 1), l.add(block_, reach_);
    return l.of(t);
  }
  /// The kernel's places in the bands: [C, k.., block, k].
  Tensor places(const Tensor& t) const {
    Layout l;
    for (int i = 0; i < g_.axes; ++i) l.add(t.size(i), step_of(t, i));
    l.add(block_, reach_ + g_.stride[last_]), l.add(g_.kernel[last_], g_.dilation[last_]);
    return l.of(t);
  }

 private:
  /// Channels, samples, and the places but the last two; samples are rows where there is one axis.
  Layout batch(const Tensor& t, int result) const {
    Layout l;
    l.add(g_.groups, step_of(t, 1));
    if (g_.axes > 1) l.add(g_.n, step_of(t, 0));
    if (g_.axes > 2) l.add(g_.out[0], (result ? 1 : g_.stride[0]) * step_of(t, 2));
    return l;
  }
  std::pair<std::int64_t, std::int64_t> row(const Tensor& t, bool strided) const {
    if (g_.axes == 1) return {g_.n, step_of(t, 0)};
    const std::size_t at = last_ - 1;
    return {g_.out[at], (strided ? g_.stride[at] : 1) * step_of(t, t.dim() - 2)};
  }
  void add_kernel(Layout& l, const Tensor& x) const {
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(g_.kernel[g_.at(i)], g_.dilation[g_.at(i)] * step_of(x, 2 + i));
  }
  const Conv& g_;
  std::size_t last_;
  std::int64_t block_ = 0, blocks_ = 0, reach_ = 0;
};

void multiply(const Conv& g, const Tensor& a, const Tensor& b, const Tensor& out, std::optional<DType> type) {
  Shape batch = batch_of(out.shape());
  Tensor written;
  run_product({g.op, nullptr, batch, type}, a, b, {}, {&out, 1}, {&written, 1});
}
/// w as [C, k.., 1, k]
Tensor column_of(const Conv& g, const Tensor& w) {
  Shape shape{g.groups};
  for (int i = 0; i + 1 < g.axes; ++i) shape.push_back(g.kernel[g.at(i)]);
  shape.push_back(1), shape.push_back(g.kernel[g.at(g.axes - 1)]);
  return w.reshape(shape);
}
bool by_bands(const Tensor& x) { return x.device() == cpu() && x.numel() > 0; }

}  // namespace

Tensor depthwise_result(const Conv& g, const Tensor& x, const Tensor& w, const Conv::Sizes& offsets,
                        const Conv::Sizes& steps) {
  if (!by_bands(x)) return summed_result(g, place(x, 2, g.axes, padded_sizes(g), offsets, steps), w);
  const Bands bands(g);
  const Tensor rows = bands.rows(place(x, 2, g.axes, bands.sizes(), offsets, steps), false);
  const Tensor band = bands.memory(x, x.dtype());
  bands.places(band).copy_from(column_of(g, w));
  Shape shape{g.n, g.groups};
  for (int i = 0; i < g.axes; ++i) shape.push_back(i + 1 < g.axes ? g.out[g.at(i)] : bands.length());
  const Tensor y = make_tensor(shape, x.dtype(), x.impl()->storage->backend(), g.op);
  multiply(g, rows, bands.matrices(band), bands.results(y), {});
  return y.slice(-1, 0, g.out[g.at(g.axes - 1)]);
}

Tensor depthwise_weight(const Conv& g, const Tensor& x, const Tensor& y) {
  Shape whole{g.groups, 1};
  for (int i = 0; i < g.axes; ++i) whole.push_back(g.kernel[g.at(i)]);
  if (!by_bands(x))
    return summed_weight(g, place(x, 2, g.axes, padded_sizes(g), g.before, {1, 1, 1}), y).reshape(whole);
  const Bands bands(g);
  const Tensor rows = bands.rows(place(x, 2, g.axes, bands.sizes(), g.before, {1, 1, 1}), true);
  Conv::Sizes sizes = g.out;
  sizes[g.at(g.axes - 1)] = bands.length();
  const Tensor laid = place(y, 2, g.axes, sizes, {}, {1, 1, 1});
  const DType wide = dtype_size(x.dtype()) == 2 ? DType::f32 : x.dtype();
  const Tensor band = bands.memory(x, wide);
  multiply(g, rows, bands.results(laid), bands.matrices(band), wide);
  return sum(bands.places(band), {-2}).to(x.dtype()).reshape(whole);
}

}  // namespace tern::detail
