// An attention classifier: which of four letters stands twice in a sequence? A transformer's block with the mean of its
// outputs, dropout, labels in i64, and gradients by value_and_grad of a struct of parameters.
#include <cmath>

#include "program.hpp"

namespace {

using tern::Tensor;
using tern::Var;

constexpr std::int64_t kLetters = 12, kLength = 10, kClasses = 4, kWidth = 32;

template <class T> struct Model {
  T letters, places, query, key, value, hidden, hidden_bias, classes;
};

}  // namespace

template <class T> struct tern::Fields<Model<T>> {
  static auto tie(auto& m) {
    return std::tie(m.letters, m.places, m.query, m.key, m.value, m.hidden, m.hidden_bias, m.classes);
  }
};

namespace {

Model<Var> initial(tern::Generator& random) {
  const auto weight = [&](std::int64_t in, std::int64_t out) {
    return tern::parameter(randn({in, out}, random) / std::sqrt(static_cast<double>(in)));
  };
  return {weight(kLetters, kWidth),
          weight(kLength, kWidth),
          weight(kWidth, kWidth),
          weight(kWidth, kWidth),
          weight(kWidth, kWidth),
          weight(kWidth, kWidth),
          tern::parameter(tern::zeros({kWidth})),
          weight(kWidth, kClasses)};
}

/// Scores [N, kClasses] of sequences [N, kLength] of letters.
Var classify(const Model<Var>& m, const Tensor& sequences, const Tensor& kept) {
  const Var x = take(m.letters, sequences) * std::sqrt(static_cast<double>(kLetters)) + m.places;
  const Var scores =
      matmul(matmul(x, m.query), matmul(x, m.key).transpose(1, 2)) / std::sqrt(static_cast<double>(kWidth));
  const Var seen = x + matmul(softmax(scores), matmul(x, m.value));
  const Var h = matmul_bias_activation(seen, m.hidden, m.hidden_bias, tern::op::gelu) * kept;
  return matmul(h.mean(1), m.classes);
}

/// Sequences in which exactly one of the first kClasses letters stands twice; all other letters stand elsewhere at
/// most.
struct Batch { Tensor sequences, labels; };
Batch batch(std::int64_t size, std::uint64_t& state) {
  const auto below = [&](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % n);
  };
  std::vector<std::int64_t> sequences, labels;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t label = below(kClasses);
    std::vector<std::int64_t> s;
    for (std::int64_t c = 0; c < kClasses; ++c) s.push_back(c);
    s.push_back(label);
    while (static_cast<std::int64_t>(s.size()) < kLength) s.push_back(kClasses + below(kLetters - kClasses));
    for (std::size_t k = s.size() - 1; k > 0; --k) std::swap(s[k], s[static_cast<std::size_t>(below(k + 1))]);
    sequences.insert(sequences.end(), s.begin(), s.end()), labels.push_back(label);
  }
  return {tern::tensor(sequences, {size, kLength}), tern::tensor(labels)};
}

bool train(int steps, std::uint64_t seed) {
  tern::Generator random{seed};
  std::uint64_t state = seed;
  Model<Var> model = initial(random);
  tern::optim::AdamW optimizer(model, {.learning_rate = 3e-3});
  for (int i = 0; i < steps; ++i) {
    const Batch b = batch(64, state);
    const Tensor kept = (rand({64, kLength, kWidth}, random) < 0.9).to(tern::f32) / 0.9;
    const auto [loss, gradients] = tern::value_and_grad([&](const Model<Var>& m) {
      return cross_entropy(classify(m, b.sequences, kept), b.labels);
    })(model);
    optimizer.step(gradients);
    if (i % 100 == 0) std::cout << "step " << std::setw(4) << i << "  loss " << loss << '\n';
  }
  const tern::NoGrad quiet;
  const Batch held_out = batch(1000, state);
  const Tensor answers = argmax(classify(model, held_out.sequences, tern::ones({1})), -1);
  const double right = (answers == held_out.labels).mean().item<double>();
  std::printf("%.1f %% of 1000 new sequences are named right\n", 100 * right);
  return right > 0.95;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 500;
  std::uint64_t seed = 1;
  return run_program(
      argc, argv, "Learns which of four letters stands twice in a sequence; needs a device with i64.",
      [&](CLI::App& app) {
        app.add_option("--steps", steps, "Steps of training")->check(CLI::PositiveNumber)->capture_default_str();
        app.add_option("--seed", seed, "Seed of the network and the sequences")->capture_default_str();
      },
      [&] { return train(steps, seed); });
}
