// The reverse walk over recorded operations.
#include <optional>
#include <queue>
#include <unordered_map>

#include "autodiff/record.hpp"
#include "backend/tensor_impl.hpp"

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

namespace detail {
namespace {

/// Visits operations from the newest to the oldest: an operation's users are all newer than it, so its output gradients
/// are complete when it is reached. No recursion, n log n for n operations.
class Walk {
 public:
  Walk(std::span<const Var> targets, const BackwardOptions& options) : options_(options) {
    for (const Var& target : targets) targets_.insert_or_assign(target.id(), Var());
    stops_ = !targets.empty();
  }

  void start(const Var& output, const Var& seed) { deliver(output.meta(), seed); }

  void run() {
    std::optional<NoGrad> quiet;
    if (!options_.create_graph) quiet.emplace();
    while (!queue_.empty()) {
      const std::shared_ptr<GradFn> fn = queue_.top().second;
      queue_.pop();
      auto node = pending_.extract(fn.get());
      std::vector<Var> grads = fn->apply(node.mapped());
      for (std::size_t i = 0; i < grads.size() && i < fn->edges().size(); ++i)
        if (grads[i].defined()) deliver(fn->edges()[i], grads[i]);
      if (!options_.keep_graph && !options_.create_graph) fn->release();
    }
  }

  std::unordered_map<std::uint64_t, Var>& leaves() { return leaves_; }
  Var target(std::uint64_t id) const { return targets_.at(id); }

 private:
  static void accumulate(Var& sum, const Var& g) { sum = sum.defined() ? sum + g : g; }

  void deliver(const std::shared_ptr<VarMeta>& meta, const Var& g) {
    if (!meta || !meta->requires_grad) return;
    if (stops_) {
      const auto found = targets_.find(meta->id);
      if (found != targets_.end()) {
        accumulate(found->second, g);
        return;
      }
    } else if (!meta->grad_fn || meta->retain_grad) {
      accumulate(leaves_[meta->id], g);
    }
    if (!meta->grad_fn) return;
    std::vector<Var>& slots = pending_[meta->grad_fn.get()];
    if (slots.empty()) queue_.emplace(meta->grad_fn->sequence(), meta->grad_fn);
    if (slots.size() <= static_cast<std::size_t>(meta->output))
      slots.resize(static_cast<std::size_t>(meta->output) + 1);
    accumulate(slots[static_cast<std::size_t>(meta->output)], g);
  }

  BackwardOptions options_;
  bool stops_ = false;
  std::unordered_map<std::uint64_t, Var> targets_, leaves_;
  std::unordered_map<GradFn*, std::vector<Var>> pending_;
  std::priority_queue<std::pair<std::uint64_t, std::shared_ptr<GradFn>>> queue_;
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

}  // namespace

Gradients backward_from(const Var& y, const Var& seed, const BackwardOptions& options) {
  require_defined("backward", "the differentiated value", y.value());
  if (!y.requires_grad())
    throw Error(ErrorKind::autograd, "backward: the value does not depend on any variable that requires a gradient");
  check_seed(y, seed);
  Walk walk({}, options);
  walk.start(y, seed);
  walk.run();
  Gradients gradients;
  gradients.map() = std::move(walk.leaves());
  return gradients;
}

std::vector<Var> walk_to(std::span<const Var> outputs, std::span<const Var> seeds, std::span<const Var> targets,
                         const BackwardOptions& options) {
  Walk walk(targets, options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    check_seed(outputs[i], seeds[i]);
    walk.start(outputs[i], seeds[i]);
  }
  walk.run();
  std::vector<Var> results;
  for (const Var& target : targets) results.push_back(walk.target(target.id()));
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
  return detail::backward_from(y, detail::ones_like(y), options);
}

}  // namespace tern
