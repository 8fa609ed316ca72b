// The kernels compiled for Highway's AVX3 target.
#include <hwy/detect_targets.h>
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include "cpu/simd/target-inl.h"
