// Views: Tensor's own methods, and the same on variables, each with its transpose.
#include <string>

#include "ops/indexing/indexing.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

// ---- views ----
namespace {

/// Strides that show the tensor's elements in another shape without a copy, if there are any.
std::optional<Strides> reshaped_strides(const TensorImpl& t, const Shape& shape) {
  Strides result;
  result.resize(shape.rank(), 1);
  int old_axis = t.shape.rank() - 1;
  std::int64_t block = 1, wanted = 1, stride = 1;  // elements of the old axes merged so far, and those placed
  int axis = shape.rank() - 1;
  while (axis >= 0) {
    if (wanted == block && shape[static_cast<std::size_t>(axis)] != 1) {  // the next run of mergeable old axes
      while (old_axis >= 0 && t.shape[static_cast<std::size_t>(old_axis)] == 1) --old_axis;
      if (old_axis < 0) return std::nullopt;
      stride = t.strides[static_cast<std::size_t>(old_axis)], block = t.shape[static_cast<std::size_t>(old_axis)],
      wanted = 1;
      std::int64_t next = stride * block;
      for (--old_axis; old_axis >= 0; --old_axis) {
        const auto o = static_cast<std::size_t>(old_axis);
        if (t.shape[o] == 1) continue;
        if (t.strides[o] != next) break;
        block *= t.shape[o], next *= t.shape[o];
      }
    }
    const auto a = static_cast<std::size_t>(axis);
    result[a] = stride * wanted;
    if (shape[a] == 1) {
      --axis;
      continue;
    }
    wanted *= shape[a];
    if (block % wanted != 0) return std::nullopt;
    --axis;
  }
  return result;
}

}  // namespace

