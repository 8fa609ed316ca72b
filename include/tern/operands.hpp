// What operations take, and what calls of them with something else are refused by: a message that says the remedy.
//
// Beside an operation stand overloads without a body, which to use is an error of this message (tern/refusals.hpp has
// them). They are the last choice of overload resolution, so that no call of another function ends there, not of
// <cmath> either: what they take are the classes at the end here, to which anything else is preferred, and they are
// templates, to which other functions are preferred where those convert, too. A `requires` takes such a call for right.
#pragma once
#include <concepts>
#include <initializer_list>
#include <type_traits>

#include "tern/dtype.hpp"

namespace tern {

class Expr;
class Tensor;
class Var;

/// What operations take: a Tensor (plain) or a Var (recorded).
template <class T> concept TensorOrVar = std::same_as<T, Tensor> || std::same_as<T, Var>;
namespace detail {
/// A class, not an expression in ResultOf: that would stand in the name of every operation's symbol.
template <class... T> struct Result {
  using type = std::conditional_t<(std::same_as<T, Var> || ...), Var, Tensor>;
};
}  // namespace detail
/// What they give for operands of these types: a Var where one of them is, else a Tensor.
template <TensorOrVar... T> using ResultOf = typename detail::Result<T...>::type;

namespace detail {
template <class> inline constexpr bool always_false = false;
template <class T>
concept Plain =
    std::is_arithmetic_v<T> || std::same_as<T, float16> || std::same_as<T, bfloat16> || std::same_as<T, Number>;
template <class T>
concept Field = std::same_as<T, Expr> || TensorOrVar<T>;
/// Arguments of a pointwise function: at least one symbolic value, Tensor or Var; plain numbers beside them, which may
/// be complex.
template <class... A>
concept PointwiseArgs = (Field<A> || ...) && ((Field<A> || Plain<A> || ComplexNumber<A>) && ...);
/// Arguments that are refused in words although one of them is right. (Of others see ForeignValues.)
template <class... A>
concept WrongArgs = !PointwiseArgs<A...> && (Field<A> || ...);

/// What a refused call gives, so that the message stands alone.
struct Refused {
  template <class T> operator T() const;
};
template <class R>
concept NotRefused = !std::same_as<R, Refused>;
#define TERN_REFUSED(message) __attribute__((unavailable(message)))
/// Of a method whose first argument is a tensor.
#define TERN_REFUSE_METHOD(name)                                                                                  \
  template <class A, class... B>                                                                                  \
    requires detail::HoldsValues<A> || detail::PlainOrComplex<A>                                                  \
  TERN_REFUSED("the operands of " #name " must be Tensors or Vars: make a tensor of other values, as in "         \
               "tern::tensor(values)")                                                                            \
  detail::Refused name(const A&, const B&...) const;
#define TERN_POINTWISE_OPERANDS                                                                         \
  "the operands must be Tensors, Vars, symbolic values (Expr) and plain numbers, at least one of them " \
  "not a number: make a tensor of other values, as in tern::tensor(values), or of numbers alone take "  \
  "what <cmath> has, as in std::exp(3.0)"

template <class T>
concept PlainOrComplex = Plain<T> || ComplexNumber<T>;
template <class T>
concept LikeTensor =
    TensorOrVar<T> || std::is_convertible_v<const T&, const Tensor&> || std::is_convertible_v<const T&, const Var&>;
/// Text, and what holds values: a container, a C array.
template <class T>
concept HoldsValues = !TensorOrVar<T> && (std::same_as<T, Refused> || std::is_array_v<T> ||
                                          std::is_convertible_v<const T&, const char*> ||
                                          (requires(const T& v) { v.begin(), v.end(); } && !LikeTensor<T>));

/// Values in place of a tensor, also in braces.
struct ForeignList {
  template <HoldsValues T> ForeignList(const T&);
  template <PlainOrComplex T> ForeignList(std::initializer_list<T>);
  template <PlainOrComplex T> ForeignList(std::initializer_list<std::initializer_list<T>>);
};
/// The same, or a number.
struct ForeignValues {
  template <class T>
    requires HoldsValues<T> || PlainOrComplex<T>
  ForeignValues(const T&);
  template <PlainOrComplex T> ForeignValues(std::initializer_list<T>);
  template <PlainOrComplex T> ForeignValues(std::initializer_list<std::initializer_list<T>>);
};
/// A tensor, beside which others are wrong.
struct RightTensor {
  template <TensorOrVar T> RightTensor(const T&);
};
/// Whatever stands beside a tensor in place of another one.
struct WrongTensor {
  template <class T>
    requires(!LikeTensor<T> || std::same_as<T, Refused>)
  WrongTensor(const T&);
  template <PlainOrComplex T> WrongTensor(std::initializer_list<T>);
  template <PlainOrComplex T> WrongTensor(std::initializer_list<std::initializer_list<T>>);
};
/// Whatever follows.
struct Any {
  template <class... T> Any(T&&...);
};
}  // namespace detail
}  // namespace tern
