// Measures which tiles matrix products should use on a device, keeps them in the tuning file, and prints the lines for
// src/backend/instruments/tuned.inc, the table that is shipped:
//   TERN_TUNE_FILE=tuning.txt tern_tune_products --device webgpu
// With --largest N no side is longer than N: to try the program itself.
#include <tern/tern.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "backend/instruments/tuning.hpp"

namespace {

using namespace tern;

struct Size {
  std::int64_t m, k, n;
};
/// Of each kind of product that tiles are chosen for: thin ones, and few, some and many tiles.
const std::vector<std::vector<Size>> kKinds{{{16, 4096, 4096}, {4096, 1024, 32}},
                                            {{256, 1024, 256}, {320, 512, 192}},
                                            {{1024, 1024, 1024}, {768, 2048, 512}},
                                            {{4096, 4096, 4096}, {2048, 2048, 2048}, {8192, 1024, 1024}}};

/// Products in three layouts; k differs among them, as the tuner compares calls of equal sizes.
void products(const Size& s, DType dtype, Device device) {
  const Options options{.dtype = dtype, .device = device};
  const Tensor a = full({s.m, s.k}, 0.5, options), b = full({s.k, s.n}, 0.25, options);
  (void)matmul(a, b);
  const std::int64_t k = s.k - 32;
  const Tensor b_transposed = full({s.n, k}, 0.25, options).transpose(0, 1);
  (void)matmul(a.slice(1, 0, k), b_transposed);
  const Tensor a_transposed = full({k - 32, s.m}, 0.5, options).transpose(0, 1);
  (void)matmul(a_transposed, b.slice(0, 0, k - 32));
}

int run(Device device, std::int64_t largest) {
  const auto side = [&](std::int64_t n) { return std::min(n, largest); };
  for (const std::vector<DType>& dtypes : {std::vector{f32}, std::vector{f16, bf16}})  // equal sizes are one choice
    for (const std::vector<Size>& kind : kKinds)
      std::fputs(tune([&] {
                   for (const DType dtype : dtypes)
                     for (const Size& s : kind) products({side(s.m), side(s.k), side(s.n)}, dtype, device);
                 }).c_str(),
                 stderr);
  std::fprintf(stderr, "\nFor src/backend/instruments/tuned.inc, where it is not the default:\n");
  for (const detail::Choice* choice : detail::choices())
    if (choice->key.starts_with("gemm.") && choice->value() != choice->candidates[0])
      std::printf("TERN_TUNED(\"%s\", \"%s\", %lld)\n", choice->device_class.c_str(), choice->key.c_str(),
                  static_cast<long long>(choice->value()));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const bool bounded = count == 5 && std::string_view(arguments[3]) == "--largest";
  const std::int64_t largest = bounded ? std::atoll(arguments[4]) : INT64_MAX;
  if ((count != 3 && !bounded) || std::string_view(arguments[1]) != "--device" || largest < 96) {
    std::fprintf(stderr, "usage: tern_tune_products --device DEVICE [--largest N], N at least 96\n");
    return 2;
  }
  try {
    return run(tern::Device::parse(arguments[2]), largest);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tern_tune_products: %s\n", error.what());
    return 1;
  }
}