Tensor Tensor::reshape(const Shape& wanted) const {
  const TensorImpl& t = impl_of(*this, "reshape");
  const Shape shape = completed_shape("reshape", wanted, t.numel, this);
  if (shape == t.shape) return *this;
  if (t.numel == 0) return make_view(*this, shape, contiguous_strides(shape), t.offset);
  if (const auto strides = reshaped_strides(t, shape)) return make_view(*this, shape, *strides, t.offset);
  return make_view(clone(), shape, contiguous_strides(shape), 0);
}
Tensor Tensor::permute(const Axes& order) const {
  const TensorImpl& t = impl_of(*this, "permute");
  if (order.rank() != t.shape.rank())
    throw Error(ErrorKind::index, "permute: expected an order of " + std::to_string(t.shape.rank()) + " axes, got " +
                                      std::to_string(order.rank()));
  axis_mask("permute", order, t.shape.rank());
  Shape shape;
  Strides strides;
  for (const std::int64_t entry : order) {
    const auto axis = static_cast<std::size_t>(normalize_axis("permute", entry, t.shape.rank()));
    shape.push_back(t.shape[axis]), strides.push_back(t.strides[axis]);
  }
  return make_view(*this, shape, strides, t.offset);
}
Tensor Tensor::transpose(int axis_a, int axis_b) const {
  const TensorImpl& t = impl_of(*this, "transpose");
  const auto a = static_cast<std::size_t>(normalize_axis("transpose", axis_a, t.shape.rank())),
             b = static_cast<std::size_t>(normalize_axis("transpose", axis_b, t.shape.rank()));
  Shape shape = t.shape;
  Strides strides = t.strides;
  std::swap(shape[a], shape[b]), std::swap(strides[a], strides[b]);
  return make_view(*this, shape, strides, t.offset);
}
namespace {
/// "[2, 3)", with a step where it is not 1, as the caller wrote it.
std::string range_text(std::optional<std::int64_t> begin, std::optional<std::int64_t> end, std::int64_t step) {
  const auto text = [](const std::optional<std::int64_t>& at) { return at ? std::to_string(*at) : std::string(); };
  return "[" + text(begin) + ", " + text(end) + (step == 1 ? ")" : ") with step " + std::to_string(step));
}
}  // namespace
Tensor Tensor::slice(int axis, std::optional<std::int64_t> begin, std::optional<std::int64_t> end,
                     std::int64_t step) const {
  const TensorImpl& t = impl_of(*this, "slice");
  const auto a = static_cast<std::size_t>(normalize_axis("slice", axis, t.shape.rank()));
  if (step == 0) throw Error(ErrorKind::index, "slice: the step must not be 0");
  const std::int64_t size = t.shape[a];
  const auto place = [&](const std::optional<std::int64_t>& at, std::int64_t open) {
    return !at ? open : *at < 0 ? *at + size : *at;
  };
  const bool backwards = step < 0;
  const std::int64_t from = place(begin, backwards ? size - 1 : 0), to = place(end, backwards ? -1 : size);
  const std::int64_t low = backwards ? to : from, high = backwards ? from : to;
  // Backwards the first is an entry; only of an empty range may it stand behind the last.
  const bool inside = (!begin || from >= 0) && (!end || to >= 0) && low <= high &&
                      high <= (backwards && low < high ? size - 1 : size);
  if (!inside)
    throw Error(ErrorKind::index, "slice: " + range_text(begin, end, step) + " is out of range for axis " +
                                      std::to_string(axis) + " of " + describe(*this));
  const auto reach = static_cast<std::uint64_t>(high - low),
             every = backwards ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  Shape shape = t.shape;
  Strides strides = t.strides;
  shape[a] = static_cast<std::int64_t>(reach / every + (reach % every != 0));
  if (shape[a] > 1) strides[a] *= step;  // else the step may be any number
  return make_view(*this, shape, strides, t.offset + (shape[a] > 0 ? from * t.strides[a] : 0));
}
Tensor Tensor::operator[](std::int64_t i) const {
  const TensorImpl& t = impl_of(*this, "[]");
  const std::int64_t size = t.shape.rank() > 0 ? t.shape[0] : 0, at = i < 0 ? i + size : i;
  if (at < 0 || at >= size)
    throw Error(ErrorKind::index, "[]: entry " + std::to_string(i) + " is out of range for " +
                                      (t.shape.rank() > 0 ? "the first axis of " : "a tensor without axes, ") +
                                      describe(*this));
  Strides strides;
  for (std::size_t k = 1; k < t.strides.size(); ++k) strides.push_back(t.strides[k]);
  return make_view(*this, without_axes(t.shape, 1), strides, t.offset + at * t.strides[0]);
}
Tensor Tensor::T() const {
  if (dim() != 2)
    throw Error(ErrorKind::shape, "T: needs two axes, got " + describe(*this) + "; mT() exchanges the last two");
  return transpose(0, 1);
}
Tensor Tensor::squeeze(int axis) const {
  const TensorImpl& t = impl_of(*this, "squeeze");
  const int a = normalize_axis("squeeze", axis, t.shape.rank());
  if (t.shape[static_cast<std::size_t>(a)] != 1)
    throw Error(ErrorKind::shape,
                "squeeze: axis " + std::to_string(axis) + " of " + describe(*this) + " has not size 1");
  Strides strides;
  for (int i = 0; i < t.shape.rank(); ++i)
    if (i != a) strides.push_back(t.strides[static_cast<std::size_t>(i)]);
  return make_view(*this, without_axes(t.shape, 1u << a), strides, t.offset);
}
Tensor Tensor::unsqueeze(int axis) const {
  const TensorImpl& t = impl_of(*this, "unsqueeze");
  const int a = normalize_axis("unsqueeze", axis, t.shape.rank() + 1);
  Shape shape;
  Strides strides;
  for (int i = 0; i <= t.shape.rank(); ++i) {
    if (i == a) shape.push_back(1), strides.push_back(1);
    if (i < t.shape.rank())
      shape.push_back(t.shape[static_cast<std::size_t>(i)]), strides.push_back(t.strides[static_cast<std::size_t>(i)]);
  }
  return make_view(*this, shape, strides, t.offset);
}
Tensor Tensor::broadcast_to(const Shape& shape) const {
  const TensorImpl& t = impl_of(*this, "broadcast_to");
  shape.numel();
  if (shape.rank() < t.shape.rank() || broadcast_shapes("broadcast_to", t.shape, shape) != shape)
    throw Error(ErrorKind::shape, "broadcast_to: " + describe(*this) + " does not broadcast to " + to_string(shape));
  return make_view(*this, shape, broadcast_strides(t.shape, t.strides, shape), t.offset);
}

