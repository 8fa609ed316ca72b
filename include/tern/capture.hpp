// Capture and replay: the kernel calls of a piece of program, recorded once and run again without the program.
#pragma once
#include <cstdint>
#include <memory>

#include "tern/call_ref.hpp"
#include "tern/device.hpp"

namespace tern {

namespace detail {
class CapturedCalls;
std::shared_ptr<const CapturedCalls> capture_calls(Device device, CallRef call);
}  // namespace detail

/// A recorded sequence of kernel calls on one device, with the memory they read and write. Copies are handles on the
/// same recording.
class Graph {
 public:
  Graph() = default;
  explicit Graph(std::shared_ptr<const detail::CapturedCalls> calls) : calls_(std::move(calls)) {}

  /// Runs the calls in the order in which they were recorded, on the same memory: what they read is what the tensors
  /// hold now. Gives the bits that running the program would give. Writes into tensors that existed before the capture
  /// count as writes in place. Throws what the calls throw (an index out of range, say); calls behind it do not run
  /// then. Replays of one Graph, like all writes, need the caller's ordering.
  void replay() const;
  bool defined() const { return calls_ != nullptr; }
  Device device() const;
  /// Kernel calls (and copies of values from the program) in it.
  std::int64_t size() const;
  /// Bytes of memory it holds for tensors made while it was recorded. Memory that the program let go of is used again
  /// within the recording, as it is without one.
  std::int64_t bytes() const;

 private:
  std::shared_ptr<const detail::CapturedCalls> calls_;
};

/// Runs `f` once on this thread, recording what it asks of `device` instead of executing it:
///
///   Graph step = capture(cpu(), [&] { loss = model(batch); optimizer.step(backward(loss)); });
///   for (…) batch.copy_from(next), step.replay();
///
/// Shapes and dtypes are checked as ever, tensors made in `f` have memory but no values before the first replay. What
/// belongs to the program and not to a tensor is recorded as it is now: plain numbers (a learning rate), the state of a
/// Generator, the branches taken. Reading values (`item`, `to_vector`, printing, `to(Device)`) and work for another
/// device throw `unsupported` and `device` while `f` runs.
template <class F> Graph capture(Device device, F&& f) {
  return Graph(detail::with_call_ref([&](detail::CallRef call) { return detail::capture_calls(device, call); }, f));
}

}  // namespace tern
