// Requests that are products, or are made of products: remembered by what they depend on.
#pragma once
#include "backend/instruments/tuning.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// All memory is the device's own. Of other memory the address decides more than whether there are vectors.
struct OwnMemory : detail::ViewVisitor<OwnMemory> {
  bool all = true;

  void add(const detail::View& view) { all &= !view.storage || view.storage->owned(); }
  void reads(const detail::View& view, const Shape&) { add(view); }
  void writes(const detail::View& view, const Shape&) { add(view); }
  void program(const detail::Program&, int, std::span<const detail::Operand> inputs,
               std::span<const detail::View> outputs, const Shape&) {
    for (const detail::Operand& operand : inputs) add(operand.view);
    for (const detail::View& output : outputs) add(output);
  }
};

/// Runs a request as it was run when it was met before; else `plan` queues its kernels and calls.
template <class R, class Plan> void run_prepared_products(GpuBackend& backend, const R& r, const Plan& plan) {
  OwnMemory own;
  R::views(r, own);
  // Nor is a product remembered while choices are reported or measured.
  if (!own.all || detail::Choice::watchers.load(std::memory_order_relaxed) != 0) {
    backend.require_process();
    return plan();
  }
  backend.run_prepared(r, plan, 1 + detail::Choice::changes.load(std::memory_order_acquire));
}

/// The same of a product, by `run`, once its dtypes are known to be the device's.
template <class Run> void run_supported_product(GpuBackend& backend, const detail::GemmRequest& r, const Run& run) {
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, *r.epilogue);
    backend.require_supported(r.op, r.a.dtype);
    run();
  });
}

}  // namespace tern::detail_gpu
