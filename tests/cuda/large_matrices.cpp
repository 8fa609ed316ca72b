// What is done with large matrices on CUDA, without a GPU: kernels that copy them run on the host, and a pretended
// library of the vendor's takes them. (Longer than other files: the pretended library serves every factorisation.)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "backend/tensor_impl.hpp"
#include "cuda/solver.hpp"
#include "host_gpu.hpp"
#include "primitives/linalg/operations/operation.hpp"

namespace tern::test {
namespace {

using namespace linalg;

/// What cuSOLVER does, done by the CPU.
class PretendedLibrary final : public detail_gpu::MatrixLibrary {
 public:
  const char* name() const override { return "pretended"; }
  void cholesky(DType dtype, std::int64_t n, void* a, std::int32_t* info) override {
    const auto f = cholesky_ex(taken(dtype, n, n, a));
    put(f.l, a), *info = f.info.item<std::int32_t>(), ++calls;
  }
  void cholesky_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* info, std::int64_t count) override {
    for (std::int64_t l = 0; l < count; ++l) cholesky(dtype, n, a[l], info + l);
    calls -= static_cast<int>(count) - 1;
  }
  void lu(DType dtype, std::int64_t m, std::int64_t n, void* a, std::int64_t* pivots, std::int32_t* info) override {
    const auto f = lu_factor_ex(taken(dtype, m, n, a));
    put(f.lu, a), *info = f.info.item<std::int32_t>(), ++calls;
    for (const std::int32_t pivot : f.pivots.to_vector<std::int32_t>()) *pivots++ = pivot + 1;
  }
  void lu_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* pivots, std::int32_t* info,
                  std::int64_t count) override {
    for (std::int64_t l = 0; l < count; ++l) {
      std::vector<std::int64_t> places(static_cast<std::size_t>(n));
      lu(dtype, n, n, a[l], places.data(), info + l);
      for (const std::int64_t place : places) *pivots++ = static_cast<std::int32_t>(place);
    }
    calls -= static_cast<int>(count) - 1;
  }
  void triangular(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right, const void* a,
                  void* b) override {
    put(detail::triangular_tensor("solve", taken(dtype, n, n, a), taken(dtype, n, right, b), upper, how, unit), b);
    ++calls;
  }
  void triangular_of_each(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                          const void* const* a, void* const* b, std::int64_t count) override {
    for (std::int64_t l = 0; l < count; ++l) triangular(dtype, upper, unit, how, n, right, a[l], b[l]);
    calls -= static_cast<int>(count) - 1;
  }
  void reflections(DType dtype, std::int64_t m, std::int64_t n, void* a, void* tau, std::int32_t* info) override {
    expect_scaled(taken(dtype, m, n, a), true);
    const auto f = qr(taken(dtype, m, n, a), true);
    put(f.r + tril(full({m, n}, 7, real_dtype(dtype)).to(dtype), -1), a), *info = 0, ++calls;
    bases_[tau] = f.q;
  }
  void basis(DType, std::int64_t, std::int64_t inner, std::int64_t, void* q, const void* tau,
             std::int32_t* info) override {
    put(bases_.at(tau).slice(-1, 0, inner), q), *info = 0, ++calls;
  }
  void eigh(DType dtype, bool vectors, std::int64_t n, void* a, void* values, std::int32_t* info,
            std::int64_t count) override {
    const std::size_t size = dtype_size(dtype), real = dtype_size(real_dtype(dtype));
    for (std::int64_t l = 0; l < count; ++l) {
      void* const matrix = static_cast<char*>(a) + static_cast<std::size_t>(l * n * n) * size;
      if (!products_.contains(matrix)) expect_scaled(taken(dtype, n, n, matrix), false);
      const auto f = linalg::eigh(taken(dtype, n, n, matrix));
      put(f.eigenvalues.unsqueeze(-1), static_cast<char*>(values) + static_cast<std::size_t>(l * n) * real);
      info[l] = 0;
      if (vectors) put(spoils && l == count - 1 ? f.eigenvectors * 1.001 : f.eigenvectors, matrix);
    }
    calls += together ? 1 : static_cast<int>(count);
  }
  bool eigh_at_once() const override { return together; }
  bool svd_by_polar(DType dtype, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* v,
                    double most) override {
    ++calls;
    EXPECT_EQ(most, static_cast<double>(n) * 0x1p-53);
    if (!polar) return std::memset(a, 0xff, static_cast<std::size_t>(m * n) * dtype_size(dtype)), false;
    const auto f = linalg::svd(taken(dtype, m, n, a), false);
    put(f.s.unsqueeze(-1), s);
    put(f.u, u), put(is_complex(dtype) ? conj(f.vh.mT()) : f.vh.mT(), v);
    return true;
  }
  void multiply(DType dtype, bool adjoint, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                void* c) override {
    const Tensor left = taken(dtype, adjoint ? k : m, adjoint ? m : k, a);
    if (adjoint) expect_scaled(left, false), products_.insert(c);
    const Tensor turned = is_complex(dtype) ? conj(left.mT()) : left.mT();
    put(matmul(adjoint ? turned : left, taken(dtype, k, n, b)), c), ++calls;
  }
  void svd(DType dtype, char job, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* vh,
           std::int32_t* info) override {
    EXPECT_GE(m, n);
    expect_scaled(taken(dtype, m, n, a), false);
    const auto f = linalg::svd(taken(dtype, m, n, a), job == 'A');
    put(f.s.unsqueeze(-1), s), *info = 0, ++calls;
    if (job != 'N') put(f.u, u), put(f.vh, vh);
  }
  int calls = 0;
  bool together = false, polar = true, spoils = false;  // spoils: the last vectors of a batch

