// Views and copies: Tensor's own methods, and the same on variables. (Longer than other files: many short functions,
// each beside its twin.)
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "backend/recording/capture.hpp"
#include "backend/memory/elements.hpp"
#include "backend/instruments/reads.hpp"
#include "backend/instruments/trace.hpp"
#include "ops/fused.hpp"
#include "ops/indexing.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {
const TensorImpl& checked(const Tensor& t, const char* op) { return *require_defined(op, "the tensor", t).impl(); }
const FormulaGraph* identity_graph() {
  return graph_of([](auto x) { return x; });
}
/// A read that is no request to a backend.
void note_read(const char* op, const Tensor& t) {
  ReadScope::note(*t.impl()->storage, [&] { return std::string(op) + " read, " + describe(t); });
}
/// 16-bit floats as i16, for copies: through f32, a signalling NaN would become a quiet one.
Tensor as_bits(const Tensor& t) {
  if (!is_floating(t.dtype()) || dtype_size(t.dtype()) != 2) return t;
  Tensor view = make_view(t, t.shape(), t.strides(), t.impl()->offset);
  view.impl()->dtype = DType::i16;
  return view;
}
void require_dtype(const char* op, const Tensor& t, DType wanted) {
  if (t.dtype() == wanted) return;
  throw Error(ErrorKind::dtype, std::string(op) + ": the tensor is " + describe(t) + ", asked for " +
                                    std::string(to_string(wanted)) + "; convert it with .to(" +
                                    std::string(to_string(wanted)) + ")");
}
const FormulaGraph* cast_graph(DType dtype) {
  static const std::array<const FormulaGraph*, kDTypeCount> graphs = [] {
    std::array<const FormulaGraph*, kDTypeCount> list{};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Expr e = cast(make_input(0), static_cast<DType>(i));
      list[i] = make_graph({&e, 1}, 1);
    }
    return list;
  }();
  return graphs[static_cast<std::size_t>(dtype)];
}
}  // namespace

// ---- properties ----
const Shape& Tensor::shape() const { return checked(*this, "shape").shape; }
std::int64_t Tensor::size(int axis) const {
  const Shape& s = checked(*this, "size").shape;
  return s[static_cast<std::size_t>(normalize_axis("size", axis, s.rank()))];
}
int Tensor::dim() const { return checked(*this, "dim").shape.rank(); }
std::int64_t Tensor::numel() const { return checked(*this, "numel").numel; }
const Strides& Tensor::strides() const { return checked(*this, "strides").strides; }
DType Tensor::dtype() const { return checked(*this, "dtype").dtype; }
Device Tensor::device() const { return checked(*this, "device").storage->backend().device(); }
bool Tensor::is_contiguous() const {
  const TensorImpl& t = checked(*this, "is_contiguous");
  std::int64_t step = 1;
  for (int i = t.shape.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (t.shape[axis] != 1 && t.strides[axis] != step) return t.numel == 0;
    step *= t.shape[axis];
  }
  return true;
}

