#include "cuda/compiler.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "cuda/api.hpp"
#include "cuda/kernel_archive.hpp"
#include "process/files.hpp"
#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

namespace fs = std::filesystem;

/// TERN_CACHE_DIR, else the user's cache folder; empty where there is neither.
fs::path cache_folder() {
  if (const char* folder = std::getenv("TERN_CACHE_DIR"); folder && *folder) return fs::path(folder) / "cuda";
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return fs::path(folder) / "tern" / "cuda";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "tern" / "cuda";
  return {};
}

/// What stands before the cubin in a file.
struct CubinHeader {
  char magic[8] = {'t', 'e', 'r', 'n', 'c', 'u', 'b', '1'};
  std::uint64_t text_hash = 0, size = 0, check = 0;
};

/// The file's cubin; empty where there is none, or it is damaged or for another text.
std::string read(const fs::path& file, std::uint64_t text_hash) {
  const std::optional<std::string> bytes = detail::read_file(file.string());
  CubinHeader header;
  const CubinHeader wanted;
  if (!bytes || bytes->size() < sizeof header) return "";
  std::memcpy(static_cast<void*>(&header), bytes->data(), sizeof header);
  std::string cubin = bytes->substr(sizeof header);
  if (std::memcmp(header.magic, wanted.magic, sizeof wanted.magic) != 0 || header.text_hash != text_hash ||
      cubin.size() != header.size || content_check(cubin) != header.check)
    return "";
  return cubin;
}

/// Failures are ignored: the kernel is compiled again next time.
void write(const fs::path& file, std::uint64_t text_hash, const std::string& cubin) {
  CubinHeader header;
  header.text_hash = text_hash, header.size = cubin.size(), header.check = content_check(cubin);
  try {
    detail::write_file_atomically(file.string(),
                                  std::string(reinterpret_cast<const char*>(&header), sizeof header) + cubin);
  } catch (const Error&) {
  }
}

// --fmad=false: a·b + c is rounded twice, as everywhere; fma() is written where it is meant.
constexpr const char* kOptions = " --std=c++17 --fmad=false";
std::string options_text(int architecture, const char* kind = "sm_") {
  // sm_90a: the matrix instructions of 9.0 are not part of later architectures.
  return std::string("--gpu-architecture=") + kind + std::to_string(architecture) + (architecture == 90 ? "a" : "") +
         kOptions;
}

using GetSize = CuResult (*)(NvrtcProgram, std::size_t*);
using Get = CuResult (*)(NvrtcProgram, char*);
std::string given(NvrtcProgram program, GetSize size_of, Get get) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return "";
  std::string bytes(size, '\0');
  get(program, bytes.data());
  return bytes;
}

/// What NVRTC makes of a text: a cubin, or PTX.
std::string compiled_with(const std::string& text, const std::string& options_text, bool ptx, const std::string& doing,
                          std::string& log) {
  std::string reason;
  const Nvrtc* api = nvrtc(reason);
  if (!api) throw Error(ErrorKind::unsupported, doing + ": " + reason);
  NvrtcProgram program = nullptr;
  if (api->nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
    throw Error(ErrorKind::backend, doing + ": NVRTC does not start");
  std::vector<std::string> options;
  std::istringstream list(options_text);
  for (std::string option; list >> option;) options.push_back(option);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const CuResult result = api->nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  log = given(program, api->nvrtcGetProgramLogSize, api->nvrtcGetProgramLog);
  if (!log.empty()) log.pop_back();
  std::string image;
  if (result == 0)
    image = ptx ? given(program, api->nvrtcGetPTXSize, api->nvrtcGetPTX)
                : given(program, api->nvrtcGetCUBINSize, api->nvrtcGetCUBIN);
  api->nvrtcDestroyProgram(&program);
  if (image.empty())
    throw Error(ErrorKind::backend, doing + ": NVRTC refuses the kernel's text:\n" + log + "\nThe text:\n" + text);
  return image;
}

KernelSource* listener = nullptr;

/// The kernel of the archive, where there is no NVRTC.
std::string from_archive(const std::string& text, const std::string& doing, const std::string& no_compiler) {
  std::string reason, ptx;
  const KernelArchive* archive = KernelArchive::found(reason);
  try {
    if (archive) ptx = archive->ptx(text);
  } catch (const Error& error) {
    throw Error(ErrorKind::io, doing + ": the kernel archive cannot be read: " + error.what());
  }
  if (ptx.empty())
    throw Error(ErrorKind::unsupported,
                doing + ": it is none of those built in" + (archive ? "" : ", as " + reason) + ", and " + no_compiler);
  return ptx;
}

}  // namespace

std::string compiled_anew(const std::string& text, int architecture, const std::string& doing, std::string& log) {
  return compiled_with(text, options_text(architecture), false, doing, log);
}
std::string compiled_roughly(const std::string& text, int architecture, bool assembled, const std::string& doing,
                             std::string& log) {
  std::string reason;
  const Nvrtc* const api = nvrtc(reason);
  const bool offers = api && (api->major > 12 || (api->major == 12 && api->minor >= 8));
  const std::string options = options_text(architecture, assembled ? "sm_" : "compute_");
  return compiled_with(text, options + (offers ? " --Ofast-compile=max" : ""), !assembled, doing, log);
}
std::string compiled_to_ptx(const std::string& text, std::string& log) {
  return compiled_with(text, options_text(kArchiveArchitecture, "compute_"), true, "compiling for the archive", log);
}

void take_kernels_from(KernelSource* source) { listener = source; }
bool only_archived() {
  std::string reason;
  return listener || !nvrtc(reason);
}
bool is_archived(const std::string& text, detail_gpu::Layouts layouts) {
  if (listener) return listener->has(text, layouts);
  std::string reason;
  const KernelArchive* archive = KernelArchive::found(reason);
  return archive && archive->has(text);
}

std::string compiled(const std::string& text, int architecture, const std::string& doing) {
  if (listener) return listener->kernel(text);
  const std::string whole = options_text(architecture) + "\n" + text;
  const fs::path folder = cache_folder();
  const ContentKey key = content_key(whole);
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx.cubin", static_cast<unsigned long long>(key.first),
                static_cast<unsigned long long>(key.second));
  const std::uint64_t third = content_check(whole);
  if (!folder.empty())
    if (std::string cubin = read(folder / name, third); !cubin.empty()) return cubin;
  std::string reason;
  if (!nvrtc(reason)) return from_archive(text, doing, reason);
  std::string log;
  std::string cubin = compiled_anew(text, architecture, doing, log);
  if (!folder.empty()) write(folder / name, third, cubin);
  return cubin;
}

}  // namespace tern::detail_cuda
