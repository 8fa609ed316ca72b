// What does an operation cost beside its arithmetic: one on 8 elements, recorded, and with its backward?
#include "peers.hpp"

namespace bench {
namespace {

enum class Expected { product, gradients };

using Make = Contender(const Target&, const tern::Tensor&, const tern::Tensor&);

void add_call(Workloads& workloads, const Target& target, const std::string& name, Make make, Expected what) {
  const auto prepare = [=] {
    const Buffer x = Buffer::pattern(tern::f32, 8, 1), y = Buffer::pattern(tern::f32, 8, 2);
    std::vector<double> expected = sample(y, x);  // the gradients of x and y in x * y
    if (what == Expected::product) {
      for (std::size_t i = 0; i < 8; ++i) expected[i] *= expected[i + 8];
      expected.resize(8);
    }
    return Prepared{{make(target, x.tensor({8}, target.device), y.tensor({8}, target.device))}, expected};
  };
  workloads.push_back({.name = "overhead/" + name,
                       .unit = Unit::calls,
                       .roof = "",
                       .quick = true,
                       .tolerance = 1e-6,
                       .prepare = prepare});
}

Contender plain(const Target& target, const tern::Tensor& x, const tern::Tensor& y) {
  return target.tern([=] { const tern::Tensor z = x * y; }, [=] { return sample(x * y); });
}

Contender recorded(const Target& target, const tern::Tensor& x, const tern::Tensor& y) {
  const tern::Var a(x), b(y);
  return target.tern([=] { const tern::Var z = a * b; }, [=] { return sample((a * b).value()); });
}

Contender with_backward(const Target& target, const tern::Tensor& x, const tern::Tensor& y) {
  const tern::Var a(x), b(y);
  const tern::Tensor ones = tern::ones({8}, target.device);
  return target.tern([=] { backward(a * b, ones); },
                     [=] {
                       const tern::Gradients g = backward(a * b, ones);
                       return sample(g[a], g[b]);
                     });
}

}  // namespace

void add_overhead(Workloads& workloads, const Target& target) {
  add_call(workloads, target, "op", plain, Expected::product);
  add_call(workloads, target, "recorded", recorded, Expected::product);
  add_call(workloads, target, "recorded_and_backward", with_backward, Expected::gradients);
}

}  // namespace bench
