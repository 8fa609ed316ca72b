// What optimisers remember, as tensors by name, for files.
#include <string>
#include <utility>

#include "backend/recording/capture.hpp"
#include "backend/tensor_impl.hpp"
#include "tern/creation.hpp"
#include "tern/optim.hpp"

namespace tern::optim {

using namespace detail;

namespace {

using State = std::map<std::string, Tensor>;
template <class Options> using Members = std::vector<std::pair<const char*, double Options::*>>;

const Members<SGDOptions>& members_of(const SGDOptions&) {
  static const Members<SGDOptions>& all =
      *new Members<SGDOptions>{{"learning_rate", &SGDOptions::learning_rate},
                               {"momentum", &SGDOptions::momentum},
                               {"weight_decay", &SGDOptions::weight_decay}};
  return all;
}
const Members<AdamWOptions>& members_of(const AdamWOptions&) {
  static const Members<AdamWOptions>& all = *new Members<AdamWOptions>{{"learning_rate", &AdamWOptions::learning_rate},
                                                                       {"beta1", &AdamWOptions::beta1},
                                                                       {"beta2", &AdamWOptions::beta2},
                                                                       {"epsilon", &AdamWOptions::epsilon},
                                                                       {"weight_decay", &AdamWOptions::weight_decay}};
  return all;
}

template <class Options> void add_options(State& state, const Options& options) {
  for (const auto& [name, member] : members_of(options))
    state[name] = full({}, options.*member, {.dtype = DType::f64, .device = cpu()});
}
void add_tensors(State& state, const std::string& name, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) state[name + "." + std::to_string(i)] = tensors[i];
}

/// The tensor of a name. Throws where there is none, or one that is unlike the optimiser's own.
const Tensor& entry(const char* op, const State& state, const std::string& name, const Tensor& own) {
  const auto found = state.find(name);
  if (found == state.end() || !found->second.defined())
    throw Error(ErrorKind::value, std::string(op) + ": expected a tensor named " + name + " (" + describe(own) +
                                      "), the state has none");
  const Tensor& got = found->second;
  if (got.shape() != own.shape() || got.dtype() != own.dtype())
    throw Error(got.shape() != own.shape() ? ErrorKind::shape : ErrorKind::dtype,
                std::string(op) + ": " + name + " must be " + describe(own) + ", got " + describe(got));
  return got;
}
void check_state(const char* op, const State& state, const State& own) {
  for (const auto& [name, tensor] : own) entry(op, state, name, tensor);
}
void copy_tensors(const State& state, const std::string& name, std::vector<Tensor>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Tensor& from = state.at(name + "." + std::to_string(i));
    if (from.impl() != to[i].impl()) to[i].copy_from(from.to(to[i].device()));
  }
}
template <class Options> Options options_in(const State& state, Options options) {
  for (const auto& [name, member] : members_of(options))
    options.*member = state.at(name).to(cpu()).template item<double>();
  return options;
}

}  // namespace

State SGD::state() const {
  require_values("SGD: state");
  State state;
  add_options(state, options());
  add_tensors(state, "velocity", velocity_);
  return state;
}
void SGD::set_state(const State& state) {
  check_state("SGD", state, this->state());
  const SGDOptions next = options_in(state, options());
  copy_tensors(state, "velocity", velocity_);
  *options_.shared() = next;
}

State AdamW::state() const {
  require_values("AdamW: state");
  State state;
  add_options(state, options());
  add_tensors(state, "first", first_), add_tensors(state, "second", second_);
  state["counts"] = tensor(*counts_, DType::i64, cpu());
  return state;
}
void AdamW::set_state(const State& state) {
  check_state("AdamW", state, this->state());
  const AdamWOptions next = options_in(state, options());
  const std::vector<std::int64_t> counts = state.at("counts").to(cpu()).to_vector<std::int64_t>();
  copy_tensors(state, "first", first_), copy_tensors(state, "second", second_);
  *options_.shared() = next;
  *counts_ = counts;
}

}  // namespace tern::optim
