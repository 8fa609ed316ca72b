// Recomputation in backward, and operations with a gradient of the user's.
#include "tern/checkpoint.hpp"

#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "autodiff/draws.hpp"
#include "autodiff/record.hpp"
#include "backend/instruments/reads.hpp"
#include "backend/tensor_impl.hpp"

namespace tern::detail {
namespace {

using Metas = std::vector<std::shared_ptr<VarMeta>>;

/// What a result was, without its values.
struct Like {
  Shape shape;
  Options options;
};
Like like(const Tensor& y) { return {y.shape(), {.dtype = y.dtype(), .device = y.device()}}; }

/// The variables from outside that operations made after number `first` read. What they saved is noted as read.
Metas outside_of(const std::vector<Var>& outputs, std::uint64_t first) {
  Metas outside;
  std::unordered_set<std::uint64_t> known;
  std::unordered_set<const GradFn*> seen;
  std::vector<std::shared_ptr<GradFn>> stack;
  const auto visit = [&](const std::shared_ptr<VarMeta>& meta) {
    if (!meta || !meta->requires_grad) return;
    if (!meta->grad_fn || meta->grad_fn->sequence() < first) {
      if (known.insert(meta->id).second) outside.push_back(meta);
    } else if (seen.insert(meta->grad_fn.get()).second) {
      stack.push_back(meta->grad_fn);
    }
  };
  for (const Var& y : outputs) visit(y.meta());
  while (!stack.empty()) {
    const std::shared_ptr<GradFn> fn = std::move(stack.back());
    stack.pop_back();
    for (const std::shared_ptr<VarMeta>& edge : fn->edges()) visit(edge);
    for (const Tensor& t : fn->saved_tensors())
      ReadScope::note(*t.impl()->storage, [&] { return fn->name() + " saved, " + describe(t); });
  }
  return outside;
}

/// Computes the function again, connected to what it read, and traverses it backwards.
struct CheckpointBackward {
  ListRule again;
  Draws draws;
  std::vector<Read> reads;  // of the first run, from outside: they must find the same again
  Metas captured;
  std::vector<Like> results;
  bool in_computation = false;  // what the first run was part of

  void check_again(const std::vector<Var>& outputs, std::size_t drawn) const {
    const auto differs = [](const std::string& what) {
      throw Error(ErrorKind::autograd,
                  "CheckpointBackward: the function gave something else when it was computed again: " + what);
    };
    if (outputs.size() != results.size())
      differs(std::to_string(outputs.size()) + " results, " + std::to_string(results.size()) + " before");
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Var& y = outputs[k];
      const std::string which = "result " + std::to_string(k + 1) + " is ";
      if (!y.defined()) differs(which + "undefined");
      const auto& [shape, options] = results[k];
      if (y.shape() != shape || y.dtype() != options.dtype)
        differs(which + describe(y.value()) + ", before " + describe(options.dtype, shape));
    }
    if (drawn != draws.size())
      differs(std::to_string(drawn) + " draws of random numbers, " + std::to_string(draws.size()) + " before");
  }

  std::vector<Var> operator()(const RuleContext& c) {
    for (const Read& read : reads) {
      const auto storage = read.storage.lock();
      if (storage && storage->version() != read.version)
        throw Error(ErrorKind::autograd, "CheckpointBackward: " + read.text + ", was changed in place since");
    }
    const bool nested = grad_enabled();
    const RecordingScope recording;
    const Computation as_before(in_computation);
    std::vector<Var> at, targets, seeds, from;
    for (const Var& x : c.saved) {
      at.push_back(!x.requires_grad() ? x : alias(nested ? x : Var(x.value())));  // an operation's, as in the first run
      if (x.requires_grad()) targets.push_back(at.back());
    }
    for (const auto& meta : captured) targets.push_back(Var(Tensor(), meta));
    std::vector<Var> outputs;
    {
      const DrawScope replay(draws, DrawScope::Role::replay);
      outputs = again(at);
      check_again(outputs, replay.repeated());
    }
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (c.grads[k].defined()) from.push_back(outputs[k]), seeds.push_back(c.grads[k]);
    const std::vector<Var> found = backward_to(from, seeds, targets, {.create_graph = nested, .keep_graph = nested});
    std::vector<Var> grads;
    std::size_t i = 0;
    for (const Var& x : c.saved) grads.push_back(x.requires_grad() ? found[i++] : Var());
    grads.insert(grads.end(), found.begin() + static_cast<std::ptrdiff_t>(i), found.end());
    return grads;
  }
};

}  // namespace