 private:
  /// Largest parts, of each column or of all, are such that squares neither overflow nor get subnormal soon.
  static void expect_scaled(const Tensor& a, bool by_columns) {
    const double least = real_dtype(a.dtype()) == f32 ? 0x1p40 : 1;
    const Tensor parts = abs(is_complex(a.dtype()) ? max(abs(view_as_real(a)), {-1}) : a).to(f64);
    for (const double size : max(parts, by_columns ? Axes{0} : Axes{0, 1}).reshape({-1}).to_vector<double>())
      EXPECT_TRUE(size == 0 || (size >= least && size < 2 * least)) << size;
  }
  static Tensor taken(DType dtype, std::int64_t m, std::int64_t n, const void* from) {
    const Tensor columns = zeros({n, m}, {.dtype = dtype, .device = cpu()});
    std::memcpy(first_byte(columns), from, bytes_of(columns));
    return columns.mT().clone();
  }
  static void put(const Tensor& matrix, void* to) {
    const Tensor columns = matrix.mT().clone();
    std::memcpy(to, first_byte(columns), bytes_of(columns));
  }
  static char* first_byte(const Tensor& t) { return static_cast<char*>(t.impl()->storage->data()); }
  static std::size_t bytes_of(const Tensor& t) { return static_cast<std::size_t>(t.numel()) * dtype_size(t.dtype()); }
  std::map<const void*, Tensor> bases_;
  std::set<const void*> products_;
};

// ---- a pretended cuSOLVER ----

using detail_cuda::CuResult;
using detail_cuda::Solver;
using detail_cuda::SolverOptions;
using detail_cuda::Stream;
using detail_cuda::TriangleSolver;
PretendedLibrary* behind = nullptr;
constexpr std::size_t kCallBytes = 48, kHostBytes = 16;  // that every call asks for
DType to_dtype(int type) {
  return type == detail_cuda::kReal32      ? f32
         : type == detail_cuda::kReal64    ? f64
         : type == detail_cuda::kComplex32 ? c64
                                           : c128;
}
CuResult asked(std::size_t* bytes, std::size_t* host) { return *bytes = kCallBytes, *host = kHostBytes, CuResult{}; }
void expect_space(const void* space, std::size_t bytes, const void* host, std::size_t host_bytes) {
  EXPECT_TRUE(space && host && bytes == kCallBytes && host_bytes == kHostBytes);
}

