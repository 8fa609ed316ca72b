// Optimisers. They hold Vars (the parameters) and update their tensors in place (on CUDA up to 16 a launch).
#pragma once
#include <vector>

#include "tern/autodiff.hpp"

namespace tern::optim {

struct SGDOptions {
  double learning_rate = 1e-2;
  double momentum = 0;
  double weight_decay = 0;  // added to the gradient
};
/// v = momentum·v + g + weight_decay·p; p -= learning_rate·v
class SGD {
 public:
  explicit SGD(std::vector<Var> parameters, SGDOptions options = {});
  /// Parameters without a gradient are left alone; those before one whose gradient is refused are updated.
  void step(const Gradients& gradients);
  void set_learning_rate(double rate) { options_.learning_rate = rate; }
  double learning_rate() const { return options_.learning_rate; }

 private:
  std::vector<Var> parameters_;
  std::vector<Tensor> velocity_;
  SGDOptions options_;
};

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 1e-2;  // decoupled (Loshchilov and Hutter, 2019)
};
class AdamW {
 public:
  explicit AdamW(std::vector<Var> parameters, AdamWOptions options = {});
  void step(const Gradients& gradients);
  void set_learning_rate(double rate) { options_.learning_rate = rate; }
  double learning_rate() const { return options_.learning_rate; }

 private:
  std::vector<Var> parameters_;
  std::vector<Tensor> first_, second_;  // moments; f32 for 16-bit parameters
  std::vector<Tensor> steps_;           // how many there were: one 0-d tensor for each device and dtype of moments
  std::vector<std::size_t> step_of_;    // which of them counts for a parameter
  AdamWOptions options_;
};

}  // namespace tern::optim
