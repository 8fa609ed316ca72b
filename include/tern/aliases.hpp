// Other libraries' names for what tern has: THE table. A line is a name, what it stands for, and how it is called; the
// page docs/coming_from.md lists them (tools/coming_from.cpp).
#pragma once
#include <vector>

#include "tern/compositions.hpp"
#include "tern/creation.hpp"
#include "tern/indexing.hpp"
#include "tern/ops.hpp"
#include "tern/products.hpp"
#include "tern/sets.hpp"
#include "tern/statistics.hpp"
#include "tern/views.hpp"

namespace tern {

// TERN_ALIAS(alias, name, parameters, arguments): of a function of one tensor and whatever else.
#define TERN_ALIAS(alias, name, parameters, ...) \
  template <TensorOrVar T> auto alias parameters { return name(__VA_ARGS__); }
// TERN_ALIAS_METHOD: the same of a method.
#define TERN_ALIAS_METHOD(alias, name, parameters, ...) \
  template <TensorOrVar T> T alias parameters { return x.name(__VA_ARGS__); }
// TERN_ALIAS_LIST(alias, name): of a function of a list of tensors and an axis.
#define TERN_ALIAS_LIST(alias, name)                                                                    \
  inline Tensor alias(const std::vector<Tensor>& tensors, int axis = 0) { return name(tensors, axis); } \
  inline Var alias(const std::vector<Var>& vars, int axis = 0) { return name(vars, axis); }
// TERN_ALIAS_FORMULA(alias, name): of a formula, or of another function of tensors and numbers alone.
#define TERN_ALIAS_FORMULA(alias, name)                                        \
  template <class... A>                                                        \
    requires requires(const A&... a) { { name(a...) } -> detail::NotRefused; } \
  auto alias(const A&... arguments) {                                          \
    return name(arguments...);                                                 \
  }

// joins
TERN_ALIAS_LIST(concat, concatenate)
TERN_ALIAS_LIST(cat, concatenate)
// views and shape
TERN_ALIAS_METHOD(permute_dims, permute, (const T& x, const Axes& order), order)
TERN_ALIAS_METHOD(permute, permute, (const T& x, const Axes& order), order)
TERN_ALIAS_METHOD(transpose, transpose, (const T& x, int axis_a, int axis_b), axis_a, axis_b)
TERN_ALIAS_METHOD(transpose, T, (const T& x))
TERN_ALIAS_METHOD(swapdims, transpose, (const T& x, int axis_a, int axis_b), axis_a, axis_b)
TERN_ALIAS(movedim, moveaxis, (const T& x, const Axes& from, const Axes& to), x, from, to)
TERN_ALIAS_METHOD(expand_dims, unsqueeze, (const T& x, int axis = 0), axis)
TERN_ALIAS_METHOD(unsqueeze, unsqueeze, (const T& x, int axis), axis)
TERN_ALIAS_METHOD(squeeze, squeeze, (const T& x, int axis), axis)
TERN_ALIAS_METHOD(reshape, reshape, (const T& x, const Shape& shape), shape)
TERN_ALIAS_METHOD(view_as, reshape, (const T& x, const TensorOrVar auto& other), other.shape())
TERN_ALIAS_METHOD(broadcast_to, broadcast_to, (const T& x, const Shape& shape), shape)
TERN_ALIAS_METHOD(expand, broadcast_to, (const T& x, const Shape& shape), shape)
TERN_ALIAS_METHOD(astype, to, (const T& x, DType dtype), dtype)
TERN_ALIAS(unbind, unstack, (const T& x, int axis = 0), x, axis)
TERN_ALIAS(fliplr, flip, (const T& x), x, {1})
TERN_ALIAS(flipud, flip, (const T& x), x, {0})
TERN_ALIAS(repeat_interleave, repeat, (const T& x, std::int64_t times, int axis), x, times, axis)
// reductions and index
TERN_ALIAS(cumulative_sum, cumsum, (const T& x, int axis), x, axis)
TERN_ALIAS(cumprod, cumulative_prod, (const T& x, int axis), x, axis)
TERN_ALIAS(amax, max, (const T& x, const Axes& axes = {}, KeepDim keepdim = false), x, axes, keepdim)
TERN_ALIAS(amin, min, (const T& x, const Axes& axes = {}, KeepDim keepdim = false), x, axes, keepdim)
TERN_ALIAS(unique, unique_values, (const T& x), x)
TERN_ALIAS(take_along_dim, take_along_axis, (const T& x, const Tensor& indices, int axis = -1), x, indices, axis)
// elementwise
TERN_ALIAS_FORMULA(absolute, abs)
TERN_ALIAS_FORMULA(clip, clamp)
TERN_ALIAS_FORMULA(arcsin, asin)
TERN_ALIAS_FORMULA(arccos, acos)
TERN_ALIAS_FORMULA(arctan, atan)
TERN_ALIAS_FORMULA(arctan2, atan2)
TERN_ALIAS_FORMULA(arcsinh, asinh)
TERN_ALIAS_FORMULA(arccosh, acosh)
TERN_ALIAS_FORMULA(arctanh, atanh)
TERN_ALIAS_FORMULA(remainder, op::mod)
TERN_ALIAS_FORMULA(rint, round)
TERN_ALIAS_FORMULA(fix, trunc)
TERN_ALIAS_FORMULA(power, pow)
TERN_ALIAS_FORMULA(float_power, pow)
TERN_ALIAS_FORMULA(expit, sigmoid)
TERN_ALIAS_FORMULA(swish, silu)
TERN_ALIAS_FORMULA(logsigmoid, log_sigmoid)
// products
TERN_ALIAS_FORMULA(dot, matmul)
TERN_ALIAS_FORMULA(mm, matmul)
TERN_ALIAS_FORMULA(bmm, matmul)
TERN_ALIAS_FORMULA(ger, outer)
TERN_ALIAS(chain_matmul, multi_dot, (const std::vector<T>& matrices), matrices)

#undef TERN_ALIAS
#undef TERN_ALIAS_METHOD
#undef TERN_ALIAS_LIST
#undef TERN_ALIAS_FORMULA

}  // namespace tern
