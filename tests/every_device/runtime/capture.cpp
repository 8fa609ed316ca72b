// capture and replay: recorded requests give the bits of the program they were recorded from.
#include <sstream>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Capture : public EveryDevice {};
TERN_EVERY_DEVICE(Capture);

TEST_P(Capture, RecordsAndDoesNotExecute) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f}), total = zeros({});
  const std::int64_t calls = trace_counts().calls;
  const Graph g = capture(device(), [&] { total.clone(), Tensor(total).copy_from(sum(x * x)); });
  EXPECT_EQ(trace_counts().calls, calls);
  EXPECT_EQ(total.item<float>(), 0);
  EXPECT_EQ(g.device(), device());
  EXPECT_EQ(g.size(), 4);
  g.replay();
  EXPECT_EQ(total.item<float>(), 14);
  Tensor(x).copy_from(ones({3}));
  g.replay();
  EXPECT_EQ(total.item<float>(), 3);
}
TEST_P(Capture, TensorsMadeInsideHoldTheLastReplaysValues) {
  const Tensor x = tensor({1.0f, 4.0f});
  Tensor root;
  const Graph g = capture(device(), [&] { root = sqrt(x); });
  EXPECT_EQ(root.shape(), x.shape());
  g.replay();
  expect_values(root, {2}, {1, 2});
  Tensor(x).copy_from(tensor({9.0f, 16.0f}));
  g.replay();
  expect_values(root, {2}, {3, 4});
}
TEST_P(Capture, HoldsTheMemoryItsCallsUse) {
  Tensor result;
  Graph g;
  {
    const Tensor x = full({100}, 3), at = tensor({1, 2, 99});
    g = capture(device(), [&] { result = sum(take(x * tensor({2.0f}), at)) + 1; });
  }
  for (int i = 0; i < 20; ++i) ones({100}), ones({3});  // would overwrite what was freed
  g.replay();
  EXPECT_EQ(result.item<float>(), 19);
  g.replay();
  EXPECT_EQ(result.item<float>(), 19);
}
TEST_P(Capture, MemoryIsUsedAgainWithin) {
  const Tensor x = ones({1000});
  Tensor y;
  const auto chain = [&](int length) {
    return capture(device(), [&] {
      y = x + 1;
      for (int i = 1; i < length; ++i) y = y * 0.5 + 1;
    });
  };
  const std::int64_t few = chain(10).bytes();
  const Graph many = chain(500);
  EXPECT_GE(few, 4000);
  EXPECT_EQ(many.bytes(), few);
  many.replay();
  expect_values(y.slice(0, 0, 2), {2}, {2, 2});
}
TEST_P(Capture, EveryVerb) {
  const Tensor x = Random(41).tensor({4, 6}, f32, device()), w = Random(42).tensor({6, 3}, f32, device()),
               rows = tensor({3, 0, 0});
  std::vector<Tensor> now, later;
  const auto all = [&] {
    return std::vector<Tensor>{exp(x),
                               matmul(x, w),
                               softmax(x),
                               gather(x, one_hot(rows, 6, i32), 1),
                               cumsum(x, 1),
                               sort(x, 1).values,
                               sort(x, 1).indices,
                               scatter_add(zeros({4, 6}), rows, x.slice(0, 0, 3), 0),
                               x.transpose(0, 1).clone(),
                               topk(x, 2, 1).values,
                               arange(0, 5),
                               tensor({1.5f, 2.5f}),
                               zeros({0, 3}),
                               sum(zeros({0})),
                               concatenate({x, x}, 1)};
  };
  now = all();
  const Graph g = capture(device(), [&] { later = all(); });
  g.replay(), g.replay();
  for (std::size_t i = 0; i < now.size(); ++i) {
    ASSERT_EQ(now[i].shape(), later[i].shape()) << i;
    EXPECT_EQ(doubles(now[i]), doubles(later[i])) << i;
  }
}

