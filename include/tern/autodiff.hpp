// Automatic differentiation: variables, recorded operations, and gradients of any order.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tern/tensor.hpp"

namespace tern {

class GradFn;

namespace detail {
/// Identity of a variable: shared by its handles and by the operations that read it.
struct VarMeta {
  std::uint64_t id = 0;
  bool requires_grad = false;
  bool retain_grad = false;
  std::shared_ptr<GradFn> grad_fn;  // null for leaves
  int output = 0;                   // which output of grad_fn
};
struct SavedValue;
}  // namespace detail

/// A tensor in a differentiable computation. Copies are handles on one variable; two Vars of one Tensor are distinct.
class Var {
 public:
  Var() = default;
  /// A leaf. Only floating-point tensors can require a gradient.
  explicit Var(Tensor value, bool requires_grad = true);
  Var(Tensor value, std::shared_ptr<detail::VarMeta> meta) : value_(std::move(value)), meta_(std::move(meta)) {}

  const Tensor& value() const { return value_; }
  bool defined() const { return value_.defined(); }
  bool requires_grad() const { return meta_ && meta_->requires_grad; }
  /// Unique for each variable; 0 for a constant that was never a leaf.
  std::uint64_t id() const { return meta_ ? meta_->id : 0; }
  /// The operation that made it; null for leaves and constants.
  std::shared_ptr<GradFn> grad_fn() const { return meta_ ? meta_->grad_fn : nullptr; }
  /// The same value as a constant.
  Var detach() const { return Var(value_, std::shared_ptr<detail::VarMeta>()); }
  /// Keeps the gradient of this intermediate variable in the result of backward.
  void retain_grad() const;

  const Shape& shape() const { return value_.shape(); }
  std::int64_t size(int axis) const { return value_.size(axis); }
  int dim() const { return value_.dim(); }
  std::int64_t numel() const { return value_.numel(); }
  const Strides& strides() const { return value_.strides(); }
  DType dtype() const { return value_.dtype(); }
  Device device() const { return value_.device(); }
  bool is_contiguous() const { return value_.is_contiguous(); }
  template <Element T> std::vector<T> to_vector() const { return value_.to_vector<T>(); }
  template <Element T> T item() const { return value_.item<T>(); }

  Var to(DType dtype) const;
  Var to(Device device) const;
  Var contiguous() const;
  Var clone() const;
  Var reshape(const Shape& shape) const;
  Var transpose(int axis_a, int axis_b) const;
  Var permute(const Axes& order) const;
  Var slice(int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  Var squeeze(int axis) const;
  Var unsqueeze(int axis) const;
  Var broadcast_to(const Shape& shape) const;

  const std::shared_ptr<detail::VarMeta>& meta() const { return meta_; }

 private:
  Tensor value_;
  std::shared_ptr<detail::VarMeta> meta_;
};

std::ostream& operator<<(std::ostream& stream, const Var& var);

/// A recorded operation. Its rule is written on Var, so gradients of gradients are recorded like anything else.
class GradFn : public std::enable_shared_from_this<GradFn> {
 public:
  virtual ~GradFn();
  /// "SiluMulBackward"
  virtual std::string name() const = 0;
  /// Ids of the operation's inputs (0 for constants).
  std::vector<std::uint64_t> inputs() const;
  /// The operations that made them (null for leaves and constants).
  std::vector<std::shared_ptr<GradFn>> input_grad_fns() const;
  /// What is kept for backward. Empty once it has been freed.
  virtual std::vector<Tensor> saved_tensors() const = 0;
  /// Gradients of the inputs from those of the outputs; undefined Vars stand for "none" on either side.
  /// Throws `autograd` where saved tensors were freed, or overwritten since.
  virtual std::vector<Var> apply(std::span<const Var> output_gradients) = 0;
  /// Frees what was saved.
  virtual void release() = 0;

  std::uint64_t sequence() const { return sequence_; }
  const std::vector<std::shared_ptr<detail::VarMeta>>& edges() const { return edges_; }

 protected:
  explicit GradFn(std::vector<std::shared_ptr<detail::VarMeta>> edges);

 private:
  std::vector<std::shared_ptr<detail::VarMeta>> edges_;
  std::uint64_t sequence_;  // inputs of an operation were made by operations with smaller ones
};

/// Gradients by variable, as backward returns them.
class Gradients {
 public:
  /// The gradient of x; throws `autograd` where it got none.
  const Tensor& operator[](const Var& x) const { return var(x).value(); }
  /// Null where the variable got no gradient.
  const Tensor* get(std::uint64_t id) const;
  /// The gradient as a variable: differentiable where backward was called with create_graph.
  const Var& var(const Var& x) const;
  std::size_t size() const { return gradients_.size(); }

