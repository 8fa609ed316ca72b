// The reverse traversal over recorded operations.
#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_set>

#include "autodiff/record.hpp"
#include "backend/recording/capture.hpp"
#include "backend/instruments/reads.hpp"
#include "backend/tensor_impl.hpp"
#include "process/of_thread.hpp"

namespace tern {

const Tensor* Gradients::get(std::uint64_t id) const {
  const auto found = gradients_.find(id);
  return found == gradients_.end() ? nullptr : &found->second.value();
}
const Var& Gradients::var(const Var& x) const {
  const auto found = gradients_.find(x.id());
  if (x.id() == 0 || found == gradients_.end())
    throw Error(ErrorKind::autograd, std::string("gradients: this variable got no gradient: ") +
                                         (!x.requires_grad() ? "it does not require one"
                                          : x.grad_fn() ? "it is not a leaf; call retain_grad() on it before backward"
                                                        : "the differentiated value does not depend on it"));
  return found->second;
}

void Gradients::set(const Var& x, const Tensor& gradient) {
  using detail::describe;
  detail::require_defined("Gradients::set", "the gradient", gradient);
  if (!x.requires_grad())
    throw Error(ErrorKind::autograd, "Gradients::set: the variable does not require a gradient");
  const auto require = [&](bool holds, ErrorKind kind, const char* what) {
    if (!holds)
      throw Error(kind, std::string("Gradients::set: the gradient must have the ") + what +
                            " of its variable: expected " + describe(x.value()) + ", got " + describe(gradient));
  };
  require(gradient.shape() == x.shape(), ErrorKind::shape, "shape");
  require(gradient.dtype() == x.dtype(), ErrorKind::dtype, "dtype");
  detail::require_same_device("Gradients::set", x.value(), gradient);
  gradients_[x.id()] = detail::as_var(gradient.clone());  // the caller's goes on to be the caller's alone
}

namespace detail {
namespace {

/// Whether anybody else holds the gradient's tensor or its storage: a share of the storage is a share of the memory,
/// and who holds one may read it, or write to it, later.
bool shares_memory(const Var& gradient) {
  const std::shared_ptr<TensorImpl>& impl = gradient.value().impl();
  return impl.use_count() > 1 || impl->storage.use_count() > 1;
}
Var copied(const Var& gradient, bool recorded) {
  return recorded ? gradient.clone() : Var(gradient.value().clone(), gradient.meta());
}

/// Visits operations from the newest to the oldest: an operation's users are all newer than it, so its output gradients
/// are complete when it is reached. No recursion, n log n for n operations.
class Traversal {
 public:
  Traversal(std::span<const Var> targets, const BackwardOptions& options) : options_(options) {
    for (const Var& target : targets) targets_.insert_or_assign(target.id(), Var());
    stops_ = !targets.empty();
  }

  /// With targets: finds the operations that a traversal from these outputs must visit. Those that lead to no target
  /// belong to whoever made them: they are neither run nor hooked nor freed.
  void look_for_targets(std::span<const Var> outputs) {
    std::uint64_t oldest = UINT64_MAX;  // an operation that reads a target is newer than it
    for (const auto& [id, sum] : targets_)
      if (id != 0) oldest = std::min(oldest, id);
    PoolVector<GradFn*> found;
    const auto visit = [&](const std::shared_ptr<VarMeta>& meta) {
      if (!meta || !meta->grad_fn || !meta->requires_grad || targets_.contains(meta->id)) return;
      if (GradFn* fn = meta->grad_fn.get(); fn->sequence() > oldest && leads_.emplace(fn, IndexSet()).second)
        found.push_back(fn);
    };
    for (const Var& output : outputs) visit(output.meta());
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const std::shared_ptr<VarMeta>& edge : found[i]->edges()) visit(edge);
    // Oldest first: what an operation reads is settled before it.
    std::ranges::sort(found, {}, [](const GradFn* fn) { return fn->sequence(); });
    for (GradFn* fn : found) {
      IndexSet& leads = leads_[fn];
      const auto edges = fn->edges();
      for (std::size_t i = 0; i < edges.size(); ++i)
        if (edges[i] && edges[i]->requires_grad &&
            (targets_.contains(edges[i]->id) || inputs_that_lead(edges[i]->grad_fn.get()).any()))
          leads.set(std::min(i, kMostInputs - 1));
    }
  }

  void start(const Var& output, const Var& seed) {
    if (!stops_ && !output.grad_fn() && output.meta()->hooks) uses_[output.meta()];  // a leaf itself
    deliver(output.meta(), seed);
  }

