#include "autodiff/record.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <ostream>

#include "backend/tensor_impl.hpp"

namespace tern {

std::uint64_t detail::next_number(std::uint64_t count) {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(count, std::memory_order_relaxed) + 1;
}

namespace {

// Of a thread, not arguments: between NoGrad, or a transform, and an operation stands the program's own code.
thread_local bool recording_enabled = true;
thread_local int computations = 0;  // transforms, and traversals that are recorded, running now
std::atomic<bool> leaf_hooks{false};

using detail::next_number;

/// Operations and hooks waiting for destruction on this thread: a chain of 100,000 must not recurse. (Of a thread, as
/// destructors take no argument.)
thread_local detail::PoolVector<std::shared_ptr<void>>* graveyard = nullptr;

void bury(std::shared_ptr<void>&& what) {
  if (!what || what.use_count() > 1) return what.reset();
  if (graveyard) {
    graveyard->push_back(std::move(what));
    return;
  }
  detail::PoolVector<std::shared_ptr<void>> dead;
  graveyard = &dead;
  what.reset();
  while (!dead.empty()) {
    const std::shared_ptr<void> last = std::move(dead.back());
    dead.pop_back();
  }
  graveyard = nullptr;
}

}  // namespace

Var::Var(Tensor value, bool requires_grad) : value_(std::move(value)), meta_(detail::make_pooled<detail::VarMeta>()) {
  detail::require_defined("Var", "value", value_);
  if (requires_grad && !is_differentiable(value_.dtype()))
    throw Error(ErrorKind::dtype, "Var: only floating-point tensors can require a gradient, got " +
                                      detail::describe(value_) + "; pass requires_grad = false");
  meta_->id = next_number(), meta_->requires_grad = requires_grad;
}

void Var::retain_grad() const {
  if (!requires_grad()) throw Error(ErrorKind::autograd, "retain_grad: the variable does not require a gradient");
  meta_->retain_grad = true;
}

HookHandle Var::add_hook(std::function<Var(const Var&)> hook) const {
  if (!requires_grad()) throw Error(ErrorKind::autograd, "register_hook: the variable does not require a gradient");
  if (!meta_->grad_fn) leaf_hooks.store(true, std::memory_order_relaxed);
  return detail::Hooks<Var(const Var&)>::add(meta_->hooks, std::move(hook));
}
void GradFn::call_hooks(std::span<const Var> output_gradients, std::span<const Var> input_gradients) const {
  if (!hooks_) return;
  const auto hooks = hooks_->list;  // a copy: a hook may remove itself
  for (const auto& [number, hook] : hooks) hook(output_gradients, input_gradients);
}

std::ostream& operator<<(std::ostream& stream, const Var& var) { return stream << var.value(); }

NoGrad::NoGrad() : before_(recording_enabled) { recording_enabled = false; }
NoGrad::~NoGrad() { recording_enabled = before_; }
detail::RecordingScope::RecordingScope() : before_(recording_enabled) { recording_enabled = true, ++computations; }
detail::RecordingScope::~RecordingScope() { recording_enabled = before_, --computations; }
detail::Computation::Computation(bool differentiated) : before_(computations) { computations = differentiated ? 1 : 0; }
detail::Computation::~Computation() { computations = before_; }
bool detail::in_computation(std::span<const Var> variables) {
  return computations > 0 || std::ranges::any_of(variables, [](const Var& v) { return v.grad_fn() != nullptr; });
}
bool grad_enabled() { return recording_enabled; }

GradFn::GradFn(std::span<const Var* const> inputs, std::uint64_t sequence) : sequence_(sequence) {
  for (const Var* input : inputs) edges_.push_back(input ? input->meta() : nullptr);
}
// Whatever keeps an operation alive but its users does so through a variable, its edges do, or through a hook's
// function.
GradFn::~GradFn() { bury(std::move(hooks_)); }
void detail::VarMeta::bury() noexcept {
  tern::bury(std::move(grad_fn));
  tern::bury(std::move(hooks));
}
std::vector<std::uint64_t> GradFn::inputs() const {
  std::vector<std::uint64_t> ids;
  for (const auto& edge : edges()) ids.push_back(edge ? edge->id : 0);
  return ids;
}
std::vector<std::shared_ptr<GradFn>> GradFn::input_grad_fns() const {
  std::vector<std::shared_ptr<GradFn>> fns;
  for (const auto& edge : edges()) fns.push_back(edge ? edge->grad_fn : nullptr);
  return fns;
}

namespace detail {

bool leaf_hooks_used() { return leaf_hooks.load(std::memory_order_relaxed); }

namespace {

std::string camel_case(std::string_view op) {
  std::string name;
  bool upper = true;
  for (const char c : op) {
    if (c == '_') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return name + "Backward";
}

}  // namespace

RecordedFn::RecordedFn(std::string_view op, std::span<const Var* const> inputs, const IndexSet& wanted,
                       std::uint64_t sequence)
    : GradFn(inputs, sequence), op_(op), wanted_(wanted) {}

std::string RecordedFn::name() const { return camel_case(op_); }
std::vector<Tensor> RecordedFn::saved_tensors() const {
  std::vector<Tensor> tensors;
  for (const Save& s : saved_) tensors.push_back(s.input.value());
  return tensors;
}
PoolVector<Var> RecordedFn::apply_needed(std::span<const Var> grads, const IndexSet& needed) {
  if (released_)
    throw Error(ErrorKind::autograd,
                name() + ": what it saved was freed by an earlier backward; pass keep_graph = true to that one");
  PoolVector<Var> saved;
  saved.reserve(saved_.size());
  for (const Save& s : saved_) {
    if (s.input.value().impl()->storage->version() != s.version)
      throw Error(ErrorKind::autograd, name() + ": a tensor saved for backward, " + describe(s.input.value()) +
                                           ", was changed in place since");
    saved.push_back(saved_var(s));
  }
  const std::size_t outputs = 1 + more_outputs_.size();
  if (grads.size() == outputs) return run_rule({grads, saved, wanted_, needed});
  PoolVector<Var> all(grads.begin(), grads.end());
  all.resize(outputs);  // undefined where no gradient arrived
  return run_rule({all, saved, wanted_, needed});
}
void RecordedFn::release() {
  saved_.clear();
  drop_rule();
  released_ = true;
}
void RecordedFn::keep(PoolVector<Save> saved, std::span<const Tensor> outputs) {
  saved_ = std::move(saved);
  for (Save& s : saved_) {
    if (s.output >= 0) s.input = as_var(outputs[static_cast<std::size_t>(s.output)]);
    s.version = s.input.value().impl()->storage->version();
  }
}
void RecordedFn::set_outputs(std::span<const Var> results, std::size_t outputs) {
  if (outputs == 0) return;
  more_outputs_.resize(outputs - 1);
  for (std::size_t k = 0; k < outputs; ++k) {
    Output& output = k == 0 ? first_output_ : more_outputs_[k - 1];
    output.id = sequence() + 1 + k;
    if (k < results.size()) output.meta = results[k].meta();
  }
}
/// What was saved as the variable it was; an output as itself where it still lives, else as one with its identity.
Var RecordedFn::saved_var(const Save& s) {
  if (s.edge >= 0) return Var(s.input.value(), edges()[static_cast<std::size_t>(s.edge)]);
  if (s.output < 0) return s.input;
  const Output& from = output(static_cast<std::size_t>(s.output));
  if (auto alive = from.meta.lock()) return Var(s.input.value(), std::move(alive));
  auto meta = make_pooled<VarMeta>();
  meta->id = from.id, meta->requires_grad = true;
  meta->grad_fn = shared_from_this(), meta->output = s.output;
  return Var(s.input.value(), std::move(meta));
}

IndexSet wanted_mask(std::span<const Var> inputs) {
  IndexSet mask;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad()) mask.set(std::min(i, kMostInputs - 1));
  return mask;
}
IndexSet wanted_mask(std::span<const Var* const> inputs) {
  IndexSet mask;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] && inputs[i]->requires_grad()) mask.set(std::min(i, kMostInputs - 1));
  return mask;
}
bool tracked(std::span<const Var> inputs) { return recording_enabled && wanted_mask(inputs).any(); }

PoolVector<const Var*> pointers(std::span<const Var> inputs) {
  PoolVector<const Var*> list;
  list.reserve(inputs.size());
  for (const Var& input : inputs) list.push_back(&input);
  return list;
}

void finish_recording(const std::shared_ptr<RecordedFn>& fn, std::span<const Tensor> outputs, PoolVector<Save> saved,
                      std::span<Var> results) {
  fn->keep(std::move(saved), outputs);
  for (std::size_t k = 0; k < results.size(); ++k) {
    auto meta = make_pooled<VarMeta>();
    meta->id = fn->sequence() + 1 + k, meta->requires_grad = is_differentiable(outputs[k].dtype());
    meta->grad_fn = fn, meta->output = static_cast<int>(k);
    results[k] = Var(outputs[k], std::move(meta));
  }
  fn->set_outputs(results, outputs.size());
}

}  // namespace detail
}  // namespace tern