std::vector<Var> checkpointed(const ListRule& first, ListRule again, const std::vector<Var>& inputs) {
  check_arguments("checkpoint", inputs);
  if (!grad_enabled()) return first(inputs);
  std::vector<Var> at;
  for (const Var& x : inputs) at.push_back(x.requires_grad() ? alias(x) : x);
  const std::uint64_t begin = next_number();
  CheckpointBackward rule{std::move(again), {}, {}, {}, {}, in_computation({})};
  std::vector<Var> outputs;
  Metas outside;
  {
    const DrawScope record(rule.draws, DrawScope::Role::record);
    const ReadScope watch;
    outputs = first(at);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      require_defined("checkpoint", ("result " + std::to_string(k + 1)).c_str(), outputs[k].value());
    outside = outside_of(outputs, begin);
    rule.reads = watch.reads();
  }
  std::unordered_set<std::uint64_t> own;
  for (const Var& x : at) own.insert(x.id());
  std::vector<Var> edges(inputs);
  for (const auto& meta : outside)
    if (!own.contains(meta->id)) rule.captured.push_back(meta), edges.push_back(Var(Tensor(), meta));
  if (wanted_mask(edges).none()) return outputs;
  PoolVector<Save> saved;
  for (const Var& x : inputs) saved.push_back({x, -1});
  std::vector<Tensor> values;
  for (const Var& y : outputs) values.push_back(y.value()), rule.results.push_back(like(y.value()));
  std::vector<Var> recorded = record("checkpoint", edges, std::move(values), std::move(saved), std::move(rule));
  for (std::size_t k = 0; k < outputs.size(); ++k)  // what depends on no variable does not through this either
    if (!outputs[k].requires_grad()) recorded[k] = as_var(outputs[k].value());
  return recorded;
}

// ---- custom_gradient ----
namespace {

/// What gradients were computed from. They are linear in those that came in: one that does not lead back to them with
/// operations was computed from plain values.
class Origins {
 public:
  /// Those of the gradients that came in untracked become variables, to be recognised as well.
  explicit Origins(std::vector<Var>& arrived) : first_(next_number()) {
    for (Var& g : arrived) {
      const auto nothing = [](const RuleContext&) { return PoolVector<Var>(); };
      const bool tracked = g.requires_grad();
      if (!tracked) g = record("custom_gradient_source", {}, {g.value()}, {}, nothing)[0];
      arrived_.emplace(g.id(), tracked), keep_.push_back(g.meta());
    }
  }
  struct Found {
    bool of_gradient = false;  // a gradient that came in
    bool of_others = false;    // a variable there was before, such a gradient if it was tracked
  };
  Found of(const Var& x) const {
    Found found;
    std::vector<const VarMeta*> stack{x.meta().get()};
    std::unordered_set<const GradFn*> seen;
    while (!stack.empty()) {
      const VarMeta* meta = stack.back();
      stack.pop_back();
      if (!meta || !meta->requires_grad) continue;
      if (const auto g = arrived_.find(meta->id); g != arrived_.end()) {
        found.of_gradient = true, found.of_others |= g->second;
      } else if (meta->id < first_) {
        found.of_others = true;
      } else if (meta->grad_fn && seen.insert(meta->grad_fn.get()).second) {
        for (const auto& edge : meta->grad_fn->edges()) stack.push_back(edge.get());
      }
    }
    return found;
  }

