// Joining and splitting.
#include <algorithm>
#include <span>
#include <string>

#include "autodiff/instances.hpp"
#include "autodiff/joining.hpp"
#include "backend/instruments/trace.hpp"
#include "primitives/fused/operation_horizontal.hpp"
#include "tern/complex.hpp"

namespace tern {

using namespace detail;

namespace {
template <class T> Tensor joined(std::span<const T> parts, int axis, PoolVector<std::int64_t>& begins) {
  if (parts.empty()) throw Error(ErrorKind::shape, "concatenate: needs at least one tensor");
  const Tensor& first = require_defined("concatenate", "tensor 1", value_of(parts[0]));
  const auto a = static_cast<std::size_t>(normalize_axis("concatenate", axis, first.dim()));
  Shape shape = first.shape();
  shape[a] = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = require_defined("concatenate", "a tensor", value_of(parts[i]));
    const Shape& got = part.shape();
    bool fits = got.rank() == shape.rank();
    for (std::size_t k = 0; fits && k < got.size(); ++k) fits = k == a || got[k] == shape[k];
    if (!fits)
      throw Error(ErrorKind::shape, "concatenate: tensor " + std::to_string(i + 1) + " is " + describe(part) +
                                        ", which does not fit behind " + describe(first) + " along axis " +
                                        std::to_string(axis));
    require_same_device("concatenate", first, part);
    begins.push_back(shape[a]);
    shape[a] += got[a];
  }
  begins.push_back(shape[a]);
  Backend& backend = first.impl()->storage->backend();
  require_horizontal_fusion("concatenate", backend);
  Tensor result = make_tensor(shape, first.dtype(), backend);
  copy_parts("concatenate", parts, a, std::span<const std::int64_t>(begins), result);
  return result;
}
template <class T> PoolVector<T> with_new_axis(const std::vector<T>& parts, int axis) {
  if (parts.empty()) throw Error(ErrorKind::shape, "stack: needs at least one tensor");
  PoolVector<T> result;
  const Tensor& first = require_defined("stack", "tensor 1", value_of(parts[0]));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = require_defined("stack", "a tensor", value_of(parts[i]));
    if (part.shape() != first.shape())
      throw Error(ErrorKind::shape, "stack: tensor " + std::to_string(i + 1) + " is " + describe(part) +
                                        ", tensor 1 is " + describe(first));
    normalize_axis("stack", axis, part.dim() + 1);
    result.push_back(parts[i].unsqueeze(axis));
  }
  return result;
}
/// The parts in the dtype of the result, where some are of another; else nothing.
template <class T> PoolVector<T> converted(std::span<const T> parts) {
  PoolVector<T> list;
  DType dtype = DType::boolean;
  bool different = false;
  for (const T& part : parts) {
    if (!value_of(part).defined()) return list;  // which is an error that joined() tells of
    different |= part.dtype() != parts[0].dtype();
    dtype = promote_types(dtype, part.dtype());
  }
  if (different)
    for (const T& part : parts) list.push_back(part.to(dtype));
  return list;
}
/// Parts of one dtype, or of which one is undefined.
template <class T> bool are_complex(std::span<const T> parts) {
  return std::ranges::all_of(parts, [](const T& p) { return p.defined() && is_complex(p.dtype()); }) && !parts.empty();
}
Tensor along_axis(std::span<const Tensor> tensors, int axis);
Var along_axis(std::span<const Var> vars, int axis);
/// As pairs of real numbers, each of which is moved whole.
template <class T> T complex_along_axis(std::span<const T> parts, int axis) {
  const int a = normalize_axis("concatenate", axis, parts[0].dim());
  PoolVector<T> pairs;
  for (const T& part : parts) pairs.push_back(view_as_real(part));
  return view_as_complex(along_axis(std::span<const T>(pairs), a));
}
Tensor along_axis(std::span<const Tensor> tensors, int axis) {
  if (const PoolVector<Tensor> list = converted(tensors); !list.empty()) return along_axis(list, axis);
  if (are_complex(tensors)) return complex_along_axis(tensors, axis);
  PoolVector<std::int64_t> begins;
  return joined(tensors, axis, begins);
}
Var along_axis(std::span<const Var> vars, int axis) {
  if (const PoolVector<Var> list = converted(vars); !list.empty()) return along_axis(list, axis);
  if (are_complex(vars)) return complex_along_axis(vars, axis);
  PoolVector<std::int64_t> begins;
  Tensor result = joined(vars, axis, begins);
  return record_one("concatenate", vars, std::move(result), {}, [begins, axis](const RuleContext& c) {
    PoolVector<Var> grads;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
      grads.push_back(c.grads[0].slice(axis, begins[i], begins[i + 1]));
    return grads;
  });
}
}  // namespace

