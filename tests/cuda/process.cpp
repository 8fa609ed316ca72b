// The CUDA backend at the edges of a process: children of fork(), and memory that is kept.
#include <optional>

#include "child.hpp"
#include "fake.hpp"


namespace tern::test {

Tensor freed_at_the_end;

namespace {

TEST_F(FakeCuda, ChildrenOfForkAreRefused) {
  std::optional<Tensor> old = zeros({1000, 100});
  synchronize(cuda());
  EXPECT_EQ(in_child([&] {
              int errors = 0;
              const auto refused = [&](auto f) {
                try {
                  f();
                } catch (const Error& error) {
                  errors +=
                      error.kind() == ErrorKind::device && std::string(error.what()).find("fork") != std::string::npos;
                }
              };
              refused([&] { *old + 1; });
              refused([&] { sum(*old); });
              refused([&] { matmul(*old, old->transpose(0, 1)); });
              refused([&] { sort(*old, 1); });
              refused([&] { old->to_vector<float>(); });
              refused([&] { zeros({3}); });
              refused([&] { synchronize(cuda()); });
              refused([&] { memory_stats(cuda()); });
              for (const DeviceInfo& info : devices())
                errors += info.device.kind() == DeviceKind::cuda && !info.available && !info.reason.empty();
              old.reset();
              set_default_device(cpu());
              return errors == 9 && sum(ones({300, 300})).item<float>() == 90000;
            }),
            0);
}
TEST_F(FakeCuda, ChildFreesInStaticDestructors) {
  if (!is_program()) return;
  freed_at_the_end = zeros({100, 100});
  synchronize(cuda());
}
TEST_F(FakeCuda, TensorsAreFreedInStaticDestructors) {
  EXPECT_EQ(program("FakeCuda.ChildFreesInStaticDestructors"), 0);
}

TEST_F(FakeCuda, MemoryIsCountedAndBounded) {
  constexpr std::int64_t kMiB = 1 << 20;
  release_memory(cuda());
  const MemoryStats before = memory_stats(cuda());
  EXPECT_EQ(before.kept, 0);
  EXPECT_EQ(before.peak, before.live);
  const long made = calls("cuMemAlloc_v2"), freed = calls("cuMemFree_v2");
  MemoryStats now;
  int sizes = 0;
  for (std::int64_t size = 20 * kMiB; size <= 40 * kMiB; size += 2 * kMiB, ++sizes) {
    const Tensor batch = zeros({size / 4});
    now = memory_stats(cuda());
    EXPECT_GE(now.live, before.live + size);
    ASSERT_LE(now.live + now.kept, now.peak + now.peak / 2 + 64 * kMiB) << size;
  }
  EXPECT_GT(calls("cuMemFree_v2"), freed) << "the sizes asked for longest ago were given up";
  EXPECT_LE(calls("cuMemAlloc_v2"), made + sizes);
  const long steady = calls("cuMemAlloc_v2");
  for (int i = 0; i < 10; ++i) zeros({40 * kMiB / 4});
  EXPECT_EQ(calls("cuMemAlloc_v2"), steady) << "what is asked for again is there";
  release_memory(cuda());
  now = memory_stats(cuda());
  EXPECT_EQ(now.kept, 0);
  EXPECT_EQ(now.live, before.live);
  EXPECT_EQ(now.peak, now.live);
}

}  // namespace
}  // namespace tern::test
