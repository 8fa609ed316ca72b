// What is known of a step's values from how it is computed: words of random numbers are in a range, so their logarithms
// and roots need nothing done for subnormal numbers, infinities and NaN.
#pragma once
#include "formula/program.hpp"

namespace tern::detail_gpu {

/// Whether a step's values, of f32, are all 0 or of moderate size: from 2^-60 to 2^60. (A sign of 0 may be either.)
bool is_moderate(const detail::Program& program, int step);

}  // namespace tern::detail_gpu
