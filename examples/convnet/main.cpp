// A small convolutional network learns to read the digits of examples/digits. Each time it sees an image, that stands
// at another place: images of 8×8 are sampled at 20×20 places, enlarged twice and shifted, by grid_sample.
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string>
#include <vector>

#include "heat_map.hpp"

namespace {

using tern::Tensor;
using tern::Var;

struct Settings {
  std::string device, data = CONVNET_DEFAULT_DATA, output = "convnet.svg";
  int epochs = 20;
  std::int64_t batch = 64;
  double learning_rate = 4e-3;
  std::uint64_t seed = 1;
};

struct Images {
  Tensor pixels;  // [N, 1, 8, 8], 0 to 1
  Tensor labels;  // i32 [N]
  std::int64_t size() const { return pixels.size(0); }
};

/// Lines of 64 grey values from 0 to 16 and the digit; every fifth line of the file is held out.
std::pair<Images, Images> read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<float> pixels[2];
  std::vector<std::int32_t> labels[2];
  std::string number;
  for (int line = 0; file >> std::ws && !file.eof(); ++line) {
    const int held_out = line % 5 == 4;
    for (int i = 0; i < 64 && std::getline(file, number, ','); ++i) pixels[held_out].push_back(std::stof(number) / 16);
    std::getline(file, number), labels[held_out].push_back(std::stoi(number));
  }
  const auto images = [&](int i) {
    return Images{tern::tensor(pixels[i]).reshape({-1, 1, 8, 8}), tern::tensor(labels[i])};
  };
  return {images(0), images(1)};
}

/// The images [N, 1, 20, 20], enlarged twice, each shifted by up to two pixels at random.
Tensor placed(const Tensor& images, tern::Generator& random) {
  const Tensor line = tern::linspace(-9.5 / 8, 9.5 / 8, 20);  // -1 to 1: where the image is
  const std::vector<Tensor> at = tern::meshgrid({line, line});
  const Tensor shifts = 0.25 * (2 * tern::rand({images.size(0), 1, 1, 2}, random) - 1);
  return grid_sample(images, tern::stack({at[1], at[0]}, -1) + shifts);
}

/// A convolution 3×3 (or a linear layer), as weight and bias.
struct Layer {
  Var weight, bias;
};
Layer layer(const tern::Shape& shape, tern::Generator& random) {
  const double inputs = static_cast<double>(shape.numel() / shape[0]);
  return {parameter(tern::randn(shape, random) * std::sqrt(2 / inputs)), parameter(tern::zeros({shape[0]}))};
}

struct Network {
  std::vector<Layer> layers;
  explicit Network(tern::Generator random)
      : layers{layer({16, 1, 3, 3}, random), layer({32, 16, 3, 3}, random), layer({32, 32, 3, 3}, random),
               layer({10, 32 * 5 * 5}, random)} {}

  /// [N, 1, 20, 20] → logits [N, 10].
  Var operator()(const Tensor& images) const {
    Var x = relu(convolved(constant(images), 0));  // [N, 16, 20, 20]
    x = relu(convolved(max_pool(x, 2), 1));        // [N, 32, 10, 10]
    x = max_pool(relu(convolved(x, 2)), 2);        // [N, 32, 5, 5]
    return linear(x.reshape({x.size(0), -1}), layers[3].weight, layers[3].bias);
  }
  std::vector<Var> parameters() const {
    std::vector<Var> all;
    for (const Layer& l : layers) all.push_back(l.weight), all.push_back(l.bias);
    return all;
  }

 private:
  Var convolved(const Var& x, std::size_t i) const {
    return conv2d(x, layers[i].weight, layers[i].bias, {.padding = "same"});
  }
};

void train(const Network& network, const Images& images, const Settings& s, tern::Generator& random) {
  tern::optim::AdamW optimizer(network.parameters(), {.learning_rate = s.learning_rate, .weight_decay = 0.02});
  const std::int64_t batches = (images.size() + s.batch - 1) / s.batch;
  int step = 0;
  for (int epoch = 1; epoch <= s.epochs; ++epoch) {
    const Tensor order = permutation(images.size(), random);
    Tensor losses = tern::zeros({});
    for (std::int64_t begin = 0; begin < images.size(); begin += s.batch, ++step) {
      const double done = step / (1.0 * batches * s.epochs);
      optimizer.set_learning_rate(s.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done)));
      const Tensor rows = order.slice(0, begin, std::min(begin + s.batch, images.size()));
      const Var logits = network(placed(take(images.pixels, rows, 0), random));
      const Var loss = cross_entropy(logits, take(images.labels, rows, 0));
      optimizer.step(backward(loss));
      losses += loss.value();
    }
    if (epoch % 5 == 0 || epoch == s.epochs)
      std::printf("epoch %d: loss %.4f\n", epoch, losses.item<float>() / static_cast<double>(batches));
  }
}

/// [10, 10]: how many images of each digit (a row) were taken for which one (a column).
Tensor confusion(const Network& network, const Images& images, tern::Generator& random) {
  const tern::NoGrad guard;
  const Tensor said = argmax(network(placed(images.pixels, random)).value(), 1);
  return matmul(one_hot(images.labels, 10).T(), one_hot(said, 10));
}

bool run(const Settings& s) {
  tern::Generator random{s.seed};
  const auto [training, held_out] = read(s.data);
  const Network network(random);
  const auto start = std::chrono::steady_clock::now();
  train(network, training, s, random);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Tensor counts = confusion(network, held_out, random);
  const auto right = static_cast<int>(trace(counts).item<float>()), all = static_cast<int>(held_out.size());
  std::printf("%d of %d held-out images are read, %.1f %%, after %.1f s\n", right, all, 100.0 * right / all, seconds);
  char title[120];
  std::snprintf(title, sizeof title, "digits (rows) and what they were taken for: %d of %d right", right, all);
  pictures::write(s.output, pictures::heat_maps({{title, counts, 0, 20, 440, 440, true}}, 1));
  std::printf("wrote %s\n", s.output.c_str());
  return right > 0.99 * all;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Trains a convolutional network on shifted digits, and draws which it takes for which."};
  app.add_option("--device", s.device, "cpu, webgpu, ... (default: TERN_DEVICE, else cpu)")->type_name("NAME");
  app.add_option("--data", s.data, "Lines of 64 grey values and the digit")->type_name("FILE")->capture_default_str();
  app.add_option("--epochs", s.epochs, "Passes over the images")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--batch", s.batch, "Images a step")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--learning-rate", s.learning_rate, "At the start; it falls to 0")->capture_default_str();
  app.add_option("--seed", s.seed, "Seed of weights, order and shifts")->capture_default_str();
  app.add_option("--output", s.output, "File of the picture")->type_name("FILE")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!s.device.empty()) tern::set_default_device(tern::Device::parse(s.device));
    return run(s) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "convnet: %s\n", e.what());
    return 2;
  }
}
