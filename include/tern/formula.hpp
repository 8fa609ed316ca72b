// Formulas: ordinary C++ lambdas, traced once into a graph that every backend can run and differentiate.
//   constexpr tern::Pointwise mish{"mish", [](auto x) { return x * tanh(softplus(x)); }};
//   Tensor y = mish(x);    // one fused kernel; with a Var, differentiable to any order
#pragma once
#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tern/dtype.hpp"
#include "tern/operands.hpp"

namespace tern {

namespace detail {
struct Node;   // one operation of an interned graph (src/formula/graph.hpp)
struct FormulaGraph;  // an interned graph with its outputs
}  // namespace detail

/// A symbolic value: what a formula's arguments are while it is traced. It has no value yet, so it cannot decide an
/// `if`. One made by `Expr()` is undefined: it may be assigned to, anything else throws `shape`; a sum begins as
/// `Expr s = 0`.
class Expr {
 public:
  constexpr Expr() = default;
  constexpr explicit Expr(const detail::Node* node) : node_(node) {}
  /// A number inside a formula: a constant, or a kernel parameter when the lambda captures values.
  Expr(Number number);
  template <class T> requires std::is_arithmetic_v<T>
  Expr(T number) : Expr(Number(number)) {}
  template <detail::ComplexNumber T> Expr(const T& number);
  constexpr const detail::Node* node() const { return node_; }
  constexpr bool defined() const { return node_ != nullptr; }
  template <class B> requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(detail::always_false<B>,
                  "a symbolic value has no truth value: write where(condition, a, b) instead of if or ?:");
    return false;
  }

 private:
  const detail::Node* node_ = nullptr;
};

namespace detail {
/// The number re + i·im inside a formula.
Expr complex_of(Expr re, Expr im);
Expr part_of(Expr z, bool imaginary);

struct LiveSlot;
/// One argument of a pointwise call on tensors.
struct Argument {
  const Tensor* tensor = nullptr;
  const Var* var = nullptr;
  Number number;
  const LiveSlot* live = nullptr;  // of a number (or a tensor that holds it) that replays read anew
  bool is_complex = false;         // a complex number
  double imaginary = 0;            // of a complex number
  Argument(const Tensor& t) : tensor(&t) {}
  Argument(const Var& v) : var(&v) {}
  Argument(const Expr&) {}  // never reached: symbolic calls are inlined
  template <Plain T> Argument(const T& n) : number(Number(n)) {}
  template <ComplexNumber T> Argument(const T& z) : number(z.real()), is_complex(true), imaginary(z.imag()) {}
};

/// Values a capturing lambda was traced with; shared by copies of its Pointwise, gone with the last of them.
struct Captured {
  std::atomic<int> references{1};
  const FormulaGraph* graph = nullptr;
  std::vector<Number> values;
};
void release(Captured* captured) noexcept;
constexpr Captured* retain(Captured* captured) {
  if (captured) captured->references.fetch_add(1, std::memory_order_relaxed);
  return captured;
}

/// Opens a trace on this thread; while one is open, numbers become constants or parameters of it.
class Trace {
 public:
  Trace(const char* name, int inputs, bool captures);
  ~Trace();
  Trace(const Trace&) = delete;
  Expr input(int index) const;
  /// Interns what was traced; `derivative` is empty, or ∂output/∂input for every input.
  const FormulaGraph* finish(std::span<const Expr> outputs, std::span<const Expr> derivative);
  std::vector<Number> take_values() { return std::move(values_); }
  const char* name() const { return name_; }

