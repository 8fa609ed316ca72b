// The cache of kernels: what warm_up made is found again, kernels of one text are one, and the trace tells of
// compiling.
#include "../every_device/reference.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

class Cache : public testing::Test {
 protected:
  void SetUp() override { set_default_device(webgpu()); }
  void TearDown() override { set_default_device(cpu()); }
};

/// Activations, a product with its backward, a softmax, sorting and an optimizer's step.
class Work {
 public:
  explicit Work(std::int64_t rows) : x_(ones({rows, 40})), labels_(zeros({rows}, i32)) {}
  void operator()() {
    const Var logits = matmul_bias_activation(x_, w_, bias_, op::gelu);
    optimizer_.step(backward(cross_entropy(logits, labels_)));
    sort(softmax(logits.value()), 1);
    (cumsum(logits.value(), 0) * 0.25).to_vector<float>();
  }

 private:
  Tensor x_, labels_;
  Var w_{ones({40, 24}) * 0.01}, bias_{zeros({24})};
  optim::AdamW optimizer_{{w_, bias_}, {.learning_rate = 0.1}};
};

TEST_F(Cache, NothingIsCompiledAfterWarmUp) {
  Work work(96);
  const CacheStats made = warm_up(work);
  EXPECT_GT(made.kernels, 5);
  EXPECT_EQ(made.kernels, made.misses);
  EXPECT_GT(made.milliseconds, 0);
  const CacheStats before = cache_stats(webgpu());
  for (int i = 0; i < 3; ++i) work();
  synchronize(webgpu());
  const CacheStats after = cache_stats(webgpu());
  EXPECT_EQ(after.kernels, before.kernels);
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.milliseconds, before.milliseconds);
  EXPECT_GT(after.hits, before.hits + 3 * made.kernels - 1);
  const CacheStats again = warm_up(work);
  EXPECT_EQ(again.kernels, 0);
  Work larger(104);  // sizes are in no key
  EXPECT_EQ(warm_up(larger).kernels, 0);
}
/// As of CUDA: FakeCuda.ShowsTheKernelsItMakes.
TEST_F(Cache, ShowsTheKernelsItMakes) {
  const Tensor x = zeros({40});
  synchronize(webgpu());
  const auto shown = [](const char* setting, const std::function<void()>& work) {
    setenv("TERN_SHOW_KERNELS", setting, 1);
    testing::internal::CaptureStderr();
    work(), synchronize(webgpu());
    unsetenv("TERN_SHOW_KERNELS");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(shown("", [&] { log1p(x); }), "");
  const std::string text = shown("1", [&] { cos(x); });
  EXPECT_TRUE(text.starts_with("// elementwise\n") && text.ends_with("}\n\n")) << text;
  EXPECT_NE(text.find("@compute @workgroup_size("), text.npos) << text;
  EXPECT_EQ(shown("1", [&] { cos(x); }), "") << "a kernel that is there already";
}
/// Memory goes round, so that a step finds the bind groups of the step before.
TEST_F(Cache, LayoutsAndBindGroupsAreMadeOnce) {
  Work work(96);
  for (int i = 0; i < 4; ++i) work();
  const auto before = detail_webgpu::queue_counts(0);
  EXPECT_GT(before.layouts, 1u);
  EXPECT_GT(before.bind_groups, before.layouts);
  for (int i = 0; i < 4; ++i) work();
  const auto after = detail_webgpu::queue_counts(0);
  EXPECT_GT(after.kernels, before.kernels + 40);
  EXPECT_EQ(after.layouts, before.layouts);
  EXPECT_EQ(after.bind_groups, before.bind_groups);
}
TEST_F(Cache, KernelsAreKnownByTheirText) {
  const Pointwise first("cache_first", [](auto x) { return x * 3.25 + 1.5; });
  const Pointwise second("cache_second", [](auto x) { return x * 3.25 + 1.5; });
  const Tensor x = ones({1000});
  EXPECT_EQ(warm_up([&] { first(x); }).kernels, 1);
  const CacheStats same = warm_up([&] { second(x), x * 3.25 + 1.5; });
  EXPECT_LE(same.kernels, 2) << "the product and the sum on their own";
  EXPECT_EQ(warm_up([&] { second(ones({520})); }).kernels, 0);
}
TEST_F(Cache, TheTraceTellsOfCompiling) {
  const Pointwise fresh("cache_fresh", [](auto x) { return x * 7.75 - 1.125; });
  const Tensor x = ones({1000});
  const std::string first = explain([&] { fresh(x); }), second = explain([&] { fresh(x); });
  EXPECT_NE(first.find("compiled in "), std::string::npos) << first;
  EXPECT_NE(first.find(" ms"), std::string::npos) << first;
  EXPECT_EQ(second.find("compiled"), std::string::npos) << second;
}

}  // namespace
}  // namespace tern::test
