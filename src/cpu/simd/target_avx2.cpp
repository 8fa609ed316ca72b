// The kernels compiled for Highway's AVX2 target.
#include <hwy/detect_targets.h>
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#include "cpu/simd/target-inl.h"
