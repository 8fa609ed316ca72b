// The kernels compiled for Highway's SSE4 target.
#include <hwy/detect_targets.h>
#undef HWY_TARGET
#define HWY_TARGET HWY_SSE4
#include "cpu/simd/target-inl.h"
