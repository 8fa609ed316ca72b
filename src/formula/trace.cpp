// Tracing: lambdas in, interned graphs out.
#include <limits>
#include <string>

#include "formula/graph.hpp"
#include "formula/inner_formulas.hpp"
#include "tern/error.hpp"

namespace tern {
namespace detail {
namespace {
/// Of a thread, not an argument: what it is for are constants and captured tensors that a formula's lambda makes.
thread_local Trace* open_trace = nullptr;
/// Derivatives have more: kMostInputs.
constexpr int kMaxInputs = 120;
}  // namespace

Trace::Trace(const char* name, int inputs, bool captures)
    : name_(name), inputs_(inputs), captures_(captures), outer_(open_trace) {
  open_trace = this;
}
Trace::~Trace() { open_trace = outer_; }
Expr Trace::input(int index) const { return make_input(index); }

const char* traced_name() { return open_trace ? open_trace->name() : "formula"; }
void fail_undefined(const char* what, std::size_t index) {
  throw Error(ErrorKind::shape, std::string(traced_name()) + ": argument " + std::to_string(index + 1) + " of " + what +
                                    " is an undefined Expr, to which nothing was assigned; begin a sum as Expr s = 0, "
                                    "a product as Expr p = 1");
}

const FormulaGraph* Trace::finish(std::span<const Expr> outputs, std::span<const Expr> derivative) {
  const auto check = [&](std::span<const Expr> results, const std::string& what) {
    for (std::size_t k = 0; k < results.size(); ++k)
      if (!results[k].defined())
        throw Error(ErrorKind::shape, std::string(name_) + ": " + what + std::to_string(k + 1) +
                                          " is an undefined Expr, to which nothing was assigned");
  };
  check(outputs, "result "), check(derivative, "the declared derivative by argument ");
  if (!derivative.empty() && outputs.size() != 1)
    throw Error(ErrorKind::unsupported, std::string(name_) + ": a derivative can be declared for one result only, this "
                                            "formula has " + std::to_string(outputs.size()));
  if (!derivative.empty() && derivative.size() != static_cast<std::size_t>(inputs_))
    throw Error(ErrorKind::shape, std::string(name_) + ": declares " + std::to_string(derivative.size()) +
                                      " derivatives, it must be one for each of its " + std::to_string(inputs_) +
                                      " arguments");
  const int total = inputs_ + static_cast<int>(values_.size());
  if (total > kMaxInputs)
    throw Error(ErrorKind::unsupported, std::string(name_) + ": a formula has at most " + std::to_string(kMaxInputs) +
                                            " arguments and captured numbers, this one has " + std::to_string(total));
  const FormulaGraph* value = make_graph(outputs, total);
  if (derivative.empty()) return value;
  const Definition* definition = make_definition(value, make_graph(derivative, total));
  std::vector<Expr> args;
  for (int i = 0; i < total; ++i) args.push_back(make_input(i));
  const Expr call = make_call(definition, args);
  return make_graph({&call, 1}, total);
}

void release(Captured* captured) noexcept {
  if (captured->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete captured;
}

std::vector<Expr> apply_symbolic(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                                 std::span<const Expr> arguments) {
  if (arguments.size() + values.size() != static_cast<std::size_t>(graph->inputs))
    throw Error(ErrorKind::shape, std::string(name) + ": takes " +
                                      std::to_string(graph->inputs - static_cast<int>(values.size())) +
                                      " arguments, got " + std::to_string(arguments.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].defined()) fail_undefined(name, i);
  std::vector<Expr> args(arguments.begin(), arguments.end());
  for (const Number& value : values) args.push_back(Expr(value));  // parameters of the formula being traced
  return substitute(graph, args);
}

}  // namespace detail

Expr::Expr(Number number) {
  detail::Trace* trace = detail::open_trace;
  if (trace && trace->captures_) {
    trace->values_.push_back(number);
    *this = detail::make_input(trace->inputs_ + static_cast<int>(trace->values_.size()) - 1);
  } else {
    *this = detail::make_constant(number);
  }
}

using detail::Elementary;
Expr sum(Expr x) { return detail::make_elementary(Elementary::sum, {x}); }
Expr sum(Expr x, int axis) {
  if (axis != -1 && axis != -2)
    throw Error(ErrorKind::index, "sum(x, " + std::to_string(axis) +
                                      ") in a formula: the axis must be -1 (of each row) or -2 (of each column)");
  return detail::make_elementary(Elementary::sum, {x}, axis);
}
Expr prod(Expr x) { return detail::make_elementary(Elementary::prod, {x}); }
Expr max(Expr x) { return detail::make_elementary(Elementary::max, {x}); }
Expr min(Expr x) { return detail::make_elementary(Elementary::min, {x}); }
Expr extent() { return detail::make_extent(); }
Expr mean(Expr x) { return sum(x) / extent(); }
Expr cast(Expr x, DType dtype) { return detail::make_elementary(Elementary::cast, {x}, static_cast<int>(dtype)); }
Expr index(Expr x, int axis) { return detail::make_elementary(Elementary::index, {x}, axis); }
Expr detail::complex_of(Expr re, Expr im) { return make_elementary(Elementary::complex_of, {re, im}); }
Expr detail::part_of(Expr z, bool imaginary) {
  return make_elementary(imaginary ? Elementary::imag_part : Elementary::real_part, {z});
}
Expr ordinal(Expr x) { return detail::make_elementary(Elementary::index, {x}, detail::kOrdinalAxis); }

// The objects tern::op::<name>. Constant-initialised, so a static library cannot lose them.
namespace detail {
template <Elementary L, int Arity> struct ElementaryCall;
template <Elementary L> struct ElementaryCall<L, 1> {
  Expr operator()(Expr a) const { return make_elementary(L, {a}); }
};
template <Elementary L> struct ElementaryCall<L, 2> {
  Expr operator()(Expr a, Expr b) const { return make_elementary(L, {a, b}); }
};
template <Elementary L> struct ElementaryCall<L, 3> {
  Expr operator()(Expr a, Expr b, Expr c) const { return make_elementary(L, {a, b, c}); }
};
}  // namespace detail
double detail::largest_finite(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::f32: return std::numeric_limits<float>::max();
    case DType::f64: return std::numeric_limits<double>::max();
    default: return 0;
  }
}
namespace op {
#define TERN_ELEMENTARY(name, arity) \
  constinit const Pointwise<> name{#name, detail::ElementaryCall<detail::Elementary::name, arity>{}};
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA_INNER(name, ...) constinit const Pointwise<> name{#name, __VA_ARGS__};
#define TERN_FORMULA(name, ...) constinit const Pointwise<> name{#name, __VA_ARGS__};
#define TERN_FORMULA_INTEGERS(name, ...) constinit const Pointwise<> name##_of_integers{#name, __VA_ARGS__};
#define TERN_GATED(name, activation) \
  constinit const Pointwise<> name{#name, [](auto a, auto b) { return tern::activation(a) * b; }};
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
}  // namespace op
}  // namespace tern
