// Containers of tensors or variables: what transforms take besides a single one. std::vector, std::array, std::tuple,
// std::pair and std::optional of them, nested as you like, and aggregates of your own.
#pragma once
#include <array>
#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/autodiff.hpp"

namespace tern {

/// How an aggregate becomes a container: specialise this with a function that ties its members.
///   template <class T> struct Layer { T weight, bias; };
///   template <class T> struct tern::Fields<Layer<T>> {
///     static auto tie(auto& layer) { return std::tie(layer.weight, layer.bias); }
///   };
/// A template over the element gives Layer<Tensor> for Layer<Tensor>, and functions get Layer<Var>. An aggregate that
/// is no template must hold Vars where it is differentiated. Members that are not tied are copied.
template <class T> struct Fields;

/// The same in a line, outside of namespaces, of a template over the element or of a type; all its members are listed,
/// in order:
///   TERN_FIELDS(Layer, weight, bias)
/// They are called by these names in files (tern::io::save).
#define TERN_FIELDS(type, ...)                                                             \
  template <> struct tern::detail::ListedFields<decltype(tern::detail::what_is<type>())> { \
    static constexpr std::string_view names = #__VA_ARGS__;                                \
    static auto tie(auto& tern_aggregate) {                                                \
      auto& [__VA_ARGS__] = tern_aggregate;                                                \
      return std::tie(__VA_ARGS__);                                                        \
    }                                                                                      \
  };

namespace detail {

/// Whether a name is that of a type or of a template over the element: what_is<name>() says.
template <class T> struct IsType {};
template <template <class> class S> struct IsTemplate {};
template <class T> IsType<T> what_is();
template <template <class> class S> IsTemplate<S> what_is();
/// What TERN_FIELDS says of either.
template <class What> struct ListedFields;
template <class What>
concept Listed = requires { ListedFields<What>::names; };

}  // namespace detail

template <class T>
requires detail::Listed<detail::IsType<T>>
struct Fields<T> : detail::ListedFields<detail::IsType<T>> {};
template <template <class> class S, class T>
requires detail::Listed<detail::IsTemplate<S>>
struct Fields<S<T>> : detail::ListedFields<detail::IsTemplate<S>> {};

namespace detail {

template <class T>
concept TreeLeaf = std::same_as<T, Tensor> || std::same_as<T, Var>;
template <class T>
concept Aggregate = requires(T& x) {
  Fields<T>::tie(x);
};
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
template <class T> inline constexpr bool is_vector = false;
template <class T, class A> inline constexpr bool is_vector<std::vector<T, A>> = true;
template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;

/// The container with its leaves replaced by L.
template <class T, class L> struct Rebind { using type = T; };
template <TreeLeaf T, class L> struct Rebind<T, L> { using type = L; };
template <class T, class L> struct Rebind<std::vector<T>, L> { using type = std::vector<typename Rebind<T, L>::type>; };
template <class T, class L> struct Rebind<std::optional<T>, L> {
  using type = std::optional<typename Rebind<T, L>::type>;
};
template <class T, std::size_t N, class L> struct Rebind<std::array<T, N>, L> {
  using type = std::array<typename Rebind<T, L>::type, N>;
};
template <class... T, class L> struct Rebind<std::tuple<T...>, L> {
  using type = std::tuple<typename Rebind<T, L>::type...>;
};
template <class A, class B, class L> struct Rebind<std::pair<A, B>, L> {
  using type = std::pair<typename Rebind<A, L>::type, typename Rebind<B, L>::type>;
};
template <template <class> class S, TreeLeaf T, class L>
requires Aggregate<S<T>>
struct Rebind<S<T>, L> {
  using type = S<L>;
};
template <class T, class L> using Rebound = typename Rebind<T, L>::type;

/// f(leaf) for each leaf, in order.
template <class T, class F> void each_leaf(const T& tree, const F& f) {
  if constexpr (TreeLeaf<T>) {
    f(tree);
  } else if constexpr (is_vector<T>) {
    for (const auto& part : tree) each_leaf(part, f);
  } else if constexpr (is_optional<T>) {
    if (tree) each_leaf(*tree, f);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](const auto&... part) { (each_leaf(part, f), ...); }, tree);
  } else {
    static_assert(Aggregate<T>,
                  "an argument must be a Tensor, a Var, a container of them, or an aggregate with tern::Fields");
    std::apply([&](const auto&... part) { (each_leaf(part, f), ...); }, Fields<T>::tie(tree));
  }
}
/// Whether a leaf of the container is an L.
template <class T, class L> consteval bool holds() {
  if constexpr (TreeLeaf<T>) return std::same_as<T, L>;
  else if constexpr (is_vector<T> || is_optional<T>) return holds<typename T::value_type, L>();
  else if constexpr (TupleLike<T>) return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds<std::tuple_element_t<I, T>, L>() || ... || false);
    }
  (std::make_index_sequence<std::tuple_size_v<T>>{});
  else return []<class... U>(std::type_identity<std::tuple<U&...>>) {
    return (holds<std::remove_const_t<U>, L>() || ...);
  }(std::type_identity<decltype(Fields<T>::tie(std::declval<T&>()))>{});
}
template <class T> consteval bool holds_vars() { return holds<T, Var>(); }

