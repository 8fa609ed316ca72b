#include "cpu/lapack/lapack.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "cpu/lapack/factorisations.hpp"
#include "tern/error.hpp"

namespace tern::detail_cpu {
namespace {

/// OpenBLAS takes processors that are newer than itself for old ones: 0.3.21 runs Zen 5 as Haswell, at half its speed.
/// It reads this variable when it is opened.
class CoreType {
 public:
  CoreType() {
#if defined(__x86_64__)
    constexpr const char* kName = "OPENBLAS_CORETYPE";
    if (std::getenv(kName) || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
      return;
    set_ = setenv(kName, "SkylakeX", 0) == 0;
#endif
  }
  ~CoreType() {
    if (set_) unsetenv("OPENBLAS_CORETYPE");
  }

 private:
  bool set_ = false;
};

}  // namespace

bool Lapack::open(const char* path, const char* name) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  if (!dlsym(library, "zgesdd_") || !dlsym(library, "dpotrf_")) return dlclose(library), false;
  library_ = library, name_ = name;
  for (const char* setter : {"openblas_set_num_threads", "MKL_Set_Num_Threads"})
    if (void* const found = dlsym(library, setter)) set_threads_ = reinterpret_cast<void (*)(int)>(found);
  return true;
}

Lapack::Lapack() {
  const CoreType told;
  if (const char* named = std::getenv("TERN_LAPACK"); named && *named) {
    if (std::string(named) == "none") return;
    if (!open(named, named))
      throw Error(ErrorKind::unsupported, "TERN_LAPACK is \"" + std::string(named) +
                                              "\", which cannot be opened as a LAPACK; unset it, or say `none`");
    return;
  }
  open("libmkl_rt.so.2", "MKL") || open("libopenblas.so.0", "OpenBLAS") ||
      open("/System/Library/Frameworks/Accelerate.framework/Accelerate", "Accelerate");
}

// Never closed: its threads may still run when the process ends.
const Lapack& Lapack::get() {
  static const Lapack* const lapack = new Lapack;
  return *lapack;
}

void* Lapack::routine(char type, const char* name) const {
  return library_ ? dlsym(library_, (std::string(1, type) + name + "_").c_str()) : nullptr;
}

void set_lapack_threads(int threads) {
  static std::atomic<int> now{0};
  if (now.exchange(threads, std::memory_order_relaxed) != threads) Lapack::get().set_threads(threads);
}

template <class T> const Factorisations<T>& factorisations(const char* op, long long n) {
  const Factorisations<T>* const embedded = eigen_factorisations<T>();
  if (embedded && n < kLapackFrom) return *embedded;
  if (const Factorisations<T>* const found = lapack_factorisations<T>()) return *found;
  if (embedded) return *embedded;
  throw Error(ErrorKind::unsupported, std::string(op) +
                                          ": no LAPACK was found, and tern was built without Eigen; install OpenBLAS "
                                          "(Debian, Ubuntu: libopenblas0-pthread), or name one in TERN_LAPACK");
}
template const Factorisations<float>& factorisations(const char*, long long);
template const Factorisations<double>& factorisations(const char*, long long);
template const Factorisations<std::complex<float>>& factorisations(const char*, long long);
template const Factorisations<std::complex<double>>& factorisations(const char*, long long);

}  // namespace tern::detail_cpu
