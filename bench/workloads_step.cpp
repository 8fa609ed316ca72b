// How fast is a whole small training step, the one of the digits example, run and replayed?
#include <algorithm>
#include <cmath>

#include "peers.hpp"

namespace bench {
namespace {

using Values = std::vector<double>;
using S = StepCase;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Values values_of(const Buffer& buffer) {
  Values values;
  for (std::int64_t i = 0; i < buffer.count(); ++i) values.push_back(buffer.at(i));
  return values;
}

/// x[m, k] · w[k, n] + bias[n]
Values linear(const Values& x, const Values& w, const Values& bias, std::int64_t m, std::int64_t k, std::int64_t n) {
  Values y;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = bias[index(j)];
      for (std::int64_t t = 0; t < k; ++t) sum += x[index(i * k + t)] * w[index(t * n + j)];
      y.push_back(sum);
    }
  return y;
}

/// Gradients of w and bias, in their place, from that of y.
void linear_gradients(const Values& x, const Values& d_y, std::int64_t m, std::int64_t k, std::int64_t n, Values& d_w,
                      Values& d_bias) {
  d_w.assign(index(k * n), 0);
  d_bias.assign(index(n), 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      d_bias[index(j)] += d_y[index(i * n + j)];
      for (std::int64_t t = 0; t < k; ++t) d_w[index(t * n + j)] += x[index(i * k + t)] * d_y[index(i * n + j)];
    }
}

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
    const double loss = cross_entropy(d);

    std::vector<Values> gradients(6);
    linear_gradients(hidden, d, S::batch, S::hidden, S::classes, gradients[4], gradients[5]);
    Values d_gate, d_up;
    for (std::int64_t at = 0; at < S::batch * S::hidden; ++at) {
      double d_hidden = 0;
      for (std::int64_t j = 0; j < S::classes; ++j)
        d_hidden += d[index(at / S::hidden * S::classes + j)] * parameters_[4][index(at % S::hidden * S::classes + j)];
      d_gate.push_back(d_hidden * up[index(at)] * activate_derivative(Activation::silu, gate[index(at)]));
      d_up.push_back(d_hidden * activate(Activation::silu, gate[index(at)]));
    }
    linear_gradients(x_, d_gate, S::batch, S::pixels, S::hidden, gradients[0], gradients[1]);
    linear_gradients(x_, d_up, S::batch, S::pixels, S::hidden, gradients[2], gradients[3]);
    adamw(gradients);
    return loss;
  }

 private:
  /// Turns the logits into the gradient of the mean loss.
  double cross_entropy(Values& logits) const {
    double loss = 0;
    for (std::int64_t i = 0; i < S::batch; ++i) {
      const auto row = logits.begin() + i * S::classes, end = row + S::classes;
      const double largest = *std::max_element(row, end), label = row[labels_.data<std::int32_t>()[i]];
      double sum = 0;
      for (auto z = row; z != end; ++z) sum += std::exp(*z - largest);
      loss += std::log(sum) + largest - label;
      for (auto z = row; z != end; ++z) *z = std::exp(*z - largest) / sum / S::batch;
      row[labels_.data<std::int32_t>()[i]] -= 1.0 / S::batch;
    }
    return loss / S::batch;
  }

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
  explicit TernStep(const Inputs& in)
      : x_(in[0].tensor({S::batch, S::pixels})),
        labels_(in[7].tensor({S::batch})),
        parameters_{copy(in[1], {S::pixels, S::hidden}),  copy(in[2], {S::hidden}),
                    copy(in[3], {S::pixels, S::hidden}),  copy(in[4], {S::hidden}),
                    copy(in[5], {S::hidden, S::classes}), copy(in[6], {S::classes})},
        optimizer_(parameters_) {}

  tern::Tensor step() {
    const tern::Var gate = matmul_bias(x_, parameters_[0], parameters_[1]);
    const tern::Var up = matmul_bias(x_, parameters_[2], parameters_[3]);
    const tern::Var loss = cross_entropy(matmul_bias(silu_mul(gate, up), parameters_[4], parameters_[5]), labels_);
    optimizer_.step(backward(loss));
    return loss.value();
  }

 private:
  static tern::Var copy(const Buffer& buffer, const tern::Shape& shape) {
    return tern::Var(buffer.tensor(shape).clone());
  }

  tern::Tensor x_, labels_;
  std::vector<tern::Var> parameters_;
  tern::optim::AdamW optimizer_;
};

/// The step captured once; its parameters live on in the recording.
Contender replay(const Inputs& in) {
  struct Captured {
    TernStep steps;
    tern::Tensor loss = {};
    tern::Graph graph = {};
    explicit Captured(const Inputs& inputs) : steps(inputs) {
      graph = tern::capture(tern::cpu(), [&] { loss = steps.step(); });
    }
  };
  return {.library = "tern",
          .run = [captured = std::make_shared<Captured>(in)] { captured->graph.replay(); },
          .result =
              [in] {
                const Captured fresh(in);
                Values losses;
                for (int i = 0; i < S::checked_steps; ++i) {
                  fresh.graph.replay();
                  losses.push_back(fresh.loss.item<float>());
                }
                return losses;
              }};
}

Prepared prepare(const Peers& peers, bool replayed) {
  Buffer labels(tern::i32, S::batch);
  for (std::int64_t i = 0; i < S::batch; ++i)
    labels.data<std::int32_t>()[i] = static_cast<std::int32_t>(i % S::classes);
  const Inputs in{Buffer::pattern(tern::f32, S::batch * S::pixels, 1, 0.5),
                  Buffer::pattern(tern::f32, S::pixels * S::hidden, 2, 0.3),
                  Buffer::pattern(tern::f32, S::hidden, 3, 0.1),
                  Buffer::pattern(tern::f32, S::pixels * S::hidden, 4, 0.3),
                  Buffer::pattern(tern::f32, S::hidden, 5, 0.1),
                  Buffer::pattern(tern::f32, S::hidden * S::classes, 6, 0.15),
                  Buffer::pattern(tern::f32, S::classes, 7, 0.1),
                  labels};
  Reference reference(in);
  Values expected;
  for (int i = 0; i < S::checked_steps; ++i) expected.push_back(reference.step());
  if (replayed) return {contenders(replay(in), peers, StepCase{}, in, &Peer::step), expected};
  Contender tern{.library = "tern",
                 .run = [steps = std::make_shared<TernStep>(in)] { steps->step(); },
                 .result =
                     [in] {
                       TernStep fresh(in);
                       Values losses;
                       for (int i = 0; i < S::checked_steps; ++i) losses.push_back(fresh.step().item<float>());
                       return losses;
                     }};
  return {contenders(std::move(tern), peers, StepCase{}, in, &Peer::step), expected};
}

}  // namespace

void add_step(Workloads& workloads, const Peers& peers) {
  for (const bool replayed : {false, true})
    workloads.push_back({.name = replayed ? "step/digits_replayed/f32" : "step/digits/f32",
                         .unit = Unit::calls,
                         .roof = "",
                         .quick = true,
                         .tolerance = 1e-4,
                         .prepare = [&peers, replayed] { return prepare(peers, replayed); }});
}

}  // namespace bench
