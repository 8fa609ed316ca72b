// Derivatives as functions: grad, vjp, jvp, hvp, jacobian, hessian, and checks of gradients. Arguments are Tensors,
// Vars or containers of them (tern/tree.hpp); functions get Vars in the same containers. With Tensors a transform gives
// Tensors; with Vars it gives Vars that are differentiable again, so transforms nest in any order. (`grad` of
// parameters in containers gives plain values, unless it is part of a computation, or asked.)
#pragma once
#include <functional>

#include "tern/tree.hpp"

namespace tern {
namespace detail {

/// Variables of their own, connected to these: what a transform differentiates with respect to. Throws dtype where none
/// of them is floating.
std::vector<Var> aliases(const char* op, std::vector<Var> variables);
/// Throws where the cotangents, tangents or vectors given (`what`) are not as many as `like`, or not like them (each an
/// `of`: "argument", "result").
void check_seeds(const char* op, const char* what, std::span<const Var> seeds, const char* of,
                 std::span<const Var> like);
/// Throws shape where the function returned an undefined Var, dtype where nothing it returned is floating.
void check_results(const char* op, std::span<const Var> y);
void check_one_element(const char* op, const Var& y);
/// Undefined gradients become zeros.
std::vector<Var> filled(std::vector<Var> gradients, std::span<const Var> like);
/// Gradients, or values, to hand out, with memory of their own: see make_own.
std::vector<Var> owned(std::vector<Var> gradients, std::span<const Var> others, bool recorded);
/// One or several variables as one of one axis.
Var joined(const std::vector<Var>& parts);

/// {f(x), gradients of its leaves} for an f of the container itself; `nested`: differentiable ones.
template <class F, class T>
std::pair<Var, std::vector<Var>> value_and_gradients(const char* op, const F& f, const T& x, bool nested) {
  const RecordingScope recording;
  const std::vector<Var> at = aliases(op, leaves_of(x));
  const Var y = f(build_from<AsVars<T>>(x, at));
  check_one_element(op, y);
  const Var seed = ones_like(y);
  std::vector<Var> g = backward_to({&y, 1}, {&seed, 1}, at, {.create_graph = nested, .keep_graph = nested});
  return {owned({nested ? y : y.detach()}, at, true)[0], owned(filled(std::move(g), at), {&seed, 1}, nested)};
}
/// Whether gradients of these arguments are differentiable: a Var by itself says so, Vars in containers where they are
/// part of a computation, or where the caller asks.
template <class... T> bool nests(const std::tuple<T...>& x, bool asked) {
  if constexpr ((std::same_as<T, Var> || ...)) return true;
  else if constexpr (holds_vars<std::tuple<T...>>()) return asked || in_computation(leaves_of(x));
  else return false;
}
/// What a call with other arguments gives, so that the message stands alone.
#define TERN_REFUSE_ARGUMENTS(...)                                                                                   \
  do {                                                                                                               \
    static_assert(detail::always_false<std::tuple<__VA_ARGS__>>,                                                     \
                  "derivatives are taken with respect to Tensors, Vars, containers of them, or aggregates with "     \
                  "tern::Fields: make a tensor of a number or of values, as in tern::full({}, 2.0) or "              \
                  "tern::tensor(values)");                                                                           \
    return detail::Refused{};                                                                                        \
  } while (false)
/// f of a tuple of its arguments.
template <class F> auto of_tuple(const F& f) {
  return [&f](const auto& arguments) { return std::apply(f, arguments); };
}
template <class F> auto of_container(const F& f) {
  return [&f](const auto& x) { return call_with(f, x); };
}
template <class... T> auto pack(const std::tuple<T...>& x, const std::vector<Var>& gradients) {
  auto all = build_from<std::tuple<T...>>(x, gradients);
  if constexpr (sizeof...(T) == 1) return std::get<0>(std::move(all));
  else return all;
}

}  // namespace detail

template <class V, class G> struct ValueAndGradients {
  V value;
  G gradients;
};
template <class V, class R = V> struct ValueAndResult {
  V value;
  R result;
};

struct GradOptions {
  bool create_graph = false;  // gradients of Vars in containers are differentiable
};
/// grad(f)(x…): the gradient of the one-element f(x…), as a function: one argument gives one gradient, several a
/// std::tuple, each of its argument's type. Gradients of arguments that f does not depend on are zeros, and those of
/// integers beside floating arguments (labels); without a floating argument or result: an error of kind `dtype`.
/// A Var given by itself gives a differentiable one. Vars in containers (parameters) give plain values in the same
/// containers, as constant Vars, unless `create_graph` asks for more; inside another transform or a backward with
/// create_graph, and where an operation made one of them, they are differentiable as well.
template <class F> auto grad(F f, GradOptions options = {}) {
  return [f = std::move(f), options]<class... T>(const T&... x) {
    if constexpr ((detail::Tree<T> && ...)) {
      const std::tuple<T...> all{x...};
      const bool nested = detail::nests(all, options.create_graph);
      return detail::pack(all, detail::value_and_gradients("grad", detail::of_tuple(f), all, nested).second);
    } else TERN_REFUSE_ARGUMENTS(T...);
  };
}
/// The same with the value: `auto [value, gradients] = value_and_grad(f)(x…)`; optimisers take such gradients.
template <class F> auto value_and_grad(F f, GradOptions options = {}) {
  return [f = std::move(f), options]<class... T>(const T&... x) {
    if constexpr ((detail::Tree<T> && ...)) {
      const std::tuple<T...> all{x...};
      const bool nested = detail::nests(all, options.create_graph);
      auto [y, g] = detail::value_and_gradients("value_and_grad", detail::of_tuple(f), all, nested);
      using V = std::conditional_t<detail::holds_vars<std::tuple<T...>>(), Var, Tensor>;
      auto packed = detail::pack(all, g);
      return ValueAndGradients<V, decltype(packed)>{detail::leaf_as<V>(y), std::move(packed)};
    } else TERN_REFUSE_ARGUMENTS(T...);
  };
}
#undef TERN_REFUSE_ARGUMENTS
/// {f(x), cotangentᵀ·J}: reverse mode. x and f(x) may be containers; of a std::tuple x, f may take the elements. The
/// cotangent is a container of as many tensors as f(x).
template <class F, class T, class C> auto vjp(const F& f, const T& x, const C& cotangent) {
  constexpr bool nested = detail::holds_vars<T>();
  const detail::RecordingScope recording;
  const std::vector<Var> at = detail::aliases("vjp", leaves_of(x));
  const auto value = detail::call_with(f, detail::build_from<detail::AsVars<T>>(x, at));
  const std::vector<Var> y = leaves_of(value), seeds = leaves_of(cotangent);
  detail::check_results("vjp", y);
  detail::check_seeds("vjp", "cotangent", seeds, "result", y);
  std::vector<Var> found = detail::backward_to(y, seeds, at, {.create_graph = nested, .keep_graph = nested});
  const std::vector<Var> g = detail::owned(detail::filled(std::move(found), at), seeds, nested);
  using V = detail::Rebound<std::remove_const_t<decltype(value)>, std::conditional_t<nested, Var, Tensor>>;
  return ValueAndResult<V, T>{detail::build_from<V>(value, detail::owned(y, at, true)), detail::build_from<T>(x, g)};
}
/// {f(x), J·tangent}: forward mode. The vjp is linear in its cotangent, so its own vjp is the jvp: every operation has
/// one. (Hooks on intermediate variables of f are called with the gradients of that vjp, whose cotangent is zeros.)
template <class F, class T, class C> auto jvp(const F& f, const T& x, const C& tangent) {
  constexpr bool nested = detail::holds_vars<T>();
  const detail::RecordingScope recording;
  const std::vector<Var> at = detail::aliases("jvp", leaves_of(x)), seeds = leaves_of(tangent);
  detail::check_seeds("jvp", "tangent", seeds, "argument", at);
  const auto value = detail::call_with(f, detail::build_from<detail::AsVars<T>>(x, at));
  const std::vector<Var> y = leaves_of(value);
  detail::check_results("jvp", y);
  const std::vector<Var> u = detail::aliases("jvp", detail::filled(std::vector<Var>(y.size()), y));
  const std::vector<Var> g = detail::backward_to(y, u, at, {.create_graph = true, .keep_graph = true});
  std::vector<Var> found = detail::backward_to(g, seeds, u, {.create_graph = nested, .keep_graph = nested});
  const std::vector<Var> r = detail::owned(detail::filled(std::move(found), y), seeds, nested);
  using V = detail::Rebound<std::remove_const_t<decltype(value)>, std::conditional_t<nested, Var, Tensor>>;
  return ValueAndResult<V>{detail::build_from<V>(value, detail::owned(y, at, true)), detail::build_from<V>(value, r)};
}
/// The Hessian of the one-element f times v, which has x's shape (or is a container like x).
template <class F, class T, class V> T hvp(const F& f, const T& x, const V& v) {
  constexpr bool nested = detail::holds_vars<T>();
  const detail::RecordingScope recording;
  const std::vector<Var> at = detail::aliases("hvp", leaves_of(x)), seeds = leaves_of(v);
  detail::check_seeds("hvp", "vector", seeds, "argument", at);
  const auto here = detail::build_from<detail::AsVars<T>>(x, at);
  const std::vector<Var> g = detail::value_and_gradients("hvp", detail::of_container(f), here, true).second;
  std::vector<Var> found = detail::backward_to(g, seeds, at, {.create_graph = nested, .keep_graph = nested});
  return detail::build_from<T>(x, detail::owned(detail::filled(std::move(found), at), seeds, nested));
}

/// How a Jacobian is computed: row by row (reverse, a pass for each element of the result), column by column (forward,
/// a pass for each element of the argument), or whichever needs less.
enum class Mode { automatic, reverse, forward };

namespace detail {
/// The Jacobians of each of y with respect to each of `at`, y by y, each of shape y.shape + at.shape. Throws shape
/// where one of y is undefined.
std::vector<Var> jacobians(const std::vector<Var>& y, const std::vector<Var>& at, Mode mode, bool nested);
Var batched_jacobian(const Var& y, const Var& at, Mode mode, bool nested);
}  // namespace detail

/// ∂f/∂x, of shape f(x).shape + x.shape. Of containers: one for each pair of tensors, arranged like f(x), and in that
/// like x. Of x's dtype.
template <class F, class T> auto jacobian(const F& f, const T& x, Mode mode = Mode::automatic) {
  constexpr bool nested = detail::holds_vars<T>();
  const detail::RecordingScope recording;
  const std::vector<Var> at = detail::aliases("jacobian", leaves_of(x));
  const auto value = detail::call_with(f, detail::build_from<detail::AsVars<T>>(x, at));
  const std::vector<Var> list = detail::jacobians(leaves_of(value), at, mode, nested);
  std::size_t i = 0;
  auto next_leaf = [&]() -> const Var& { return list[i++]; };
  auto next_row = [&] { return detail::build<T>(x, next_leaf); };
  return detail::build<detail::Rebound<std::remove_const_t<decltype(value)>, T>>(value, next_row);
}
/// The Jacobian of each row of a row-wise f: x is [.., D], f(x) is [.., C], and a row of f(x) depends on the same row
/// of x only (nobody checks that). [.., C, D], for one pass a column: the smaller of C and D.
template <class F, detail::TreeLeaf T> T batched_jacobian(const F& f, const T& x, Mode mode = Mode::automatic) {
  const detail::RecordingScope recording;
  const Var at = detail::aliases("batched_jacobian", {detail::as_var(x)})[0];
  return detail::leaf_as<T>(detail::batched_jacobian(f(at), at, mode, detail::holds_vars<T>()));
}
/// Second derivatives of the one-element f, of shape x.shape + x.shape (of containers: arranged like x in x).
template <class F, class T> auto hessian(const F& f, const T& x, Mode mode = Mode::automatic) {
  const auto gradient = [&f](const detail::AsVars<T>& at) {
    return detail::build_from<detail::AsVars<T>>(
        at, detail::value_and_gradients("hessian", detail::of_container(f), at, true).second);
  };
  return jacobian(gradient, x, mode);
}

/// What gradcheck found; `message` names the worst entry.
struct GradCheck {
  bool ok = false;
  double worst = 0;  // |analytic - numeric| over the tolerance
  std::string message;
  explicit operator bool() const { return ok; }
};
namespace detail {
using ListFunction = std::function<std::vector<Var>(std::span<const Var>)>;
GradCheck check_gradients(const char* op, const ListFunction& f, std::vector<Tensor> x);
/// The gradients of f with respect to its arguments, and with respect to the cotangents they are linear in.
GradCheck check_second_gradients(const ListFunction& f, std::vector<Tensor> x);
template <class F, class T> ListFunction list_function(const F& f, const T& x) {
  return [&f, &x](std::span<const Var> at) {
    return leaves_of(std::apply(f, build_from<AsVars<T>>(x, std::vector<Var>(at.begin(), at.end()))));
  };
}
}  // namespace detail
/// Compares f's gradient with central differences (Richardson-extrapolated, in f64: the arguments must be f64; integers
/// beside them are constants).
/// f takes Vars (or containers) and may return any shape (or container); the elements are summed with fixed weights.
template <class F, class... T> GradCheck gradcheck(const F& f, const T&... x) {
  const std::tuple<T...> all{x...};
  return detail::check_gradients("gradcheck", detail::list_function(f, all), detail::tensors_of(all));
}
/// The same for second derivatives: those of f's vjp, in its arguments and in its cotangents.
template <class F, class... T> GradCheck gradgradcheck(const F& f, const T&... x) {
  const std::tuple<T...> all{x...};
  return detail::check_second_gradients(detail::list_function(f, all), detail::tensors_of(all));
}

}  // namespace tern
