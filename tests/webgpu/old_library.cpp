// A WebGPU library of an older header: it has every function that tern asks for, but with other structures. To call any
// would crash, as these do.
#include <cstdlib>

#include "webgpu/api.hpp"

// By their names for the linker alone: their declarations are those of the header of today.
#define TERN_OLD_FUNCTION(name)                              \
  extern "C" __attribute__((visibility("default"))) void     \
  old_##name() asm("wgpu" #name);                            \
  void old_##name() { std::abort(); }
TERN_WEBGPU_FUNCTIONS(TERN_OLD_FUNCTION)
TERN_OLD_FUNCTION(DevicePoll)
