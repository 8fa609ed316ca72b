// The lanes of small matrices compiled for Highway's AVX2 target.
#include <hwy/detect_targets.h>
#if HWY_ARCH_X86
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#include "primitives/linalg/cpu/lanes-inl.h"
#endif
