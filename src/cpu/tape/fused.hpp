// `fused`: runs a tape over an iteration space.
#pragma once
#include "cpu/tape/tape.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {
void run_tape(const detail::FusedRequest& request, const Tape& tape, const KernelTable& table);
}  // namespace tern::detail_cpu
