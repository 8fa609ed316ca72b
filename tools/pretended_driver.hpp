// A CUDA driver that does nothing, for programs that only look at which kernels the backend asks for.
#pragma once
#include "cuda/api.hpp"

namespace tern::tools {

/// Two GPUs of compute capability 8.0 without memory: addresses are given out and never touched.
const detail_cuda::Driver& pretended_driver();

}  // namespace tern::tools
