// What makes a kernel and what does not: values and sizes never do; structure, dtype and layout class may. And graphs
// are interned: the same formula is one graph, and nothing grows with values.
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

/// How many nodes there are: the serial of a node that is new.
std::uint64_t arena_size() {
  static double fresh = 0.12345678901;
  fresh += 1e-9;
  return detail::make_constant(Number(fresh)).node()->serial;
}
std::int64_t kernels(Device device) { return cache_stats(device).kernels; }

class Keys : public test::EveryDevice {};

TEST_P(Keys, TenThousandCapturedValuesMakeOneKernel) {
  const Tensor x = tensor({0.5, -1.0, 2.0});
  const auto apply = [&](double a, double b) {
    const Pointwise<> p{"affine", [a, b](auto v) { return a * tanh(v) + b; }};
    return p(x);
  };
  const std::int64_t kernels_before = kernels(device());
  const std::uint64_t nodes_before = arena_size();
  std::vector<float> got, want;
  for (int i = 0; i < 10'000; ++i) got.push_back(apply(1e-3 * i, i).slice(0, 1, 2).item<float>());
  EXPECT_LE(kernels(device()) - kernels_before, 1);
  EXPECT_LE(arena_size() - nodes_before, 6u) << "tanh, the product, the sum and their inputs: nodes for 10,000 values";
  const float t = tanh(x).slice(0, 1, 2).item<float>();
  for (int i = 0; i < 10'000; ++i) want.push_back(static_cast<float>(1e-3 * i) * t + static_cast<float>(i));
  for (std::size_t i = 0; i < got.size(); ++i)  // a device may contract: rounded once in place of twice
    ASSERT_NEAR(got[i], want[i], 0x1p-23 * want[i]) << "the values passed are the values used";
}

TEST_P(Keys, CapturedValuesInGradientsMakeOneKernel) {
  const Tensor x = tensor({0.5, -1.0, 2.0}), one = ones({3});
  const auto gradient = [&](double a) {
    const Pointwise<> p{"scaled", [a](auto v) { return exp(a * v); }};
    const Var v(x);
    return backward(p(v), one)[v];
  };
  gradient(0.25);
  const std::int64_t kernels_before = kernels(device());
  const std::uint64_t nodes_before = arena_size();
  for (int i = 0; i < 2000; ++i) gradient(1e-3 * i);
  EXPECT_LE(kernels(device()) - kernels_before, 0);
  EXPECT_LE(arena_size() - nodes_before, 2u);
}

TEST_P(Keys, PlainNumbersAreParameters) {
  const Tensor x = tensor({0.5, -1.0, 2.0});
  (void)(x * 0.25);
  const std::int64_t kernels_before = kernels(device());
  const std::uint64_t nodes_before = arena_size();
  for (int i = 0; i < 2000; ++i) (void)(x * (1e-3 * i));
  EXPECT_LE(kernels(device()) - kernels_before, 0);
  EXPECT_LE(arena_size() - nodes_before, 2u);
}

TEST_P(Keys, SizesDoNotMatter) {
  const Tensor x = zeros({4096});
  (void)silu(x);
  (void)silu(x.slice(0, 1, 130));
  const std::int64_t before = kernels(device());
  for (std::int64_t size = 1; size < 4096; size += 37) (void)silu(zeros({size}));
  EXPECT_LE(kernels(device()) - before, 0) << "contiguous, any size";
  for (std::int64_t offset = 0; offset < 64; ++offset) (void)silu(x.slice(0, offset, offset + 128));
  EXPECT_LE(kernels(device()) - before, 4) << "offsets: at most a kernel an alignment class";
}

TEST_P(Keys, OfEveryEntryDoNotDependOnSizes) {
  for (const Subject& e : entries_where([](const Subject& e) { return e.takes_floats(); })) {
    const auto run = [&](std::int64_t size) {
      std::vector<Tensor> x;
      for (int i = 0; i < e.arity(); ++i) x.push_back(e.condition(i) ? zeros({size}) == 0 : zeros({size}));
      (void)call(e, x);
    };
    run(64);
    const std::int64_t before = kernels(device());
    for (const std::int64_t size : {1, 3, 65, 128, 1000, 5000}) run(size);
    EXPECT_LE(kernels(device()) - before, 0) << e.name;
  }
}

TERN_EVERY_DEVICE(Keys);

TEST(Graphs, AreInterned) {
  const auto formula = [](auto x) { return x * tanh(softplus(x)); };
  const Pointwise<> a{"a", formula}, b{"another name", [](auto v) { return v * tanh(softplus(v)); }};
  EXPECT_EQ(a.graph(), b.graph());
  EXPECT_NE(a.graph(), op::silu.graph());
  const std::uint64_t before = arena_size();
  for (int i = 0; i < 100; ++i) EXPECT_EQ((Pointwise<>{"again", formula}).graph(), a.graph());
  EXPECT_LE(arena_size() - before, 2u);
}

TEST(Graphs, OfCapturingLambdasHoldNoValues) {
  const auto make = [](double a) { return Pointwise<>{"scale", [a](auto x) { return x * a + 1; }}; };
  const Pointwise<> one = make(1), two = make(2.5);
  EXPECT_EQ(one.graph(), two.graph());
  ASSERT_EQ(one.values().size(), 2u) << "the captured number and the literal";
  EXPECT_EQ(one.values()[0].real, 1);
  EXPECT_EQ(two.values()[0].real, 2.5);
  EXPECT_EQ(two.values()[1].real, 1);
}

TEST(Graphs, CapturedValuesFollowTheirPointwise) {
  const auto make = [](double a) { return Pointwise<>{"scale", [a](auto x) { return x * a; }}; };
  Pointwise<> kept = op::tanh;
  EXPECT_TRUE(kept.values().empty());
  {
    const Pointwise<> p = make(3), copy = p;
    EXPECT_EQ(p.values().data(), copy.values().data()) << "copies share";
    kept = copy;
  }
  ASSERT_EQ(kept.values().size(), 1u) << "the copy outlives the original";
  EXPECT_EQ(kept.values()[0].real, 3);
  kept = make(4);
  EXPECT_EQ(kept.values()[0].real, 4);
  kept = op::exp;
  EXPECT_TRUE(kept.values().empty());
}

TEST(Graphs, OfTheRegistryAreStable) {
  for (const Subject& e : registry()) {
    EXPECT_EQ(e.graph(), e.graph()) << e.name;
    EXPECT_EQ(e.graph()->outputs.size(), 1u) << e.name;
    EXPECT_NE(e.graph()->key, 0u) << e.name;
    for (const Subject& other : registry())
      if (e.op != other.op && e.graph() != other.graph()) {
        EXPECT_NE(e.graph()->key, other.graph()->key) << e.name << " and " << other.name;
      }
  }
}

TEST(Graphs, GradientsAreKept) {
  for (const Subject& e : registry()) {
    const detail::IndexSet all = detail::first_indices(static_cast<std::size_t>(e.arity()));
    const detail::GradientGraph& first = detail::gradient(e.graph(), 1, all);
    const std::uint64_t before = arena_size();
    EXPECT_EQ(&first, &detail::gradient(e.graph(), 1, all)) << e.name;
    EXPECT_LE(arena_size() - before, 1u) << e.name;
  }
}

}  // namespace
}  // namespace tern::contract
