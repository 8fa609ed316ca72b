// tern's convolutions on a GPU for bench/beside_torch_convolution.py, which takes turns with PyTorch: reads "work kind
// count" lines, makes that many calls, and answers with the milliseconds of each, waiting for the GPU at the end of
// all. A work is "samples,channels,rows and columns,results,kernel,groups"; everything has its channels last.
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "tern/tern.hpp"

namespace {

using namespace tern;

/// Image, kernels, bias and the result's gradient.
struct Operands {
  explicit Operands(const std::string& work, Device device) {
    std::istringstream text(work);
    std::int64_t n = 0, c = 0, size = 0, o = 0, k = 0;
    char comma = 0;
    text >> n >> comma >> c >> comma >> size >> comma >> o >> comma >> k >> comma >> groups;
    padding = k / 2;
    Generator dice{1};
    const auto make = [&](std::int64_t first, std::int64_t places, std::int64_t channels) {
      const Tensor t = randn({first, places, places, channels}, dice, {.dtype = bf16, .device = device});
      return t.permute({0, 3, 1, 2});
    };
    x = make(n, size, c), w = make(o, k, c / groups), gradient = make(n, size, o);
    bias = randn({o, 1, 1}, dice, {.dtype = bf16, .device = device});
  }
  ConvOptions options() const { return {.padding = padding, .groups = groups}; }
  Tensor x, w, bias, gradient;
  std::int64_t groups = 1, padding = 0;
};

void run(const Operands& of, const std::string& kind) {
  if (kind == "both") {
    const Var x = parameter(of.x), w = parameter(of.w);
    backward(conv2d(x, w, {}, of.options()), of.gradient);
  } else if (kind == "gelu") {
    conv2d_epilogue(
        of.x, of.w, of.options(), [](auto sum, auto bias) { return gelu(sum + bias); }, of.bias);
  } else {
    conv2d(of.x, of.w, {}, of.options());
  }
}

}  // namespace

int main() {
  const Device device = cuda();
  std::map<std::string, Operands> operands;
  std::string work, kind;
  std::int64_t count = 0;
  while (std::cin >> work >> kind >> count) {
    const Operands& of = operands.try_emplace(work, work, device).first->second;
    synchronize(device);
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < count; ++i) run(of, kind);
    synchronize(device);
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
    std::cout << passed.count() / static_cast<double>(count) << std::endl;
  }
}
