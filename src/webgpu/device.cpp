// The device, its errors and its memory. Its commands: device_commands.cpp; its kernels: device_kernels.cpp.
#include "webgpu/device.hpp"

#include <algorithm>
#include <cstdlib>

#include "tern/error.hpp"
#include "webgpu/draft.hpp"
#include "webgpu/guard.hpp"

namespace tern::detail_webgpu {
namespace {

constexpr std::uint64_t kMostReusedBytes = 4ull << 30;  // bytes kept for reuse

bool least_limits() {
  const char* text = std::getenv("TERN_WEBGPU_LIMITS");
  return text && std::string(text) == "minimum";
}
/// Limits of tests: TERN_WEBGPU_LIMITS=minimum gives the specification's least, TERN_WEBGPU_BINDING_BYTES=n less bytes
/// in a binding, TERN_WEBGPU_STEPS=n less multiply-adds in a kernel, TERN_WEBGPU_SUBGROUPS=0 kernels without subgroups,
/// TERN_WEBGPU_PROGRESS=0 kernels whose workgroups do not wait for each other.
void lower_limits(detail_gpu::Limits& limits) {
  if (least_limits()) limits = {};
  if (const char* text = std::getenv("TERN_WEBGPU_BINDING_BYTES"); text && *text)
    limits.binding_bytes = std::max<std::uint64_t>(std::strtoull(text, nullptr, 10), 64 << 10);
  if (const char* text = std::getenv("TERN_WEBGPU_STEPS"); text && *text)
    limits.steps = std::max<std::uint64_t>(std::strtoull(text, nullptr, 10), 1);
  if (const char* text = std::getenv("TERN_WEBGPU_SUBGROUPS"); text && std::string(text) == "0")
    limits.subgroups = false;
  if (const char* text = std::getenv("TERN_WEBGPU_PROGRESS"); text && std::string(text) == "0")
    limits.progress = false;
}

}  // namespace

void WebGpuDevice::Faults::add(WGPUErrorType type, WGPUStringView message) {
  if (type == kDraftDeviceLost) lost = to_string(message);
  if (!error.empty()) return;
  error = to_string(message);
  // wgpu-native 0.32 calls exhausted memory an error of validation.
  out_of_memory = type == WGPUErrorType_OutOfMemory || error.find("Not enough memory left") != std::string::npos;
}

WebGpuDevice::WebGpuDevice(const Api& api, const Adapter& adapter, std::string name)
    : api_(api), name_(std::move(name)) {
  request_device(adapter);
}

WebGpuDevice::WebGpuDevice(const Api& api, WGPUDevice device, WGPUQueue queue, std::string name)
    : api_(api), name_(std::move(name)), adopted_(true), device_(device), queue_(queue) {
  WGPULimits limits{};
  if (api_.DeviceGetLimits(device, &limits) != WGPUStatus_Success)
    throw Error(ErrorKind::device, name_ + ": the device does not tell its limits");
  api_.DeviceAddRef(device), api_.QueueAddRef(queue);
  catch_errors();
  take_features([&](WGPUFeatureName feature) {
    return api_.DeviceHasFeature && api_.DeviceHasFeature(device, feature);
  });
  set_up(limits);
  release_errors();
}

void WebGpuDevice::request_device(const Adapter& adapter) {
  WGPULimits limits{};
  if (api_.AdapterGetLimits(adapter.handle, &limits) != WGPUStatus_Success)
    throw Error(ErrorKind::device, name_ + ": the adapter does not tell its limits");
  limits.nextInChain = nullptr;
  struct Answer {
    WGPUDevice device = nullptr;
    std::string message;
    bool done = false;
  } answer;
  WGPUDeviceDescriptor descriptor{};
  descriptor.requiredLimits = &limits;
  std::vector<WGPUFeatureName> features;
  for (const WGPUFeatureName feature :
       {WGPUFeatureName_ShaderF16, WGPUFeatureName_Subgroups, kNativeSubgroups, WGPUFeatureName_TimestampQuery,
        kWideIntegers})
    if (api_.AdapterHasFeature(adapter.handle, feature)) features.push_back(feature);
  const auto has = [&](WGPUFeatureName feature) { return std::ranges::find(features, feature) != features.end(); };
  take_features(has), timestamps_ = has(WGPUFeatureName_TimestampQuery);
  descriptor.requiredFeatureCount = features.size(), descriptor.requiredFeatures = features.data();
  descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType type, WGPUStringView message,
                                                       void* user,
                                                       void*) { static_cast<Faults*>(user)->add(type, message); };
  descriptor.uncapturedErrorCallbackInfo.userdata1 = faults_.get();
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.callback = [](const WGPUDevice*, WGPUDeviceLostReason, WGPUStringView message,
                                                  void* user, void*) {
    const std::string text = to_string(message);
    static_cast<Faults*>(user)->lost = text.empty() ? "no reason was given" : text;
  };
  descriptor.deviceLostCallbackInfo.userdata1 = faults_.get();
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* user, void*) {
    *static_cast<Answer*>(user) = {device, to_string(message), true};
  };
  callback.userdata1 = &answer;
  api_.AdapterRequestDevice(adapter.handle, &descriptor, callback);
  process_until(api_, instance_of(api_), [&] { return answer.done; });
  if (!answer.device) throw Error(ErrorKind::device, name_ + ": the adapter gives no device: " + answer.message);
  limits_.progress = adapter.progress;
  device_ = answer.device;
  queue_ = api_.DeviceGetQueue(device_);
  set_up(limits);
}

