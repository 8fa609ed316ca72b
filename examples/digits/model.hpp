// The network and its training: the part to copy into a program of your own.
#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include <tern/tern.hpp>

#include "data.hpp"

namespace digits {

/// A gated multilayer perceptron: 64 pixels -> 128 hidden units -> 10 logits.
struct GatedMlp {
  tern::Var gate_weight, gate_bias;
  tern::Var up_weight, up_bias;
  tern::Var out_weight, out_bias;

  /// Random weights; the same generator gives the same weights.
  GatedMlp(tern::Generator random, const tern::Options& options);

  /// Logits [N, 10] of images [N, 64].
  tern::Var operator()(const tern::Tensor& images) const;

  std::vector<tern::Var> parameters() const;
};

/// Images on a device. The labels stay on the host as well, to be compared with predictions.
struct Batch {
  tern::Tensor images;  ///< [N, 64]
  tern::Tensor labels;  ///< i32 [N]
  std::vector<std::int32_t> host_labels;

  Batch(const Digits& digits, const tern::Options& options);
  std::int64_t size() const { return images.size(0); }
};

/// What the network says of each image.
struct Predictions {
  std::vector<std::int32_t> digits;
  std::vector<float> confidences;  ///< The probability it gives to that digit.
};

struct Epoch {
  int number = 0;         ///< From 1.
  double loss = 0;        ///< Mean over the training images, while the weights were moving.
  double accuracy = 0;    ///< On the held-out images, after the epoch: 0 to 1.
};

struct TrainingOptions {
  int epochs = 30;
  std::int64_t batch_size = 64;
  double learning_rate = 1e-2;  ///< At the start; it falls to 0 along half a cosine.
  double weight_decay = 0.3;
  std::uint64_t seed = 1;
};

struct TrainingLog {
  std::vector<Epoch> epochs;
  double seconds = 0;  ///< In training steps; the measurements on held-out images are not counted.
};

/// Told of every step (`epoch` from 1, `done` of 0 to 1 of the whole training) and of every finished epoch.
struct TrainingObserver {
  std::function<void(int epoch, double done)> on_step;
  std::function<void(const Epoch& epoch, double done)> on_epoch;
};

/// The loss became infinite or not a number.
class TrainingDiverged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

TrainingLog train(GatedMlp& model, const Batch& training, const Batch& held_out, const TrainingOptions& options,
                  const TrainingObserver& observer);

Predictions predict(const GatedMlp& model, const tern::Tensor& images);

}  // namespace digits
