#include "backend/tensor_impl.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "backend/recording/capture.hpp"
#include "backend/registry.hpp"

namespace tern {

std::string to_string(const detail::DimVector& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  bool overflow = false, empty = false;
  for (const std::int64_t size : *this) {
    if (size < 0) throw Error(ErrorKind::shape, "shape " + to_string(*this) + " has a negative size");
    empty |= size == 0;
    overflow |= !empty && __builtin_mul_overflow(product, size, &product);
  }
  if (empty) return 0;
  if (overflow || product > std::numeric_limits<std::int64_t>::max() / 8)
    throw Error(ErrorKind::shape, "shape " + to_string(*this) + " has more elements than can be addressed");
  return product;
}

namespace detail {

Strides contiguous_strides(const Shape& shape) {
  Strides strides;
  strides.resize(shape.rank());
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    // Wraps for absurd sizes beside a 0: such a tensor has no element to address.
    step =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(std::max<std::int64_t>(
                                                                         shape[static_cast<std::size_t>(i)], 1)));
  }
  return strides;
}

Tensor make_tensor(const Shape& shape, DType dtype, Backend& backend, const char* op) {
  if (!backend.supports(dtype)) throw UnsupportedDType(op, dtype, backend.device().to_string());
  return make_stored_tensor(shape, dtype, backend);
}
Tensor make_stored_tensor(const Shape& shape, DType dtype, Backend& backend) {
  const std::int64_t numel = shape.numel();
  auto impl = make_pooled<TensorImpl>();
  const std::size_t bytes = static_cast<std::size_t>(numel) * dtype_size(dtype);
  CapturedCalls* capture = current_capture();
  const bool captured = capture && &capture->backend() == &backend;
  impl->storage = captured ? capture->storage(bytes) : make_pooled<Storage>(backend, bytes);
  impl->dtype = dtype, impl->shape = shape, impl->strides = contiguous_strides(shape), impl->numel = numel;
  return Tensor(std::move(impl));
}

Tensor make_view(const Tensor& base, const Shape& shape, const Strides& strides, std::int64_t offset) {
  const TensorImpl& b = *base.impl();
  auto impl = make_pooled<TensorImpl>();
  impl->storage = b.storage, impl->dtype = b.dtype, impl->shape = shape, impl->strides = strides;
  impl->numel = shape.numel();
  impl->offset = impl->numel > 0 ? offset : 0;  // the memory of nothing is null, from which no step may be taken
  return Tensor(std::move(impl));
}

std::string describe(DType dtype, const Shape& shape) { return std::string(to_string(dtype)) + to_string(shape); }
std::string describe(const Tensor& tensor) {
  return tensor.defined() ? describe(tensor.dtype(), tensor.shape()) : "undefined";
}

Shape batch_of(const Shape& space, int dropped) {
  Shape batch = space;
  batch.resize(std::max(space.rank() - dropped, 0));
  return batch;
}
Shape with_sizes(Shape batch, std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t size : sizes) batch.push_back(size);
  return batch;
}
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  result.resize(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[static_cast<std::size_t>(a.rank() - i)] : 1;
    const std::int64_t y = i <= b.rank() ? b[static_cast<std::size_t>(b.rank() - i)] : 1;
    if (x != y && x != 1 && y != 1)
      throw Error(ErrorKind::shape, std::string(op) + ": shapes " + to_string(a) + " and " + to_string(b) +
                                        " do not broadcast: sizes " + std::to_string(x) + " and " + std::to_string(y) +
                                        " differ on axis -" + std::to_string(i));
    result[static_cast<std::size_t>(rank - i)] = x == 1 ? y : x;
  }
  return result;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& space) {
  Strides result;
  result.resize(space.rank(), 0);
  const int shift = space.rank() - shape.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    result[axis + static_cast<std::size_t>(shift)] = shape[axis] == 1 ? 0 : strides[axis];
  }
  return result;
}

View view_over(const Tensor& tensor, const Shape& space) {
  const TensorImpl& impl = *tensor.impl();
  return {impl.storage.get(), impl.dtype, impl.offset, broadcast_strides(impl.shape, impl.strides, space)};
}

void throw_undefined(const char* op, const char* argument) {
  throw Error(ErrorKind::shape, std::string(op) + ": " + argument + " is an undefined Tensor (default-constructed)");
}

