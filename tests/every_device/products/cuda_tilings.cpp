// Products on the matrix units of real CUDA GPUs take their tiles in several ways, among which a rule for shapes and
// the tuner choose. Each adds up along k in the same order: all give the same bits.
#include <cmath>
#include <map>

#include "backend/instruments/tuning.hpp"
#include "every_device/runtime/cuda_devices.hpp"

namespace tern::test {
namespace {

class CudaTilings : public EveryDevice {
 protected:
  void TearDown() override {
    for (const auto& [choice, value] : before_) choice->set(value, "before the test");
    EveryDevice::TearDown();
  }
  /// Sets what products on matrix units have asked for so far; false where nothing did: another GPU than those with
  /// these units.
  bool tell(std::int64_t tiling) {
    for (detail::Choice* choice : detail::choices())
      if (choice->key.starts_with("product.tiling")) {
        before_.emplace(choice, choice->value());
        choice->set(tiling, "the test");
      }
    return !before_.empty();
  }
  struct Case {
    std::int64_t batches, m, k, n;
    bool a_transposed = false, b_transposed = false;
    DType dtype = bf16;
  };
  static Tensor factor(const Case& c, std::int64_t rows, std::int64_t columns, bool transposed, int seed) {
    const Options options{.dtype = c.dtype, .device = cpu()};
    Generator generator{static_cast<std::uint64_t>(seed)};
    if (!transposed) return rand({c.batches, rows, columns}, generator, options) - 0.5;
    return (rand({c.batches, columns, rows}, generator, options) - 0.5).transpose(1, 2);
  }
  /// The results and pre-activations here.
  static std::vector<Tensor> run(const std::vector<Tensor>& x, const Pointwise<>& activation) {
    Tensor pre;
    Tensor with_pre = matmul_bias_activation(x[0], x[1], x[2], activation, {.save_pre_activation = &pre});
    return {with_pre.to(cpu()), pre.to(cpu()), matmul_bias_activation(x[0], x[1], x[2], activation).to(cpu())};
  }
  void check(const Case& c) {
    const std::string what = std::string(to_string(c.dtype)) + " " + to_string(Shape{c.batches, c.m, c.k, c.n}) +
                             (c.a_transposed ? " t" : " n") + (c.b_transposed ? "t" : "n");
    const Tensor a = factor(c, c.m, c.k, c.a_transposed, 1), b = factor(c, c.k, c.n, c.b_transposed, 2),
                 bias = factor(c, 1, c.n, false, 3);
    // A transposed copy would not be transposed on the GPU.
    const auto there = [&](const Tensor& t, bool transposed) {
      return transposed ? t.transpose(1, 2).to(device()).transpose(1, 2) : t.to(device());
    };
    const std::vector<Tensor> x{there(a, c.a_transposed), there(b, c.b_transposed),
                                there(bias, false).slice(0, 0, 1).reshape({c.n})};
    tell(0);  // the rule
    const std::vector<Tensor> first = run(x, op::silu);
    const Tensor exact = matmul(a.to(f64), b.to(f64)) + bias.slice(0, 0, 1).to(f64);
    // Half a unit in the last place of 16 bits, and what adding k products of up to 1/4 in f32 may lose.
    const double lost = static_cast<double>(c.k) * static_cast<double>(c.k) / 4 * std::exp2(-24);
    EXPECT_TRUE(all(abs(first[1].to(f64) - exact) <= abs(exact) * std::exp2(c.dtype == bf16 ? -8 : -11) + (lost + 1e-7))
                    .item<bool>())
        << what;
    if (!tell(1)) return;
    const std::vector<Tensor> halves = run(x, op::silu);
    for (const std::int64_t tiling : {2, 3}) {
      tell(tiling);
      const std::vector<Tensor> got = run(x, op::silu);
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(all(got[i] == halves[i]).item<bool>()) << what << ", tiling " << tiling << ", result " << i;
    }
  }

 private:
  std::map<detail::Choice*, std::int64_t> before_;
};

TEST_P(CudaTilings, GiveTheSameBits) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      check({1, 2088, 200, 1000, a, b});
      check({1, 300, 72, 200, a, b});
    }
  check({1, 20000, 8, 200});  // a step along k, and many tiles of each warp group
  check({1, 4096, 72, 2560}), check({1, 264, 2056, 2400});
  check({1, 4096, 840, 2560}), check({1, 4096, 840, 2560, false, true});  // more steps than stages, and several tiles
  check({1, 4096, 136, 1288, false, false, f16});
  check({3, 1032, 136, 328}), check({2, 8, 2048, 8});
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaTilings);
INSTANTIATE_TEST_SUITE_P(Devices, CudaTilings, testing::ValuesIn(cuda_devices()), device_name);

}  // namespace
}  // namespace tern::test
