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

thread_local bool recording_enabled = true;
std::atomic<bool> leaf_hooks{false};

using detail::next_number;

/// Operations waiting for destruction on this thread: a chain of 100,000 must not recurse.
thread_local std::vector<std::shared_ptr<GradFn>>* graveyard = nullptr;

void bury(std::shared_ptr<GradFn>&& fn) {
  if (!fn || fn.use_count() > 1) return;
  if (graveyard) {
    graveyard->push_back(std::move(fn));
    return;
  }
  std::vector<std::shared_ptr<GradFn>> dead;
  graveyard = &dead;
  dead.push_back(std::move(fn));
  while (!dead.empty()) {
    const std::shared_ptr<GradFn> last = std::move(dead.back());
    dead.pop_back();
  }
  graveyard = nullptr;
}

}  // namespace

Var::Var(Tensor value, bool requires_grad) : value_(std::move(value)), meta_(detail::make_pooled<detail::VarMeta>()) {
  detail::require_defined("Var", "value", value_);
  if (requires_grad && !is_floating(value_.dtype()))
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
detail::RecordingScope::RecordingScope() : before_(recording_enabled) { recording_enabled = true; }
detail::RecordingScope::~RecordingScope() { recording_enabled = before_; }
bool grad_enabled() { return recording_enabled; }

GradFn::GradFn(std::span<const Var* const> inputs, std::uint64_t sequence) : sequence_(sequence) {
  for (const Var* input : inputs) edges_.push_back(input ? input->meta() : nullptr);
}
GradFn::~GradFn() {
  for (std::shared_ptr<detail::VarMeta>& edge : edges_.view()) {  // one by one: x * x holds one variable twice
    if (edge && edge.use_count() == 1) bury(std::move(edge->grad_fn));
    edge.reset();
  }
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

class RecordedFn final : public GradFn {
 public:
  RecordedFn(std::string_view op, std::span<const Var* const> inputs, BackwardRule rule, std::uint64_t sequence)
      : GradFn(inputs, sequence), op_(op), wanted_(wanted_mask(inputs)), rule_(std::move(rule)) {}

  std::string name() const override { return camel_case(op_); }
  std::vector<Tensor> saved_tensors() const override {
    std::vector<Tensor> tensors;
    for (const Save& s : saved_) tensors.push_back(s.input.value());
    return tensors;
  }
  std::vector<Var> apply(std::span<const Var> grads) override {
    if (released_)
      throw Error(ErrorKind::autograd,
                  name() + ": what it saved was freed by an earlier backward; pass keep_graph = true to that one");
    std::vector<Var> saved;
    for (const Save& s : saved_) {
      if (s.input.value().impl()->storage->version() != s.version)
        throw Error(ErrorKind::autograd, name() + ": a tensor saved for backward, " + describe(s.input.value()) +
                                             ", was changed in place since");
      saved.push_back(s.output < 0 ? s.input : output_var(s));
    }
    std::vector<Var> all(grads.begin(), grads.end());
    all.resize(outputs_.size());  // undefined where no gradient arrived
    return rule_(RuleContext{all, saved, wanted_});
  }
  void release() override {
    saved_.clear();
    rule_.reset();
    released_ = true;
  }
  void keep(PoolVector<Save> saved, std::span<const Tensor> outputs) {
    saved_ = std::move(saved);
    for (Save& s : saved_) {
      if (s.output >= 0) s.input = as_var(outputs[static_cast<std::size_t>(s.output)]);
      s.version = s.input.value().impl()->storage->version();
    }
  }
  void set_outputs(std::span<const Var> outputs) {
    outputs_.reserve(outputs.size());
    for (const Var& v : outputs) outputs_.push_back({v.id(), v.meta()});
  }

 private:
  /// The output as a variable: itself where it still lives, else one with its identity.
  Var output_var(const Save& s) {
    const Output& output = outputs_[static_cast<std::size_t>(s.output)];
    if (auto alive = output.meta.lock()) return Var(s.input.value(), std::move(alive));
    auto meta = make_pooled<VarMeta>();
    meta->id = output.id, meta->requires_grad = true;
    meta->grad_fn = shared_from_this(), meta->output = s.output;
    return Var(s.input.value(), std::move(meta));
  }

  struct Output {
    std::uint64_t id;
    std::weak_ptr<VarMeta> meta;  // strong, it would own this operation
  };

  std::basic_string<char, std::char_traits<char>, PoolAllocator<char>> op_;
  std::uint64_t wanted_;
  BackwardRule rule_;
  PoolVector<Save> saved_;
  PoolVector<Output> outputs_;
  bool released_ = false;
};

}  // namespace

std::uint64_t wanted_mask(std::span<const Var> inputs) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad()) mask |= std::uint64_t{1} << std::min<std::size_t>(i, 63);
  return mask;
}
std::uint64_t wanted_mask(std::span<const Var* const> inputs) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] && inputs[i]->requires_grad()) mask |= std::uint64_t{1} << std::min<std::size_t>(i, 63);
  return mask;
}
bool tracked(std::span<const Var> inputs) { return recording_enabled && wanted_mask(inputs) != 0; }

namespace {
PoolVector<const Var*> pointers(std::span<const Var> inputs) {
  PoolVector<const Var*> list;
  list.reserve(inputs.size());
  for (const Var& input : inputs) list.push_back(&input);
  return list;
}
}  // namespace

void record(std::string_view op, std::span<const Var* const> inputs, std::span<const Tensor> outputs, PoolVector<Save> saved,
            BackwardRule rule, std::span<Var> results) {
  const std::uint64_t number = next_number(1 + outputs.size());
  auto fn = make_pooled<RecordedFn>(op, inputs, std::move(rule), number);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    auto meta = make_pooled<VarMeta>();
    meta->id = number + 1 + k, meta->requires_grad = is_floating(outputs[k].dtype());
    meta->grad_fn = fn, meta->output = static_cast<int>(k);
    results[k] = Var(outputs[k], std::move(meta));
  }
  fn->set_outputs(results);
  fn->keep(std::move(saved), outputs);
}
std::vector<Var> record(std::string_view op, std::span<const Var> inputs, std::vector<Tensor> outputs,
                        std::vector<Save> saved, BackwardRule rule) {
  std::vector<Var> results(outputs.size());
  record(op, pointers(inputs), outputs, PoolVector<Save>(saved.begin(), saved.end()), std::move(rule),
         results);
  return results;
}

Var record_one(const char* op, std::span<const Var> inputs, Tensor output, std::vector<Save> saved, BackwardRule rule) {
  if (!tracked(inputs)) return as_var(output);
  Var result;
  record(op, pointers(inputs), {&output, 1}, PoolVector<Save>(saved.begin(), saved.end()), std::move(rule),
         {&result, 1});
  return result;
}

}  // namespace detail
}  // namespace tern