 private:
  friend class tern::Expr;
  const char* name_;
  int inputs_;
  bool captures_;
  std::vector<Number> values_;
  Trace* outer_;
};

template <std::size_t> using AnyExpr = Expr;
template <class F, class Sequence> struct InvocableWith;
template <class F, std::size_t... I> struct InvocableWith<F, std::index_sequence<I...>> {
  static constexpr bool value = std::is_invocable_v<const F&, AnyExpr<I>...>;
};
inline constexpr int kMaxFormulaInputs = 12;
template <class F, int N = 1> consteval int arity_of() {
  static_assert(N <= kMaxFormulaInputs, "a formula is a lambda of 1 to 12 arguments, each `auto`");
  if constexpr (InvocableWith<F, std::make_index_sequence<static_cast<std::size_t>(N)>>::value) return N;
  else return arity_of<F, N + 1>();
}
template <class R> struct OutputCount { static constexpr int value = 1; };
template <class T, std::size_t N> struct OutputCount<std::array<T, N>> { static constexpr int value = N; };
template <class... T> struct OutputCount<std::tuple<T...>> { static constexpr int value = sizeof...(T); };

template <class F, std::size_t... I>
auto call_symbolic(const F& f, const Trace& trace, std::index_sequence<I...>) {
  return f(trace.input(static_cast<int>(I))...);
}
template <class F>
using SymbolicResult = decltype(call_symbolic(std::declval<const F&>(), std::declval<const Trace&>(),
                                              std::make_index_sequence<static_cast<std::size_t>(arity_of<F>())>{}));
template <class F> inline constexpr int outputs_of = OutputCount<SymbolicResult<F>>::value;

template <class R> std::vector<Expr> flatten(const R& result) {
  if constexpr (requires { std::tuple_size<R>::value; })
    return std::apply([](const auto&... e) { return std::vector<Expr>{Expr(e)...}; }, result);
  else return {Expr(result)};
}
template <class F, class D> const FormulaGraph* run_trace(Trace& trace, const F& f, const D& derivative) {
  constexpr auto arguments = std::make_index_sequence<static_cast<std::size_t>(arity_of<F>())>{};
  std::vector<Expr> outputs = flatten(call_symbolic(f, trace, arguments)), partials;
  if constexpr (!std::is_same_v<D, std::nullptr_t>) partials = flatten(call_symbolic(derivative, trace, arguments));
  return trace.finish(outputs, partials);
}
/// Traces a lambda whose numbers become parameters.
template <class F, class D> Captured* trace_capturing(const char* name, const F& f, const D& derivative) {
  Trace trace(name, arity_of<F>(), true);
  auto captured = std::make_unique<Captured>();
  captured->graph = run_trace(trace, f, derivative);
  captured->values = trace.take_values();
  return captured.release();
}

/// Write one result for each output of the graph.
void apply_tensors(const char* name, const FormulaGraph*, std::span<const Number>, std::span<const Argument>,
                   std::span<Tensor> results);
void apply_vars(const char* name, const FormulaGraph*, std::span<const Number>, std::span<const Argument>,
                std::span<Var> results);
std::vector<Expr> apply_symbolic(const char* name, const FormulaGraph*, std::span<const Number>, std::span<const Expr>);
template <class T, int N> auto single(std::array<T, N>&& results) {
  if constexpr (N == 1) return std::move(results[0]);
  else return std::move(results);
}
template <class T, int N, class List> auto unpack_outputs(List&& results) {
  if constexpr (N == 1) return T(std::move(results[0]));
  else {
    std::array<T, N> array;
    for (std::size_t i = 0; i < N; ++i) array[i] = std::move(results[i]);
    return array;
  }
}
}  // namespace detail

