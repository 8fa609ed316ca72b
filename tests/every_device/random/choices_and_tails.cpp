// Weights that are none, and the tails of distributions.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class ChoicesAndTails : public EveryDevice {};
TERN_EVERY_DEVICE(ChoicesAndTails);

constexpr std::uint64_t kSeedOfATail = 11;

TEST_P(ChoicesAndTails, WeightsThatAreNone) {
  const bool here = device() == cpu();
  const auto refused = [&](const std::string& op, const std::string& got, auto draw) {
    Generator g{1}, same{1};
    if (!here) return expect_error(ErrorKind::index, {op, "negative"}, [&] { draw(g); });
    expect_error(ErrorKind::value, {op, got}, [&] { draw(g); });
    EXPECT_EQ(doubles(rand({4}, g)), doubles(rand({4}, same))) << "nothing was drawn";
  };
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const auto weights = [&](const std::vector<float>& list, const std::string& got) {
    const Tensor w = tensor(list, {2, 3}, device());
    refused("multinomial", got, [&](Generator& g) { multinomial(w, 1, true, g); });
    refused("multinomial", got, [&](Generator& g) { multinomial(w, 2, false, g); });
  };
  weights({1, 2, 3, 1, -2, 1}, "list 1 of f32[2, 3] has a -2.0");
  weights({1, nan, 3, 1, 2, 1}, "list 0 of f32[2, 3] has a nan");
  weights({1, 2, 3, 0, 0, 0}, "list 1 of f32[2, 3] has no other");
  weights({1, 2, 3, 0, inf, 0}, "has a inf");
  EXPECT_EQ(multinomial(tensor({0.0f, 0.0f, 3.0f}), 5, true, Generator{1}).to_vector<std::int32_t>(),
            std::vector<std::int32_t>(5, 2));
  EXPECT_EQ(multinomial(zeros({0, 3}), 2, true, Generator{1}).shape(), (Shape{0, 2}));
}
TEST_P(ChoicesAndTails, LogitsThatAreNone) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const ErrorKind kind = device() == cpu() ? ErrorKind::value : ErrorKind::index;
  expect_error(kind, {"categorical", "-inf"}, [&] { categorical(tensor({-inf, -inf}), {2}, Generator{1}); });
  expect_error(kind, {"categorical"}, [&] { categorical(tensor({0.0f, nan}), {2}, Generator{1}); });
  EXPECT_EQ(categorical(tensor({-inf, 0.0f}), {2}, Generator{1}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(categorical(Var(tensor({-inf, 0.0f})), {2}, Generator{1}).shape(), Shape{2});
  EXPECT_EQ(multinomial(Var(tensor({1.0f, 0.0f})), 2, true, Generator{1}).shape(), Shape{2});
  Tensor w = tensor({1.0f, 2.0f}), drawn;
  Generator g{1};
  const Graph graph = capture(device(), [&] { drawn = multinomial(w, 3, true, g); });
  graph.replay();
  assign(w, -1);
  expect_error(ErrorKind::index, {"multinomial"}, [&] { graph.replay(), synchronize(device()); });
}
/// f32's largest number below 1 gives -2.8118, the least of its numbers, and f64's -3.6. One seed in 17 has a number
/// between; this one has.
TEST_P(ChoicesAndTails, GumbelReachesTheLeftTail) {
  const auto least = [&](DType dtype) {
    return doubles(min(gumbel(0.0, 1.0, {1 << 20}, Generator{kSeedOfATail}, {.dtype = dtype, .device = device()})))[0];
  };
  EXPECT_GE(least(f32), -2.812);
  if (!supports(device(), f64)) return;
  EXPECT_LT(least(f64), -2.813);
  EXPECT_GT(least(f64), -3.61);
}
TEST_P(ChoicesAndTails, CountsEndWhereProbabilitiesVanish) {
  for (const DType dtype : dtypes_of(device(), {f32, f64})) {
    const Options options{.dtype = dtype, .device = device()};
    EXPECT_LE(doubles(max(poisson(9.5, {1 << 18}, Generator{2}, options)))[0], 40);
    EXPECT_LE(doubles(max(poisson(1e-6, {1 << 18}, Generator{2}, options)))[0], 2);
    EXPECT_LE(doubles(max(binomial(1000, 0.009, {1 << 18}, Generator{2}, options)))[0], 40);
  }
}
TEST_P(ChoicesAndTails, OfFractionsOfTrialsThereAreNone) {
  const Tensor trials = tensor({2.5f, 2.0f, 100.5f, 100.0f}, device());
  for (const float p : {0.3f, 0.7f}) {
    const std::vector<double> drawn = doubles(binomial(trials, p, {50, 4}, Generator{5}, {.device = device()}));
    for (std::size_t i = 0; i < drawn.size(); ++i)
      EXPECT_TRUE(i % 2 ? drawn[i] == std::floor(drawn[i]) : std::isnan(drawn[i])) << i << ": " << drawn[i];
  }
}

}  // namespace
}  // namespace tern::test
