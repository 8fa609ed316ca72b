// What compilers are told of loops of vectors.
#pragma once
#include <hwy/highway.h>

/// Before a loop over vectors in an array, which stay in registers only where it is unrolled.
#define TERN_UNROLL _Pragma("GCC unroll 64")
