// wgpu-native ends the process (by a panic in Rust, which cannot cross into C) where a driver loses its device within a
// submission or a wait. POSIX lets a program that catches SIGABRT leave abort() by a jump; this does so, around those
// calls alone.
#pragma once

namespace tern::detail_webgpu {

/// Runs call(context); false where the library called abort() on this thread instead of returning. What it was called
/// for must not be touched any more then. `call` must have nothing to destroy.
bool survives_abort(void (*call)(void*), void* context);

}  // namespace tern::detail_webgpu
