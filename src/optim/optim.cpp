// Optimiser steps as formulas with several outputs, written in place.
#include "tern/optim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "backend/recording/capture.hpp"
#include "optim/updates.hpp"

namespace tern {

namespace detail {

Parameters::Parameters(const char* optimiser, std::vector<Var> list) : optimiser_(optimiser), list_(std::move(list)) {
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Var& p = list_[i];
    if (!p.defined())
      throw Error(ErrorKind::shape, std::string(optimiser) + ": parameter " + std::to_string(i) +
                                        " is undefined; make a member that may be left out a std::optional, which is "
                                        "passed over where it is empty");
    if (!p.requires_grad() || p.grad_fn())
      throw Error(ErrorKind::autograd,
                  std::string(optimiser) + ": parameters must be leaf variables that require a gradient");
    require_writable(optimiser, p.value());
    const auto [known, is_new] = places.emplace(p.id(), i);
    if (!is_new)
      throw Error(ErrorKind::autograd, std::string(optimiser) + ": parameter " + std::to_string(i) + " is parameter " +
                                           std::to_string(known->second) + " again, " + describe(p.value()) +
                                           "; give each once");
  }
}

GradientList Parameters::gradients(const Gradients& gradients) const {
  GradientList list;
  list.reserve(list_.size());
  for (const Var& p : list_) list.push_back(gradients.get(p.id()));
  return list;
}

GradientList Parameters::gradients(const std::vector<Tensor>& gradients) const {
  if (gradients.size() != list_.size())
    throw Error(ErrorKind::shape, std::string(optimiser_) + ": expected a gradient for each of the " +
                                      std::to_string(list_.size()) + " parameters, got " +
                                      std::to_string(gradients.size()));
  GradientList list;
  list.reserve(list_.size());
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Tensor &g = gradients[i], &p = list_[i].value();
    list.push_back(g.defined() ? &g : nullptr);
    if (!g.defined() || (g.shape() == p.shape() && g.dtype() == p.dtype())) continue;
    throw Error(g.shape() == p.shape() ? ErrorKind::dtype : ErrorKind::shape,
                std::string(optimiser_) + ": gradient " + std::to_string(i) + " must be like its parameter: expected " +
                    describe(p) + ", got " + describe(g));
  }
  return list;
}

}  // namespace detail

namespace optim {

using namespace detail;

namespace {

DType moment_dtype(const Tensor& p) { return dtype_size(p.dtype()) == 2 ? DType::f32 : p.dtype(); }
/// Whether its numbers are of f64.
bool is_wide(const Tensor& p) { return real_dtype(p.dtype()) == DType::f64; }
Tensor state_like(const Tensor& p) { return zeros(p.shape(), {.dtype = moment_dtype(p), .device = p.device()}); }

const FormulaGraph* adamw_graph(bool narrow, DType dtype) {
  const Expr p0 = make_input(0), m0 = make_input(1), v0 = make_input(2), g0 = make_input(3);
  // Of shared_numbers and own_numbers.
  const Expr decay = make_input(4), b1 = make_input(5), b2 = make_input(6), eps = make_input(7), r1 = make_input(8),
             r2 = make_input(9), rate = make_input(10), c2 = make_input(11);
  const Expr p = narrow ? cast(p0, DType::f32) : p0, g = narrow ? cast(g0, DType::f32) : g0;
  const Expr m = b1 * m0 + r1 * g, v = b2 * v0 + r2 * (g * g);
  const Expr next = p - (rate * m / (sqrt(v * c2) + eps) + decay * p);
  const Expr outputs[] = {narrow ? cast(next, dtype) : next, m, v};
  return make_graph(outputs, 12);
}
/// Of all updates of a step: rate·decay, b1, b2, epsilon, and 1 - b1 and 1 - b2, which would cancel in f32.
std::array<double, 6> shared_numbers(const AdamWOptions& o) {
  return {o.learning_rate * o.weight_decay, o.beta1, o.beta2, o.epsilon, 1 - o.beta1, 1 - o.beta2};
}
/// Of a parameter whose gradient is its n-th: rate and 1, over what corrects the moments' bias, 1 - b^n.
std::array<double, 2> own_numbers(const AdamWOptions& o, std::int64_t n) {
  const auto corrected = [&](double b) { return -std::expm1(static_cast<double>(n) * std::log(b)); };
  return {o.learning_rate / corrected(o.beta1), 1 / corrected(o.beta2)};
}
const FormulaGraph* sgd_graph(bool narrow, DType dtype) {
  const Expr p0 = make_input(0), v0 = make_input(1), g0 = make_input(2), rate = make_input(3), momentum = make_input(4),
             decay = make_input(5);
  const Expr p = narrow ? cast(p0, DType::f32) : p0, g = narrow ? cast(g0, DType::f32) : g0;
  const Expr v = momentum * v0 + (g + decay * p), next = p - rate * v;
  const Expr outputs[] = {narrow ? cast(next, dtype) : next, v};
  return make_graph(outputs, 6);
}

/// change(options): recorded, it is done at each replay, where it stands among the steps, and not yet.
template <class Options, class F> void change_options(const Kept<Options>& options, F change) {
  if (CapturedCalls* capture = current_capture()) {
    capture->add_action([kept = options.shared(), change] { change(*kept); });
    capture->at_end([kept = options.shared(), before = *options.shared()] { *kept = before; });
  }
  change(*options.shared());
}
template <class Options> void set_rate(const Kept<Options>& options, double rate) {
  change_options(options, [rate](Options& o) { o.learning_rate = rate; });
}
template <class Options> void set_all(const Kept<Options>& options, const Options& to) {
  change_options(options, [to](Options& o) { o = to; });
}

/// An optimiser that is made while recording is made anew by each replay.
void record_making(std::function<void()> make) {
  if (CapturedCalls* capture = current_capture()) capture->add_action(std::move(make));
}

/// The numbers of recorded updates, which replays read anew, of one dtype of moments: `shared` for all, then `own` for
/// each of the parameters, in order.
struct RecordedNumbers {
  std::vector<std::size_t> parameters;
  std::shared_ptr<LiveNumbers> live;
  std::size_t shared, own, done = 0;

