// Convolutions by a kernel of their own, where a backend has one: the image is read where it lies.
//
// The transpose (the gradient of the image) is a convolution as well. With a stride s the places of the image fall into
// s phases along an axis, each of which meets its own elements of the kernel: s convolutions of stride 1, without
// zeros between elements.
#include <numeric>

#include "backend/instruments/trace.hpp"
#include "primitives/convolution/operations/operation.hpp"

namespace tern::detail {

namespace {


Tensor strided_view(const Tensor& t, const Shape& shape, const Strides& strides) {
  return make_view(t, shape, strides, t.impl()->offset);
}
Tensor new_image(const Conv& g, const Conv::Sizes& sizes, std::int64_t channels, DType dtype, const Tensor& like) {
  Shape shape{g.n};
  for (int i = 0; i < g.axes; ++i) shape.push_back(sizes[g.at(i)]);
  shape.push_back(channels);
  return make_tensor(shape, dtype, like.impl()->storage->backend(), g.op);
}
/// The weight [G·o, c, k..] as [G, o, c, k..], or with o and c exchanged.
Tensor in_groups(const Conv& g, const Tensor& w, bool exchanged) {
  Shape shape{g.groups};
  Strides strides{g.o * w.strides()[0]};
  for (const int axis : {exchanged ? 1 : 0, exchanged ? 0 : 1}) {
    shape.push_back(axis ? g.c : g.o), strides.push_back(w.strides()[static_cast<std::size_t>(axis)]);
  }
  for (int i = 2; i < w.dim(); ++i)
    shape.push_back(w.size(i)), strides.push_back(w.strides()[static_cast<std::size_t>(i)]);
  return strided_view(w, shape, strides);
}

/// An epilogue with its operands laid over [N, .., C], as one request after another takes parts of them.
class LaidEpilogue {
 public:
  LaidEpilogue(const Conv& g, const Tensor& like, const FormulaGraph* formula, std::span<const Argument> operands,
               const Shape& result)
      : op_(g.op) {
    types_.push_back({like.dtype(), false});
    for (const Argument& a : operands) {
      types_.push_back(a.tensor ? InputType{a.tensor->dtype(), false} : InputType{DType::f32, true});
      if (a.tensor) require_same_device(g.op, like, *a.tensor);
      operands_.push_back(a);
      laid_.push_back(a.tensor ? channels_last(a.tensor->broadcast_to(result)) : Tensor());
    }
    program_ = &type_program(g.op, formula_or_sums(formula), types_);
    check_coordinates(g.op, *program_, result, 0);
  }
  /// Images for its outputs.
  PoolVector<Tensor> results(const Conv& g, const Conv::Sizes& sizes, std::int64_t channels, const Tensor& like) const {
    PoolVector<Tensor> images;
    for (const auto& output : program_->outputs) images.push_back(new_image(g, sizes, channels, output.dtype, like));
    return images;
  }
  bool asks_for_positions() const {
    for (const Step& step : program_->steps)
      if (step.kind == StepKind::position) return true;
    return false;
  }
  /// Runs a request whose results are part(t) of these images t, [N, .., C], and which reads those parts of operands.
  template <class PartOf>
  void run_on(Backend& backend, const ConvSizes& sizes, const Tensor& x, const Tensor& w,
              std::span<const Tensor> images, PartOf part) const {
    const Shape space = sizes.of_y();
    SmallVector<Operand, 8> inputs;
    PoolVector<Tensor> parts;  // what the views are of
    parts.reserve(laid_.size());
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      if (laid_[i].defined()) {
        parts.push_back(part(laid_[i]));
        inputs.push_back({view_over(parts.back(), space), {}, nullptr, operands_[i].live});
      } else {
        inputs.push_back({{}, operands_[i].number, nullptr, operands_[i].live});
      }
    }
    SmallVector<View, 4> views;
    PoolVector<Tensor> into;
    into.reserve(images.size());
    for (const Tensor& image : images) into.push_back(part(image)), views.push_back(view_over(into.back(), space));
    run(backend, ConvRequest{op_, sizes, view_over(x, x.shape()), view_over(w, w.shape()), program_, inputs, views});
  }

