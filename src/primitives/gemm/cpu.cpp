// `gemm` on the CPU: the products of src/cpu/products.
#include "cpu/simd/dispatch.hpp"
#include "cpu/products/gemm_run.hpp"
#include "cpu/tape/tapes.hpp"
#include "cpu/threads_noted.hpp"
#include "primitives/gemm/kernels.hpp"

namespace tern::detail_cpu {

void gemm_on_cpu(detail::Backend&, const detail::GemmRequest& request) {
  const Tape& epilogue = tape_of(request.op, *request.epilogue);
  with_threads_noted([&] { multiply_on_cpu(request, epilogue, kernels()); });
}

}  // namespace tern::detail_cpu
