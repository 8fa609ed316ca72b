// `fused` on the CPU: the interpreter of tapes, src/cpu/tape/fused.cpp.
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/fused.hpp"
#include "cpu/tape/tapes.hpp"
#include "primitives/fused/kernels.hpp"

namespace tern::detail_cpu {

void fused_on_cpu(detail::Backend&, const detail::FusedRequest& request) {
  run_tape(request, tape_of(request.op, *request.program), kernels());
}

}  // namespace tern::detail_cpu
