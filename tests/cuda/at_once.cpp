// The CUDA backend from several threads at once, on tests/cuda/fake_driver.cpp, which computes nothing: memory, kernels
// made once, requests prepared once, streams.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tern/tern.hpp"

namespace tern::test {
namespace {

class FakeCudaThreads : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TERN_CUDA_DRIVER", TERN_FAKE_CUDA, 1);
    setenv("TERN_CACHE_DIR", TERN_FAKE_CACHE "/Threads", 1);
    set_default_device(cuda());
  }
  void TearDown() override { set_default_device(cpu()); }
};

TEST_F(FakeCudaThreads, MakeKernelsAndUseMemoryAtOnce) {
  const Tensor shared = zeros({64, 32}), weights = zeros({32, 16});
  std::atomic<bool> go{false};
  std::atomic<int> copied{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      set_default_device(cuda(t % 2));
      const Tensor own = t % 2 ? zeros({64, 32}) : shared, w = t % 2 ? zeros({32, 16}) : weights;
      while (!go) std::this_thread::yield();
      for (int i = 0; i < 8; ++i) {
        const Var x(own), y(w);
        backward(sum(tanh(matmul(x, y)) * (1 + i)));
        softmax(own + i), sum(own, i % 2), own.slice(0, i, i + 8).contiguous();
        copied += tensor({1.0f, 2.0f}).to_vector<float>() == std::vector<float>{1, 2};
      }
      synchronize(cuda(t % 2));
    });
  go = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(copied, 32);
}

}  // namespace
}  // namespace tern::test