void WebGpuDevice::take_features(const std::function<bool(WGPUFeatureName)>& has) {
  enables_subgroups_ = has(WGPUFeatureName_Subgroups);
  limits_.subgroups = enables_subgroups_ || has(kNativeSubgroups);
  wide_integers_ = has(kWideIntegers) && !least_limits();
}

void WebGpuDevice::set_up(const WGPULimits& limits) {
  limits_.bindings = limits.maxStorageBuffersPerShaderStage;
  limits_.binding_bytes = std::min<std::uint64_t>(limits.maxStorageBufferBindingSize, 0xffffff00ull);
  limits_.binding_alignment = std::max<std::uint32_t>(limits.minStorageBufferOffsetAlignment, 256);
  limits_.threads = std::min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  limits_.shared_bytes = limits.maxComputeWorkgroupStorageSize;
  limits_.groups = limits.maxComputeWorkgroupsPerDimension;
  max_buffer_bytes_ = limits.maxBufferSize;
  uniform_alignment_ = limits.minUniformBufferOffsetAlignment;
  lower_limits(limits_);
  params_ = create(kParamsBytes, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst);
  staging_ = create(kStagingBytes, WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst);
  check("making the device");
}

WebGpuDevice::~WebGpuDevice() {
  end_pass();
  if (encoder_) api_.CommandEncoderRelease(encoder_);
  release_kept();
  for (auto& [text, p] : texts_) api_.ComputePipelineRelease(p.handle);
  if (queries_) api_.QuerySetRelease(queries_);
  for (Buffer* b : {params_, staging_, readback_, resolved_})
    if (b) destroy(b);
  for (Buffer* b : empty_) destroy(b);
  api_.QueueRelease(queue_);
  api_.DeviceRelease(device_);
}

void WebGpuDevice::lose() { api_.DeviceDestroy(device_), poll(); }

// ---- errors ----
namespace {
// Not Internal: wgpu-native 0.32 has no such errors, and ends the process where one asks for them.
constexpr WGPUErrorFilter kFilters[] = {WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory};
}  // namespace

void WebGpuDevice::catch_errors() {
  if (!adopted_ || abandoned_) return;
  for (const WGPUErrorFilter filter : kFilters) api_.DevicePushErrorScope(device_, filter);
}

void WebGpuDevice::release_errors() {
  if (!adopted_ || abandoned_) return;
  for (std::size_t i = 0; i < std::size(kFilters); ++i) {
    WGPUPopErrorScopeCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowSpontaneous;
    callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* user, void*) {
      if (type != WGPUErrorType_NoError) static_cast<Faults*>(user)->add(type, message);
    };
    callback.userdata1 = faults_.get();
    api_.DevicePopErrorScope(device_, callback);
  }
}

void WebGpuDevice::check(const std::string& doing) {
  release_errors(), catch_errors();
  // wgpu-native may tell of a loss by the next error alone.
  if (faults_->lost.empty() && faults_->error.find("device is lost") != std::string::npos)
    faults_->lost = "it was destroyed, or the driver gave it up";
  if (!faults_->lost.empty())
    throw Error(ErrorKind::backend, doing + ": the device " + name_ + " was lost (" + faults_->lost +
                                        "); its tensors are gone, and the next use of " + name_ + " makes a new one");
  if (faults_->error.empty()) return;
  const Faults faults = *faults_;
  faults_->error.clear(), faults_->out_of_memory = false;
  throw Error(faults.out_of_memory ? ErrorKind::out_of_memory : ErrorKind::backend,
              doing + " on " + name_ + ": " + faults.error);
}

