// What makes, moves, joins, multiplies and reads complex numbers, and what is refused.
#include "every_device/complex/complex_numbers.hpp"
#include "tern/optim.hpp"
#include "tern/trace.hpp"
#include "tern/transforms.hpp"

namespace tern::test {
namespace {

class ComplexOperations : public EveryDevice {};
TERN_EVERY_DEVICE(ComplexOperations);

TEST_P(ComplexOperations, AreMadeAndRead) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4)}, device());
  EXPECT_EQ(z.dtype(), c64);
  EXPECT_EQ(z.to_vector<C64>(), (std::vector<C64>{{1, 2}, {3, -4}}));
  EXPECT_EQ(z[1].item<C64>(), C64(3, -4));
  EXPECT_EQ(z[1].item<C128>(), C128(3, -4));
  EXPECT_EQ(text(z), "[1.+2.j, 3.-4.j]");
  EXPECT_EQ(text(tensor({1, 2}, device()).to(c64)), "[1.+0.j, 2.+0.j]");
  EXPECT_EQ(text(tensor(std::vector<float>{1, 2}, c64, device())), "[1.+0.j, 2.+0.j]");
  EXPECT_EQ(text(zeros({2}, {.dtype = c64, .device = device()})), "[0.+0.j, 0.+0.j]");
  EXPECT_EQ(text(full({2}, C128(1, -1), {.dtype = c64, .device = device()})), "[1.-1.j, 1.-1.j]");
  EXPECT_EQ(text(full({}, 2, {.dtype = c64, .device = device()})), "2.+0.j");
  EXPECT_EQ(text(eye(2, {.dtype = c64, .device = device()})), "[[1.+0.j, 0.+0.j],\n [0.+0.j, 1.+0.j]]");
  EXPECT_EQ(text(arange(0, 3, 1, {.dtype = c64, .device = device()})), "[0.+0.j, 1.+0.j, 2.+0.j]");
  EXPECT_EQ(text(view_as_real(z)), "[[ 1.,  2.],\n [ 3., -4.]]");
  EXPECT_EQ(text(real(z)) + text(imag(z)), "[1., 3.][ 2., -4.]");
  EXPECT_EQ(text(imag(tensor({1.0f, 2.0f}, device()))), "[0., 0.]");
  EXPECT_EQ(text(zeros_like(z)) + text(ones_like(z[0])), "[0.+0.j, 0.+0.j]1.+0.j");
  EXPECT_EQ(z.to(cpu()).to(device()).to_vector<C64>(), z.to_vector<C64>());
  if (device() != cpu()) return;
  EXPECT_EQ(z.data_ptr<const C64>()[1], C64(3, -4));
}
TEST_P(ComplexOperations, AreViewedStridedAndBroadcast) {
  std::vector<C64> list;
  for (int i = 0; i < 24; ++i) list.emplace_back(static_cast<float>(i), static_cast<float>(-i));
  const Tensor z = tensor(list, {2, 3, 4}, device());
  const Tensor turned = z.permute({2, 0, 1}).slice(0, {}, {}, -2);
  const auto at = [&](int i, int j, int k) { return list[static_cast<std::size_t>(i * 12 + j * 4 + k)]; };
  std::vector<C64> want, product;
  for (const int k : {3, 1})
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) want.push_back(at(i, j, k)), product.push_back(at(i, j, k) * at(0, j, 0));
  EXPECT_EQ(turned.to_vector<C64>(), want);
  EXPECT_EQ(turned.contiguous().to_vector<C64>(), want);
  EXPECT_EQ((turned * z(0, Slice(), 0)).to_vector<C64>(), product) << "a column, broadcast";
  EXPECT_EQ(turned.reshape({-1}).to_vector<C64>(), want);
  EXPECT_EQ(view_as_complex(view_as_real(turned)).strides(), turned.strides());
  const Tensor apart = ones({2, 5}, device()).transpose(0, 1);  // whose pairs do not lie beside each other
  EXPECT_EQ(text(view_as_complex(apart)[0]), "1.+1.j");
  EXPECT_EQ(sum(turned, {0, 2}).to_vector<C64>(), (std::vector<C64>{{36, -36}, {108, -108}}));
  EXPECT_EQ(mean(z, {0}).shape(), (Shape{3, 4}));
  for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}}) {
    const Tensor none = zeros(shape, {.dtype = c64, .device = device()});
    EXPECT_EQ((none * none + exp(none)).shape(), shape);
    EXPECT_EQ(text(sum(none)), "0.+0.j");
    EXPECT_EQ(text(prod(none)), "1.+0.j");
    EXPECT_EQ(matmul(none.reshape({2, 0}), zeros({0, 2}, {.dtype = c64, .device = device()})).dtype(), c64);
  }
}
TEST_P(ComplexOperations, AreMultipliedWithEpilogues) {
  const auto numbers = [&](const Shape& shape, int seed) {
    Generator re{static_cast<std::uint64_t>(seed)}, im{static_cast<std::uint64_t>(seed) + 100};
    return make_complex(randn(shape, re, {.device = device()}), randn(shape, im, {.device = device()}));
  };
  const Tensor a = numbers({3, 4}, 1), b = numbers({4, 5}, 2), bias = numbers({5}, 3), skip = numbers({3, 5}, 4);
  const auto expect_close = [](const Tensor& got, const Tensor& want) {
    EXPECT_EQ(got.dtype(), c64);
    EXPECT_LT(doubles(max(abs(got - want)))[0], 1e-5);
  };
  const Tensor product = matmul(a, b);
  expect_close(matmul_bias(a, b, bias), product + bias);
  expect_close(matmul_bias(real(a), b, bias), matmul(real(a), b) + bias);
  expect_close(matmul_bias(real(a), real(b), bias), matmul(real(a), real(b)) + bias);
  Tensor pre;
  expect_close(matmul_bias_activation(a, b, bias, op::tanh, {.save_pre_activation = &pre}), tanh(product + bias));
  expect_close(pre, product + bias);
  expect_close(matmul_activation(a, b, op::exp), exp(product));
  expect_close(matmul_bias_residual(a, b, bias, skip), product + bias + skip);
  const auto formula = [](auto acc, auto x, auto y) { return acc * x + y; };
  expect_close(matmul_epilogue(a, b, formula, bias, skip), product * bias + skip);
  expect_close(matmul_epilogue(real(a), b, formula, bias, skip), matmul(real(a), b) * bias + skip);
  expect_close(matmul_epilogue(a, b, [](auto acc) { return sum(acc, -1); }), sum(product, {-1}, true));
  // Gradients are those of the same written out.
  const auto loss = [&](auto call) {
    const Var x(a), w(b), c(bias);
    const Var y = call(x, w, c);
    const Gradients g = backward(sum(real(y * conj(y))));
    return std::array{g[x], g[w], g[c]};
  };
  const auto fused = loss([](auto x, auto w, auto c) { return matmul_bias_activation(x, w, c, op::tanh); });
  const auto apart = loss([](auto x, auto w, auto c) { return tanh(matmul(x, w) + c); });
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(doubles(max(abs(fused[i] - apart[i])))[0], 1e-3) << i;
  expect_error(ErrorKind::shape, {"matmul_bias", "bias"}, [&] { matmul_bias(a, b, numbers({4}, 5)); });
  expect_error(ErrorKind::dtype, {"complex"}, [&] { matmul_bias_activation(a, b, bias, op::relu); });
}
TEST_P(ComplexOperations, HaveTheirPartsAsMethods) {
  const Var z(tensor({C64(1, 2), C64(3, -4)}, device()));
  EXPECT_EQ(text(z.value().real()) + text(z.value().imag()), "[1., 3.][ 2., -4.]");
  EXPECT_EQ(text(z.value().conj()), "[1.-2.j, 3.+4.j]");
  EXPECT_EQ(text(backward(sum(z.real() * 2 + z.imag()))[z]), "[2.+1.j, 2.+1.j]");
}
/// Optimisers take them as pairs of real numbers, and so does clipping.
TEST_P(ComplexOperations, AreOptimised) {
  const Tensor start = tensor({C64(1, 2), C64(3, -4)}, device()), slope = tensor({C64(3, 0), C64(0, 4)}, device());
  for (const bool adam : {false, true}) {
    const Var z(start.clone());
    const Var pairs(view_as_real(start).clone());
    optim::SGD sgd({z}, {.learning_rate = 0.1, .momentum = 0.9}), sgd_of_pairs({pairs}, sgd.options());
    optim::AdamW adamw({z}), adamw_of_pairs({pairs});
    for (int i = 0; i < 3; ++i) {
      const Gradients g = backward(sum(real(z * conj(z))) + sum(real(z * conj(constant(slope)))));
      const Gradients h = backward(sum(square(pairs)) + sum(pairs * view_as_real(slope)));
      EXPECT_EQ(doubles(view_as_real(g[z])), doubles(h[pairs]));
      if (adam) adamw.step(g), adamw_of_pairs.step(h);
      else sgd.step(g), sgd_of_pairs.step(h);
    }
    EXPECT_EQ(doubles(view_as_real(z.value())), doubles(pairs));
  }
  const Var z(start.clone());
  Gradients g = backward(sum(real(z * conj(constant(slope)))));
  EXPECT_NEAR(doubles(optim::clip_grad_norm(g, {z}, 1))[0], 5, 1e-5);
  EXPECT_LT(doubles(max(abs(g[z] - slope / 5)))[0], 1e-5);
}
TEST_P(ComplexOperations, AreReducedWhereAMaskIsTrue) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4), C64(5, 6)}, device()), mask = tensor({true, false, true}, device());
  EXPECT_EQ(text(sum(z, {}, false, {.where = mask})), "6.+8.j");
  EXPECT_EQ(text(mean(z, {}, false, {.where = mask})), "3.+4.j");
  EXPECT_EQ(text(prod(z, {}, false, {.where = mask})), "-7.+16.j");
  EXPECT_EQ(text(var(z, {}, false, {.where = mask})), "16.");
}
TEST_P(ComplexOperations, AreWrittenInPlace) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4), C64(0, 1)}, device());
  Tensor w = z.clone();
  w *= z;
  EXPECT_EQ(text(w), text(z * z));
  w += 1;
  w -= tensor({1.0f}, device());
  EXPECT_EQ(text(w), text(z * z));
  w.slice(0, 0, 2).copy_from(z.slice(0, 1, 3));
  EXPECT_EQ(text(w), "[ 3.-4.j,  0.+1.j, -1.+0.j]");
  assign(w(tensor({true, false, true}, device())), 5);
  EXPECT_EQ(text(w), "[5.+0.j, 0.+1.j, 5.+0.j]");
  assign(w(tensor({1}, device())), tensor({C64(7, 8)}, device()));
  EXPECT_EQ(text(w), "[5.+0.j, 7.+8.j, 5.+0.j]");
  real(w).copy_from(zeros({3}, device()));
  EXPECT_EQ(text(w), "[0.+0.j, 0.+8.j, 0.+0.j]");
  Tensor x = ones({3}, device());
  expect_error(ErrorKind::dtype, {"mul", "f32[3]", "c64"}, [&] { x *= z; });
  expect_error(ErrorKind::dtype, {"copy_from", "c64[3]", "f32[3]"}, [&] { x.copy_from(z); });
}
TEST_P(ComplexOperations, AreSelectedAndJoined) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4), C64(0, 1)}, device()), i = tensor({2, 0}, device());
  EXPECT_EQ(text(take(z, i)), "[0.+1.j, 1.+2.j]");
  EXPECT_EQ(text(z(i)), "[0.+1.j, 1.+2.j]");
  EXPECT_EQ(text(gather(z, i, -1)), "[0.+1.j, 1.+2.j]");
  EXPECT_EQ(text(scatter_add(z, i, z.slice(0, 0, 2))), "[4.-2.j, 3.-4.j, 1.+3.j]");
  EXPECT_EQ(text(z(abs(z) > 2)), "[1.+2.j, 3.-4.j]");
  EXPECT_EQ(text(concatenate({z.slice(0, 0, 1), ones({1}, device())}, -1)), "[1.+2.j, 1.+0.j]");
  EXPECT_EQ(text(stack({z.slice(0, 0, 1), z.slice(0, 2)}, 1)), "[[1.+2.j, 0.+1.j]]");
  EXPECT_EQ(text(where(tensor({true, false, true}, device()), z, 0)), "[1.+2.j, 0.+0.j, 0.+1.j]");
  EXPECT_EQ(text(masked_fill(z, tensor({true, false, false}, device()), 2)), "[2.+0.j, 3.-4.j, 0.+1.j]");
  EXPECT_EQ(text(cumsum(z, 0)), "[1.+2.j, 4.-2.j, 4.-1.j]");
  EXPECT_EQ(text(flip(z)) + text(roll(z, 1, 0)[0]), "[0.+1.j, 3.-4.j, 1.+2.j]0.+1.j");
  EXPECT_EQ(text(pad(z.slice(0, 0, 1), {{1, 0}})), "[0.+0.j, 1.+2.j]");
  EXPECT_EQ(text(diag(z.slice(0, 0, 2))), "[[1.+2.j, 0.+0.j],\n [0.+0.j, 3.-4.j]]");
  EXPECT_EQ(text(prod(z)), text(z[0] * z[1] * z[2]));
  EXPECT_EQ(text(var(z)), text(var(real(z)) + var(imag(z))));
  EXPECT_NEAR(norm(z).item<float>(), std::sqrt(31.0), 1e-5);
  EXPECT_TRUE(any(z).item<bool>() && all(z).item<bool>() && !any(zeros_like(z)).item<bool>());
  EXPECT_TRUE(allclose(z, z + 1e-9) && !allclose(z, conj(z)));
  EXPECT_EQ(text(vecdot(z, z)), "31.+0.j");
}
TEST_P(ComplexOperations, CloseByTheModulusOfTheDifference) {
  const float none = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  using Truths = std::vector<bool>;
  const auto truths = [](const Tensor& t) { return t.to_vector<bool>(); };
  // |a - b| is 5 and |b| 100, but of the imaginary parts alone nothing is close.
  const Tensor a = tensor({C64(103, 4), C64(100, 0), C64(1, inf), C64(1, inf), C64(none, 1), C64(1, 1), C64(1, 0)},
                          device());
  const Tensor b = tensor({C64(100, 0), C64(103, 4), C64(1, inf), C64(2, inf), C64(none, 1), C64(inf, 1), C64(1, none)},
                          device());
  EXPECT_EQ(truths(isclose(a, b, 0.05, 0.01)), (Truths{true, true, true, false, false, false, false}));
  EXPECT_EQ(truths(isclose(a, b, 0.0499, 0)), (Truths{false, true, true, false, false, false, false}));
  EXPECT_EQ(truths(isclose(a, b, 0, 4.99)), (Truths{false, false, true, false, false, false, false}));
  EXPECT_EQ(truths(isclose(a, b, 0, 5.01, true)), (Truths{true, true, true, false, true, false, false}));
  EXPECT_EQ(truths(isclose(Var(a), b, 0.05, 0.01)), truths(isclose(a, b, 0.05, 0.01)));
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(allclose(a[i], b[i], 0.05, 0.01), isclose(a[i], b[i], 0.05, 0.01).item<bool>()) << i;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(allclose(a[i], b[i], 0, 5.01, true), i < 3 || i == 4) << i;
  const Tensor beside = tensor({100.0f, 104.0f}, device());
  EXPECT_EQ(truths(isclose(a.slice(0, 0, 2), beside, 0, 5.01)), (Truths{true, true}));
  EXPECT_EQ(truths(isclose(beside, a.slice(0, 0, 2), 0, 4.2)), (Truths{false, true}));
  EXPECT_EQ(truths(isclose(tensor({100, 104}, device()), a.slice(0, 0, 2), 0, 4.2)), (Truths{false, true}));
  const Pointwise kept("kept", [](auto x, auto y) { return where(isclose(x, y, 0, 5.01), x, 0); });
  EXPECT_EQ(text(kept(a, b).slice(0, 0, 4)), "[103.+4.j, 100.+0.j,  1.+infj,   0.+0.j]");
  if (!supports(device(), c128)) return;
  const Tensor wide = tensor({C128(1e200, 1e200)}, device());  // whose squares overflow
  EXPECT_EQ(truths(isclose(wide, wide * (1 + 1e-6))), (Truths{true}));
  EXPECT_EQ(truths(isclose(wide, wide * (1 + 1e-4))), (Truths{false}));
}
TEST_P(ComplexOperations, ProductsOfMatrices) {
  Generator generator{3};
  const auto random = [&](const Shape& shape) {
    return make_complex(randn(shape, generator, device()), randn(shape, generator, device()));
  };
  const Tensor a = random({2, 5, 7}), b = random({7, 4}), c = random({4, 7}).mT();
  const auto expect = [&](const Tensor& got, const Tensor& x, const Tensor& y) {
    const Tensor want = sum(x.unsqueeze(-1) * y.unsqueeze(-3), {-2});
    ASSERT_EQ(got.shape(), want.shape());
    const std::vector<Wide> g = values(got), w = values(want);
    for (std::size_t i = 0; i < g.size(); ++i) ASSERT_LE(std::abs(g[i] - w[i]), 1e-5) << i;
  };
  expect(matmul(a, b), a, b);
  expect(matmul(a, c), a, c);
  expect(matmul(a.transpose(0, 1).contiguous().transpose(0, 1), b), a, b);
  expect(matmul(real(a), b), real(a), b);
  expect(matmul(a, imag(b)), a, imag(b));
  expect(einsum("bij,jk->bik", a, b), a, b);
  EXPECT_EQ(matmul(a[0], b.mT()[0]).shape(), (Shape{5}));
  EXPECT_EQ(matmul(b.mT()[0], b).shape(), (Shape{4}));
  expect(outer(b.mT()[0], b[0]), b.mT()[0].reshape({7, 1}), b[0].reshape({1, 4}));
  expect_error(ErrorKind::shape, {"matmul", "c64[2, 5, 7]", "c64[2, 5, 7]"}, [&] { matmul(a, a); });
  expect_error(ErrorKind::dtype, {"matmul", "i32", "c64"}, [&] {
    matmul(ones({5, 7}, {.dtype = i32, .device = device()}), b);
  });
}