 private:
  const char* op_;
  SmallVector<InputType, 8> types_;
  PoolVector<Argument> operands_;
  PoolVector<Tensor> laid_;
  const Program* program_ = nullptr;
};

Shape result_shape(const Conv& g, const Conv::Sizes& sizes, std::int64_t channels) {
  Shape shape{g.n, channels};
  for (int i = 0; i < g.axes; ++i) shape.push_back(sizes[g.at(i)]);
  return shape;
}

/// One phase of a transpose along one axis: places first, first + stride, … of the image, and the elements k, k + step,
/// … of the kernel that they meet.
struct Phase {
  std::int64_t first = 0, places = 0, k = 0, step = 1, elements = 0, dilation = 1, before = 0;
};
Phase phase_of(const Conv& g, int axis, std::int64_t first) {
  const std::size_t at = g.at(axis);
  const std::int64_t s = g.stride[at], d = g.dilation[at], common = std::gcd(s, d), shift = first + g.before[at];
  Phase p{.first = first, .places = (g.in[at] - first + s - 1) / s, .step = s / common, .dilation = -(d / common)};
  while (p.k < p.step && (shift - p.k * d) % s != 0) ++p.k;
  if (p.k == p.step || p.k >= g.kernel[at]) return p;
  p.elements = (g.kernel[at] - p.k + p.step - 1) / p.step;
  p.before = -(shift - p.k * d) / s;
  return p;
}

/// Part of an image [N, .., C], and of the weight.
Tensor image_of_phase(const Conv& g, const std::array<Phase, 3>& phases, Tensor t) {
  for (int i = 0; i < g.axes; ++i) t = t.slice(1 + i, phases[g.at(i)].first, {}, g.stride[g.at(i)]);
  return t;
}
Tensor weight_of_phase(const Conv& g, const std::array<Phase, 3>& phases, Tensor w) {
  for (int i = 0; i < g.axes; ++i) w = w.slice(3 + i, phases[g.at(i)].k, {}, phases[g.at(i)].step);
  return w;
}

}  // namespace

bool goes_directly(const Conv& g, const Tensor& x) {
  return convolution_pays(x.impl()->storage->backend(), sizes_of(g), x.dtype());
}

namespace {
PoolVector<Tensor> seen_second(PoolVector<Tensor> images) {
  for (Tensor& t : images) t = channels_second(t);
  return images;
}
}  // namespace

bool weight_goes_directly(const Conv& g, const Tensor& x) {
  return convolution_weight_pays(x.impl()->storage->backend(), sizes_of(g), x.dtype());
}

PoolVector<Tensor> direct_result(const Conv& g, const Tensor& x, const Tensor& w, const FormulaGraph* formula,
                                 std::span<const Argument> operands) {
  require_kernels(g.op, x);
  const LaidEpilogue epilogue(g, x, formula, operands, result_shape(g, g.out, g.groups * g.o));
  PoolVector<Tensor> y = epilogue.results(g, g.out, g.groups * g.o, x);
  epilogue.run_on(x.impl()->storage->backend(), sizes_of(g), channels_last(x), in_groups(g, w, false), y,
                  [](const Tensor& t) { return t; });
  return seen_second(std::move(y));
}

namespace {

/// The transpose, phase by phase.
class Transpose {
 public:
  Transpose(const Conv& g, const Tensor& y, const Tensor& w, const FormulaGraph* formula,
            std::span<const Argument> operands)
      : g_(g),
        formula_(formula),
        operands_(operands),
        shape_(result_shape(g, g.in, g.groups * g.c)),
        epilogue_(g, y, formula, operands, shape_),
        y_(channels_last(y)),
        w_(in_groups(g, w, true)),
        x_(epilogue_.results(g, g.in, g.groups * g.c, y)) {}
  bool asks_for_positions() const { return epilogue_.asks_for_positions(); }
  PoolVector<Tensor> run() {
    along(0);
    return seen_second(std::move(x_));
  }