#define TERN_PRETENDED_BASIS(api, function, dtype)                                                                   \
  api.function##_bufferSize = [](Solver, int m, int, int, const void*, int ld, const void*, int* elements) {         \
    EXPECT_EQ(ld, m);                                                                                                \
    return *elements = 3, CuResult{};                                                                                \
  };                                                                                                                 \
  api.function = [](Solver, int m, int n, int k, void* a, int ld, const void* tau, void*, int elements, int* info) { \
    EXPECT_TRUE(ld == m && elements == 3);                                                                           \
    return behind->basis(dtype, m, n, k, a, tau, info), CuResult{};                                                  \
  };

#define TERN_PRETENDED_TRIANGLE(api, function, dtype, Real)                                                         \
  api.function = [](TriangleSolver, int side, int triangle, int how, int diagonal, int m, int n, const void* alpha, \
                    const void* a, int ld, void* b, int ld_of_b) {                                                  \
    EXPECT_TRUE(side == detail_cuda::kOnTheLeft && ld == m && ld_of_b == m);                                        \
    EXPECT_EQ(static_cast<const Real*>(alpha)[0], 1);                                                               \
    EXPECT_TRUE(!is_complex(dtype) || static_cast<const Real*>(alpha)[1] == 0);                                     \
    const bool upper = triangle == detail_cuda::kUpper, unit = diagonal == detail_cuda::kOnes;                      \
    return behind->triangular(dtype, upper, unit, "NTC"[how], m, n, a, b), CuResult{};                              \
  };

#define TERN_PRETENDED_OF_EACH(api, type, dtype, Real)                                                             \
  api.cusolverDn##type##potrfBatched = [](Solver, int triangle, int n, void** a, int ld, int* info, int count) {   \
    EXPECT_TRUE(triangle == detail_cuda::kLower && ld == n);                                                       \
    return behind->cholesky_of_each(dtype, n, a, info, count), CuResult{};                                         \
  };                                                                                                               \
  api.cublas##type##getrfBatched = [](TriangleSolver, int n, void* const* a, int ld, int* pivots, int* info,       \
                                      int count) {                                                                 \
    EXPECT_EQ(ld, n);                                                                                              \
    return behind->lu_of_each(dtype, n, const_cast<void**>(a), pivots, info, count), CuResult{};                   \
  };                                                                                                               \
  api.cublas##type##trsmBatched = [](TriangleSolver, int side, int triangle, int how, int diagonal, int m, int n,  \
                                     const void* alpha, const void* const* a, int ld, void* const* b, int ld_of_b, \
                                     int count) {                                                                  \
    EXPECT_TRUE(side == detail_cuda::kOnTheLeft && ld == m && ld_of_b == m);                                       \
    EXPECT_EQ(static_cast<const Real*>(alpha)[0], 1);                                                              \
    const bool upper = triangle == detail_cuda::kUpper, unit = diagonal == detail_cuda::kOnes;                     \
    return behind->triangular_of_each(dtype, upper, unit, "NTC"[how], m, n, a, b, count), CuResult{};              \
  };

template <DType dtype>
CuResult pretended_product(TriangleSolver, int of_a, int of_b, int m, int n, int k, const void* alpha, const void* a,
                           int ld, const void* b, int ld_of_b, const void* beta, void* c, int ld_of_c) {
  const bool adjoint = of_a == detail_cuda::kAdjoint;
  EXPECT_TRUE((adjoint || of_a == detail_cuda::kAsIs) && of_b == detail_cuda::kAsIs);
  EXPECT_TRUE(ld == (adjoint ? k : m) && ld_of_b == k && ld_of_c == m);
  EXPECT_TRUE(*static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0);
  return behind->multiply(dtype, adjoint, m, n, k, a, b, c), CuResult{};
}