/// The container as the functions that transforms differentiate get it.
template <class T> struct OfVars {
  using type = Rebound<T, Var>;
  static_assert(!holds<type, Tensor>(),
                "an aggregate of Tensors that is no template cannot hold the Vars that are differentiated: make it a "
                "template over the element (template <class T> struct Layer { T weight, bias; }), or of Vars");
};
template <class T> using AsVars = typename OfVars<T>::type;

/// Whether it is a Tensor, a Var, or a container of them.
template <class T> consteval bool is_tree() {
  if constexpr (TreeLeaf<T> || Aggregate<T>) return true;
  else if constexpr (is_vector<T> || is_optional<T>) return is_tree<typename T::value_type>();
  else if constexpr (TupleLike<T>) return []<std::size_t... I>(std::index_sequence<I...>) {
      return (is_tree<std::tuple_element_t<I, T>>() && ...);
    }
  (std::make_index_sequence<std::tuple_size_v<T>>{});
  else return false;
}
template <class T> concept Tree = is_tree<T>();
template <class T> concept TreeOfSeveral = Tree<T> && !TreeLeaf<T>;

template <class R, class V> R leaf_as(const V& value) {
  if constexpr (std::same_as<R, V>) return value;
  else return value.value();  // a Tensor of a Var
}
/// A container of type R, shaped like `tree`, of the values that next() gives, in order.
template <class R, class T, class Next> R build(const T& tree, Next& next) {
  if constexpr (TreeLeaf<T>) {
    return leaf_as<R>(next());
  } else if constexpr (is_vector<T>) {
    R result;
    result.reserve(tree.size());
    for (const auto& part : tree) result.push_back(build<typename R::value_type>(part, next));
    return result;
  } else if constexpr (is_optional<T>) {
    return tree ? R(build<typename R::value_type>(*tree, next)) : R();
  } else if constexpr (TupleLike<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return R{build<std::tuple_element_t<I, R>>(std::get<I>(tree), next)...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    R result = [&] {
      if constexpr (std::same_as<R, T>) return tree;
      else return R{};
    }();
    auto to = Fields<R>::tie(result);
    const auto from = Fields<T>::tie(tree);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((std::get<I>(to) =
            build<std::remove_reference_t<std::tuple_element_t<I, decltype(to)>>>(std::get<I>(from), next)),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(to)>>{});
    return result;
  }
}
/// The same from a list.
template <class R, class T, class V> R build_from(const T& tree, const std::vector<V>& values) {
  std::size_t i = 0;
  auto next = [&]() -> const V& { return values[i++]; };
  return build<R>(tree, next);
}

}  // namespace detail

/// The tensors and variables of a container, in order; a Tensor becomes a constant Var.
template <class T> std::vector<Var> leaves_of(const T& tree) {
  std::vector<Var> list;
  detail::each_leaf(tree, [&](const auto& leaf) { list.push_back(detail::as_var(leaf)); });
  return list;
}

namespace detail {

template <class T> std::vector<Tensor> tensors_of(const T& tree) {
  std::vector<Tensor> list;
  each_leaf(tree, [&](const auto& leaf) { list.push_back(as_var(leaf).value()); });
  return list;
}

/// f of a container: of the elements of a tuple where f takes them, else of the container itself.
template <class F, class T> auto call_with(const F& f, const T& tree) {
  if constexpr (TupleLike<T>) {
    constexpr bool unpacks = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::is_invocable_v<const F&, const std::tuple_element_t<I, T>&...>;
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
    if constexpr (unpacks) return std::apply(f, tree);
    else return f(tree);
  } else {
    return f(tree);
  }
}

}  // namespace detail
}  // namespace tern
