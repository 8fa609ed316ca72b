// The edges of a process: children of fork(), handlers of exit(), destructors of static objects.
#include "child.hpp"
#include "every_device/reference.hpp"
#include "tern/optim.hpp"

namespace tern::test {

AtTheEnd last_of_all;       // constructed before main(), so destroyed after what tern makes when it is used
Tensor kept_to_the_end;     // freed when everything of tern's that is destroyed at all is gone
Var recorded_to_the_end;

namespace {

class Process : public EveryDevice {};
TERN_EVERY_DEVICE(Process);

/// Everything that keeps something: products, rows, scans, sorts, backward, an optimiser; the bits of their results.
std::vector<double> some_work(Device device) {
  Random random(7);
  const Tensor a = random.tensor({300, 200}, f32, device), b = random.tensor({200, 300}, f32, device);
  const Tensor bias = random.tensor({300}, f32, device);
  const Var x(a), w(b), z(bias);
  const Gradients g = backward(sum(softmax(layer_norm(matmul_bias_activation(x, w, z, op::gelu), z, z))));
  std::vector<double> all = doubles(g[w]);
  for (const Tensor& t : {cumsum(a, 1), sort(a, 1).values, a * a + 1, sum(a, 0), max(a, {1})}) {
    const std::vector<double> more = doubles(t);
    all.insert(all.end(), more.begin(), more.end());
  }
  optim::AdamW optimiser({x});
  optimiser.step(backward(sum(x * x)));
  return all;
}

TEST_P(Process, ForkLeavesAUsableChild) {
  const std::vector<double> want = some_work(device());
  const Tensor old = ones({1000, 100});
  synchronize(device());
  EXPECT_EQ(in_child([&] {
              if (device() == cpu()) return some_work(cpu()) == want && sum(old).item<float>() == 100000;
              int errors = 0;
              const auto refused = [&](auto f) {
                try {
                  f();
                } catch (const Error& error) {
                  errors +=
                      error.kind() == ErrorKind::device && std::string(error.what()).find("fork") != std::string::npos;
                }
              };
              refused([&] { old + 1; });
              refused([&] { sum(old); });
              refused([&] { matmul(old, old.transpose(0, 1)); });
              refused([&] { old.to_vector<float>(); });
              refused([&] { old.to(cpu()); });
              refused([&] { zeros({3}, {.device = device()}); });
              refused([&] { synchronize(device()); });
              refused([&] { memory_stats(device()); });
              for (const DeviceInfo& info : devices())
                errors += info.device.kind() == device().kind() && !info.available && !info.reason.empty();
              set_default_device(cpu());
              return errors == 9 && some_work(cpu()).size() == want.size();
            }),
            0);
  EXPECT_EQ(some_work(device()), want) << "the parent goes on";
}
/// Whatever the parent's other threads hold when it forks, the child finds it open and whole.
TEST_P(Process, ForkWhileOtherThreadsCompute) {
#ifdef __SANITIZE_ADDRESS__  // whose own locks another thread may hold for ever in the child
  constexpr bool sanitized = true;
#else
  constexpr bool sanitized = false;
#endif
  if (device() != cpu() || sanitized) return;
  const std::vector<double> want = some_work(cpu());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        const double k = t + 10 * i;  // new formulas: nodes, graphs, programs and kernels are made all the time
        const Var x(ones({2000 + 64 * (i % 50)}, cpu()));
        (void)backward(sum(Pointwise("k", [k](auto v) { return v * k + tanh(v - 1) * v; })(x)));
        const std::int64_t n = 40 + i % 17;
        (void)matmul_bias_activation(ones({n, n}, cpu()), ones({n, n}, cpu()), ones({n}, cpu()), op::gelu);
      }
    });
  int good = 0;
  for (int i = 0; i < 20; ++i) good += in_child([&] { return some_work(cpu()) == want; }) == 0;
  EXPECT_EQ(good, 20);
  stop = true;
  for (std::thread& t : threads) t.join();
}
TEST_P(Process, AChildForksAgain) {
  if (device() != cpu()) return;
  const std::vector<double> want = some_work(cpu());
  EXPECT_EQ(in_child([&] {
              return some_work(cpu()) == want && in_child([&] { return some_work(cpu()) == want; }) == 0 &&
                     some_work(cpu()) == want;
            }),
            0);
}

