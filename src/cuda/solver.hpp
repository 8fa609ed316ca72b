// Factorisations of large matrices by cuSOLVER.
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
  SolverLibrary(const SolverApi& api, OnStream on_stream, std::function<void()> wait)
      : api_(api), on_stream_(std::move(on_stream)), wait_(std::move(wait)) {}
  /// Whether it does on this GPU, in the CUDA context of the thread; before anything else.
  bool start();
  const char* name() const override { return "cuSOLVER"; }
  void cholesky(DType dtype, std::int64_t n, void* a, std::int32_t* info) override;
  void lu(DType dtype, std::int64_t m, std::int64_t n, void* a, std::int64_t* pivots, std::int32_t* info) override;
  void exchange_rows(DType dtype, std::int64_t n, std::int64_t right, void* b, const std::int32_t* pivots,
                     bool back) override;
  void triangular(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right, const void* a,
                  void* b) override;
  void reflections(DType dtype, std::int64_t m, std::int64_t n, void* a, void* tau, std::int32_t* info) override;
  void basis(DType dtype, std::int64_t m, std::int64_t inner, std::int64_t k, void* q, const void* tau,
             std::int32_t* info) override;
  void eigh(DType dtype, bool vectors, std::int64_t n, void* a, void* values, std::int32_t* info) override;
  void svd(DType dtype, char job, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* vh,
           std::int32_t* info) override;

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

  const SolverApi& api_;
  OnStream on_stream_;
  std::function<void()> wait_;
  Solver handle_ = nullptr;
  SolverOptions options_ = nullptr;
  TriangleSolver triangles_ = nullptr;
};

}  // namespace tern::detail_cuda
