#include "cuda/solver.hpp"

#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

int factor_type(DType dtype) {
  switch (dtype) {
    case DType::f64: return kReal64;
    case DType::c64: return kComplex32;
    case DType::c128: return kComplex64;
    default: return kReal32;
  }
}
int real_factor_type(DType dtype) { return factor_type(real_dtype(dtype)); }

int operation_of(char how) { return how == 'N' ? kAsIs : how == 'T' ? kTransposed : kAdjoint; }

void check_factor(CuResult result, const char* what) { require_success("cuSOLVER", result, what); }

}  // namespace

bool SolverLibrary::start() {
  return api_.cusolverDnCreate(&handle_) == 0 && api_.cusolverDnCreateParams(&options_) == 0 &&
         api_.cublasCreate_v2(&triangles_) == 0;
}

void SolverLibrary::ready(Stream stream) { check_factor(api_.cusolverDnSetStream(handle_, stream), "a stream"); }

template <class Call> void SolverLibrary::by_blas(const char* what, const Call& call) {
  on_stream_(0, [&](Stream stream, void*) {
    check_factor(api_.cublasSetStream_v2(triangles_, stream), "a stream");
    check_factor(call(), what);
  });
}

template <class Sizes, class Call> void SolverLibrary::run(const Sizes& sizes, const Call& call) {
  std::size_t bytes = 0, host_bytes = 0;
  on_stream_(0, [&](Stream stream, void*) { ready(stream), sizes(&bytes, &host_bytes); });
  std::vector<std::byte> host(host_bytes);
  on_stream_(bytes, [&](Stream stream, void* space) {
    ready(stream);
    call(Space{space, bytes, host.data(), host_bytes});
  });
  if (host_bytes > 0) wait_();  // its own memory may be read until then
}

// By rows the lower triangle is by columns the upper one of the transpose, but of that one cuSOLVER takes 2.4 times as
// long (1024 x 1024 in f32: 860 and 351 us on an H100, 25 November 2026).
void SolverLibrary::cholesky(DType dtype, std::int64_t n, void* a, std::int32_t* info) {
  const int type = factor_type(dtype);
  run(
      [&](std::size_t* bytes, std::size_t* host) {
        check_factor(api_.cusolverDnXpotrf_bufferSize(handle_, options_, kLower, n, type, a, n, type, bytes, host),
                     "cholesky");
      },
      [&](const Space& s) {
        check_factor(api_.cusolverDnXpotrf(handle_, options_, kLower, n, type, a, n, type, s.device, s.bytes, s.host,
                                           s.host_bytes, info),
                     "cholesky");
      });
}

void SolverLibrary::lu(DType dtype, std::int64_t m, std::int64_t n, void* a, std::int64_t* pivots, std::int32_t* info) {
  const int type = factor_type(dtype);
  run(
      [&](std::size_t* bytes, std::size_t* host) {
        check_factor(api_.cusolverDnXgetrf_bufferSize(handle_, options_, m, n, type, a, m, type, bytes, host), "lu");
      },
      [&](const Space& s) {
        check_factor(api_.cusolverDnXgetrf(handle_, options_, m, n, type, a, m, pivots, type, s.device, s.bytes, s.host,
                                           s.host_bytes, info),
                     "lu");
      });
}

void SolverLibrary::cholesky_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* info, std::int64_t count) {
  const int size = static_cast<int>(n), all = static_cast<int>(count);
  const auto makes = dtype == DType::f64    ? api_.cusolverDnDpotrfBatched
                     : dtype == DType::c64  ? api_.cusolverDnCpotrfBatched
                     : dtype == DType::c128 ? api_.cusolverDnZpotrfBatched
                                            : api_.cusolverDnSpotrfBatched;
  on_stream_(0, [&](Stream stream, void*) {
    ready(stream);
    check_factor(makes(handle_, kLower, size, a, size, info, all), "cholesky");
  });
}

void SolverLibrary::lu_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* pivots, std::int32_t* info,
                               std::int64_t count) {
  const int size = static_cast<int>(n), all = static_cast<int>(count);
  const auto makes = dtype == DType::f64    ? api_.cublasDgetrfBatched
                     : dtype == DType::c64  ? api_.cublasCgetrfBatched
                     : dtype == DType::c128 ? api_.cublasZgetrfBatched
                                            : api_.cublasSgetrfBatched;
  by_blas("lu", [&] { return makes(triangles_, size, a, size, pivots, info, all); });
}

