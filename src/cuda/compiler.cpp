#include "cuda/compiler.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "cuda/api.hpp"
#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

namespace fs = std::filesystem;

/// FNV-1a; two of them with different starts name a file, a third checks what is in it.
std::uint64_t hash(std::string_view bytes, std::uint64_t start) {
  std::uint64_t h = start;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}
constexpr std::uint64_t kStart = 0xcbf29ce484222325ull;

/// TERN_CACHE_DIR, else the user's cache folder; empty where there is neither.
fs::path cache_folder() {
  if (const char* folder = std::getenv("TERN_CACHE_DIR"); folder && *folder) return fs::path(folder) / "cuda";
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return fs::path(folder) / "tern" / "cuda";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "tern" / "cuda";
  return {};
}

/// What stands before the cubin in a file.
struct Header {
  char magic[8] = {'t', 'e', 'r', 'n', 'c', 'u', 'b', '1'};
  std::uint64_t text_hash = 0, size = 0, check = 0;
};

/// The file's cubin; empty where there is none, or it is damaged or for another text.
std::string read(const fs::path& file, std::uint64_t text_hash) {
  std::ifstream in(file, std::ios::binary);
  Header header;
  const Header wanted;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return "";
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  if (failed || std::memcmp(header.magic, wanted.magic, sizeof wanted.magic) != 0 || header.text_hash != text_hash ||
      size != sizeof header + header.size)
    return "";
  std::string cubin(header.size, '\0');
  if (!in.read(cubin.data(), static_cast<std::streamsize>(cubin.size())) || hash(cubin, kStart) != header.check)
    return "";
  return cubin;
}

/// Writes to a file of its own and renames it, so that another process sees all of it or none. Failures are ignored:
/// the kernel is compiled again next time.
void write(const fs::path& file, std::uint64_t text_hash, const std::string& cubin) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const fs::path own = file.string() + "." + std::to_string(std::random_device()());
  Header header;
  header.text_hash = text_hash, header.size = cubin.size(), header.check = hash(cubin, kStart);
  {
    std::ofstream out(own, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
    if (!out.flush()) {
      fs::remove(own, ignored);
      return;
    }
  }
  fs::rename(own, file, ignored);
  if (ignored) fs::remove(own, ignored);
}

std::string options_text(int architecture) {
  // --fmad=false: a·b + c is rounded twice, as everywhere; fma() is written where it is meant.
  // sm_90a: the matrix instructions of 9.0 are not part of later architectures.
  return "--gpu-architecture=sm_" + std::to_string(architecture) + (architecture == 90 ? "a" : "") + " --std=c++17 --fmad=false";
}

}  // namespace

std::string compiled_anew(const std::string& text, int architecture, const std::string& doing, std::string& log) {
  std::string reason;
  const Nvrtc* api = nvrtc(reason);
  if (!api) throw Error(ErrorKind::unsupported, doing + ": " + reason);
  Program program = nullptr;
  if (api->nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
    throw Error(ErrorKind::backend, doing + ": NVRTC does not start");
  std::vector<std::string> options;
  std::istringstream list(options_text(architecture));
  for (std::string option; list >> option;) options.push_back(option);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const Result result = api->nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  std::size_t size = 0;
  if (api->nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
    log.assign(size, '\0');
    api->nvrtcGetProgramLog(program, log.data());
    log.pop_back();
  }
  std::string cubin;
  if (result == 0 && api->nvrtcGetCUBINSize(program, &size) == 0) {
    cubin.assign(size, '\0');
    api->nvrtcGetCUBIN(program, cubin.data());
  }
  api->nvrtcDestroyProgram(&program);
  if (cubin.empty())
    throw Error(ErrorKind::backend, doing + ": NVRTC refuses the kernel's text:\n" + log + "\nThe text:\n" + text);
  return cubin;
}

std::string compiled(const std::string& text, int architecture, const std::string& doing) {
  const std::string whole = options_text(architecture) + "\n" + text;
  const fs::path folder = cache_folder();
  const std::uint64_t first = hash(whole, kStart), second = hash(whole, ~kStart);
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx.cubin", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second));
  const std::uint64_t third = hash(whole, kStart * 31);
  if (!folder.empty())
    if (std::string cubin = read(folder / name, third); !cubin.empty()) return cubin;
  std::string log;
  std::string cubin = compiled_anew(text, architecture, doing, log);
  if (!folder.empty()) write(folder / name, third, cubin);
  return cubin;
}

}  // namespace tern::detail_cuda
