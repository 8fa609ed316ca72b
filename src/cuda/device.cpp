#include "cuda/device.hpp"

#include <algorithm>
#include <chrono>

#include "cuda/compiler.hpp"
#include "gpu/text/show_kernel.hpp"
#include "gpu/plan/horizontal.hpp"
#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

/// Copies up to here go straight through the stream of kernels: the driver keeps a copy of what is uploaded.
constexpr std::size_t kSmallCopy = 64 << 10;

/// The block the calling thread was given last, as long as it has issued nothing since: a copy to it needs to wait for
/// no more than what the block was used for before. (Not an argument: between the two stands the code that asked for
/// both.)
struct Fresh {
  const CudaDevice* gpu;
  DeviceMemory::MemoryBlock block;
};
constinit thread_local Fresh fresh{nullptr, {}};

}  // namespace

std::vector<std::string> gpu_names(const Driver& driver) {
  int count = 0;
  if (driver.cuDeviceGetCount(&count) != kSuccess) return {};
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    DeviceHandle device = 0;
    char name[256] = "an NVIDIA GPU";
    if (driver.cuDeviceGet(&device, i) == kSuccess) driver.cuDeviceGetName(name, sizeof name, device);
    names.push_back(name);
  }
  return names;
}

CudaDevice::CudaDevice(const Driver& driver, int ordinal, std::string name)
    : driver_(driver),
      context_(driver, ordinal, std::move(name)),
      streams_(context_),
      memory_(context_, streams_),
      up_(context_),
      down_(context_),
      architecture_(10 * context_.attribute(kComputeMajor) + context_.attribute(kComputeMinor)),
      processors_(context_.attribute(kProcessorCount)),
      shared_bytes_(context_.attribute(kMostShared)) {}

Stream CudaDevice::stream() {
  fresh = {};
  return streams_.next();
}

// ---- memory ----
DevicePointer CudaDevice::allocate(std::size_t bytes) {
  fresh = {this, memory_.allocate(bytes)};
  return fresh.block.pointer;
}

void CudaDevice::deallocate(DevicePointer pointer, std::size_t bytes) noexcept {
  if (fresh.gpu == this && fresh.block.pointer == pointer) fresh = {};
  memory_.deallocate(pointer, bytes);
}

void CudaDevice::upload(DevicePointer to, const void* from, std::size_t bytes) {
  std::unique_lock one(up_.lock(), std::defer_lock);
  if (bytes > kSmallCopy) one.lock();
  {
    const ContextGuard guard(*this);
    if (bytes <= kSmallCopy || capturing()) {  // what a capture copies lives as long as the capture
      const std::string doing = "uploading " + std::to_string(bytes) + " bytes";
      return check(driver_.cuMemcpyHtoDAsync_v2(to, from, bytes, stream()), doing);
    }
    const bool unused = fresh.gpu == this && fresh.block.pointer == to && fresh.block.freed <= streams_.done();
    fresh = {};
    const Stream copies = up_.stream(streams_);
    if (!unused) streams_.let_follow(copies);
    streams_.mark();
  }
  {
    const GpuContext::Current current(context_);
    up_.upload(to, from, bytes);
  }
  const ContextGuard guard(*this);
  streams_.follow(up_.stream(streams_));
}

void CudaDevice::download(DevicePointer from, void* to, std::size_t bytes) {
  const std::lock_guard one(down_.lock());
  {
    const ContextGuard guard(*this);
    const Stream copies = down_.stream(streams_);
    if (bytes <= kSmallCopy) down_.begin_download(from, bytes, stream());
    else streams_.let_follow(copies);
  }
  const GpuContext::Current current(context_);
  if (bytes <= kSmallCopy) down_.end_download(to, bytes);
  else down_.download(to, from, bytes);
}

void CudaDevice::read(DevicePointer from, void* to, std::size_t bytes) {
  const Stream in_order = stream();
  check(driver_.cuMemcpyDtoHAsync_v2(to, from, bytes, in_order), "downloading " + std::to_string(bytes) + " bytes");
  check(driver_.cuStreamSynchronize(in_order), "waiting for kernels");
}

void CudaDevice::clear(DevicePointer to, std::size_t bytes) {
  check(driver_.cuMemsetD8Async(to, 0, bytes, stream()), "clearing memory");
}

