// Checks that operations of several operands share: of those that may be left out, and what is refused.
#pragma once
#include <string>
#include <vector>

#include "primitives/fused/operation.hpp"
#include "tern/neural.hpp"

namespace tern::detail {

/// "conv2d: bias: expected [4], got f32[3]"
[[noreturn]] inline void refuse(const char* op, const char* argument, const std::string& expected,
                                const std::string& got, ErrorKind kind = ErrorKind::shape) {
  throw Error(kind, std::string(op) + ": " + argument + ": expected " + expected + ", got " + got);
}
inline void require_floating(const char* op, const char* name, const Tensor& x) {
  require_defined(op, name, x);
  if (!is_floating(x.dtype()))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": " + name + " must be floating-point, got " + describe(x) + "; use .to(f32)");
}
/// An operand that may be left out: [size] where it is there.
inline void check_optional(const char* op, const char* name, const Tensor& x, std::int64_t size, const Tensor& like) {
  if (!x.defined()) return;
  if (x.dim() != 1 || x.size(0) != size) refuse(op, name, "[" + std::to_string(size) + "] or none", describe(x));
  require_floating(op, name, x), require_same_device(op, like, x);
}
inline void check_alike(const char* op, const char* first, const Tensor& x, const char* second, const Tensor& y) {
  require_floating(op, first, x), require_defined(op, second, y);
  if (x.shape() != y.shape())
    refuse(op, second, "the shape of " + std::string(first) + ", " + describe(x), describe(y));
}
/// Throws shape unless x broadcasts to this shape.
inline void check_broadcasts(const char* op, const char* name, const Tensor& x, const Shape& to) {
  require_defined(op, name, x);
  bool fits = x.dim() <= to.rank();
  for (int i = 1; fits && i <= x.dim(); ++i)
    fits = x.size(-i) == 1 || x.size(-i) == to[static_cast<std::size_t>(to.rank() - i)];
  if (!fits) refuse(op, name, "what broadcasts to " + to_string(to), describe(x));
}
/// Numbers as a tensor, uploaded as they are to be: conversions of tensors of the CPU cannot be captured elsewhere.
inline Tensor tensor_of(const std::vector<double>& of, const Shape& shape, DType dtype, Device device) {
  if (dtype == DType::f64) return tensor(of, shape, device);
  return tensor(std::vector<float>(of.begin(), of.end()), shape, device).to(dtype);
}
/// The size of the channels alone among `rank` axes: [1, C, 1, ..].
inline Shape channel_shape(std::int64_t channels, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(i == 1 ? channels : 1);
  return shape;
}

}  // namespace tern::detail