// ---- copies ----
Tensor Tensor::clone() const {
  const TensorImpl& t = checked(*this, "clone");
  Backend& backend = t.storage->backend();
  backend.require<FusedRequest>("clone");
  Tensor result = make_tensor(t.shape, t.dtype, backend, "clone");
  const Tensor from = as_bits(*this), to = as_bits(result);
  run_fused({"clone", identity_graph(), 0, {}}, PoolVector<Argument>{Argument(from)}, {&to, 1});
  return result;
}
Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }
namespace {
bool has_kernels(const Tensor& t) { return t.impl()->storage->backend().supports(t.dtype()); }
/// The elements on the CPU, laid out as they are: for a dtype that the device keeps but has no kernels for.
Tensor on_host(const Tensor& t, const char* op) {
  require_values(op);
  note_read(op, t);
  const Storage& storage = *t.impl()->storage;
  const auto elements = static_cast<std::int64_t>(storage.bytes() / dtype_size(t.dtype()));
  Tensor all = make_tensor({elements}, t.dtype(), backend_of(cpu()));
  storage.backend().download(storage, 0, all.impl()->storage->data(), storage.bytes());
  return make_view(all, t.shape(), t.strides(), t.impl()->offset);
}
}  // namespace
Tensor Tensor::to(DType to) const {
  const TensorImpl& t = checked(*this, "to");
  if (t.dtype == to) return *this;
  if (!has_kernels(*this)) return on_host(*this, "to").to(to).to(device());
  return run_fused({"to", cast_graph(to), 0, {}}, PoolVector<Argument>{Argument(*this)})[0];
}
Tensor Tensor::to(Device target) const {
  const TensorImpl& t = checked(*this, "to");
  if (device() == target) return *this;
  require_values("to");
  require_replayed("to", *t.storage);
  Backend& backend = backend_of(target);
  if (!has_kernels(*this)) return on_host(*this, "to").to(target);
  const Tensor source = contiguous();
  Tensor result = make_tensor(t.shape, t.dtype, backend, "to");
  Storage& storage = *result.impl()->storage;
  const TensorImpl& s = *source.impl();
  const std::size_t bytes = static_cast<std::size_t>(t.numel) * dtype_size(t.dtype);
  note_read("to", source);
  if (backend.copy_from(storage, 0, *s.storage, static_cast<std::size_t>(s.offset) * dtype_size(t.dtype), bytes))
    return result;
  const std::unique_ptr<std::byte[]> host(new std::byte[bytes]);
  source.read(host.get(), t.dtype, "to");
  upload(backend, storage, 0, host.get(), bytes);
  return result;
}
void Tensor::read(void* destination, DType wanted, const char* op) const {
  const TensorImpl& t = checked(*this, op);
  require_dtype(op, *this, wanted);
  require_values(op);
  require_replayed(op, *t.storage);
  const Tensor source = has_kernels(*this) || is_contiguous() ? contiguous() : on_host(*this, op).contiguous();
  const TensorImpl& s = *source.impl();
  const std::size_t size = dtype_size(t.dtype);
  note_read(op, source);
  s.storage->backend().download(*s.storage, static_cast<std::size_t>(s.offset) * size, destination,
                                static_cast<std::size_t>(s.numel) * size);
}
void Tensor::read_item(void* destination, DType wanted) const {
  const TensorImpl& t = checked(*this, "item");
  if (t.numel != 1)
    throw Error(ErrorKind::shape, "item: the tensor must have one element, it is " + describe(*this));
  if (wanted == DType::c128 && t.dtype == DType::c64) {
    std::array<float, 2> parts{};
    read(parts.data(), t.dtype, "item");
    const std::array<double, 2> wide{parts[0], parts[1]};
    std::memcpy(destination, &wide, sizeof wide);
    return;
  }
  const bool widens = wanted == DType::f64 ? is_floating(t.dtype) : wanted == DType::i64 && is_integer(t.dtype);
  if (!widens || t.dtype == wanted) return read(destination, wanted, "item");
  std::byte element[8];
  read(element, t.dtype, "item");
  with_element(t.dtype, [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, element, sizeof value);
    if (wanted == DType::f64) *static_cast<double*>(destination) = static_cast<double>(value);
    else *static_cast<std::int64_t*>(destination) = static_cast<std::int64_t>(value);
  });
}
void* Tensor::pointer(DType wanted, bool writes) const {
  const TensorImpl& t = checked(*this, "data_ptr");
  if (device() != cpu())
    throw Error(ErrorKind::device, "data_ptr: " + describe(*this) + " is on " + device().to_string() +
                                       ", whose memory has no pointers here; copy it with .to(cpu())");
  require_dtype("data_ptr", *this, wanted);
  if (!is_contiguous())
    throw Error(ErrorKind::shape, "data_ptr: " + describe(*this) + " is not contiguous, its strides are " +
                                      to_string(t.strides) + "; copy it with .contiguous()");
  if (writes) require_writable("data_ptr", *this);
  require_values("data_ptr"), require_replayed("data_ptr", *t.storage);
  t.storage->backend().synchronize();
  if (writes) t.storage->bump_version();
  else note_read("data_ptr", *this);
  return static_cast<std::byte*>(t.storage->data()) + t.offset * static_cast<std::int64_t>(dtype_size(t.dtype));
}
Tensor Tensor::borrow(void* pointer, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
                      std::shared_ptr<const void> keep_alive, Device device, bool read_only) {
  const std::int64_t numel = shape.numel();
  if (!pointer && numel > 0) throw Error(ErrorKind::shape, "view: the pointer is null");
  if (!strides.empty() && strides.size() != shape.size())
    throw Error(ErrorKind::shape, "view: expected one stride for each of the " + std::to_string(shape.size()) +
                                      " axes, got " + std::to_string(strides.size()));
  auto impl = make_pooled<TensorImpl>();
  impl->dtype = dtype, impl->shape = shape, impl->numel = numel;
  impl->strides = strides.empty() ? contiguous_strides(shape) : Strides(strides);
  detail::borrow(*impl, pointer, std::move(keep_alive), device);
  if (read_only) impl->storage->make_read_only();
  return Tensor(std::move(impl));
}

