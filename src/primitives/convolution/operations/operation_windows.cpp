#include "primitives/convolution/operations/operation_windows.hpp"

#include "tern/views.hpp"

namespace tern::detail {

namespace {

Tensor view_of(const Tensor& x, const Windows& w) {
  Shape shape{x.size(0), x.size(1)};
  Strides strides;
  strides.push_back(x.strides()[0]), strides.push_back(x.strides()[1]);
  for (int i = 0; i < w.axes; ++i)
    shape.push_back(w.out[w.at(i)]), strides.push_back(w.stride[w.at(i)] * x.strides()[w.at(2 + i)]);
  for (int i = 0; i < w.axes; ++i)
    shape.push_back(w.kernel[w.at(i)]), strides.push_back(w.dilation[w.at(i)] * x.strides()[w.at(2 + i)]);
  return make_view(x, shape, strides, x.impl()->offset);
}
/// A pass for each place in the window: places of one window never meet.
Tensor added_up(const Tensor& x, const Windows& w) {
  Shape shape{x.size(0), x.size(1)};
  for (int i = 0; i < w.axes; ++i) shape.push_back(w.padded(i));
  const bool narrow = dtype_size(x.dtype()) == 2;
  const Tensor sum = zeros(shape, {.dtype = narrow ? DType::f32 : x.dtype(), .device = x.device()});
  const std::int64_t count = w.elements();
  for (std::int64_t k = 0; k < count && x.numel() > 0; ++k) {
    Tensor to = sum, from = x;
    std::int64_t rest = k;
    for (int i = w.axes; i-- > 0;) {
      const std::int64_t at = rest % w.kernel[w.at(i)], begin = at * w.dilation[w.at(i)];
      rest /= w.kernel[w.at(i)];
      to = to.slice(2 + i, begin, begin + (w.out[w.at(i)] - 1) * w.stride[w.at(i)] + 1, w.stride[w.at(i)]);
      from = from.slice(2 + w.axes + i, at, at + 1);
    }
    to += from.reshape(to.shape());
  }
  return sum.to(x.dtype());
}

}  // namespace

std::int64_t Windows::elements() const {
  std::int64_t count = 1;
  for (int i = 0; i < axes; ++i) count *= kernel[at(i)];
  return count;
}

Windows::Sizes per_axis(const char* op, const char* name, const PerAxis& given, int axes, std::int64_t least) {
  Windows::Sizes sizes{};
  if (given.rank() != 1 && given.rank() != axes)
    refuse(op, name, "one number or " + std::to_string(axes), to_string(given));
  for (int i = 0; i < axes; ++i) {
    const std::int64_t value = given[given.rank() == 1 ? 0 : Windows::at(i)];
    if (value < least) refuse(op, name, std::to_string(least) + " or more", to_string(given));
    // So that products of two of them, and sums, are no other number.
    if (value > kMostPositions) refuse(op, name, "at most 2^31-1", to_string(given));
    sizes[Windows::at(i)] = value;
  }
  return sizes;
}

void count_windows(Windows& w, const Tensor& x) {
  for (int i = 0; i < w.axes; ++i) {
    if (w.extent(i) > w.padded(i))
      refuse(w.op, "kernel",
             "at most the padded size, " + std::to_string(w.padded(i)) + " along axis " + std::to_string(2 + i) +
                 " of x " + describe(x),
             std::to_string(w.extent(i)));
    w.out[w.at(i)] = (w.padded(i) - w.extent(i)) / w.stride[w.at(i)] + 1;
  }
}

template <> Tensor windows_of(const Tensor& x, const Windows& w) { return view_of(x, w); }
template <> Tensor overlapped(const Tensor& x, const Windows& w) { return added_up(x, w); }
template <> Var overlapped(const Var& x, const Windows& w);
template <> Var windows_of(const Var& x, const Windows& w) {
  return record_one(w.op, {&x, 1}, view_of(x.value(), w), {},
                    [w](const RuleContext& c) { return PoolVector<Var>{overlapped(c.grads[0], w)}; });
}
template <> Var overlapped(const Var& x, const Windows& w) {
  return record_one(w.op, {&x, 1}, added_up(x.value(), w), {},
                    [w](const RuleContext& c) { return PoolVector<Var>{windows_of(c.grads[0], w)}; });
}

template <TensorOrVar R> R padded(const R& x, const Windows& w, double value) {
  std::vector<std::pair<std::int64_t, std::int64_t>> widths;
  bool none = true;
  for (int i = 0; i < w.axes; ++i) {
    widths.emplace_back(w.padding[w.at(i)], w.padding[w.at(i)]);
    none = none && w.padding[w.at(i)] == 0;
  }
  return none ? x : pad(x, widths, PadMode::constant, value);
}
template Tensor padded(const Tensor&, const Windows&, double);
template Var padded(const Var&, const Windows&, double);

}  // namespace tern::detail
