// Whether this thread hands a capture's requests to a processor that records them itself (Backend::begin_capture). Of a
// thread and not an argument: a driver records what its thread calls, whoever that is; and of all kernels only those of
// linear algebra that may wait for the device ask, three calls below the dispatcher.
#pragma once

namespace tern::detail {

/// A kernel that waits for the device cannot be recorded so: it throws `unsupported`, and the capture is replayed
/// request by request.
bool recording_natively();

/// Makes it so while it lives.
class NativeRecording {
 public:
  NativeRecording();
  ~NativeRecording();
  NativeRecording(const NativeRecording&) = delete;
  NativeRecording& operator=(const NativeRecording&) = delete;
};

}  // namespace tern::detail
