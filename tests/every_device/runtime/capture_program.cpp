// What belongs to the program in a recorded step (rates, counts, random generators) advances as the program would; what
// a recording made is not read before it ran.
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class CaptureProgram : public EveryDevice {};
TERN_EVERY_DEVICE(CaptureProgram);

// ---- optimisers ----

/// Two parameters and an optimiser; a step of one of its own programs, run or recorded.
template <class Optimizer> struct Trained {
  template <class Options> Trained(DType d, const Options& options)
      : p(tensor({1.f, -2.f, 0.5f}).to(d)), q(tensor({3.f, 0.25f}).to(d)), optimizer({p, q}, options) {}
  void step() { optimizer.step(backward(sum(p * p * p) + sum(p) * sum(q * q))); }
  std::vector<std::vector<double>> state() const { return {doubles(p), doubles(q)}; }
  Var p, q;
  Optimizer optimizer;
};
template <class Optimizer, class Options> void compare_schedule(Device device, const Options& options) {
  for (const DType d : all_floats(device)) {
    Trained<Optimizer> run(d, options), replayed(d, options);
    const Graph step = capture(device, [&] { replayed.step(); });
    for (int i = 0; i < 6; ++i) {
      const double rate = 0.05 / (1 + i);
      run.optimizer.set_learning_rate(rate), replayed.optimizer.set_learning_rate(rate);
      run.step();
      if (i == 3) replayed.step();  // one that is not recorded between
      else step.replay();
      ASSERT_EQ(run.state(), replayed.state()) << to_string(d) << ", step " << i;
    }
  }
}
TEST_P(CaptureProgram, TheLearningRateIsReadAtEachReplay) {
  compare_schedule<optim::SGD>(device(),
                               optim::SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01});
  compare_schedule<optim::AdamW>(device(), optim::AdamWOptions{.learning_rate = 0.1});
}
TEST_P(CaptureProgram, OtherOptionsAreReadAtEachReplay) {
  using Step = Trained<optim::AdamW>;
  optim::AdamWOptions options{.learning_rate = 0.1};
  Step run(f32, options), replayed(f32, options);
  const Graph step = capture(device(), [&] { replayed.step(); });
  for (const double beta1 : {0.9, 0.5, 0.8}) {
    options.beta1 = beta1, options.beta2 = beta1 + 0.05, options.weight_decay = beta1 / 10;
    for (Step* each : {&run, &replayed}) each->optimizer.set_options(options);
    EXPECT_EQ(run.optimizer.options().beta1, beta1);
    run.step(), step.replay();
    ASSERT_EQ(run.state(), replayed.state()) << beta1;
  }
  const std::vector<std::vector<double>> before = run.state();
  Step plain(f32, optim::AdamWOptions{.learning_rate = 0.1});
  for (int i = 0; i < 3; ++i) plain.step();
  EXPECT_NE(before, plain.state()) << "the options count for something";
}
TEST_P(CaptureProgram, ALearningRateThatTheStepSetsIsSetInEachReplay) {
  const auto train = [](optim::SGD& sgd, const Var& p) {
    sgd.set_learning_rate(0.5), sgd.step(backward(sum(p)));
    sgd.set_learning_rate(0.125), sgd.step(backward(sum(p)));
  };
  const Var p(ones({2}));
  optim::SGD sgd({p}, {.learning_rate = 1});
  const Graph step = capture(device(), [&] { train(sgd, p); });
  EXPECT_EQ(sgd.learning_rate(), 1) << "nothing is executed";
  step.replay();
  EXPECT_EQ(sgd.learning_rate(), 0.125);
  step.replay();
  expect_values(p.value(), {2}, {1 - 1.25, 1 - 1.25});
}
TEST_P(CaptureProgram, AParametersFirstGradientMayComeLateInRecordings) {
  const auto options = optim::AdamWOptions{.learning_rate = 0.1};
  const auto first = [](auto& t) { t.optimizer.step(backward(sum(t.p * t.p))); };
  const auto both = [](auto& t) { t.step(); };
  Trained<optim::AdamW> run(f32, options), replayed(f32, options);
  const Graph early = capture(device(), [&] { first(replayed); }), late = capture(device(), [&] { both(replayed); });
  for (int i = 0; i < 6; ++i) {
    if (i < 3) first(run), early.replay();
    else both(run), late.replay();
    ASSERT_EQ(run.state(), replayed.state()) << "step " << i;
  }
}
TEST_P(CaptureProgram, RecordingsOutliveAndFollowTheirOptimiser) {
  Trained<optim::AdamW> run(f32, optim::AdamWOptions{}), replayed(f32, optim::AdamWOptions{});
  auto optimizer = std::make_optional<optim::AdamW>(std::vector{replayed.p, replayed.q});
  const Graph step = capture(device(), [&] { optimizer->step(backward(sum(replayed.p * replayed.p))); });
  const auto compare = [&] {
    run.optimizer.step(backward(sum(run.p * run.p))), step.replay();
    EXPECT_EQ(run.state(), replayed.state());
  };
  compare();
  std::optional<optim::AdamW> moved(std::move(*optimizer));
  moved->set_learning_rate(0.25), run.optimizer.set_learning_rate(0.25);
  optimizer.reset(), compare();
  moved.reset(), compare();
}
TEST_P(CaptureProgram, AnOptimiserMadeInTheStepBeginsAnew) {
  const Var run(ones({2})), replayed(ones({2}));
  const auto step = [](const Var& p) {
    optim::AdamW adam({p}, {.learning_rate = 0.25});
    adam.step(backward(sum(p * p))), adam.set_learning_rate(0.125), adam.step(backward(sum(p * p)));
  };
  const Graph graph = capture(device(), [&] { step(replayed); });
  for (int i = 0; i < 3; ++i) {
    step(run), graph.replay();
    EXPECT_EQ(doubles(run), doubles(replayed)) << i;
  }
}
TEST_P(CaptureProgram, NestedReplaysReadTheirNumbersEach) {
  Trained<optim::AdamW> run(f32, optim::AdamWOptions{}), replayed(f32, optim::AdamWOptions{});
  Generator of_run{5}, of_replayed{5};
  Tensor noise = zeros({3}), wanted = zeros({3});
  const auto step = [](auto& t, Generator& dice, Tensor& sum_of) { t.step(), sum_of += rand({3}, dice); };
  const Graph one = capture(device(), [&] { step(replayed, of_replayed, noise); });
  const Graph three = capture(device(), [&] { one.replay(), one.replay(), one.replay(); });
  const Graph seven = capture(device(), [&] { three.replay(), one.replay(), three.replay(); });
  EXPECT_EQ(of_replayed.position, 0u);
  for (int i = 0; i < 8; ++i) step(run, of_run, wanted);
  seven.replay(), one.replay();
  EXPECT_EQ(run.state(), replayed.state());
  EXPECT_EQ(doubles(noise), doubles(wanted));
  EXPECT_EQ(of_run.position, of_replayed.position);
}

