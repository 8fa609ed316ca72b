// Copies between the program's memory and a GPU's, in one direction: through chunks of pinned memory, of which several
// are in flight, on a stream of their own. A copy straight from or to ordinary memory would keep the caller waiting for
// the GPU.
#pragma once
#include <array>
#include <mutex>

#include "cuda/streams.hpp"

namespace tern::detail_cuda {

class Staging {
 public:
  explicit Staging(const GpuContext& context) : context_(context), driver_(context.driver()) {}
  static constexpr std::size_t kChunk = 4 << 20;

  /// To be held for a whole copy: one at a time. Where the device's lock is needed too, this one comes first.
  std::mutex& lock() { return lock_; }
  /// Made at the first copy.
  Stream stream(const Streams& streams);

  /// Returns when the data has been read; stream() says when it is there.
  void upload(DevicePointer to, const void* from, std::size_t bytes);
  /// Returns when the data has been written.
  void download(void* to, DevicePointer from, std::size_t bytes);

  /// At most a chunk, on another stream: the copy is queued, and later waited for.
  void begin_download(DevicePointer from, std::size_t bytes, Stream stream);
  void end_download(void* to, std::size_t bytes);

 private:
  struct Carrier {
    void* memory = nullptr;
    Event done = nullptr;
  };
  /// One after the other; made when it is first used.
  const Carrier& chunk(std::size_t number);
  void finish(const Carrier& chunk, const char* doing) const;

  const GpuContext& context_;
  const Driver& driver_;
  std::mutex lock_;
  Stream stream_ = nullptr;
  std::array<Carrier, 4> chunks_;
};

}  // namespace tern::detail_cuda
