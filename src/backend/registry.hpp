// What the folder of a backend offers to the rest.
#pragma once
#include <memory>
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
};

#define TERN_BACKEND(name) extern const BackendEntry name##_entry;
#include "tern/backends.inc"
#undef TERN_BACKEND
const BackendEntry& entry_of(DeviceKind kind);

/// Memory as a storage that ends where the tensor ends.
void borrow_memory(Backend& backend, TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive);

}  // namespace tern::detail
