// The narrow waist: what a processor must be able to do: memory, and a table of kernels. Nothing above knows which
// backend it is on; no backend knows the name of an operation (`op` is for messages).
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/primitive.hpp"
#include "tern/device.hpp"
#include "tern/error.hpp"

namespace tern::detail {

/// A recorded sequence of requests.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Device device() const = 0;
  virtual std::string name() const = 0;
  virtual CacheStats cache_stats() const { return {}; }
  /// Whether it has kernels for a dtype.
  virtual bool supports(DType) const { return true; }
  /// Whether the caller's processor computes, in the caller's memory: a loop over elements needs no kernel then.
  virtual bool in_host_memory() const { return false; }
  /// Bytes of a temporary that are better made and used up strip by strip than all at once: as many as stay in cache.
  virtual std::int64_t strip_bytes() const { return std::int64_t{4} << 20; }

  /// Runs a call that is reported; says how long its kernels took on the device, where that tells and the call is
  /// waited for: "12.3 us (gemm)".
  virtual std::string timed(const std::function<void()>& call) {
    call();
    return "";
  }

  // memory
  /// At least 64-byte aligned; uninitialised. Throws out_of_memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* data, std::size_t bytes) noexcept = 0;
  virtual MemoryStats memory_stats() const { return {}; }
  virtual void release_memory() {}
  virtual void upload(Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) = 0;
  virtual void download(const Storage& from, std::size_t byte_offset, void* to, std::size_t bytes) = 0;
  /// Copies from another device's memory; false, having done nothing, where there is no direct way.
  virtual bool copy_from(Storage& /*to*/, std::size_t /*to_offset*/, const Storage& /*from*/,
                         std::size_t /*from_offset*/, std::size_t /*bytes*/) {
    return false;
  }
  virtual void synchronize() = 0;

  // kernels
  /// Runs a request, which is not counted or recorded: run() of backend/run.hpp is the way in.
  template <class R> void execute(const R& request) {
    const Primitive& primitive = primitive_of<R>();
    kernel(primitive, request.op)(*this, primitive, &request);
  }
  /// Throws `unsupported` where requests of this type cannot be run: to be called before results are allocated. (A load
  /// and a branch: every operation comes here.)
  template <class R> void require(const char* op) {
    if (!kernels_[static_cast<std::size_t>(primitive_id<R>)].load(std::memory_order_relaxed))
      look_up(primitive_of<R>(), op);
  }
  /// Whether there is a kernel for requests of this type, for operations that know another way.
  template <class R> bool offers() {
    const Primitive& primitive = primitive_of<R>();
    return kernels_[static_cast<std::size_t>(primitive.id)].load(std::memory_order_relaxed) || find_kernel(primitive);
  }
  /// The kernel for a primitive, or the composition that stands for it; throws `unsupported` where there is neither.
  Kernel kernel(const Primitive& primitive, const char* op) {
    std::atomic<Kernel>& place = kernels_[static_cast<std::size_t>(primitive.id)];
    const Kernel known = place.load(std::memory_order_relaxed);
    return known ? known : look_up(primitive, op);
  }

  // capture and replay
  /// Captures are recorded above the backends and replayed as ordinary requests. A backend whose processor records
  /// itself says so: the requests of a finished capture are then run once more between begin_capture and end_capture,
  /// which executes nothing, and the Recording is what replay runs.
  virtual bool records() const { return false; }
  virtual void begin_capture() { unsupported("capture", "capture"); }
  virtual std::unique_ptr<Recording> end_capture() { unsupported("capture", "capture"); }

 protected:
  [[noreturn]] void unsupported(const char* op, const char* what) const;
  /// The families this backend belongs to, its own first: their kernels are its kernels.
  virtual std::vector<std::string_view> families() const = 0;
  /// The kernel for a primitive; null where there is none. It is asked for once.
  virtual Kernel find_kernel(const Primitive& primitive) const;

 private:
  Kernel look_up(const Primitive& primitive, const char* op);
  std::array<std::atomic<Kernel>, static_cast<std::size_t>(PrimitiveId::count)> kernels_{};
};

/// The backend of a device; throws `device`, with the reason, where it is absent.
Backend& backend_of(Device device);

}  // namespace tern::detail
