// Sharing a CUDA GPU with the program's own use of it.
#pragma once
#include <memory>

#include "tern/device.hpp"

struct CUstream_st;  // CUstream of the driver and cudaStream_t of the runtime are pointers to it

namespace tern {

namespace detail_cuda {
struct LentStream;
}

/// While it lives, what the calling thread gives to a CUDA device runs on the program's own stream:
///
///   tern::cuda_stream_scope scope(stream);
///   my_kernel<<<grid, block, 0, stream>>>(pointer, …);
///   Tensor y = silu(Tensor::view(pointer, {n}, {}, {}, cuda()));   // sees what my_kernel wrote; does not wait for it
///
/// What any thread gave to the device before is done first; what is given to it afterwards, on whatever stream, comes
/// after. So the program's own work on the stream needs no waiting in either direction, and none of its other streams
/// is touched. A null pointer is the legacy default stream. The stream must live until the scope has ended, and must
/// not be capturing. Scopes may lie within each other; one ends on the thread that began it, the innermost first.
///
/// Throws `device` where there is no such device, or the stream is of another device or context than its primary one
/// (that of the CUDA runtime).
class [[nodiscard]] cuda_stream_scope {
 public:
  explicit cuda_stream_scope(CUstream_st* stream, Device device = cuda());
  ~cuda_stream_scope();
  cuda_stream_scope(const cuda_stream_scope&) = delete;
  cuda_stream_scope& operator=(const cuda_stream_scope&) = delete;

 private:
  std::unique_ptr<detail_cuda::LentStream> lent_;
};

}  // namespace tern
