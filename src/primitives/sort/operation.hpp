// What is ordered has positions of 32 bits.
#pragma once
#include "tern/tensor.hpp"

namespace tern::detail {

/// Throws shape where so many elements of x as are ordered together have no positions in i32.
void require_positions(const char* op, const Tensor& x, std::int64_t count);

}  // namespace tern::detail
