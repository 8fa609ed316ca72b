// The CUDA backend: the kernels of src/gpu/ on NVIDIA GPUs.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "cuda/api.hpp"

namespace tern::detail_cuda {

/// The backend of GPU `index`; throws `device`, with the reason, where it is absent.
detail::Backend& cuda_backend(int index);
/// A storage over the program's own memory [begin, end) on GPU `index`, of which [first, end) will be used. Throws
/// `device` where that is not memory of that GPU, and `shape` where the memory ends before.
std::shared_ptr<detail::Storage> adopt_memory(int index, DevicePointer begin, DevicePointer first, DevicePointer end,
                                              std::shared_ptr<const void> keep_alive);
/// A stream of the program's own begins to be used, and ends. (Which thread uses it, lent_streams() says.)
void enter_stream(int index, Stream stream);
void leave_stream(int index, Stream stream) noexcept;
/// The GPUs, or one entry that says what is missing.
std::vector<DeviceInfo> cuda_devices();

}  // namespace tern::detail_cuda