  std::unordered_map<std::uint64_t, Var>& map() { return gradients_; }

 private:
  std::unordered_map<std::uint64_t, Var> gradients_;
};

struct BackwardOptions {
  bool create_graph = false;  // record the backward computation, for gradients of gradients
  bool keep_graph = false;    // keep saved tensors, for another backward through the same graph
};
/// Gradients of a one-element y with respect to every leaf it depends on. Saved tensors are freed on the way unless
/// kept; a second walk is then an error of kind `autograd`.
Gradients backward(const Var& y, const BackwardOptions& options = {});
namespace detail {
template <class T> concept Seed = std::same_as<T, Tensor> || std::same_as<T, Var>;
Gradients backward_from(const Var& y, const Var& seed, const BackwardOptions& options);
/// Gradients of the outputs with respect to exactly these targets; the walk stops at them. Undefined: independent.
std::vector<Var> walk_to(std::span<const Var> outputs, std::span<const Var> seeds, std::span<const Var> targets,
                         const BackwardOptions& options);
inline Var as_var(const Tensor& t) { return Var(t, std::shared_ptr<VarMeta>()); }
inline const Var& as_var(const Var& v) { return v; }
}  // namespace detail
/// The same for y of any shape, with ∂loss/∂y given.
template <detail::Seed S> Gradients backward(const Var& y, const S& seed, const BackwardOptions& options = {}) {
  return detail::backward_from(y, detail::as_var(seed), options);
}

/// While one lives, operations on this thread are not recorded.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();

namespace detail {
/// While one lives, operations on this thread are recorded: transforms work inside NoGrad, too.
class RecordingScope {
 public:
  RecordingScope();
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool before_;
};

/// An argument that may be a Tensor (a constant) or a Var.
class VarArg {
 public:
  VarArg(const Tensor& t) : var_(as_var(t)) {}
  VarArg(const Var& v) : var_(v) {}
  const Var& operator*() const { return var_; }
  const Var* operator->() const { return &var_; }

 private:
  Var var_;
};

/// x as a differentiable variable of its own, connected to x: what a transform differentiates with respect to.
Var alias(const Var& x);
Var zeros_like(const Var& x);
Var ones_like(const Var& x);
/// The gradient or zeros of that shape where there is none.
Var or_zeros(const Var& gradient, const Var& like);
/// rows stacked along a new first axis, in the given shape.
Var stack_rows(const std::vector<Var>& rows, const Shape& shape);

template <class T> T from_var(const Var& v) {
  if constexpr (std::same_as<T, Var>) return v;
  else return v.value();
}
template <class F, class... T> Var call_scalar(const F& f, const char* op, const T&... x) {
  const Var y = f(x...);
  if (y.numel() != 1)
    throw Error(ErrorKind::autograd,
                std::string(op) + ": the function must return one element, it returned shape " + to_string(y.shape()));
  return y;
}
/// value and gradients of f at variables connected to x.
template <class F, class... T> std::pair<Var, std::vector<Var>> value_and_gradients(const F& f, const T&... x) {
  constexpr bool nested = (std::same_as<T, Var> || ...);
  const RecordingScope recording;
  const std::vector<Var> at{alias(as_var(x))...};
  const Var y = [&]<std::size_t... I>(std::index_sequence<I...>) { return call_scalar(f, "grad", at[I]...); }
  (std::index_sequence_for<T...>{});
  const Var seed = ones_like(y);
  std::vector<Var> g = walk_to({&y, 1}, {&seed, 1}, at, {.create_graph = nested, .keep_graph = nested});
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = or_zeros(g[i], at[i]);
  return {y, std::move(g)};
}
template <class... T> auto pack_gradients(const std::vector<Var>& g) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (sizeof...(T) == 1) return from_var<std::tuple_element_t<0, std::tuple<T...>>>(g[0]);
    else return std::tuple<T...>{from_var<T>(g[I])...};
  }(std::index_sequence_for<T...>{});
}
}  // namespace detail

template <class V, class G> struct ValueAndGradients { V value; G gradients; };
template <class T> struct ValueAndResult { T value, result; };

