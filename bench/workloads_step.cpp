// How fast is a whole small training step, the one of the digits example, run and replayed?
#include <cmath>
#include <optional>

#include "training.hpp"

namespace bench {
namespace {

using S = StepCase;

/// The same training in f64, written out by hand.
class Reference {
 public:
  explicit Reference(const Inputs& in) : x_(values_of(in[0])), labels_(in[7]) {
    for (std::size_t p = 0; p < 6; ++p) parameters_.push_back(values_of(in[p + 1]));
    for (const Values& p : parameters_) first_.emplace_back(p.size()), second_.emplace_back(p.size());
  }

  double step() {
    const Values gate = linear(x_, parameters_[0], parameters_[1], S::batch, S::pixels, S::hidden);
    const Values up = linear(x_, parameters_[2], parameters_[3], S::batch, S::pixels, S::hidden);
    Values hidden;
    for (std::size_t i = 0; i < gate.size(); ++i) hidden.push_back(activate(Activation::silu, gate[i]) * up[i]);
    Values d = linear(hidden, parameters_[4], parameters_[5], S::batch, S::hidden, S::classes);
    const double loss = cross_entropy(d, labels_, S::classes);

    std::vector<Values> gradients(6);
    linear_gradients(hidden, d, S::batch, S::hidden, S::classes, gradients[4], gradients[5]);
    const Values d_hidden = input_gradient(d, parameters_[4], S::batch, S::hidden, S::classes);
    Values d_gate, d_up;
    for (std::size_t i = 0; i < d_hidden.size(); ++i) {
      d_gate.push_back(d_hidden[i] * up[i] * activate_derivative(Activation::silu, gate[i]));
      d_up.push_back(d_hidden[i] * activate(Activation::silu, gate[i]));
    }
    linear_gradients(x_, d_gate, S::batch, S::pixels, S::hidden, gradients[0], gradients[1]);
    linear_gradients(x_, d_up, S::batch, S::pixels, S::hidden, gradients[2], gradients[3]);
    adamw(gradients);
    return loss;
  }

 private:
  void adamw(const std::vector<Values>& gradients) {
    const tern::optim::AdamWOptions o;
    const double c1 = 1 - std::pow(o.beta1, ++steps_), c2 = 1 - std::pow(o.beta2, steps_);
    for (std::size_t p = 0; p < 6; ++p)
      for (std::size_t i = 0; i < parameters_[p].size(); ++i) {
        const double g = gradients[p][i];
        first_[p][i] += (1 - o.beta1) * (g - first_[p][i]);
        second_[p][i] += (1 - o.beta2) * (g * g - second_[p][i]);
        const double update = first_[p][i] / c1 / (std::sqrt(second_[p][i] / c2) + o.epsilon);
        parameters_[p][i] -= o.learning_rate * (update + o.weight_decay * parameters_[p][i]);
      }
  }

  Values x_;
  Buffer labels_;
  std::vector<Values> parameters_, first_, second_;
  int steps_ = 0;
};

/// As examples/digits trains.
class TernStep {
 public:
  TernStep(const Inputs& in, tern::Device device)
      : x_(in[0].tensor({S::batch, S::pixels}, device)), labels_(in[7].tensor({S::batch}, device)) {
    const tern::Shape shapes[] = {{S::pixels, S::hidden}, {S::hidden},  {S::pixels, S::hidden},
                                  {S::hidden},            {S::hidden, S::classes}, {S::classes}};
    for (std::size_t p = 0; p < 6; ++p) parameters_.emplace_back(in[p + 1].tensor(shapes[p], device).clone());
    optimizer_.emplace(parameters_);
  }

  tern::Tensor step() {
    const tern::Var gate = matmul_bias(x_, parameters_[0], parameters_[1]);
    const tern::Var up = matmul_bias(x_, parameters_[2], parameters_[3]);
    const tern::Var loss = cross_entropy(matmul_bias(silu_mul(gate, up), parameters_[4], parameters_[5]), labels_);
    optimizer_->step(backward(loss));
    return loss.value();
  }

 private:
  tern::Tensor x_, labels_;
  std::vector<tern::Var> parameters_;
  std::optional<tern::optim::AdamW> optimizer_;
};

Prepared prepare(const Target& target, bool replayed) {
  const Inputs in{Buffer::pattern(tern::f32, S::batch * S::pixels, 1, 0.5),
                  Buffer::pattern(tern::f32, S::pixels * S::hidden, 2, 0.3),
                  Buffer::pattern(tern::f32, S::hidden, 3, 0.1),
                  Buffer::pattern(tern::f32, S::pixels * S::hidden, 4, 0.3),
                  Buffer::pattern(tern::f32, S::hidden, 5, 0.1),
                  Buffer::pattern(tern::f32, S::hidden * S::classes, 6, 0.15),
                  Buffer::pattern(tern::f32, S::classes, 7, 0.1),
                  cyclic_labels(S::batch, S::classes)};
  Reference reference(in);
  Values expected;
  for (int i = 0; i < kCheckedSteps; ++i) expected.push_back(reference.step());
  Contender tern = training<TernStep>(target, in, replayed);
  return {contenders(std::move(tern), target.peers, StepCase{}, in, &Peer::step), expected};
}

}  // namespace

void add_step(Workloads& workloads, const Target& target) {
  for (const bool replayed : {false, true})
    workloads.push_back({.name = replayed ? "step/digits_replayed/f32" : "step/digits/f32",
                         .unit = Unit::calls,
                         .roof = "",
                         .quick = true,
                         .tolerance = 1e-4,
                         .prepare = [target, replayed] { return prepare(target, replayed); }});
}

}  // namespace bench
