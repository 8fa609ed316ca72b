// The text of a kernel with reductions: fills the holes of reduce.wgsl.
#pragma once
#include <string>

#include "gpu/reductions/reduce_plan.hpp"

namespace tern::detail_gpu {

std::string reduce_text(const ReducePlan& plan);

}  // namespace tern::detail_gpu
