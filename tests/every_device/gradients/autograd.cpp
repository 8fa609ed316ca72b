// Recording and traversing: what backward gives, keeps, frees and refuses; deep graphs.
#include <chrono>
#include <thread>

#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class Autograd : public EveryDevice {};
TERN_EVERY_DEVICE(Autograd);

Var leaf(const std::vector<double>& values, const Shape& shape, Device device, DType dtype = f32) {
  return Var(make(values, shape, dtype, device));
}

// ---- gradients ----
TEST_P(Autograd, AccumulatesOverSeveralUses) {
  const Var x = leaf({1, 2, 3}, {3}, device());
  const Gradients g = backward(sum(x * x + 3 * x - x + x));
  expect_values(g[x], {3}, {5, 7, 9});
}
TEST_P(Autograd, TwoVariablesOfOneTensorAreDistinct) {
  const Tensor t = tensor({2.0f});
  const Var x(t), y(t);
  EXPECT_NE(x.id(), y.id());
  const Gradients g = backward(sum(x * x * y));
  expect_values(g[x], {1}, {8});
  expect_values(g[y], {1}, {4});
}
/// The 1 that backward starts from is kept for the next time, but not where somebody has it.
TEST_P(Autograd, WhatIsDoneToAGradientOfOneStaysThere) {
  const Var x = leaf({2}, {}, device()), y = leaf({3}, {1, 1}, device());
  const auto gradient_of = [](const Var& v) { return backward(v + v * 0)[v]; };
  for (int i = 0; i < 3; ++i) {
    const Tensor kept = gradient_of(x), other = gradient_of(y);
    expect_values(kept, {}, {1}), expect_values(other, {1, 1}, {1});
    Tensor written = backward(x + leaf({1}, {}, device()))[x];  // the 1 itself, on most devices
    expect_values(written, {}, {1});
    written.copy_from(full({}, 7, {.device = device()}));
    expect_values(gradient_of(x), {}, {1}), expect_values(kept, {}, {1}), expect_values(written, {}, {7});
    Tensor(backward(x + leaf({1}, {}, device()))[x]).copy_from(full({}, 5, {.device = device()}));  // and is let go
  }
  expect_values(backward(x + leaf({1}, {}, device()))[x], {}, {1});
  std::thread([&] { expect_values(gradient_of(x), {}, {1}); }).join();
}
TEST_P(Autograd, CopiesOfAVariableAreHandles) {
  const Var x = leaf({3}, {1}, device()), copy = x;
  EXPECT_EQ(copy.id(), x.id());
  std::vector<Var> list;
  list.emplace_back(x.value());
  EXPECT_NE(list[0].id(), x.id());
  expect_values(backward(sum(copy * copy))[x], {1}, {6});
}
TEST_P(Autograd, GradientsHaveTheirInputsDtype) {
  for (const DType dtype : all_floats(device())) {
    const Var x = leaf({1, 2}, {2}, device(), dtype);
    const Gradients g = backward(sum(exp(x)));
    EXPECT_EQ(g[x].dtype(), dtype);
    EXPECT_EQ(g[x].shape(), Shape({2}));
  }
}
TEST_P(Autograd, GradientsThroughConversions) {
  const Var x = leaf({1, 2}, {2}, device(), f16);
  const Gradients g = backward(sum(square(x.to(f32))));
  EXPECT_EQ(g[x].dtype(), f16);
  expect_values(g[x], {2}, {2, 4});
}
TEST_P(Autograd, ATensorInAMixtureNeverTracks) {
  const Tensor t = tensor({2.0f});
  const Var x = leaf({3}, {1}, device());
  const Gradients g = backward(t * x);
  EXPECT_EQ(g.size(), 1u);
  expect_values(g[x], {1}, {2});
}
TEST_P(Autograd, DetachStopsGradients) {
  const Var x = leaf({3}, {1}, device());
  expect_values(backward(x.detach() * x)[x], {1}, {3});
  expect_values(backward(detach(x) * x)[x], {1}, {3});
  EXPECT_FALSE(x.detach().requires_grad());
}
TEST_P(Autograd, SeedOfAnyShape) {
  const Var x = leaf({1, 2}, {2}, device());
  expect_values(backward(x * x, tensor({10.0f, 100.0f}))[x], {2}, {20, 400});
  expect_values(backward(x * x, Var(tensor({10.0f, 100.0f}), false))[x], {2}, {20, 400});
}
TEST_P(Autograd, BracesMeanDefaultOptions) {
  const Var x = leaf({3}, {1}, device());
  expect_values(backward(x * x, {})[x], {1}, {6});
  expect_values(backward(x * x, ones({1}), {})[x], {1}, {6});
}
TEST_P(Autograd, ComparisonsAndIndicesOfVariablesAreTensors) {
  const Var x = leaf({1, 2}, {2}, device());
  EXPECT_TRUE((std::is_same_v<decltype(argmax(x)), Tensor>));
  EXPECT_TRUE((std::is_same_v<decltype(any(x)), Tensor>));
  EXPECT_TRUE((std::is_same_v<decltype(x > 1), Tensor>)) << "DESIGN section 2: comparisons of Vars give Tensors";
  EXPECT_TRUE((std::is_same_v<decltype(x == x), Tensor>)) << "DESIGN section 2: comparisons of Vars give Tensors";
}
TEST_P(Autograd, ComparisonsAreNotDifferentiated) {
  const Var x = leaf({-1, 2}, {2}, device());
  expect_values(backward(sum(where(x > 0, x * 3, x)))[x], {2}, {1, 3});
}
/// With or without the reduced axes: an error names what the caller called.
TEST_P(Autograd, ReductionsAreOneOperation) {
  const Var x = leaf({1, 2, 3, 4}, {2, 2}, device());
  for (const bool keepdim : {false, true}) {
    EXPECT_EQ(sum(x, 1, keepdim).grad_fn()->name(), "SumBackward");
    const Var y = logsumexp(x, {0}, keepdim);  // its gradient reads the result
    EXPECT_EQ(y.grad_fn()->name(), "LogsumexpBackward");
    EXPECT_EQ(y.shape(), keepdim ? (Shape{1, 2}) : (Shape{2}));
    const double low = 1 / (1 + std::exp(2.0));
    const std::vector<double> got = doubles(backward(y, ones(y.shape()))[x]), want{low, low, 1 - low, 1 - low};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 8 * epsilon(f32));
  }
}
TEST_P(Autograd, OneOutputOfSeveral) {
  constexpr Pointwise both{"both", [](auto x) { return std::array{x * x, x * x * x}; }};
  const Var x = leaf({2}, {1}, device());
  expect_values(backward(both(x)[0])[x], {1}, {4});
  expect_values(backward(both(x)[1])[x], {1}, {12});
  const auto [s, c] = both(x);
  expect_values(backward(s + c)[x], {1}, {16});
}
TEST_P(Autograd, FloatOutputBesideAnIntegerOne) {
  constexpr Pointwise pair{"pair", [](auto x) { return std::tuple{x * x, cast(x, i32)}; }};
  const Var x = leaf({2}, {1}, device());
  const auto outputs = pair(x);
  EXPECT_EQ(outputs[1].dtype(), i32);
  EXPECT_FALSE(outputs[1].requires_grad());
  expect_values(backward(outputs[0])[x], {1}, {4});
}