/// A pointwise formula: a name (for messages only) and an ordinary lambda of 1 to 12 `auto` arguments that returns one
/// value, or a std::array or std::tuple of `Outputs` values. Reductions (sum, mean, max, min) may stand inside only
/// where the formula is used by `row_formula`.
///
/// All formulas with one output have this one type, so they can be stored, put in a table and chosen at run time.
/// A captureless lambda makes a literal type; its numbers are constants of the kernel. The numbers of a capturing
/// lambda are parameters: changing them makes no new kernel. A second lambda gives ∂output/∂input (a std::array for
/// several inputs) where the derived derivative would be 0·inf; of formulas with one output.
///
/// A branch that is not taken contributes exactly 0 to derivatives of every order, whatever is infinite in it.
/// What is made of a formula is kept by its structure for the life of the process, about 0.3 KB for each operation in
/// it and in its gradients: let numbers change from call to call, not the structure. Any number of operations may stand
/// in it on the CPU; GPUs take 4096 in one kernel, and at most 256 reductions may wait for each other (`unsupported`).
template <int Outputs = 1>
class Pointwise {
 public:
  template <class F> requires(!std::is_base_of_v<Pointwise, F> && std::is_class_v<F>)
  constexpr Pointwise(F f) : Pointwise("formula", std::move(f)) {}
  template <class F, class D = std::nullptr_t>
  constexpr Pointwise(const char* name, F f, D derivative = {}) : name_(name) {
    static_assert(detail::outputs_of<F> == Outputs,
                  "the lambda returns another number of outputs than Pointwise<N> says");
    if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F> &&
                  (std::is_null_pointer_v<D> || (std::is_empty_v<D> && std::is_default_constructible_v<D>))) {
      thunk_ = [](const char* traced) {
        static const detail::FormulaGraph* const graph = [traced] {
          detail::Trace trace(traced, detail::arity_of<F>(), false);
          if constexpr (std::is_null_pointer_v<D>) return detail::run_trace(trace, F{}, nullptr);
          else return detail::run_trace(trace, F{}, D{});
        }();
        return graph;
      };
    } else {
      captured_ = detail::trace_capturing(name, f, derivative);
    }
  }
  constexpr Pointwise(const Pointwise& other)
      : name_(other.name_), thunk_(other.thunk_), captured_(detail::retain(other.captured_)) {}
  constexpr Pointwise& operator=(const Pointwise& other) {
    detail::Captured* old = captured_;
    name_ = other.name_, thunk_ = other.thunk_, captured_ = detail::retain(other.captured_);
    if (old) detail::release(old);
    return *this;
  }
  constexpr ~Pointwise() {
    if (captured_) detail::release(captured_);
  }

  constexpr const char* name() const { return name_; }
  const detail::FormulaGraph* graph() const { return captured_ ? captured_->graph : thunk_(name_); }
  std::span<const Number> values() const {
    return captured_ ? std::span<const Number>(captured_->values) : std::span<const Number>();
  }

  /// Applies the formula with NumPy's broadcasting. Tensors give Tensors; a Var among them gives Vars. Those of
  /// different dtypes are computed together (promote_types). A wrong number of arguments and shapes that do not
  /// broadcast throw `shape`.
  template <class... A> requires detail::PointwiseArgs<A...>
  auto operator()(const A&... arguments) const {
    if constexpr ((std::same_as<A, Expr> || ...)) {
      const Expr list[] = {Expr(arguments)...};
      return detail::unpack_outputs<Expr, Outputs>(detail::apply_symbolic(name_, graph(), values(), list));
    } else {
      const detail::Argument list[] = {detail::Argument(arguments)...};
      if constexpr ((std::same_as<A, Var> || ...)) {
        std::array<Var, Outputs> results;
        detail::apply_vars(name_, graph(), values(), list, results);
        return detail::single<Var, Outputs>(std::move(results));
      } else {
        std::array<Tensor, Outputs> results;
        detail::apply_tensors(name_, graph(), values(), list, results);
        return detail::single<Tensor, Outputs>(std::move(results));
      }
    }
  }
  template <class... A> requires(!detail::PointwiseArgs<A...> && (sizeof...(A) > 0))
  TERN_REFUSED(TERN_POINTWISE_OPERANDS) detail::Refused operator()(const A&...) const;

 private:
  const char* name_;
  const detail::FormulaGraph* (*thunk_)(const char* name) = nullptr;
  detail::Captured* captured_ = nullptr;
};
template <class F> Pointwise(F) -> Pointwise<detail::outputs_of<F>>;
template <class F> Pointwise(const char*, F) -> Pointwise<detail::outputs_of<F>>;
template <class F, class D> Pointwise(const char*, F, D) -> Pointwise<detail::outputs_of<F>>;

