// checkpoint, hooks and custom_gradient.
#include "backend/tensor_impl.hpp"
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class Checkpoint : public EveryDevice {};
class CheckpointGradients : public InDouble {};
class HooksOf : public EveryDevice {};
class CustomGradient : public InDouble {};
TERN_EVERY_DEVICE(Checkpoint);
TERN_EVERY_DEVICE_IN_DOUBLE(CheckpointGradients);
TERN_EVERY_DEVICE(HooksOf);
TERN_EVERY_DEVICE_IN_DOUBLE(CustomGradient);

struct Net {
  Var w1, w2, x;
  explicit Net(Device device) {
    Random random(21);
    w1 = Var(random.tensor({6, 16}, f32, device)), w2 = Var(random.tensor({16, 5}, f32, device)),
    x = Var(random.tensor({4, 6}, f32, device));
  }
};
std::vector<std::vector<double>> values_of(const Gradients& g, const std::vector<Var>& vars) {
  std::vector<std::vector<double>> list;
  for (const Var& v : vars) list.push_back(doubles(g[v]));
  return list;
}

TEST_P(Checkpoint, SameBitsAndLessMemory) {
  const Net n(device());
  const auto block = [&](const Var& x) { return tanh(matmul(silu(matmul(x, n.w1)), n.w2)); };  // captures its weights
  const Var plain = block(n.x), again = checkpoint(block)(n.x);
  EXPECT_EQ(doubles(plain), doubles(again));
  EXPECT_EQ(again.grad_fn()->name(), "CheckpointBackward");
  EXPECT_EQ(again.grad_fn()->saved_tensors().size(), 1u) << "the argument only";
  EXPECT_EQ(values_of(backward(sum(plain)), {n.w1, n.w2, n.x}), values_of(backward(sum(again)), {n.w1, n.w2, n.x}));
}
/// What a function makes and writes to is its own: the 1 that backward starts from, too, though the thread keeps one.
TEST_P(Checkpoint, GradientsTakenInsideMayBeWrittenTo) {
  const Var w(ones({3}));
  backward(sum(w * w));
  const auto f = [&](const Var& x) {
    const Var inner(full({}, 2));
    Tensor g = backward(inner + 1.0)[inner];
    const Tensor twice = g * 2.0;
    g.copy_from(full({}, 5));
    return x * Var(twice, false);
  };
  expect_values(backward(checkpoint(f)(w), ones({3}))[w], {3}, {2, 2, 2});
}
TEST_P(Checkpoint, Nests) {
  const Net n(device());
  const auto inner = [&](const Var& x) { return silu(matmul(x, n.w1)); };
  const auto outer = [&](const Var& x) { return tanh(matmul(checkpoint(inner)(x), n.w2)); };
  const auto plain = [&](const Var& x) { return tanh(matmul(inner(x), n.w2)); };
  const std::vector<Var> all{n.w1, n.w2, n.x};
  EXPECT_EQ(values_of(backward(sum(checkpoint(outer)(n.x))), all), values_of(backward(sum(plain(n.x))), all));
  EXPECT_EQ(values_of(backward(sum(checkpoint(checkpoint(plain))(n.x))), all),
            values_of(backward(sum(plain(n.x))), all));
}
TEST_P(Checkpoint, RandomNumbersRepeat) {
  const Net n(device());
  const auto run = [&](bool saves) {
    Generator generator{5};
    const auto inner = [&](const Var& x) { return x * (rand(x.shape(), generator) < 0.5); };
    const auto block = [&](const Var& x) { return checkpoint(inner)(inner(matmul(x, n.w1))) * randn({16}, generator); };
    const Var y = saves ? checkpoint(block)(n.x) : block(n.x);
    const Tensor further = rand({3}, generator);  // draws between forward and backward must not matter
    const Gradients g = backward(sum(y));
    return std::tuple{doubles(y), values_of(g, {n.w1, n.x}), doubles(further), generator.position};
  };
  EXPECT_EQ(run(true), run(false));
}
TEST_P(Checkpoint, ContainersAndConstants) {
  const Net n(device());
  const auto f = [](const std::vector<Var>& v, const Var& t) { return std::pair{v[0] * v[1], sum(v[0] * t)}; };
  const Var a(tensor({1.0f, 2.0f})), b(tensor({3.0f, 4.0f}));
  const auto [product, total] = checkpoint(f)(std::vector<Var>{a, b}, tensor({5.0f, 6.0f}));
  const Gradients g = backward(sum(product) + total);
  expect_values(g[a], {2}, {8, 10}), expect_values(g[b], {2}, {1, 2});
  EXPECT_FALSE(checkpoint([](const Var& v) { return v * 2; })(tensor({1.0f})).requires_grad());
  const NoGrad guard;
  EXPECT_FALSE(checkpoint([&](const Var& v) { return v * a; })(a).requires_grad());
}
TEST_P(Checkpoint, ChangesInPlaceAreFound) {
  Tensor weight = ones({3});
  const Var w(weight), x(ones({3}));
  const Var y = checkpoint([&](const Var& v) { return v * w; })(x);
  weight *= 2;
  expect_error(ErrorKind::autograd, {"CheckpointBackward", "f32[3]", "in place"}, [&] { backward(sum(y)); });
}
/// What backward reads the second time is everything the function read, not only what its operations saved.
TEST_P(Checkpoint, ChangesOfWhateverWasReadAreFound) {
  const std::vector<std::string> parts{"CheckpointBackward", "add", "f32[2]", "in place"};
  Tensor t = ones({2});
  const Var w(t), x(full({2}, -3));
  const Var y = checkpoint([w](const Var& v) { return exp(v + w); })(x);
  const Var z = checkpoint([w](const Var& v) { return relu(v + w); })(x);
  const Var plain = checkpoint([t](const Var& v) { return exp(v + t); })(x);
  const Var nested =
      checkpoint([w](const Var& v) { return checkpoint([w](const Var& u) { return exp(u + w); })(v); })(x);
  t *= 20;
  for (const Var& result : {y, z, plain, nested})
    expect_error(ErrorKind::autograd, parts, [&] { backward(sum(result)); });
}
TEST_P(Checkpoint, ChangesOfAnyKindOfOperandAreFound) {
  const Var x(ones({2, 2}));
  const auto refuses = [&](const char* op, const Tensor& t, const auto& f) {
    const Var y = checkpoint([&](const Var& v) { return exp(v + f(t)); })(x);
    Tensor same = t;
    same.copy_from(t.clone());
    expect_error(ErrorKind::autograd, {"CheckpointBackward", op, "in place"}, [&] { backward(sum(y)); });
  };
  const Tensor t = ones({2, 2}), i = zeros({2}, i32);
  refuses("matmul", t, [](const Tensor& u) { return matmul(u, ones({2, 2})); });
  refuses("matmul", t, [](const Tensor& u) { return matmul(ones({2, 2}), u); });
  refuses("matmul_bias_residual", t, [](const Tensor& u) {
    return matmul_bias_residual(ones({2, 2}), ones({2, 2}), ones({2}), u);
  });
  refuses("take", t, [&](const Tensor& u) { return take(u, i); });
  refuses("take", i, [&](const Tensor& u) { return take(t, u); });
  refuses("scatter_add", i, [&](const Tensor& u) { return scatter_add(t, u, t); });
  refuses("cumsum", t, [](const Tensor& u) { return cumsum(u, 0); });
  refuses("sort", t, [](const Tensor& u) { return sort(u, 0).values; });
  refuses("sum", t, [](const Tensor& u) { return sum(u, 0); });
  refuses("item", t.slice(0, 0, 1).slice(1, 0, 1), [&](const Tensor& u) { return t * u.item<float>(); });
}
/// What the function makes itself is made anew: nobody's changes of it matter, nor is it kept.
TEST_P(Checkpoint, ChangesOfWhatItMadeAreFine) {
  const Var x(ones({2}));
  Tensor inner;
  const Var y = checkpoint([&](const Var& v) {
    const Var made = v + 1;
    if (!inner.defined()) inner = made.value();
    return concatenate({exp(made) * tensor({1.0f, 2.0f}), v});
  })(x);
  inner *= 5;
  Tensor result = y.value();
  result *= 3;
  const double e = std::exp(2.0);
  const std::vector<double> got = doubles(backward(sum(y))[x]);
  EXPECT_NEAR(got[0], e + 1, 8 * 0x1p-23 * e);
  EXPECT_NEAR(got[1], 2 * e + 1, 16 * 0x1p-23 * e);
}
TEST_P(Checkpoint, WhatWasReadIsNotKept) {
  const Var x(ones({2}));
  Tensor outside = ones({2});
  std::weak_ptr<detail::Storage> read = outside.impl()->storage, made;
  const Var y = checkpoint([&](const Var& v) {
    const Var inner = outside.defined() ? v + outside : v + 1;
    if (made.expired()) made = inner.value().impl()->storage;
    return exp(inner) * 2;
  })(x);
  outside = Tensor();
  EXPECT_TRUE(read.expired());
  EXPECT_TRUE(made.expired());
  const Tensor want = 2 * exp(ones({2}) + 1);
  EXPECT_EQ(doubles(backward(sum(y))[x]), doubles(want));
}
TEST_P(Checkpoint, ARunningMeanIsNoOperand) {
  Tensor running = zeros({2});
  const Var x(ones({2}));
  const Var y = checkpoint([&](const Var& v) {
    running *= 0.5;
    running += v.value();
    return v * v;
  })(x);
  running *= 2;
  expect_values(backward(sum(y))[x], {2}, {2, 2});
}
TEST_P(CheckpointGradients, ThreeOrders) {
  const Tensor w = random({3, 3});
  check_three_orders(
      "checkpoint",
      [&](const Var& x, const Var& v) {
        return checkpoint([v](const Var& u) {
          return tanh(matmul(u, v)) * checkpoint([](const Var& t) { return exp(t) * t; })(u);
        })(x);
      },
      random({2, 3}), w);
  const auto f = checkpoint([](const Var& x) { return sum(sin(x) * x); });
  EXPECT_TRUE(gradgradcheck(f, random({3}))) << gradgradcheck(f, random({3})).message;
  const auto [y, change] = jvp(f, random({3}), random({3}));
  EXPECT_EQ(change.numel(), 1);
}

