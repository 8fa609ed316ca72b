// What compilers are told of loops of vectors.
#pragma once
#include <hwy/highway.h>

/// Before a loop over vectors in an array, which stay in registers only where it is unrolled.
#define TERN_UNROLL _Pragma("GCC unroll 64")
/// Behind the parameters of a lambda that is called in two places, as HWY_ATTR: else it would be called, and load its
/// constants, each time. (Rows of 9 f32 without their means, Zen 3: 690 ns for 1024 elements, so 420.)
#define TERN_INLINED_TWICE HWY_ATTR __attribute__((always_inline))
