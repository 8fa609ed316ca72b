// Files to and from each device.
#include "every_device.hpp"
#include "folder.hpp"

template <class T> struct TrainingModel {
  T weight, bias;
};
TERN_FIELDS(TrainingModel, weight, bias)

namespace tern::test {

struct TrainingMlp {  // no template
  Var weight, bias;
};

}  // namespace tern::test

TERN_FIELDS(tern::test::TrainingMlp, weight, bias)

namespace tern::test {
namespace {

class IoOnDevice : public EveryDevice {};

TEST_P(IoOnDevice, FilesComeAndGo) {
  const Folder folder;
  io::Named all;
  const Tensor values = arange(0, 21, 1, Options{.dtype = i32, .device = cpu()}).reshape({3, 7});
  for (const DType dtype : {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64, c64})
    all[std::string(to_string(dtype))] =
        values.to(dtype).to(device().kind() == DeviceKind::webgpu && dtype_size(dtype) == 8 ? cpu() : device());
  all["turned"] = all.at("f32").T(), all["none"] = all.at("f32").slice(0, 0, 0);
  all["large"] = ones({1500, 1000}, f32);  // more than one part
  io::save_safetensors(folder / "s", all), io::save_npz(folder / "z", all);
  for (const io::Named& got : {io::load_safetensors(folder / "s"), io::load_npz(folder / "z")}) {
    ASSERT_EQ(got.size(), all.size());
    for (const auto& [key, want] : all) {
      const Tensor& x = got.at(key);
      EXPECT_EQ(x.device(), device()) << key;
      EXPECT_EQ(x.dtype(), want.dtype()) << key;
      const DType widest = is_complex(want.dtype()) ? c128 : f64;
      EXPECT_TRUE(allclose(x.to(cpu()).to(widest), want.to(cpu()).to(widest), 0, 0)) << key;
    }
  }
  io::save_npz(folder / "z", {{"f16", all.at("f16")}});
  const Tensor halves = io::load_npz(folder / "z", {.device = device(), .dtype = f32}).at("f16");
  EXPECT_EQ(halves.dtype(), f32);
  EXPECT_EQ(sum(halves).item<float>(), 210.0f);
  const std::vector<Var> model{parameter(ones({2, 3})), parameter(zeros({3}))};
  io::save(folder / "m", model);
  for (Tensor elementary : {model[0].value(), model[1].value()}) elementary += 5;
  io::load(folder / "m", model);
  EXPECT_EQ(sum(model[0].value()).item<float>(), 6.0f);
  EXPECT_EQ(sum(model[1].value()).item<float>(), 0.0f);
}

/// Parts of one memory: those that lie together are written where they are, and the others by kernels.
TEST_P(IoOnDevice, AModelIsLoadedIntoItsOwnMemory) {
  const Folder folder;
  const Tensor memory = arange(0, 60, 1, {.dtype = f32, .device = device()}),
               small = arange(0, 60, 1, {.dtype = u8, .device = cpu()}).to(device());
  const Tensor rows = memory.slice(0, 6, 18).reshape({3, 4}), turned = memory.slice(0, 18, 30).reshape({3, 4}).T(),
               steps = memory.slice(0, 30, 50, 5), bytes = small.slice(0, 31, 36), none = memory.slice(0, 0, 0);
  const std::vector<Tensor> model{rows, turned, steps, bytes, none};
  const std::vector<float> before = memory.to_vector<float>();
  const std::vector<std::uint8_t> small_before = small.to_vector<std::uint8_t>();
  io::save(folder / "m", model);
  Tensor(memory).copy_from(full({60}, -1, f32));
  io::load(folder / "m", model);
  const std::vector<float> got = memory.to_vector<float>();
  for (std::size_t i = 0; i < 60; ++i) {
    const bool own = (i >= 6 && i < 30) || (i >= 30 && i < 50 && i % 5 == 0);
    EXPECT_EQ(got[i], own ? before[i] : -1) << i;
  }
  EXPECT_EQ(small.to_vector<std::uint8_t>(), small_before) << "the bytes beside those that were written";
  const Var after(memory.slice(0, 0, 3));
  const Var used = sum(square(after));
  io::save(folder / "a", std::vector<Tensor>{after.value()});
  io::load(folder / "a", std::vector<Tensor>{after.value()});
  EXPECT_THROW(backward(used), Error) << "what backward reads was written to";
}
/// One by one, to the device that is asked for; of the CPU's some are views of the file, which others can be made of.
TEST_P(IoOnDevice, TensorsOfAFileComeWhenTheyAreAskedFor) {
  const Folder folder;
  const Options on_host{.device = cpu()};
  const Tensor values = arange(0, 3000000, 1, on_host).to(f32), z = zeros({3}, {.dtype = c128, .device = cpu()});
  io::save_safetensors(folder / "x", {{"a", values}, {"b", values.to(f16)}, {"z", z}});
  const io::SafetensorsFile file(folder / "x");
  io::save_safetensors(folder / "x", {});
  const Tensor a = file.load("a", {.device = device()}), b = file.load("b", {.device = device(), .dtype = f32});
  EXPECT_EQ(a.device(), device());
  EXPECT_TRUE(allclose(a.to(cpu()), values, 0, 0));
  EXPECT_TRUE(allclose(b.to(cpu()), values.to(f16).to(f32), 0, 0));
  EXPECT_EQ(sum(a.slice(0, 0, 100)).item<float>(), 4950.0f);
  const Tensor view = file.load("a", {.device = cpu()}).to(device());
  EXPECT_TRUE(allclose(view.to(cpu()), values, 0, 0));
  EXPECT_EQ(file.load("z", {.device = cpu()}).dtype(), c128);
}

/// A model with what trains it.
template <class Optimiser, class Model = TrainingModel<Var>> struct Training {
  Model model{parameter(full({3, 2}, 0.5)), parameter(zeros({2}))};
  Optimiser optimiser{model, {.learning_rate = 0.1}};
  Generator generator{7};

  void step() {
    const Tensor x = randn({5, 3}, generator);
    const auto loss = [&](const Model& m) { return mean(square(matmul(x, m.weight) + m.bias - 1)); };
    optimiser.step(grad(loss)(model));
  }
  auto parts() { return std::tie(model, optimiser, generator); }
  std::vector<float> values() const {
    std::vector<float> all = model.weight.value().to(cpu()).template to_vector<float>();
    for (const float v : model.bias.value().to(cpu()).template to_vector<float>()) all.push_back(v);
    return all;
  }
};

/// Training that goes on from a file goes on as if it had never stopped, bit for bit.
template <class Optimiser, class Model = TrainingModel<Var>> void trains_on(const std::string& path) {
  Training<Optimiser, Model> first;
  for (int i = 0; i < 3; ++i) first.step();
  first.optimiser.set_learning_rate(0.03);
  io::save(path, first.parts());
  Training<Optimiser, Model> second;
  second.step();  // moments, counts and a position of its own
  io::load(path, second.parts());
  EXPECT_EQ(second.generator.seed, first.generator.seed);
  EXPECT_EQ(second.generator.position, first.generator.position);
  EXPECT_EQ(second.optimiser.learning_rate(), 0.03);
  for (int i = 0; i < 3; ++i) first.step(), second.step();
  EXPECT_EQ(second.values(), first.values());
}

TEST_P(IoOnDevice, TrainingGoesOnFromAFile) {
  const Folder folder;
  trains_on<optim::AdamW>(folder / "a"), trains_on<optim::SGD>(folder / "s");
  trains_on<optim::AdamW, TrainingMlp>(folder / "m");
  EXPECT_TRUE(io::load_safetensors(folder / "m").contains("0.weight"));
  EXPECT_TRUE(io::load_safetensors(folder / "a").contains("0.weight"));
  EXPECT_TRUE(io::load_safetensors(folder / "a").contains("1.first.1"));
  // Of another optimiser: all differences, and nothing changed.
  Training<optim::SGD> other;
  const std::vector<float> before = other.values();
  expect_error(ErrorKind::io, {"1.first.0", "1.velocity.1", "1.momentum"},
               [&] { io::load(folder / "a", other.parts()); });
  EXPECT_EQ(other.values(), before);
  EXPECT_EQ(other.generator.position, 0u);
}

TEST_P(IoOnDevice, AStateIsCheckedBeforeAnythingChanges) {
  Training<optim::AdamW> training;
  training.step();
  auto state = training.optimiser.state();
  EXPECT_EQ(state.at("counts").to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 1}));
  state["learning_rate"] = full({}, 9.0, {.dtype = f64, .device = cpu()});
  auto less = state, unlike = state, wide = state;
  less.erase("second.1"), unlike["first.0"] = ones({2, 3}), wide["counts"] = state.at("counts").to(i32);
  expect_error(ErrorKind::value, {"AdamW", "second.1"}, [&] { training.optimiser.set_state(less); });
  expect_error(ErrorKind::shape, {"AdamW", "first.0", "[2, 3]"}, [&] { training.optimiser.set_state(unlike); });
  expect_error(ErrorKind::dtype, {"AdamW", "counts", "i32"}, [&] { training.optimiser.set_state(wide); });
  EXPECT_EQ(training.optimiser.learning_rate(), 0.1);
  Training<optim::AdamW> other;
  other.optimiser.set_state(state);
  EXPECT_EQ(other.optimiser.learning_rate(), 9.0);
  EXPECT_TRUE(allclose(other.optimiser.state().at("first.0"), state.at("first.0"), 0, 0));
}

/// The numbers of a state are on the host, and those of recorded steps change at replays.
TEST_P(IoOnDevice, ARecordedStepRefusesStates) {
  Training<optim::AdamW> training;
  training.step();
  const auto kept = training.optimiser.state();
  const TrainingModel<Tensor> gradients{ones({3, 2}), ones({2})};
  Graph step = capture(device(), [&] {
    expect_error(ErrorKind::unsupported, {"AdamW", "capture"}, [&] { training.optimiser.state(); });
    expect_error(ErrorKind::unsupported, {"AdamW", "capture"}, [&] { training.optimiser.set_state(kept); });
    training.optimiser.step(gradients);
  });
  for (const std::int64_t count : {2, 3}) {
    step.replay();
    EXPECT_EQ(training.optimiser.state().at("counts").to_vector<std::int64_t>(), (std::vector{count, count}));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, IoOnDevice, testing::ValuesIn(present_devices()), device_name);

}  // namespace
}  // namespace tern::test
