#include "cuda/api.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "process/fork.hpp"
#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

namespace fs = std::filesystem;

/// Folders of CUDA's libraries beyond those the system searches.
std::vector<fs::path> folders() {
  std::vector<fs::path> list;
  if (const char* named = std::getenv("TERN_CUDA_LIBRARIES")) {
    std::stringstream stream(named);
    for (std::string folder; std::getline(stream, folder, ':');)
      if (!folder.empty()) list.emplace_back(folder);
  }
  list.emplace_back();  // the system's
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home && *home) list.push_back(fs::path(home) / "lib64");
  list.emplace_back("/usr/local/cuda/lib64");
#ifdef TERN_CUDA_BUILT_WITH
  list.emplace_back(TERN_CUDA_BUILT_WITH);
#endif
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment) {
    std::error_code ignored;  // PyPI's wheels: lib/python3.x/site-packages/nvidia/<package>/lib
    for (const auto& python : fs::directory_iterator(fs::path(environment) / "lib", ignored))
      for (const char* package : {"cu13", "cuda_nvrtc", "cublas", "cusolver", "cufft"})
        list.push_back(python.path() / "site-packages" / "nvidia" / package / "lib");
  }
  return list;
}

template <class F> bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

struct FoundDriver {
  Driver functions;
  std::string reason;
};
const Driver* given_driver = nullptr;
FoundDriver find_driver() {
  FoundDriver found;
  if (given_driver) return {*given_driver, ""};
  const char* named = std::getenv("TERN_CUDA_DRIVER");  // another one (tests)
  const char* name = named && *named ? named : "libcuda.so.1";
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    found.reason = std::string("no NVIDIA driver was found (") + name + ")";
    return found;
  }
