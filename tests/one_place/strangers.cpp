// What was added in one place each is everywhere: a formula, an operation, a primitive and a backend, which add.sh put
// into this copy of tern. The tests of entries and of the registry know them from the lists and try them as all others,
// on every device; here is what those tests do not ask.
#include "counting/counting.hpp"
#include "primitives/rotate/operation.hpp"
#include "reference.hpp"

namespace tern::test {
namespace {

class Strangers : public EveryDevice {
 protected:
  Tensor number(double value) const { return full({1, 1}, value, {.dtype = f32, .device = device()}); }
};
TERN_EVERY_DEVICE(Strangers);

TEST_P(Strangers, AFormulaIsAnEpilogue) {
  const Tensor one = number(1), bias = ones({1});
  const Tensor two = matmul_bias_activation(one, one, bias, op::synthetic_cube);
  EXPECT_NEAR(doubles(two)[0], 8, 1e-5);
  const auto back = matmul_bias_activation_bwd(one, one, one, bias, op::synthetic_cube);
  EXPECT_NEAR(doubles(back.d_bias)[0], 12, 1e-4);
  EXPECT_EQ(Var(synthetic_cube(Var(two))).grad_fn()->name(), "SyntheticCubeBackward");
}
TEST_P(Strangers, AFormulaIsRecordedAndExplained) {
  const Tensor x = number(2);
  Tensor y, dy;
  const Graph graph = capture(device(), [&] {
    const Var at(x);
    const Var cube = synthetic_cube(at);
    y = cube.value(), dy = backward(sum(cube))[at];
  });
  Tensor(x).copy_from(number(3));
  graph.replay();
  EXPECT_NEAR(doubles(y)[0], 27, 1e-4);
  EXPECT_NEAR(doubles(dy)[0], 27, 1e-4);
  const std::string text = explain([&] { synthetic_cube(x); });
  EXPECT_TRUE(text.starts_with("synthetic_cube: ")) << text;
  EXPECT_NE(text.find("on " + device().to_string()), std::string::npos) << text;
}
TEST_P(Strangers, AFormulaRefusesWhatOthersRefuse) {
  expect_error(ErrorKind::shape, {"synthetic_cube"}, [] { synthetic_cube(Tensor()); });
}
/// Dtypes that the samples of entries do not have.
TEST_P(Strangers, APrimitiveMovesElementsOfAnyType) {
  for (const DType dtype : {i32, u8, boolean})
    for (const Shape& shape : {Shape{5}, Shape{4, 1, 9}, Shape{3, 5, 2}})
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const Tensor x = arange(0, static_cast<double>(shape.numel())).reshape(shape).to(dtype);
        const Tensor want = concatenate(std::vector{x.slice(axis, 1), x.slice(axis, 0, 1)}, axis);
        EXPECT_TRUE(all(rotate(x, 1, axis) == want).item<bool>()) << to_string(dtype);
      }
}

TEST(StrangeBackend, IsADevice) {
  EXPECT_EQ(Device::parse("counting"), counting());
  EXPECT_EQ(counting().to_string(), "counting");
  const std::vector<Device> present = present_devices();
  EXPECT_NE(std::ranges::find(present, counting()), present.end());
  expect_error(ErrorKind::device, {"counting:1"}, [] { Device::parse("counting:1"); });
  expect_error(ErrorKind::device, {"counting"}, [] { ones({2}) + ones({2}).to(counting()); });
}
TEST(StrangeBackend, RunsItsOwnKernels) {
  const std::int64_t before = requests_counted();
  const auto result = [&](Device device) {
    const Tensor numbers = arange(0, 16, 1, {.dtype = f32}).reshape({4, 4});
    const Tensor x = (numbers / 16).to(device), w = (numbers / 7).to(device);
    return grad([&](const Var& v) { return sum(softmax(matmul(v, w)) * v); })(x).to(cpu());
  };
  EXPECT_TRUE(all(result(counting()) == result(cpu())).item<bool>());
  EXPECT_GT(requests_counted(), before + 3);
}

}  // namespace
}  // namespace tern::test
