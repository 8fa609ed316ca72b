#include "webgpu/device.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "backend/instruments/trace.hpp"
#include "gpu/text/show_kernel.hpp"
#include "tern/error.hpp"
#include "webgpu/draft.hpp"
#include "webgpu/guard.hpp"

namespace tern::detail_webgpu {
namespace {

constexpr std::size_t kParamsBytes = 256 << 10;    // of kernels recorded but not submitted
constexpr std::size_t kStagingBytes = 1 << 20;     // of small uploads likewise
constexpr std::size_t kMostRecorded = 256;         // kernels before the encoder is submitted
constexpr std::uint64_t kMostKept = 4ull << 30;  // bytes kept for reuse
constexpr std::size_t kMostBindGroups = 8192;

/// Limits of tests: TERN_WEBGPU_LIMITS=minimum gives the specification's least, TERN_WEBGPU_BINDING_BYTES=n less bytes
/// in a binding, TERN_WEBGPU_STEPS=n less multiply-adds in a kernel.
void lower_limits(detail_gpu::Limits& limits) {
  if (const char* text = std::getenv("TERN_WEBGPU_LIMITS"); text && std::string(text) == "minimum") limits = {};
  if (const char* text = std::getenv("TERN_WEBGPU_BINDING_BYTES"); text && *text)
    limits.binding_bytes = std::max<std::uint64_t>(std::strtoull(text, nullptr, 10), 64 << 10);
  if (const char* text = std::getenv("TERN_WEBGPU_STEPS"); text && *text)
    limits.steps = std::max<std::uint64_t>(std::strtoull(text, nullptr, 10), 1);
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
       {WGPUFeatureName_ShaderF16, WGPUFeatureName_Subgroups, WGPUFeatureName_TimestampQuery})
    if (api_.AdapterHasFeature(adapter.handle, feature)) features.push_back(feature);
  timestamps_ = std::ranges::find(features, WGPUFeatureName_TimestampQuery) != features.end();
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
  device_ = answer.device;
  queue_ = api_.DeviceGetQueue(device_);
  set_up(limits);
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
  const bool full = static_cast<std::uint64_t>(kept_.stats().kept) > kMostKept;
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

// ---- commands ----
WGPUCommandEncoder WebGpuDevice::encoder() {
  if (!encoder_) encoder_ = api_.DeviceCreateCommandEncoder(device_, nullptr), ++encoders_;
  return encoder_;
}
WGPUComputePassEncoder WebGpuDevice::pass() {
  if (!pass_) pass_ = api_.CommandEncoderBeginComputePass(encoder(), nullptr);
  return pass_;
}
void WebGpuDevice::end_pass() {
  if (!pass_) return;
  api_.ComputePassEncoderEnd(pass_);
  api_.ComputePassEncoderRelease(pass_);
  pass_ = nullptr;
}

void WebGpuDevice::flush() {
  if (!encoder_) return;
  end_pass();
  // Writes to a buffer are done in the queue's order: after the submissions before, and before this one.
  if (!params_arena_.empty())
    api_.QueueWriteBuffer(queue_, params_->handle, 0, params_arena_.data(), params_arena_.size());
  if (!staging_arena_.empty())
    api_.QueueWriteBuffer(queue_, staging_->handle, 0, staging_arena_.data(), staging_arena_.size());
  const WGPUCommandBuffer commands = api_.CommandEncoderFinish(encoder_, nullptr);
  api_.CommandEncoderRelease(encoder_);
  encoder_ = nullptr;
  params_arena_.clear(), staging_arena_.clear();
  waiting_bytes_ = 0, steps_ = 0;
  // wgpu-native 0.32 calls abort() for an error in a submission: what is invalid must not get there, and the calls
  // above tell of a lost device.
  release_errors(), catch_errors();
  const bool valid = commands && faults_->error.empty() && faults_->lost.empty();
  if (valid) submit(commands), ++submissions;
  if (commands && !abandoned_) api_.CommandBufferRelease(commands);
  const std::string kernels = valid ? std::string() : recorded_kernels();
  recorded_.clear();
  check("running kernels" + kernels);
}

std::string WebGpuDevice::recorded_kernels() const {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> names;
  for (const Pipeline* p : recorded_)
    if (std::find(names.begin(), names.end(), p->name) == names.end()) names.push_back(p->name);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kMostNamed) text += " and " + std::to_string(names.size() - kMostNamed) + " others";
  return text.empty() ? text : " (" + text + ")";
}

void WebGpuDevice::abandon(const char* during) {
  abandoned_ = true;
  encoder_ = nullptr, pass_ = nullptr;  // theirs is not ours any more
  faults_->lost = std::string("the driver gave it up during ") + during;
}

void WebGpuDevice::submit(WGPUCommandBuffer commands) {
  struct Call {
    const Api& api;
    WGPUQueue queue;
    WGPUCommandBuffer commands;
  } call{api_, queue_, commands};
  const auto run = [](void* context) {
    const Call& c = *static_cast<Call*>(context);
    c.api.QueueSubmit(c.queue, 1, &c.commands);
  };
  if (!survives_abort(run, &call)) abandon("a submission");
}

void WebGpuDevice::poll() {
  if (abandoned_) return;
  if (!api_.DevicePoll) return api_.InstanceProcessEvents(instance_of(api_));
  struct Call {
    const Api& api;
    WGPUDevice device;
  } call{api_, device_};
  const auto run = [](void* context) {
    const Call& c = *static_cast<Call*>(context);
    c.api.DevicePoll(c.device, 1, nullptr);
  };
  if (!survives_abort(run, &call)) abandon("a wait");
}

void WebGpuDevice::finish_work() {
  if (api_.DevicePoll) return poll();
  bool done = false;
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* user, void*) {
    *static_cast<bool*>(user) = true;
  };
  callback.userdata1 = &done;
  api_.QueueOnSubmittedWorkDone(queue_, callback);
  poll_until([&] { return done; });
}