  void run() {
    std::optional<NoGrad> quiet;
    std::optional<Computation> recorded;
    if (options_.create_graph) recorded.emplace(true);
    else quiet.emplace();
    if (!stops_ && leaf_hooks_used()) count_uses_of_hooked_leaves();
    while (!queue_.empty()) {
      const std::shared_ptr<GradFn> fn = queue_.top().second;
      queue_.pop();
      auto node = pending_.extract(fn.get());
      Pending& arrived = node.mapped();
      for (const std::shared_ptr<VarMeta>& meta : arrived.watched)
        finish(*meta, arrived.grads[static_cast<std::size_t>(meta->output)]);
      const PoolVector<Var> grads = apply(*fn, arrived.grads);
      fn->call_hooks(arrived.grads, grads);
      for (std::size_t i = 0; i < grads.size() && i < fn->edges().size(); ++i)
        if (grads[i].defined()) deliver(fn->edges()[i], grads[i]);
      if (!uses_.empty())
        for (const std::shared_ptr<VarMeta>& edge : fn->edges()) used(edge);
      if (!options_.keep_graph && !options_.create_graph) fn->release();
    }
    while (!uses_.empty()) finish_leaf(uses_.begin()->first);  // those some operation gave no gradient
  }

  PoolMap<std::uint64_t, Var>& leaves() { return leaves_; }
  Var target(std::uint64_t id) const { return targets_.at(id); }

 private:
  /// Gradients of an operation's outputs so far, and those outputs that want to know their own.
  struct Pending {
    PoolVector<Var> grads;
    PoolVector<std::shared_ptr<VarMeta>> watched;
  };

  IndexSet inputs_that_lead(GradFn* fn) const {
    const auto found = leads_.find(fn);
    return found == leads_.end() ? IndexSet() : found->second;
  }
  PoolVector<Var> apply(GradFn& fn, std::span<const Var> grads) const {
    auto* recorded = stops_ ? dynamic_cast<RecordedFn*>(&fn) : nullptr;
    return recorded ? recorded->apply_needed(grads, inputs_that_lead(&fn)) : fn.apply_pooled(grads);
  }

  static void accumulate(Var& sum, const Var& g) { sum = sum.defined() ? sum + g : g; }

  /// A hook may write to what it gets: that is nobody else's.
  void call_hooks(const VarMeta& meta, Var& gradient) const {
    if (!meta.hooks || meta.hooks->list.empty()) return;
    if (shares_memory(gradient) || is_broadcast_view(gradient.value()))
      gradient = copied(gradient, options_.create_graph);
    const auto hooks = meta.hooks->list;  // a copy: a hook may remove itself
    for (const auto& [number, hook] : hooks) {
      const Var replaced = hook(gradient);
      if (!replaced.defined()) continue;
      if (replaced.shape() != gradient.shape() || replaced.dtype() != gradient.dtype())
        throw Error(ErrorKind::shape, "register_hook: a hook must give a gradient like the one it got: expected " +
                                          describe(gradient.value()) + ", got " + describe(replaced.value()));
      gradient = replaced;
    }
  }
  /// The gradient of an intermediate variable is final.
  void finish(const VarMeta& meta, Var& gradient) {
    call_hooks(meta, gradient);
    if (meta.retain_grad && !stops_) leaves_[meta.id] = gradient;
  }

  /// A leaf's gradient is final when every operation that reads it has been visited: they are counted beforehand, where
  /// somebody wants to know.
  void count_uses_of_hooked_leaves() {
    std::vector<GradFn*> stack;
    std::unordered_set<GradFn*> seen;
    for (const auto& [fn, pending] : pending_) seen.insert(fn), stack.push_back(fn);
    while (!stack.empty()) {
      const GradFn* fn = stack.back();
      stack.pop_back();
      for (const std::shared_ptr<VarMeta>& edge : fn->edges()) {
        if (!edge || !edge->requires_grad) continue;
        if (edge->grad_fn && seen.insert(edge->grad_fn.get()).second) stack.push_back(edge->grad_fn.get());
        if (!edge->grad_fn && edge->hooks) ++uses_[edge];
      }
    }
  }
  void used(const std::shared_ptr<VarMeta>& leaf) {
    const auto found = uses_.find(leaf);
    if (found != uses_.end() && --found->second == 0) finish_leaf(leaf);
  }
  void finish_leaf(const std::shared_ptr<VarMeta> leaf) {
    uses_.erase(leaf);
    const auto found = leaves_.find(leaf->id);
    if (found != leaves_.end()) call_hooks(*leaf, found->second);
  }

  void deliver(const std::shared_ptr<VarMeta>& meta, const Var& g) {
    if (!meta || !meta->requires_grad) return;
    if (stops_) {
      const auto found = targets_.find(meta->id);
      if (found != targets_.end()) {
        accumulate(found->second, g);
        return;
      }
    } else if (!meta->grad_fn) {
      accumulate(leaves_[meta->id], g);
    }
    if (!meta->grad_fn || (stops_ && inputs_that_lead(meta->grad_fn.get()).none())) return;
    Pending& pending = pending_[meta->grad_fn.get()];
    if (pending.grads.empty()) queue_.emplace(meta->grad_fn->sequence(), meta->grad_fn);
    const auto output = static_cast<std::size_t>(meta->output);
    if (pending.grads.size() <= output) pending.grads.resize(output + 1);
    if ((meta->hooks || meta->retain_grad) &&
        std::find(pending.watched.begin(), pending.watched.end(), meta) == pending.watched.end())
      pending.watched.push_back(meta);
    accumulate(pending.grads[output], g);
  }

