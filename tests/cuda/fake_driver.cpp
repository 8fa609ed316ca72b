// A CUDA driver for machines without a GPU (TERN_CUDA_DRIVER names it): two GPUs whose memory is the host's. Streams
// are as late as they may be: what is queued runs when somebody waits for it, and nothing else does, so that a missing
// wait shows in the results; a test may let one of them run ahead (fake_cuda_run). Kernels do nothing unless a test
// says what (fake_cuda_kernels). Faults are asked for through the environment: TERN_FAKE_CUDA_FREE (bytes of memory),
// TERN_FAKE_CUDA_PEERS=0 (the GPUs do not reach each other), TERN_FAKE_CUDA_FAULT=launch|kernel|copy|start (what fails,
// from then on with an illegal address; kernel: when it runs).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Address = unsigned long long;
constexpr int kInvalidValue = 1, kNoMemory = 2, kNoContext = 201, kInvalidHandle = 400, kNotReady = 600, kFault = 700,
              kIsolation = 905;

struct Context {
  int device;
};
struct Stream;
/// One recording of an event.
struct Mark {
  Stream* where;
  bool reached = false;
};
struct Event {
  Context* context;
  std::shared_ptr<Mark> last = {};
};
struct Work {
  std::function<void()> run;
  std::shared_ptr<Mark> awaited = {}, reached = {};  // before it, and by it
};
struct Stream {
  Context* context;
  std::deque<Work> queue = {};
  bool capturing = false;
};
struct Graph {
  std::deque<Work> work;
};
struct Block {
  std::size_t bytes;
  Context* context;
};

std::recursive_mutex lock;
Context contexts[2] = {{0}, {1}};
Stream legacy[2] = {{&contexts[0]}, {&contexts[1]}};
thread_local Context* current = nullptr;
// Never destroyed: at the end of the process there are still tensors.
auto& blocks = *new std::map<Address, Block>;
auto& pinned = *new std::map<Address, std::size_t>;
auto& streams = *new std::vector<Stream*>{&legacy[0], &legacy[1]};
auto& calls = *new std::map<std::string, long>;
std::size_t used[2] = {0, 0};
int fault = 0;
int kernel_bindings = 0;
void (*kernel_work)(const Address* pointers) = nullptr;
int token;

bool asked(const char* what) {
  const char* value = std::getenv("TERN_FAKE_CUDA_FAULT");
  return value && std::string(value) == what;
}
int result(const char* what) {
  if (asked(what)) fault = kFault;
  return fault;
}
std::size_t memory() {
  const char* value = std::getenv("TERN_FAKE_CUDA_FREE");
  return value ? std::strtoull(value, nullptr, 10) : std::size_t{1} << 32;
}
void* pointer(Address p) { return reinterpret_cast<void*>(p); }

/// The block or the pinned memory an address lies in.
template <class Map> auto containing(Map& map, Address p) {
  auto at = map.upper_bound(p);
  return at == map.begin() ? map.end() : --at;
}
const Block* block_of(Address p) {
  const auto at = containing(blocks, p);
  return at != blocks.end() && p < at->first + at->second.bytes ? &at->second : nullptr;
}
bool is_pinned(const void* p) {
  const auto address = reinterpret_cast<Address>(p);
  const auto at = containing(pinned, address);
  return at != pinned.end() && address < at->first + at->second;
}

Stream& stream_of(void* stream) {
  return stream ? *static_cast<Stream*>(stream) : legacy[current ? current->device : 0];
}
void run_first(Stream& stream) {
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  while (work.awaited && !work.awaited->reached) run_first(*work.awaited->where);
  if (work.run && !fault) work.run();
  if (work.reached) work.reached->reached = true;
}
void run_all(Stream& stream) {
  while (!stream.capturing && !stream.queue.empty()) run_first(stream);
}
int queue(void* handle, std::function<void()> work) {
  Stream& stream = stream_of(handle);
  if (!current) return kNoContext;
  if (stream.context != current) return kInvalidHandle;
  stream.queue.push_back({std::move(work), {}, {}});
  return fault;
}

}  // namespace

#define COUNTED                     \
  const std::lock_guard hold(lock); \
  ++calls[__func__];

