// The CUDA backend: the kernels of src/gpu/ on NVIDIA GPUs.
#pragma once
#include <vector>

#include "backend/backend.hpp"

namespace tern::detail_cuda {

/// The backend of GPU `index`; throws `device`, with the reason, where it is absent.
detail::Backend& cuda_backend(int index);
/// The GPUs, or one entry that says what is missing.
std::vector<DeviceInfo> cuda_devices();

}  // namespace tern::detail_cuda