TEST_P(ComplexOperations, AreRecordedAndReplayed) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4), C64(0, 1)}, device()), result = zeros_like(z);
  Tensor(result).copy_from(exp(z) * z);  // kernels are there before
  const std::string want = text(result);
  Graph step = capture(device(), [&] { Tensor(result).copy_from(exp(z) * z); });
  Tensor(result).copy_from(zeros_like(z));
  step.replay();
  EXPECT_EQ(text(result), want);
}

/// Kernels take every second number of a run many at a time, and what lies between stays.
TEST_P(ComplexOperations, PartsOfEveryLength) {
  for (const DType dtype : dtypes_of(device(), {f32, f64, i32}))
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000}) {
      const Tensor x = arange(0, 2 * n, 1, {.dtype = dtype, .device = device()});
      const Tensor first = x.slice(0, 0, 2 * n, 2), second = x.slice(0, 1, 2 * n, 2);
      const Tensor even = arange(0, 2 * n, 2, {.dtype = dtype, .device = device()});
      ASSERT_TRUE(all(first.contiguous() == even).item<bool>()) << n;
      ASSERT_TRUE(all(second * 1 == even + 1).item<bool>()) << n;
      Tensor(second).copy_from(even * 3);
      ASSERT_TRUE(all(first == even).item<bool>() && all(second == even * 3).item<bool>()) << n;
      Tensor(first).copy_from(even * 5);
      ASSERT_TRUE(all(first == even * 5).item<bool>() && all(second == even * 3).item<bool>()) << n;
    }
}