int normalize_axis(const char* op, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw Error(ErrorKind::index, std::string(op) + ": axis " + std::to_string(axis) + " is out of range for " +
                                      std::to_string(rank) + " axes");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::uint32_t axis_mask(const char* op, const Axes& axes, int rank) {
  if (axes.empty()) return (1u << rank) - 1;
  std::uint32_t mask = 0;
  for (const std::int64_t axis : axes) {
    const std::uint32_t bit = 1u << normalize_axis(op, axis, rank);
    if (mask & bit)
      throw Error(ErrorKind::index, std::string(op) + ": axis " + std::to_string(axis) + " is given twice");
    mask |= bit;
  }
  return mask;
}

bool is_broadcast_view(const Tensor& tensor) {
  const TensorImpl& t = *tensor.impl();
  for (std::size_t i = 0; i < t.shape.size(); ++i)
    if (t.strides[i] == 0 && t.shape[i] > 1) return true;
  return false;
}
namespace {
/// Whether no two elements are one place: each axis, from the smallest step on, steps over all that the smaller ones
/// reach. (Every view of a tensor does. Borrowed memory may have strides that interleave without meeting; they count as
/// meeting.)
bool elements_are_apart(const TensorImpl& t) {
  std::pair<std::uint64_t, std::uint64_t> axes[kMaxRank];  // step and size, the smallest step first
  std::size_t count = 0;
  for (std::size_t i = 0; i < t.shape.size(); ++i) {
    if (t.shape[i] <= 1) continue;
    const auto stride = static_cast<std::uint64_t>(t.strides[i]), step = t.strides[i] < 0 ? 0 - stride : stride;
    std::size_t at = count++;
    for (; at > 0 && axes[at - 1].first > step; --at) axes[at] = axes[at - 1];
    axes[at] = {step, static_cast<std::uint64_t>(t.shape[i])};
  }
  std::uint64_t reach = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (axes[i].first <= reach) return false;
    reach += axes[i].first * (axes[i].second - 1);
  }
  return true;
}
}  // namespace

void require_writable(const char* op, const Tensor& out) {
  const TensorImpl& t = *out.impl();
  if (t.storage->read_only())
    throw Error(ErrorKind::unsupported, std::string(op) + ": cannot write into " + describe(out) +
                                            ", a view of constant memory (Tensor::view of a pointer to const); "
                                            "clone() it first");
  if (t.numel > 0 && !elements_are_apart(t))
    throw Error(ErrorKind::shape, std::string(op) + ": cannot write into a broadcast view, " + describe(out) +
                                      ", several elements of which are one place in memory; clone() it first");
}
Shape completed_shape(const char* op, const Shape& shape, std::int64_t numel, const Tensor* tensor) {
  Shape result = shape;
  std::int64_t known = 1;
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(i)];
    if (size == -1 && open < 0) open = i;
    else if (size < 0)
      throw Error(ErrorKind::shape, std::string(op) + ": " + to_string(shape) + " has more than one size below 0");
    else if (__builtin_mul_overflow(known, size, &known))
      throw Error(ErrorKind::shape, std::string(op) + ": " + to_string(shape) + " is too large");
  }
  if (open >= 0 && known > 0 && numel % known == 0) result[static_cast<std::size_t>(open)] = numel / known;
  else if (open >= 0 || known != numel)
    throw Error(ErrorKind::shape, std::string(op) + ": " +
                                      (tensor ? describe(*tensor) + " has " + std::to_string(numel) + " elements"
                                              : std::to_string(numel) + " values are given") +
                                      ", which do not fit " + to_string(shape));
  return result;
}

bool may_share_memory(const Tensor& x, const Tensor& y) {
  const TensorImpl &a = *x.impl(), &b = *y.impl();
  if (a.numel == 0 || b.numel == 0) return false;
  if (a.storage != b.storage && a.storage->owned() && b.storage->owned()) return false;
  // Where there are addresses, storages can be parts of one another (borrowed memory); on WebGPU `data` is a handle.
  const Device device = a.storage->backend().device();
  if (device != b.storage->backend().device()) return false;
  if (!entry_of(device.kind()).addresses && a.storage->data() != b.storage->data()) return false;
  const auto bounds = [](const TensorImpl& t) {
    std::int64_t low = t.offset, high = t.offset;
    for (std::size_t i = 0; i < t.shape.size(); ++i) {
      const std::int64_t reach = (t.shape[i] - 1) * t.strides[i];
      (reach < 0 ? low : high) += reach;
    }
    const auto size = static_cast<std::int64_t>(dtype_size(t.dtype));
    const auto base = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(t.storage->data()));
    return std::pair(base + low * size, base + (high + 1) * size);
  };
  const auto [a_low, a_high] = bounds(a);
  const auto [b_low, b_high] = bounds(b);
  return a_low < b_high && b_low < a_high;
}

void require_same_device(const char* op, const Tensor& a, const Tensor& b) {
  if (a.device() == b.device()) return;
  throw Error(ErrorKind::device, std::string(op) + ": operands are on different devices, " + a.device().to_string() +
                                     " and " + b.device().to_string() + "; move one with .to(Device)");
}

}  // namespace detail
}  // namespace tern
