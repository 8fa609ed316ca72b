// Recorded operations come from pooled memory: once warm, one makes no allocation. The CPU's memory is pooled, too.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tern/optim.hpp"
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
/// What a long program frees at its end is there for its next run.
TEST(Allocations, FewForAThousandRecordedOperations) {
  const Var x(ones({8}, cpu()));
  const auto chain = [&] {
    Var y = x;
    for (int i = 0; i < 1000; ++i) y = y + x;
  };
  EXPECT_LE(allocations_of(chain) / 100, 20);
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
/// Everything a network is made of, forward, unrecorded and recorded.
TEST(Allocations, NoneForAnyOtherOperationOnceWarm) {
  const Tensor t = ones({8, 8}, cpu()), v = ones({8}, cpu()), labels = zeros({8}, {.dtype = i32});
  const Var x(t), w(v), b(v);
  constexpr Pointwise own{"own", [](auto u, auto gain) { return u * rsqrt(mean(u * u) + 1) * gain; }};
  const auto none = [](const char* what, auto f) { EXPECT_EQ(allocations_of(f), 0) << what; };
  none("sum", [&] { sum(x); }), none("sum of a tensor", [&] { sum(t, 0); }), none("mean", [&] {
    mean(x, {0, 1}, true);
  });
  none("max", [&] { max(x, {1}); }), none("logsumexp", [&] { logsumexp(x, 1); }), none("var", [&] { var(x, 1); });
  none("softmax", [&] { softmax(x); }), none("log_softmax", [&] { log_softmax(x); });
  none("causal_softmax", [&] { causal_softmax(x); }), none("rms_norm", [&] { rms_norm(x, w); });
  none("layer_norm", [&] { layer_norm(x, w, b); }), none("add_layer_norm", [&] { add_layer_norm(x, x, w, b); });
  none("row_formula", [&] { row_formula(own, x, w); }), none("cross_entropy", [&] { cross_entropy(x, labels); });
  none("reshape", [&] { x.reshape({64}); }), none("transpose", [&] { x.transpose(0, 1); });
  none("slice", [&] { x.slice(0, 1, 3); }), none("permute", [&] { x.permute({1, 0}); });
  none("broadcast_to",
       [&] {
         w.broadcast_to({8, 8});
       }),
      none("to", [&] { x.to(f64); }), none("clone", [&] { x.clone(); });
  none("zeros", [&] { zeros({8}); }), none("where", [&] { where(t > 0, x, 0); }),
      none("broadcasting", [&] { x* w + b; });
  none("matmul_epilogue", [&] { matmul_epilogue(x, x, [](auto acc, auto z) { return silu(acc + z); }, w); });
  none("matmul_epilogue of a stack", [&] {
    matmul_epilogue(x, x, [](auto gate, auto up) { return silu(gate) * up; }, {.parts = 2});
  });
  const std::vector<Var> two{x, x};
  const std::vector<Tensor> tensors{t, t};
  none("sort", [&] { sort(x, 1); }), none("topk", [&] { topk(x, 3, 1); }),
      none("sort of a tensor", [&] { sort(t, 1); });
  none("concatenate", [&] { concatenate(two); }), none("concatenate tensors", [&] { concatenate(tensors); });
  none("stack", [&] { stack(two); });
  EXPECT_LE(allocations_of([&] { split(x, 2); }), 100) << "split: the list that it gives, a time";
  Generator generator{1};
  none("rand", [&] { rand({8}, generator); });
}
/// A training step: forward, backward, optimiser.
template <class Optimiser> long allocations_of_a_step(bool rows) {
  const Tensor x = full({8, 12}, 0.5), labels = zeros({8}, {.dtype = i32});
  std::vector<Var> p;
  for (const Shape& shape : {Shape{12, 16}, Shape{16}, Shape{16, 4}, Shape{4}, Shape{16}, Shape{16}, Shape{16, 32}})
    p.emplace_back(full(shape, 0.125));
  Optimiser optimiser(p);
  return allocations_of([&] {
    Var h = matmul_bias_activation(x, p[0], p[1], op::gelu);
    if (rows) {
      const Var n = layer_norm(h, p[4], p[5]);
      h = silu_mul(matmul(softmax(matmul(n, n.transpose(0, 1))), n), h) + h;
      h = h * tanh(rms_norm(h, p[4]));
    }
    optimiser.step(backward(cross_entropy(matmul_bias(h, p[2], p[3]), labels)));
  });
}
TEST(Allocations, NoneForATrainingStepOnceWarm) {
  EXPECT_EQ(allocations_of_a_step<optim::SGD>(false), 0);
  EXPECT_EQ(allocations_of_a_step<optim::AdamW>(false), 0);
  EXPECT_EQ(allocations_of_a_step<optim::AdamW>(true), 0);
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
