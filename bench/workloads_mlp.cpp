// How fast is the smallest of training steps, where launching is everything: 64×784 -> gelu, 256 -> 10 logits, SGD?
#include <optional>

#include "training.hpp"

namespace bench {
namespace {

constexpr std::int64_t kBatch = 64, kPixels = 784, kHidden = 256, kClasses = 10;

Inputs inputs() {
  return {Buffer::pattern(tern::f32, kBatch * kPixels, 1, 0.5), Buffer::pattern(tern::f32, kPixels * kHidden, 2, 0.1),
          Buffer::pattern(tern::f32, kHidden, 3, 0.1),          Buffer::pattern(tern::f32, kHidden * kClasses, 4, 0.2),
          Buffer::pattern(tern::f32, kClasses, 5, 0.1),         cyclic_labels(kBatch, kClasses)};
}

/// The training in f64, written out by hand: the losses of the first steps.
Values expected_losses(const Inputs& in) {
  const Values x = values_of(in[0]);
  Values p[4], gradients[4], losses;
  for (std::size_t i = 0; i < 4; ++i) p[i] = values_of(in[i + 1]);
  const double rate = tern::optim::SGDOptions{}.learning_rate;
  for (int step = 0; step < kCheckedSteps; ++step) {
    const Values pre = linear(x, p[0], p[1], kBatch, kPixels, kHidden);
    Values hidden;
    for (const double value : pre) hidden.push_back(activate(Activation::gelu, value));
    Values d = linear(hidden, p[2], p[3], kBatch, kHidden, kClasses);
    losses.push_back(cross_entropy(d, in[5], kClasses));
    linear_gradients(hidden, d, kBatch, kHidden, kClasses, gradients[2], gradients[3]);
    Values d_pre = input_gradient(d, p[2], kBatch, kHidden, kClasses);
    for (std::size_t i = 0; i < d_pre.size(); ++i) d_pre[i] *= activate_derivative(Activation::gelu, pre[i]);
    linear_gradients(x, d_pre, kBatch, kPixels, kHidden, gradients[0], gradients[1]);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < p[i].size(); ++k) p[i][k] -= rate * gradients[i][k];
  }
  return losses;
}

class Steps {
 public:
  Steps(const Inputs& in, tern::Device device)
      : x_(in[0].tensor({kBatch, kPixels}, device)), labels_(in[5].tensor({kBatch}, device)) {
    const tern::Shape shapes[] = {{kPixels, kHidden}, {kHidden}, {kHidden, kClasses}, {kClasses}};
    for (std::size_t p = 0; p < 4; ++p) parameters_.emplace_back(in[p + 1].tensor(shapes[p], device).clone());
    optimizer_.emplace(parameters_);
  }
  tern::Tensor step() {
    const tern::Var hidden = matmul_bias_activation(x_, parameters_[0], parameters_[1], tern::op::gelu);
    const tern::Var loss = cross_entropy(matmul_bias(hidden, parameters_[2], parameters_[3]), labels_);
    optimizer_->step(backward(loss));
    return loss.value();
  }

 private:
  tern::Tensor x_, labels_;
  std::vector<tern::Var> parameters_;
  std::optional<tern::optim::SGD> optimizer_;
};

}  // namespace

void add_mlp(Workloads& workloads, const Target& target) {
  for (const bool replayed : {false, true})
    workloads.push_back({.name = replayed ? "step/mlp_replayed/f32" : "step/mlp/f32",
                         .unit = Unit::calls,
                         .roof = "",
                         .quick = target.gpu(),
                         .tolerance = 1e-4,
                         .prepare = [target, replayed] {
                           const Inputs in = inputs();
                           return Prepared{{training<Steps>(target, in, replayed)}, expected_losses(in)};
                         }});
}

}  // namespace bench
