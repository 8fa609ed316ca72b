// What a Tensor handle points at, and the layout arithmetic shared by everything above the backends.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "tern/pool.hpp"
#include "tern/tensor.hpp"

namespace tern::detail {

struct Selection;  // src/ops/indexing/indexing.hpp

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;  // in elements
  std::int64_t numel = 0;
  std::shared_ptr<const Selection> selection;  // of a copy that x(…) made: what a temporary is written back to
};

/// Row-major strides of a shape.
Strides contiguous_strides(const Shape& shape);
/// A new, uninitialised tensor. Throws UnsupportedDType, naming op, where the device has no kernels for the dtype.
Tensor make_tensor(const Shape& shape, DType dtype, Backend& backend, const char* op = "tensor");
/// The same for any dtype: where the device has no kernels for it, the tensor can be written once, read and viewed.
Tensor make_stored_tensor(const Shape& shape, DType dtype, Backend& backend);
/// The given shape with its one size of -1 replaced by what `numel` elements leave for it; throws shape where they do
/// not fit. `tensor`: whose elements they are; null: the program's values.
Shape completed_shape(const char* op, const Shape& shape, std::int64_t numel, const Tensor* tensor);
/// Another view of a tensor's storage.
Tensor make_view(const Tensor& base, const Shape& shape, const Strides& strides, std::int64_t offset);

/// The program's memory as a tensor's; the strides are checked.
void borrow(TensorImpl& impl, void* pointer, std::shared_ptr<const void> keep_alive, Device device);

/// "f32[2, 3]", for messages.
std::string describe(const Tensor& tensor);
std::string describe(DType dtype, const Shape& shape);

/// The common shape of a and b under NumPy's broadcasting; throws shape, naming op.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);
/// The leading axes of [.., M, N], or of what has another number of axes of its own.
Shape batch_of(const Shape& space, int dropped = 2);
/// The leading axes with these after them: with_sizes(batch, {m, n}) is [.., m, n].
Shape with_sizes(Shape batch, std::initializer_list<std::int64_t> sizes);
/// Strides of a tensor of this shape laid over `space` (aligned at the last axis, 0 along broadcast axes).
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& space);
/// A tensor laid over an iteration space.
View view_over(const Tensor& tensor, const Shape& space);

[[noreturn]] void throw_undefined(const char* op, const char* argument);
/// Throws shape where the tensor is empty (default-constructed).
inline const Tensor& require_defined(const char* op, const char* argument, const Tensor& tensor) {
  if (!tensor.defined()) throw_undefined(op, argument);
  return tensor;
}
/// What it is made of; throws where it is undefined.
inline const TensorImpl& impl_of(const Tensor& t, const char* op) {
  return *require_defined(op, "the tensor", t).impl();
}
/// The axis counted from 0; throws index.
int normalize_axis(const char* op, std::int64_t axis, int rank);
/// The axes as a bit mask; `{}` gives all. Throws index for one that is out of range or twice.
std::uint32_t axis_mask(const char* op, const Axes& axes, int rank);
/// Whether several of its elements are one place in memory, as broadcast_to makes them: it is not to be written to.
bool is_broadcast_view(const Tensor& tensor);
/// Throws where writing into the tensor's elements is an error: `unsupported` where the program lent the memory for
/// reading, `shape` where several elements are one place in memory (a broadcast view).
void require_writable(const char* op, const Tensor& out);
/// Throws UnsupportedDType, naming op, where the tensor's device has no kernels for its dtype.
inline void require_kernels(const char* op, const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  const Backend& backend = impl.storage->backend();
  if (!backend.supports(impl.dtype)) throw UnsupportedDType(op, impl.dtype, backend.device().to_string());
}
/// Whether the memory between the first and the last element of each overlaps.
bool may_share_memory(const Tensor& a, const Tensor& b);
/// Throws device where two tensors live on different devices.
void require_same_device(const char* op, const Tensor& a, const Tensor& b);

}  // namespace tern::detail
