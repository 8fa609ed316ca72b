// Files to and from each device.
#include "every_device.hpp"

#include <cstdlib>
#include <filesystem>

namespace tern::test {
namespace {

class IoOnDevice : public EveryDevice {};

TEST_P(IoOnDevice, FilesComeAndGo) {
  std::string name = (std::filesystem::temp_directory_path() / "tern_io_XXXXXX").string();
  const std::string folder = mkdtemp(name.data());
  io::Named all;
  const Tensor values = arange(0, 21, 1, Options{.dtype = i32, .device = cpu()}).reshape({3, 7});
  for (const DType dtype : {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})
    all[std::string(to_string(dtype))] =
        values.to(dtype).to(device().kind() == DeviceKind::webgpu && dtype_size(dtype) == 8 ? cpu() : device());
  all["turned"] = all.at("f32").T(), all["none"] = all.at("f32").slice(0, 0, 0);
  all["large"] = ones({1500, 1000}, f32);  // more than one part
  io::save_safetensors(folder + "/s", all), io::save_npz(folder + "/z", all);
  for (const io::Named& got : {io::load_safetensors(folder + "/s"), io::load_npz(folder + "/z")}) {
    ASSERT_EQ(got.size(), all.size());
    for (const auto& [key, want] : all) {
      const Tensor& x = got.at(key);
      EXPECT_EQ(x.device(), device()) << key;
      EXPECT_EQ(x.dtype(), want.dtype()) << key;
      EXPECT_TRUE(allclose(x.to(cpu()).to(f64), want.to(cpu()).to(f64), 0, 0)) << key;
    }
  }
  const Tensor halves = io::load_npz(folder + "/z", {.device = device(), .dtype = f32}).at("f16");
  EXPECT_EQ(halves.dtype(), f32);
  EXPECT_EQ(sum(halves).item<float>(), 210.0f);
  const std::vector<Var> model{parameter(ones({2, 3})), parameter(zeros({3}))};
  io::save(folder + "/m", model);
  for (Tensor leaf : {model[0].value(), model[1].value()}) leaf += 5;
  io::load(folder + "/m", model);
  EXPECT_EQ(sum(model[0].value()).item<float>(), 6.0f);
  EXPECT_EQ(sum(model[1].value()).item<float>(), 0.0f);
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Devices, IoOnDevice, testing::ValuesIn(present_devices()), device_name);

}  // namespace
}  // namespace tern::test
