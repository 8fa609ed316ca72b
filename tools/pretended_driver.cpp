#include "pretended_driver.hpp"

#include <cstdlib>
#include <cstring>

#include "cuda/kernel_archive.hpp"

namespace tern::tools {
namespace {

using namespace detail_cuda;

template <class F> struct Nothing;
template <class... A> struct Nothing<CuResult (*)(A...)> {
  static CuResult call(A...) { return kSuccess; }
};
/// Gives out numbers as handles and addresses.
template <class T> CuResult next(T* to) {
  static std::uintptr_t last = 0;
  return *to = reinterpret_cast<T>(last += std::uintptr_t{1} << 40), kSuccess;
}

Driver made() {
  Driver d;
#define TERN_CUDA_NOTHING(name, parameters) d.name = &Nothing<decltype(d.name)>::call;
  TERN_CUDA_DRIVER(TERN_CUDA_NOTHING)
#undef TERN_CUDA_NOTHING
  d.cuDeviceGetCount = [](int* count) -> CuResult { return *count = 2, kSuccess; };
  d.cuDeviceGetName = [](char* name, int size, DeviceHandle) -> CuResult {
    return std::strncpy(name, "a GPU that is none", static_cast<std::size_t>(size)), kSuccess;
  };
  d.cuDeviceGetAttribute = [](int* value, int attribute, DeviceHandle) -> CuResult {
    switch (attribute) {
      case kComputeMajor: return *value = kArchiveArchitecture / 10, kSuccess;
      case kComputeMinor: return *value = kArchiveArchitecture % 10, kSuccess;
      case kMostShared: return *value = 163 << 10, kSuccess;
      default: return *value = 100, kSuccess;
    }
  };
  d.cuDevicePrimaryCtxRetain = [](Context* context, DeviceHandle) -> CuResult { return next(context); };
  d.cuMemAlloc_v2 = [](DevicePointer* pointer, std::size_t) -> CuResult {
    void* address = nullptr;
    next(&address);
    return *pointer = reinterpret_cast<DevicePointer>(address), kSuccess;
  };
  d.cuMemHostAlloc = [](void** pointer, std::size_t bytes, unsigned) -> CuResult {
    return *pointer = std::calloc(bytes, 1), kSuccess;
  };
  d.cuStreamCreate = [](Stream* stream, unsigned) -> CuResult { return next(stream); };
  d.cuEventCreate = [](Event* event, unsigned) -> CuResult { return next(event); };
  d.cuModuleLoadDataEx = [](CuModule* module, const void*, unsigned, int*, void**) -> CuResult { return next(module); };
  d.cuModuleGetFunction = [](CuFunction* function, CuModule, const char*) -> CuResult { return next(function); };
  return d;
}

}  // namespace

const Driver& pretended_driver() {
  static const Driver driver = made();
  return driver;
}

}  // namespace tern::tools
