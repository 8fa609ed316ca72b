// Elements of 8 and 16 bits computed, or made by a comparison, as they lie in memory.
#pragma once
#include "cpu/tape/tape.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {

/// Runs the request, and says so, if it is one operation on contiguous tensors of one such dtype, and numbers, that
/// needs no type of four bytes: widened, u8 + u8 took eight times a plain loop's time. Or if it is one comparison of
/// such operands, in the type they are compared in.
bool run_narrow(const detail::FusedRequest& request, const Tape& tape, const KernelTable& table);

}  // namespace tern::detail_cpu
