// The three maps of a convolution as products of matrices whose rows are read where they lie: a row of windows along
// the last axis is a matrix with overlapping rows, and the other axes of the kernel are batches that are added up.
#include <algorithm>
#include <optional>

#include "primitives/convolution/operations/operation.hpp"
#include "primitives/gemm/operation.hpp"

namespace tern::detail {

Tensor channels_last(const Tensor& x) {
  Axes order{0};
  for (int i = 2; i < x.dim(); ++i) order.push_back(i);
  order.push_back(1);
  return x.permute(order);
}
Tensor channels_second(const Tensor& x) {
  Axes order{0, x.dim() - 1};
  for (int i = 1; i + 1 < x.dim(); ++i) order.push_back(i);
  return x.permute(order);
}

namespace {

/// The weight [O, C/g, k..] as memory [G, k.., from, to]: from c to o, or (flipped) from o to c with k reversed.
Tensor weight_matrices(const Conv& g, const Tensor& w, bool flipped) {
  Shape apart{g.groups, g.o, g.c};
  Axes order{0};
  for (int i = 0; i < g.axes; ++i) apart.push_back(g.kernel[g.at(i)]), order.push_back(3 + i);
  order.push_back(flipped ? 1 : 2), order.push_back(flipped ? 2 : 1);
  Tensor t = w.reshape(apart);
  for (int i = 0; flipped && i < g.axes; ++i) t = t.slice(3 + i, {}, {}, -1);
  return t.permute(order).contiguous();
}

/// How the axes of a product are laid out. `wide`: the last axis of the kernel and the channels are one run of memory.
class ConvProduct {
 public:
  explicit ConvProduct(const Conv& g) : g_(g), last_(g.at(g.axes - 1)) {
    wide_ = g.kernel[last_] == 1 || (g.groups == 1 && g.dilation[last_] == 1);
    bool one = g.groups == 1;
    for (int i = 0; i < g.axes; ++i)  // of a transpose with output_padding, x is larger than the result
      one = one && g.kernel[g.at(i)] == 1 && g.stride[g.at(i)] == 1 && g.padded(i) == g.out[g.at(i)];
    plain_ = one;
  }
  /// A kernel of one element: rows of channels, all of them one matrix.
  bool plain() const { return plain_; }
  std::int64_t rows() const {
    std::int64_t rows = g_.n;
    for (int i = 0; i < g_.axes; ++i) rows *= g_.out[g_.at(i)];
    return rows;
  }
  /// Windows of x in memory [N, P.., G·c]: batch + [places along the last axis, elements of the kernel], or transposed.
  Tensor windows(const Tensor& x, bool transposed) const {
    ConvLayout l;
    l.add(g_.n, step_of(x, 0));
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(g_.out[g_.at(i)], g_.stride[g_.at(i)] * step_of(x, 1 + i));
    if (g_.groups > 1) l.add(g_.groups, g_.c);
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(g_.kernel[g_.at(i)], g_.dilation[g_.at(i)] * step_of(x, 1 + i));
    const std::int64_t step = step_of(x, g_.axes), along = g_.stride[last_] * step;
    if (!wide_) l.add(g_.kernel[last_], g_.dilation[last_] * step);
    if (transposed) l.add(depth(), 1), l.add(g_.out[last_], along);
    else l.add(g_.out[last_], along), l.add(depth(), 1);
    return l.of(x);
  }
  /// Memory [G, k.., c, o] as batch + [elements of the kernel, o].
  Tensor kernel(const Tensor& w) const {
    ConvLayout l;
    for (int i = 0; i < g_.axes; ++i) l.add(1, 0);  // samples and places
    if (g_.groups > 1) l.add(g_.groups, step_of(w, 0));
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(g_.kernel[g_.at(i)], step_of(w, 1 + i));
    if (!wide_) l.add(g_.kernel[last_], step_of(w, g_.axes));
    l.add(depth(), g_.o), l.add(g_.o, 1);
    return l.of(w);
  }
  /// [N, .., G·o] as batch + [places along the last axis, o].
  Tensor result(const Tensor& y) const {
    ConvLayout l;
    const std::int64_t channel = step_of(y, y.dim() - 1);
    l.add(g_.n, step_of(y, 0));
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(g_.out[g_.at(i)], step_of(y, 1 + i));
    if (g_.groups > 1) l.add(g_.groups, g_.o * channel);
    for (int i = 0; i + 1 < g_.axes; ++i) l.add(1, 0);
    if (!wide_) l.add(1, 0);
    l.add(g_.out[last_], step_of(y, g_.axes)), l.add(g_.o, channel);
    return l.of(y);
  }

