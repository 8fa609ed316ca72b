// Methods of tensors and variables, handles that are rebound, and single elements.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Methods : public EveryDevice {};
TERN_EVERY_DEVICE(Methods);

/// (Longer than other functions: a line or two for each method, whose list at the end asks for all of them.)
TEST_P(Methods, AreTheFunctions) {
  const Tensor x = tensor({{1.0, 4.0, 2.0}, {3.0, 0.5, 5.0}});
  const Var v(x);
  const auto same = [](const Tensor& got, const Tensor& want) {
    EXPECT_TRUE(allclose(got.to(cpu()).to(f64), want.to(cpu()).to(f64), 0, 0, true)) << got << " and " << want;
  };
#define TERN_SELF Var
#define TERN_METHOD(result, name, declared, defined, ...) check_##name();
#define TERN_CHECK_AXES(name)                                               \
  const auto check_##name = [&] {                                           \
    SCOPED_TRACE(#name);                                                    \
    same(x.name(), tern::name(x)), same(x.name(0), tern::name(x, Axes{0})), \
        same(x.name({1}, true), tern::name(x, {1}, true));                  \
    same(as_tensor(v.name(-1)), tern::name(x, Axes{-1}));                   \
    EXPECT_EQ(x.name({1}, true).shape(), Shape({2, 1}));                    \
  };
#define TERN_CHECK_UNARY(name)                                                             \
  const auto check_##name = [&] {                                                          \
    SCOPED_TRACE(#name);                                                                   \
    same(x.name(), tern::name(x));                                                         \
    const Gradients got = backward(sum(v.name())), want = backward(sum(tern::name(v)));    \
    ASSERT_EQ(got.get(v.id()) == nullptr, want.get(v.id()) == nullptr); /* as of floor */  \
    if (want.get(v.id())) same(got[v], want[v]);                                           \
  };
  struct {
    Tensor operator()(const Tensor& t) const { return t; }
    Tensor operator()(const Var& t) const { return t.value(); }
  } as_tensor;
  // clang-format off
  TERN_CHECK_AXES(sum)
  TERN_CHECK_AXES(mean)
  TERN_CHECK_AXES(prod)
  TERN_CHECK_AXES(max)
  TERN_CHECK_AXES(min)
  TERN_CHECK_AXES(logsumexp)
  TERN_CHECK_AXES(var)
  TERN_CHECK_AXES(std)
  TERN_CHECK_AXES(argmax)
  TERN_CHECK_AXES(argmin)
  TERN_CHECK_AXES(any)
  TERN_CHECK_AXES(all)
  TERN_CHECK_UNARY(abs)
  TERN_CHECK_UNARY(sign)
  TERN_CHECK_UNARY(square)
  TERN_CHECK_UNARY(sqrt)
  TERN_CHECK_UNARY(rsqrt)
  TERN_CHECK_UNARY(exp)
  TERN_CHECK_UNARY(exp2)
  TERN_CHECK_UNARY(expm1)
  TERN_CHECK_UNARY(log)
  TERN_CHECK_UNARY(log2)
  TERN_CHECK_UNARY(log10)
  TERN_CHECK_UNARY(log1p)
  TERN_CHECK_UNARY(sin)
  TERN_CHECK_UNARY(cos)
  TERN_CHECK_UNARY(tan)
  TERN_CHECK_UNARY(asin)
  TERN_CHECK_UNARY(acos)
  TERN_CHECK_UNARY(atan)
  TERN_CHECK_UNARY(sinh)
  TERN_CHECK_UNARY(cosh)
  TERN_CHECK_UNARY(tanh)
  TERN_CHECK_UNARY(sigmoid)
  TERN_CHECK_UNARY(softplus)
  TERN_CHECK_UNARY(erf)
  TERN_CHECK_UNARY(relu)
  TERN_CHECK_UNARY(gelu)
  TERN_CHECK_UNARY(silu)
  TERN_CHECK_UNARY(floor)
  TERN_CHECK_UNARY(ceil)
  TERN_CHECK_UNARY(round)
  TERN_CHECK_UNARY(trunc)
  TERN_CHECK_UNARY(reciprocal)
  TERN_CHECK_UNARY(real)
  const auto check_imag = [&] { same(x.imag(), tern::imag(x)), same(as_tensor(v.imag()), zeros({2, 3})); };
  const auto check_conj = [&] { same(tern::real(x.conj()), x), same(tern::real(as_tensor(v.conj())), x); };
  // clang-format on
  const auto check_isnan = [&] { same(x.isnan(), isnan(x)), same(v.isnan(), isnan(x)); };
  const auto check_isinf = [&] { same(x.isinf(), isinf(x)), same(v.isinf(), isinf(x)); };
  const auto check_isfinite = [&] { same(x.isfinite(), isfinite(x)), same(v.isfinite(), isfinite(x)); };
  const auto check_softmax = [&] { same(x.softmax(0), softmax(x, 0)), same(v.softmax().value(), softmax(x)); };
  const auto check_log_softmax = [&] {
    same(x.log_softmax(), log_softmax(x)), same(v.log_softmax(0).value(), log_softmax(x, 0));
  };
  const auto check_cumsum = [&] { same(x.cumsum(0), cumsum(x, 0)), same(v.cumsum(1).value(), cumsum(x, 1)); };
  const auto check_clamp = [&] {
    same(x.clamp(1, 3.5), clamp(x, 1, 3.5)), same(v.clamp(1, 3.5).value(), clamp(x, 1, 3.5));
  };
  const auto check_pow = [&] { same(x.pow(2), pow(x, 2)), same(v.pow(0.5).value(), pow(x, 0.5)); };
  const auto check_norm = [&] { same(x.norm(0), norm(x, {0})), same(v.norm({1}, true).value(), norm(x, {1}, true)); };
  const auto check_sort = [&] {
    same(x.sort(0).values, sort(x, 0).values), same(v.sort().values.value(), sort(x).values);
  };
  const auto check_topk = [&] {
    same(x.topk(1, 0).values, topk(x, 1, 0).values), same(v.topk(2).values.value(), topk(x, 2).values);
  };
  const Tensor at = tensor({1, 0}), each = tensor({{1, 0, 1}, {0, 0, 1}});
  const auto check_take = [&] { same(x.take(at, 1), take(x, at, 1)), same(v.take(at).value(), take(x, at)); };
  const auto check_gather = [&] {
    same(x.gather(each, 0), gather(x, each, 0)), same(v.gather(each, 0).value(), gather(x, each, 0));
  };
  const auto check_median = [&] { same(x.median(1), median(x, {1})), same(v.median().value(), median(x)); };
  const auto check_argsort = [&] { same(x.argsort(), argsort(x)), same(v.argsort(0, true), argsort(x, 0, true)); };
  const auto check_masked_fill = [&] {
    same(x.masked_fill(x > 2, 7), masked_fill(x, x > 2, 7)), same(v.masked_fill(x > 2, 7).value(), where(x > 2, 7, x));
  };
  const auto check_nonzero = [&] {
    same((x > 2).nonzero()[1], nonzero(x > 2)[1]), same(Var(x).nonzero()[0], nonzero(x)[0]);
  };
  const auto check_squeeze = [&] {
    EXPECT_EQ(x.reshape({1, 2, 1, 3, 1}).squeeze().shape(), Shape({2, 3}));
    EXPECT_EQ(v.reshape({1, 6}).squeeze().shape(), Shape({6}));
  };
  const auto check_swapaxes = [&] { same(x.swapaxes(0, 1), x.T()), same(v.swapaxes(0, -1).value(), x.T()); };
  const auto check_moveaxis = [&] { same(x.moveaxis(0, 1), x.T()), same(v.moveaxis(0, -1).value(), x.T()); };
  const auto check_flip = [&] { same(x.flip(), flip(x)), same(v.flip({1}).value(), flip(x, {1})); };
  const auto check_roll = [&] { same(x.roll(1, 1), roll(x, 1, 1)), same(v.roll(-1, 0).value(), roll(x, -1, 0)); };
  const auto check_repeat = [&] {
    same(x.repeat(2, 1), repeat(x, 2, 1)), same(v.repeat(3, 0).value(), repeat(x, 3, 0));
  };
  const auto check_tile = [&] { same(x.tile({2, 1}), tile(x, {2, 1})), same(v.tile({2}).value(), tile(x, {2})); };
  const auto check_split = [&] {
    same(x.split(3, 1)[2], x(Slice(), Slice(2))), same(v.split(2)[1].value(), x(Slice(1)));
  };
  const auto check_unstack = [&] { same(x.unstack()[1], x[1]), same(v.unstack(1)[2].value(), x(Slice(), 2)); };
#include "tern/methods.inc"
#undef TERN_METHOD
#undef TERN_SELF
  same(x.matmul(x.T()), matmul(x, x.transpose(0, 1))), same(v.matmul(x.T()).value(), x.matmul(x.T()));
  same(backward(sum(x.matmul(v.T())))[v], backward(sum(v.matmul(x.mT())))[v] * 1);
  EXPECT_EQ(x.flatten().shape(), Shape({6}));
  EXPECT_EQ(full({}, 1).flatten().shape(), Shape({1}));
  EXPECT_EQ(v.flatten().shape(), Shape({6}));
  EXPECT_EQ(ones({2, 3, 4}).mT().shape(), Shape({2, 4, 3}));
  expect_error(ErrorKind::shape, {"T:", "mT"}, [] { ones({2, 3, 4}).T(); });
  expect_error(ErrorKind::shape, {"T:", "mT"}, [] { Var(ones({2})).T(); });
}

