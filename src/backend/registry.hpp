// What the folder of a backend offers to the rest.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "backend/tensor_impl.hpp"
#include "tern/device.hpp"

namespace tern::detail {

struct BackendEntry {
  /// The backend of device `index`, which is never destroyed; throws `device`, with the reason, where it is absent.
  Backend& (*backend)(int index);
  /// Every device, or one entry with the reason there is none.
  std::vector<DeviceInfo> (*devices)();
  /// Gives a tensor (dtype, shape and strides are set) the program's own memory at `pointer`; throws `device` where
  /// that is not memory of device `index`.
  void (*borrow)(TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive, int index);
  /// There may be several, which are called "name:0"; else there is one, called "name".
  bool numbered = true;
  /// Whether Storage::data() is an address: then two storages may be parts of the same memory.
  bool addresses = true;
  /// DLPack's types of devices whose memory it takes (a DLDeviceType), that of its own memory first; 0: none. A backend
  /// that has one lets other libraries address its memory.
  std::array<std::int32_t, 2> dlpack{};
};

#define TERN_BACKEND(name) extern const BackendEntry name##_entry;
#include "tern/backends.inc"
#undef TERN_BACKEND
const BackendEntry& entry_of(DeviceKind kind);
/// The device that takes memory which DLPack calls this; nothing where no backend does.
std::optional<Device> device_of_dlpack(std::int32_t type, int index);

/// Memory as a storage that ends where the tensor ends.
void borrow_memory(Backend& backend, TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive);

}  // namespace tern::detail
