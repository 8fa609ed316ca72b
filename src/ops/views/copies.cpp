// A tensor's copies (to another dtype, device or layout) and the ways to its elements: methods of Tensor, and the same
// on variables.
#include <array>
#include <cstring>
#include <string>

#include "backend/instruments/reads.hpp"
#include "backend/memory/elements.hpp"
#include "backend/recording/capture.hpp"
#include "backend/registry.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/interop.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {
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

Tensor Tensor::clone() const {
  const TensorImpl& t = impl_of(*this, "clone");
  Backend& backend = t.storage->backend();
  require_fused("clone", backend);
  Tensor result = make_tensor(t.shape, t.dtype, backend, "clone");
  const Tensor from = as_bits(*this), to = as_bits(result);
  run_fused({"clone", identity_graph(), 0, {}}, PoolVector<Argument>{Argument(from)}, {&to, 1});
  return result;
}
Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }
namespace {
bool has_kernels(const Tensor& t) { return has_kernels_for(t, t.dtype()); }
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
  const TensorImpl& t = impl_of(*this, "to");
  if (t.dtype == to) return *this;
  if (!has_kernels(*this)) return on_host(*this, "to").to(to).to(device());
  return run_fused({"to", cast_graph(to), 0, {}}, PoolVector<Argument>{Argument(*this)})[0];
}
Tensor Tensor::to(Device target) const {
  const TensorImpl& t = impl_of(*this, "to");
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
  const TensorImpl& t = impl_of(*this, op);
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
  const TensorImpl& t = impl_of(*this, "item");
  if (t.numel != 1) throw Error(ErrorKind::shape, "item: the tensor must have one element, it is " + describe(*this));
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
void detail::require_on_cpu(const char* op, const Tensor& x) {
  if (require_defined(op, "x", x).device() == cpu()) return;
  throw Error(ErrorKind::device, std::string(op) + ": " + describe(x) + " is on " + x.device().to_string() +
                                     ", whose memory has no pointers here; copy it with .to(cpu())");
}
void detail::refuse_layout(const char* op, const Tensor& x, const std::string& what) {
  throw Error(ErrorKind::shape,
              std::string(op) + ": " + describe(x) + ", whose strides are " + to_string(x.strides()) + ", " + what);
}
void* detail::first_element(const char* op, const Tensor& x, DType wanted, bool writes) {
  if (detail::entry_of(require_defined(op, "x", x).device().kind()).dlpack[0] == 0) require_on_cpu(op, x);
  const TensorImpl& t = *x.impl();
  require_dtype(op, x, wanted);
  if (writes) require_writable(op, x);
  require_values(op), require_replayed(op, *t.storage);
  t.storage->backend().synchronize();
  if (writes) t.storage->bump_version();
  else note_read(op, x);
  return static_cast<std::byte*>(t.storage->data()) + t.offset * static_cast<std::int64_t>(dtype_size(t.dtype));
}
void* Tensor::pointer(DType wanted, bool writes) const {
  constexpr const char* op = "data_ptr";
  require_on_cpu(op, *this);
  require_dtype(op, *this, wanted);
  if (!is_contiguous()) refuse_layout(op, *this, "is not contiguous; copy it with .contiguous()");
  return first_element(op, *this, wanted, writes);
}
Tensor Tensor::borrow(void* pointer, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
                      std::shared_ptr<const void> keep_alive, Device device, bool read_only) {
  return lent_elements(pointer, dtype, shape, strides, std::move(keep_alive), device, read_only);
}
Tensor detail::lent_elements(void* pointer, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
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
Tensor& Tensor::copy_from(const Tensor& source) {
  impl_of(*this, "copy_from");
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

// ---- on variables ----
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

}  // namespace tern
