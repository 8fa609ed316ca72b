// Devices and their backends.
#include <charconv>
#include <cstdlib>
#include <optional>

#include "backend/backend.hpp"
#include "backend/reads.hpp"
#include "cpu/cpu_backend.hpp"
#include "cpu/threads.hpp"
#include "cuda/cuda_backend.hpp"
#ifdef TERN_WEBGPU
#include "webgpu/webgpu_backend.hpp"
#endif

namespace tern {
namespace {
std::optional<Device>& chosen_device() {
  thread_local std::optional<Device> device;
  return device;
}
const char* kind_name(DeviceKind kind) {
  constexpr const char* names[] = {"cpu", "cuda", "webgpu"};
  return names[static_cast<int>(kind)];
}
#ifndef TERN_WEBGPU
constexpr const char* kNoWebgpu = "this build of tern has no WebGPU backend (webgpu.h was not found)";
#endif
}  // namespace

std::string Device::to_string() const {
  std::string text = kind_name(kind_);
  return kind_ == DeviceKind::cpu ? text : text + ":" + std::to_string(index_);
}

Device Device::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  int index = 0;
  bool valid = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    valid = error == std::errc() && end == digits.data() + digits.size() && !digits.empty() && index >= 0;
  }
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::webgpu})
    if (valid && name == kind_name(kind) && (kind != DeviceKind::cpu || index == 0)) return {kind, index};
  throw Error(ErrorKind::device,
              "Device::parse: expected cpu, cuda, cuda:N, webgpu or webgpu:N, got \"" + std::string(text) + "\"");
}

Device default_device() {
  if (const std::optional<Device> chosen = chosen_device()) return *chosen;
  static const Device from_environment = [] {
    const char* text = std::getenv("TERN_DEVICE");
    return text && *text ? Device::parse(text) : cpu();
  }();
  return from_environment;
}
void set_default_device(Device device) {
  detail::backend_of(device);
  chosen_device() = device;
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> list;
  list.push_back({cpu(), true, detail::backend_of(cpu()).name(), ""});
  for (DeviceInfo& info : detail_cuda::cuda_devices()) list.push_back(std::move(info));
#ifdef TERN_WEBGPU
  for (DeviceInfo& info : detail_webgpu::webgpu_devices()) list.push_back(std::move(info));
#else
  list.push_back({webgpu(), false, "", kNoWebgpu});
#endif
  return list;
}

void synchronize(Device device) { detail::backend_of(device).synchronize(); }
CacheStats cache_stats(Device device) { return detail::backend_of(device).cache_stats(); }
MemoryStats memory_stats(Device device) { return detail::backend_of(device).memory_stats(); }
void release_memory(Device device) { detail::backend_of(device).release_memory(); }

void set_num_threads(int threads) {
  if (threads < 1)
    throw Error(ErrorKind::device, "set_num_threads: needs at least 1 thread, got " + std::to_string(threads));
  detail_cpu::set_max_threads(threads);
}
int num_threads() { return detail_cpu::max_threads(); }

namespace detail {

Backend& backend_of(Device device) {
  if (device.kind() == DeviceKind::cpu) return detail_cpu::cpu_backend();
  if (device.kind() == DeviceKind::cuda) return detail_cuda::cuda_backend(device.index());
#ifdef TERN_WEBGPU
  return detail_webgpu::webgpu_backend(device.index());
#else
  throw Error(ErrorKind::device, "device " + device.to_string() + " is not available: " + kNoWebgpu);
#endif
}

void Backend::unsupported(const char* op, const char* verb) const {
  throw Error(ErrorKind::unsupported, std::string(op) + ": " + verb + " is not supported on " + device().to_string());
}

Storage::Storage(Backend& backend, std::size_t bytes)
    : backend_(&backend), data_(bytes ? backend.allocate(bytes) : nullptr), bytes_(bytes), owned_(true) {
  if (ReadScope::active()) ReadScope::made(*this);
}
Storage::Storage(Backend& backend, void* data, std::size_t bytes, std::shared_ptr<const void> keep_alive)
    : backend_(&backend), data_(data), bytes_(bytes), owned_(false), keep_alive_(std::move(keep_alive)) {
  if (ReadScope::active()) ReadScope::made(*this);
}
Storage::~Storage() {
  if (ReadScope::active()) ReadScope::gone(*this);
  if (owned_ && data_) backend_->deallocate(data_, bytes_);
}

}  // namespace detail
}  // namespace tern