 private:
  std::int64_t depth() const { return wide_ ? g_.kernel[last_] * g_.c : g_.c; }
  const Conv& g_;
  std::size_t last_;
  bool wide_ = false, plain_ = false;
};

/// The step from row to row over all axes but the last, where it is one (0: the same row everywhere). An axis of one
/// element has any stride, of contiguous memory too.
std::optional<std::int64_t> row_step(const Tensor& y) {
  if (y.numel() == 0) return 0;
  std::optional<std::int64_t> step;
  std::int64_t rows = 1;
  for (int i = y.dim() - 2; i >= 0; --i) {
    if (y.size(i) == 1) continue;
    if (!step) step = step_of(y, i);
    else if (step_of(y, i) != *step * rows) return {};
    rows *= y.size(i);
  }
  return step.value_or(0);
}
Tensor matrix_of(const Tensor& y, std::int64_t rows) {
  ConvLayout l;
  l.add(rows, row_step(y).value()), l.add(y.size(-1), step_of(y, y.dim() - 1));
  return l.of(y);
}

/// One group of channels, for what has too many axes for one product.
Tensor part_of(const Tensor& t, int axis, std::int64_t group, std::int64_t size) {
  return t.slice(axis, group * size, (group + 1) * size);
}
/// A copy of these channels of x: a window's row is one run of memory only where no others lie between.
Tensor channels_of(const Conv& g, const Tensor& x, std::int64_t group) {
  return part_of(x, -1, group, g.c).contiguous();
}
Conv one_group(Conv g) { return g.groups = 1, g; }
bool group_by_group(const Conv& g) { return !g.depthwise() && !g.is_product(); }

Shape image_shape(const Conv& g, const Conv::Sizes& sizes, std::int64_t channels) {
  Shape shape{g.n};
  for (int i = 0; i < g.axes; ++i) shape.push_back(sizes[g.at(i)]);
  shape.push_back(channels);
  return shape;
}
Tensor new_tensor(const Conv& g, const Shape& shape, DType dtype, const Tensor& like) {
  return make_tensor(shape, dtype, like.impl()->storage->backend(), g.op);
}
/// The dtypes of what a formula of the accumulator gives.
PoolVector<DType> types_of(const Conv& g, const Tensor& x, const FormulaGraph* formula,
                           std::span<const Argument> operands) {
  if (!formula) return {x.dtype()};
  SmallVector<InputType, 8> types;
  types.push_back({x.dtype(), false});
  for (const Argument& a : operands)
    types.push_back(a.tensor ? InputType{a.tensor->dtype(), false} : InputType{DType::f32, true});
  PoolVector<DType> of;
  for (const auto& output : type_program(g.op, formula, types).outputs) of.push_back(output.dtype);
  return of;
}

/// The epilogue of Σ windows·kernel of x in memory [N, P.., G·c], into results [N, .., G·o].
void multiply(const Conv& g, const Tensor& x, const Tensor& w, const FormulaGraph* epilogue,
              std::span<const Argument> operands, std::span<const Tensor> results) {
  const ConvProduct plan(g);
  PoolVector<Tensor> laid;
  laid.reserve(operands.size());
  bool merged = plan.plain();
  for (const Argument& a : operands)
    if (a.tensor)
      laid.push_back(channels_last(a.tensor->broadcast_to(channels_second(results[0]).shape()))),
          merged = merged && row_step(laid.back()).has_value();
  PoolVector<Argument> list;
  std::size_t next = 0;
  for (const Argument& a : operands) {
    if (!a.tensor) {
      list.push_back(a);
      continue;
    }
    Tensor& t = laid[next++];
    t = merged ? matrix_of(t, plan.rows()) : plan.result(t);
    list.push_back(Argument(t));
  }
  PoolVector<Tensor> into;
  for (const Tensor& y : results) into.push_back(merged ? matrix_of(y, plan.rows()) : plan.result(y));
  const Tensor a = merged ? matrix_of(x, plan.rows()) : plan.windows(x, false);
  const Tensor b = merged ? w.reshape({g.c, g.o}) : plan.kernel(w);
  PoolVector<Tensor> written(into.size());
  run_product({g.op, epilogue, batch_of(into[0].shape()), {}}, a, b, list, into, written);
}

/// x in memory [N, P.., C], w [G, k.., c, o]: results in memory [N, .., O].
PoolVector<Tensor> results_of(const Conv& g, const Tensor& x, const Tensor& w, const FormulaGraph* epilogue,
                              std::span<const Argument> operands) {
  PoolVector<Tensor> y;
  for (const DType dtype : types_of(g, x, epilogue, operands))
    y.push_back(new_tensor(g, image_shape(g, g.out, g.groups * g.o), dtype, x));
  if (!group_by_group(g)) return multiply(g, x, w, epilogue, operands, y), y;
  for (std::int64_t i = 0; i < g.groups; ++i) {
    const Tensor part = part_of(y[0], -1, i, g.o);
    multiply(one_group(g), channels_of(g, x, i), part_of(w, 0, i, 1), nullptr, {}, {&part, 1});
  }
  return y;
}

/// As memory [G, k.., c, o], of x in memory [N, P.., C] and y [N, .., O].
void weight_into(const Conv& g, const Tensor& x, const Tensor& y, const Tensor& w) {
  const ConvProduct plan(g);
  const bool merged = plan.plain() && row_step(x) && row_step(y);
  const Tensor a = merged ? matrix_of(x, plan.rows()).mT() : plan.windows(x, true);
  const Tensor b = merged ? matrix_of(y, plan.rows()) : plan.result(y);
  const Tensor out = merged ? w.reshape({g.c, g.o}) : plan.kernel(w);
  Tensor written;
  run_product({g.op, nullptr, batch_of(out.shape()), {}}, a, b, {}, {&out, 1}, {&written, 1});
}
Tensor weight_of(const Conv& g, const Tensor& x, const Tensor& y) {
  Shape shape{g.groups};
  for (int i = 0; i < g.axes; ++i) shape.push_back(g.kernel[g.at(i)]);
  Axes order{0, g.axes + 2, g.axes + 1};
  for (int i = 0; i < g.axes; ++i) order.push_back(1 + i);
  shape.push_back(g.c), shape.push_back(g.o);
  Shape whole{g.groups * g.o, g.c};
  for (int i = 0; i < g.axes; ++i) whole.push_back(g.kernel[g.at(i)]);
  const Tensor w = new_tensor(g, shape, x.dtype(), x);
  if (!group_by_group(g)) weight_into(g, x, y, w);
  else
    for (std::int64_t i = 0; i < g.groups; ++i)
      weight_into(one_group(g), channels_of(g, x, i), part_of(y, -1, i, g.o), part_of(w, 0, i, 1));
  return w.permute(order).reshape(whole);
}

/// The convolution that takes y, spread among zeros, to x: stride 1, the kernel flipped.
Conv transposed(const Conv& g) {
  Conv t = g;
  std::swap(t.c, t.o), t.out = g.in, t.stride = {1, 1, 1}, t.before = {}, t.after = {};
  for (int i = 0; i < g.axes; ++i) t.in[g.at(i)] = g.in[g.at(i)] + g.extent(i) - 1;
  return t;
}

Tensor padded(const Conv& g, const Tensor& x) {
  Conv::Sizes sizes{};
  for (int i = 0; i < g.axes; ++i) sizes[g.at(i)] = g.padded(i);
  return placed_in_zeros(channels_last(x), 1, g.axes, sizes, g.before, {1, 1, 1});
}

}  // namespace

Tensor placed_in_zeros(const Tensor& x, int first, int axes, const Conv::Sizes& sizes, const Conv::Sizes& offsets,
                       const Conv::Sizes& steps) {
  bool same = true;
  Shape shape = x.shape();
  for (int i = 0; i < axes; ++i) {
    const std::size_t at = Conv::at(i);
    same = same && sizes[at] == x.size(first + i) && offsets[at] == 0 && steps[at] == 1;
    shape[Conv::at(first + i)] = sizes[at];
  }
  if (same) return x.contiguous();
  const Tensor y = zeros(shape, {.dtype = x.dtype(), .device = x.device()});
  Tensor to = y, from = x;
  for (int i = 0; i < axes; ++i) {
    const std::size_t at = Conv::at(i);
    const std::int64_t offset = offsets[at], step = steps[at];
    const std::int64_t begin = offset < 0 ? (-offset + step - 1) / step : 0;
    const std::int64_t end = offset >= sizes[at] ? 0 : std::min(x.size(first + i), (sizes[at] - 1 - offset) / step + 1);
    if (end <= begin) return y;
    from = from.slice(first + i, begin, end);
    to = to.slice(first + i, offset + begin * step, offset + (end - 1) * step + 1, step);
  }
  return to.copy_from(from), y;
}

PoolVector<Tensor> with_formula(const Conv& g, const Tensor& y, const FormulaGraph* formula,
                                std::span<const Argument> operands) {
  PoolVector<Argument> all{Argument(y)};
  for (const Argument& a : operands) all.push_back(a);
  PoolVector<Tensor> results(formula->outputs.size());
  fused({g.op, formula, 0, {}}, all, std::span<Tensor>(results));
  return results;
}

bool counts_positions(const FormulaGraph* graph) {
  // With declared derivatives, and theirs: formulas may be each other's (sine and cosine).
  PoolVector<const FormulaGraph*> all{graph};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Node* node : topological(all[i]->outputs))
      if (const FormulaGraph* slope = node->kind == NodeKind::call ? node->definition->derivative : nullptr;
          slope && std::ranges::find(all, slope) == all.end())
        all.push_back(slope);
    for (const Node* node : topological(all[i]->inlined->outputs))
      if (node->kind == NodeKind::elementary && node->elementary == Elementary::index) return true;
  }
  return false;
}