// ---- hooks ----
TEST_P(HooksOf, Variables) {
  const Var x(tensor({3.0f})), y = x * x, z = y * y;
  std::vector<double> seen;
  HookHandle of_x = x.register_hook([&](const Var& g) { seen.push_back(g.item<float>()); });
  y.register_hook([&](const Var& g) { seen.push_back(g.item<float>()); });
  backward(z, {.keep_graph = true});
  EXPECT_EQ(seen, (std::vector<double>{18, 108}));
  of_x.remove();
  of_x.remove();
  backward(z, {.keep_graph = true});
  EXPECT_EQ(seen, (std::vector<double>{18, 108, 18}));
}
TEST_P(HooksOf, SeeTheWholeGradientAndMayReplaceIt) {
  const Var x(tensor({2.0f})), y = 3 * x;
  int calls = 0;
  y.register_hook([&](const Var& g) { ++calls; return g * 0.5; });
  y.retain_grad();
  const Gradients g = backward(y * y + y);
  EXPECT_EQ(calls, 1) << "once, when the gradient is final";
  expect_values(g[y], {1}, {6.5}), expect_values(g[x], {1}, {19.5});
  const Var leaf(tensor({2.0f}));
  leaf.register_hook([](const Var& d) { return clamp(d, -1, 1); });
  expect_values(backward(leaf * leaf * leaf + leaf)[leaf], {1}, {1});
  expect_values(backward(leaf)[leaf], {1}, {1});
}
/// The last layer's gradients are final, and sent, before backward reaches the first layer.
TEST_P(HooksOf, LeavesAreToldAsSoonAsTheirGradientIsFinal) {
  const Net n(device());
  std::vector<std::string> order;
  n.w1.register_hook([&](const Var&) { order.push_back("w1"); });
  n.w2.register_hook([&](const Var&) { order.push_back("w2"); });
  const Var hidden = silu(matmul(n.x, n.w1)), y = matmul(hidden, n.w2) + 0 * sum(n.w2);
  hidden.register_hook([&](const Var&) { order.push_back("hidden"); });
  backward(sum(y));
  EXPECT_EQ(order, (std::vector<std::string>{"w2", "hidden", "w1"}));
}
TEST_P(HooksOf, Operations) {
  const Var x(tensor({3.0f})), y = x * x, z = exp(y) * 0 + y;
  std::vector<std::string> seen;
  HookHandle handle = y.grad_fn()->register_hook([&](std::span<const Var> outputs, std::span<const Var> inputs) {
    EXPECT_EQ(outputs.size(), 1u);
    expect_values(outputs[0].value(), {1}, {1}), expect_values(inputs[0].value(), {1}, {3});
    seen.push_back(y.grad_fn()->name());
  });
  backward(z, {.keep_graph = true});
  EXPECT_EQ(seen, std::vector<std::string>{"MulBackward"});
  handle.remove();
  backward(z);
  EXPECT_EQ(seen.size(), 1u);
}
TEST_P(HooksOf, InHigherOrders) {
  const Var x(tensor({2.0f}));
  const Var y = tanh(x);
  int calls = 0;
  y.register_hook([&](const Var&) { ++calls; });
  const Gradients g = backward(y, {.create_graph = true});
  EXPECT_EQ(calls, 1);
  backward(g.var(x));  // 1 - y²: through y again
  EXPECT_EQ(calls, 2);
}
TEST_P(HooksOf, Errors) {
  expect_error(ErrorKind::autograd, {"register_hook"}, [] { Var(ones({1}), false).register_hook([](const Var&) {}); });
  const Var x(ones({2})), y = x * x;
  y.register_hook([](const Var&) { return Var(ones({3}), false); });
  expect_error(ErrorKind::shape, {"register_hook", "f32[2]", "f32[3]"}, [&] { backward(sum(y)); });
}

