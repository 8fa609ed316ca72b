// One tile of a product.
#pragma once
#include "cpu/products/gemm_plan.hpp"

namespace tern::detail_cpu {

/// Computes one tile of the plan's problem and hands it over: to C, or to the epilogue.
void run_tile(const TilePlan& plan, const Area& area);

}  // namespace tern::detail_cpu
