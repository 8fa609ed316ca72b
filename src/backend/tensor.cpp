// What a tensor says of itself.
#include "backend/tensor_impl.hpp"

namespace tern {

using namespace detail;

const Shape& Tensor::shape() const { return impl_of(*this, "shape").shape; }
std::int64_t Tensor::size(int axis) const {
  const Shape& s = impl_of(*this, "size").shape;
  return s[static_cast<std::size_t>(normalize_axis("size", axis, s.rank()))];
}
int Tensor::dim() const { return impl_of(*this, "dim").shape.rank(); }
std::int64_t Tensor::numel() const { return impl_of(*this, "numel").numel; }
const Strides& Tensor::strides() const { return impl_of(*this, "strides").strides; }
DType Tensor::dtype() const { return impl_of(*this, "dtype").dtype; }
Device Tensor::device() const { return impl_of(*this, "device").storage->backend().device(); }
bool Tensor::is_contiguous() const {
  const TensorImpl& t = impl_of(*this, "is_contiguous");
  std::int64_t step = 1;
  for (int i = t.shape.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (t.shape[axis] != 1 && t.strides[axis] != step) return t.numel == 0;
    step *= t.shape[axis];
  }
  return true;
}

}  // namespace tern
