// Recording requests instead of running them, above the backends: the door (trace.cpp) hands every request to the
// capture of its thread, where there is one.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/backend.hpp"

namespace tern::detail {

/// Requests with everything they point at: owned copies of operands, and the storages kept alive.
class CapturedCalls {
 public:
  explicit CapturedCalls(Backend& backend) : backend_(backend) {}
  Backend& backend() const { return backend_; }
  std::size_t size() const { return calls_.size(); }
  std::size_t bytes() const;
  void replay() const;

  void add(const FusedRequest& request);
  void add(std::span<const FusedRequest> requests);
  void add(const GemmRequest& request);
  void add(const ScatterRequest& request);
  void add(const ScanRequest& request);
  void add(const SortRequest& request);
  void add_upload(Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes);
  /// Memory for a new tensor: a storage of this size that was made in this capture and that the program holds no more,
  /// else a new one.
  std::shared_ptr<Storage> storage(std::size_t bytes);
  /// Where the backend has recordings of its own: makes one, which replay() then runs.
  void finish();

 private:
  /// What one request points at.
  struct Owned {
    std::string op;
    std::vector<Operand> inputs;
    std::vector<View> outputs;
    std::deque<Gather> gathers;
    std::vector<std::byte> values;
  };
  Owned& own(const char* op, std::span<const Operand> inputs, std::span<const View> outputs);
  void keep(const View& view, bool written);
  void run_all() const;

  Backend& backend_;
  std::deque<Owned> owned_;
  struct Call {
    const Owned* owned;
    std::function<void(Backend&)> run;
  };
  std::vector<Call> calls_;
  std::unordered_set<std::shared_ptr<Storage>> outside_, written_;  // made before the capture; those of them written
  std::unordered_map<std::size_t, std::vector<std::shared_ptr<Storage>>> made_;  // by size
  std::unordered_set<const Storage*> made_here_;
  std::unique_ptr<Recording> native_;
};

/// The capture running on this thread, or null.
CapturedCalls* current_capture();
/// Throws device where a request of `op` for `backend` meets the capture of another device.
void require_captured(const CapturedCalls& capture, const Backend& backend, const char* op);
/// Throws unsupported while a capture is running on this thread: its tensors have no values yet.
void require_values(const char* op);

}  // namespace tern::detail