/// (Longer than other functions: a table, an entry after the other.)
detail_cuda::SolverApi pretended_solver() {
  using std::int64_t;
  using std::size_t;
  detail_cuda::SolverApi api;
  api.cusolverDnCreate = [](Solver* h) { return *h = reinterpret_cast<Solver>(&behind), CuResult{}; };
  api.cusolverDnCreateParams = [](SolverOptions* o) {
    return *o = reinterpret_cast<SolverOptions>(&behind), CuResult{};
  };
  api.cusolverDnSetStream = [](Solver, Stream) { return CuResult{}; };
  api.cusolverDnXpotrf_bufferSize = [](Solver, SolverOptions, int, int64_t, int, const void*, int64_t, int,
                                       size_t* bytes, size_t* host) { return asked(bytes, host); };
  api.cusolverDnXpotrf = [](Solver, SolverOptions, int triangle, int64_t n, int type, void* a, int64_t ld, int compute,
                            void* space, size_t bytes, void* host, size_t host_bytes, int* info) {
    EXPECT_TRUE(triangle == detail_cuda::kLower && ld == n && compute == type);
    expect_space(space, bytes, host, host_bytes);
    return behind->cholesky(to_dtype(type), n, a, info), CuResult{};
  };
  api.cusolverDnXgetrf_bufferSize = [](Solver, SolverOptions, int64_t, int64_t, int, const void*, int64_t, int,
                                       size_t* bytes, size_t* host) { return asked(bytes, host); };
  api.cusolverDnXgetrf = [](Solver, SolverOptions, int64_t m, int64_t n, int type, void* a, int64_t ld, int64_t* pivots,
                            int compute, void* space, size_t bytes, void* host, size_t host_bytes, int* info) {
    EXPECT_TRUE(ld == m && compute == type), expect_space(space, bytes, host, host_bytes);
    return behind->lu(to_dtype(type), m, n, a, pivots, info), CuResult{};
  };
  api.cusolverDnXgeqrf_bufferSize = [](Solver, SolverOptions, int64_t, int64_t, int, const void*, int64_t, int,
                                       const void*, int, size_t* bytes, size_t* host) { return asked(bytes, host); };
  api.cusolverDnXgeqrf = [](Solver, SolverOptions, int64_t m, int64_t n, int type, void* a, int64_t ld, int type_of_tau,
                            void* tau, int compute, void* space, size_t bytes, void* host, size_t host_bytes,
                            int* info) {
    EXPECT_TRUE(ld == m && type_of_tau == type && compute == type), expect_space(space, bytes, host, host_bytes);
    return behind->reflections(to_dtype(type), m, n, a, tau, info), CuResult{};
  };
  api.cusolverDnXsyevd_bufferSize = [](Solver, SolverOptions, int, int, int64_t, int, const void*, int64_t, int,
                                       const void*, int, size_t* bytes, size_t* host) { return asked(bytes, host); };
  api.cusolverDnXsyevd = [](Solver, SolverOptions, int vectors, int triangle, int64_t n, int type, void* a, int64_t ld,
                            int type_of_values, void* values, int compute, void* space, size_t bytes, void* host,
                            size_t host_bytes, int* info) {
    EXPECT_TRUE(triangle == detail_cuda::kLower && ld == n && compute == type);
    EXPECT_EQ(to_dtype(type_of_values), real_dtype(to_dtype(type))), expect_space(space, bytes, host, host_bytes);
    return behind->eigh(to_dtype(type), vectors == detail_cuda::kWithVectors, n, a, values, info, 1), CuResult{};
  };
  api.cusolverDnXgesvdp_bufferSize = [](Solver, SolverOptions, int, int, int64_t, int64_t, int, const void*, int64_t,
                                        int, const void*, int, const void*, int64_t, int, const void*, int64_t, int,
                                        size_t* bytes, size_t* host) { return asked(bytes, host); };
  api.cusolverDnXgesvdp = [](Solver, SolverOptions, int vectors, int few, int64_t m, int64_t n, int type, void* a,
                             int64_t ld, int type_of_s, void* s, int type_of_u, void* u, int64_t ld_of_u, int type_of_v,
                             void* v, int64_t ld_of_v, int compute, void* space, size_t bytes, void* host,
                             size_t host_bytes, int* info, double* error) {
    EXPECT_TRUE(few == 1 && ld == m && ld_of_u == m && ld_of_v == n);
    EXPECT_TRUE(type_of_u == type && type_of_v == type && compute == type);
    EXPECT_EQ(to_dtype(type_of_s), real_dtype(to_dtype(type))), expect_space(space, bytes, host, host_bytes);
    EXPECT_TRUE(reinterpret_cast<char*>(info) >= static_cast<char*>(space) + bytes);
    const double most = static_cast<double>(n) * 0x1p-53;
    EXPECT_EQ(vectors, detail_cuda::kWithVectors);
    *error = behind->svd_by_polar(to_dtype(type), m, n, a, s, u, v, most) ? most : 2 * most, *info = 0;
    return CuResult{};
  };
  api.cusolverDnXgesvd_bufferSize = [](Solver, SolverOptions, signed char, signed char, int64_t, int64_t, int,
                                       const void*, int64_t, int, const void*, int, const void*, int64_t, int,
                                       const void*, int64_t, int, size_t* bytes,
                                       size_t* host) { return asked(bytes, host); };
  api.cusolverDnXgesvd = [](Solver, SolverOptions, signed char of_u, signed char of_vh, int64_t m, int64_t n, int type,
                            void* a, int64_t ld, int type_of_s, void* s, int type_of_u, void* u, int64_t ld_of_u,
                            int type_of_vh, void* vh, int64_t ld_of_vh, int compute, void* space, size_t bytes,
                            void* host, size_t host_bytes, int* info) {
    EXPECT_TRUE(of_u == of_vh && ld == m && ld_of_u == m && ld_of_vh == n);
    EXPECT_TRUE(type_of_u == type && type_of_vh == type && compute == type);
    EXPECT_EQ(to_dtype(type_of_s), real_dtype(to_dtype(type))), expect_space(space, bytes, host, host_bytes);
    return behind->svd(to_dtype(type), static_cast<char>(of_u), m, n, a, s, u, vh, info), CuResult{};
  };
  api.cublasCreate_v2 = [](TriangleSolver* h) { return *h = reinterpret_cast<TriangleSolver>(&behind), CuResult{}; };
  api.cublasSetStream_v2 = [](TriangleSolver, Stream) { return CuResult{}; };
  api.cublasDgemm_v2 = &pretended_product<f64>, api.cublasZgemm_v2 = &pretended_product<c128>;
  TERN_PRETENDED_OF_EACH(api, S, f32, float)
  TERN_PRETENDED_OF_EACH(api, D, f64, double)
  TERN_PRETENDED_OF_EACH(api, C, c64, float)
  TERN_PRETENDED_OF_EACH(api, Z, c128, double)
  TERN_PRETENDED_TRIANGLE(api, cublasStrsm_v2, f32, float)
  TERN_PRETENDED_TRIANGLE(api, cublasDtrsm_v2, f64, double)
  TERN_PRETENDED_TRIANGLE(api, cublasCtrsm_v2, c64, float)
  TERN_PRETENDED_TRIANGLE(api, cublasZtrsm_v2, c128, double)
  TERN_PRETENDED_BASIS(api, cusolverDnSorgqr, f32)
  TERN_PRETENDED_BASIS(api, cusolverDnDorgqr, f64)
  TERN_PRETENDED_BASIS(api, cusolverDnCungqr, c64)
  TERN_PRETENDED_BASIS(api, cusolverDnZungqr, c128)
  return api;
}