// ---- errors ----
TEST_P(Autograd, MissingGradients) {
  const Var x = leaf({1}, {1}, device()), other = leaf({1}, {1}, device()), constant(ones({1}), false);
  const Gradients g = backward(x * x);
  expect_error(ErrorKind::autograd, {"gradient"}, [&] { g[other]; });
  expect_error(ErrorKind::autograd, {"gradient"}, [&] { g[constant]; });
  expect_error(ErrorKind::autograd, {"gradient"}, [&] { g[Var()]; });
  EXPECT_EQ(g.get(other.id()), nullptr);
  EXPECT_NE(g.get(x.id()), nullptr);
}
TEST_P(Autograd, NonScalarWithoutASeed) {
  const Var x = leaf({1, 2}, {2}, device());
  expect_error(ErrorKind::autograd, {"backward", "[2]", "seed"}, [&] { backward(x * x); });
  expect_error(ErrorKind::autograd, {"backward"}, [&] { backward(Var(ones({1}), false)); });
}
TEST_P(Autograd, WrongSeeds) {
  const Var x = leaf({1, 2}, {2}, device());
  expect_error(ErrorKind::shape, {"backward", "seed", "f32[2]", "f32[3]"}, [&] { backward(x * x, ones({3})); });
  expect_error(ErrorKind::shape, {"backward", "seed", "f32[]"}, [&] { backward(x * x, ones({})); });
  expect_error(ErrorKind::dtype, {"backward", "seed", "f32[2]", "f16[2]"}, [&] { backward(x * x, ones({2}, f16)); });
  expect_error(ErrorKind::shape, {"backward", "seed"}, [&] { backward(x * x, Tensor()); });
}
TEST_P(Autograd, ASecondTraversalNeedsTheGraphKept) {
  const Var x = leaf({3}, {1}, device()), y = x * x;
  backward(y);
  expect_error(ErrorKind::autograd, {"keep_graph"}, [&] { backward(y); });
  const Var z = x * x;
  backward(z, {.keep_graph = true});
  expect_values(backward(z)[x], {1}, {6});
  expect_error(ErrorKind::autograd, {"MulBackward"}, [&] { backward(z); });
}
TEST_P(Autograd, SavedTensorsChangedInPlace) {
  Tensor t = tensor({1.0f, 2.0f});
  const Var x(t), y = sum(x * x);
  t += 1;
  expect_error(ErrorKind::autograd, {"MulBackward", "f32[2]", "in place"}, [&] { backward(y); });
}
TEST_P(Autograd, SavedTensorsChangedThroughAView) {
  Tensor t = ones({4, 4});
  const Var x(t), w(ones({4, 4}));
  const Var y = sum(matmul(x, w));
  t.slice(0, 0, 1).copy_from(zeros({1, 4}));
  expect_error(ErrorKind::autograd, {"MatmulBackward"}, [&] { backward(y); });
}
TEST_P(Autograd, ChangedOutputsThatWereSaved) {
  const Var x(ones({2}));
  const Var y = tanh(x);
  Tensor value = y.value();
  value *= 2;
  expect_error(ErrorKind::autograd, {"TanhBackward"}, [&] { backward(sum(y)); });
}
/// Backward reads the indices again: they are saved like anything else.
TEST_P(Autograd, ChangedIndicesAreFound) {
  const Var x(ones({3}));
  const auto refuses = [](const std::string& op, Tensor indices, const Var& y) {
    EXPECT_EQ(y.grad_fn()->saved_tensors().size(), 1u) << op;
    indices += 1;
    expect_error(ErrorKind::autograd, {op, "i32[2]", "in place"}, [&] { backward(sum(y)); });
  };
  const auto fresh = [&] { return make({0, 1}, {2}, i32, device()); };
  Tensor i = fresh();
  refuses("TakeBackward", i, take(x, i));
  i = fresh();
  refuses("GatherBackward", i, gather(x, i, 0));
  i = fresh();
  refuses("ScatterAddBackward", i, scatter_add(zeros({3}), i, Var(ones({2}))));
  // The gradient of the sum itself needs no indices.
  const Var sums = scatter_add(x, i, ones({2}));
  EXPECT_TRUE(sums.grad_fn()->saved_tensors().empty());
  i += 1;
  expect_values(backward(sum(sums))[x], {3}, {1, 1, 1});
  Tensor labels = fresh();
  const Var loss = cross_entropy(Var(ones({2, 3})), labels);
  labels += 1;
  expect_error(ErrorKind::autograd, {"CrossEntropyBackward", "i32", "in place"}, [&] { backward(loss); });
}
TEST_P(Autograd, ChangedIndicesOfSortsAreFound) {
  const Var x = leaf({3, 1, 2}, {3}, device());
  Sorted<Var> sorted = sort(x), best = topk(x, 2);
  sorted.indices.copy_from(zeros({3}, i32)), best.indices.copy_from(zeros({2}, i32));
  expect_error(ErrorKind::autograd, {"GatherBackward", "i32[3]", "in place"}, [&] { backward(sum(sorted.values)); });
  expect_error(ErrorKind::autograd, {"GatherBackward", "i32[2]", "in place"}, [&] { backward(sum(best.values)); });
}
TEST_P(Autograd, ChangedIndicesAreFoundAtTheNextOrder) {
  Tensor i = make({0, 1}, {2}, i32, device());
  const Var x(ones({3}));
  const Gradients first = backward(sum(square(take(x, i))), {.create_graph = true});
  i += 1;
  expect_error(ErrorKind::autograd, {"in place"}, [&] { backward(sum(first.var(x))); });
}
TEST_P(Autograd, ChangesOfWhatWasNotSavedAreFine) {
  Tensor t = ones({2});
  const Var x(t), y = sum(x + x);
  t += 1;
  expect_values(backward(y)[x], {2}, {2, 2});
}