#define TERN_CUDA_FIND(name, parameters)                                   \
  if (!find(library, #name, found.functions.name) && found.reason.empty()) \
    found.reason = std::string("the NVIDIA driver is too old: libcuda.so.1 has no ") + #name;
  TERN_CUDA_DRIVER(TERN_CUDA_FIND)
#undef TERN_CUDA_FIND
  if (!found.reason.empty()) return found;
  int count = 0;
  if (const CuResult result = found.functions.cuInit(0); result != kSuccess)
    found.reason = "the NVIDIA driver does not start: " + error_text(found.functions, result);
  else if (found.functions.cuDeviceGetCount(&count) != kSuccess || count == 0)
    found.reason = "the NVIDIA driver shows no GPU";
  return found;
}

/// Functions of one of CUDA's libraries, or why there are none.
template <class Api> struct FoundApi {
  Api functions;
  std::string reason;
};
struct WantedLibrary {
  const char *name, *package, *variable;  // package: PyPI's; variable: what switches it off by 0, or null
  std::initializer_list<const char*> files;
};
/// find_all(library, functions, missing): looks for them, and names one that is not there.
template <class Api>
FoundApi<Api> find_library(const WantedLibrary& wanted, void (*find_all)(void*, Api&, const char*& missing)) {
  FoundApi<Api> found;
  const std::string name = wanted.name;
  if (const char* value = wanted.variable ? std::getenv(wanted.variable) : nullptr;
      value && std::string_view(value) == "0") {
    found.reason = name + " is switched off (" + wanted.variable + "=0)";
  } else if (void* const library = open_library(wanted.files)) {
    const char* missing = nullptr;
    find_all(library, found.functions, missing);
    if (missing) found.reason = name + " is too old: it has no " + missing;
  } else {
    found.reason = name + " was not found: install a CUDA toolkit (12 or 13) or, from PyPI, " + wanted.package +
                   ", and name its folder in TERN_CUDA_LIBRARIES";
  }
  return found;
}
#define TERN_CUDA_FIND(function, parameters) \
  if (!find(library, #function, api.function)) missing = #function;

FoundApi<Nvrtc> find_nvrtc() {
  FoundApi<Nvrtc> found =
      find_library<Nvrtc>({"NVRTC, CUDA's compiler,",
                           "nvidia-cuda-nvrtc",
                           "TERN_CUDA_NVRTC",
                           {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}},
                          [](void* library, Nvrtc& api, const char*& missing) { TERN_CUDA_NVRTC(TERN_CUDA_FIND) });
  if (found.reason.empty()) found.functions.nvrtcVersion(&found.functions.major, &found.functions.minor);
  return found;
}
FoundApi<BlasApi> find_blas() {
  return find_library<BlasApi>(
      {"cuBLASLt", "nvidia-cublas", nullptr, {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}},
      [](void* library, BlasApi& api, const char*& missing) { TERN_CUDA_BLAS(TERN_CUDA_FIND) });
}
FoundApi<SolverApi> find_solver() {
  return find_library<SolverApi>(
      {"cuSOLVER", "nvidia-cusolver", "TERN_CUDA_SOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"}},
      [](void* library, SolverApi& api, const char*& missing) {
        TERN_CUDA_SOLVER_LATER(TERN_CUDA_FIND)
        missing = nullptr;
        TERN_CUDA_SOLVER(TERN_CUDA_FIND)
      });
}
FoundApi<TransformApi> find_transforms() {
  return find_library<TransformApi>(
      {"cuFFT", "nvidia-cufft", "TERN_CUDA_FFT", {"libcufft.so.12", "libcufft.so.11", "libcufft.so"}},
      [](void* library, TransformApi& api, const char*& missing) { TERN_CUDA_TRANSFORMS(TERN_CUDA_FIND) });
}
#undef TERN_CUDA_FIND

}  // namespace

void* open_library(const std::initializer_list<const char*>& names) {
  for (const fs::path& folder : folders())
    for (const char* name : names) {
      const fs::path path = folder.empty() ? fs::path(name) : folder / name;
      if (!folder.empty() && !fs::exists(path)) continue;
      // NVRTC opens its built-in header by name alone: it must be there already where its folder is not searched.
      std::error_code ignored;
      if (!folder.empty() && std::string_view(name).find("nvrtc") != std::string_view::npos)
        for (const auto& entry : fs::directory_iterator(folder, ignored))
          if (entry.path().filename().string().starts_with("libnvrtc-builtins.so"))
            dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
  return nullptr;
}

std::string error_text(const Driver& driver, CuResult result) {
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return std::string(name ? name : "an unknown error") + (text ? std::string(" (") + text + ")" : "");
}

namespace {
std::atomic<void (*)()> the_end{nullptr};
/// Handlers and the destructors of static objects run in the reverse order of their registration.
void ask_for_the_end() {
  std::atexit([] {
    if (void (*const end)() = the_end.load()) end();
  });
}
template <class T> const T& at_exit_behind(const T& found) { return ask_for_the_end(), found; }
}  // namespace

void require_success(const char* library, CuResult result, const char* what) {
  if (result == kSuccess) return;
  throw Error(ErrorKind::backend, std::string(library) + ": " + what + " failed with status " + std::to_string(result));
}

void end_before_libraries(void (*end)()) {
  the_end = end;
  ask_for_the_end();
}

const Driver* driver(std::string& reason) {
  static const auto& found = *new FoundDriver(find_driver());  // outlives what is in static storage
  static const detail::OfProcess process;
  reason = found.reason;
  if (reason.empty() && !process.here()) return reason = detail::kForked, nullptr;
  return found.reason.empty() ? &found.functions : nullptr;
}

void use_driver(const Driver& functions) { given_driver = &functions; }

const BlasApi* blas(std::string& reason) {
  static const auto& found = at_exit_behind(*new FoundApi<BlasApi>(find_blas()));
  reason = found.reason;
  return found.reason.empty() ? &found.functions : nullptr;
}

const SolverApi* solver(std::string& reason) {
  static const auto& found = at_exit_behind(*new FoundApi<SolverApi>(find_solver()));
  reason = found.reason;
  return found.reason.empty() ? &found.functions : nullptr;
}

const TransformApi* transforms(std::string& reason) {
  static const auto& found = at_exit_behind(*new FoundApi<TransformApi>(find_transforms()));
  reason = found.reason;
  return found.reason.empty() ? &found.functions : nullptr;
}

const Nvrtc* nvrtc(std::string& reason) {
  static const auto& found = at_exit_behind(*new FoundApi<Nvrtc>(find_nvrtc()));
  reason = found.reason;
  return found.reason.empty() ? &found.functions : nullptr;
}

}  // namespace tern::detail_cuda
