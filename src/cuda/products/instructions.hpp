// Texts that kernels on tensor cores have in common: those of products (mma.cpp, wgmma.cpp) and of attention
// (primitives/attention/cuda).
#pragma once

namespace tern::detail_cuda {

inline constexpr const char* kAmpereInstructions =
#include "cuda/products/ampere.cu.inc"
    ;
inline constexpr const char* kHopperInstructions =
#include "cuda/products/hopper.cu.inc"
    ;
inline constexpr const char* kQuadRows =
#include "cuda/products/quad_rows.cu.inc"
    ;

}  // namespace tern::detail_cuda