// cuSOLVER's own getrs takes 959 us for 1024 sides of 1024 rows in f32, 500 for 16; PyTorch, with triangles, 577 and
// 480 (H100, 25 November 2026).
void SolverLibrary::triangular(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                               const void* a, void* b) {
  const int size = static_cast<int>(n), width = static_cast<int>(right);
  const auto of = [&](auto makes, auto one) {
    const decltype(one) alpha[] = {1, 0};  // both of a complex type
    by_blas("solving", [&] {
      return makes(triangles_, kOnTheLeft, upper ? kUpper : kLower, operation_of(how), unit ? kOnes : 0, size, width,
                   alpha, a, size, b, size);
    });
  };
  switch (dtype) {
    case DType::f64: return of(api_.cublasDtrsm_v2, 1.0);
    case DType::c64: return of(api_.cublasCtrsm_v2, 1.0f);
    case DType::c128: return of(api_.cublasZtrsm_v2, 1.0);
    default: return of(api_.cublasStrsm_v2, 1.0f);
  }
}

void SolverLibrary::triangular_of_each(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                                       const void* const* a, void* const* b, std::int64_t count) {
  const int size = static_cast<int>(n), width = static_cast<int>(right), all = static_cast<int>(count);
  const auto of = [&](auto makes, auto one) {
    const decltype(one) alpha[] = {1, 0};
    by_blas("solving", [&] {
      return makes(triangles_, kOnTheLeft, upper ? kUpper : kLower, operation_of(how), unit ? kOnes : 0, size, width,
                   alpha, a, size, b, size, all);
    });
  };
  switch (dtype) {
    case DType::f64: return of(api_.cublasDtrsmBatched, 1.0);
    case DType::c64: return of(api_.cublasCtrsmBatched, 1.0f);
    case DType::c128: return of(api_.cublasZtrsmBatched, 1.0);
    default: return of(api_.cublasStrsmBatched, 1.0f);
  }
}

void SolverLibrary::multiply(DType dtype, bool adjoint, std::int64_t m, std::int64_t n, std::int64_t k, const void* a,
                             const void* b, void* c) {
  const double one[] = {1, 0}, zero[] = {0, 0};
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
  const auto makes = dtype == DType::c128 ? api_.cublasZgemm_v2 : api_.cublasDgemm_v2;
  if (real_dtype(dtype) != DType::f64) throw Error(ErrorKind::unsupported, "products of matrices that are not wide");
  by_blas("a product", [&] {
    return makes(triangles_, adjoint ? kAdjoint : kAsIs, kAsIs, rows, columns, inner, one, a, adjoint ? inner : rows, b,
                 inner, zero, c, rows);
  });
}

void SolverLibrary::reflections(DType dtype, std::int64_t m, std::int64_t n, void* a, void* tau, std::int32_t* info) {
  const int type = factor_type(dtype);
  run(
      [&](std::size_t* bytes, std::size_t* host) {
        check_factor(
            api_.cusolverDnXgeqrf_bufferSize(handle_, options_, m, n, type, a, m, type, tau, type, bytes, host), "qr");
      },
      [&](const Space& s) {
        check_factor(api_.cusolverDnXgeqrf(handle_, options_, m, n, type, a, m, type, tau, type, s.device, s.bytes,
                                           s.host, s.host_bytes, info),
                     "qr");
      });
}

void SolverLibrary::basis(DType dtype, std::int64_t m, std::int64_t inner, std::int64_t k, void* q, const void* tau,
                          std::int32_t* info) {
  const auto of = [&](auto asks, auto makes) {
    const int rows = static_cast<int>(m), columns = static_cast<int>(inner), count = static_cast<int>(k);
    int elements = 0;
    run(
        [&](std::size_t* bytes, std::size_t*) {
          check_factor(asks(handle_, rows, columns, count, q, rows, tau, &elements), "qr");
          *bytes = static_cast<std::size_t>(elements) * dtype_size(dtype);
        },
        [&](const Space& s) {
          check_factor(makes(handle_, rows, columns, count, q, rows, tau, s.device, elements, info), "qr");
        });
  };
  switch (dtype) {
    case DType::f64: return of(api_.cusolverDnDorgqr_bufferSize, api_.cusolverDnDorgqr);
    case DType::c64: return of(api_.cusolverDnCungqr_bufferSize, api_.cusolverDnCungqr);
    case DType::c128: return of(api_.cusolverDnZungqr_bufferSize, api_.cusolverDnZungqr);
    default: return of(api_.cusolverDnSorgqr_bufferSize, api_.cusolverDnSorgqr);
  }
}