/// One kernel, which reads each number once and writes each result once.
TEST_P(ComplexOperations, TakeOneKernel) {
  const Tensor z = ones({4, 5}, {.dtype = c64, .device = device()}), w = ones({5}, {.dtype = c64, .device = device()});
  const auto expect = [&](auto f, std::int64_t read, std::int64_t written) {
    const TraceCounts before = trace_counts();
    const Tensor y = f();
    const TraceCounts after = trace_counts();
    EXPECT_EQ(after.calls - before.calls, 1);
    EXPECT_EQ(after.bytes_read - before.bytes_read, read);
    EXPECT_EQ(after.bytes_written - before.bytes_written, written);
  };
  expect([&] { return z * w; }, 25 * 8, 20 * 8);
  expect([&] { return z + w; }, 25 * 8, 20 * 8);
  expect([&] { return Pointwise([](auto a, auto b) { return exp(a) / b; })(z, w); }, 25 * 8, 20 * 8);
  expect([&] { return abs(z); }, 20 * 8, 20 * 4);
  expect([&] { return sum(z, {0}); }, 20 * 8, 5 * 8);
}

TEST_P(ComplexOperations, WhatHasNoMeaningIsRefused) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4)}, device());
  const auto refused = [&](const char* name, auto f) { expect_error(ErrorKind::dtype, {name, "complex"}, f); };
  refused("less", [&] { z < z; });
  refused("greater_equal", [&] { z >= 1; });
  refused("maximum", [&] { maximum(z, z); });
  refused("max", [&] { max(z); });
  refused("argmin", [&] { argmin(z); });
  refused("sort", [&] { sort(z); });
  refused("topk", [&] { topk(z, 1); });
  const Tensor real_line = ones({2}, device()), mask = tensor({true, false}, device());
  refused("argsort", [&] { argsort(z); });
  refused("kthvalue", [&] { kthvalue(z, 1); });
  refused("searchsorted", [&] { searchsorted(z, real_line); });
  refused("searchsorted", [&] { searchsorted(real_line, z); });
  refused("digitize", [&] { digitize(z, real_line); });
  refused("digitize", [&] { digitize(real_line, z); });
  refused("histogram", [&] { histogram(z); });
  refused("histogram", [&] { histogram(z, real_line); });
  refused("histogram", [&] { histogram(real_line, z); });
  refused("median", [&] { median(z); });
  refused("quantile", [&] { quantile(z, 0.5); });
  refused("unique_all", [&] { unique_all(z); });
  refused("unique_values", [&] { unique_values(z); });
  refused("unique_counts", [&] { unique_counts(Var(z)); });
  refused("unique_inverse", [&] { unique_inverse(z); });
  refused("isin", [&] { isin(z, real_line); });
  refused("isin", [&] { isin(real_line, z); });
  refused("cummax", [&] { cummax(z, 0); });
  refused("cummin", [&] { cummin(Var(z), 0); });
  refused("max_with_indices", [&] { max_with_indices(z); });
  refused("min_with_indices", [&] { min_with_indices(z); });
  refused("ptp", [&] { ptp(z); });
  refused("max", [&] { max(z, {}, false, {.where = mask}); });
  refused("min", [&] { min(z, {}, false, {.where = mask}); });
  refused("scatter_reduce", [&] { scatter_reduce(z, tensor({0}), z.slice(0, 0, 1), Reduce::minimum); });
  refused("scatter_reduce", [&] { scatter_reduce(z, tensor({0}), z.slice(0, 0, 1), Reduce::maximum, 0, false); });
  refused("floor", [&] { floor(z); });
  refused("round", [&] { round(z); });
  refused("mod", [&] { z % z; });
  refused("relu", [&] { relu(z); });
  refused("hypot", [&] { hypot(z, z); });
  refused("softmax", [&] { softmax(z); });
  refused("logsumexp", [&] { logsumexp(z); });
  refused("rms_norm", [&] { rms_norm(z, ones({2}, device())); });
  refused("to", [&] { z.to(f32); });
  refused("my_formula", [&] { Pointwise("my_formula", [](auto x) { return erf(x) * 2; })(z); });
  refused("my_formula", [&] { Pointwise("my_formula", [](auto x) { return x & x; })(z); });
  EXPECT_THROW(z.item<double>(), Error);
  EXPECT_THROW(rand({2}, Generator(1), {.dtype = c64, .device = device()}), Error);
  EXPECT_THROW(linspace(0, 1, 3, {.dtype = c64, .device = device()}), Error);
  EXPECT_THROW(tensor({C64(1, 2)}, f32), Error);
  EXPECT_THROW(gradcheck([](const Var& v) { return sum(abs(v)); }, z), Error);
}

}  // namespace
}  // namespace tern::test
