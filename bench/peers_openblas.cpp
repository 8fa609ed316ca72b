// OpenBLAS, loaded at run time: it chooses its kernels while it is loaded, and 0.3.21 does not know newer processors.
#include <cblas-openblas.h>
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "peers.hpp"

namespace bench {
namespace {

/// The name of the fitting kernels; null where OpenBLAS's own choice (or the environment's) can stand.
const char* fitting_core() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

struct Functions {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&cblas_sgemv) sgemv;
  decltype(&openblas_get_config) config;
};

class OpenBlas final : public Peer {
 public:
  explicit OpenBlas(int threads) {
    if (const char* core = fitting_core()) setenv("OPENBLAS_CORETYPE", core, 1);
    void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    const auto load = [&]<class F>(F& function, const char* name) {
      function = reinterpret_cast<F>(dlsym(library, name));
      if (!function) throw std::runtime_error(dlerror());
    };
    load(f_.sgemm, "cblas_sgemm");
    load(f_.dgemm, "cblas_dgemm");
    load(f_.sgemv, "cblas_sgemv");
    load(f_.config, "openblas_get_config");
    decltype(&openblas_set_num_threads) set_threads;
    load(set_threads, "openblas_set_num_threads");
    set_threads(threads);
  }
  std::string name() const override { return "OpenBLAS"; }
  std::string version() const override {
    const char* core = std::getenv("OPENBLAS_CORETYPE");
    return std::string(f_.config()) + (core ? std::string(" OPENBLAS_CORETYPE=") + core : "");
  }

  std::optional<Contender> matmul(const MatmulCase& c, const Inputs& in) override {
    if (c.dtype != tern::f32 && c.dtype != tern::f64) return {};
    const Buffer y(c.dtype, c.batch * c.m * c.n);
    const auto run = [this, c, in, y] {
      for (std::int64_t i = 0; i < c.batch; ++i)
        if (c.dtype == tern::f32) product(f_.sgemm, c, in[0].data<float>(), in[1].data<float>(), y.data<float>(), i);
        else product(f_.dgemm, c, in[0].data<double>(), in[1].data<double>(), y.data<double>(), i);
    };
    return Contender{.library = name(), .run = run, .result = [=] { return run(), sample(y); }, .rest = kRest};
  }

 private:
  static constexpr double kRest = 0.04;  // its threads spin for 2^26 cycles

  template <class T, class Gemm>
  void product(Gemm gemm, const MatmulCase& c, const T* a, const T* b, T* y, std::int64_t batch) const {
    const auto m = static_cast<blasint>(c.m), k = static_cast<blasint>(c.k), n = static_cast<blasint>(c.n);
    if constexpr (std::is_same_v<T, float>)
      if (c.m == 1 && c.batch == 1 && !c.transposed_b)
        return f_.sgemv(CblasRowMajor, CblasTrans, k, n, 1, b, n, a, 1, 0, y, 1);
    gemm(CblasRowMajor, c.transposed_a ? CblasTrans : CblasNoTrans, c.transposed_b ? CblasTrans : CblasNoTrans, m, n, k,
         1, a + batch * c.m * c.k, c.transposed_a ? m : k, b + batch * c.k * c.n, c.transposed_b ? k : n, 0,
         y + batch * c.m * c.n, n);
  }

  Functions f_{};
};

}  // namespace

std::unique_ptr<Peer> make_openblas(int threads) { return std::make_unique<OpenBlas>(threads); }

}  // namespace bench