void WebGpuDevice::wait() {
  flush();
  ++waits;
  finish_work();
  check("waiting for kernels");
}

std::uint64_t WebGpuDevice::add_constants(const void* data, std::size_t bytes, std::vector<std::byte>& arena,
                                       std::size_t capacity) {
  const std::size_t padded = (bytes + 15) / 16 * 16;
  std::size_t at = (arena.size() + uniform_alignment_ - 1) / uniform_alignment_ * uniform_alignment_;
  if (at + padded > capacity) {
    flush();
    at = 0;
  }
  arena.resize(at + padded);
  std::memcpy(arena.data() + at, data, bytes);
  return at;
}

void WebGpuDevice::upload(Buffer& to, std::uint64_t offset, const void* from, std::size_t bytes) {
  const std::size_t padded = (bytes + 3) / 4 * 4;
  if (padded <= kStagingBytes / 4) {
    const std::uint64_t at = add_constants(from, bytes, staging_arena_, kStagingBytes);
    end_pass();
    api_.CommandEncoderCopyBufferToBuffer(encoder(), staging_->handle, at, to.handle, offset, padded);
    use(to);
    return;
  }
  flush();
  const std::size_t whole = bytes / 4 * 4;
  api_.QueueWriteBuffer(queue_, to.handle, offset, from, whole);
  if (whole != bytes) {
    std::uint32_t last = 0;
    std::memcpy(&last, static_cast<const std::byte*>(from) + whole, bytes - whole);
    api_.QueueWriteBuffer(queue_, to.handle, offset + whole, &last, 4);
  }
  check("uploading " + std::to_string(bytes) + " bytes");
}

void WebGpuDevice::download(Buffer& from, std::uint64_t offset, void* to, std::size_t bytes) {
  const std::uint64_t begin = offset / 4 * 4, end = (offset + bytes + 3) / 4 * 4;
  constexpr std::uint64_t kPiece = 256ull << 20;
  for (std::uint64_t piece = begin; piece < end; piece += kPiece) {
    const std::uint64_t size = std::min(kPiece, end - piece);
    if (!readback_ || readback_->capacity < size) {
      if (readback_) destroy(readback_);
      readback_ =
          create(std::bit_ceil(std::max<std::uint64_t>(size, 4096)), WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
      check("allocating memory for a download");
    }
    end_pass();
    api_.CommandEncoderCopyBufferToBuffer(encoder(), from.handle, piece, readback_->handle, 0, size);
    flush();
    struct Answer {
      WGPUMapAsyncStatus status = WGPUMapAsyncStatus_Error;
      std::string message;
      bool done = false;
    } answer;
    WGPUBufferMapCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* user, void*) {
      *static_cast<Answer*>(user) = {status, to_string(message), true};
    };
    callback.userdata1 = &answer;
    api_.BufferMapAsync(readback_->handle, WGPUMapMode_Read, 0, size, callback);
    ++waits;
    poll_until([&] { return answer.done; });
    check("downloading");  // wgpu-native ends the process where the mapped range of a lost device is asked for
    if (answer.status != WGPUMapAsyncStatus_Success)
      throw Error(ErrorKind::backend, "downloading from " + name_ + ": " + answer.message);
    const auto* mapped = static_cast<const std::byte*>(api_.BufferGetConstMappedRange(readback_->handle, 0, size));
    const std::uint64_t first = std::max(piece, offset), last = std::min(piece + size, offset + bytes);
    if (mapped) std::memcpy(static_cast<std::byte*>(to) + (first - offset), mapped + (first - piece), last - first);
    api_.BufferUnmap(readback_->handle);
    if (!mapped) throw Error(ErrorKind::backend, "downloading from " + name_ + ": the buffer could not be mapped");
  }
}

