// Recorded operations come from pooled memory: once warm, one makes no allocation. The CPU's memory is pooled, too.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tern/tern.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TERN_COUNTS_ALLOCATIONS 0
#else
#define TERN_COUNTS_ALLOCATIONS 1
namespace {
std::atomic<long> allocations{0};
}
// Not inlined: the compiler would see free() at the end of a new.
#define TERN_NOINLINE __attribute__((noinline))
TERN_NOINLINE void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* block = std::malloc(bytes ? bytes : 1)) return block;
  throw std::bad_alloc();
}
TERN_NOINLINE void operator delete(void* block) noexcept { std::free(block); }
TERN_NOINLINE void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace tern {
namespace {

#if TERN_COUNTS_ALLOCATIONS
template <class F> long allocations_of(F f) {
  for (int i = 0; i < 100; ++i) f();
  const long before = allocations;
  for (int i = 0; i < 100; ++i) f();
  return allocations - before;
}
TEST(Allocations, NoneForARecordedOperationOnceWarm) {
  const Tensor a = ones({8}, cpu()), b = ones({8}, cpu());
  const Var x(a), y(b);
  const double slope = 0.5;
  const Pointwise bent{"bent", [slope](auto u, auto v) { return slope * u + sin(v); }};
  const Pointwise leaky{"leaky", [slope](auto u) { return maximum(u, slope * u); }};
  EXPECT_EQ(allocations_of([&] { x * y; }), 0);
  EXPECT_EQ(allocations_of([&] { tanh(x) + 1; }), 0);
  EXPECT_EQ(allocations_of([&] { silu_mul(x, y); }), 0);
  EXPECT_EQ(allocations_of([&] { bent(x, y); }), 0);
  EXPECT_EQ(allocations_of([&] { a * b; }), 0);
  const Var m(ones({8, 8}, cpu())), n(ones({8, 8}, cpu())), bias(ones({8}, cpu()));
  EXPECT_EQ(allocations_of([&] { matmul(m, n); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul_bias(m, n, bias); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul_bias_activation(m, n, bias, op::gelu); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul_bias_activation(m, n, bias, leaky); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul_activation(m, n, op::tanh); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul_bias_residual(m, n, bias, m); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul(m.value(), n.value()); }), 0);
  EXPECT_EQ(allocations_of([&] { matmul_bias_activation(m.value(), n.value(), bias.value(), op::silu); }), 0);
  EXPECT_GT(allocations_of([] { ::operator delete(::operator new(3)); }), 0) << "the count works";
}
/// Memory of tensors goes round: freshly mapped memory would cost a page fault for each 4 KiB written.
TEST(Allocations, NoPageFaultsForLargeTensorsOnceWarm) {
  const Tensor a = ones({1 << 20}, cpu()), b = ones({1 << 20}, cpu());
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const auto step = [&] { exp(a * b + a); };
  const long cold = faults();
  for (int i = 0; i < 5; ++i) step();
  const long before = faults();
  for (int i = 0; i < 20; ++i) step();
  EXPECT_LT(faults() - before, 100) << "20 steps write 61,440 pages of 4 KiB";
  EXPECT_GT(before - cold, 0) << "the count works";
}
#endif

}  // namespace
}  // namespace tern
