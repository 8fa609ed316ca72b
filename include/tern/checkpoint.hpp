// Recomputing instead of saving, and gradients that no formula can say.
#pragma once
#include <functional>
#include <string>

#include "tern/tree.hpp"

namespace tern {
namespace detail {
using ListRule = std::function<std::vector<Var>(std::span<const Var>)>;
/// Runs `first` on the inputs and records one operation whose backward runs `again`.
std::vector<Var> checkpointed(const ListRule& first, ListRule again, const std::vector<Var>& inputs);

/// Gradients of the inputs from those of the outputs (zeros where none arrived), the outputs (where read), the inputs.
struct CustomBackward {
  std::function<std::vector<Var>(const std::vector<Var>& gradients, const std::vector<Var>& outputs,
                                 const std::vector<Var>& inputs)>
      rule;
  bool reads_outputs = false;
};
/// Throws shape where an argument is undefined.
void check_arguments(const std::string& name, const std::vector<Var>& inputs);
std::vector<Var> custom(const std::string& name, const std::vector<Var>& inputs, std::vector<Tensor> outputs,
                        CustomBackward backward);

/// A container shaped like this one, of nothing.
template <class T> T hollow(const T& tree) {
  auto next = [] { return Var(); };
  return build<T>(tree, next);
}
}  // namespace detail

/// checkpoint(f)(x…) is f(x…), but what f saves for backward is dropped and computed again when backward comes there:
/// the memory of the arguments instead of all intermediates, for one more forward pass. Gradients have the same bits.
/// It nests; Vars that f captures get their gradients; random numbers repeat, whichever Generator they are from (they
/// are replayed, and the generator is not advanced again). Otherwise f must do the same when it is run again; it is
/// kept until then, so what it captures by reference must live as long: capture Vars by value (they are handles).
/// Backward throws `autograd` where a tensor that f read was changed in place meanwhile, or f gives other shapes,
/// dtypes or numbers of results or of random draws. retain_grad on what f makes inside keeps nothing: its variables are
/// gone.
template <class F> auto checkpoint(F f) {
  return [f = std::move(f)]<class... T>(const T&... x) {
    using Arguments = std::tuple<detail::AsVars<T>...>;
    using Result = std::remove_cvref_t<std::invoke_result_t<const F&, const detail::AsVars<T>&...>>;
    const std::tuple<T...> all{x...};
    const auto run = [](const F& g, const std::tuple<T...>& like, std::span<const Var> at) {
      return std::apply(g, detail::build_from<Arguments>(like, std::vector<Var>(at.begin(), at.end())));
    };
    Result result;
    const auto first = [&](std::span<const Var> at) { return leaves_of(result = run(f, all, at)); };
    const auto again = [f, run, like = detail::hollow(all)](std::span<const Var> at) {
      return leaves_of(run(f, like, at));
    };
    return detail::build_from<Result>(result, detail::checkpointed(first, again, leaves_of(all)));
  };
}

/// An operation with a gradient of your own, for what no formula can say:
///   const auto solve = custom_gradient("solve", forward, backward);
///   Var x = solve(a, b);
/// forward(a…) takes Tensors (or containers of them) and gives a Tensor or a container. backward(gradient, a…) or
/// backward(gradient, output, a…) takes Vars and gives the gradient of the argument, or a std::tuple of those of
/// several arguments; written with tern's operations it is differentiable itself, to any order (gradgradcheck says
/// whether it is right). Only arguments get gradients: a Var that the functions capture is a constant to them. A
/// gradient that backward computed from plain values has no derivative: asking for one (jvp and forward Jacobians do)
/// is an error of kind `autograd`; one that is zero everywhere is written 0 * gradient. Backward errors of kind
/// `autograd`: another number of gradients, none for an argument that requires one; of kind `shape` or `dtype`: a
/// gradient that is not like its argument.
template <class F, class B> auto custom_gradient(std::string name, F forward, B backward) {
  return [name = std::move(name), forward = std::move(forward),
          backward = std::move(backward)]<class... T>(const T&... x) {
    using Values = std::tuple<detail::Rebound<T, Tensor>...>;
    using Arguments = std::tuple<detail::AsVars<T>...>;
    const std::tuple<T...> all{x...};
    const std::vector<Var> inputs = leaves_of(all);
    detail::check_arguments(name, inputs);
    const auto value = std::apply(forward, detail::build_from<Values>(all, inputs));
    using Value = std::remove_const_t<decltype(value)>;
    using Output = detail::AsVars<Value>;
    constexpr bool reads = std::is_invocable_v<const B&, const Output&, const Output&, const detail::AsVars<T>&...>;
    auto rule = [backward, like = detail::hollow(all), shape = detail::hollow(value)](
                    const std::vector<Var>& gradients, const std::vector<Var>& outputs, const std::vector<Var>& at) {
      const Output g = detail::build_from<Output>(shape, gradients);
      const Arguments arguments = detail::build_from<Arguments>(like, at);
      if constexpr (reads) {
        const Output y = detail::build_from<Output>(shape, outputs);
        return leaves_of(std::apply([&](const auto&... a) { return backward(g, y, a...); }, arguments));
      } else {
        return leaves_of(std::apply([&](const auto&... a) { return backward(g, a...); }, arguments));
      }
    };
    const std::vector<Var> outputs = detail::custom(name, inputs, detail::tensors_of(value), {std::move(rule), reads});
    if constexpr ((detail::holds_vars<T>() || ...)) return detail::build_from<Output>(value, outputs);
    else return value;
  };
}
template <class F, class B>
requires(!std::is_convertible_v<F, std::string>) auto custom_gradient(F forward, B backward) {
  return custom_gradient(std::string("custom_gradient"), std::move(forward), std::move(backward));
}

}  // namespace tern