Tensor concatenate(const std::vector<Tensor>& tensors, int axis) {
  return along_axis(std::span<const Tensor>(tensors), axis);
}
Var concatenate(const std::vector<Var>& vars, int axis) { return along_axis(std::span<const Var>(vars), axis); }
Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  return along_axis(std::span<const Tensor>(with_new_axis(tensors, axis)), axis);
}
Var stack(const std::vector<Var>& vars, int axis) {
  return along_axis(std::span<const Var>(with_new_axis(vars, axis)), axis);
}
Var detail::concatenated(const std::vector<Var>& parts, int axis) { return concatenate(parts, axis); }
Var detail::stacked(const std::vector<Var>& parts, int axis) { return stack(parts, axis); }

namespace {
template <class List> void add_parts(List& list, const Tensor& x, std::int64_t parts, int axis) {
  require_defined("split", "x", x);
  const std::int64_t size = x.size(normalize_axis("split", axis, x.dim()));
  if (parts < 1 || size % parts != 0)
    throw Error(ErrorKind::shape, "split: axis " + std::to_string(axis) + " of " + describe(x) +
                                      " does not divide into " + std::to_string(parts) + " parts");
  list.reserve(static_cast<std::size_t>(parts));
  for (std::int64_t i = 0; i < parts; ++i) list.push_back(x.slice(axis, i * (size / parts), (i + 1) * (size / parts)));
}
std::vector<Tensor> parts_of(const Tensor& x, std::int64_t parts, int axis) {
  std::vector<Tensor> result;
  add_parts(result, x, parts, axis);
  return result;
}
/// The parts as one operation, whose gradient is theirs, joined: the gradient of a slice by itself is as large as x,
/// and for 1000 parts all of them took 27 times a loop's time.
std::vector<Var> parts_of(const Var& x, std::int64_t parts, int axis) {
  PoolVector<Tensor> values;
  add_parts(values, x.value(), parts, axis);
  std::vector<Var> results(values.size());
  if (!tracked({&x, 1})) {
    for (std::size_t i = 0; i < values.size(); ++i) results[i] = as_var(std::move(values[i]));
    return results;
  }
  const auto gradient = [shape = values[0].shape(), like = Options{.dtype = x.dtype(), .device = x.device()},
                         axis](const RuleContext& c) {
    PoolVector<Var> joined;
    Var none;  // the gradient of parts that were not used
    for (const Var& g : c.grads) {
      if (!g.defined() && !none.defined()) none = as_var(zeros({}, like).broadcast_to(shape));
      joined.push_back(g.defined() ? g : none);
    }
    return PoolVector<Var>{along_axis(std::span<const Var>(joined), axis)};
  };
  record("split", pointers({&x, 1}), values, {}, gradient, results);
  return results;
}
}  // namespace

template <TensorOrVar T> std::vector<T> split(const T& x, std::int64_t parts, int axis) {
  return parts_of(x, parts, axis);
}
template std::vector<Tensor> split(const Tensor&, std::int64_t, int);
template std::vector<Var> split(const Var&, std::int64_t, int);

}  // namespace tern