// ---- on variables: each view with its transpose ----
Var Var::reshape(const Shape& shape) const {
  return record_one("reshape", {this, 1}, value_.reshape(shape), {}, [from = value_.shape()](const RuleContext& c) {
    return PoolVector<Var>{c.grads[0].reshape(from)};
  });
}
Var Var::permute(const Axes& order) const {
  Axes inverse = order;
  Tensor result = value_.permute(order);
  for (int i = 0; i < order.rank(); ++i)
    inverse[static_cast<std::size_t>(normalize_axis("permute", order[static_cast<std::size_t>(i)], order.rank()))] = i;
  return record_one("permute", {this, 1}, std::move(result), {},
                    [inverse](const RuleContext& c) { return PoolVector<Var>{c.grads[0].permute(inverse)}; });
}
Var Var::transpose(int a, int b) const {
  return record_one("transpose", {this, 1}, value_.transpose(a, b), {},
                    [a, b](const RuleContext& c) { return PoolVector<Var>{c.grads[0].transpose(a, b)}; });
}
Var Var::squeeze(int axis) const {
  return record_one("squeeze", {this, 1}, value_.squeeze(axis), {}, [from = value_.shape()](const RuleContext& c) {
    return PoolVector<Var>{c.grads[0].reshape(from)};
  });
}
Var Var::unsqueeze(int axis) const {
  return record_one("unsqueeze", {this, 1}, value_.unsqueeze(axis), {}, [from = value_.shape()](const RuleContext& c) {
    return PoolVector<Var>{c.grads[0].reshape(from)};
  });
}
Var Var::broadcast_to(const Shape& shape) const {
  return record_one(
      "broadcast_to", {this, 1}, value_.broadcast_to(shape), {},
      [from = value_.shape()](const RuleContext& c) { return PoolVector<Var>{sum_to(c.grads[0], from)}; });
}

namespace {
/// The transpose of slice: g's elements at their places among zeros.
Var unslice(const Var& g, const Shape& shape, int axis, const Slice& at) {
  Tensor result = zeros(shape, {.dtype = g.dtype(), .device = g.device()});
  result.slice(axis, at).copy_from(g.value());
  return record_one("unslice", {&g, 1}, std::move(result), {},
                    [=](const RuleContext& c) { return PoolVector<Var>{c.grads[0].slice(axis, at)}; });
}
}  // namespace
Var Var::slice(int axis, std::optional<std::int64_t> begin, std::optional<std::int64_t> end, std::int64_t step) const {
  const Slice at{begin, end, step};
  return record_one("slice", {this, 1}, value_.slice(axis, at), {}, [=, from = value_.shape()](const RuleContext& c) {
    return PoolVector<Var>{unslice(c.grads[0], from, axis, at)};
  });
}
Var Var::operator[](std::int64_t i) const {
  return record_one("select", {this, 1}, value_[i], {}, [=, from = value_.shape()](const RuleContext& c) {
    const std::int64_t at = i < 0 ? i + from[0] : i;
    return PoolVector<Var>{unslice(c.grads[0].unsqueeze(0), from, 0, {at, at + 1})};
  });
}
Var Var::T() const {
  value_.T();  // throws where there is none
  return transpose(0, 1);
}
namespace detail {
Var alias(const Var& x) {
  if (!x.requires_grad()) return Var(x.value(), is_differentiable(x.dtype()));
  return record("alias", {&x, 1}, {x.value()}, {}, [](const RuleContext& c) { return PoolVector<Var>{c.grads[0]}; })[0];
}
Var zeros_like(const Var& x) { return as_var(zeros(x.shape(), {.dtype = x.dtype(), .device = x.device()})); }
Var ones_like(const Var& x) { return as_var(ones(x.shape(), {.dtype = x.dtype(), .device = x.device()})); }
Var or_zeros(const Var& gradient, const Var& like) { return gradient.defined() ? gradient : zeros_like(like); }
}  // namespace detail

}  // namespace tern
