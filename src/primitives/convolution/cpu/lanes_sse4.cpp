// The kernels of convolutions compiled for Highway's SSE4 target.
#include <hwy/detect_targets.h>
#if HWY_ARCH_X86
#undef HWY_TARGET
#define HWY_TARGET HWY_SSE4
#include "primitives/convolution/cpu/lanes-inl.h"
#endif
