// The functions that CUDA kernels call: CUDA's own and those shared with WGSL.
#pragma once
#include <string>
#include <string_view>

namespace tern::detail_gpu {

/// The text of a function ("tern_tanh"): CUDA's own, else the WGSL library's in CUDA C++; empty where there is neither.
std::string cuda_function(std::string_view name);

}  // namespace tern::detail_gpu