/// What came with CUDA 12.6.
void late_solver(detail_cuda::SolverApi& api) {
  using std::int64_t;
  using std::size_t;
  api.cusolverDnXsyevBatched_bufferSize = [](Solver, SolverOptions, int, int, int64_t, int, const void*, int64_t, int,
                                             const void*, int, size_t* bytes, size_t* host,
                                             int64_t) { return asked(bytes, host); };
  api.cusolverDnXsyevBatched = [](Solver, SolverOptions, int vectors, int triangle, int64_t n, int type, void* a,
                                  int64_t ld, int type_of_values, void* values, int compute, void* space, size_t bytes,
                                  void* host, size_t host_bytes, int* info, int64_t count) {
    EXPECT_TRUE(triangle == detail_cuda::kLower && ld == n && compute == type);
    EXPECT_EQ(to_dtype(type_of_values), real_dtype(to_dtype(type))), expect_space(space, bytes, host, host_bytes);
    return behind->eigh(to_dtype(type), vectors == detail_cuda::kWithVectors, n, a, values, info, count), CuResult{};
  };
}

class LargeMatricesOnHost : public testing::Test {
 protected:
  LargeMatricesOnHost() {
    EXPECT_TRUE(solver_.start());
    gpu_.library = &solver_, behind = &library_;
  }
  static Tensor numbers(std::int64_t m, std::int64_t n, DType dtype) {
    const auto real_numbers = [&](double from) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < 2 * m * n; ++i)
        values.push_back(std::sin(from + 1.3 * static_cast<double>(i * i % 977)));
      return tensor(values, {2, m, n}, cpu()).to(real_dtype(dtype));
    };
    return is_complex(dtype) ? make_complex(real_numbers(1), real_numbers(2)) : real_numbers(1);
  }
  /// f there and here, relative to the largest number, with as many calls of the library.
  void expect(const char* what, int calls, const std::function<Tensor(const Tensors&)>& f, const Tensors& x) {
    SCOPED_TRACE(what);
    Tensors there;
    for (const Tensor& t : x) there.push_back(gpu_.from(t));
    library_.calls = 0;
    const Tensor got = HostGpu::to_cpu(f(there)), want = f(x);
    EXPECT_EQ(library_.calls, calls) << what;
    const double size = max(abs(want)).item<double>(), eps = real_dtype(got.dtype()) == f32 ? 1e-4 : 1e-11;
    EXPECT_LE(max(abs(got - want)).item<double>(), eps * size) << what;
  }
  void expect_all(DType dtype) {
    const std::int64_t n = 34;
    const Tensor a = numbers(n, n, dtype), b = numbers(n, 3, dtype);
    const Tensor one = eye(n, real_dtype(dtype)).to(dtype), regular = a + one * 9;
    const auto adjoint = [](const Tensor& t) { return is_complex(t.dtype()) ? conj(t.mT()) : t.mT(); };
    const Tensor hermitian = (a + adjoint(a)).clone(), definite = (matmul(a, adjoint(a)) + one).clone();
    const bool wide = real_dtype(dtype) == f64;
    const int pair = library_.together ? 1 : 2;  // of eigh
    // Of real ones batches go by blocks (tests/cuda/matrices_by_blocks.cpp).
    const auto for_library = [&](const Tensor& t) { return is_complex(dtype) ? t : t.slice(0, 0, 1).clone(); };
    expect("cholesky", 1, [](const Tensors& x) { return cholesky(x[0]); }, {for_library(definite)});
    expect("lu", 1, [](const Tensors& x) { return lu_factor(x[0]).lu; }, {a});
    expect("pivots", 1, [](const Tensors& x) { return lu_factor(x[0]).pivots.to(f32); }, {a});
    const auto f = lu_factor(regular);
    for (const bool back : {false, true})
      for (const bool places : {false, true}) {
        if (!is_complex(dtype)) continue;  // the same kernels, twice
        expect("factors", places ? 0 : 2,
               [&](const Tensors& x) { return detail::lu_solve_tensor("solve", x[0], x[1], x[2], back, places); },
               {f.lu.contiguous(), f.pivots, b});
      }
    for (const bool upper : {false, true}) {
      const Tensor t = upper ? (regular / 9).clone() : regular;
      for (const char how : {'N', 'T', 'C'})
        if (is_complex(dtype) || how == 'N')
          expect("a triangle", 1,
                 [&](const Tensors& x) { return detail::triangular_tensor("solve", x[0], x[1], upper, how, upper); },
                 {for_library(t), for_library(b)});
    }
    expect("eigenvalues", pair, [](const Tensors& x) { return eigvalsh(x[0]); }, {hermitian});
    expect("eigh", pair, [](const Tensors& x) { return linalg::eigh(x[0]).eigenvectors; }, {hermitian});
    for (const Shape& shape : {Shape{2, 36, 34}, Shape{2, 34, 36}}) {
      const Tensor c = numbers(shape[1], shape[2], dtype);
      expect("lu of no square", 2, [](const Tensors& x) { return lu_factor(x[0]).lu; }, {c});
      const int by_gesvd = library_.polar ? 2 : 3;  // the first matrix is tried
      expect("svdvals", wide ? by_gesvd : 2 + pair, [](const Tensors& x) { return svdvals(x[0]); }, {c});
      for (const bool all : {false, true}) {
        expect("q or r", is_complex(dtype) ? 4 : 2,
               [&](const Tensors& x) { return all ? qr(x[0], true).q : qr(x[0]).r; }, {for_library(c)});
        expect("u·s·vh", all ? 2 : by_gesvd,
               [&](const Tensors& x) {
                 const auto s = linalg::svd(x[0], all);
                 const Tensor u = HostGpu::to_cpu(s.u).slice(-1, 0, 34), vh = HostGpu::to_cpu(s.vh).slice(-2, 0, 34);
                 return matmul(u * HostGpu::to_cpu(s.s).unsqueeze(-2), vh);
               },
               {c});
      }
    }
  }
  HostGpu gpu_{false};
  PretendedLibrary library_;
  detail_cuda::SolverApi api_ = pretended_solver();
  detail_cuda::SolverLibrary solver_{
      api_,
      [](std::size_t bytes, const auto& work) {
        std::vector<std::byte> space(bytes + 1);
        work(nullptr, space.data());
      },
      [] {}, [](const void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); }};
};

