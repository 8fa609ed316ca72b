// Bad input beside that of the entries of operations (every_operation.cpp): each a tern::Error with its kind and a
// message that names the operation and what came, before any change.
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Errors : public EveryDevice {};
TERN_EVERY_DEVICE(Errors);

// ---- shapes ----
TEST_P(Errors, PointwiseShapes) {
  const Tensor a = ones({2, 3}), b = ones({4});
  expect_error(ErrorKind::shape, {"add", "[2, 3]", "[4]"}, [&] { a + b; });
  expect_error(ErrorKind::shape, {"mul", "[2, 3]", "[4]"}, [&] { Var(a) * b; });
  expect_error(ErrorKind::shape, {"where", "[2, 3]", "[4]"}, [&] { where(a > 0, a, b); });
  expect_error(ErrorKind::shape, {"less", "[2, 3]", "[4]"}, [&] { a < b; });
}
TEST_P(Errors, MatmulShapes) {
  expect_error(ErrorKind::shape, {"matmul: inner dimensions differ: a is f32[64, 128], b is f32[256, 32]"}, [] {
    matmul(ones({64, 128}), ones({256, 32}));
  });
  expect_error(ErrorKind::shape, {"matmul", "f32[3]", "f32[4]"}, [] { matmul(ones({3}), ones({4})); });
  expect_error(ErrorKind::shape, {"matmul", "f32[2, 3]", "f32[4]"}, [] { matmul(ones({2, 3}), ones({4})); });
  expect_error(ErrorKind::shape, {"matmul", "f32[]"}, [] { matmul(ones({}), ones({4})); });
  expect_error(ErrorKind::shape, {"matmul", "f32[2, 3, 4]", "f32[3, 4, 5]"}, [] {
    matmul(ones({2, 3, 4}), ones({3, 4, 5}));
  });
}
TEST_P(Errors, FusedLinearShapes) {
  const Tensor a = ones({2, 3}), b = ones({3, 4}), bias = ones({4});
  expect_error(ErrorKind::shape, {"matmul_bias_activation", "inner dimensions", "f32[2, 3]", "f32[4, 3]"}, [&] {
    matmul_bias_activation(a, ones({4, 3}), ones({3}), op::relu);
  });
  expect_error(ErrorKind::shape, {"matmul_bias_activation", "bias", "[4]", "f32[3]"},
               [&] { matmul_bias_activation(a, b, ones({3}), op::relu); });
  expect_error(ErrorKind::shape, {"matmul_bias_activation", "bias", "f32[1, 4]"}, [&] {
    matmul_bias_activation(a, b, ones({1, 4}), op::relu);
  });
  expect_error(ErrorKind::shape, {"matmul_bias", "f32[3]"}, [&] { matmul_bias(ones({3}), b, bias); });
  expect_error(ErrorKind::shape, {"matmul_activation", "f32[3]"}, [&] { matmul_activation(a, ones({3}), op::relu); });
  expect_error(ErrorKind::shape, {"matmul_bias_residual", "[5]", "[2, 4]"},
               [&] { matmul_bias_residual(a, b, bias, ones({5})); });
  expect_error(ErrorKind::shape, {"matmul_bias_residual", "residual", "f32[3, 2, 4]"}, [&] {
    matmul_bias_residual(a, b, bias, ones({3, 2, 4}));
  });
  expect_error(ErrorKind::shape, {"matmul_bias_activation", "activation", "2"},
               [&] { matmul_bias_activation(a, b, bias, op::add); });
}
TEST_P(Errors, FusedLinearBackwardShapes) {
  const Tensor a = ones({2, 3}), b = ones({3, 4}), bias = ones({4}), grad = ones({2, 4});
  const char* op = "matmul_bias_activation_bwd";
  expect_error(ErrorKind::shape, {op, "grad", "f32[2, 4]", "f32[4, 2]"}, [&] {
    matmul_bias_activation_bwd(ones({4, 2}), a, b, bias, op::relu);
  });
  expect_error(ErrorKind::shape, {op, "grad", "f32[4]"},
               [&] { matmul_bias_activation_bwd(ones({4}), a, b, bias, op::relu); });
  expect_error(ErrorKind::shape, {op, "inner dimensions"}, [&] {
    matmul_bias_activation_bwd(grad, a, ones({2, 4}), bias, op::relu);
  });
  expect_error(ErrorKind::shape, {op, "bias", "f32[2]"},
               [&] { matmul_bias_activation_bwd(grad, a, b, ones({2}), op::relu); });
  expect_error(ErrorKind::shape, {op, "pre_activation", "f32[2, 3]"}, [&] {
    matmul_bias_activation_bwd(grad, a, b, bias, op::relu, {.pre_activation = ones({2, 3})});
  });
  expect_error(ErrorKind::dtype, {op, "pre_activation", "f16"}, [&] {
    matmul_bias_activation_bwd(grad, a, b, bias, op::relu, {.pre_activation = ones({2, 4}, f16)});
  });
  MatmulBiasActivationGrads into{{}, ones({4, 3}), {}};
  expect_error(ErrorKind::shape, {op, "accumulate_into.d_b", "f32[3, 4]", "f32[4, 3]"},
               [&] { matmul_bias_activation_bwd(grad, a, b, bias, op::relu, {.accumulate_into = &into}); });
  into = {{}, {}, ones({4}, f16)};
  expect_error(ErrorKind::dtype, {op, "accumulate_into.d_bias", "f16"},
               [&] { matmul_bias_activation_bwd(grad, a, b, bias, op::relu, {.accumulate_into = &into}); });
  const Tensor square = ones({4, 4}), both = zeros({4, 4});
  into = {both, both, {}};
  expect_error(ErrorKind::shape, {op, "accumulate_into.d_b overlaps accumulate_into.d_a"}, [&] {
    matmul_bias_activation_bwd(square, square, square, bias, op::relu, {.accumulate_into = &into});
  });
  into = {{}, both, both.slice(0, 1, 2).squeeze(0)};
  expect_error(ErrorKind::shape, {op, "accumulate_into.d_bias overlaps accumulate_into.d_b"}, [&] {
    matmul_bias_activation_bwd(square, square, square, bias, op::relu, {.accumulate_into = &into});
  });
  EXPECT_EQ(doubles(both), std::vector<double>(16, 0.0));
}
TEST_P(Errors, ItemOfMany) {
  expect_error(ErrorKind::shape, {"item", "f32[2, 3]"}, [] { ones({2, 3}).item<float>(); });
  expect_error(ErrorKind::shape, {"item", "f32[0]"}, [] { ones({0}).item<float>(); });
}
TEST_P(Errors, LengthsAndSizes) {
  expect_error(ErrorKind::shape, {"tensor", "3", "[2, 2]"}, [] { tensor({1, 2, 3}, {2, 2}); });
  expect_error(ErrorKind::shape, {"[2, -1]", "negative"}, [] { zeros({2, -1}); });
  expect_error(ErrorKind::shape, {"[9223372036854775807, 4]"}, [] {
    zeros({std::numeric_limits<std::int64_t>::max(), 4});
  });
  expect_error(ErrorKind::shape, {"[4294967296, 4294967296]"}, [] {
    zeros({std::int64_t{1} << 32, std::int64_t{1} << 32});
  });
  expect_error(ErrorKind::shape, {}, [] { zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); });
  expect_error(ErrorKind::shape, {}, [] { ones({2}).broadcast_to({std::int64_t{1} << 62, 2}); });
}
TEST_P(Errors, EmptySizesBesideOverflow) {
  EXPECT_EQ(zeros({0, std::int64_t{1} << 40, std::int64_t{1} << 40}).numel(), 0);
}
TEST_P(Errors, OutOfMemory) {
  expect_error(ErrorKind::out_of_memory, {}, [] { zeros({std::int64_t{1} << 50}); });
  expect_error(ErrorKind::out_of_memory, {}, [] { ones({1}).broadcast_to({std::int64_t{1} << 50}).clone(); });
}
TEST_P(Errors, ReshapeAndViews) {
  const Tensor x = ones({2, 3});
  expect_error(ErrorKind::shape, {"reshape", "f32[2, 3]", "[4, 2]"}, [&] { x.reshape({4, 2}); });
  expect_error(ErrorKind::shape, {"reshape", "[-1, 4]"}, [&] { x.reshape({-1, 4}); });
  expect_error(ErrorKind::shape, {"reshape", "[-1, -1]"}, [&] { x.reshape({-1, -1}); });
  expect_error(ErrorKind::shape, {"reshape", "[-2, 3]"}, [&] { x.reshape({-2, 3}); });
  expect_error(ErrorKind::shape, {"reshape", "[-1, 0]"}, [&] { x.reshape({-1, 0}); });
  expect_error(ErrorKind::shape, {"squeeze", "f32[2, 3]"}, [&] { x.squeeze(0); });
  expect_error(ErrorKind::shape, {"broadcast_to", "f32[2, 3]", "[3]"}, [&] { x.broadcast_to({3}); });
  expect_error(ErrorKind::shape, {"broadcast_to", "[2, 3]", "[4, 3]"}, [&] { x.broadcast_to({4, 3}); });
  expect_error(ErrorKind::shape, {"broadcast_to"}, [&] { x.broadcast_to({1, 3}); });
}
TEST_P(Errors, Undefined) {
  const Tensor none, x = ones({2});
  const std::vector<std::function<void()>> uses{[&] { none + x; },
                                                [&] { x* none; },
                                                [&] { sum(none); },
                                                [&] { none.shape(); },
                                                [&] { none.numel(); },
                                                [&] { none.clone(); },
                                                [&] { none.to(f64); },
                                                [&] { none.reshape({1}); },
                                                [&] { matmul(none, x); },
                                                [&] { softmax(none); },
                                                [&] { Var v(none); },
                                                [&] { none.item<float>(); },
                                                [&] { none.to_vector<float>(); },
                                                [&] {
                                                  Tensor t = x.clone();
                                                  t.copy_from(none);
                                                },
                                                [&] { none.dtype(); },
                                                [&] {
                                                  Tensor t;
                                                  t += x;
                                                },
                                                [&] { backward(Var()); },
                                                [&] {
                                                  concatenate(std::vector<Tensor>{x, none});
                                                },
                                                [&] { take(x, none); },
                                                [&] { matmul_bias_activation(x, none, x, op::relu); },
                                                [&] { none.is_contiguous(); },
                                                [&] { none.device(); },
                                                [&] { none.slice(0, 0, 1); },
                                                [&] {
                                                  Tensor t;
                                                  t += 1;
                                                },
                                                [&] { allclose(x, none); },
                                                [&] { rms_norm(none, x); },
                                                [&] { -Var(); },
                                                [&] { none.strides(); },
                                                [&] { none.size(0); }};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE("use " + std::to_string(i));
    expect_error(ErrorKind::shape, {}, uses[i]);
  }
}
TEST_P(Errors, MaxOverNothing) {
  const Tensor none = zeros({2, 0});
  expect_error(ErrorKind::shape, {"max", "f32[2, 0]"}, [&] { max(none, {1}); });
  expect_error(ErrorKind::shape, {"min", "f32[2, 0]"}, [&] { min(none); });
  expect_error(ErrorKind::shape, {"argmax", "f32[2, 0]"}, [&] { argmax(none, 1); });
  expect_error(ErrorKind::shape, {"argmin", "f32[2, 0]"}, [&] { argmin(none, -1); });
  expect_error(ErrorKind::shape, {"max"}, [&] { max(Var(none), {1}); });
}
TEST_P(Errors, WrongNumberOfArguments) {
  constexpr Pointwise two{"two", [](auto x, auto y) { return x + y; }};
  const Tensor x = ones({2});
  expect_error(ErrorKind::shape, {"two", "2", "1"}, [&] { two(x); });
  expect_error(ErrorKind::shape, {"two", "2", "3"}, [&] { two(x, x, x); });
  expect_error(ErrorKind::shape, {"two", "2", "1"}, [&] { two(Var(x)); });
  expect_error(ErrorKind::shape, {"2", "1"}, [&] { row_formula(two, x); });
}