bool CudaDevice::reaches(CudaDevice& other) {
  const auto [known, first_time] = peers_.try_emplace(&other, false);
  if (!first_time) return known->second;
  int can = 0;
  check(driver_.cuDeviceCanAccessPeer(&can, context_.device(), other.context_.device()), "asking about its peers");
  if (!can) return false;
  const CuResult enabled = driver_.cuCtxEnablePeerAccess(other.context_.handle(), 0);
  return known->second = enabled == kSuccess || enabled == kPeerAccessAlreadyEnabled;
}

bool CudaDevice::copy_from(CudaDevice& other, DevicePointer to, DevicePointer from, std::size_t bytes) {
  const std::scoped_lock both(lock_, other.lock_);
  Streams::Wait written;
  Stream source = nullptr;
  {
    const ContextGuard guard(*this);
    if (!reaches(other)) return false;
  }
  {
    const ContextGuard guard(other);
    written = other.streams_.begin_wait();
    source = other.stream();
  }
  Streams::Wait copied;
  {
    const ContextGuard guard(*this);
    const std::string doing = "copying " + std::to_string(bytes) + " bytes from " + other.context_.name();
    const Stream target = stream();
    check(driver_.cuStreamWaitEvent(target, written.event, 0), doing);
    check(driver_.cuMemcpyPeerAsync(to, context_.handle(), from, other.context_.handle(), bytes, target), doing);
    copied = streams_.begin_wait();
  }
  {
    const ContextGuard guard(other);  // nothing overwrites what is being read
    check(driver_.cuStreamWaitEvent(source, copied.event, 0), "waiting for " + context_.name());
    other.streams_.drop_wait(written);
  }
  streams_.drop_wait(copied);
  return true;
}

void CudaDevice::wait() {
  Streams::Wait waiting;
  {
    const ContextGuard guard(*this);
    waiting = streams_.begin_wait();
  }
  {
    const GpuContext::Current current(context_);
    streams_.wait(waiting);
  }
  const ContextGuard guard(*this);
  streams_.end_wait(waiting);
}

void CudaDevice::require_memory(DevicePointer begin, DevicePointer end) const {
  unsigned type = 0;
  if (driver_.cuPointerGetAttribute(&type, kPointerMemoryType, begin) == kInvalidValue)
    throw Error(ErrorKind::device, "view: the pointer is no memory that CUDA knows; a view on " + context_.name() +
                                       " takes a pointer of cudaMalloc or the like");
  int owner = 0;
  if (type == kMemoryOfDevice &&
      driver_.cuPointerGetAttribute(&owner, kPointerDevice, begin) == kSuccess && owner != context_.ordinal())
    throw Error(ErrorKind::device, "view: the pointer is memory of " + cuda(owner).to_string() + ", expected " +
                                       context_.name());
  DevicePointer start = 0;
  std::size_t size = 0;
  if (driver_.cuPointerGetAttribute(&start, kPointerRangeStart, begin) != kSuccess ||
      driver_.cuPointerGetAttribute(&size, kPointerRangeSize, begin) != kSuccess)
    return;  // the driver cannot tell
  if (end > start + size)
    throw Error(ErrorKind::shape, "view: the tensor ends " + std::to_string(end - start) +
                                      " bytes into memory of " + std::to_string(size) + " bytes");
}

// ---- kernels ----
void CudaDevice::launch(const detail_gpu::Launch& launch, const std::function<std::string()>& text) {
  if (launch.groups == 0) return;
  const auto found = kernels_.find(launch.key);
  const CuFunction kernel = found != kernels_.end() ? (++stats_.hits, found->second) : compile(launch, text());
  if (!launch.parts.empty()) return launch_parts(launch, kernel);
  DevicePointer pointers[64];
  BoxMapData maps[detail_gpu::kMostMaps];
  void* arguments[64 + detail_gpu::kMostMaps + 1];
  std::size_t count = launch.bindings.size();
  for (std::size_t k = 0; k < count; ++k) {
    pointers[k] = reinterpret_cast<DevicePointer>(launch.bindings[k].storage->data()) + launch.bindings[k].begin;
    arguments[k] = &pointers[k];
  }
  for (const detail_gpu::BoxMap& map : launch.maps) {
    const std::size_t k = count - launch.bindings.size();
    encode(map, maps[k], launch.op);
    arguments[count++] = &maps[k];
  }
  arguments[count] = const_cast<std::uint32_t*>(launch.params.data());
  start(launch, kernel, arguments);
}

