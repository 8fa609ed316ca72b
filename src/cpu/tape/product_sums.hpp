// Where a tape sums products that nothing else reads, one kernel multiplies and sums short rows, and sums both factors
// if that is asked for, too (cpu/simd/row_products-inl.h): scalar products, norms, and gradients of softmax and of
// layer norm, in whatever operation. It is found by the steps themselves.
#pragma once
#include <map>

#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

/// The ops and loops of an order, with a loop of the tape's in place of each such sum's. `producer`: the op that gives
/// a value.
Order product_sums_in_place_of_ops(const Order& ops, Tape& tape, const KernelTable& table,
                                   const std::map<int, int>& producer);

}  // namespace tern::detail_cpu