/// grad(f)(x…): the gradient of the one-element f(x…), as a function: one argument gives one gradient, several a
/// std::tuple. f takes Vars. Called with Tensors it gives Tensors; with Vars it is itself differentiable.
template <class F> auto grad(F f) {
  return [f = std::move(f)]<class... T>(const T&... x) {
    return detail::pack_gradients<T...>(detail::value_and_gradients(f, x...).second);
  };
}
/// The same with the value: `auto [value, gradients] = value_and_grad(f)(x…)`.
template <class F> auto value_and_grad(F f) {
  return [f = std::move(f)]<class... T>(const T&... x) {
    auto [y, g] = detail::value_and_gradients(f, x...);
    using V = std::conditional_t<(std::same_as<T, Var> || ...), Var, Tensor>;
    auto packed = detail::pack_gradients<T...>(g);
    return ValueAndGradients<V, decltype(packed)>{detail::from_var<V>(y), std::move(packed)};
  };
}
/// {f(x), cotangentᵀ·J}: reverse mode.
template <class F, class T, class C> ValueAndResult<T> vjp(const F& f, const T& x, const C& cotangent) {
  constexpr bool nested = std::same_as<T, Var>;
  const detail::RecordingScope recording;
  const Var at = detail::alias(detail::as_var(x)), y = f(at), seed = detail::as_var(cotangent);
  const Var g = detail::walk_to({&y, 1}, {&seed, 1}, {&at, 1}, {.create_graph = nested, .keep_graph = nested})[0];
  return {detail::from_var<T>(y), detail::from_var<T>(detail::or_zeros(g, at))};
}
/// {f(x), J·tangent}: the vjp is linear in its cotangent, so its own vjp is the jvp.
template <class F, class T, class C> ValueAndResult<T> jvp(const F& f, const T& x, const C& tangent) {
  constexpr bool nested = std::same_as<T, Var>;
  const detail::RecordingScope recording;
  const Var at = detail::alias(detail::as_var(x)), y = f(at), u = detail::alias(detail::zeros_like(y)),
            t = detail::as_var(tangent);
  const Var g = detail::walk_to({&y, 1}, {&u, 1}, {&at, 1}, {.create_graph = true, .keep_graph = true})[0];
  if (!g.defined() || !g.requires_grad()) return {detail::from_var<T>(y), detail::from_var<T>(detail::zeros_like(y))};
  const Var r = detail::walk_to({&g, 1}, {&t, 1}, {&u, 1}, {.create_graph = nested, .keep_graph = nested})[0];
  return {detail::from_var<T>(y), detail::from_var<T>(detail::or_zeros(r, y))};
}
/// Hessian of the one-element f times v.
template <class F, class T, class V> T hvp(const F& f, const T& x, const V& v) {
  constexpr bool nested = std::same_as<T, Var>;
  const detail::RecordingScope recording;
  const Var at = detail::alias(detail::as_var(x)), seed = detail::as_var(v);
  const Var g = grad(f)(at);
  if (!g.requires_grad()) return detail::from_var<T>(detail::zeros_like(at));
  const Var r = detail::walk_to({&g, 1}, {&seed, 1}, {&at, 1}, {.create_graph = nested, .keep_graph = nested})[0];
  return detail::from_var<T>(detail::or_zeros(r, at));
}
/// ∂f/∂x, of shape f(x).shape + x.shape.
template <class F, class T> T jacobian(const F& f, const T& x) {
  constexpr bool nested = std::same_as<T, Var>;
  const detail::RecordingScope recording;
  const Var at = detail::alias(detail::as_var(x)), y = f(at);
  const Var flat = y.reshape({-1});
  std::vector<Var> rows;
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const Var entry = flat.slice(0, i, i + 1), seed = detail::ones_like(entry);
    const Var g = detail::walk_to({&entry, 1}, {&seed, 1}, {&at, 1}, {.create_graph = nested, .keep_graph = true})[0];
    rows.push_back(detail::or_zeros(g, at));
  }
  Shape shape = y.shape();
  for (const std::int64_t size : at.shape()) shape.push_back(size);
  return detail::from_var<T>(detail::stack_rows(rows, shape));
}
/// Second derivatives of the one-element f, of shape x.shape + x.shape.
template <class F, class T> T hessian(const F& f, const T& x) {
  return jacobian([&](const Var& at) { return grad(f)(at); }, x);
}

/// What gradcheck found; `message` names the worst entry.
struct GradCheck {
  bool ok = false;
  double worst = 0;  // |analytic - numeric| over the tolerance
  std::string message;
  explicit operator bool() const { return ok; }
};
namespace detail {
GradCheck check_gradients(const std::function<Var(std::span<const Var>)>& f, std::vector<Tensor> x);
}
/// Compares f's gradient with central differences (Richardson-extrapolated, in f64: the arguments must be f64).
/// f takes Vars and may return any shape; its elements are summed with fixed weights.
template <class F, class... T> GradCheck gradcheck(const F& f, const T&... x) {
  return detail::check_gradients(
      [&](std::span<const Var> at) -> Var {
        return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(at[I]...); }
        (std::index_sequence_for<T...>{});
      },
      {detail::as_var(x).value()...});
}

}  // namespace tern
