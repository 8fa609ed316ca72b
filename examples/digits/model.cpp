#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

namespace digits {
namespace {

constexpr std::int64_t kHidden = 128;

/// A weight matrix [inputs, outputs]: normal, with a variance of `gain` / inputs.
tern::Var random_weight(std::int64_t inputs, std::int64_t outputs, double gain, tern::Generator& random,
                        const tern::Options& options) {
  return tern::Var{tern::randn({inputs, outputs}, random, options) * std::sqrt(gain / static_cast<double>(inputs))};
}

/// The numbers 0 to n - 1 in random order: Fisher and Yates's shuffle, the same with every standard library.
std::vector<std::int32_t> shuffled_order(std::int64_t n, std::mt19937_64& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  return order;
}

double cosine_schedule(double learning_rate, double done) {
  return learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

double accuracy(const GatedMlp& model, const Batch& batch) {
  const tern::NoGrad guard;
  const tern::Tensor digits = tern::argmax(model(batch.images).value(), 1);
  const auto said = digits.to_vector<std::int32_t>();
  const auto right = std::inner_product(said.begin(), said.end(), batch.host_labels.begin(), std::int64_t{0},
                                        std::plus<>(), std::equal_to<>());
  return static_cast<double>(right) / static_cast<double>(batch.size());
}

/// The mean loss over an epoch from the mean losses of its batches, which are read back only here.
double mean_loss(const std::vector<tern::Tensor>& losses, const std::vector<std::int64_t>& sizes) {
  double sum = 0;
  std::int64_t images = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sum += static_cast<double>(losses[i].to(tern::f32).item<float>()) * static_cast<double>(sizes[i]);
    images += sizes[i];
  }
  return sum / static_cast<double>(images);
}

}  // namespace

GatedMlp::GatedMlp(tern::Generator random, const tern::Options& options)
    : gate_weight(random_weight(kPixels, kHidden, 2, random, options)),
      gate_bias(tern::zeros({kHidden}, options)),
      up_weight(random_weight(kPixels, kHidden, 2, random, options)),
      up_bias(tern::zeros({kHidden}, options)),
      out_weight(random_weight(kHidden, kClasses, 1, random, options)),
      out_bias(tern::zeros({kClasses}, options)) {}

tern::Var GatedMlp::operator()(const tern::Tensor& images) const {
  const tern::Var gate = matmul_bias(images, gate_weight, gate_bias);
  const tern::Var up = matmul_bias(images, up_weight, up_bias);
  const tern::Var hidden = silu_mul(gate, up);  // silu(gate) * up, forward and backward one fused kernel each
  return matmul_bias(hidden, out_weight, out_bias);
}

std::vector<tern::Var> GatedMlp::parameters() const {
  return {gate_weight, gate_bias, up_weight, up_bias, out_weight, out_bias};
}

Batch::Batch(const Digits& digits, const tern::Options& options)
    : images(tern::tensor(digits.scaled_pixels(), {digits.size(), kPixels}, options.device).to(options.dtype)),
      labels(tern::tensor(digits.labels, {digits.size()}, options.device)),
      host_labels(digits.labels) {}

TrainingLog train(GatedMlp& model, const Batch& training, const Batch& held_out, const TrainingOptions& options,
                  const TrainingObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const tern::Device device = training.images.device();
  const std::int64_t count = training.size(), batch_size = std::min(options.batch_size, count);
  const std::int64_t batches = (count + batch_size - 1) / batch_size;
  const auto steps = static_cast<double>(batches) * options.epochs;

  tern::optim::AdamW optimizer(model.parameters(), {.learning_rate = options.learning_rate,
                                                    .weight_decay = options.weight_decay});
  std::mt19937_64 random(options.seed);
  TrainingLog log;
  double step = 0;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto start = Clock::now();
    const auto order = tern::tensor(shuffled_order(count, random), {count}, device);
    const tern::Tensor images = take(training.images, order, 0), labels = take(training.labels, order, 0);
    std::vector<tern::Tensor> losses;
    std::vector<std::int64_t> sizes;
    for (std::int64_t begin = 0; begin < count; begin += batch_size) {
      const std::int64_t end = std::min(begin + batch_size, count);
      optimizer.set_learning_rate(cosine_schedule(options.learning_rate, step / steps));

      // One step: forward, backward, update.
      const tern::Var logits = model(images.slice(0, begin, end));
      const tern::Var loss = cross_entropy(logits, labels.slice(0, begin, end));
      const auto gradients = backward(loss);
      optimizer.step(gradients);

      losses.push_back(loss.value());
      sizes.push_back(end - begin);
      step += 1;
      if (observer.on_step) observer.on_step(epoch, step / steps);
    }
    tern::synchronize(device);
    log.seconds += std::chrono::duration<double>(Clock::now() - start).count();

    log.epochs.push_back({epoch, mean_loss(losses, sizes), accuracy(model, held_out)});
    if (!std::isfinite(log.epochs.back().loss))
      throw TrainingDiverged(
          fmt::format("the loss is no longer finite in epoch {}; try a smaller --learning-rate", epoch));
    if (observer.on_epoch) observer.on_epoch(log.epochs.back(), step / steps);
  }
  return log;
}

Predictions predict(const GatedMlp& model, const tern::Tensor& images) {
  const tern::NoGrad guard;
  const tern::Tensor logits = model(images).value();
  const tern::Tensor probabilities = tern::softmax(logits.to(tern::f32));
  return {tern::argmax(logits, 1).to_vector<std::int32_t>(), tern::max(probabilities, {1}).to_vector<float>()};
}

}  // namespace digits
