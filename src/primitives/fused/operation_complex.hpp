// Calls of formulas on complex tensors, carried out as calls on their real and imaginary parts: strided views of the
// same memory, in one kernel, of which no backend knows that they are parts.
#pragma once
#include <algorithm>

#include "primitives/fused/operation.hpp"
#include "tern/complex.hpp"

namespace tern::detail {

inline bool is_complex(const Argument& a) {
  const Tensor* const t = tensor_of(a);
  return a.is_complex || (t && t->defined() && is_complex(t->impl()->dtype));
}
inline bool of_complex_numbers(const FusedCall& call, std::span<const Argument> arguments) {
  return call.graph->complex || std::ranges::any_of(arguments, [](const Argument& a) { return is_complex(a); });
}
/// As run_fused and fused do.
void complex_call(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
                  std::span<Tensor> results);
void complex_call(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
                  std::span<Var> results);

/// Real and imaginary parts of a complex tensor: views.
struct TensorParts {
  Tensor re, im;
};
TensorParts parts_of(const Tensor& z);
/// Whether these are the parts of one complex tensor, and that: a view.
bool are_parts(const Tensor& re, const Tensor& im);
Tensor whole_of(const Tensor& re);
struct VarParts {
  Var re, im;
};
/// The gradients of both come back as one complex gradient.
VarParts parts_of(const Var& z);

inline bool is_complex_tensor(const Tensor& x) { return x.defined() && is_complex(x.dtype()); }
/// move(pairs, axis): what moves elements along an axis, or adds them, does so to the parts of complex ones as pairs.
template <class T, class Move> T as_pairs(const char* op, const T& x, int axis, const Move& move) {
  return view_as_complex(move(view_as_real(x), normalize_axis(op, axis, x.dim())));
}

/// Throws dtype where x is complex.
void require_real(const char* op, const char* argument, const Tensor& x);

}  // namespace tern::detail
