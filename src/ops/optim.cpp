// Optimiser steps as formulas with several outputs, written in place.
#include "tern/optim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <string>
#include <utility>

#include "backend/trace.hpp"
#include "ops/fused.hpp"

namespace tern::optim {

using namespace detail;

namespace {

void check(const char* op, const std::vector<Var>& parameters) {
  for (const Var& p : parameters) {
    if (!p.requires_grad() || p.grad_fn())
      throw Error(ErrorKind::autograd, std::string(op) + ": parameters must be leaf variables that require a gradient");
    require_writable(op, p.value());
  }
}

Tensor state_like(const Tensor& p) {
  return zeros(p.shape(), {.dtype = dtype_size(p.dtype()) == 2 ? DType::f32 : p.dtype(), .device = p.device()});
}

/// Updates of parameters that do not depend on each other: those of a device are run together.
class Updates {
 public:
  explicit Updates(const char* op) : op_(op) {}
  /// A formula's outputs written over its first operands: (state…, read…, numbers…) → state…
  void add(const Graph* graph, std::span<const Tensor> state, std::span<const Tensor* const> read,
           std::span<const Number> numbers) {
    PoolVector<Argument> arguments;
    for (const Tensor& s : state) arguments.push_back(Argument(s));
    for (const Tensor* t : read) arguments.push_back(Argument(*t));
    for (const Number& n : numbers) arguments.push_back(Argument(n));
    try {
      const Shape space = state[0].shape();
      if (broadcast_space(op_, arguments) != space)
        throw Error(ErrorKind::shape,
                    std::string(op_) + ": the gradient of " + describe(state[0]) + " is " + describe(*read[0]));
      if (calls_.size() == kMost || state[0].device() != device_ || depends(arguments, state.size())) run();
      device_ = state[0].device();
      PoolVector<Tensor> results(state.size());
      BoundCall call;
      bind_call(space, with_numbers({op_, graph, 0, space}, arguments), arguments, state, results, call);
      calls_.push_back(std::move(call));
    } catch (...) {
      run();  // those before it are updated, as if each had been by itself
      throw;
    }
    for (std::size_t i = 0; i < state.size() + read.size(); ++i)
      (i < state.size() ? written_ : read_).push_back(*arguments[i].tensor);
  }
  void run() {
    const Calls calls = std::exchange(calls_, {});  // once, whatever happens
    written_.clear(), read_.clear();
    SmallVector<FusedRequest, 4> requests;
    for (const BoundCall& call : calls) requests.push_back(call.request());
    if (!requests.empty()) detail::run(*calls.front().backend, requests);
  }