// ---- axes, slices, indices ----
TEST_P(Errors, Axes) {
  const Tensor x = ones({2, 3});
  for (const int axis : {2, -3, 100, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    expect_error(ErrorKind::index, {"sum", std::to_string(axis), "2"}, [&] { sum(x, axis); });
    expect_error(ErrorKind::index, {"softmax", std::to_string(axis)}, [&] { softmax(x, axis); });
    expect_error(ErrorKind::index, {"transpose"}, [&] { x.transpose(0, axis); });
    expect_error(ErrorKind::index, {"slice"}, [&] { x.slice(axis, 0, 1); });
    expect_error(ErrorKind::index, {}, [&] { x.size(axis); });
    expect_error(ErrorKind::index, {"squeeze"}, [&] { x.squeeze(axis); });
    expect_error(ErrorKind::index, {"concatenate"}, [&] { concatenate(std::vector<Tensor>{x, x}, axis); });
    expect_error(ErrorKind::index, {"take"}, [&] { take(x, tensor({0}), axis); });
    expect_error(ErrorKind::index, {}, [&] { argmax(x, axis); });
    expect_error(ErrorKind::index, {}, [&] { split(x, 1, axis); });
  }
  expect_error(ErrorKind::index, {"unsqueeze"}, [&] { x.unsqueeze(3); });
  expect_error(ErrorKind::index, {"unsqueeze"}, [&] { x.unsqueeze(-4); });
}
TEST_P(Errors, AxesTwice) {
  const Tensor x = ones({2, 3});
  expect_error(ErrorKind::index, {"sum"}, [&] { sum(x, {0, 0}); });
  expect_error(ErrorKind::index, {"sum"}, [&] { sum(x, {1, -1}); });
  expect_error(ErrorKind::index, {"permute"}, [&] { x.permute({0, 0}); });
  expect_error(ErrorKind::index, {"permute"}, [&] { x.permute({0}); });
  expect_error(ErrorKind::index, {"permute"}, [&] { x.permute({0, 2}); });
}
TEST_P(Errors, Slices) {
  const Tensor x = ones({5});
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  expect_error(ErrorKind::index, {"slice", "[0, 6)", "f32[5]"}, [&] { x.slice(0, 0, 6); });
  expect_error(ErrorKind::index, {"slice", "[-6, 2)"}, [&] { x.slice(0, -6, 2); });
  expect_error(ErrorKind::index, {"slice", "[3, 2)"}, [&] { x.slice(0, 3, 2); });
  expect_error(ErrorKind::index, {"slice", "step"}, [&] { x.slice(0, 0, 5, 0); });
  expect_error(ErrorKind::index, {"slice"}, [&] { x.slice(0, least, most); });
  expect_error(ErrorKind::index, {"slice"}, [&] { x.slice(0, 0, most); });
  expect_error(ErrorKind::index, {"slice"}, [&] { x.slice(0, least, 0); });
  EXPECT_EQ(x.slice(0, 0, 5, most).numel(), 1);
}
TEST_P(Errors, Indices) {
  const Tensor x = ones({3, 2});
  expect_error(ErrorKind::index, {"take", "3", "f32[3, 2]"}, [&] { take(x, tensor({0, 3})); });
  expect_error(ErrorKind::index, {"take", "-4"}, [&] { take(x, tensor({-4})); });
  expect_error(ErrorKind::index, {"take"}, [&] { take(x, tensor({std::numeric_limits<std::int32_t>::min()})); });
  expect_error(ErrorKind::dtype, {"take", "i32", "f32"}, [&] { take(x, ones({1})); });
  expect_error(ErrorKind::index, {"cross_entropy", "3"}, [&] { cross_entropy(ones({1, 3}), tensor({3})); });
  expect_error(ErrorKind::index, {"cross_entropy", "-1"}, [&] { cross_entropy(ones({1, 3}), tensor({-1})); });
}

// ---- dtypes ----
TEST_P(Errors, MixedKinds) {
  const Tensor f = ones({2, 2}), i = ones({2, 2}, i32);
  expect_error(ErrorKind::dtype, {"matmul", "f32[2, 2]", "i32[2, 2]", ".to("}, [&] { matmul(f, i); });
  expect_error(ErrorKind::dtype, {"matmul_bias_activation", "f32", "i32"},
               [&] { matmul_bias_activation(f, i, ones({2}), op::relu); });
  expect_error(ErrorKind::dtype, {"matmul_bias_activation", "bias", "i32"},
               [&] { matmul_bias_activation(f, f, ones({2}, i32), op::relu); });
  expect_error(ErrorKind::dtype, {"bit_and", "f32"}, [&] { f & i; });
}
TEST_P(Errors, IntegersWhereFloatsAreNeeded) {
  const Tensor i = ones({2, 2}, i32);
  expect_error(ErrorKind::dtype, {"div", "i32"}, [&] { i / i; });
  expect_error(ErrorKind::dtype, {"div", "i32"}, [&] { i / 2; });
  expect_error(ErrorKind::dtype, {"exp", "i32"}, [&] { exp(i); });
  expect_error(ErrorKind::dtype, {"softmax", "i32"}, [&] { softmax(i); });
  expect_error(ErrorKind::dtype, {"matmul_bias_activation", "i32"},
               [&] { matmul_bias_activation(i, i, ones({2}, i32), op::gelu); });
  expect_error(ErrorKind::dtype, {"cross_entropy", "i32"}, [&] { cross_entropy(i, tensor({0, 0})); });
  expect_error(ErrorKind::dtype, {"cross_entropy", "labels", "f32"}, [&] { cross_entropy(ones({2, 2}), ones({2})); });
  expect_error(ErrorKind::dtype, {"logsumexp", "i32"}, [&] { logsumexp(i); });
  expect_error(ErrorKind::dtype, {"Var", "i32"}, [&] { Var v(i); });
}
TEST_P(Errors, FractionalNumbersWithIntegers) {
  const Tensor i = ones({2}, i32);
  expect_error(ErrorKind::dtype, {"add", "0.5"}, [&] { i + 0.5; });
  expect_error(ErrorKind::dtype, {"mul", "1.5"}, [&] { 1.5 * i; });
  expect_error(ErrorKind::dtype, {"less", "0.5"}, [&] { i < 0.5; });
  expect_error(ErrorKind::dtype, {"full", "0.5", "i32"}, [&] { full({2}, 0.5, i32); });
  expect_error(ErrorKind::dtype, {}, [&] { i + std::nan(""); });
  expect_error(ErrorKind::dtype, {}, [&] { i + 1e300; });
}
TEST_P(Errors, ExactTypesOfReads) {
  const Tensor f = ones({2});
  expect_error(ErrorKind::dtype, {"to_vector", "f32[2]", "f64"}, [&] { f.to_vector<double>(); });
  expect_error(ErrorKind::dtype, {"to_vector", "f32[2]", "i32"}, [&] { f.to_vector<std::int32_t>(); });
  expect_error(ErrorKind::dtype, {"item", "f32[]", "bool"}, [&] { ones({}).item<bool>(); });
}

// ---- devices ----
TEST_P(Errors, NonsenseDevices) {
  for (const char* text : {"", "gpu", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CPU",
                           "webgpu:99999999999999999999", "cuda: 1", " cpu"})
    expect_error(ErrorKind::device, {text}, [&] { Device::parse(text); });
  EXPECT_EQ(Device::parse("cuda"), cuda(0));
  EXPECT_EQ(Device::parse("webgpu:2"), webgpu(2));
}
TEST_P(Errors, AbsentDevices) {
  expect_error(ErrorKind::device, {"cuda:77"}, [] { zeros({1}, cuda(77)); });
}
TEST_P(Errors, MixedDevices) {
  if (device() == cpu()) {  // a device that is not there is named, with the reason
    expect_error(ErrorKind::device, {"cuda:99"}, [] { ones({2}, cuda(99)); });
    return;
  }
  expect_error(ErrorKind::device, {"add", "cpu", device().to_string()}, [&] { ones({2}) + ones({2}, cpu()); });
}

// ---- nothing changes before the throw ----
TEST_P(Errors, InPlaceTargetsStayIntact) {
  Tensor t = tensor({1.0f, 2.0f, 3.0f});
  const std::vector<double> before = doubles(t);
  expect_error(ErrorKind::shape, {"copy_from", "[2]", "[3]"}, [&] { t.copy_from(ones({2})); });
  expect_error(ErrorKind::shape, {"copy_from"}, [&] { t.copy_from(ones({2, 3})); });
  Tensor half = ones({3}, f16);
  expect_error(ErrorKind::dtype, {"copy_from", "f32", "f16", ".to(f16)"}, [&] { half.copy_from(zeros({3})); });
  EXPECT_EQ(doubles(half), std::vector<double>(3, 1.0));
  expect_error(ErrorKind::shape, {"add", "[4]"}, [&] { t += ones({4}); });
  expect_error(ErrorKind::shape, {"mul", "f32[2, 3]"}, [&] { t *= ones({2, 3}); });
  EXPECT_EQ(doubles(t), before);
  Tensor i = tensor({1, 2});
  expect_error(ErrorKind::dtype, {"sub", "i32", "f32"}, [&] { i -= ones({2}); });
  expect_error(ErrorKind::dtype, {"div"}, [&] { i /= 2; });
  expect_error(ErrorKind::dtype, {"add"}, [&] { i += 0.5; });
  EXPECT_EQ(i.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2}));
}
TEST_P(Errors, FailedWritesDoNotInvalidateSavedTensors) {
  Tensor t = tensor({1.0f, 2.0f});
  const Var x(t), y = sum(x * x);
  expect_error(ErrorKind::shape, {}, [&] { t += ones({3}); });
  if (supports(device(), f64))
    expect_error(ErrorKind::dtype, {"copy_from", "f64"}, [&] { t.copy_from(ones({2}, f64)); });
  EXPECT_EQ(doubles(backward(y)[x]), (std::vector<double>{2, 4}));
}
TEST_P(Errors, AccumulatorsStayIntact) {
  const Tensor a = ones({2, 3}), b = ones({3, 4}), bias = ones({4}), grad = ones({2, 4});
  MatmulBiasActivationGrads into{zeros({2, 3}), zeros({3, 4}), zeros({5})};
  const Tensor d_a = into.d_a;
  expect_error(ErrorKind::shape, {"d_bias"},
               [&] { matmul_bias_activation_bwd(grad, a, b, bias, op::relu, {.accumulate_into = &into}); });
  EXPECT_EQ(doubles(into.d_a), std::vector<double>(6, 0.0));
  EXPECT_EQ(doubles(into.d_b), std::vector<double>(12, 0.0));
  EXPECT_EQ(into.d_a.impl(), d_a.impl());
}
TEST_P(Errors, SavedPreActivationStaysIntact) {
  Tensor pre = ones({1});
  expect_error(ErrorKind::shape, {}, [&] {
    matmul_bias_activation(ones({2, 3}), ones({3, 4}), ones({5}), op::relu, {.save_pre_activation = &pre});
  });
  EXPECT_EQ(pre.numel(), 1);
}

// ---- borrowed memory ----
TEST_P(Errors, Views) {
  float data[4] = {};
  expect_error(ErrorKind::shape, {"view", "null"}, [] { Tensor::view(static_cast<float*>(nullptr), {2}); });
  expect_error(ErrorKind::shape, {"view", "2", "1"}, [&] { Tensor::view(data, {2, 2}, {1}); });
  expect_error(ErrorKind::shape, {"[-1]"}, [&] { Tensor::view(data, {-1}); });
}
TEST_P(Errors, KindsAndTypes) {
  const UnsupportedDType e("matmul", f64, "webgpu:0");
  EXPECT_EQ(e.kind(), ErrorKind::unsupported);
  EXPECT_EQ(e.op(), "matmul");
  EXPECT_EQ(e.dtype(), f64);
  EXPECT_EQ(e.device(), "webgpu:0");
  EXPECT_TRUE((std::is_base_of_v<std::runtime_error, Error> && std::is_base_of_v<Error, UnsupportedDType>));
}

}  // namespace
}  // namespace tern::test
