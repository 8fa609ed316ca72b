// tern's convolutions for bench/beside_torch_convolution.py, which takes turns with PyTorch: reads "work kind count"
// lines, makes that many calls, and answers with the milliseconds of each, waiting for the device at the end of all: of
// the clock, and of this program's processors. The device is the argument, cuda where there is none. A work is what
// that script says; everything has its channels last.
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace {

using namespace tern;

/// Image, kernels, bias and the result's gradient.
struct Operands {
  Operands(const std::string& work, Device device) {
    std::istringstream text(work);
    std::string word;
    std::getline(text, word, ',');
    const DType dtype = word == "f32" ? f32 : word == "f16" ? f16 : bf16;
    std::vector<std::int64_t> all;
    while (std::getline(text, word, ',')) all.push_back(std::stoll(word));
    all.resize(8, 1);  // stride and dilation
    const std::int64_t n = all[0], c = all[1], size = all[2], o = all[3], k = all[4], groups = all[5], stride = all[6];
    const std::int64_t dilation = all[7], padding = k / 2 * dilation, out = (size - 1) / stride + 1;
    options = {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups};
    Generator dice{1};
    const auto make = [&](std::int64_t first, std::int64_t places, std::int64_t channels) {
      const Tensor t = randn({first, places, places, channels}, dice, {.dtype = dtype, .device = device});
      return t.permute({0, 3, 1, 2});
    };
    x = make(n, size, c), w = make(o, k, c / groups), gradient = make(n, out, o);
    bias = randn({o, 1, 1}, dice, {.dtype = dtype, .device = device});
  }
  Tensor x, w, bias, gradient;
  ConvOptions options;
};

void run(const Operands& of, const std::string& kind) {
  if (kind == "both") {
    const Var x = parameter(of.x), w = parameter(of.w);
    backward(conv2d(x, w, {}, of.options), of.gradient);
  } else if (kind == "image") {
    const Var x = parameter(of.x);
    backward(conv2d(x, constant(of.w), {}, of.options), of.gradient);
  } else if (kind == "gelu") {
    conv2d_epilogue(
        of.x, of.w, of.options, [](auto sum, auto bias) { return gelu(sum + bias); }, of.bias);
  } else {
    conv2d(of.x, of.w, {}, of.options);
  }
}

double milliseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  const std::string name = count_of_arguments > 1 ? arguments[1] : "cuda";
  const Device device = name == "cpu" ? cpu() : cuda();
  std::map<std::string, Operands> operands;
  std::string work, kind;
  std::int64_t count = 0;
  while (std::cin >> work >> kind >> count) {
    const Operands& of = operands.try_emplace(work, work, device).first->second;
    synchronize(device);
    const double wall = milliseconds(CLOCK_MONOTONIC), used = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    for (std::int64_t i = 0; i < count; ++i) run(of, kind);
    synchronize(device);
    std::cout << (milliseconds(CLOCK_MONOTONIC) - wall) / static_cast<double>(count) << ' '
              << (milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used) / static_cast<double>(count) << std::endl;
  }
}