  BackwardOptions options_;
  bool stops_ = false;
  PoolMap<std::uint64_t, Var> targets_, leaves_;
  PoolMap<GradFn*, IndexSet> leads_;  // with targets: the inputs through which one is reached
  PoolMap<GradFn*, Pending> pending_;
  PoolMap<std::shared_ptr<VarMeta>, int> uses_;  // of leaves with hooks: operations that read them, not visited yet
  using NumberedFn = std::pair<std::uint64_t, std::shared_ptr<GradFn>>;
  std::priority_queue<NumberedFn, PoolVector<NumberedFn>> queue_;
};

void check_seed(const Var& y, const Var& seed) {
  require_defined("backward", "seed", seed.value());
  if (seed.shape() != y.shape())
    throw Error(ErrorKind::shape, "backward: the seed must have the shape of the differentiated value: expected " +
                                      describe(y.value()) + ", got " + describe(seed.value()));
  if (seed.dtype() != y.dtype())
    throw Error(ErrorKind::dtype, "backward: the seed must have the dtype of the differentiated value: expected " +
                                      describe(y.value()) + ", got " + describe(seed.value()));
  require_same_device("backward", y.value(), seed.value());
}

/// 1 like a value of one element. Kept by the thread for its next call, which makes another where somebody holds the
/// last one still, or wrote to it: a launch less, of the 18 that the step of a small network took.
Var one_like(const Var& y) {
  struct KeptOne {
    const Backend* backend;
    Tensor one;
    std::uint32_t version;
  };
  struct KeptOnes : std::vector<KeptOne> {};
  KeptOnes& kept_ones = of_thread<KeptOnes>();
  if (current_capture() || ReadScope::active()) return ones_like(y);  // those list what is made meanwhile
  const Backend* const backend = &y.value().impl()->storage->backend();
  const auto kept = std::ranges::find_if(
      kept_ones, [&](const KeptOne& k) { return k.backend == backend && k.one.dtype() == y.dtype(); });
  if (kept != kept_ones.end()) {
    const std::shared_ptr<Storage>& storage = kept->one.impl()->storage;
    if (storage.use_count() == 1 && storage->version() == kept->version) return as_var(kept->one.reshape(y.shape()));
    kept_ones.erase(kept);
  }
  const Tensor one = ones({}, {.dtype = y.dtype(), .device = y.device()});
  kept_ones.push_back({backend, one, one.impl()->storage->version()});
  return as_var(one.reshape(y.shape()));
}

}  // namespace

Gradients backward_from(const Var& y, const Var& seed, const BackwardOptions& options) {
  require_defined("backward", "the differentiated value", y.value());
  if (!y.requires_grad())
    throw Error(ErrorKind::autograd, "backward: the value does not depend on any variable that requires a gradient");
  check_seed(y, seed);
  Traversal traversal({}, options);
  traversal.start(y, seed);
  traversal.run();
  Gradients gradients;
  gradients.map() = std::move(traversal.leaves());
  PoolVector<Var*> all;
  all.reserve(gradients.size());
  for (auto& [id, gradient] : gradients.map()) all.push_back(&gradient);
  make_own(all, {&seed, 1}, options.create_graph);
  return gradients;
}

void make_own(std::span<Var* const> results, std::span<const Var> others, bool recorded) {
  PoolMap<const Storage*, bool> seen;
  if (recorded)
    for (const Var& other : others) seen[other.value().impl()->storage.get()] = true;
  for (Var* const result : results) {
    const bool shared = recorded ? seen.contains(result->value().impl()->storage.get()) : shares_memory(*result);
    if (shared || is_broadcast_view(result->value())) *result = copied(*result, recorded);
    if (recorded) seen[result->value().impl()->storage.get()] = true;
  }
}

std::vector<Var> backward_to(std::span<const Var> outputs, std::span<const Var> seeds, std::span<const Var> targets,
                         const BackwardOptions& options) {
  if (targets.empty()) return {};  // else a traversal to all leaves, which frees what it meets
  Traversal traversal(targets, options);
  traversal.look_for_targets(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    check_seed(outputs[i], seeds[i]);
    traversal.start(outputs[i], seeds[i]);
  }
  traversal.run();
  std::vector<Var> results;
  for (const Var& target : targets) results.push_back(traversal.target(target.id()));
  return results;
}

}  // namespace detail

Gradients backward(const Var& y, const BackwardOptions& options) {
  detail::require_defined("backward", "the differentiated value", y.value());
  if (y.numel() != 1)
    throw Error(
        ErrorKind::autograd,
        "backward: a value of shape " + to_string(y.shape()) +
            " needs a seed (the gradient of the loss with respect to it); only one-element values have 1 by default");
  if (is_complex(y.dtype()))
    throw Error(ErrorKind::autograd, "backward: a loss must be real, got " + detail::describe(y.value()) +
                                         "; take real(y) or abs(y), or pass a seed");
  return detail::backward_from(y, detail::one_like(y), options);
}

}  // namespace tern
