// Devices and their backends.
#include "backend/registry.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

namespace tern {
namespace {

/// default_device() is a setting of the thread: the constructors it speaks for take no such argument.
std::optional<Device>& chosen_device() {
  thread_local std::optional<Device> device;
  return device;
}

constexpr const char* kKindNames[] = {
#define TERN_BACKEND(name) #name,
#include "tern/backends.inc"
#undef TERN_BACKEND
};
constexpr int kKinds = static_cast<int>(std::size(kKindNames));
const char* kind_name(DeviceKind kind) { return kKindNames[static_cast<int>(kind)]; }

/// "cpu, cuda, cuda:N, webgpu or webgpu:N"
std::string expected_names() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kKinds; ++kind) {
    names.emplace_back(kKindNames[kind]);
    if (detail::entry_of(static_cast<DeviceKind>(kind)).numbered) names.push_back(names.back() + ":N");
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

}  // namespace

std::string Device::to_string() const {
  const std::string text = kind_name(kind_);
  return detail::entry_of(kind_).numbered ? text + ":" + std::to_string(index_) : text;
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
  for (int i = 0; i < kKinds && valid; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    if (name == kind_name(kind) && (index == 0 || detail::entry_of(kind).numbered)) return {kind, index};
  }
  throw Error(ErrorKind::device,
              "Device::parse: expected " + expected_names() + ", got \"" + std::string(text) + "\"");
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
  for (int kind = 0; kind < kKinds; ++kind)
    for (DeviceInfo& info : detail::entry_of(static_cast<DeviceKind>(kind)).devices()) list.push_back(std::move(info));
  return list;
}

void synchronize(Device device) { detail::backend_of(device).synchronize(); }
CacheStats cache_stats(Device device) { return detail::backend_of(device).cache_stats(); }
MemoryStats memory_stats(Device device) { return detail::backend_of(device).memory_stats(); }
void release_memory(Device device) { detail::backend_of(device).release_memory(); }

namespace detail {

const BackendEntry& entry_of(DeviceKind kind) {
  static constexpr const BackendEntry* entries[] = {
#define TERN_BACKEND(name) &name##_entry,
#include "tern/backends.inc"
#undef TERN_BACKEND
  };
  return *entries[static_cast<int>(kind)];
}

std::optional<Device> device_of_dlpack(std::int32_t type, int index) {
  for (int kind = 0; kind < kKinds; ++kind) {
    const BackendEntry& entry = entry_of(static_cast<DeviceKind>(kind));
    for (const std::int32_t taken : entry.dlpack)
      if (taken != 0 && taken == type) return Device(static_cast<DeviceKind>(kind), entry.numbered ? index : 0);
  }
  return {};
}

Backend& backend_of(Device device) { return entry_of(device.kind()).backend(device.index()); }

void borrow(TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive, Device device) {
  entry_of(device.kind()).borrow(tensor, pointer, std::move(keep_alive), device.index());
}

void borrow_memory(Backend& backend, TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive) {
  tensor.storage = make_pooled<Storage>(backend, pointer, 0, std::move(keep_alive));
}

}  // namespace detail
}  // namespace tern
