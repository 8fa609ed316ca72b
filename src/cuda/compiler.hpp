// CUDA C++ to machine code: by NVRTC, once, as results are kept on disk; or from the archive.
#pragma once
#include <string>

#include "gpu/plan/kernel.hpp"

namespace tern::detail_cuda {

/// The cubin of a kernel's text for an architecture (90: compute capability 9.0), from the disk or NVRTC, or where
/// there is no NVRTC its PTX from the archive. Throws `unsupported` where it is nowhere, and `backend` with the
/// compiler's log where the text does not compile; `doing` begins the message.
std::string compiled(const std::string& text, int architecture, const std::string& doing);

/// Only the compiler: no disk. `log` receives its warnings.
std::string compiled_anew(const std::string& text, int architecture, const std::string& doing, std::string& log);
/// The same with as little optimisation as the compiler offers, for tests that ask whether it takes a text: an eighth
/// of the time as PTX, a third if the assembler reads it too.
std::string compiled_roughly(const std::string& text, int architecture, bool assembled, const std::string& doing,
                             std::string& log);
/// PTX for the archive (KernelArchive in cuda/kernel_archive.hpp).
std::string compiled_to_ptx(const std::string& text, std::string& log);

/// Whether there is no NVRTC: kernels are those of the archive.
bool only_archived();
/// Whether the archive has the kernel.
bool is_archived(const std::string& text, detail_gpu::Layouts layouts);

/// Stands in for the archive, in the tool that makes it.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  virtual bool has(const std::string& text, detail_gpu::Layouts layouts) = 0;
  virtual std::string kernel(const std::string& text) = 0;
};
/// Has kernels come from `source`, as if there were no NVRTC; before a device is first used.
void take_kernels_from(KernelSource* source);

}  // namespace tern::detail_cuda
