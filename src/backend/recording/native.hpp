// Whether this thread hands a capture's requests to a processor that records them itself (Backend::begin_capture).
#pragma once

namespace tern::detail {

/// True meanwhile. A kernel that waits for the device cannot be recorded so: it throws `unsupported`, and the capture
/// is replayed request by request.
bool& recording_natively();

}  // namespace tern::detail
