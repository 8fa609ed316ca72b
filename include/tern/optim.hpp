// Optimisers. They hold Vars (the parameters) and update their tensors in place (on CUDA up to 16 a launch). Inside
// capture() a step reads what belongs to the program (rates, decay, the count of steps) anew at each replay.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tern/transforms.hpp"

namespace tern::detail {

/// A value that recordings refer to: it stays in its place when its owner moves, and a copy of the owner has its own.
template <class T> class Kept {
 public:
  explicit Kept(T value) : at_(std::make_shared<T>(std::move(value))) {}
  Kept(const Kept& other) : at_(std::make_shared<T>(*other.at_)) {}
  Kept(Kept&& other) noexcept : at_(other.at_) {}
  Kept& operator=(const Kept& other) {
    *at_ = *other.at_;
    return *this;
  }
  const std::shared_ptr<T>& shared() const { return at_; }
  T* operator->() const { return at_.get(); }

 private:
  std::shared_ptr<T> at_;
};

/// A gradient for each parameter; null: none.
using GradientList = PoolVector<const Tensor*>;

/// The parameters of an optimiser. Throws `autograd` where one is no leaf that requires a gradient, or is given twice.
class Parameters {
 public:
  Parameters(const char* optimiser, std::vector<Var> list);
  std::size_t size() const { return list_.size(); }
  const Tensor& operator[](std::size_t i) const { return list_[i].value(); }
  GradientList gradients(const Gradients& gradients) const;
  /// In order; undefined: none. Throws `shape` or `dtype` where they are not as many, or one is not like its parameter.
  GradientList gradients(const std::vector<Tensor>& gradients) const;

 private:
  const char* optimiser_;
  std::vector<Var> list_;
};

}  // namespace tern::detail

namespace tern::optim {

struct SGDOptions {
  double learning_rate = 1e-2;
  double momentum = 0;
  double weight_decay = 0;  // added to the gradient
};
/// Stochastic gradient descent.
class SGD {
 public:
  /// A step: v = momentum·v + g + weight_decay·p; p -= learning_rate·v. Throws `autograd` where a parameter is no leaf
  /// that requires a gradient, or is given twice.
  explicit SGD(std::vector<Var> parameters, SGDOptions options = {});
  /// The parameters of a container (tern/tree.hpp), in order.
  template <detail::TreeOfSeveral T>
  explicit SGD(const T& parameters, SGDOptions options = {}) : SGD(leaves_of(parameters), options) {}
  /// Parameters without a gradient are left alone; those before one whose gradient is refused are updated.
  void step(const Gradients& gradients) { update(parameters_.gradients(gradients)); }
  /// The gradients in a container like that of the parameters, as grad and value_and_grad give them. Throws `shape` or
  /// `dtype` where they are not as many, or one is not like its parameter; nothing is updated then.
  template <detail::Tree T> void step(const T& gradients) {
    const std::vector<Tensor> list = detail::tensors_of(gradients);
    update(parameters_.gradients(list));
  }
  /// The gradients of `value_and_grad(f)(parameters)`.
  template <class V, class G> void step(const ValueAndGradients<V, G>& result) { step(result.gradients); }
  void set_learning_rate(double rate);
  double learning_rate() const { return options_->learning_rate; }
  /// All options anew, from the next step on; also of a recorded step, at its next replay.
  void set_options(const SGDOptions& options);
  const SGDOptions& options() const { return *options_.shared(); }
  /// What it remembers, by name: the velocities themselves, no copies ("velocity.0"), and the options, f64 on the CPU.
  /// tern::io::save and load keep it. Inside a capture it throws `unsupported`.
  std::map<std::string, Tensor> state() const;
  /// Goes on from such a state, whose velocities are copied unless they are its own. Throws `value` for a name that is
  /// missing, `shape` and `dtype` for a tensor that is unlike its own; nothing is changed then.
  void set_state(const std::map<std::string, Tensor>& state);

 private:
  void update(const detail::GradientList& gradients);