// ---- generators ----

/// Runs a step that draws, and replays it, each from a generator of its own.
struct Drawn {
  using Step = std::function<void(Generator&, Tensor&)>;
  Drawn(Device device, Step draws) : step(std::move(draws)), into(zeros({6})), wanted(zeros({6})) {
    graph = capture(device, [this] { step(replayed, into); });
  }
  void compare(int times) {
    for (int i = 0; i < times; ++i) {
      step(run, wanted), graph.replay();
      ASSERT_EQ(doubles(into), doubles(wanted)) << "replay " << i;
      ASSERT_EQ(replayed.position, run.position) << "replay " << i;
      ASSERT_EQ(replayed.seed, run.seed) << "replay " << i;
    }
  }
  Step step;
  Generator run{7, 100}, replayed{7, 100};
  Tensor into, wanted;
  Graph graph;
};
TEST_P(CaptureProgram, ReplaysDrawOnAsTheProgramWould) {
  Drawn drawn(device(), [](Generator& g, Tensor& into) {
    into.copy_from(rand({6}, g) + 2 * randn({6}, g) + randint(0, 100, {6}, g).to(f32));
  });
  EXPECT_EQ(drawn.replayed.position, 100u) << "capturing draws nothing";
  drawn.compare(3);
  rand({5}, drawn.run), rand({5}, drawn.replayed);  // unrecorded ones between
  drawn.compare(2);
  drawn.run.position = drawn.replayed.position = 0xfffffffeull;  // across 32 bits
  drawn.compare(3);
  drawn.run = Generator{8}, drawn.replayed = Generator{8};
  drawn.compare(2);
}
TEST_P(CaptureProgram, AGeneratorMadeInTheStepBeginsAnew) {
  Drawn temporary(device(), [](Generator&, Tensor& into) { into.copy_from(rand({6}, Generator{3})); });
  temporary.compare(3);
  Drawn local(device(), [](Generator&, Tensor& into) {
    Generator own(3, 4);
    into.copy_from(rand({6}, own) + rand({6}, own));
  });
  local.compare(3);
  std::optional<Generator> kept;
  Drawn remade(device(), [&](Generator&, Tensor& into) {
    kept.emplace(9u);
    into.copy_from(rand({6}, *kept));
  });
  remade.compare(2);
}
TEST_P(CaptureProgram, CopiesMadeInTheStepStartWhereTheOriginalIs) {
  Drawn copied(device(), [](Generator& g, Tensor& into) {
    rand({4}, g);
    Generator copy = g;
    into.copy_from(rand({6}, g) - rand({6}, copy) + rand({6}, copy));
  });
  copied.compare(3);
  Drawn by_value(device(), [](Generator& g, Tensor& into) {
    const auto draw = [](Generator own) { return rand({6}, own); };
    into.copy_from(draw(g) + draw(g) + rand({6}, g));
  });
  by_value.compare(3);
  Drawn assigned(device(), [](Generator& g, Tensor& into) {
    const Tensor first = rand({6}, g);
    g = Generator{11};
    into.copy_from(first + rand({6}, g));
  });
  assigned.compare(3);
}
TEST_P(CaptureProgram, ARecordingOutlivesItsGenerator) {
  auto dice = std::make_unique<Generator>(7u);
  Tensor into = zeros({6});
  const Graph step = capture(device(), [&] { into.copy_from(rand({6}, *dice)); });
  step.replay();
  Generator other{7};
  EXPECT_EQ(doubles(into), doubles(rand({6}, other)));
  Generator moved = std::move(*dice);
  dice.reset(), step.replay();
  EXPECT_EQ(doubles(into), doubles(rand({6}, other)));
  EXPECT_EQ(moved.position, other.position) << "it follows a generator that moves";
  { const Generator last = std::move(moved); }
  step.replay();
  EXPECT_EQ(doubles(into), doubles(rand({6}, other)));
}
TEST_P(CaptureProgram, AssigningToMembersBetweenDrawsIsRefused) {
  Generator dice{7};
  const Tensor before = rand({2}, dice);
  expect_error(ErrorKind::unsupported, {"Generator", "assigned"},
               [&] { capture(device(), [&] { rand({2}, dice), dice.position = 0, rand({2}, dice); }); });
  EXPECT_EQ(dice.position, 1u) << "nothing was drawn";
}
TEST_P(CaptureProgram, CheckpointsRepeatTheirDrawsInEachReplay) {
  Generator of_run{7}, of_replayed{7};
  const Var x(tensor({0.5f, -1.f, 2.f, 3.f}));
  Tensor into = zeros({4}), wanted = zeros({4});
  const auto step = [&](Generator& dice, Tensor& gradient) {
    const auto dropped = [&dice](const Var& v) { return v * v * (rand({4}, dice) < 0.5); };
    const Var y = checkpoint([&](const Var& v) { return dropped(v) + checkpoint(dropped)(v); })(x) * rand({4}, dice);
    gradient.copy_from(backward(sum(y))[x]);
  };
  const Graph graph = capture(device(), [&] { step(of_replayed, into); });
  for (int i = 0; i < 4; ++i) {
    step(of_run, wanted), graph.replay();
    EXPECT_EQ(doubles(into), doubles(wanted)) << "replay " << i;
    EXPECT_EQ(of_run.position, of_replayed.position);
  }
}
TEST_P(CaptureProgram, ACheckpointRecordedElsewhereIsRefused) {
  Generator dice{7};
  const Var x(ones({4}));
  Var y;
  const Graph forward = capture(device(), [&] {
    y = sum(checkpoint([&](const Var& v) { return v * v * rand({4}, dice); })(x));
  });
  expect_error(ErrorKind::unsupported, {"random", "replay()"}, [&] { backward(y, {.keep_graph = true}); });
  forward.replay();
  expect_error(ErrorKind::unsupported, {"one capture"},
               [&] { capture(device(), [&] { backward(y, {.keep_graph = true}); }); });
  const Gradients g = backward(y);  // run, it repeats what the last replay drew
  Generator again{7};
  EXPECT_EQ(doubles(g[x]), doubles(2 * rand({4}, again)));
}
TEST_P(CaptureProgram, DropoutHasAnotherMaskEachReplay) {
  Generator dice{1};
  const Tensor x = ones({64});
  Tensor y;
  const Graph step = capture(device(), [&] { y = where(rand(x.shape(), dice) < 0.5, 0, x) / 0.5; });
  step.replay();
  const std::vector<double> first = doubles(y);
  step.replay();
  EXPECT_NE(doubles(y), first);
}