TEST_F(LargeMatricesOnHost, OfRealNumbers) { expect_all(f32); }
TEST_F(LargeMatricesOnHost, OfComplexNumbers) { expect_all(c128), expect_all(c64); }
TEST_F(LargeMatricesOnHost, OfBatchesAtOnce) {
  library_.together = true, late_solver(api_), expect_all(f64);
  const Tensor a = numbers(34, 34, f32), one = eye(34, f32);
  Tensors many;
  for (int i = 0; i < 8; ++i) many.push_back(a * (i + 1) + one * 9);
  const Tensor all = stack(many, 0).reshape({16, 34, 34});
  expect("lu", 1, [](const Tensors& x) { return lu_factor(x[0]).lu; }, {all});
  expect("pivots", 1, [](const Tensors& x) { return lu_factor(x[0]).pivots.to(f32); }, {all});
  expect("solve", 1, [](const Tensors& x) { return solve(x[0], x[1]); }, {all, all.slice(-1, 0, 20).clone()});
  const Tensor doubles_of_all = all.to(f64);
  expect("solve in f64", 3, [](const Tensors& x) { return solve(x[0], x[1]); },
         {doubles_of_all, doubles_of_all.slice(-1, 0, 20).clone()});
  // As many that the CPU would be asked if it were a call for each.
  const Tensor definite = matmul(all, all.mT()) + one, few = definite.broadcast_to({3, 16, 34, 34});
  expect("cholesky", 1, [](const Tensors& x) { return cholesky(x[0]); }, {few.to(c64)});
  expect("eigenvalues", 1, [](const Tensors& x) { return eigvalsh(x[0]); }, {few.clone()});
}
TEST_F(LargeMatricesOnHost, OfNearlySingularMatrices) { library_.polar = false, expect_all(f64); }

