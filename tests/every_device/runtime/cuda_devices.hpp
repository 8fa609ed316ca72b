// For tests of what CUDA GPUs alone have.
#pragma once
#include <vector>

#include "every_device.hpp"

namespace tern::test {

inline std::vector<Device> cuda_devices() {
  std::vector<Device> list;
  for (const Device device : present_devices())
    if (device.kind() == DeviceKind::cuda) list.push_back(device);
  return list;
}

}  // namespace tern::test