template <detail::ComplexNumber T>
Expr::Expr(const T& number) : Expr(detail::complex_of(Expr(number.real()), Expr(number.imag()))) {}

/// Reductions inside a formula, over the axes the formula is applied along.
Expr sum(Expr x);
Expr mean(Expr x);
Expr prod(Expr x);
Expr max(Expr x);
Expr min(Expr x);
/// In a formula of matmul_epilogue: the sum of each row (axis -1) or of each column (axis -2) of the product's space.
Expr sum(Expr x, int axis);
/// Number of elements along the axes the formula is applied along.
Expr extent();
/// The value converted to another dtype (inside a formula).
Expr cast(Expr x, DType dtype);
/// The coordinate (i32) of the element along an axis of the iteration space; negative axes count from the end.
Expr index(Expr x, int axis);
/// The element's position (i32) within the axes reduced over, in row-major order.
Expr ordinal(Expr x);
/// A uniform number in [0, 1) for each position (an i32 expression, such as one of index()): Philox 4×32-10 with the
/// key (seed, stream), the same on every device. Dropout inside an epilogue needs no mask in memory with it, and
/// backward draws the same numbers again. seed and stream are whole numbers below 2^32.
Expr random_uniform(Expr position, Expr seed, Expr stream = 0);

// ---- the elementary functions and the registered formulas: tern::op::<name> and the function tern::<name>(…) ----
#define TERN_DECLARE_POINTWISE(name)                             \
  namespace op { extern const Pointwise<> name; }                \
  template <class... A> requires detail::PointwiseArgs<A...>     \
  auto name(const A&... arguments) { return op::name(arguments...); }
namespace detail {
/// Predicates have no gradient: of Vars, they are plain tensors.
template <class T> auto predicate(T result) {
  if constexpr (std::same_as<T, Var>) return result.value();
  else return result;
}
}  // namespace detail
#define TERN_ELEMENTARY(name, arity) TERN_DECLARE_POINTWISE(name)
#define TERN_DECLARE_PREDICATE(name)                             \
  namespace op { extern const Pointwise<> name; }                \
  template <class... A> requires detail::PointwiseArgs<A...>     \
  auto name(const A&... arguments) { return detail::predicate(op::name(arguments...)); }