// ---- custom_gradient ----
TEST_P(CustomGradient, OneArgument) {
  const auto cube = custom_gradient(
      "cube", [](const Tensor& x) { return x * x * x; }, [](const Var& g, const Var& x) { return 3 * g * x * x; });
  const Tensor x = random({4});
  EXPECT_TRUE((std::is_same_v<decltype(cube(x)), Tensor>));
  EXPECT_EQ(doubles(cube(x)), doubles(x * x * x));
  EXPECT_EQ(cube(Var(x)).grad_fn()->name(), "CubeBackward");
  check_three_orders("cube", cube, x);
  EXPECT_TRUE(gradcheck(cube, x)) << gradcheck(cube, x).message;
  EXPECT_TRUE(gradgradcheck(cube, x)) << gradgradcheck(cube, x).message;
}
TEST_P(CustomGradient, SeveralArgumentsAndResultsAndTheOutput) {
  const auto polar = custom_gradient(
      "polar", [](const Tensor& r, const Tensor& phi) { return std::array{r * cos(phi), r * sin(phi)}; },
      [](const std::array<Var, 2>& g, const std::array<Var, 2>& y, const Var& r, const Var&) {
        return std::tuple{(g[0] * y[0] + g[1] * y[1]) / r, g[1] * y[0] - g[0] * y[1]};
      });
  const Tensor r = random({3}, 1, 2), phi = random({3});
  for (const int k : {0, 1, 2})
    check_three_orders("polar", [&](const Var& a, const Var& b) {
      const auto y = polar(a, b);
      return k == 2 ? y[0] * y[1] : y[static_cast<std::size_t>(k)];
    }, r, phi);
  EXPECT_TRUE(gradgradcheck(polar, r, phi)) << gradgradcheck(polar, r, phi).message;
  const auto norm = custom_gradient([](const std::vector<Tensor>& v) { return sum(v[0] * v[1]); },
                                    [](const Var& g, const std::vector<Var>& v) {
                                      return std::vector<Var>{g * v[1], g * v[0]};
                                    });
  EXPECT_TRUE(gradgradcheck([&](const std::vector<Var>& v) { return norm(v); }, std::vector<Tensor>{r, phi}));
}
TEST_P(CustomGradient, AStraightThroughEstimator) {
  const auto rounded = custom_gradient(
      "straight_through", [](const Tensor& x) { return round(x); }, [](const Var& g, const Var&) { return g; });
  const Var x(random({3}, -4, 4));
  const Var y = rounded(x);
  EXPECT_EQ(doubles(y), doubles(round(x.value())));
  expect_values(backward(sum(y))[x], {3}, {1, 1, 1});
}
/// A gradient from plain values is a gradient; that it has no derivative is said where one is asked for.
TEST_P(CustomGradient, NoDerivativeOfAGradientFromPlainValues) {
  const auto opaque = custom_gradient("opaque", [](const Tensor& x) { return x * x; },
                                      [](const Var& g, const Var& x) { return Var(2 * g.value() * x.value(), false); });
  const auto total = [&](const Var& x) { return sum(opaque(x)); };
  const auto tall = [&](const Var& x) { return opaque(x * ones({12, 1}, f64)); };
  const Tensor x = random({3}), v = random({3});
  EXPECT_EQ(doubles(grad(total)(x)), doubles(2 * x));
  EXPECT_EQ(doubles(vjp(opaque, x, v).result), doubles(2 * v * x));
  EXPECT_EQ(doubles(jacobian(opaque, x, Mode::reverse)).size(), 9u);
  EXPECT_TRUE(gradcheck(opaque, x));
  const Var at(x);
  const Gradients first = backward(total(at), {.create_graph = true});
  EXPECT_EQ(doubles(first[at]), doubles(2 * x));
  const std::vector<std::string> parts{"opaque", "argument 1", "no derivative"};
  expect_error(ErrorKind::autograd, parts, [&] { backward(sum(first.var(at))); });
  expect_error(ErrorKind::autograd, parts, [&] { jvp(opaque, x, v); });
  expect_error(ErrorKind::autograd, parts, [&] { jacobian(opaque, x, Mode::forward); });
  expect_error(ErrorKind::autograd, parts, [&] { jacobian(tall, x); });
  expect_error(ErrorKind::autograd, parts, [&] { batched_jacobian(opaque, x.reshape({1, 3}), Mode::forward); });
  expect_error(ErrorKind::autograd, parts, [&] { hvp(total, x, v); });
  expect_error(ErrorKind::autograd, parts, [&] { hessian(total, x); });
  expect_error(ErrorKind::autograd, parts, [&] { grad([&](const Var& t) { return sum(grad(total)(t)); })(x); });
  expect_error(ErrorKind::autograd, parts, [&] { gradgradcheck(opaque, x); });
  // Nor is one that is tracked for other reasons.
  const Var w(v);
  const auto leaf = custom_gradient("opaque", [](const Tensor& t) { return t * t; },
                                    [](const Var& g, const Var& t) { return Var(2 * g.value() * t.value()); });
  const auto captured = custom_gradient("opaque", [&](const Tensor& t) { return t * w.value(); },
                                        [w](const Var& g, const Var&) { return g.detach() * w; });
  expect_error(ErrorKind::autograd, parts, [&] { jvp(leaf, x, v); });
  expect_error(ErrorKind::autograd, parts, [&] { hvp([&](const Var& t) { return sum(leaf(t)); }, x, v); });
  expect_error(ErrorKind::autograd, parts, [&] { jvp(captured, x, v); });
}
TEST_P(CustomGradient, ALinearOneHasSecondDerivativeZero) {
  const Tensor c = random({3}), x = random({3}), v = random({3});
  const auto scaled = custom_gradient(
      "scaled", [c](const Tensor& t) { return t * c; }, [c](const Var& g, const Var&) { return g * c; });
  const auto total = [&](const Var& t) { return sum(scaled(t)); };
  expect_values(hvp(total, x, v), {3}, {0, 0, 0});
  EXPECT_EQ(doubles(jvp(scaled, x, v).result), doubles(v * c));
  EXPECT_TRUE(gradcheck(scaled, x));
  EXPECT_TRUE(gradgradcheck(scaled, x));
  const Var at(x);
  const Gradients first = backward(total(at), {.create_graph = true});
  EXPECT_FALSE(first.var(at).requires_grad()) << "as of any linear operation";
  EXPECT_EQ(first.size(), 1u);
  const auto unused = custom_gradient("unused", [](const Tensor& a, const Tensor& b) { return a * (1 + 0 * b); },
                                      [](const Var& g, const Var&, const Var&) { return std::tuple{g, 0 * g}; });
  EXPECT_TRUE(gradgradcheck(unused, x, v)) << gradgradcheck(unused, x, v).message;
}
TEST_P(CustomGradient, Errors) {
  const Var x(random({3})), y(random({3}));
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  const auto one = custom_gradient("p", product, [](const Var& g, const Var&, const Var& b) { return g * b; });
  expect_error(ErrorKind::autograd, {"p: backward", "2 arguments", "gave 1"}, [&] { backward(sum(one(x, y))); });
  const auto none = custom_gradient("p", product, [](const Var& g, const Var&, const Var& b) {
    return std::tuple{g * b, Var()};
  });
  expect_error(ErrorKind::autograd, {"p: backward", "argument 2"}, [&] { backward(sum(none(x, y))); });
  EXPECT_NO_THROW(backward(sum(none(x, y.detach()))));
  const auto wrong = custom_gradient("p", product, [](const Var& g, const Var&, const Var& b) {
    return std::tuple{g * b, sum(g)};
  });
  expect_error(ErrorKind::shape, {"p: backward", "argument 2", "f64[]", "f64[3]"}, [&] { backward(sum(wrong(x, y))); });
  expect_error(ErrorKind::shape, {"p"}, [&] { one(x, Var()); });
}

}  // namespace
}  // namespace tern::test