void CudaDevice::launch_parts(const detail_gpu::Launch& launch, CuFunction kernel) {
  std::array<std::byte, detail_gpu::kPartsBytes> parts = detail_gpu::packed_parts(launch);
  void* arguments[] = {parts.data()};
  start(launch, kernel, arguments);
}

void CudaDevice::start(const detail_gpu::Launch& launch, CuFunction kernel, void** arguments) {
  const CuResult started = driver_.cuLaunchKernel(kernel, static_cast<unsigned>(launch.groups), 1, 1, launch.threads, 1,
                                                  1, launch.shared_bytes, stream(), arguments, nullptr);
  if (started != kSuccess) check(started, std::string(launch.op) + ": starting a kernel");
}

void CudaDevice::encode(const detail_gpu::BoxMap& map, BoxMapData& data, const char* op) const {
  const std::uint32_t box[] = {map.box[0], map.box[1], 1, 1};
  std::uint32_t steps[] = {1, 1, 1, 1, 1};
  void* address = static_cast<std::byte*>(map.storage->data()) + map.begin;
  const int swizzle = map.box[0] == 64 ? kSwizzle128 : kSwizzle64;
  CuResult encoded = kSuccess;
  if (map.windows) {
    std::copy_n(map.steps, map.axes - 2, steps + 1);
    encoded = driver_.cuTensorMapEncodeIm2col(&data, kBoxOf16Bits, map.axes, address, map.sizes, map.strides, map.lower,
                                              map.upper, map.box[0], map.box[1], steps, 0, swizzle, kPromote256, 0);
  } else {
    encoded = driver_.cuTensorMapEncodeTiled(&data, kBoxOf16Bits, map.axes, address, map.sizes, map.strides, box, steps,
                                             0, swizzle, kPromote256, 0);
  }
  if (encoded != kSuccess) check(encoded, std::string(op) + ": describing a matrix");
}

/// A cubin, or PTX, which the driver compiles: what it has against that is part of the error.
void CudaDevice::load(CuModule& module, const std::string& image, const std::string& doing) const {
  std::string log(4096, '\0');
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const CuResult loaded = driver_.cuModuleLoadDataEx(&module, image.c_str(), 2, options, values);
  if (loaded == kSuccess) return;
  log = log.c_str();
  check(loaded, log.empty() ? doing : doing + " (" + log + ")");
}

CuFunction CudaDevice::compile(const detail_gpu::Launch& launch, const std::string& text) {
  if (const auto same = texts_.find(text); same != texts_.end()) {
    ++stats_.hits;
    return kernels_[launch.key] = same->second;
  }
  const auto start = std::chrono::steady_clock::now();
  detail_gpu::show_kernel(text);
  const std::string doing = std::string(launch.op) + ": compiling a kernel";
  const std::string image = compiled(text, architecture_, doing);
  CuModule module = nullptr;
  load(module, image, doing);
  CuFunction function = nullptr;
  check(driver_.cuModuleGetFunction(&function, module, "tern_kernel"), doing);
  if (launch.shared_bytes > 0)
    check(driver_.cuFuncSetAttribute(function, kMostDynamicShared, static_cast<int>(launch.shared_bytes)), doing);
  ++stats_.misses, ++stats_.kernels;
  stats_.milliseconds += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return kernels_[launch.key] = texts_[text] = function;
}

// ---- graphs ----
void CudaDevice::begin_capture() {
  streams_.begin_capture();
  memory_.begin_capture();
}

CudaDevice::CapturedGraph CudaDevice::end_capture() {
  CapturedGraph result;
  result.blocks = memory_.end_capture();
  CuGraph graph = nullptr;
  try {
    graph = streams_.end_capture();
    const CuResult made = driver_.cuGraphInstantiateWithFlags(&result.graph, graph, 0);
    driver_.cuGraphDestroy(graph);
    check(made, "capture");
  } catch (...) {
    release(result);
    throw;
  }
  return result;
}

void CudaDevice::replay(const CapturedGraph& captured) {
  check(driver_.cuGraphLaunch(captured.graph, stream()), "replay");
}

void CudaDevice::release(CapturedGraph& captured) noexcept {
  if (captured.graph) driver_.cuGraphExecDestroy(captured.graph);
  memory_.give_back(captured.blocks);
  captured = {};
}

}  // namespace tern::detail_cuda