/// Singular values of f32 are as exact as f64 makes them, and vectors perpendicular, where they are 0, too.
TEST_F(LargeMatricesOnHost, OfAnyRank) {
  for (const std::int64_t rank : {0, 1, 5, 40}) {
    const Tensor a = matmul(numbers(44, rank, f32), numbers(rank, 40, f32)), there = gpu_.from(a);
    const auto f = linalg::svd(there, false);
    const Tensor u = HostGpu::to_cpu(f.u), s = HostGpu::to_cpu(f.s), vh = HostGpu::to_cpu(f.vh);
    const double size = max(linalg::svdvals(a.to(f64))).item<double>();
    EXPECT_LE(max(abs(matmul(u * s.unsqueeze(-2), vh) - a)).item<double>(), 1e-6 * size) << rank;
    EXPECT_LE(max(abs(s.to(f64) - linalg::svdvals(a.to(f64)))).item<double>(), 1e-7 * size) << rank;
    EXPECT_LE(max(abs(matmul(u.mT(), u) - eye(40, f32))).item<double>(), 1e-5) << rank;
    EXPECT_LE(max(abs(matmul(vh, vh.mT()) - eye(40, f32))).item<double>(), 1e-5) << rank;
  }
}

/// Of matrices that are powers of two of others, vectors are the same bits, and values those powers.
TEST_F(LargeMatricesOnHost, MayBeAsLargeOrSmallAsThereAreNumbers) {
  const std::int64_t n = 34;
  const auto here = [](const Tensor& x) { return HostGpu::to_cpu(x); };
  const auto same = [](const char* what, const Tensor& got, const Tensor& want) {
    const bool complex = is_complex(want.dtype());
    EXPECT_TRUE(all((complex ? view_as_real(got) : got) == (complex ? view_as_real(want) : want)).item<bool>()) << what;
  };
  const std::pair<DType, int> all_of[] = {{f32, -106}, {f32, -130},  {f32, -149},  {f32, 116}, {c64, -130},
                                          {c64, 114},  {f64, -1003}, {f64, -1074}, {f64, 1000}};
  for (const auto& [dtype, exponent] : all_of) {
    SCOPED_TRACE(std::string(to_string(dtype)) + " 2^" + std::to_string(exponent));
    const auto scaled = [&, exponent = exponent](const Tensor& x) {
      const bool complex = is_complex(x.dtype());
      const Tensor wide = (complex ? view_as_real(x) : x).to(f64) * std::ldexp(1., exponent);
      const Tensor narrow = wide.to(real_dtype(x.dtype()));
      return complex ? view_as_complex(narrow) : narrow;
    };
    const auto whole = [](const Tensor& x) {
      return is_complex(x.dtype()) ? view_as_complex(round(view_as_real(x) * 64)) : round(x * 64);
    };
    const Tensor a = whole(numbers(n, n, dtype)), b = scaled(a);
    const auto e = linalg::eigh(gpu_.from(a)), f = linalg::eigh(gpu_.from(b));
    same("eigenvectors", here(f.eigenvectors), here(e.eigenvectors));
    same("eigenvalues", here(f.eigenvalues), scaled(here(e.eigenvalues)));
    const auto s = linalg::svd(gpu_.from(a)), t = linalg::svd(gpu_.from(b));
    same("u", here(t.u), here(s.u)), same("vh", here(t.vh), here(s.vh)), same("s", here(t.s), scaled(here(s.s)));
    const Tensor odd = (arange(0, n) % 2).to(real_dtype(dtype)) == 1;
    const auto q = qr(gpu_.from(a)), r = qr(gpu_.from(where(odd, a, b)));  // some columns are scaled
    same("q", here(r.q), here(q.q)), same("r", here(r.r), where(odd, here(q.r), scaled(here(q.r))));
  }
}

