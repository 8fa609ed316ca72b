// Prints a few kernels, one of each skeleton, in WGSL or (with the argument cuda) CUDA C++, for comparison with
// golden/kernels.wgsl and golden/kernels.cu: a change of a printer shows as a change of text. A text that stands
// there already under the same name is not printed again. No device is needed.
// After a wanted change:
//   build/tests/tern_golden_kernels > tests/golden/kernels.wgsl
//   build/tests/tern_golden_kernels cuda > tests/golden/kernels.cu
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "cuda/products/mma.hpp"
#include "golden/printing.hpp"
#include "together.hpp"

int main(int count, char** arguments) {
  using namespace tern;
  const bool in_cuda = count > 1 && std::string_view(arguments[1]) == "cuda";
  std::string title;
  std::size_t prelude = 0;  // CUDA's, the same for every kernel, is printed once
  std::set<std::string> known;
  test::Printing device(in_cuda ? DeviceKind::cuda : DeviceKind::webgpu, [&](const auto& launch, std::string text) {
    if (!known.insert(title + text).second) return;
    std::printf("// ---- %s: %s, %llu workgroups of %u\n", title.c_str(), launch.op,
                static_cast<unsigned long long>(launch.groups), launch.threads);
    const std::size_t begin = text.find('\n') + 1, end = text.find("struct Params");
    if (in_cuda && prelude == end - begin) text.erase(begin, prelude);
    prelude = end - begin;
    std::printf("%s\n", text.c_str());
  });
  const auto make = [&](const Shape& shape, DType dtype = f32) { return device.make(shape, dtype); };
  const auto show = [&](const char* name, auto f) { title = name, f(); };
  show("contiguous, in vectors", [&] { relu(make({1000})); });
  show("packed halves", [&] { make({1000}, bf16) * make({1000}, bf16); });
  show("a broadcast row", [&] { make({7, 5}) + make({5}); });
  show("several results", [&] { silu_mul_bwd(make({64}), make({64}), make({64})); });
  show("a gated activation in halves", [&] { silu_mul(make({1000}, f16), make({1000}, f16)); });
  show("rows", [&] { softmax(make({300, 128})); });
  show("the gradient of rows", [&] {
    const Var x(make({300, 128}));
    backward(softmax(x), make({300, 128}));
  });
  show("rows with a mean and a variance", [&] { layer_norm(make({300, 128}), make({128}), make({128})); });
  show("rows whose values serve in several walks", [&] {
    row_formula(
        [](auto u) {
          auto y = gelu(u), c = y - mean(y);
          return c / sqrt(mean(c * c) + 1) + y;
        },
        make({300, 128}));
  });
  show("columns", [&] { sum(make({64, 300}), {0}); });
  show("many elements to one result", [&] { sum(make({1 << 20})); });
  show("product", [&] { matmul_bias_activation(make({40, 24}), make({24, 36}), make({36}), op::relu); });
  show("requests together", [&] {
    test::step_together({make({1000}), make({10})}, {make({1000}), make({10})}, [](std::size_t) { return 0.1; });
  });
  show("by index", [&] { take(make({9, 4}), make({3}, i32)); });
  show("scatter", [&] { scatter_add(make({9, 4}), make({3}, i32), make({3, 4})); });
  show("scan", [&] { cumsum(make({6, 100}), 1); });
  show("scan of a long line", [&] { cumsum(make({100000}, i8), 0); });
  show("sort", [&] { sort(make({3, 100}), 1); });
  show("scatter to many", [&] { scatter_add(make({9, 4}), make({3000}, i32), make({3000, 4})); });
  if (!in_cuda) return 0;
  const auto show_product = [&](const char* name, auto run, const detail_cuda::MatrixUnits& units) {
    device.multiply = [&](auto& backend, const detail::GemmRequest& request) { return run(backend, request, units); };
    const Tensor x = make({200, 64}, bf16), weight = make({64, 304}, bf16), bias = make({304}, bf16);
    show(name, [&] { matmul_bias_activation(x, weight, bias, op::relu); });
  };
  const auto wgmma = [](auto& backend, const auto& request, const auto& units) {
    return detail_cuda::run_wgmma(backend, request, units, true);
  };
  show_product("product on Hopper's matrix units", wgmma, {90, 2});
  show_product("product on tensor cores", detail_cuda::run_mma, {80, 1, 163 << 10});
}