// ---- variables ----
TEST_P(Methods, ConstantsAndParameters) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_FALSE(constant(x).requires_grad());
  EXPECT_TRUE(parameter(x).requires_grad());
  const Var p = parameter(x), c = constant(x);
  const Gradients gradients = backward(sum(p * c));
  expect_values(gradients[p], {2}, {1, 2});
  EXPECT_EQ(gradients.get(c.id()), nullptr);
  expect_error(ErrorKind::dtype, {}, [] { parameter(tensor({1, 2})); });
  EXPECT_EQ(constant(tensor({1, 2})).dtype(), i32);
}
TEST_P(Methods, VarsAreRebound) {
  const Var x(tensor({1.0, 2.0, 3.0}));
  Var y = x;
  y += x;
  y *= x;
  y -= 1;
  y /= 2.0;
  y += tensor({1.0f, 1.0f, 1.0f});
  expect_values(y.value(), {3}, {1.5, 4.5, 9.5});
  expect_values(x.value(), {3}, {1, 2, 3});
  expect_values(backward(sum(y))[x], {3}, {2, 4, 6});
}
TEST_P(Methods, AnUndefinedVarBeginsASum) {
  const Var x(tensor({1.0, 2.0}));
  Var total;
  for (int i = 1; i <= 3; ++i) total += sum(x * i);
  EXPECT_EQ(total.item<float>(), 18);
  expect_values(backward(total)[x], {2}, {6, 6});
  Var from_tensor;
  from_tensor += x.value();
  EXPECT_FALSE(from_tensor.requires_grad());
  Var none;
  expect_error(ErrorKind::shape, {"undefined"}, [&] { none = none + x; });
  expect_error(ErrorKind::shape, {"undefined"}, [&] { none = x * none; });
  expect_error(ErrorKind::shape, {"undefined"}, [&] { none -= x; });
  expect_error(ErrorKind::shape, {"undefined"}, [&] { none += 1; });
}

