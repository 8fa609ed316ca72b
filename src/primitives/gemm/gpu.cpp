// `gemm` on GPUs: the products of src/gpu/products, and on CUDA also those of src/cuda/products.
#include "backend/instruments/tuning.hpp"
#include "cuda/products/gemm.hpp"
#include "gpu/products/gemm.hpp"
#include "primitives/gemm/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::View;

/// All memory is the device's own. Of other memory the address decides more than whether there are vectors.
struct OwnMemory : detail::ViewVisitor<OwnMemory> {
  bool all = true;

  void add(const View& view) { all &= !view.storage || view.storage->owned(); }
  void reads(const View& view, const Shape&) { add(view); }
  void program(const detail::Program&, int, std::span<const detail::Operand> inputs, std::span<const View> outputs,
               const Shape&) {
    for (const detail::Operand& operand : inputs) add(operand.view);
    for (const View& output : outputs) add(output);
  }
};

/// Runs a product as it was run when it was met before; else `run` queues its kernels and calls.
template <class Run> void run_prepared(GpuBackend& backend, const detail::GemmRequest& r, const Run& run) {
  const auto plan = [&] {
    backend.require_supported(r.op, *r.epilogue);
    backend.require_supported(r.op, r.a.dtype);
    run();
  };
  OwnMemory own;
  detail::GemmRequest::views(r, own);
  // Nor is a product remembered while choices are reported or measured.
  if (!own.all || detail::Choice::watchers.load(std::memory_order_relaxed) != 0) {
    backend.require_process();
    return plan();
  }
  backend.run_prepared(r, plan, 1 + detail::Choice::changes.load(std::memory_order_acquire));
}

}  // namespace

void gemm_on_gpu(GpuBackend& backend, const detail::GemmRequest& r) {
  run_prepared(backend, r, [&] { multiply_in_parts(backend, r, multiply_on_gpu); });
}
void gemm_on_cuda(GpuBackend& backend, const detail::GemmRequest& r) {
  run_prepared(backend, r, [&] { detail_cuda::multiply_on_cuda(backend, r); });
}

}  // namespace tern::detail_gpu
