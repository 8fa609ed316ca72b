// CUDA C++ for NVRTC as a dialect.
#pragma once
#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

const Dialect& cuda_dialect();

}  // namespace tern::detail_gpu