// ---- in place ----
namespace {
/// Throws dtype where a result of dtype `both` is of another kind than the tensor, in place of which it is to stand.
void require_keeps_dtype(const char* op, const Tensor& target, DType both) {
  const bool one_kind = is_complex(both)    ? is_complex(target.dtype())
                        : is_floating(both) ? is_floating(target.dtype())
                                            : is_integer(both) && is_integer(target.dtype());
  if (both == target.dtype() || one_kind) return;
  throw Error(ErrorKind::dtype, std::string(op) + ": in place " + describe(target) +
                                    " keeps its dtype, and the result would be " + std::string(to_string(both)) +
                                    "; convert one of the operands with .to()");
}
/// The formula of two arguments with its result converted.
const FormulaGraph* converted(const FormulaGraph* graph, DType dtype) {
  const Expr arguments[] = {make_input(0), make_input(1)};
  const Expr result = cast(substitute(graph, arguments)[0], dtype);
  return make_graph({&result, 1}, 2);
}
Tensor& update(Tensor& target, const char* op, const Pointwise<>& formula, const Argument& other) {
  checked(target, op);
  const FormulaGraph* graph = formula.graph();
  if (other.tensor) {
    require_defined(op, "the right-hand side", *other.tensor);
    if (broadcast_shapes(op, target.shape(), other.tensor->shape()) != target.shape())
      throw Error(ErrorKind::shape,
                  std::string(op) + ": " + describe(*other.tensor) + " does not broadcast to " + describe(target));
    if (const DType both = promote_types(target.dtype(), other.tensor->dtype()); both != target.dtype()) {
      require_keeps_dtype(op, target, both);
      graph = converted(graph, target.dtype());
    }
  }
  const Argument arguments[] = {Argument(target), other};
  run_fused({op, graph, 0, target.shape()}, arguments, {&target, 1});
  return target;
}
}  // namespace
Var detail::keeping_dtype(const Var& x, const Var& result) {
  if (result.dtype() == x.dtype()) return result;
  require_keeps_dtype("in place", x.value(), result.dtype());
  return result.to(x.dtype());
}
Tensor& Tensor::copy_from(const Tensor& source) {
  checked(*this, "copy_from");
  require_defined("copy_from", "source", source);
  if (broadcast_shapes("copy_from", shape(), source.shape()) != shape())
    throw Error(ErrorKind::shape, "copy_from: " + describe(source) + " does not broadcast to " + describe(*this));
  require_same_device("copy_from", *this, source);
  if (promote_types(dtype(), source.dtype()) != dtype())
    throw Error(ErrorKind::dtype, "copy_from: cannot write " + describe(source) + " into " + describe(*this) +
                                      "; convert it with .to(" + std::string(to_string(dtype())) + ")");
  if (dtype() != source.dtype()) {
    run_fused({"copy_from", cast_graph(dtype()), 0, shape()}, PoolVector<Argument>{Argument(source)}, {this, 1});
    return *this;
  }
  const Tensor from = as_bits(source), to = as_bits(*this);
  run_fused({"copy_from", identity_graph(), 0, shape()}, PoolVector<Argument>{Argument(from)}, {&to, 1});
  return *this;
}
#define TERN_IN_PLACE(symbol, name)                                                                            \
  Tensor& Tensor::operator symbol##=(const Tensor& o)& { return update(*this, #name, op::name, o); }           \
  Tensor& Tensor::operator symbol##=(Number o)& { return update(*this, #name, op::name, o); }                  \
  Tensor Tensor::operator symbol##=(const Tensor& o)&& {                                                       \
    if (!is_selected(*this)) return update(*this, #name, op::name, o);                                         \
    return write_selected(*this, *this symbol o), *this;                                                       \
  }                                                                                                            \
  Tensor Tensor::operator symbol##=(Number o)&& {                                                              \
    if (!is_selected(*this)) return update(*this, #name, op::name, o);                                         \
    return write_selected(*this, *this symbol o), *this;                                                       \
  }
TERN_IN_PLACE(+, add)
TERN_IN_PLACE(-, sub)
TERN_IN_PLACE(*, mul)
TERN_IN_PLACE(/, div)
#undef TERN_IN_PLACE

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
  const TensorImpl& t = checked(*this, "reshape");
  const Shape shape = completed_shape("reshape", wanted, t.numel, this);
  if (shape == t.shape) return *this;
  if (t.numel == 0) return make_view(*this, shape, contiguous_strides(shape), t.offset);
  if (const auto strides = reshaped_strides(t, shape)) return make_view(*this, shape, *strides, t.offset);
  return make_view(clone(), shape, contiguous_strides(shape), 0);
}
Tensor Tensor::permute(const Axes& order) const {
  const TensorImpl& t = checked(*this, "permute");
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
  const TensorImpl& t = checked(*this, "transpose");
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
  const TensorImpl& t = checked(*this, "slice");
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
  const TensorImpl& t = checked(*this, "[]");
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
  const TensorImpl& t = checked(*this, "squeeze");
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
  const TensorImpl& t = checked(*this, "unsqueeze");
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
  const TensorImpl& t = checked(*this, "broadcast_to");
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
Var Var::clone() const {
  const Argument arguments[] = {Argument(*this)};
  return fused_one<Var>({"clone", identity_graph(), 0, {}}, arguments);
}
Var Var::contiguous() const { return is_contiguous() ? *this : clone(); }
Var Var::to(DType dtype) const {
  if (value_.dtype() == dtype) return *this;
  const Argument arguments[] = {Argument(*this)};
  return fused_one<Var>({"to", cast_graph(dtype), 0, {}}, arguments);
}
Var Var::to(Device device) const {
  if (value_.device() == device) return *this;
  return record_one("to_device", {this, 1}, value_.to(device), {},
                    [from = value_.device()](const RuleContext& c) { return PoolVector<Var>{c.grads[0].to(from)}; });
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