extern "C" {
/// From now on a kernel's work is this, on copies of its first pointers.
void fake_cuda_kernels(int bindings, void (*work)(const Address* pointers)) {
  kernel_bindings = bindings, kernel_work = work;
}
long fake_cuda_calls(const char* name) { return calls[name]; }
/// Runs everything, beginning with the stream of this number: how one stream may be ahead of the others.
void fake_cuda_run(std::size_t first) {
  const std::lock_guard hold(lock);
  for (std::size_t i = 0; i < streams.size(); ++i) run_all(*streams[(first + i) % streams.size()]);
}

int cuInit(unsigned) { return asked("start") ? 999 : 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int) {
  return std::snprintf(name, static_cast<std::size_t>(length), "a GPU that is none"), 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {  // compute capability 9.0, 227 KiB for a workgroup
  return *value = attribute == 75 ? 9 : attribute == 97 ? 227 << 10 : 0, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = &contexts[device], 0; }
int cuCtxSetCurrent(void* context) { return current = static_cast<Context*>(context), 0; }
int cuCtxGetCurrent(void** context) { return *context = current, 0; }
int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  const char* value = std::getenv("TERN_FAKE_CUDA_PEERS");
  return *can = device != peer && !(value && *value == '0'), 0;
}
int cuCtxEnablePeerAccess(void* context, unsigned) { return current && context != current ? 0 : kInvalidHandle; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return *total = memory(), *free = memory() - used[current->device], 0;
}
int cuMemAlloc_v2(Address* p, std::size_t bytes) {
  COUNTED
  if (fault) return fault;
  if (!current) return kNoContext;
  if (used[current->device] + bytes > memory()) return kNoMemory;
  *p = reinterpret_cast<Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  blocks[*p] = {bytes, current}, used[current->device] += bytes;
  return 0;
}
int cuMemFree_v2(Address p) {
  COUNTED
  for (Stream* stream : streams) run_all(*stream);
  used[blocks[p].context->device] -= blocks[p].bytes;
  blocks.erase(p);
  return std::free(pointer(p)), 0;
}
int cuMemHostAlloc(void** p, std::size_t bytes, unsigned) {
  COUNTED
  *p = std::malloc(bytes);
  return pinned[reinterpret_cast<Address>(*p)] = bytes, 0;
}
int cuMemFreeHost(void* p) {
  COUNTED
  pinned.erase(reinterpret_cast<Address>(p));
  return std::free(p), 0;
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream) {
  COUNTED
  if (const int failed = result("copy")) return failed;
  const Block* block = block_of(to);
  if (!block || block->context != stream_of(stream).context) return kInvalidValue;
  // Pinned memory is read when the copy runs; so is a graph's.
  if (is_pinned(from) || stream_of(stream).capturing)
    return queue(stream, [=] { std::memcpy(pointer(to), from, bytes); });
  const auto* begin = static_cast<const char*>(from);
  return queue(stream, [to, copy = std::vector<char>(begin, begin + bytes)] {
    std::memcpy(pointer(to), copy.data(), copy.size());
  });
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
  COUNTED
  if (const int failed = result("copy")) return failed;
  const Block* block = block_of(from);
  if (!block || block->context != stream_of(stream).context) return kInvalidValue;
  const int queued = queue(stream, [=] { std::memcpy(to, pointer(from), bytes); });
  if (!queued && !is_pinned(to)) run_all(stream_of(stream));
  return queued;
}
int cuMemcpyPeerAsync(Address to, void* to_context, Address from, void* from_context, std::size_t bytes, void* stream) {
  COUNTED
  if (!block_of(to) || block_of(to)->context != to_context) return kInvalidValue;
  if (!block_of(from) || block_of(from)->context != from_context) return kInvalidValue;
  return queue(stream, [=] { std::memcpy(pointer(to), pointer(from), bytes); });
}
int cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void* stream) {
  COUNTED
  return queue(stream, [=] { std::memset(pointer(to), value, bytes); });
}
int cuPointerGetAttribute(void* value, int attribute, Address p) {
  const std::lock_guard hold(lock);
  const Block* block = block_of(p);
  const bool host = is_pinned(pointer(p));
  if (!block && !host) return kInvalidValue;
  const Address start = block ? containing(blocks, p)->first : containing(pinned, p)->first;
  const std::size_t bytes = block ? block->bytes : containing(pinned, p)->second;
  switch (attribute) {
    case 2: return *static_cast<unsigned*>(value) = block ? 2 : 1, 0;
    case 9: return *static_cast<int*>(value) = block ? block->context->device : 0, 0;
    case 11: return *static_cast<Address*>(value) = start, 0;
    case 12: return *static_cast<std::size_t*>(value) = bytes, 0;
    default: return kInvalidValue;
  }
}
int cuStreamCreate(void** stream, unsigned) {
  COUNTED
  if (!current) return kNoContext;
  streams.push_back(new Stream{current});
  return *stream = streams.back(), 0;
}
int cuStreamSynchronize(void* stream) {
  COUNTED
  run_all(stream_of(stream));
  return fault;
}
int cuStreamGetCtx(void* stream, void** context) { return *context = stream_of(stream).context, 0; }
int cuStreamWaitEvent(void* handle, void* waited, unsigned) {
  COUNTED
  Stream& stream = stream_of(handle);
  Event& event = *static_cast<Event*>(waited);
  if (stream.capturing) return kIsolation;  // tern records no event within a graph
  if (event.last) stream.queue.push_back({{}, event.last, {}});
  return fault;
}
int cuEventCreate(void** event, unsigned) {
  COUNTED
  return current ? (*event = new Event{current}, 0) : kNoContext;
}
int cuEventRecord(void* recorded, void* handle) {
  COUNTED
  Stream& stream = stream_of(handle);
  Event& event = *static_cast<Event*>(recorded);
  if (stream.capturing) return kIsolation;
  if (event.context != stream.context) return kInvalidHandle;
  event.last = std::make_shared<Mark>(Mark{&stream});
  stream.queue.push_back({{}, {}, event.last});
  return fault;
}
int cuEventSynchronize(void* awaited) {
  COUNTED
  Event& event = *static_cast<Event*>(awaited);
  while (event.last && !event.last->reached) run_first(*event.last->where);
  return fault;
}
int cuEventQuery(void* asked_for) {
  const std::lock_guard hold(lock);
  const Event& event = *static_cast<Event*>(asked_for);
  return event.last && !event.last->reached ? kNotReady : fault;
}
int cuModuleLoadDataEx(void** module, const void*, unsigned, int*, void**) {
  return *module = &token, current ? fault : kNoContext;
}
int cuModuleUnload(void*) { return 0; }
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuTensorMapEncodeTiled(void*, int, unsigned, void*, const unsigned long*, const unsigned long*, const unsigned*,
                           const unsigned*, int, int, int, int) {
  return 0;
}
int cuTensorMapEncodeIm2col(void*, int, unsigned, void*, const unsigned long*, const unsigned long*, const int*,
                            const int*, unsigned, unsigned, const unsigned*, int, int, int, int) {
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char*) { return *function = &token, fault; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                   void** parameters, void**) {
  COUNTED
  if (const int failed = result("launch")) return failed;
  std::vector<Address> pointers;
  for (int i = 0; i < kernel_bindings; ++i) pointers.push_back(*static_cast<Address*>(parameters[i]));
  return queue(stream, [pointers, work = kernel_work, faulty = asked("kernel")] {
    if (faulty) fault = kFault;
    else if (work) work(pointers.data());
  });
}
int cuStreamBeginCapture_v2(void* handle, unsigned) {
  COUNTED
  Stream& stream = stream_of(handle);
  run_all(stream);
  return stream.capturing = true, fault;
}
int cuStreamEndCapture(void* handle, void** graph) {
  COUNTED
  Stream& stream = stream_of(handle);
  stream.capturing = false;
  *graph = new Graph{std::move(stream.queue)};
  stream.queue.clear();
  return fault;
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  return *exec = new Graph(*static_cast<Graph*>(graph)), fault;
}
int cuGraphLaunch(void* exec, void* stream) {
  COUNTED
  return queue(stream, [graph = *static_cast<Graph*>(exec)] {
    for (const Work& work : graph.work) work.run();
  });
}
int cuGraphExecDestroy(void* exec) { return delete static_cast<Graph*>(exec), 0; }
int cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), 0; }
int cuGetErrorName(int error, const char** text) {
  return *text = error == kFault      ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                 : error == kNoMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
                                      : "CUDA_ERROR",
         0;
}
int cuGetErrorString(int error, const char** text) {
  return *text = error == kFault ? "an illegal memory access was encountered" : "something else", 0;
}
}
