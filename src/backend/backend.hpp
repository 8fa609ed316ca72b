// The narrow waist: what a processor must be able to do, in seven verbs. Nothing above knows which backend it is on;
// no backend knows the name of an operation (`op` is for messages).
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "formula/program.hpp"
#include "tern/device.hpp"
#include "tern/error.hpp"
#include "tern/shape.hpp"

namespace tern::detail {

class Backend;

/// A block of a device's memory, owned or borrowed; shared by all views of it.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  Storage(Backend& backend, std::size_t bytes);  // owned; throws out_of_memory
  Storage(Backend& backend, void* data, std::size_t bytes, std::shared_ptr<const void> keep_alive);  // borrowed
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Backend& backend() const { return *backend_; }
  /// The CPU's pointer; on other devices the backend's handle.
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Whether its backend allocated it; borrowed memory ends where it ends, without padding.
  bool owned() const { return owned_; }
  /// Memory that the program lent for reading alone.
  bool read_only() const { return read_only_; }
  void make_read_only() { read_only_ = true; }
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether it was made by a recording that has not been replayed: there are no values in it yet.
  bool awaits_replay() const { return awaits_replay_.load(std::memory_order_relaxed); }
  void set_awaits_replay(bool waits) { awaits_replay_.store(waits, std::memory_order_relaxed); }

 private:
  Backend* backend_;
  void* data_ = nullptr;
  std::size_t bytes_;
  bool owned_;
  std::atomic<bool> awaits_replay_{false};
  bool read_only_ = false;
  std::atomic<std::uint32_t> version_{0};
  std::shared_ptr<const void> keep_alive_;
};

/// Elements of a storage, laid over the axes of a request's index space (stride 0 along broadcast axes).
struct View {
  Storage* storage = nullptr;
  DType dtype = DType::f32;
  std::int64_t offset = 0;  // in elements
  Strides strides;          // in elements, one for each axis of the index space
};

/// A gather: adds table[position] · step to the element position, table being i32 laid over the index space.
/// Negative entries count from the end of `size` where `wraps`; others outside [0, size) throw `index`, at once or when
/// the device is next waited for.
struct Gather {
  View table;
  std::int64_t step = 0, size = 0;
  bool wraps = true;
};

/// A number that a recording asks the program for at each replay. Where the backend records by itself, its place in the
/// device's memory as well.
struct LiveSlot {
  Number number;
  Storage* storage = nullptr;
  std::int64_t offset = 0;  // in elements
};

/// One input of a kernel: memory, memory through an index, or a plain number.
struct Operand {
  View view;
  Number number;
  const Gather* gather = nullptr;
  const LiveSlot* live = nullptr;  // in a recording: what the number, or the element, is at each replay
};

/// Evaluates program over the index space; reductions inside it run over the axes in `reduced` (a bit each). Full
/// outputs cover the space; reduced ones have strides 0 along reduced axes. An output may be exactly one of the
/// inputs (in place); any other overlap is the caller's error. Sizes may be 0.
struct FusedRequest {
  const char* op = "";
  const Program* program = nullptr;
  Shape space;
  std::uint32_t reduced = 0;
  std::span<const Operand> inputs;
  std::span<const View> outputs;
};

/// acc = Σ A·B over k and over the batch axes in `contracted`; outputs = epilogue(acc, operands…).
/// a is laid over batch + [m, k], b over batch + [k, n]; operands and outputs over batch + [m, n], where contracted
/// axes count as size 1. Input 0 of the epilogue is acc (inputs holds the others); f16 and bf16 operands accumulate
/// in f32 and reach the epilogue unrounded. k and contracted axes may be 0: acc is then 0.
struct GemmRequest {
  const char* op = "";
  std::int64_t m = 0, n = 0, k = 0;
  Shape batch;
  std::uint32_t contracted = 0;
  View a, b;
  const Program* epilogue = nullptr;
  std::span<const Operand> inputs;
  std::span<const View> outputs;
};

/// output[…, table(i), …] ⊕= source[…, i, …] in increasing order of i. The output is initialised by the caller.
struct ScatterRequest {
  const char* op = "";
  Leaf combine = Leaf::add;
  Shape space;  // of the source
  View source, output;
  Gather target;
};

/// Inclusive scan along an axis.
struct ScanRequest {
  const char* op = "";
  Leaf combine = Leaf::add;
  Shape space;
  int axis = 0;
  bool reverse = false;
  View input, output;
};

/// Stable sort along an axis; NaN is larger than everything. `indices` are i32; either output may have no storage.
/// Where `first` is not 0 only so many results of each line are wanted, and the outputs are as long along the axis.
struct SortRequest {
  const char* op = "";
  Shape space;
  int axis = 0;
  bool descending = false;
  View input, values, indices;
  std::int64_t first = 0;
};

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
  /// Bytes of a temporary that are better made and used up strip by strip than all at once: as many as stay in cache.
  virtual std::int64_t strip_bytes() const { return std::int64_t{4} << 20; }

  /// Runs a call that is reported; says how long its kernels took on the device, where that tells and the call is waited
  /// for: "12.3 us (gemm)".
  virtual std::string timed(const std::function<void()>& call) {
    call();
    return "";
  }

  // 1. memory
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
  // 2. pointwise with reductions
  virtual void fused(const FusedRequest& request) = 0;
  /// Requests that do not depend on each other: none touches what another writes.
  virtual void fused_all(std::span<const FusedRequest> requests) {
    for (const FusedRequest& request : requests) fused(request);
  }
  // 3. matrix product
  virtual void gemm(const GemmRequest& request) = 0;
  // 4.-6.
  virtual void scatter(const ScatterRequest& request) = 0;
  virtual void scan(const ScanRequest& request) = 0;
  virtual void sort(const SortRequest& request) = 0;
  // 7. capture and replay
  /// Captures are recorded above the backends and replayed as ordinary requests. A backend whose processor records
  /// itself says so: the requests of a finished capture are then run once more between begin_capture and end_capture,
  /// which executes nothing, and the Recording is what replay runs.
  virtual bool records() const { return false; }
  virtual void begin_capture() { unsupported("capture", "capture"); }
  virtual std::unique_ptr<Recording> end_capture() { unsupported("capture", "capture"); }

 protected:
  /// For a verb a backend does not offer.
  [[noreturn]] void unsupported(const char* op, const char* verb) const;
};

/// The backend of a device; throws `device`, with the reason, where it is absent.
Backend& backend_of(Device device);

}  // namespace tern::detail