  detail::Parameters parameters_;
  std::vector<Tensor> velocity_;
  detail::Kept<SGDOptions> options_;
};

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 1e-2;  // decoupled (Loshchilov and Hutter, 2019)
};
/// Steps are counted for each parameter: the first gradient that one gets is corrected as a first one is.
class AdamW {
 public:
  /// A step: m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= learning_rate·(m' / (√v' + epsilon) +
  /// weight_decay·p), where m' and v' are m / (1 - beta1ⁿ) and v / (1 - beta2ⁿ) at the n-th step. Throws as SGD's.
  explicit AdamW(std::vector<Var> parameters, AdamWOptions options = {});
  template <detail::TreeOfSeveral T>
  explicit AdamW(const T& parameters, AdamWOptions options = {}) : AdamW(leaves_of(parameters), options) {}
  /// As SGD::step.
  void step(const Gradients& gradients) { update(parameters_.gradients(gradients)); }
  template <detail::Tree T> void step(const T& gradients) {
    const std::vector<Tensor> list = detail::tensors_of(gradients);
    update(parameters_.gradients(list));
  }
  template <class V, class G> void step(const ValueAndGradients<V, G>& result) { step(result.gradients); }
  void set_learning_rate(double rate);
  double learning_rate() const { return options_->learning_rate; }
  /// All options anew, from the next step on; also of a recorded step, at its next replay.
  void set_options(const AdamWOptions& options);
  const AdamWOptions& options() const { return *options_.shared(); }
  /// What it remembers, by name: the moments themselves, no copies ("first.0", "second.0"), how many gradients each
  /// parameter had ("counts", i64), and the options, f64; both on the CPU. tern::io::save and load keep it. Inside a
  /// capture it throws `unsupported`.
  std::map<std::string, Tensor> state() const;
  /// As SGD::set_state.
  void set_state(const std::map<std::string, Tensor>& state);

 private:
  void update(const detail::GradientList& gradients);
  std::function<void(std::span<detail::LiveSlot>)> counting(const std::vector<std::size_t>& parameters) const;

  detail::Parameters parameters_;
  std::vector<Tensor> first_, second_;  // moments; f32 for 16-bit parameters
  std::shared_ptr<std::vector<std::int64_t>> counts_;  // how many gradients each parameter had; shared as moments are
  detail::Kept<AdamWOptions> options_;
};

/// Scales the gradients of these parameters in place so that their norm, the square root of the sum of all squares, is
/// at most `limit`: by limit / (norm + 1e-6) where that is below 1. Gives the norm before (0-d, f32 or f64), which is
/// not read on the host. Parameters without a gradient count nothing. A norm that is not finite makes gradients zero or
/// NaN, as in PyTorch. Throws `shape` for a limit that is negative or NaN, `device` where gradients are on several
/// devices.
Tensor clip_grad_norm(Gradients& gradients, const std::vector<Var>& parameters, double limit);
template <detail::Tree T> Tensor clip_grad_norm(Gradients& gradients, const T& parameters, double limit) {
  return clip_grad_norm(gradients, leaves_of(parameters), limit);
}
/// The same of all gradients in a container, as grad and value_and_grad give them: `auto [loss, gradients] =
/// value_and_grad(f)(model); clip_grad_norm(gradients, 1.0); sgd.step(gradients);`. Throws `autograd` where one is
/// differentiable, `value` where two share their memory, `dtype` where one is of integers.
Tensor clip_grad_norm(const std::vector<Var>& gradients, double limit);
template <detail::Tree T> Tensor clip_grad_norm(const T& gradients, double limit) {
  return clip_grad_norm(leaves_of(gradients), limit);
}
/// Limits every element of these gradients to [-limit, limit], in place. Throws `shape` for a limit that is negative or
/// NaN.
void clip_grad_value(Gradients& gradients, const std::vector<Var>& parameters, double limit);
template <detail::Tree T> void clip_grad_value(Gradients& gradients, const T& parameters, double limit) {
  clip_grad_value(gradients, leaves_of(parameters), limit);
}
/// The same of all gradients in a container; throws as clip_grad_norm of one.
void clip_grad_value(const std::vector<Var>& gradients, double limit);
template <detail::Tree T> void clip_grad_value(const T& gradients, double limit) {
  clip_grad_value(leaves_of(gradients), limit);
}

}  // namespace tern::optim
