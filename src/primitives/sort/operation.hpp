// What is ordered has positions of 32 bits.
#pragma once
#include <span>

#include "tern/tensor.hpp"

namespace tern::detail {

/// Throws shape where so many elements of x as are ordered together have no positions in i32.
void require_positions(const char* op, const Tensor& x, std::int64_t count);

/// The positions (i32) of the first `count` elements of x, which has one axis, in order.
Tensor first_positions(const char* op, const Tensor& x, std::int64_t count, bool descending);
/// As many ranks as a request has.
inline constexpr std::size_t kMostRanksAtOnce = 8;
/// The positions (i32) along the last axis of the elements at a few ranks in order, as argsort has them: [.., ranks].
Tensor positions_at_ranks(const char* op, const Tensor& x, std::span<const std::int32_t> ranks);

}  // namespace tern::detail