// ---- NoGrad and retain_grad ----
TEST_P(Autograd, NoGradNests) {
  const Var x = leaf({3}, {1}, device());
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      EXPECT_FALSE(grad_enabled());
    }
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE((x * x).requires_grad());
    EXPECT_TRUE(x.requires_grad());
  }
  EXPECT_TRUE(grad_enabled());
  EXPECT_TRUE((x * x).requires_grad());
}
TEST_P(Autograd, NoGradIsOfItsThread) {
  const NoGrad guard;
  bool there = false;
  std::thread([&] { there = grad_enabled(); }).join();
  EXPECT_TRUE(there);
}
TEST_P(Autograd, TransformsWorkInsideNoGrad) {
  const NoGrad guard;
  const Tensor x = tensor({3.0f});
  const auto cube = [](const Var& v) { return sum(v * v * v); };
  expect_values(grad(cube)(x), {1}, {27});
  expect_values(hessian(cube, x), {1, 1}, {18});
  EXPECT_FALSE(grad_enabled());
}
TEST_P(Autograd, RetainGrad) {
  const Var x = leaf({3}, {1}, device()), y = x * x, z = y * y;
  expect_error(ErrorKind::autograd, {"retain_grad"}, [&] { backward(y * y, {.keep_graph = true})[y]; });
  y.retain_grad();
  const Gradients g = backward(z, {.keep_graph = true});
  expect_values(g[y], {1}, {18});
  expect_values(g[x], {1}, {108});
  expect_error(ErrorKind::autograd, {"retain_grad"}, [] { Var(ones({1}), false).retain_grad(); });
}

