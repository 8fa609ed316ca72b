// Capture and replay: the kernel calls of a piece of program, recorded once and run again without the program.
#pragma once
#include <cstdint>
#include <memory>

#include "tern/call_ref.hpp"
#include "tern/device.hpp"

namespace tern {

namespace detail {
class CapturedCalls;
std::shared_ptr<CapturedCalls> capture_calls(Device device, CallRef call);
}  // namespace detail

/// A recorded sequence of kernel calls on one device, with the memory they read and write. Copies are handles on the
/// same recording.
class Graph {
 public:
  Graph() = default;
  explicit Graph(std::shared_ptr<detail::CapturedCalls> calls) : calls_(std::move(calls)) {}

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
  std::shared_ptr<detail::CapturedCalls> calls_;
};

/// Runs `f` once on this thread, recording what it asks of `device` instead of executing it:
///
///   Graph step = capture(cpu(), [&] { loss = model(batch); optimizer.step(backward(loss)); });
///   for (…) batch.copy_from(next), step.replay();
///
/// Shapes and dtypes are checked as ever. Tensors made in `f` have memory but no values before the first replay:
/// reading one then throws `unsupported`, as does an operation outside that reads one.
///
/// A replay does what running `f` again would do, also with what belongs to the program and not to a tensor:
///   - The steps of optimisers read rates, decay and the other options anew, and count on: set_learning_rate and
///     set_options between replays take effect.
///   - Generators that live outside `f` draw from where they stand, and are advanced by each replay, whether other
///     draws come between or not: dropout has another mask each time. One that is made in `f` begins anew each time.
///     Capturing itself advances none. A recording goes on by itself where its generator is destroyed.
///
///   Generator dice{7};
///   Graph step = capture(device, [&] {
///     const Var h = where(rand(x.shape(), dice) < 0.1, 0, x) / 0.9;  // dropout
///     …
///
/// Assigning to seed or position of a generator between its draws in `f` throws `unsupported`. Everything else is
/// recorded as it is now: plain numbers of the program, the branches taken. What is to change is a tensor: the seed of
/// random_uniform in a formula, say, a 0-d tensor that the program writes between replays (copy_from), or that the step
/// itself counts on (`seed += 1`).
/// Reading values (`item`, `to_vector`, printing, `to(Device)`) and work for another device throw `unsupported` and
/// `device` while `f` runs.
template <class F> Graph capture(Device device, F&& f) {
  return Graph(detail::with_call_ref([&](detail::CallRef call) { return detail::capture_calls(device, call); }, f));
}

}  // namespace tern