 private:
  void along(int axis) {
    if (axis >= g_.axes || axis > 2) return run_phase();
    for (std::int64_t first = 0; first < g_.stride[g_.at(axis)]; ++first) {
      phases_[g_.at(axis)] = phase_of(g_, axis, first);
      along(axis + 1);
    }
  }
  void run_phase() {
    ConvSizes s = sizes_of(g_);
    std::swap(s.c, s.o), s.in = g_.out, s.stride = {1, 1, 1};
    bool empty = false;
    for (int i = 0; i < g_.axes; ++i) {
      const Phase& p = phases_[g_.at(i)];
      if (p.places == 0) return;
      s.out[g_.at(i)] = p.places, s.kernel[g_.at(i)] = p.elements, s.dilation[g_.at(i)] = p.dilation;
      s.before[g_.at(i)] = p.before;
      empty = empty || p.elements == 0;
    }
    const auto part = [&](const Tensor& t) { return image_of_phase(g_, phases_, t); };
    if (empty) return meet_nothing(s.of_y(), part);
    epilogue_.run_on(y_.impl()->storage->backend(), s, y_, weight_of_phase(g_, phases_, w_), x_, part);
  }
  /// The formula of zeros.
  template <class PartOf> void meet_nothing(const Shape& shape, PartOf part) {
    PoolVector<Tensor> values{zeros(shape, {.dtype = y_.dtype(), .device = y_.device()})};
    if (formula_) {
      PoolVector<Tensor> parts;
      parts.reserve(operands_.size());
      PoolVector<Argument> list;
      for (const Argument& a : operands_) {
        if (a.tensor) parts.push_back(part(channels_last(a.tensor->broadcast_to(shape_))));
        list.push_back(a.tensor ? Argument(parts.back()) : a);
      }
      values = with_formula(g_, values[0], formula_, list);
    }
    for (std::size_t i = 0; i < x_.size(); ++i) part(x_[i]).copy_from(values[i]);
  }

  const Conv& g_;
  const FormulaGraph* formula_;
  std::span<const Argument> operands_;
  Shape shape_;
  LaidEpilogue epilogue_;
  Tensor y_, w_;
  PoolVector<Tensor> x_;
  std::array<Phase, 3> phases_{};
};

}  // namespace

PoolVector<Tensor> direct_input(const Conv& g, const Tensor& y, const Tensor& w, const FormulaGraph* formula,
                                std::span<const Argument> operands) {
  require_kernels(g.op, y);
  Transpose transpose(g, y, w, formula, operands);
  bool strided = false;
  for (int i = 0; i < g.axes; ++i) strided = strided || g.stride[g.at(i)] > 1;
  if (strided && transpose.asks_for_positions())  // a phase would count its own
    return with_formula(g, direct_input(g, y, w, nullptr, {})[0], formula, operands);
  return transpose.run();
}

Tensor direct_weight(const Conv& g, const Tensor& x, const Tensor& y) {
  require_kernels(g.op, x);
  Backend& backend = x.impl()->storage->backend();
  // In memory [G, k.., c, o], as its sums are made.
  Shape memory{g.groups};
  Axes order{0, g.axes + 2, g.axes + 1};
  for (int i = 0; i < g.axes; ++i) memory.push_back(g.kernel[g.at(i)]), order.push_back(1 + i);
  memory.push_back(g.c), memory.push_back(g.o);
  const Tensor w = make_tensor(memory, x.dtype(), backend, g.op), grouped = w.permute(order);
  const Tensor image = channels_last(x), result = channels_last(y);
  run(backend, ConvWeightRequest{g.op, sizes_of(g), view_over(image, image.shape()), view_over(result, result.shape()),
                                 view_over(grouped, grouped.shape())});
  Shape whole{g.groups * g.o, g.c};
  for (int i = 0; i < g.axes; ++i) whole.push_back(g.kernel[g.at(i)]);
  return grouped.reshape(whole);
}

}  // namespace tern::detail