  PoolVector<Argument> next() {
    PoolVector<Argument> list;
    for (std::size_t i = 0; i < shared; ++i) list.push_back(live->argument(i));
    for (std::size_t i = 0; i < own; ++i) list.push_back(live->argument(shared + done * own + i));
    ++done;
    return list;
  }
};
/// make_refresh(parameters) gives what writes the numbers of these.
template <class MakeRefresh>
std::array<RecordedNumbers, 2> record_numbers(CapturedCalls& capture, const Parameters& parameters,
                                              const GradientList& gradients, std::size_t shared, std::size_t own,
                                              const MakeRefresh& make_refresh) {
  std::array<RecordedNumbers, 2> both{{{{}, nullptr, shared, own}, {{}, nullptr, shared, own}}};  // f32 and f64
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) both[is_wide(parameters[i])].parameters.push_back(i);
  for (const bool wide : {false, true}) {
    RecordedNumbers& numbers = both[wide];
    if (!numbers.parameters.empty())
      numbers.live = capture.add_live(wide ? DType::f64 : DType::f32, shared + own * numbers.parameters.size(),
                                      make_refresh(numbers.parameters));
  }
  return both;
}

}  // namespace

SGD::SGD(std::vector<Var> parameters, SGDOptions options)
    : parameters_("SGD", std::move(parameters)), options_(options) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) velocity_.push_back(state_like(parameters_[i]));
  record_making([kept = options_.shared(), options] { *kept = options; });
}

void SGD::set_learning_rate(double rate) { set_rate(options_, rate); }
void SGD::set_options(const SGDOptions& options) { set_all(options_, options); }

void SGD::update(const GradientList& gradients) {
  static const Graphs graphs(sgd_graph);
  Updates updates("SGD");
  std::optional<std::array<RecordedNumbers, 2>> recorded;
  if (CapturedCalls* capture = current_capture())
    recorded = record_numbers(*capture, parameters_, gradients, 3, 0, [&](const std::vector<std::size_t>&) {
      return [options = options_.shared()](std::span<LiveSlot> to) {
        to[0].number = options->learning_rate, to[1].number = options->momentum, to[2].number = options->weight_decay;
      };
    });
  const Argument plain[] = {Argument(options_->learning_rate), Argument(options_->momentum),
                            Argument(options_->weight_decay)};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    const Tensor& p = parameters_[i];
    const Tensor state[] = {p, velocity_[i]};
    const FormulaGraph* const graph = graphs.of(p.dtype());
    if (recorded) updates.add(graph, state, {&gradients[i], 1}, (*recorded)[is_wide(p)].next());
    else updates.add(graph, state, {&gradients[i], 1}, plain);
  }
  updates.run();
}

AdamW::AdamW(std::vector<Var> parameters, AdamWOptions options)
    : parameters_("AdamW", std::move(parameters)),
      counts_(std::make_shared<std::vector<std::int64_t>>(parameters_.size())),
      options_(options) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    first_.push_back(state_like(parameters_[i])), second_.push_back(state_like(parameters_[i]));
  record_making([kept = options_.shared(), options, counts = counts_] {
    *kept = options;
    std::ranges::fill(*counts, 0);
  });
}

void AdamW::set_learning_rate(double rate) { set_rate(options_, rate); }
void AdamW::set_options(const AdamWOptions& options) { set_all(options_, options); }

void AdamW::update(const GradientList& gradients) {
  static const Graphs graphs(adamw_graph);
  Updates updates("AdamW");
  const std::array<double, 6> shared = shared_numbers(*options_.shared());
  std::optional<std::array<RecordedNumbers, 2>> recorded;
  if (CapturedCalls* capture = current_capture())
    recorded = record_numbers(*capture, parameters_, gradients, shared.size(), 2,
                              [&](const std::vector<std::size_t>& of) { return counting(of); });
  std::int64_t counted = 0;
  std::array<double, 2> own{};  // of that count
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    const Tensor& p = parameters_[i];
    const Tensor state[] = {p, first_[i], second_[i]};
    const FormulaGraph* const graph = graphs.of(p.dtype());
    if (recorded) {
      updates.add(graph, state, {&gradients[i], 1}, (*recorded)[is_wide(p)].next());
      continue;
    }
    const std::int64_t count = (*counts_)[i] + 1;
    if (counted != count) own = own_numbers(*options_.shared(), counted = count);
    PoolVector<Argument> numbers;
    numbers.reserve(shared.size() + own.size());
    for (const double n : shared) numbers.push_back(Argument(n));
    for (const double n : own) numbers.push_back(Argument(n));
    updates.add(graph, state, {&gradients[i], 1}, numbers);
    (*counts_)[i] = count;
  }
  updates.run();
}

/// Counts a step of these parameters and writes its numbers.
std::function<void(std::span<LiveSlot>)> AdamW::counting(const std::vector<std::size_t>& parameters) const {
  return [parameters, options = options_.shared(), counts = counts_](std::span<LiveSlot> to) {
    std::size_t at = 0;
    for (const double n : shared_numbers(*options)) to[at++].number = n;
    for (const std::size_t i : parameters)
      for (const double n : own_numbers(*options, ++(*counts)[i])) to[at++].number = n;
  };
}

}  // namespace optim
}  // namespace tern
