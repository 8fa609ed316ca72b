// Elements by their rank in order.
#pragma once
#include <cstdint>
#include <span>

#include "tern/tensor.hpp"

namespace tern::detail {

/// The places (i32) of the elements at these ranks in order along the last axis, as argsort has them: [.., ranks]. Few
/// ranks of a long line on the CPU are selected, without sorting the others.
Tensor places_at_ranks(const Tensor& x, std::span<const std::int32_t> ranks);

}  // namespace tern::detail