TEST_P(CaptureProgram, ASeedInATensorChangesWhatAFormulaDraws) {
  const Tensor x = ones({64}), w = ones({64, 64});
  const Pointwise drop{"drop",
                       [](auto v, auto seed) { return where(random_uniform(tern::index(v, -1), seed) < 0.5, 0, v); }};
  for (const DType d : {u32, i32}) {
    Tensor seed = ones({}, d), y, z;
    const Graph step = capture(device(), [&] {
      y = drop(x, seed);
      z = matmul_epilogue(x.reshape({1, 64}), w, drop, seed);
      seed += 1;
    });
    step.replay();
    const std::vector<double> first = doubles(y), product = doubles(z);
    step.replay();
    EXPECT_NE(doubles(y), first);
    EXPECT_NE(doubles(z), product);
    EXPECT_EQ(doubles(drop(x, 2)), doubles(y));
  }
}

// ---- before the first replay ----

TEST_P(CaptureProgram, ReadingBeforeTheFirstReplayIsAnError) {
  const Tensor x = tensor({4.f, 9.f});
  Tensor root, total;
  const Graph g = capture(device(), [&] { root = sqrt(x), total = sum(root); });
  const auto refused = [&](const char* op, const std::function<void()>& read) {
    expect_error(ErrorKind::unsupported, {op, "replay()"}, read);
  };
  refused("to_vector", [&] { (void)root.to_vector<float>(); });
  refused("item", [&] { (void)total.item<float>(); });
  refused("to_vector", [&] { (void)root.slice(0, 0, 1).to_vector<float>(); });
  refused("add", [&] { (void)(x + root); });
  refused("matmul", [&] { (void)matmul(root.reshape({1, 2}), x); });
  refused("sum", [&] { (void)sum(root); });
  refused("sort", [&] { (void)sort(root); });
  refused("cumsum", [&] { (void)cumsum(root, 0); });
  refused("add", [&] { Tensor(root) += 1; });
  refused("", [&] {
    std::ostringstream text;
    text << root;
  });
  for (const Device other : present_devices())
    if (other != device()) refused("to", [&] { (void)root.to(other); });
  const Graph reads = capture(device(), [&] { root * 2; });
  refused("replay", [&] { reads.replay(); });
  g.replay(), reads.replay();
  expect_values(root, {2}, {2, 3});
  EXPECT_EQ(total.item<float>(), 5);
}
TEST_P(CaptureProgram, WhatAFailedCaptureMadeHasNoValues) {
  Tensor left;
  EXPECT_THROW(capture(device(), [&] { left = ones({2}), (void)left.to_vector<float>(); }), Error);
  expect_error(ErrorKind::unsupported, {"to_vector", "replay()"}, [&] { (void)left.to_vector<float>(); });
  left.copy_from(full({2}, 3));  // written whole, it has
  expect_values(left, {2}, {3, 3});
}

// ---- long recordings ----

/// Once, each call looked through all tensors that the program still held.
TEST_P(CaptureProgram, TheTimeOfRecordingIsProportionalToTheCalls) {
  const Tensor x = ones({0});  // of no memory: it is the list of tensors that is looked at
  const auto seconds = [&](int calls) {  // of the processor: others may be at work
    double best = 1e9;
    for (int again = 0; again < 3; ++again) {
      std::vector<Tensor> held;
      const std::clock_t start = std::clock();
      capture(device(), [&] {
        for (int i = 0; i < calls; ++i) held.push_back(x + 1);
      });
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  const double few = seconds(8000);
  EXPECT_LT(seconds(64000), 8 * 4 * few) << "with the square of their number it would take 64 times as long";
}

}  // namespace
}  // namespace tern::test