 private:
  std::uint64_t first_;  // what was there before has a smaller number
  std::unordered_map<std::uint64_t, bool> arrived_;  // by variable: whether it was tracked
  Metas keep_;
};

struct CustomRule {
  CustomBackward backward;
  std::string name;
  std::size_t inputs;
  std::vector<Like> outputs;

  [[noreturn]] void fail(ErrorKind kind, const std::string& what) const {
    throw Error(kind, name + ": backward " + what);
  }

  std::vector<Var> operator()(const RuleContext& c) const {
    std::vector<Var> arrived;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      arrived.push_back(c.grads[k].defined() ? c.grads[k] : as_var(zeros(outputs[k].shape, outputs[k].options)));
    if (!grad_enabled()) return gradients(c, arrived);
    const Origins origins(arrived);
    std::vector<Var> found = gradients(c, arrived);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!c.saved[i].requires_grad()) continue;
      const auto [of_gradient, of_others] = origins.of(found[i]);
      if (!of_gradient) found[i] = underivable(c, found[i], i);
      else if (!of_others) found[i] = found[i].detach();
    }
    return found;
  }

  /// A gradient computed from plain values, connected to what it must depend on by an operation that cannot be
  /// differentiated: never a silent zero.
  Var underivable(const RuleContext& c, const Var& gradient, std::size_t i) const {
    std::vector<Var> from(c.grads.begin(), c.grads.end());
    from.insert(from.end(), c.saved.begin(), c.saved.begin() + static_cast<std::ptrdiff_t>(inputs));
    const std::string text = name + ": backward computed the gradient of argument " + std::to_string(i + 1) +
                             " from plain values, so that it has no derivative; compute it with operations on Vars";
    const auto refuse = [text](const RuleContext&) -> PoolVector<Var> { throw Error(ErrorKind::autograd, text); };
    return record(name, from, {gradient.value()}, {}, refuse)[0];
  }

  std::vector<Var> gradients(const RuleContext& c, const std::vector<Var>& arrived) const {
    const std::vector<Var> at(c.saved.begin(), c.saved.begin() + static_cast<std::ptrdiff_t>(inputs)),
        results(c.saved.begin() + static_cast<std::ptrdiff_t>(inputs), c.saved.end());
    std::vector<Var> found = backward.rule(arrived, results, at);
    if (found.size() != inputs)
      fail(ErrorKind::autograd, "must give a gradient for each of the " + std::to_string(inputs) +
                                    " arguments, it gave " + std::to_string(found.size()));
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!at[i].requires_grad()) continue;
      const std::string which = "the gradient of argument " + std::to_string(i + 1);
      if (!found[i].defined()) fail(ErrorKind::autograd, "gave no Var as " + which + ", which requires one");
      if (found[i].shape() != at[i].shape() || found[i].dtype() != at[i].dtype())
        fail(found[i].shape() != at[i].shape() ? ErrorKind::shape : ErrorKind::dtype,
             "gave " + describe(found[i].value()) + " as " + which + ", which is " + describe(at[i].value()));
    }
    return found;
  }
};

}  // namespace

void check_arguments(const std::string& name, const std::vector<Var>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    require_defined(name.c_str(), ("argument " + std::to_string(i + 1)).c_str(), inputs[i].value());
}
std::vector<Var> custom(const std::string& name, const std::vector<Var>& inputs, std::vector<Tensor> outputs,
                        CustomBackward backward) {
  PoolVector<Save> saved;
  for (const Var& x : inputs) saved.push_back({x, -1});
  CustomRule rule{std::move(backward), name, inputs.size(), {}};
  std::vector<Var> constants;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Tensor& y = require_defined(name.c_str(), "an output", outputs[k]);
    rule.outputs.push_back(like(y));
    if (rule.backward.reads_outputs) saved.push_back({Var(), static_cast<int>(k)});
    constants.push_back(as_var(y));
  }
  if (!tracked(inputs)) return constants;
  return record(name, inputs, std::move(outputs), std::move(saved), std::move(rule));
}

}  // namespace tern::detail
