// What requests are made of: memory, and how the elements of a tensor lie in it.
#pragma once
#include <atomic>
#include <memory>

#include "tern/dtype.hpp"
#include "tern/formula.hpp"
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

/// Elements of a storage, laid over the axes of a request's iteration space (stride 0 along broadcast axes).
struct View {
  Storage* storage = nullptr;
  DType dtype = DType::f32;
  std::int64_t offset = 0;  // in elements
  Strides strides;          // in elements, one for each axis of the iteration space
};

/// A gather: adds table[position] · step to the element position, table being i32 laid over the iteration space.
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

}  // namespace tern::detail
