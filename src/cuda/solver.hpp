// Factorisations of large matrices by cuSOLVER. (Larger than other classes: a factorisation is a member, and each asks
// for its workspace, calls and looks at what failed.)
#pragma once
#include <functional>
#include <vector>

#include "cuda/api.hpp"
#include "gpu/matrix_library.hpp"

namespace tern::detail_cuda {

/// cuSOLVER on one GPU. What it needs of the GPU is given, so that a pretended one serves tests.
class SolverLibrary final : public detail_gpu::MatrixLibrary {
 public:
  /// Calls a function with the stream on which to issue work, and memory of so many bytes until that is done.
  using OnStream = std::function<void(std::size_t bytes, const std::function<void(Stream, void*)>&)>;
  /// Reads from the GPU's memory, behind what was issued.
  using Read = std::function<void(const void* from, void* to, std::size_t bytes)>;
  SolverLibrary(const SolverApi& api, OnStream on_stream, std::function<void()> wait, Read read)
      : api_(api), on_stream_(std::move(on_stream)), wait_(std::move(wait)), read_(std::move(read)) {}
  /// Whether it does on this GPU, in the CUDA context of the thread; before anything else.
  bool start();
  const char* name() const override { return "cuSOLVER"; }
  void cholesky(DType dtype, std::int64_t n, void* a, std::int32_t* info) override;
  void cholesky_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* info, std::int64_t count) override;
  void lu(DType dtype, std::int64_t m, std::int64_t n, void* a, std::int64_t* pivots, std::int32_t* info) override;
  void lu_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* pivots, std::int32_t* info,
                  std::int64_t count) override;
  void triangular(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right, const void* a,
                  void* b) override;
  void triangular_of_each(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                          const void* const* a, void* const* b, std::int64_t count) override;
  void reflections(DType dtype, std::int64_t m, std::int64_t n, void* a, void* tau, std::int32_t* info) override;
  void basis(DType dtype, std::int64_t m, std::int64_t inner, std::int64_t k, void* q, const void* tau,
             std::int32_t* info) override;
  void eigh(DType dtype, bool vectors, std::int64_t n, void* a, void* values, std::int32_t* info,
            std::int64_t count) override;
  bool eigh_at_once() const override { return api_.cusolverDnXsyevBatched != nullptr; }
  void svd(DType dtype, char job, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* vh,
           std::int32_t* info) override;
  bool svd_by_polar(DType dtype, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* v,
                    double most) override;
  void multiply(DType dtype, bool adjoint, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                void* c) override;

 private:
  /// Memory that a call asks for, of the device and here.
  struct Space {
    void* device;
    std::size_t bytes;
    void* host;
    std::size_t host_bytes;
  };
  /// sizes(bytes, host_bytes) says how much a call needs, and call(space) makes it.
  template <class Sizes, class Call> void run(const Sizes& sizes, const Call& call);
  void ready(Stream stream);
  /// The same for a call of cuBLAS.
  template <class Call> void by_blas(const char* what, const Call& call);

  const SolverApi& api_;
  OnStream on_stream_;
  std::function<void()> wait_;
  Read read_;
  Solver handle_ = nullptr;
  SolverOptions options_ = nullptr;
  TriangleSolver triangles_ = nullptr;
};

}  // namespace tern::detail_cuda