void SolverLibrary::eigh(DType dtype, bool vectors, std::int64_t n, void* a, void* values, std::int32_t* info,
                         std::int64_t count) {
  const int type = factor_type(dtype), real = real_factor_type(dtype), job = vectors ? kWithVectors : kValuesAlone;
  if (count > 1 && eigh_at_once())
    return run(
        [&](std::size_t* bytes, std::size_t* host) {
          check_factor(api_.cusolverDnXsyevBatched_bufferSize(handle_, options_, job, kLower, n, type, a, n, real,
                                                              values, type, bytes, host, count),
                       "eigh");
        },
        [&](const Space& s) {
          check_factor(api_.cusolverDnXsyevBatched(handle_, options_, job, kLower, n, type, a, n, real, values, type,
                                                   s.device, s.bytes, s.host, s.host_bytes, info, count),
                       "eigh");
        });
  const auto size = static_cast<std::int64_t>(dtype_size(dtype)),
             real_size = static_cast<std::int64_t>(dtype_size(real_dtype(dtype)));
  for (std::int64_t l = 0; l < count; ++l) {
    void* const matrix = static_cast<std::byte*>(a) + l * n * n * size;
    void* const of_matrix = static_cast<std::byte*>(values) + l * n * real_size;
    run(
        [&](std::size_t* bytes, std::size_t* host) {
          check_factor(api_.cusolverDnXsyevd_bufferSize(handle_, options_, job, kLower, n, type, matrix, n, real,
                                                        of_matrix, type, bytes, host),
                       "eigh");
        },
        [&](const Space& s) {
          check_factor(api_.cusolverDnXsyevd(handle_, options_, job, kLower, n, type, matrix, n, real, of_matrix, type,
                                             s.device, s.bytes, s.host, s.host_bytes, info + l),
                       "eigh");
        });
  }
}

void SolverLibrary::svd(DType dtype, char job, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* vh,
                        std::int32_t* info) {
  const int type = factor_type(dtype), real = real_factor_type(dtype);
  const auto how = static_cast<signed char>(job);
  run(
      [&](std::size_t* bytes, std::size_t* host) {
        check_factor(api_.cusolverDnXgesvd_bufferSize(handle_, options_, how, how, m, n, type, a, m, real, s, type, u,
                                                      m, type, vh, n, type, bytes, host),
                     "svd");
      },
      [&](const Space& space) {
        check_factor(api_.cusolverDnXgesvd(handle_, options_, how, how, m, n, type, a, m, real, s, type, u, m, type, vh,
                                           n, type, space.device, space.bytes, space.host, space.host_bytes, info),
                     "svd");
      });
}

bool SolverLibrary::svd_by_polar(DType dtype, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* v,
                                 double most) {
  const int type = factor_type(dtype), real = real_factor_type(dtype);
  constexpr int few = 1;             // columns of u, n of them
  constexpr int job = kWithVectors;  // asked for values alone it wrote beyond a u that was not there
  double error = -1;
  CuResult result = 0;
  int info = -1;
  run(
      [&](std::size_t* bytes, std::size_t* host) {
        check_factor(api_.cusolverDnXgesvdp_bufferSize(handle_, options_, job, few, m, n, type, a, m, real, s, type, u,
                                                       m, type, v, n, type, bytes, host),
                     "svd");
        *bytes = (*bytes + 15) / 16 * 16 + 16;  // and its info behind them
      },
      [&](const Space& space) {
        const std::size_t bytes = space.bytes - 16;
        int* const told = reinterpret_cast<int*>(static_cast<std::byte*>(space.device) + bytes);
        result = api_.cusolverDnXgesvdp(handle_, options_, job, few, m, n, type, a, m, real, s, type, u, m, type, v, n,
                                        type, space.device, bytes, space.host, space.host_bytes, told, &error);
        if (result == 0) read_(told, &info, sizeof info);
      });
  return result == 0 && info == 0 && error <= most;
}

}  // namespace tern::detail_cuda