#define TERN_ELEMENTARY_PREDICATE(name, arity) TERN_DECLARE_PREDICATE(name)
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA(name, ...) TERN_DECLARE_POINTWISE(name)
#define TERN_FORMULA_PREDICATE(name, ...) TERN_DECLARE_PREDICATE(name)
#define TERN_FORMULA_MORE(name, arity, ...)                                               \
  namespace op { extern const Pointwise<> name##_with; }                                 \
  template <class... A> requires detail::PointwiseArgs<A...> && (sizeof...(A) == (arity)) \
  auto name(const A&... arguments) { return op::name##_with(arguments...); }
#define TERN_GATED(name, activation) TERN_DECLARE_POINTWISE(name)
namespace detail {
template <class T> bool has_integers(const T& x) {
  if constexpr (requires { x.dtype(); }) return x.defined() && is_integer(x.dtype());
  else if constexpr (std::same_as<T, Number>) return x.is_integer;
  else return std::integral<T> && !std::same_as<T, bool>;
}
}  // namespace detail
#define TERN_FORMULA_INTEGERS(name, ...)                                                           \
  namespace op { extern const Pointwise<> name##_of_integers; }                                    \
  template <class A, class B> requires detail::PointwiseArgs<A, B>                                 \
  auto name(const A& a, const B& b) {                                                              \
    const bool integers = detail::has_integers(a) && detail::has_integers(b);                      \
    return integers ? op::name##_of_integers(a, b) : op::name(a, b);                               \
  }
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
/// Within 1e-5 of |b| and 1e-8.
template <class A, class B> requires detail::PointwiseArgs<A, B>
auto isclose(const A& a, const B& b) { return isclose(a, b, 1e-5, 1e-8); }
/// |a - b| <= atol + rtol·|b|; with `equal_nan` also where both are NaN.
template <class A, class B, detail::Plain R, detail::Plain T, std::same_as<bool> E> requires detail::PointwiseArgs<A, B>
auto isclose(const A& a, const B& b, R rtol, T atol, E equal_nan) {
  const auto near = isclose(a, b, rtol, atol);
  return equal_nan ? near | (isnan(a) & isnan(b)) : near;
}
namespace detail {
/// The largest finite number of a float type; 0 of others, which have no infinities to put it for.
double largest_finite(DType dtype);
}
namespace op { extern const Pointwise<> nan_to_num_of_parts; }
/// 0 for NaN, the largest and the lowest number of the dtype for the infinities; of complex numbers in either part.
template <TensorOrVar T> T nan_to_num(const T& x) {
  const double most = detail::largest_finite(real_dtype(x.dtype()));
  if (is_complex(x.dtype())) return op::nan_to_num_of_parts(x, most);
  return nan_to_num(x, 0, most == 0 ? Number(0) : Number(most), most == 0 ? Number(0) : Number(-most));
}

#define TERN_BINARY_OPERATOR(symbol, elementary)                         \
  template <class A, class B> requires detail::PointwiseArgs<A, B> \
  auto operator symbol(const A& a, const B& b) { return op::elementary(a, b); }
#define TERN_COMPARISON(symbol, elementary)                              \
  template <class A, class B> requires detail::PointwiseArgs<A, B> \
  auto operator symbol(const A& a, const B& b) { return detail::predicate(op::elementary(a, b)); }
TERN_BINARY_OPERATOR(+, add)
TERN_BINARY_OPERATOR(-, sub)
TERN_BINARY_OPERATOR(*, mul)
TERN_BINARY_OPERATOR(/, div)
TERN_BINARY_OPERATOR(%, mod)
TERN_COMPARISON(==, equal)
TERN_COMPARISON(!=, not_equal)
TERN_COMPARISON(<, less)
TERN_COMPARISON(<=, less_equal)
TERN_COMPARISON(>, greater)
TERN_COMPARISON(>=, greater_equal)
TERN_BINARY_OPERATOR(&, bit_and)
TERN_BINARY_OPERATOR(|, bit_or)
TERN_BINARY_OPERATOR(^, bit_xor)
TERN_BINARY_OPERATOR(<<, shift_left)
TERN_BINARY_OPERATOR(>>, shift_right)
#undef TERN_BINARY_OPERATOR
#undef TERN_COMPARISON
/// x op= y of symbolic values is x = x op y. An undefined one is where a sum begins: `Expr s; s += x;` makes s that x.
#define TERN_EXPR_ASSIGNMENT(symbol)                                            \
  template <std::same_as<Expr> A, class B> requires detail::PointwiseArgs<A, B> \
  A& operator symbol##=(A& a, const B& b) { return a = a symbol b; }
template <std::same_as<Expr> A, class B> requires detail::PointwiseArgs<A, B>
A& operator+=(A& a, const B& b) { return a = a.defined() ? a + b : Expr(b); }
TERN_EXPR_ASSIGNMENT(-)
TERN_EXPR_ASSIGNMENT(*)
TERN_EXPR_ASSIGNMENT(/)
#undef TERN_EXPR_ASSIGNMENT
template <class A> requires detail::PointwiseArgs<A>
auto operator-(const A& a) { return op::neg(a); }
template <class A> requires detail::PointwiseArgs<A>
auto operator~(const A& a) { return op::bit_not(a); }
template <class A> requires detail::PointwiseArgs<A>
A operator+(const A& a) { return a; }
// Of any dtype: what is not 0 is true. Both sides of && and || are always computed.
template <class A> requires detail::PointwiseArgs<A>
auto operator!(const A& a) { return logical_not(a); }
template <class A, class B> requires detail::PointwiseArgs<A, B>
auto operator&&(const A& a, const B& b) { return logical_and(a, b); }
template <class A, class B> requires detail::PointwiseArgs<A, B>
auto operator||(const A& a, const B& b) { return logical_or(a, b); }

}  // namespace tern
