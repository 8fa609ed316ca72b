// A CUDA driver for machines without a GPU (TERN_CUDA_DRIVER names it): memory is the host's, copies are made, kernels do nothing. Faults are
// asked for through the environment, so that what tern makes of them can be tested: TERN_FAKE_CUDA_FREE (bytes of
// memory), TERN_FAKE_CUDA_FAULT=launch|copy|start (what fails, from then on with an illegal address).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {
std::map<void*, std::size_t> blocks;
std::size_t used = 0;
int fault = 0;

bool asked(const char* what) {
  const char* value = std::getenv("TERN_FAKE_CUDA_FAULT");
  return value && std::string(value) == what;
}
int result(const char* what) {
  if (asked(what)) fault = 700;
  return fault;
}
std::size_t memory() {
  const char* value = std::getenv("TERN_FAKE_CUDA_FREE");
  return value ? std::strtoull(value, nullptr, 10) : std::size_t{1} << 32;
}
void* pointer(unsigned long long p) { return reinterpret_cast<void*>(p); }
int token;
}  // namespace

extern "C" {
int cuInit(unsigned) { return asked("start") ? 999 : 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int) { return std::snprintf(name, static_cast<std::size_t>(length), "a GPU that is none"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) { return *value = attribute == 75 ? 9 : 0, 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &token, 0; }
int cuCtxSetCurrent(void*) { return fault; }
int cuCtxGetCurrent(void** context) { return *context = &token, 0; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { return *total = memory(), *free = memory() - used, 0; }
int cuMemAlloc_v2(unsigned long long* p, std::size_t bytes) {
  if (fault) return fault;
  if (used + bytes > memory()) return 2;
  void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  blocks[block] = bytes, used += bytes;
  return *p = reinterpret_cast<unsigned long long>(block), 0;
}
int cuMemFree_v2(unsigned long long p) {
  used -= blocks[pointer(p)];
  blocks.erase(pointer(p));
  return std::free(pointer(p)), 0;
}
int cuMemHostAlloc(void** p, std::size_t bytes, unsigned) { return *p = std::malloc(bytes), 0; }
int cuMemFreeHost(void* p) { return std::free(p), 0; }
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void*) {
  if (const int failed = result("copy")) return failed;
  return std::memcpy(pointer(to), from, bytes), 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void*) {
  if (const int failed = result("copy")) return failed;
  return std::memcpy(to, pointer(from), bytes), 0;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, void*) {
  return std::memset(pointer(to), value, bytes), fault;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = &token, 0; }
int cuStreamSynchronize(void*) { return fault; }
int cuEventCreate(void** event, unsigned) { return *event = &token, 0; }
int cuEventRecord(void*, void*) { return fault; }
int cuEventSynchronize(void*) { return fault; }
int cuModuleLoadDataEx(void** module, const void*, unsigned, int*, void**) { return *module = &token, fault; }
int cuModuleUnload(void*) { return 0; }
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuTensorMapEncodeTiled(void*, int, unsigned, void*, const unsigned long*, const unsigned long*, const unsigned*,
                           const unsigned*, int, int, int, int) {
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char*) { return *function = &token, fault; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
  return result("launch");
}
int cuStreamBeginCapture_v2(void*, unsigned) { return fault; }
int cuStreamEndCapture(void*, void** graph) { return *graph = &token, fault; }
int cuGraphInstantiateWithFlags(void** exec, void*, unsigned long long) { return *exec = &token, fault; }
int cuGraphLaunch(void*, void*) { return fault; }
int cuGraphExecDestroy(void*) { return 0; }
int cuGraphDestroy(void*) { return 0; }
int cuGetErrorName(int error, const char** text) {
  return *text = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR", 0;
}
int cuGetErrorString(int error, const char** text) {
  return *text = error == 700 ? "an illegal memory access was encountered" : "something else", 0;
}
}
