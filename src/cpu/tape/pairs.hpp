// Complex numbers computed as they lie in memory.
#pragma once
#include "backend/direct.hpp"
#include "cpu/simd/kernel_table.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {

/// Runs the request, and says so, if it is the product (also with a conjugate) or the quotient of two complex tensors,
/// or the square or the absolute value of one, which lie in memory without gaps, or hypot of two real tensors that do.
/// (Numbers of 2^21 c64, one thread, Zen 5, in ms: products 3.2 by the tape and 0.8, absolute values 1.9 and 0.5.)
bool run_pairs(const detail::FusedRequest& request, const KernelTable& table);
/// Whether it would be such a request of real operands that follow each other without gaps.
bool is_hypot(const detail::Program& program);
/// Such a program in real numbers, of tensors of complex numbers without gaps; null where it is none of them.
const detail::DirectProgram* pairs_program(const detail::Program& program);

}  // namespace tern::detail_cpu