void WebGpuDevice::clear(Buffer& buffer) {
  end_pass();
  api_.CommandEncoderClearBuffer(encoder(), buffer.handle, 0, buffer.capacity);
  use(buffer);
}

// ---- kernels ----
const WebGpuDevice::Layout& WebGpuDevice::layout_of(const detail_gpu::Launch& launch) {
  std::string key;
  for (const detail_gpu::Binding& b : launch.bindings) key += b.written || b.atomic ? 'w' : 'r';
  const auto [it, fresh] = layouts_.try_emplace(key);
  if (!fresh) return it->second;
  std::vector<WGPUBindGroupLayoutEntry> entries(key.size() + 1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {};
    entries[i].binding = static_cast<std::uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = i == 0              ? WGPUBufferBindingType_Uniform
                             : key[i - 1] == 'w' ? WGPUBufferBindingType_Storage
                                                 : WGPUBufferBindingType_ReadOnlyStorage;
    entries[i].buffer.hasDynamicOffset = i == 0;
  }
  WGPUBindGroupLayoutDescriptor group{};
  group.entryCount = entries.size(), group.entries = entries.data();
  it->second.group = api_.DeviceCreateBindGroupLayout(device_, &group);
  WGPUPipelineLayoutDescriptor pipeline{};
  pipeline.bindGroupLayoutCount = 1, pipeline.bindGroupLayouts = &it->second.group;
  it->second.pipeline = api_.DeviceCreatePipelineLayout(device_, &pipeline);
  check(std::string(launch.op) + ": laying out bindings");
  ++layouts_made;
  return it->second;
}

namespace {
/// "softmax, kernel reduction": the first line of a kernel's text says what it is.
std::string kernel_name(const detail_gpu::Launch& launch, const std::string& text) {
  const std::size_t end = text.find('\n');
  return std::string(launch.op) +
         (text.starts_with("// ") && end != std::string::npos ? ", kernel " + text.substr(3, end - 3) : "");
}
}  // namespace

const WebGpuDevice::Pipeline& WebGpuDevice::compile(const detail_gpu::Launch& launch, const std::string& text) {
  const std::string whole = (launch.in_bounds ? "t" : "c") + text;
  if (const auto found = texts_.find(whole); found != texts_.end()) {  // another program, the same kernel
    ++stats_.hits;
    Pipeline& known = pipelines_[launch.key] = found->second;
    known.name = kernel_name(launch, text);
    return known;
  }
  const auto start = std::chrono::steady_clock::now();
  detail_gpu::show_kernel(text);
  const Layout& layout = layout_of(launch);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(text);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  static const bool checked = std::getenv("TERN_WEBGPU_CHECKED") != nullptr;  // to see what the checks cost
  const WGPUShaderModule module = launch.in_bounds && api_.DeviceCreateShaderModuleTrusted && !checked
                                      ? api_.DeviceCreateShaderModuleTrusted(device_, &descriptor, 0)
                                      : api_.DeviceCreateShaderModule(device_, &descriptor);
  const std::string name = kernel_name(launch, text), doing = name + ": compiling the kernel";
  const auto require = [&](auto made, auto release) {
    try {
      check(doing);
    } catch (...) {
      if (made) release(made);
      throw;
    }
  };
  require(module, api_.ShaderModuleRelease);
  static const auto& entry = *new std::string("main");
  WGPUComputePipelineDescriptor pipeline{};
  pipeline.layout = layout.pipeline;
  pipeline.compute.module = module, pipeline.compute.entryPoint = view(entry);
  Pipeline made{api_.DeviceCreateComputePipeline(device_, &pipeline), layout.group, name};
  api_.ShaderModuleRelease(module);
  require(made.handle, api_.ComputePipelineRelease);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ++stats_.misses, ++stats_.kernels;
  stats_.milliseconds += ms;
  if (detail::tracing()) {
    char time[48];
    std::snprintf(time, sizeof time, "compiled in %.1f ms", ms);
    detail::note(time);
  }
  return pipelines_[launch.key] = texts_[whole] = made;
}

