// Sharing a WebGPU device with the program's own use of it.
#pragma once
#include "tern/device.hpp"

struct WGPUDeviceImpl;  // WGPUDevice, WGPUQueue and WGPUBuffer of webgpu.h are pointers to these
struct WGPUQueueImpl;

namespace tern {

/// A device of tern on the program's own: its kernels go to that queue. The same WGPUDevice gives the same Device. It
/// is held for the life of the process; `devices()` lists it behind the adapters.
///
/// tern must use the library the handles are of: the one the program is linked with, or the one named in
/// TERN_WEBGPU_LIBRARY. Buffers of the device are tensors through `Tensor::view(buffer, dtype, shape)`. tern collects
/// commands and submits them late: call `synchronize(device)` before other work on the queue reads what tern wrote.
/// What the program has submitted before, tern's kernels see. Calls for the device from several threads are ordered by
/// tern; that the program does not use the queue meanwhile is the program's to ensure where its library asks for it.
/// Throws `device` where there is no WebGPU library, or a handle is null.
Device webgpu_device(WGPUDeviceImpl* device, WGPUQueueImpl* queue);

}  // namespace tern