// ---- single elements and memory ----
TEST_P(Methods, ItemsOfAnyFloatingOrIntegerDtype) {
  for (const DType d : dtypes_of(device(), {f16, bf16, f32, f64}))
    EXPECT_EQ(full({1}, 1.5, d).item<double>(), 1.5) << d;
  for (const DType d : dtypes_of(device(), {u8, i8, i16, i32, u32, i64}))
    EXPECT_EQ(full({}, 100, d).item<std::int64_t>(), 100) << d;
  EXPECT_EQ(full({}, -7, i8).item<std::int64_t>(), -7);
  EXPECT_EQ(full({}, 4000000000u, u32).item<std::int64_t>(), 4000000000);
  EXPECT_EQ(Var(full({}, 0.1)).item<double>(), static_cast<double>(0.1f));
  expect_error(ErrorKind::dtype, {"item", "i32[]", "f64"}, [] { full({}, 1, i32).item<double>(); });
  expect_error(ErrorKind::dtype, {"item", "f32[]", "i64"}, [] { full({}, 1).item<std::int64_t>(); });
  expect_error(ErrorKind::dtype, {"item", "boolean[]", "i64"}, [] { (full({}, 1) > 0).item<std::int64_t>(); });
  expect_error(ErrorKind::dtype, {"item", "f32[]", "f16"}, [] { full({}, 1).item<float16>(); });
  expect_error(ErrorKind::shape, {"item", "f32[2]"}, [] { ones({2}).item<double>(); });
}

}  // namespace
}  // namespace tern::test