Buffer& WebGpuDevice::buffer_of(const detail_gpu::Launch& launch, std::size_t k) {
  if (auto* buffer = static_cast<Buffer*>(launch.bindings[k].storage->data())) return *buffer;
  // A storage without elements has no buffer; each binding has a stand-in of its own, so that none is bound twice.
  while (empty_.size() <= k) empty_.push_back(create(256, WGPUBufferUsage_Storage));
  return *empty_[k];
}

WGPUBindGroup WebGpuDevice::bind_group(const detail_gpu::Launch& launch, const Pipeline& pipeline) {
  std::string key;
  const auto add = [&key](std::uint64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::uint64_t params_bytes = (launch.params.size() * 4 + 15) / 16 * 16;
  add(reinterpret_cast<std::uintptr_t>(pipeline.layout)), add(params_bytes);
  for (std::size_t k = 0; k < launch.bindings.size(); ++k)
    add(buffer_of(launch, k).id), add(launch.bindings[k].begin), add(launch.bindings[k].end);
  if (const auto found = bind_groups_.find(key); found != bind_groups_.end()) return found->second;
  if (bind_groups_.size() > kMostBindGroups) release_bind_groups();
  std::vector<WGPUBindGroupEntry> entries(launch.bindings.size() + 1);
  entries[0] = {};
  entries[0].buffer = params_->handle, entries[0].size = params_bytes;
  for (std::size_t k = 0; k < launch.bindings.size(); ++k) {
    const detail_gpu::Binding& b = launch.bindings[k];
    WGPUBindGroupEntry& entry = entries[k + 1];
    entry = {};
    entry.binding = static_cast<std::uint32_t>(k + 1);
    const Buffer& buffer = buffer_of(launch, k);
    entry.buffer = buffer.handle;
    entry.offset = b.begin, entry.size = b.end > b.begin ? b.end - b.begin : buffer.capacity;
  }
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = pipeline.layout, descriptor.entryCount = entries.size(), descriptor.entries = entries.data();
  const WGPUBindGroup group = api_.DeviceCreateBindGroup(device_, &descriptor);
  try {
    check(pipeline.name + ": binding buffers");
  } catch (...) {
    if (group) api_.BindGroupRelease(group);
    throw;
  }
  ++bind_groups_made;
  return bind_groups_[key] = group;
}

void WebGpuDevice::run(const detail_gpu::Launch& launch, const Pipeline& pipeline) {
  if (launch.groups == 0) return;
  check(launch.op);
  std::vector<std::uint32_t> params = launch.params;
  const std::uint64_t rows = (launch.groups + limits_.groups - 1) / limits_.groups;
  const std::uint64_t width = (launch.groups + rows - 1) / rows;
  params[0] = static_cast<std::uint32_t>(width);
  const auto offset =
      static_cast<std::uint32_t>(add_constants(params.data(), params.size() * 4, params_arena_, kParamsBytes));
  const WGPUBindGroup group = bind_group(launch, pipeline);
  const WGPUComputePassEncoder pass = timing_ ? timed_pass(pipeline) : this->pass();
  api_.ComputePassEncoderSetPipeline(pass, pipeline.handle);
  api_.ComputePassEncoderSetBindGroup(pass, 0, group, 1, &offset);
  api_.ComputePassEncoderDispatchWorkgroups(pass, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(rows),
                                            1);
  if (timing_) end_pass();
  ++kernels;
  for (std::size_t k = 0; k < launch.bindings.size(); ++k) use(buffer_of(launch, k));
  recorded_.push_back(&pipeline);
  steps_ += launch.steps;
  if (recorded_.size() >= kMostRecorded || steps_ >= 2 * limits_.steps) flush();  // watchdogs look at submissions
}

}  // namespace tern::detail_webgpu
