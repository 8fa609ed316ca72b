// CUDA as a backend, and memory and streams that belong to the program.
#include <cstdlib>

#include "backend/registry.hpp"
#include "cuda/cuda_backend.hpp"
#include "cuda/streams.hpp"
#include "tern/cuda.hpp"
#include "tern/dlpack.hpp"

namespace tern::detail_cuda {
namespace {

/// Kernels load vectors of 16 bytes from where a storage begins: it begins at such a place, and the tensor behind it.
void borrow(detail::TensorImpl& impl, void* pointer, std::shared_ptr<const void> keep_alive, int index) {
  constexpr std::intptr_t vector = 16, most = std::intptr_t{1} << 56;  // bytes
  const auto size = static_cast<std::intptr_t>(dtype_size(impl.dtype)), at = reinterpret_cast<std::intptr_t>(pointer);
  if (at % size != 0)
    throw Error(ErrorKind::device, "view: the pointer of " + detail::describe(impl.dtype, impl.shape) +
                                       " must be a multiple of " + std::to_string(size) + " bytes, it is " +
                                       std::to_string(at % size) + " bytes past one");
  std::intptr_t low = 0, high = 0;  // of elements, in bytes
  for (std::size_t i = 0; i < impl.shape.size() && impl.numel > 0; ++i) {
    std::intptr_t reach = 0;
    bool beyond = __builtin_mul_overflow(impl.shape[i] - 1, impl.strides[i], &reach);
    beyond |= __builtin_mul_overflow(reach, size, &reach);
    std::intptr_t& end = reach < 0 ? low : high;
    if (beyond || __builtin_add_overflow(end, reach, &end) || std::abs(end) > most)
      throw Error(ErrorKind::shape, "view: stride " + std::to_string(impl.strides[i]) + " reaches beyond all memory");
  }
  const std::intptr_t first = at + low, end = impl.numel > 0 ? at + high + size : first,
                      begin = first / vector * vector;
  const auto address = [](std::intptr_t byte) { return static_cast<DevicePointer>(byte); };
  impl.offset = impl.numel > 0 ? (at - begin) / size : 0;
  impl.storage = adopt_memory(index, address(begin), address(first), address(end), std::move(keep_alive));
}

}  // namespace
}  // namespace tern::detail_cuda

namespace tern {

constinit const detail::BackendEntry detail::cuda_entry{detail_cuda::cuda_backend, detail_cuda::cuda_devices,
                                                        detail_cuda::borrow, /*numbered=*/true, /*addresses=*/true,
                                                        /*dlpack=*/{kDLCUDA, kDLCUDAManaged}};

cuda_stream_scope::cuda_stream_scope(CUstream_st* stream, Device device) {
  if (device.kind() != DeviceKind::cuda)
    throw Error(ErrorKind::device, "cuda_stream_scope: " + device.to_string() + " is no CUDA device");
  const auto of_driver = reinterpret_cast<detail_cuda::Stream>(stream);
  const detail_cuda::LentStream*& innermost = detail_cuda::lent_streams();
  lent_ = std::make_unique<detail_cuda::LentStream>(device.index(), of_driver, innermost);
  detail_cuda::enter_stream(device.index(), of_driver);
  innermost = lent_.get();
}
cuda_stream_scope::~cuda_stream_scope() {
  detail_cuda::lent_streams() = lent_->outer;
  detail_cuda::leave_stream(lent_->ordinal, lent_->stream);
}

}  // namespace tern