 private:
  using Calls = std::list<BoundCall, PoolAllocator<BoundCall>>;  // requests point into them
  static constexpr std::size_t kMost = 16;                       // parts of a launch
  /// Whether the next update reads what one of those before writes, or writes what one of them touches.
  bool depends(std::span<const Argument> arguments, std::size_t state) const {
    const auto among = [](const PoolVector<Tensor>& list, const Tensor& t) {
      return std::ranges::any_of(list, [&](const Tensor& other) { return may_share_memory(t, other); });
    };
    for (std::size_t i = 0; i < arguments.size() && arguments[i].tensor; ++i)
      if (among(written_, *arguments[i].tensor) || (i < state && among(read_, *arguments[i].tensor))) return true;
    return false;
  }
  const char* op_;
  Device device_ = cpu();
  Calls calls_;
  PoolVector<Tensor> written_, read_;
};

/// The graph of an update for a floating dtype; 16-bit parameters are computed with in f32, like their moments, and
/// rounded once.
using MakeGraph = const Graph*(bool narrow, DType dtype);
struct Graphs {
  const Graph *f16, *bf16, *f32, *f64;
  explicit Graphs(MakeGraph make)
      : f16(make(true, DType::f16)),
        bf16(make(true, DType::bf16)),
        f32(make(false, DType::f32)),
        f64(make(false, DType::f64)) {}
  const Graph* of(DType dtype) const {
    return dtype == DType::f16 ? f16 : dtype == DType::bf16 ? bf16 : dtype == DType::f32 ? f32 : f64;
  }
};

const Graph* adamw_graph(bool narrow, DType dtype) {
  const Expr p0 = make_input(0), m0 = make_input(1), v0 = make_input(2), g0 = make_input(3);
  const Expr c1 = make_input(4), c2 = make_input(5);  // of correction_graph
  const Expr rate = make_input(6), decay = make_input(7), b1 = make_input(8), b2 = make_input(9), eps = make_input(10);
  const Expr r1 = make_input(11), r2 = make_input(12);  // 1 - b1 and 1 - b2, which would cancel in f32
  const Expr p = narrow ? cast(p0, DType::f32) : p0, g = narrow ? cast(g0, DType::f32) : g0;
  const Expr m = b1 * m0 + r1 * g, v = b2 * v0 + r2 * (g * g);
  const Expr step = (m * c1) / (sqrt(v * c2) + eps);
  const Expr next = p - rate * (step + decay * p);
  const Expr outputs[] = {narrow ? cast(next, dtype) : next, m, v};
  return make_graph(outputs, 13);
}
/// (steps, log b1, log b2) → steps + 1, and the corrections of the moments' bias, 1 / (1 - b^steps). The count is a
/// tensor so that a captured step counts on; expm1 keeps the difference accurate where b^steps is near 1.
const Graph* correction_graph() {
  return graph_of([](auto steps, auto log1, auto log2) {
    const auto next = steps + 1;
    return std::array{next, -1 / expm1(next * log1), -1 / expm1(next * log2)};
  });
}
const Graph* sgd_graph(bool narrow, DType dtype) {
  const Expr p0 = make_input(0), v0 = make_input(1), g0 = make_input(2), rate = make_input(3), momentum = make_input(4),
             decay = make_input(5);
  const Expr p = narrow ? cast(p0, DType::f32) : p0, g = narrow ? cast(g0, DType::f32) : g0;
  const Expr v = momentum * v0 + (g + decay * p), next = p - rate * v;
  const Expr outputs[] = {narrow ? cast(next, dtype) : next, v};
  return make_graph(outputs, 6);
}

}  // namespace

SGD::SGD(std::vector<Var> parameters, SGDOptions options) : parameters_(std::move(parameters)), options_(options) {
  check("SGD", parameters_);
  for (const Var& p : parameters_) velocity_.push_back(state_like(p.value()));
}

void SGD::step(const Gradients& gradients) {
  static const Graphs graphs(sgd_graph);
  Updates updates("SGD");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor* g = gradients.get(parameters_[i].id());
    if (!g) continue;
    const Tensor& p = parameters_[i].value();
    const Tensor state[] = {p, velocity_[i]};
    const Number numbers[] = {options_.learning_rate, options_.momentum, options_.weight_decay};
    updates.add(graphs.of(p.dtype()), state, {&g, 1}, numbers);
  }
  updates.run();
}

AdamW::AdamW(std::vector<Var> parameters, AdamWOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  check("AdamW", parameters_);
  for (const Var& p : parameters_) {
    first_.push_back(state_like(p.value())), second_.push_back(state_like(p.value()));
    const Tensor& moment = first_.back();
    std::size_t k = 0;
    while (k < steps_.size() && (steps_[k].dtype() != moment.dtype() || steps_[k].device() != moment.device())) ++k;
    if (k == steps_.size()) steps_.push_back(zeros({}, {.dtype = moment.dtype(), .device = moment.device()}));
    step_of_.push_back(k);
  }
}

void AdamW::step(const Gradients& gradients) {
  static const Graphs graphs(adamw_graph);
  PoolVector<std::array<Tensor, 3>> corrections;  // the count, and what correction_graph says
  for (Tensor& steps : steps_) {
    const Argument arguments[] = {Argument(steps), Argument(std::log(options_.beta1)),
                                  Argument(std::log(options_.beta2))};
    run_fused({"AdamW", correction_graph(), 0, {}}, arguments, {&steps, 1}, corrections.emplace_back());
  }
  const Number numbers[] = {options_.learning_rate, options_.weight_decay, options_.beta1,     options_.beta2,
                            options_.epsilon,       1 - options_.beta1,    1 - options_.beta2};
  Updates updates("AdamW");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor* g = gradients.get(parameters_[i].id());
    if (!g) continue;
    const Tensor& p = parameters_[i].value();
    const Tensor state[] = {p, first_[i], second_[i]};
    const std::array<Tensor, 3>& correction = corrections[step_of_[i]];
    const Tensor* const read[] = {g, &correction[1], &correction[2]};
    updates.add(graphs.of(p.dtype()), state, read, numbers);
  }
  updates.run();
}

}  // namespace tern::optim
