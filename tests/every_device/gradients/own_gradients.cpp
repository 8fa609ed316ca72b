// Gradients that are handed out have memory of their own: a write to one shows nowhere else.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class OwnGradients : public EveryDevice {};
TERN_EVERY_DEVICE(OwnGradients);

TEST_P(OwnGradients, LeavesThatAreAddedDoNotShareOne) {
  const Var x(ones({3})), a(ones({3})), b(full({3}, 2));
  const Gradients g = backward(sum(square(x + a + b)));
  for (const Var& v : {x, a, b}) Tensor(g[v]) *= 0.5;
  for (const Var& v : {x, a, b}) expect_values(g[v], {3}, {4, 4, 4});
}
TEST_P(OwnGradients, TheyAreNoBroadcastViews) {
  const Var x(ones({2, 3}));
  const Gradients g = backward(sum(x));
  Tensor(g[x]).slice(0, 0, 1) += 1;
  expect_values(g[x], {2, 3}, {2, 2, 2, 1, 1, 1});
  const Var y(ones({2, 3}));
  const Gradients h = backward(sum(y, 0), tensor({1.f, 2.f, 3.f}));
  Tensor(h[y]) += 1;
  expect_values(h[y], {2, 3}, {2, 3, 4, 2, 3, 4});
}
TEST_P(OwnGradients, TheSeedIsNotHandedOut) {
  const Var x(ones({2})), y(ones({2}));
  const Tensor seed = tensor({1.f, 2.f});
  const Gradients g = backward(x + y, seed);
  Tensor(g[x]) *= 10, Tensor(g[y]) *= 100;
  expect_values(seed, {2}, {1, 2}), expect_values(g[x], {2}, {10, 20}), expect_values(g[y], {2}, {100, 200});
  const Var s(full({}, 3));
  for (int i = 0; i < 3; ++i) {  // the 1 that the thread keeps
    const Gradients own = backward(s);
    EXPECT_EQ(own[s].item<float>(), 1);
    Tensor(own[s]) += 1;
  }
}
TEST_P(OwnGradients, NorIsWhatWasSaved) {
  const Var x(tensor({0.5f, 1.f})), w(tensor({2.f, 3.f}));
  const Var y = exp(x), loss = sum(y * w);
  const std::vector<double> saved = doubles(y);
  const Gradients g = backward(loss, {.keep_graph = true});
  Tensor(g[w]) *= 0, Tensor(g[x]) *= 0;
  EXPECT_EQ(doubles(y), saved);
  EXPECT_EQ(doubles(backward(loss)[w]), doubles(y));
}
TEST_P(OwnGradients, HooksAndRetainedGradientsHoldTheirOwn) {
  const Var x(ones({2})), a(ones({2}));
  const Var z = x + a;
  z.retain_grad();
  Tensor seen;
  x.register_hook([&](const Var& g) { seen = g.value(); });
  const Gradients g = backward(sum(z * tensor({2.f, 3.f})));
  for (const Var& v : {x, a, z}) Tensor(g[v]) += 1;
  for (const Var& v : {x, a, z}) expect_values(g[v], {2}, {3, 4});
  expect_values(seen, {2}, {2, 3});
}
TEST_P(OwnGradients, HooksMayWriteToWhatTheyGet) {
  const Var x(ones({2})), a(ones({2})), inner(ones({2}));
  const Tensor seed = tensor({1.f, 2.f});
  const auto halve = [](const Var& g) { Tensor(g.value()) *= 0.5; };
  x.register_hook(halve);
  const Gradients g = backward(x + a, seed);
  expect_values(g[x], {2}, {0.5, 1}), expect_values(g[a], {2}, {1, 2}), expect_values(seed, {2}, {1, 2});
  const Var z = inner + a;  // of a value in between: what goes on from it is what the hook made
  z.register_hook(halve);
  const Gradients h = backward(z + a, seed, {.create_graph = true});
  expect_values(h[inner], {2}, {0.5, 1}), expect_values(h[a], {2}, {1.5, 3}), expect_values(seed, {2}, {1, 2});
}
TEST_P(OwnGradients, OnesThatAreSetAreCopies) {
  const Var a(ones({2})), b(ones({2}));
  const Tensor t = tensor({1.f, 2.f});
  Gradients g = backward(sum(a * b));
  g.set(a, t), g.set(b, t);
  Tensor(g[a]) *= 2;
  expect_values(g[a], {2}, {2, 4}), expect_values(g[b], {2}, {1, 2}), expect_values(t, {2}, {1, 2});
}
TEST_P(OwnGradients, OfRecordedOnesTheResultsDoNotShare) {
  const Var x(tensor({1.f, 2.f})), a(ones({2}));
  const Var z = x + a;
  const Gradients g = backward(sum(z * z * z), {.create_graph = true});
  const Var second = sum(g.var(x)) + 2 * sum(g.var(a));
  const Gradients h = backward(second);
  expect_values(h[x], {2}, {3 * 6 * 2, 3 * 6 * 3}), expect_values(h[a], {2}, {3 * 6 * 2, 3 * 6 * 3});
  Tensor(g[x]) *= 0;
  expect_values(g[a], {2}, {12, 27});
}
TEST_P(OwnGradients, TransformsHandOutTheirOwn) {
  const Tensor x = ones({2}), a = ones({2}), seed = tensor({1.f, 2.f});
  const auto [dx, da] = grad([](const Var& u, const Var& v) { return sum(u + v); })(x, a);
  Tensor(dx) += 1;
  expect_values(dx, {2}, {2, 2}), expect_values(da, {2}, {1, 1});
  const auto [value, gradients] = value_and_grad([](const Var& u, const Var& v) { return sum(u - v); })(x, a);
  Tensor(std::get<0>(gradients)) *= 3;
  expect_values(std::get<0>(gradients), {2}, {3, 3}), expect_values(std::get<1>(gradients), {2}, {-1, -1});
  const auto add = [](const Var& u, const Var& v) { return u + v; };
  const auto pulled = vjp(add, std::tuple{x, a}, seed).result;
  Tensor(std::get<0>(pulled)) *= 3;
  expect_values(std::get<1>(pulled), {2}, {1, 2}), expect_values(seed, {2}, {1, 2});
  const Tensor pushed = jvp([](const Var& u) { return u.reshape({1, 2}); }, x, seed).result;
  Tensor(pushed) *= 3;
  expect_values(seed, {2}, {1, 2});
}
/// A layer's gradients are nobody else's as they are: nothing is copied.
TEST_P(OwnGradients, NothingIsCopiedWithoutNeed) {
  const Var x(ones({4, 3})), w(ones({3, 2})), b(ones({2})), scale(ones({4, 2}));
  const auto step = [&] { return sum(matmul_bias_activation(x, w, b, op::tanh) * scale); };
  const Var y = step();
  const std::int64_t before = trace_counts().calls;
  const Gradients g = backward(y);
  const std::int64_t calls = trace_counts().calls - before;
  EXPECT_LE(calls, 5) << "product's, and one for the factors, two products, and a sum";
  for (const Var& v : {x, w, b, scale}) Tensor(g[v]) += 1;
}
TEST_P(OwnGradients, Set) {
  const Var x(ones({2})), unread(ones({3}));
  Gradients g = backward(sum(x * x));
  g.set(x, tensor({5.f, 6.f})), g.set(unread, zeros({3}));
  expect_values(g[x], {2}, {5, 6}), expect_values(g[unread], {3}, {0, 0, 0});
  optim::SGD({x}, {.learning_rate = 1}).step(g);
  expect_values(x.value(), {2}, {-4, -5});
  expect_error(ErrorKind::shape, {"Gradients::set", "f32[2]", "f32[3]"}, [&] { g.set(x, zeros({3})); });
  expect_error(ErrorKind::dtype, {"Gradients::set", "f32[2]", "i32[2]"}, [&] { g.set(x, zeros({2}, i32)); });
  expect_error(ErrorKind::shape, {"Gradients::set", "undefined"}, [&] { g.set(x, Tensor()); });
  expect_error(ErrorKind::autograd, {"Gradients::set"}, [&] { g.set(x.detach(), zeros({2})); });
  for (const Device other : present_devices())
    if (other != device()) expect_error(ErrorKind::device, {"Gradients::set"}, [&] { g.set(x, ones({2}, other)); });
}

}  // namespace
}  // namespace tern::test
