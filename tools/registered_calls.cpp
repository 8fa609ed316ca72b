#include "registered_calls.hpp"

#include "formula/graph.hpp"
#include "ops/entry.hpp"

namespace tern::tools {

int Registered::arity() const { return formula->graph()->inputs; }

std::vector<Registered> registry() {
  return {  // what is made ahead of time
#define TERN_ELEMENTARY_LATER(name, arity)
#define TERN_ELEMENTARY(name, arity) {&op::name, true},
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA_LATER(name, ...)
#define TERN_FORMULA(name, ...) {&op::name, false},
#define TERN_GATED(name, activation) {&op::name, false},
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  };
}

namespace {
std::vector<const Pointwise<>*> later() {
  return {
#define TERN_FORMULA(name, ...)
#define TERN_GATED(name, activation)
#define TERN_FORMULA_PREDICATE(name, ...)
#define TERN_FORMULA_MORE(name, arity, ...)
#define TERN_FORMULA_LATER(name, ...) &op::name,
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  };
}
}  // namespace

void attempt(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error&) {
  }
}

void back(const Var& y) {
  if (y.requires_grad()) backward(y, ones(y.value().shape(), y.value().dtype()));
}

Var applied(const Pointwise<>& f, std::span<const detail::Argument> arguments) {
  Var result;
  detail::apply_vars(f.name(), f.graph(), f.values(), arguments, {&result, 1});
  return result;
}

namespace {

/// Tensors of `shape` that require gradients; their values do not matter.
std::vector<Var> operands(int count, DType dtype, const Shape& shape) {
  std::vector<Var> list;
  for (int i = 0; i < count; ++i) list.emplace_back(full(shape, 0.5, dtype));
  return list;
}
Shape row_of(const Shape& shape) { return {shape[1]}; }

void call_formula(const Pointwise<>& f, int arity, DType dtype, const Shape& shape) {
  const std::vector<Var> x = operands(arity, dtype, shape);
  std::vector<detail::Argument> arguments(x.begin(), x.end());
  attempt([&] { back(applied(f, arguments)); });
  if (arity == 1) return;
  const Var row(full(row_of(shape), 0.5, dtype)), constant(full(shape, 0.5, dtype), false);
  // With a gradient that is summed, beside another and alone.
  const auto broadcast = [&](std::size_t at, const Var& others) {
    std::vector<detail::Argument> list(arguments.size(), others);
    list[at] = row;
    attempt([&] { back(applied(f, list)); });
  };
  broadcast(0, x[0]), broadcast(arguments.size() - 1, x[0]), broadcast(arguments.size() - 1, constant);
  for (int i = 1; i < arity; ++i) arguments[static_cast<std::size_t>(i)] = 0.25;
  attempt([&] { back(applied(f, arguments)); });
}

/// One condition and two operands, of which one, or both, are numbers.
void call_where(DType dtype, const Shape& shape) {
  const Var x(full(shape, 0.5, dtype)), y(full(shape, 0.5, dtype));
  attempt([&] { back(where(x.value() > 0, x, y)); });
  attempt([&] { back(where(x.value() > 0, x, 0)); });
}

void call_epilogue(const Pointwise<>& activation, const Var& x, const Var& w, const Var& bias) {
  attempt([&] { back(matmul_bias_activation(x, w, bias, activation)); });
  attempt([&] { back(matmul_activation(x, w, activation)); });
  attempt([&] { matmul_bias_activation(x.value(), w.value(), bias.value(), activation); });
  attempt([&] { matmul_activation(x.value(), w.value(), activation); });
  Tensor pre;
  attempt([&] {
    const Tensor y =
        matmul_bias_activation(x.value(), w.value(), bias.value(), activation, {.save_pre_activation = &pre});
    const auto direct = [&](const MatmulBwdOptions& options) {
      matmul_bias_activation_bwd(y, x.value(), w.value(), bias.value(), activation, options);
    };
    direct({}), direct({.nonfinite = NonFinite::propagate}), direct({.pre_activation = pre});
    direct({.pre_activation = pre, .nonfinite = NonFinite::propagate});
    for (const DType sums : {x.value().dtype(), f32}) {
      MatmulBiasActivationGrads sum{zeros(x.shape(), sums), zeros(w.shape(), sums), zeros(bias.shape(), sums)};
      attempt([&] { direct({.accumulate_into = &sum}); });
    }
  });
}

}  // namespace

void call_formulas(DType dtype, const Shape& shape) {
  for (const Registered& r : registry()) call_formula(*r.formula, r.arity(), dtype, shape);
  call_where(dtype, shape);
}

void call_later(DType dtype, const Shape& shape) {
  const std::vector<Tensor> operands(4, full(shape, 0.5, dtype));
  const std::vector<detail::Argument> arguments(operands.begin(), operands.end());
  for (const Pointwise<>* formula : later()) {
    const auto count = static_cast<std::size_t>(formula->graph()->inputs);
    if (count <= arguments.size()) attempt([&] { applied(*formula, std::span(arguments).first(count)); });
  }
}

void call_epilogues(DType dtype, const Shape& shape) {
  const std::int64_t n = shape[1];
  const Var x(full(shape, 0.5, dtype)), w(full({n, n}, 0.5, dtype)), bias(full({n}, 0.5, dtype));
  for (const Registered& r : registry())
    if (r.arity() == 1 && !r.elementary) call_epilogue(*r.formula, x, w, bias);
  for (const Pointwise<>* elementary : {&op::tanh, &op::sigmoid, &op::softplus}) call_epilogue(*elementary, x, w, bias);
  const Var residual(full(shape, 0.25, dtype));
  attempt([&] { back(matmul_bias_residual(x, w, bias, residual)); });
}

namespace {
/// A sample's call on tensors of about this shape, and the gradients of the first `tracked` operands.
void call_sample(const operations::Sample& sample, DType dtype, const Shape& shape, std::size_t tracked) {
  std::vector<Var> x;
  for (const Shape& operand : sample.shapes({shape[0], shape[1]}))
    x.emplace_back(full(operand, 0.5, dtype), x.size() < tracked);
  for (const Var& y : sample.call(x)) back(y);
}
}  // namespace

void call_operations(DType dtype, const Shape& shape) {
  using operations::Ahead;
  for (const operations::Entry& entry : operations::entries()) {
    for (const operations::AheadCall& call : entry.ahead) attempt([&] { call(dtype, shape); });
    for (const operations::Sample& sample : entry.samples) {
      if (sample.ahead == Ahead::no) continue;
      const std::size_t all = sample.call.operands();
      for (const std::size_t tracked : {all, std::size_t{1}}) {
        if (tracked != all && sample.ahead != Ahead::and_of_first_alone) continue;
        attempt([&] { call_sample(sample, dtype, shape, tracked); });
        const NoGrad guard;  // what saves nothing for backward
        attempt([&] { call_sample(sample, dtype, shape, tracked); });
      }
    }
  }
}

void call_registered(DType dtype, const Shape& shape) {
  call_formulas(dtype, shape), call_epilogues(dtype, shape), call_operations(dtype, shape);
}

}  // namespace tern::tools
