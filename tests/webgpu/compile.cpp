// Every kind of kernel text that WebGPU is given, in every dtype, is one that the library takes: shader modules are
// made of the texts alone, without pipelines, which the driver would take minutes to compile.
#include <set>

#include "../every_device/reference.hpp"
#include "golden/samples.hpp"
#include "webgpu/adapters.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

using namespace detail_webgpu;

constexpr DType kDTypes[] = {DType::boolean, DType::u8,  DType::i8,   DType::i16, DType::i32,
                             DType::u32,     DType::f16, DType::bf16, DType::f32};

/// The standard's, and wgpu-native's.
constexpr WGPUFeatureName kSubgroups[] = {WGPUFeatureName_Subgroups, kNativeSubgroups};

class WebgpuTexts : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    api_ = api(reason);
    ASSERT_TRUE(api_) << reason;
    const std::vector<Adapter>& list = adapters(reason);
    ASSERT_FALSE(list.empty()) << reason;
    WGPUDeviceDescriptor descriptor{};
    for (const WGPUFeatureName feature : kSubgroups)
      if (api_->AdapterHasFeature(list[0].handle, feature)) features_.push_back(feature);
    descriptor.requiredFeatureCount = features_.size(), descriptor.requiredFeatures = features_.data();
    descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message,
                                                         void* user, void*) {
      *static_cast<std::string*>(user) += to_string(message);
    };
    descriptor.uncapturedErrorCallbackInfo.userdata1 = &error_;
    WGPURequestDeviceCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* user, void*) {
      *static_cast<WGPUDevice*>(user) = device;
    };
    callback.userdata1 = &device_;
    api_->AdapterRequestDevice(list[0].handle, &descriptor, callback);
    process_until(*api_, instance_of(*api_), [&] { return device_ != nullptr; });
  }
  void TearDown() override {
    if (device_) api_->DeviceRelease(device_);
  }
  /// What the library has to say against a text.
  std::string error_of(const std::string& text) {
    error_.clear();
    WGPUShaderSourceWGSL source{};
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    source.code = view(text);
    WGPUShaderModuleDescriptor descriptor{};
    descriptor.nextInChain = &source.chain;
    const WGPUShaderModule module = api_->DeviceCreateShaderModule(device_, &descriptor);
    api_->InstanceProcessEvents(instance_of(*api_));
    if (module) api_->ShaderModuleRelease(module);
    return error_;
  }

  const Api* api_ = nullptr;
  WGPUDevice device_ = nullptr;
  std::string error_;
  std::vector<WGPUFeatureName> features_;
};

TEST_F(WebgpuTexts, EveryKind) {
  std::set<std::string> texts;
  std::string what;
  Printing device(DeviceKind::webgpu, [&](const detail_gpu::Launch&, const std::string& text) {
    if (!texts.insert(text).second) return;
    EXPECT_EQ(error_of(text), "") << what << "\n" << text;
  });
  device.has_subgroups = !features_.empty();
  device.abilities.enables_subgroups = !features_.empty() && features_[0] == WGPUFeatureName_Subgroups;
  for (const Kind& kind : kinds_with_samples())
    for (const DType dtype : kDTypes) {
      what = std::string(kind.name) + " of " + std::string(to_string(dtype));
      try {
        kind.call(device, dtype);
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::dtype || error.kind() == ErrorKind::unsupported) << error.what();
      }
    }
  EXPECT_GT(texts.size(), 200u);
}

TEST_F(WebgpuTexts, AnErrorIsFound) {
  EXPECT_EQ(error_of("@compute @workgroup_size(64) fn main() {}"), "");
  EXPECT_NE(error_of("@compute @workgroup_size(64) fn main() { nonsense(); }"), "");
}

}  // namespace
}  // namespace tern::test