/// A network like the one that learns the digits, with its batch in fixed memory.
struct Network {
  explicit Network(DType d)
      : dtype(d),
        batch(zeros({16, 20}, d)),
        labels(zeros({16}, i32)),
        w1((randn({20, 12}, Generator{1}) * 0.3).to(d)),
        b1(zeros({12}, d)),
        w2((randn({12, 5}, Generator{2}) * 0.3).to(d)),
        b2(zeros({5}, d)),
        loss(zeros({}, d)) {}
  void feed(int step) {
    Generator generator{static_cast<std::uint64_t>(100 + step)};
    batch.copy_from(randn({16, 20}, generator).to(dtype));
    labels.copy_from(randint(0, 5, {16}, generator));
  }
  template <class Optimizer> void step(Optimizer& optimizer) {
    const Var value = cross_entropy(matmul_bias(matmul_bias_activation(batch, w1, b1, op::gelu), w2, b2), labels);
    optimizer.step(backward(value));
    loss.copy_from(value.value());
  }
  std::vector<Var> parameters() { return {w1, b1, w2, b2}; }
  std::vector<std::vector<double>> state() {
    return {doubles(w1), doubles(b1), doubles(w2), doubles(b2), doubles(loss)};
  }
  DType dtype;
  Tensor batch, labels;
  Var w1, b1, w2, b2;
  Tensor loss;
};
template <class Optimizer, class Options> void compare_training(DType dtype, const Options& options) {
  Network run(dtype), replayed(dtype);
  Optimizer of_run(run.parameters(), options), of_replayed(replayed.parameters(), options);
  const std::vector<std::vector<double>> before = replayed.state();
  const Graph step = capture(default_device(), [&] { replayed.step(of_replayed); });
  EXPECT_EQ(replayed.state(), before) << "capture executed something";
  for (int i = 0; i < 8; ++i) {
    run.feed(i), run.step(of_run);
    replayed.feed(i), step.replay();
    ASSERT_EQ(run.state(), replayed.state()) << to_string(dtype) << ", step " << i;
  }
  EXPECT_NE(replayed.state(), before);
}
TEST_P(Capture, ATrainingStepGivesTheSameBits) {
  for (const DType d : all_floats(device())) {
    compare_training<optim::SGD>(d, optim::SGDOptions{.learning_rate = 0.1, .momentum = 0.9});
    compare_training<optim::AdamW>(d, optim::AdamWOptions{.learning_rate = 0.01});
  }
}
TEST_P(Capture, StepsMayBeRunAndReplayedInTurn) {
  Network run(f32), mixed(f32);
  optim::AdamW of_run(run.parameters()), of_mixed(mixed.parameters());
  mixed.feed(0), mixed.step(of_mixed), run.feed(0), run.step(of_run);
  const Graph step = capture(device(), [&] { mixed.step(of_mixed); });
  for (int i = 1; i < 6; ++i) {
    run.feed(i), run.step(of_run);
    mixed.feed(i);
    if (i % 2) step.replay();
    else mixed.step(of_mixed);
    ASSERT_EQ(run.state(), mixed.state()) << "step " << i;
  }
}
TEST_P(Capture, AReplayInsideACaptureBecomesPartOfIt) {
  const Tensor count = zeros({});
  const Graph one = capture(device(), [&] { Tensor(count) += 1; });
  const Graph three = capture(device(), [&] { one.replay(), one.replay(), one.replay(); });
  EXPECT_EQ(count.item<float>(), 0);
  three.replay(), one.replay();
  EXPECT_EQ(count.item<float>(), 4);
}
TEST_P(Capture, ReadingValuesInsideIsAnError) {
  const Tensor x = ones({2}), scalar = ones({});
  const Var v(scalar);
  const std::vector<std::string> remedy{"capture()", "after replay()"};
  const auto inside = [&](auto read) {
    expect_error(ErrorKind::unsupported, remedy, [&] { capture(device(), read); });
  };
  inside([&] { (void)scalar.item<float>(); });
  inside([&] { (void)v.item<float>(); });
  inside([&] { (void)x.to_vector<float>(); });
  inside([&] { (void)x.slice(0, 0, 2, 2).to_vector<float>(); });
  inside([&] { (void)allclose(x, x); });
  inside([&] {
    std::ostringstream text;
    text << x;
  });
  EXPECT_EQ(scalar.item<float>(), 1) << "the thread is as it was";
  expect_values(x * 2, {2}, {2, 2});
}
TEST_P(Capture, ShapeErrorsAreThrownWhileRecording) {
  expect_error(ErrorKind::shape, {"add", "[2]", "[3]"},
               [&] { capture(device(), [&] { (void)(ones({2}) + ones({3})); }); });
  expect_values(ones({2}) + 1, {2}, {2, 2});
}
TEST_P(Capture, IndexErrorsAreThrownByReplay) {
  const Tensor x = ones({4}), at = tensor({0, 3});
  Tensor taken;
  const Graph g = capture(device(), [&] { taken = take(x, at); });
  g.replay();
  Tensor(at).copy_from(tensor({0, 4}));
  expect_error(ErrorKind::index, {"take", "4"}, [&] {
    g.replay();
    synchronize(device());
  });
}
TEST_P(Capture, WhatAFailedReplayWouldHaveWrittenIsNotRead) {
  const Tensor x = ones({4}), at = tensor({0, 4});
  Tensor taken, doubled;
  const Graph g = capture(device(), [&] {
    taken = take(x, at);
    doubled = x * 2;
  });
  expect_error(ErrorKind::index, {"take", "4"}, [&] {
    g.replay();
    synchronize(device());
  });
  if (device().kind() == DeviceKind::cpu)  // GPUs say it when they are waited for, and have computed the rest
    expect_error(ErrorKind::unsupported, {"replay"}, [&] { doubled.to_vector<float>(); });
  Tensor(at).copy_from(tensor({0, 3}));
  g.replay();
  expect_values(doubled, {4}, {2, 2, 2, 2});
  expect_values(taken, {2}, {1, 1});
}
TEST_P(Capture, LabelsAreCheckedByReplay) {
  const Tensor logits = ones({2, 3}), labels = tensor({0, 2});
  Tensor loss;
  const Graph g = capture(device(), [&] { loss = cross_entropy(logits, labels); });
  g.replay();
  EXPECT_EQ(loss.item<float>(), cross_entropy(logits, labels).item<float>());
  for (const int wrong : {3, -1}) {
    Tensor(labels).copy_from(tensor({1, wrong}));
    expect_error(ErrorKind::index, {"cross_entropy", "3"}, [&] {
      g.replay();
      synchronize(device());
    });
  }
}
TEST_P(Capture, ReplayCountsAsAWrite) {
  const Tensor memory = full({2}, 3);
  const Var x(memory);
  const Graph g = capture(device(), [&] { Tensor(memory) *= 2; });
  const Var y = sum(x * x);
  g.replay();
  expect_error(ErrorKind::autograd, {"MulBackward"}, [&] { backward(y); });
}
TEST_P(Capture, AnEmptyGraph) {
  EXPECT_FALSE(Graph().defined());
  expect_error(ErrorKind::shape, {"capture()"}, [] { Graph().replay(); });
  const Graph nothing = capture(device(), [] {});
  EXPECT_EQ(nothing.size(), 0);
  nothing.replay();
}
TEST_P(Capture, AnotherDevicesWorkIsRefused) {
  for (const Device other : present_devices()) {
    if (other == device()) continue;
    const Tensor x = ones({2}, other);
    expect_error(ErrorKind::device, {other.to_string(), device().to_string()},
                 [&] { capture(device(), [&] { (void)(x + 1); }); });
  }
}

}  // namespace
}  // namespace tern::test