// ---- higher orders ----
TEST_P(Autograd, CreateGraphGivesDifferentiableGradients) {
  const Var x = leaf({2, 3}, {2}, device());
  const Gradients first = backward(sum(x * x * x), {.create_graph = true});
  expect_values(first[x], {2}, {12, 27});
  const Gradients second = backward(sum(first.var(x)), {.create_graph = true});
  expect_values(second[x], {2}, {12, 18});
  expect_values(backward(sum(second.var(x)))[x], {2}, {6, 6});
}
TEST_P(Autograd, GradientsWithoutCreateGraphAreConstants) {
  const Var x = leaf({2}, {1}, device());
  EXPECT_FALSE(backward(x * x).var(x).requires_grad());
}
/// Both operands broadcast, along different axes: the mixed second derivatives.
TEST_P(Autograd, SecondOrderOfOperandsThatBroadcastBothWays) {
  const Var x = leaf({2, 3}, {2, 1}, device()), y = leaf({5, 7}, {1, 2}, device());
  const Gradients g = backward(sum(x * x * y), {.create_graph = true});
  expect_values(g[x], {2, 1}, {48, 72});
  expect_values(g[y], {1, 2}, {13, 13});
  const Gradients dx = backward(sum(g.var(x)), {.keep_graph = true}), dy = backward(sum(g.var(y)));
  expect_values(dx[x], {2, 1}, {24, 24});
  expect_values(dx[y], {1, 2}, {10, 10});
  expect_values(dy[x], {2, 1}, {8, 12});
}

// ---- deep graphs ----
/// `growth`: of the value 1, by each step. (A GPU in software takes 20 µs for each launch.)
template <class Step> void deep_chain(const char* what, Device device, Step step, double growth, double gradient) {
  const int length = device == cpu() ? 100000 : 20000;
  const auto begin = std::chrono::steady_clock::now();
  const Var x = leaf({1}, {1}, device);
  {
    Var y = x;
    for (int i = 0; i < length; ++i) y = step(y);
    EXPECT_EQ(y.item<float>(), static_cast<float>(1 + growth * length)) << what;
    expect_values(backward(y)[x], {1}, {gradient}, what);
  }
  {
    Var y = x;  // destroyed without a traversal
    for (int i = 0; i < length; ++i) y = step(y);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(seconds, 30) << what << ": 300,000 operations of a few µs each";
}
TEST_P(Autograd, AChainOf100000Additions) { deep_chain("x + 1", device(), [](const Var& y) { return y + 1; }, 1, 1); }
TEST_P(Autograd, AChainOf100000Squares) {
  deep_chain(
      "x * x", device(), [](const Var& y) { return y * y; }, 0, INFINITY);
}
TEST_P(Autograd, AChainOf100000Views) {
  deep_chain(
      "views", device(), [](const Var& y) { return y.unsqueeze(0).squeeze(0); }, 0, 1);
}
TEST_P(Autograd, AChainOfSavedOutputs) { deep_chain("relu", device(), [](const Var& y) { return relu(y); }, 0, 1); }
TEST_P(Autograd, AKeptChainIsDestroyedWithoutRecursion) {
  const Var x = leaf({1}, {1}, device());
  Var y = x;
  for (int i = 0; i < 20000; ++i) y = y * 1;
  Gradients g = backward(y, {.create_graph = true});
  expect_values(g[x], {1}, {1});
}

}  // namespace
}  // namespace tern::test