Device of_the_end;
/// Works, and ends the process by another status where that fails.
void work_at_the_end() {
  try {
    if (some_work(of_the_end).empty()) _exit(4);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "at the end: %s\n", error.what());
    _exit(5);
  }
}
/// The same for objects that are older than a GPU's driver: where that has ended before, an error says so.
void work_after_the_driver() {
  try {
    if (of_the_end != cpu()) ones({3}, {.device = of_the_end}) + 1;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device && std::string(error.what()).find("ending") != std::string::npos) return;
    std::fprintf(stderr, "after the driver: %s\n", error.what());
    _exit(6);
  }
  work_at_the_end();
}

TEST_P(Process, ChildRunsInStaticDestructors) {
  if (!is_program()) return;
  of_the_end = device(), last_of_all.call = work_after_the_driver;
  kept_to_the_end = ones({100, 100});
  recorded_to_the_end = tanh(Var(kept_to_the_end)) * 2;
  ASSERT_FALSE(some_work(device()).empty());
}
TEST_P(Process, ChildRunsInHandlersOfExit) {
  if (!is_program()) return;
  of_the_end = device();
  ASSERT_EQ(std::atexit(work_after_the_driver), 0);
  kept_to_the_end = ones({100, 100});
  ASSERT_FALSE(some_work(device()).empty());
  ASSERT_EQ(std::atexit(work_at_the_end), 0);
}
/// The first use of all is at the end.
TEST_P(Process, ChildBeginsInStaticDestructors) {
  if (!is_program()) return;
  of_the_end = device();
  last_of_all.call = [] {
    kept_to_the_end = ones({10}, {.device = of_the_end});
    work_at_the_end();
  };
}
/// This test's name with another in its place.
std::string beside(const char* test) {
  const testing::TestInfo* const info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = info->name();
  return std::string(info->test_suite_name()) + "." + test + name.substr(name.find('/'));
}
TEST_P(Process, RunsToItsEnd) {
  EXPECT_EQ(program(beside("ChildRunsInHandlersOfExit")), 0);
  EXPECT_EQ(program(beside("ChildRunsInStaticDestructors")), 0);
  if (device() == cpu()) {
    EXPECT_EQ(program(beside("ChildBeginsInStaticDestructors")), 0);
  }
}

/// What is in use is counted, what is freed is kept within the bound, and given back when it is asked for.
TEST_P(Process, MemoryIsCountedAndBounded) {
  release_memory(device());
  const MemoryStats before = memory_stats(device());
  EXPECT_EQ(before.kept, 0);
  EXPECT_EQ(before.peak, before.live);
  constexpr std::int64_t kMiB = 1 << 20;
  {
    const Tensor big = zeros({16 * kMiB / 4});
    const MemoryStats now = memory_stats(device());
    EXPECT_GE(now.live, before.live + 16 * kMiB);
    EXPECT_LE(now.live, before.live + 19 * kMiB);
    EXPECT_EQ(now.peak, now.live);
  }
  MemoryStats now = memory_stats(device());
  EXPECT_EQ(now.live, before.live);
  EXPECT_GE(now.peak, before.live + 16 * kMiB);
  EXPECT_GE(now.kept, 16 * kMiB);
  // Batches of varying length: 40 sizes, each of another class, none of more than 40 MiB at a time.
  for (std::int64_t size = 20 * kMiB; size <= 40 * kMiB; size += kMiB / 2) {
    const Tensor batch = zeros({size / 4});
    now = memory_stats(device());
    ASSERT_LE(now.live + now.kept, now.peak + now.peak / 2 + 64 * kMiB) << size;
  }
  EXPECT_LE(now.peak, before.live + 46 * kMiB);
  release_memory(device());
  now = memory_stats(device());
  EXPECT_EQ(now.kept, 0);
  EXPECT_EQ(now.live, before.live);
  EXPECT_EQ(now.peak, before.live);
  EXPECT_EQ(sum(ones({1000})).item<float>(), 1000);
}

}  // namespace
}  // namespace tern::test
