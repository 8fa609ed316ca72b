// tern from several threads at once.
#include <atomic>
#include <chrono>
#include <thread>

#include "every_device/reference.hpp"
#include "processor_time.hpp"

namespace tern::test {
namespace {

class Threads : public EveryDevice {};
TERN_EVERY_DEVICE(Threads);

/// Runs f(i) on `count` threads at the same time.
template <class F> void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  std::atomic<bool> go{false};
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      while (!go) std::this_thread::yield();
      f(i);
    });
  go = true;
  for (std::thread& t : threads) t.join();
}
TEST_P(Threads, ConstUseOfSharedTensors) {
  Random random(101);
  const Tensor a = random.tensor({200, 150}, f32, device()), b = random.tensor({150, 100}, f32, device()),
               bias = random.tensor({100}, f32, device());
  const std::vector<double> product = doubles(matmul_bias_activation(a, b, bias, op::gelu)), total = doubles(sum(a, 0)),
                            soft = doubles(softmax(a.transpose(0, 1)));
  std::atomic<int> wrong{0};
  on_threads(4, [&](int) {
    for (int i = 0; i < 20; ++i) {
      wrong += doubles(matmul_bias_activation(a, b, bias, op::gelu)) != product;
      wrong += doubles(sum(a, 0)) != total;
      wrong += doubles(softmax(a.transpose(0, 1))) != soft;
    }
  });
  EXPECT_EQ(wrong, 0);
}
TEST_P(Threads, NewFormulasOnAllThreadsAtOnce) {
  const Tensor x = ones({1000});
  std::atomic<int> wrong{0};
  on_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      const double k = t + 10 * i;
      wrong += doubles(Pointwise("k", [k](auto v) { return v * k + exp(v - 1); })(x))[999] != k + 1;
      wrong += doubles(Pointwise("nested", [](auto v) { return tanh(v) * 0 + sigmoid(v) * 0 + sqrt(v); })(x))[0] != 1;
    }
  });
  EXPECT_EQ(wrong, 0);
}
TEST_P(Threads, BackwardOnEachThread) {
  Random random(102);
  const Tensor a = random.tensor({40, 30}, f32, device()), b = random.tensor({30, 20}, f32, device()),
               bias = random.tensor({20}, f32, device());
  const auto gradient = [&] {
    const Var x(a), w(b), z(bias);
    return doubles(backward(sum(silu_mul(matmul_bias_activation(x, w, z, op::tanh), z)))[w]);
  };
  const std::vector<double> want = gradient();
  std::atomic<int> wrong{0};
  on_threads(4, [&](int) {
    for (int i = 0; i < 30; ++i) wrong += gradient() != want;
  });
  EXPECT_EQ(wrong, 0);
}
TEST_P(Threads, SharedLeavesOnSeveralThreads) {
  const Var x(tensor({1.0f, 2.0f}));
  std::atomic<int> wrong{0};
  on_threads(4, [&](int t) {
    for (int i = 0; i < 100; ++i)
      wrong += doubles(backward(sum(x * x * (t + 1)))[x]) != std::vector<double>{2.0 * (t + 1), 4.0 * (t + 1)};
  });
  EXPECT_EQ(wrong, 0);
}
TEST_P(Threads, DefaultDeviceAndNoGradAreOfTheirThread) {
  const NoGrad guard;
  bool enabled = false;
  Device at_start = device();
  std::thread([&] {
    enabled = grad_enabled();
    at_start = default_device();
    set_default_device(present_devices().back());
  }).join();
  EXPECT_TRUE(enabled);
  EXPECT_EQ(at_start, cpu()) << "of a new thread, whatever this one set (TERN_DEVICE is not set in tests)";
  EXPECT_EQ(default_device(), device());
}
TEST_P(Threads, SetNumThreads) {
  const int before = num_threads();
  EXPECT_GE(before, 1);
  const Tensor x = Random(103).tensor({500, 700}, f32, device());
  std::vector<double> want;
  for (const int n : {1, 2, 3, 8, 64}) {
    set_num_threads(n);
    EXPECT_EQ(num_threads(), n);
    const std::vector<double> got = doubles(matmul(exp(x), x.transpose(0, 1)));
    if (want.empty()) want = got;
    EXPECT_EQ(got, want) << n << " threads";
  }
  set_num_threads(before);
}
/// Between operations tern's threads sleep: in a pause of 200 ms a thread that looked for work would use all of it.
/// Processor time, which other programs do not add to.
TEST_P(Threads, NothingSpinsInAPause) {
  const int before = num_threads();
  set_num_threads(4);
  const Tensor m = full({256, 256}, 0.5);
  for (int i = 0; i < 3; ++i) matmul(m, m), sum(m);
  synchronize(device());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // threads may look for more work for a moment
  const double start = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(processor_seconds() - start, 0.05);
  set_num_threads(before);
}
TEST_P(Threads, ChangingTheNumberWhileOthersCompute) {
  const int before = num_threads();
  const Tensor x = Random(104).tensor({300, 300}, f32, device());
  const std::vector<double> want = doubles(matmul(x, x));
  std::atomic<int> wrong{0};
  on_threads(3, [&](int t) {
    for (int i = 0; i < (in_software(device()) ? 4 : 30); ++i) {
      if (t == 0) set_num_threads(1 + i % 4);
      else wrong += doubles(matmul(x, x)) != want;
    }
  });
  set_num_threads(before);
  EXPECT_EQ(wrong, 0);
}
TEST_P(Threads, ErrorsOnOneThreadLeaveOthersAlone) {
  const Tensor x = ones({100, 100});
  std::atomic<int> thrown{0}, wrong{0};
  on_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      if (t % 2) wrong += doubles(sum(x))[0] != 10000;
      else try { take(x, tensor({5, 1000})); } catch (const Error&) { ++thrown; }
    }
  });
  EXPECT_EQ(thrown, 100);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tern::test
