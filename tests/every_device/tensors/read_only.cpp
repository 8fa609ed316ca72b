// What must not be written into: constant memory, and tensors of which several elements are one place.
#include <numeric>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class ReadOnly : public EveryDevice {};
TERN_EVERY_DEVICE(ReadOnly);

const float kTable[6] = {1, 2, 3, 4, 5, 6};
const double kOnes[3] = {1, 1, 1};

void refused(const std::function<void()>& write) {
  expect_error(ErrorKind::unsupported, {"constant memory", "clone()"}, write);
}

TEST_P(ReadOnly, ConstantMemoryIsReadOnly) {
  if (device() != cpu()) return;
  Tensor x = Tensor::view(kTable, {2, 3});
  expect_values(x * 2, {2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(x.data_ptr<const float>(), kTable);
  const Tensor other = ones({2, 3});
  refused([&] { x += other; });
  refused([&] { x -= 1; });
  refused([&] { x *= other; });
  refused([&] { x /= 2; });
  refused([&] { x.copy_from(other); });
  refused([&] { x.slice(0, 0, 1) += 1; });
  refused([&] { x[1].copy_from(ones({3})); });
  refused([&] { x.reshape({3, 2}).transpose(0, 1) *= 2; });
  refused([&] { Tensor y = x; y += 1; });
  refused([&] { x.data_ptr<float>(); });
  refused([&] { Var(x).value().slice(1, 0, 2).copy_from(ones({2, 2})); });
  refused([&] { capture(cpu(), [&] { x += other; }); });
  Tensor bits = Tensor::view(reinterpret_cast<const float16*>(kTable), {4});
  refused([&] { bits.copy_from(zeros({4}, f16)); });
  Tensor copy = x.clone();
  copy += 1;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(kTable[i], static_cast<float>(i + 1));
}
TEST_P(ReadOnly, OptimisersAndAccumulatorsRefuseConstantMemory) {
  if (device() != cpu()) return;
  const Var weight(Tensor::view(kTable, {2, 3}));
  refused([&] { optim::SGD({weight}, {}); });
  refused([&] { optim::AdamW({weight}, {}); });
  Tensor x = ones({2, 3}), grad = ones({2, 4});
  MatmulBiasActivationGrads into{zeros({2, 3}), zeros({3, 4}), Tensor::view(kTable, {4})};
  refused([&] { matmul_bias_activation_bwd(grad, x, ones({3, 4}), ones({4}), op::relu, {.accumulate_into = &into}); });
  expect_values(into.d_a, {2, 3}, {0, 0, 0, 0, 0, 0});  // nothing was written
  into = {Tensor::view(kTable, {2, 3}), zeros({3, 4}), zeros({4})};
  refused([&] { matmul_bias_activation_bwd(grad, x, ones({3, 4}), ones({4}), op::relu, {.accumulate_into = &into}); });
  expect_values(into.d_b, {3, 4}, std::vector<double>(12, 0));
}
TEST_P(ReadOnly, MemoryThatIsNotConstantIsWritten) {
  if (device() != cpu()) return;
  std::vector<double> memory(3, 1);
  Tensor::view(memory.data(), {3}) += Tensor::view(kOnes, {3});
  EXPECT_EQ(memory, (std::vector<double>{2, 2, 2}));
}

/// As d_bias: each member, broadcast along either axis.
TEST_P(ReadOnly, AccumulatorsAreNoBroadcastViews) {
  const Tensor a = ones({2, 3}), b = ones({3, 4}), bias = ones({4}), grad = ones({2, 4});
  const auto run = [&](MatmulBiasActivationGrads into, const char* name) {
    expect_error(ErrorKind::shape, {"accumulate_into", name, "broadcast view"},
                 [&] { matmul_bias_activation_bwd(grad, a, b, bias, op::identity, {.accumulate_into = &into}); });
    for (const Tensor& t : {into.d_a, into.d_b, into.d_bias})
      if (t.defined()) {
        EXPECT_EQ(sum(abs(t)).item<float>(), 0) << name;  // nothing was written
      }
  };
  run({zeros({1, 3}).broadcast_to({2, 3}), zeros({3, 4}), zeros({4})}, "d_a");
  run({zeros({2, 1}).broadcast_to({2, 3}), {}, {}}, "d_a");
  run({zeros({2, 3}), zeros({1, 4}).broadcast_to({3, 4}), zeros({4})}, "d_b");
  run({{}, zeros({3, 1}).broadcast_to({3, 4}), {}}, "d_b");
  run({zeros({2, 3}), zeros({3, 4}), zeros({1}).broadcast_to({4})}, "d_bias");
}
TEST_P(ReadOnly, ElementsThatShareAPlace) {
  if (device() != cpu()) return;
  std::vector<float> memory(32, 0);
  for (const auto& [shape, strides] : {std::pair<Shape, std::vector<std::int64_t>>{{3, 4}, {2, 1}},
                                       {{3, 4}, {3, 1}},
                                       {{2, 2}, {1, 1}},
                                       {{2, 3}, {-1, 1}},
                                       {{2, 2, 3}, {3, 4, 1}}}) {
    Tensor x = Tensor::view(memory.data() + 8, shape, strides);
    expect_error(ErrorKind::shape, {"one place in memory"}, [&] { x += 1; });
    EXPECT_EQ(sum(x).item<float>(), 0);  // reading works
  }
  for (const auto& [shape, strides] : {std::pair<Shape, std::vector<std::int64_t>>{{3, 4}, {4, 1}},
                                       {{3, 4}, {1, 3}},
                                       {{3, 1, 2}, {-2, 0, 1}},
                                       {{2, 3}, {8, -2}},
                                       {{1, 4}, {0, 1}},
                                       {{0, 4}, {0, 0}}}) {
    std::fill(memory.begin(), memory.end(), 0.0f);
    Tensor x = Tensor::view(memory.data() + 8, shape, strides);
    x += 1;
    EXPECT_EQ(sum(x).item<float>(), static_cast<float>(x.numel()));
    EXPECT_EQ(std::accumulate(memory.begin(), memory.end(), 0.0f), static_cast<float>(x.numel()));
  }
}

}  // namespace
}  // namespace tern::test
