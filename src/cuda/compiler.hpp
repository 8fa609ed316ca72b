// CUDA C++ to machine code, by NVRTC, once: results are kept on disk.
#pragma once
#include <string>

namespace tern::detail_cuda {

/// The cubin of a kernel's text for an architecture (90: compute capability 9.0), from the disk or NVRTC. Throws
/// `unsupported` where it is not on the disk and there is no NVRTC, and `backend` with the compiler's log where the
/// text does not compile; `doing` begins the message.
std::string compiled(const std::string& text, int architecture, const std::string& doing);

/// Only the compiler: no disk. `log` receives its warnings.
std::string compiled_anew(const std::string& text, int architecture, const std::string& doing, std::string& log);

}  // namespace tern::detail_cuda
