// Many tensors copied into one: on GPUs several copies are one launch, of as many parts as a kernel has memory for.
#include <cmath>
#include <string>
#include <vector>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class ManyJoined : public EveryDevice {};
TERN_EVERY_DEVICE(ManyJoined);

Tensor counted_from(const Shape& shape, DType dtype, int from) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((static_cast<int>(i) + from) % 101);
  return tensor(values, shape, cpu()).to(dtype);
}
/// Concatenates on the CPU and here.
void expect_joined(const std::vector<Tensor>& parts, int axis, const std::string& name, Device device) {
  std::vector<Tensor> there;
  for (const Tensor& part : parts) there.push_back(part.to(device));
  ASSERT_EQ(doubles(concatenate(there, axis)), doubles(concatenate(parts, axis))) << name;
}

TEST_P(ManyJoined, OfEveryCountThatIsAnotherKernel) {
  for (const int count : {2, 3, 4, 5, 8, 9, 31, 64, 65, 200}) {
    std::vector<Tensor> parts;
    for (int i = 0; i < count; ++i) parts.push_back(counted_from({1000}, f32, 7 * i));
    expect_joined(parts, 0, std::to_string(count) + " vectors", device());
  }
}
TEST_P(ManyJoined, OfDtypesAndLengthsThatShareWords) {
  for (const DType dtype : {f32, bf16, i8, boolean, i64})
    for (const std::int64_t length : {1, 3, 8, 999}) {
      if (dtype == i64 && device().kind() == DeviceKind::webgpu) continue;
      std::vector<Tensor> parts;
      for (int i = 0; i < 9; ++i) parts.push_back(counted_from({length}, dtype, i));
      expect_joined(parts, 0, "lengths of " + std::to_string(length) + " " + std::string(to_string(dtype)), device());
    }
}
TEST_P(ManyJoined, OfLengthsThatDiffer) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 40; ++i) parts.push_back(counted_from({i % 7 * 100}, f32, i));
  expect_joined(parts, 0, "lengths", device());
  parts.clear();
  for (int i = 0; i < 10; ++i) parts.push_back(counted_from({3, 16 + 4 * (i % 3), 5}, f32, i));
  expect_joined(parts, 1, "along the middle", device());
  parts.clear();
  for (int i = 0; i < 10; ++i) parts.push_back(counted_from({33, 2 + i % 2}, bf16, i));
  expect_joined(parts, -1, "columns", device());
}
/// The same tensor again and again, parts of one, in one and in several memories.
TEST_P(ManyJoined, OfSharedMemory) {
  const Tensor one = counted_from({64}, f32, 1), other = counted_from({12, 64}, f32, 3);
  const Tensor here = one.to(device()), rows = other.to(device());
  std::vector<Tensor> want, parts;
  for (int i = 0; i < 12; ++i) {
    want.push_back(i % 3 ? one : other[i]), parts.push_back(i % 3 ? here : rows[i]);
  }
  EXPECT_EQ(doubles(concatenate(parts, 0)), doubles(concatenate(want, 0)));
  EXPECT_EQ(doubles(stack(parts, 1)), doubles(stack(want, 1)));
  EXPECT_EQ(doubles(concatenate({here, here, here}, 0)), doubles(concatenate({one, one, one}, 0)));
}
/// Parameters of many shapes, some of which share words of their memory: what is written is bound once.
TEST_P(ManyJoined, UpdatesOfManyParameters) {
  for (const DType dtype : {f32, bf16}) {
    const auto updated = [&](Device where) {
      const Tensor flat = counted_from({500}, dtype, 3).to(where);
      std::vector<Var> parameters;
      for (int i = 0; i < 11; ++i) parameters.emplace_back(counted_from({i % 3 ? 64 : 7}, dtype, i).to(where));
      parameters.emplace_back(flat.slice(0, 0, 100)), parameters.emplace_back(flat.slice(0, 100, 203));
      optim::AdamW adam(parameters, {.learning_rate = 0.5, .weight_decay = 0});
      for (int step = 0; step < 3; ++step) {
        Var sum = tern::sum(parameters[0]);
        for (std::size_t i = 1; i < parameters.size(); ++i) sum = sum + tern::sum(parameters[i] * parameters[i]);
        adam.step(backward(sum));
      }
      std::vector<double> all;
      for (const Var& p : parameters)
        for (const double x : doubles(p.value())) all.push_back(x);
      return all;
    };
    const std::vector<double> want = updated(cpu()), got = updated(device());
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], (dtype == f32 ? 1e-5 : 0.02) * (1 + std::abs(want[i]))) << to_string(dtype) << i;
  }
}
TEST_P(ManyJoined, GradientsOfASplit) {
  const auto gradient = [&](Device where) {
    const Var x(counted_from({6, 40}, f32, 2).to(where));
    Var sum;
    for (int i = 0; i < 4; ++i) {
      const Var part = x.slice(1, 10 * i, 10 * i + 10) * (i + 1.0);
      sum = i ? sum + part * part : part * part;
    }
    std::vector<Var> pieces{x, sum, x * 2.0};
    const Gradients g = backward(concatenate(pieces, 1), counted_from({6, 90}, f32, 5).to(where));
    return doubles(g[x]);
  };
  EXPECT_EQ(gradient(device()), gradient(cpu()));
}
TEST_P(ManyJoined, InFewLaunches) {
  if (device().kind() != DeviceKind::webgpu) GTEST_SKIP();
  std::vector<Tensor> parts;
  for (int i = 0; i < 130; ++i) parts.push_back(zeros({100}));
  const std::string text = explain([&] { (void)concatenate(parts, 0); });
  EXPECT_NE(text.find(" horizontally fused"), std::string::npos) << text;
}

}  // namespace
}  // namespace tern::test
