// Horizontally fused requests: CUDA's kernels on the host against the CPU.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include <list>

#include "horizontal.hpp"
#include "on_host.hpp"

namespace tern::test {
namespace {

class OnHostHorizontal : public OnHostGpu {};

/// Requests that do not depend on each other, in as few launches as there are kernels.
TEST_F(OnHostHorizontal, RequestsInOneLaunch) {
  HostGpu gpu(false);
  const auto numbers = [](std::size_t i) { return 0.25 * static_cast<double>(i + 1); };
  std::vector<Tensor> p, g, p_cpu, g_cpu;
  const auto add = [&](const Tensor& parameter, const Tensor& gradient) {
    p_cpu.push_back(parameter.clone()), g_cpu.push_back(gradient);
    p.push_back(gpu.from(parameter)), g.push_back(gpu.from(gradient));
  };
  for (const std::int64_t n : {1, 2, 3, 4, 5, 0, 1023, 1024, 1025, 5000, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    add(random({n}, f32), random({n}, f32));
  for (std::int64_t n = 0; n < 60; ++n)
    add(random({n % 8 + 1}, f32), random({n % 8 + 1}, f32));  // more than a launch takes
  add(random({30, 17}, f32), random({30, 17}, f32));
  add(random({3, 5}, f32), random({5}, f32));
  g.back() = g.back().broadcast_to({3, 5});
  for (const std::int64_t n : {5, 64}) add(random({n}, bf16), random({n}, bf16));
  for (int round = 0; round < 3; ++round) {  // planned, and as it was planned
    const int before = gpu.launches;
    step_horizontally(p, g, numbers);
    EXPECT_EQ(gpu.launches - before, 4) << "round " << round;
    for (std::size_t i = 0; i < p.size(); ++i) {
      p_cpu[i] = (p_cpu[i].to(f32) - numbers(i) * g_cpu[i].to(f32)).to(p_cpu[i].dtype());
      EXPECT_EQ(values(HostGpu::to_cpu(p[i])), values(p_cpu[i])) << i;
    }
  }
}

/// Those that have kernels of their own keep their numbers when the list is met again.
TEST_F(OnHostHorizontal, RequestsOfSeveralKinds) {
  HostGpu gpu(false);
  const detail::FormulaGraph* const scaled = detail::graph_of([](auto v, auto f) { return v * f; });
  const detail::FormulaGraph* const centred = detail::graph_of([](auto v, auto f) { return v - f * sum(v); });
  const Tensor x = random({8}, f32);
  const double total = values(sum(x.to(f64)))[0];
  for (int round = 0; round < 3; ++round) {
    std::list<detail::BoundCall> calls;
    std::vector<detail::FusedRequest> requests;
    Tensor results[3];
    const Tensor here = gpu.from(x);
    for (int i = 0; i < 3; ++i) {
      const detail::Argument arguments[] = {detail::Argument(here), detail::Argument(i + 2.0 + round)};
      const detail::FusedCall call{"call", i == 1 ? centred : scaled, i == 1 ? 1u : 0u, {}};
      detail::bind_call(x.shape(), detail::with_numbers(call, arguments), arguments, {}, {&results[i], 1},
                        calls.emplace_back());
      requests.push_back(calls.back().request());
    }
    detail::run_horizontally(gpu, requests);
    for (int i = 0; i < 3; ++i)
      for (int e = 0; e < 8; ++e) {
        const double v = values(x)[static_cast<std::size_t>(e)], f = i + 2.0 + round;
        EXPECT_NEAR(values(HostGpu::to_cpu(results[i]))[static_cast<std::size_t>(e)], i == 1 ? v - f * total : v * f,
                    1e-4)
            << i << " round " << round;
      }
  }
}

}  // namespace
}  // namespace tern::test

#endif
