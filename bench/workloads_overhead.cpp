// What does an operation cost beside its arithmetic: one on 8 elements, recorded, and with its backward?
#include "peers.hpp"

namespace bench {
namespace {

enum class Expected { product, gradients };

void add(Workloads& workloads, const std::string& name, Contender (*make)(const tern::Tensor&, const tern::Tensor&),
         Expected what) {
  const auto prepare = [=] {
    const Buffer x = Buffer::pattern(tern::f32, 8, 1), y = Buffer::pattern(tern::f32, 8, 2);
    std::vector<double> expected = sample(y, x);  // the gradients of x and y in x * y
    if (what == Expected::product) {
      for (std::size_t i = 0; i < 8; ++i) expected[i] *= expected[i + 8];
      expected.resize(8);
    }
    return Prepared{{make(x.tensor({8}), y.tensor({8}))}, expected};
  };
  workloads.push_back({.name = "overhead/" + name,
                       .unit = Unit::calls,
                       .roof = "",
                       .quick = true,
                       .tolerance = 1e-6,
                       .prepare = prepare});
}

Contender plain(const tern::Tensor& x, const tern::Tensor& y) {
  return {.library = "tern", .run = [=] { const tern::Tensor z = x * y; }, .result = [=] { return sample(x * y); }};
}

Contender recorded(const tern::Tensor& x, const tern::Tensor& y) {
  const tern::Var a(x), b(y);
  return {
      .library = "tern", .run = [=] { const tern::Var z = a * b; }, .result = [=] { return sample((a * b).value()); }};
}

Contender with_backward(const tern::Tensor& x, const tern::Tensor& y) {
  const tern::Var a(x), b(y);
  const tern::Tensor ones = tern::ones({8});
  return {.library = "tern",
          .run = [=] { backward(a * b, ones); },
          .result =
              [=] {
                const tern::Gradients g = backward(a * b, ones);
                return sample(g[a], g[b]);
              }};
}

}  // namespace

void add_overhead(Workloads& workloads) {
  add(workloads, "op", plain, Expected::product);
  add(workloads, "recorded", recorded, Expected::product);
  add(workloads, "recorded_and_backward", with_backward, Expected::gradients);
}

}  // namespace bench
