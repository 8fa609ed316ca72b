// The kernels compiled for Highway's NEON target.
#include <hwy/detect_targets.h>
#undef HWY_TARGET
#define HWY_TARGET HWY_NEON
#include "cpu/simd/target-inl.h"
