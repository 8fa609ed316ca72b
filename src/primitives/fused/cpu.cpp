// `fused` on the CPU: the interpreter of tapes, src/cpu/tape/fused.cpp.
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/fused.hpp"
#include "cpu/tape/pairs.hpp"
#include "cpu/tape/tapes.hpp"
#include "cpu/tape/whole_program.hpp"
#include "primitives/fused/kernels.hpp"

namespace tern::detail_cpu {

void fused_on_cpu(detail::Backend&, const detail::FusedRequest& request) {
  run_tape(request, tape_of(request.op, *request.program), kernels());
}

}  // namespace tern::detail_cpu

const tern::detail::DirectProgram* tern::detail::direct_program(Backend& backend, const char* op,
                                                                const Program& program) {
  return backend.in_host_memory() ? detail_cpu::find_tape(op, program).whole.get() : nullptr;
}
void tern::detail::count_direct_call() { detail_cpu::count_call(); }
const tern::detail::DirectProgram* tern::detail::direct_program_of_parts(Backend& backend, const Program& program) {
  return backend.in_host_memory() && !program.reduces ? detail_cpu::pairs_program(program) : nullptr;
}
