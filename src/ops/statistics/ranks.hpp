// Elements by their rank in order, and what must be in order.
#pragma once
#include <cstdint>
#include <span>

#include "tern/tensor.hpp"

namespace tern::detail {

/// The places (i32) of the elements at these ranks in order along the last axis, as argsort has them: [.., ranks]. Few
/// ranks of a long line on the CPU are selected, without sorting the others.
Tensor places_at_ranks(const Tensor& x, std::span<const std::int32_t> ranks);

/// Throws value where neighbours along the one axis are not in increasing order (`either`: nor in decreasing order),
/// with NaN as the largest. On GPUs, and while one records, nothing is read and nothing thrown.
void require_in_order(const char* op, const char* name, const Tensor& line, bool either);

}  // namespace tern::detail