// ---- memory ----
Buffer* WebGpuDevice::create(std::uint64_t bytes, WGPUBufferUsage usage) {
  WGPUBufferDescriptor descriptor{};
  descriptor.usage = usage, descriptor.size = bytes;
  const WGPUBuffer handle = api_.DeviceCreateBuffer(device_, &descriptor);
  if (!handle && faults_->error.empty())
    faults_->error = "no buffer of " + std::to_string(bytes) + " bytes", faults_->out_of_memory = true;
  return new Buffer{handle, bytes, next_id_++};
}

namespace {
/// What the device gives may be less than the size class, at the limit of its buffers; those are not kept.
std::uint64_t rounded(std::uint64_t bytes) { return detail::size_class(bytes, 256); }
}  // namespace

Buffer* WebGpuDevice::allocate(std::uint64_t bytes) {
  const std::uint64_t size = rounded(bytes);
  if (Buffer* buffer = nullptr; kept_.take(size, buffer)) {
    if (in_use(*buffer)) waiting_bytes_ -= size;
    return buffer;
  }
  if (bytes > max_buffer_bytes_)
    throw Error(ErrorKind::out_of_memory, "a tensor of " + std::to_string(bytes) +
                                              " bytes is larger than the largest buffer of " + name_ + ", " +
                                              std::to_string(max_buffer_bytes_) + " bytes");
  constexpr auto usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  const std::uint64_t wanted = std::min(size, max_buffer_bytes_ / 16 * 16);
  make_room(size);
  Buffer* buffer = create(wanted, usage);
  if (faults_->out_of_memory) {  // once more, without what is kept for reuse
    destroy(buffer);
    faults_->error.clear(), faults_->out_of_memory = false;
    wait();
    release_kept();
    buffer = create(wanted, usage);
  }
  try {
    check("allocating " + std::to_string(bytes) + " bytes");
  } catch (...) {
    destroy(buffer);
    throw;
  }
  kept_.use(buffer->capacity);
  return buffer;
}

void WebGpuDevice::deallocate(Buffer* buffer) noexcept {
  const std::uint64_t size = buffer->capacity;
  const bool used = in_use(*buffer);
  // Work is done in the order it is recorded, so the buffer can be given out again at once.
  const bool whole = rounded(size) == size;
  if (!whole) kept_.forget(size);
  if (!whole || !kept_.keep(size, buffer)) return release_bind_groups(), destroy(buffer);
  if (used) waiting_bytes_ += size;
  const bool full = static_cast<std::uint64_t>(kept_.stats().kept) > kMostReusedBytes;
  if (waiting_bytes_ > most_waiting_bytes || full) {
    try {
      flush();
    } catch (const Error& error) {  // reported by the next call
      if (faults_->error.empty()) faults_->error = error.what();
    }
  }
  if (full) release_kept();
}

void WebGpuDevice::make_room(std::uint64_t size) {
  if (!kept_.too_full_for(size)) return;
  flush();
  release_bind_groups();  // they would keep the memory
  kept_.make_room(size, [this](Buffer* buffer, std::size_t) { destroy(buffer); });
}

void WebGpuDevice::release_memory() {
  wait();
  release_kept();
  kept_.reset_peak();
}

void WebGpuDevice::destroy(Buffer* buffer) noexcept {
  if (buffer->handle && !abandoned_) api_.BufferRelease(buffer->handle);
  delete buffer;
}

Buffer* WebGpuDevice::adopt(WGPUBuffer buffer) {
  constexpr auto needed = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  if ((api_.BufferGetUsage(buffer) & needed) != needed)
    throw Error(ErrorKind::device, "view: the buffer's usage must have Storage, CopySrc and CopyDst");
  api_.BufferAddRef(buffer);
  return new Buffer{buffer, api_.BufferGetSize(buffer) / 4 * 4, next_id_++};
}

void WebGpuDevice::forget(Buffer* buffer) noexcept {
  release_bind_groups();  // they would keep its memory
  destroy(buffer);
}

void WebGpuDevice::release_bind_groups() {
  if (!abandoned_)
    for (auto& [key, group] : bind_groups_) api_.BindGroupRelease(group);
  bind_groups_.clear();
}

void WebGpuDevice::release_kept() {
  release_bind_groups();
  kept_.clear([this](Buffer* buffer, std::size_t) { destroy(buffer); });
}

}  // namespace tern::detail_webgpu