/// As cuSOLVER's are of some graded matrices: all of the batch are computed again.
TEST_F(LargeMatricesOnHost, VectorsThatAreNotOrthonormalAreTheCpus) {
  library_.spoils = true;
  for (const DType dtype : {f32, f64, c64, c128}) {
    const Tensor b = numbers(40, 40, dtype), a = b + (is_complex(dtype) ? conj(b.mT()) : b.mT());
    const auto bits = [](const Tensor& x) { return is_complex(x.dtype()) ? view_as_real(x) : x; };
    const Tensor v = HostGpu::to_cpu(linalg::eigh(gpu_.from(a)).eigenvectors);
    EXPECT_TRUE(all(bits(v) == bits(linalg::eigh(a).eigenvectors)).item<bool>()) << to_string(dtype);
  }
}

TEST_F(LargeMatricesOnHost, TellWhatFailed) {
  Tensor a = numbers(40, 40, f32) + eye(40, f32) * 9;
  assign(a[1].slice(0, 3, 4), 0);
  const auto info = [](const Tensor& t) { return HostGpu::to_cpu(t).to_vector<std::int32_t>(); };
  const std::vector<std::int32_t> singular = info(lu_factor_ex(gpu_.from(a)).info);
  EXPECT_EQ(singular[0], 0);
  EXPECT_GT(singular[1], 0);
  assign(a[0].slice(0, 3, 4), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(info(lu_factor_ex(gpu_.from(a)).info)[0], -1);
  EXPECT_EQ(info(cholesky_ex(gpu_.from(a)).info)[0], -1);
  const auto message = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([&] { linalg::eigh(gpu_.from(a)); }),
            "eigh: matrix 0 of the batch has elements that are not finite");
  Tensor late = eye(70, f32) * -1;
  assign(late.slice(0, 0, 66), eye(70, f32).slice(0, 0, 66));
  EXPECT_EQ(message([&] { cholesky(gpu_.from(late)); }),
            "cholesky: the matrix is not positive definite: its leading minor of order 67 is not positive");
}

}  // namespace
}  // namespace tern::test

#endif
