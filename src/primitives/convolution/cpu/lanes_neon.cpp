// The kernels of convolutions compiled for Highway's NEON target.
#include <hwy/detect_targets.h>
#if HWY_ARCH_ARM
#undef HWY_TARGET
#define HWY_TARGET HWY_NEON
#include "primitives/convolution/cpu/lanes-inl.h"
#endif
