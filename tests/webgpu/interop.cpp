// The program's own WebGPU device, queue and buffers, made here through the raw API.
#include <cstring>

#include "../every_device/reference.hpp"
#include "webgpu/adapters.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

using namespace detail_webgpu;

class Interop : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string reason;
    api_ = api(reason);
    ASSERT_TRUE(api_) << reason;
    const std::vector<Adapter>& list = adapters(reason);
    ASSERT_FALSE(list.empty()) << reason;
    device_ = make_device(list[0].handle), queue_ = api_->DeviceGetQueue(device_);
    own_ = webgpu_device(device_, queue_);
  }
  void SetUp() override { set_default_device(own_); }
  void TearDown() override { set_default_device(cpu()); }

  static WGPUDevice make_device(WGPUAdapter adapter) {
    WGPUDevice made = nullptr;
    WGPUDeviceDescriptor descriptor{};
    descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message,
                                                         void*, void*) { uncaptured_ += to_string(message); };
    WGPURequestDeviceCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* user, void*) {
      *static_cast<WGPUDevice*>(user) = device;
    };
    callback.userdata1 = &made;
    api_->AdapterRequestDevice(adapter, &descriptor, callback);
    process_until(*api_, instance_of(*api_), [&] { return made != nullptr; });
    return made;
  }
  static constexpr auto usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  static WGPUBuffer make_buffer(const std::vector<float>& values, WGPUBufferUsage with = usage) {
    WGPUBufferDescriptor descriptor{};
    descriptor.usage = with, descriptor.size = values.size() * sizeof(float);
    const WGPUBuffer buffer = api_->DeviceCreateBuffer(device_, &descriptor);
    if (with & WGPUBufferUsage_CopyDst)
      api_->QueueWriteBuffer(queue_, buffer, 0, values.data(), values.size() * sizeof(float));
    return buffer;
  }
  /// What the program itself finds in a buffer.
  static std::vector<float> read(WGPUBuffer buffer, std::size_t count) {
    WGPUBufferDescriptor descriptor{};
    descriptor.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, descriptor.size = count * sizeof(float);
    const WGPUBuffer target = api_->DeviceCreateBuffer(device_, &descriptor);
    const WGPUCommandEncoder encoder = api_->DeviceCreateCommandEncoder(device_, nullptr);
    api_->CommandEncoderCopyBufferToBuffer(encoder, buffer, 0, target, 0, descriptor.size);
    const WGPUCommandBuffer commands = api_->CommandEncoderFinish(encoder, nullptr);
    api_->QueueSubmit(queue_, 1, &commands);
    bool done = false;
    WGPUBufferMapCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = [](WGPUMapAsyncStatus, WGPUStringView, void* user, void*) { *static_cast<bool*>(user) = true; };
    callback.userdata1 = &done;
    api_->BufferMapAsync(target, WGPUMapMode_Read, 0, descriptor.size, callback);
    while (!done)
      api_->DevicePoll ? (void)api_->DevicePoll(device_, 1, nullptr) : api_->InstanceProcessEvents(instance_of(*api_));
    std::vector<float> values(count);
    std::memcpy(values.data(), api_->BufferGetConstMappedRange(target, 0, descriptor.size), descriptor.size);
    api_->BufferUnmap(target);
    api_->CommandBufferRelease(commands), api_->CommandEncoderRelease(encoder), api_->BufferRelease(target);
    return values;
  }

  static inline const Api* api_ = nullptr;
  static inline WGPUDevice device_ = nullptr;
  static inline WGPUQueue queue_ = nullptr;
  static inline Device own_;
  static inline std::string uncaptured_;
};