namespace {
/// What comes back of x in memory [N, P.., C], with the epilogue in the product where there is one.
PoolVector<Tensor> with_epilogue(const Conv& g, const Tensor& x, const Tensor& w, const FormulaGraph* epilogue,
                                 std::span<const Argument> operands) {
  const bool at_once = g.is_product() && !(epilogue && counts_positions(epilogue));  // a product counts its own
  PoolVector<Tensor> y = at_once ? results_of(g, x, w, epilogue, operands) : results_of(g, x, w, nullptr, {});
  for (Tensor& t : y) t = channels_second(t);
  return epilogue && !at_once ? with_formula(g, y[0], epilogue, operands) : y;
}
/// The weight [O, 1, k..] of single channels with the kernel reversed.
Tensor flipped(const Conv& g, Tensor w) {
  for (int i = 0; i < g.axes; ++i) w = w.slice(2 + i, {}, {}, -1);
  return w;
}
/// g with the elements of its kernel alone that meet the image anywhere, from element `first` on along each axis; one
/// that meets nothing where none does.
Conv meeting(const Conv& g, Conv::Sizes& first) {
  Conv met = g;
  for (int i = 0; i < g.axes; ++i) {
    const std::size_t at = g.at(i);
    if (g.in[at] == 0 || g.out[at] == 0) continue;
    const auto meets = [&](std::int64_t k) {
      const std::int64_t place = k * g.dilation[at] - g.before[at];
      return place < g.in[at] && place + (g.out[at] - 1) * g.stride[at] >= 0;
    };
    std::int64_t last = g.kernel[at] - 1;
    while (first[at] < last && !meets(first[at])) ++first[at];
    while (last > first[at] && !meets(last)) --last;
    met.before[at] -= first[at] * g.dilation[at], met.after[at] -= (g.kernel[at] - 1 - last) * g.dilation[at];
    met.kernel[at] = last - first[at] + 1;
  }
  return met;
}
PoolVector<Tensor> convolve_met(ConvPart part, const Conv& g, const Tensor& a, const Tensor& b,
                                const FormulaGraph* epilogue, std::span<const Argument> operands) {
  if (part == ConvPart::weight && weight_goes_directly(g, a)) return {direct_weight(g, a, b)};
  if (part == ConvPart::input && falls_into_blocks(g, a)) return input_of_blocks(g, a, b, epilogue, operands);
  if (part == ConvPart::input && phases_join(g, a)) return input_of_joined_phases(g, a, b, epilogue, operands);
  if (part != ConvPart::weight && goes_directly(g, a))
    return part == ConvPart::result ? direct_result(g, a, b, epilogue, operands)
                                    : direct_input(g, a, b, epilogue, operands);
  const Conv t = part == ConvPart::input ? transposed(g) : g;
  Conv::Sizes offsets{};
  for (int i = 0; i < g.axes; ++i) offsets[g.at(i)] = g.extent(i) - 1 - g.before[g.at(i)];
  if (g.depthwise()) {
    if (part == ConvPart::weight) return {depthwise_weight(g, a, b)};
    const Tensor y = part == ConvPart::input ? depthwise_result(t, a, flipped(g, b), offsets, g.stride)
                                             : depthwise_result(g, a, b, g.before, {1, 1, 1});
    return epilogue ? with_formula(g, y, epilogue, operands) : PoolVector<Tensor>{y};
  }
  switch (part) {
    case ConvPart::result: return with_epilogue(g, padded(g, a), weight_matrices(g, b, false), epilogue, operands);
    case ConvPart::weight: return {weight_of(g, padded(g, a), channels_last(b).contiguous())};
    case ConvPart::input: break;
  }
  const Tensor x = placed_in_zeros(channels_last(a), 1, g.axes, t.in, offsets, g.stride);
  return with_epilogue(t, x, weight_matrices(g, b, true), epilogue, operands);
}
}  // namespace

PoolVector<Tensor> convolve(ConvPart part, const Conv& g, const Tensor& a, const Tensor& b,
                            const FormulaGraph* epilogue, std::span<const Argument> operands) {
  // Memory grows with how far a kernel reaches: 3 x 3 elements, 20,000 apart, around an image of 9 x 9 would take 1.6
  // billion places, of which the centre's alone are not padding.
  Conv::Sizes first{};
  const Conv met = meeting(g, first);
  if (met.kernel == g.kernel) return convolve_met(part, g, a, b, epilogue, operands);
  if (part == ConvPart::weight)
    return {placed_in_zeros(convolve_met(part, met, a, b, nullptr, {})[0], 2, g.axes, g.kernel, first, {1, 1, 1})};
  Tensor w = b;
  for (int i = 0; i < g.axes; ++i) w = w.slice(2 + i, first[g.at(i)], first[g.at(i)] + met.kernel[g.at(i)]);
  return convolve_met(part, met, a, w, epilogue, operands);
}

}  // namespace tern::detail
