// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) as a formula.
#pragma once
#include <array>

#include "tern/formula.hpp"

namespace tern::detail {

/// The four words of a counter, u32 expressions that are uniform in all 32 bits: ten rounds under a key.
std::array<Expr, 4> philox(const std::array<Expr, 4>& counter, Expr key_low, Expr key_high);

}  // namespace tern::detail