TEST_F(Interop, AdaptersAreListedBestFirst) {
  std::string reason;
  const std::vector<Adapter>& list = adapters(reason);
  std::vector<DeviceInfo> listed;
  for (const DeviceInfo& info : devices())
    if (info.device.kind() == DeviceKind::webgpu) listed.push_back(info);
  ASSERT_GE(listed.size(), list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(listed[i].device, webgpu(static_cast<int>(i)));
    EXPECT_EQ(listed[i].name, list[i].name);
    if (i > 0) {
      EXPECT_LE(list[i - 1].rank, list[i].rank) << "discrete GPUs, integrated ones, others, processors";
    }
  }
}
TEST_F(Interop, TheProgramsDeviceIsADevice) {
  EXPECT_EQ(own_.kind(), DeviceKind::webgpu);
  EXPECT_NE(own_, webgpu());
  EXPECT_EQ(webgpu_device(device_, queue_), own_);
  bool listed = false;
  for (const DeviceInfo& info : devices()) listed |= info.device == own_ && info.available;
  EXPECT_TRUE(listed);
  const Tensor x = randn({70, 50}, Generator(3)), w = randn({50, 30}, Generator(4)), b = zeros({30});
  EXPECT_EQ(x.device(), own_);
  const Var weight{w};
  const auto grads = backward(sum(matmul_bias_activation(x, weight, b, op::gelu)));
  const Var host{w.to(cpu())};
  const auto want = backward(sum(matmul_bias_activation(x.to(cpu()), host, b.to(cpu()), op::gelu)));
  EXPECT_TRUE(allclose(grads[weight].to(cpu()), want[host], 1e-4, 1e-4));
  expect_error(ErrorKind::device, {"different devices"}, [&] { x + ones({70, 50}, {.device = webgpu()}); });
}
TEST_F(Interop, BuffersAreTensorsWithoutACopy) {
  const WGPUBuffer buffer = make_buffer({1, 2, 3, 4, 5, 6, 7});
  {
    Tensor x = Tensor::view(buffer, f32, {7}, {}, {}, own_);
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7}));
    Tensor y = Tensor::view(buffer, f32, {3, 2}, {2, 1}, {}, own_);  // the same memory, bound once
    y *= 10;
    y.slice(0, 0, 1) += x.slice(0, 5, 7).reshape({1, 2});
    synchronize(own_);
    EXPECT_EQ(read(buffer, 7), (std::vector<float>{70, 27, 30, 40, 50, 60, 7}));
    x.copy_from(tensor({0.5f}));
    EXPECT_EQ(sum(y).item<float>(), 3.0f);
  }
  EXPECT_EQ(read(buffer, 7), std::vector<float>(7, 0.5f)) << "the program's reference is its own";
  api_->BufferRelease(buffer);
}
/// Nothing behind the end of the program's memory is read or written, whatever the vectors of a kernel.
TEST_F(Interop, BuffersEndWhereTheyEnd) {
  for (std::size_t count = 1; count < 40; ++count) {
    const WGPUBuffer from = make_buffer(std::vector<float>(count, 1.5f)), to = make_buffer(std::vector<float>(count));
    const auto n = static_cast<std::int64_t>(count);
    const Tensor x = Tensor::view(from, f32, {n}, {}, {}, own_);
    Tensor y = Tensor::view(to, f32, {n}, {}, {}, own_);
    y.copy_from(x * 2);
    y += x;
    synchronize(own_);
    EXPECT_EQ(read(to, count), std::vector<float>(count, 4.5f));
    EXPECT_EQ(sum(x).item<float>(), 1.5f * static_cast<float>(count));
    const Tensor halves = Tensor::view(from, bf16, {2 * n}, {}, {}, own_);
    EXPECT_EQ(halves.slice(0, 2 * n - 1, 2 * n).to(f32).item<float>(), 1.5f);
    EXPECT_EQ((halves.slice(0, 1, 2 * n, 2).to(f32) + y).to_vector<float>(), std::vector<float>(count, 6.0f));
    api_->BufferRelease(from), api_->BufferRelease(to);
  }
}
TEST_F(Interop, TheProgramsWorkOnTheQueueComesFirst) {
  const WGPUBuffer buffer = make_buffer({1, 1, 1, 1});
  const Tensor x = Tensor::view(buffer, f32, {4}, {}, {}, own_);
  const std::vector<float> values{2, 3, 4, 5};
  api_->QueueWriteBuffer(queue_, buffer, 0, values.data(), 16);
  EXPECT_EQ((x + 1).to_vector<float>(), (std::vector<float>{3, 4, 5, 6}));
  api_->BufferRelease(buffer);
}
TEST_F(Interop, WhatKeepsABufferAliveIsKept) {
  const WGPUBuffer buffer = make_buffer({1, 2});
  auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  {
    const Tensor x = Tensor::view(buffer, f32, {2}, {}, first, own_),
                 y = Tensor::view(buffer, f32, {1}, {}, second, own_);
    EXPECT_EQ(first.use_count(), 2);
    EXPECT_EQ(second.use_count(), 2);
    EXPECT_EQ((x + y).to_vector<float>(), (std::vector<float>{2, 3}));
  }
  const Tensor fresh = Tensor::view(buffer, f32, {2}, {}, {}, own_);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
  api_->BufferRelease(buffer);
  EXPECT_EQ(fresh.to_vector<float>(), (std::vector<float>{1, 2})) << "the view holds a reference";
}
TEST_F(Interop, WhatDoesNotFitIsRefused) {
  const WGPUBuffer buffer = make_buffer({1, 2, 3});
  expect_error(ErrorKind::shape, {"16 bytes", "12"}, [&] { Tensor::view(buffer, f32, {4}, {}, {}, own_); });
  expect_error(ErrorKind::shape, {"28 bytes"}, [&] { Tensor::view(buffer, f32, {2, 2}, {5, 1}, {}, own_); });
  expect_error(ErrorKind::shape, {"one stride for each"}, [&] { Tensor::view(buffer, f32, {3}, {1, 1}, {}, own_); });
  expect_error(ErrorKind::shape, {"null"},
               [] { Tensor::view(static_cast<WGPUBuffer>(nullptr), f32, {1}, {}, {}, own_); });
  expect_error(ErrorKind::device, {"cpu"}, [&] { Tensor::view(buffer, f32, {3}, {}, {}, cpu()); });
  expect_error(ErrorKind::unsupported, {"f64"}, [&] { Tensor::view(buffer, f64, {1}, {}, {}, own_); });
  float host[3] = {};
  expect_error(ErrorKind::device, {"WGPUBuffer"}, [&] { Tensor::view(host, {3}, {}, {}, own_); });
  const WGPUBuffer target = make_buffer({1, 2, 3}, WGPUBufferUsage_CopyDst);
  expect_error(ErrorKind::device, {"Storage, CopySrc and CopyDst"},
               [&] { Tensor::view(target, f32, {3}, {}, {}, own_); });
  expect_error(ErrorKind::device, {"null"}, [] { webgpu_device(nullptr, queue_); });
  api_->BufferRelease(buffer), api_->BufferRelease(target);
}
/// tern's errors are thrown, and never go to the program's callback; the program's do.
TEST_F(Interop, ErrorsGoToTheirCause) {
  const WGPUBuffer buffer = make_buffer({1, 2, 3});
  const std::shared_ptr<detail::Storage> storage = adopt_buffer(own_, buffer, nullptr);
  const float words[4] = {};
  expect_error(ErrorKind::backend, {own_.to_string()}, [&] {
    storage->backend().upload(*storage, 1 << 16, words, sizeof words);
    synchronize(own_);
  });
  EXPECT_EQ(uncaptured_, "");
  api_->QueueWriteBuffer(queue_, buffer, 1 << 16, words, sizeof words);
  EXPECT_NE(uncaptured_, "");
  EXPECT_EQ(ones({2}).to_vector<float>(), (std::vector<float>{1, 1}));
  api_->BufferRelease(buffer);
}
/// Last, as it takes the device away.
TEST_F(Interop, ZALostDeviceSaysSo) {
  const Tensor x = ones({4});
  synchronize(own_);
  set_default_device(cpu());
  api_->DeviceDestroy(device_);
  if (api_->DevicePoll) api_->DevicePoll(device_, 1, nullptr);
  expect_error(ErrorKind::backend, {"lost", own_.to_string()}, [&] { (x + 1).to_vector<float>(); });
  expect_error(ErrorKind::device, {"lost", own_.to_string()}, [] { zeros({1}, {.device = own_}); });
}

}  // namespace
}  // namespace tern::test
