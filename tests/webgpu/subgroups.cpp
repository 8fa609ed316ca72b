// Sorts in subgroups and without them, on the same adapter: the bits are the same.
#include <bit>
#include <cstdlib>
#include <random>

#include "../every_device/reference.hpp"
#include "gpu/gpu_backend.hpp"
#include "webgpu/adapters.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

/// What a device is to have of its adapter's: nothing; votes in subgroups; and workgroups that wait for each other.
enum class Abilities { none, subgroups, progress };

class Subgroups : public testing::Test {
 protected:
  void TearDown() override { use(Abilities::progress), set_default_device(cpu()); }
  static bool offered() {
    std::string reason;
    const auto has = [&](WGPUFeatureName feature) {
      return detail_webgpu::api(reason)->AdapterHasFeature(detail_webgpu::adapters(reason).at(0).handle, feature);
    };
    return has(WGPUFeatureName_Subgroups) || has(detail_webgpu::kNativeSubgroups);
  }
  static bool in_use(Device device) { return limits(device).subgroups; }
  static bool waits(Device device) { return limits(device).progress; }
  std::string reason_;
  static const detail_gpu::Limits& limits(Device device) {
    return dynamic_cast<detail_gpu::GpuBackend&>(detail::backend_of(device)).limits();
  }
  /// Those of the adapter's next device. Of the loss wgpu-native tells by the next call, Dawn at once.
  static void use(Abilities abilities) {
    const auto turn = [](const char* name, bool on) { on ? unsetenv(name) : setenv(name, "0", 1); };
    turn("TERN_WEBGPU_SUBGROUPS", abilities != Abilities::none);
    turn("TERN_WEBGPU_PROGRESS", abilities == Abilities::progress);
    detail_webgpu::lose_device(0);
    try {
      ones({1}, {.device = webgpu()}), synchronize(webgpu());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("lost"), std::string::npos) << error.what();
    }
  }
};

/// A line, its length, and what its elements are.
struct Sample {
  Shape shape;
  DType dtype;
  bool alike;
};
Tensor numbers(const Sample& s) {
  std::mt19937 engine(static_cast<unsigned>(s.shape.numel()));
  std::vector<float> values(static_cast<std::size_t>(s.shape.numel()));
  const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-40f};
  for (float& v : values) {
    v = static_cast<float>(static_cast<std::int32_t>(engine() % (s.alike ? 3 : 2'000'000)) - (s.alike ? 1 : 1'000'000));
    if (is_floating(s.dtype) && engine() % 16 == 0) v = special[engine() % 6];
  }
  return tensor(values, s.shape, cpu()).to(s.dtype);
}

/// Bits of sorted values, as integers so that NaN are compared, and places, of lines on both sides of each threshold:
/// what one workgroup sorts (1025 to 4096), and blocks of 4096 without subgroups and of 5120 with them.
std::vector<std::vector<std::int32_t>> sorted_everything() {
  std::vector<std::vector<std::int32_t>> results;
  const auto add = [&](const Tensor& t) { results.push_back(t.to(cpu()).to_vector<std::int32_t>()); };
  const auto bits = [](const Tensor& t) {
    std::vector<std::int32_t> words;
    for (const float v : t.to(cpu()).to(f32).to_vector<float>()) words.push_back(std::bit_cast<std::int32_t>(v));
    return words;
  };
  for (const Sample& s : {Sample{{3, 1025}, f32, false}, Sample{{2, 2049}, i32, true}, Sample{{2, 4095}, bf16, false},
                          Sample{{3, 4096}, f32, true}, Sample{{2, 4097}, f32, false}, Sample{{1, 5121}, u8, false},
                          Sample{{1, 20'001}, i32, false}, Sample{{2, 9000}, bf16, true},
                          Sample{{1, (1 << 17) + 1}, f32, false}})
    for (const bool descending : {false, true}) {
      const Tensor x = numbers(s).to(webgpu());
      const Sorted<Tensor> sorted = sort(x, 1, descending);
      results.push_back(bits(sorted.values)), add(sorted.indices), add(argsort(x, 1, descending));
    }
  const Tensor table = numbers({{9001, 3}, f32, false}).to(webgpu());
  add(sort(table, 0).indices), add(sort(table.transpose(0, 1).slice(1, 1, 4001, 2), 1).indices);
  add(topk(table, 5000, 0).indices);
  return results;
}

TEST_F(Subgroups, SortsAsWithout) {
  use(Abilities::none);
  EXPECT_FALSE(in_use(webgpu()) || waits(webgpu()));
  const auto without = sorted_everything();
  for (const Abilities abilities : {Abilities::subgroups, Abilities::progress}) {
    use(abilities);
    EXPECT_EQ(in_use(webgpu()), offered());
    const bool known = detail_webgpu::adapters(reason_).at(0).progress;
    EXPECT_EQ(waits(webgpu()), known && abilities == Abilities::progress);
    const auto with = sorted_everything();
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t i = 0; i < with.size(); ++i) EXPECT_TRUE(with[i] == without[i]) << "result " << i;
  }
}

/// The program's own device has what the program asked for.
TEST_F(Subgroups, OfTheProgramsDevice) {
  std::string reason;
  const detail_webgpu::Api& api = *detail_webgpu::api(reason);
  const WGPUAdapter adapter = detail_webgpu::adapters(reason).at(0).handle;
  for (const bool asked : {false, true}) {
    std::vector<WGPUFeatureName> features;
    for (const WGPUFeatureName feature : {WGPUFeatureName_Subgroups, detail_webgpu::kNativeSubgroups})
      if (asked && api.AdapterHasFeature(adapter, feature)) features.push_back(feature);
    WGPULimits limits{};
    ASSERT_EQ(api.AdapterGetLimits(adapter, &limits), WGPUStatus_Success);
    limits.nextInChain = nullptr;
    WGPUDeviceDescriptor descriptor{};
    descriptor.requiredLimits = &limits;
    descriptor.requiredFeatureCount = features.size(), descriptor.requiredFeatures = features.data();
    WGPUDevice made = nullptr;
    WGPURequestDeviceCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* user, void*) {
      *static_cast<WGPUDevice*>(user) = device;
    };
    callback.userdata1 = &made;
    api.AdapterRequestDevice(adapter, &descriptor, callback);
    detail_webgpu::process_until(api, detail_webgpu::instance_of(api), [&] { return made != nullptr; });
    ASSERT_NE(made, nullptr);
    const Device own = webgpu_device(made, api.DeviceGetQueue(made));
    EXPECT_EQ(in_use(own), !features.empty() && api.DeviceHasFeature);
    const Tensor x = numbers({{5000}, f32, false});
    EXPECT_EQ(sort(x.to(own), 0).indices.to(cpu()).to_vector<std::int32_t>(),
              sort(x, 0).indices.to_vector<std::int32_t>());
  }
}

}  // namespace
}  // namespace tern::test
