#include "cuda/device.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "cuda/compiler.hpp"
#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

/// Sizes in steps of an eighth of the power of two below: little is wasted, and sizes repeat. Kernels may read up to
/// the end of a vector of 16 bytes.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 512) return 512;
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes - 1) / 8, 512);
  return (bytes + step - 1) / step * step;
}

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

GpuDevice::GpuDevice(const Driver& driver, int ordinal, std::string name) : driver_(driver), name_(std::move(name)) {
  const std::string doing = "making " + name_;
  DeviceHandle device = 0;
  int major = 0, minor = 0;
  check(driver_.cuDeviceGet(&device, ordinal), doing);
  check(driver_.cuDeviceGetAttribute(&major, kComputeMajor, device), doing);
  check(driver_.cuDeviceGetAttribute(&minor, kComputeMinor, device), doing);
  check(driver_.cuDeviceGetAttribute(&processors_, kProcessorCount, device), doing);
  architecture_ = 10 * major + minor;
  check(driver_.cuDevicePrimaryCtxRetain(&context_, device), doing);
  use();
  check(driver_.cuStreamCreate(&stream_, kStreamNonBlocking), doing);
}

void GpuDevice::use() { check(driver_.cuCtxSetCurrent(context_), "using " + name_); }

void GpuDevice::check(Result result, const std::string& doing) const {
  if (result == kSuccess) return;
  throw Error(result == kOutOfMemory ? ErrorKind::out_of_memory : ErrorKind::backend,
              doing + " on " + name_ + ": " + error_text(driver_, result));
}

// ---- memory ----
DevicePointer GpuDevice::allocate(std::size_t bytes) {
  const std::size_t size = size_class(bytes);
  if (const auto found = pool_.find(size); found != pool_.end() && !found->second.empty()) {
    const DevicePointer pointer = found->second.back();
    found->second.pop_back();
    return pointer;
  }
  use();
  DevicePointer pointer = 0;
  Result result = driver_.cuMemAlloc_v2(&pointer, size);
  if (result == kOutOfMemory && !capturing_) {  // once more, without what is kept for reuse
    wait();
    release_pool();
    result = driver_.cuMemAlloc_v2(&pointer, size);
  }
  if (result == kOutOfMemory) {
    std::size_t free = 0, total = 0;
    driver_.cuMemGetInfo_v2(&free, &total);
    throw Error(ErrorKind::out_of_memory, "allocating " + std::to_string(bytes) + " bytes on " + name_ + ": " +
                                              std::to_string(free) + " of " + std::to_string(total) +
                                              " bytes are free");
  }
  check(result, "allocating " + std::to_string(bytes) + " bytes");
  return pointer;
}

void GpuDevice::deallocate(DevicePointer pointer, std::size_t bytes) noexcept {
  // Work is done in the order of the stream, so the block can be given out again at once; a graph's stays its own.
  if (capturing_) captured_.blocks.emplace_back(pointer, size_class(bytes));
  pool_[size_class(bytes)].push_back(pointer);
}

void GpuDevice::release_pool() noexcept {
  for (auto& [size, list] : pool_)
    for (const DevicePointer pointer : list) driver_.cuMemFree_v2(pointer);
  pool_.clear();
}

void GpuDevice::upload(DevicePointer to, const void* from, std::size_t bytes) {
  use();  // pageable memory has been read when the call returns
  check(driver_.cuMemcpyHtoDAsync_v2(to, from, bytes, stream_), "uploading " + std::to_string(bytes) + " bytes");
}

void GpuDevice::download(DevicePointer from, void* to, std::size_t bytes) {
  use();
  check(driver_.cuMemcpyDtoHAsync_v2(to, from, bytes, stream_), "downloading " + std::to_string(bytes) + " bytes");
  check(driver_.cuStreamSynchronize(stream_), "waiting for kernels");
}

void GpuDevice::clear(DevicePointer to, std::size_t bytes) {
  use();
  check(driver_.cuMemsetD8Async(to, 0, bytes, stream_), "clearing memory");
}

void GpuDevice::wait() {
  use();
  check(driver_.cuStreamSynchronize(stream_), "waiting for kernels");
}

// ---- kernels ----
void GpuDevice::launch(const detail_gpu::Launch& launch, const std::function<std::string()>& text) {
  if (launch.groups == 0) return;
  use();
  const auto found = kernels_.find(launch.key);
  const Function kernel = found != kernels_.end() ? (++stats_.hits, found->second) : compile(launch, text());
  DevicePointer pointers[64];
  BoxMapData maps[2];
  void* arguments[67];
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
  check(driver_.cuLaunchKernel(kernel, static_cast<unsigned>(launch.groups), 1, 1, launch.threads, 1, 1,
                               launch.shared_bytes, stream_, arguments, nullptr),
        std::string(launch.op) + ": starting a kernel");
}

void GpuDevice::encode(const detail_gpu::BoxMap& map, BoxMapData& data, const char* op) const {
  const std::uint32_t box[] = {map.box[0], map.box[1], 1}, steps[] = {1, 1, 1};
  void* address = static_cast<std::byte*>(map.storage->data()) + map.begin;
  check(driver_.cuTensorMapEncodeTiled(&data, kBoxOf16Bits, 3, address, map.sizes, map.strides, box, steps, 0,
                                       kSwizzle128, kPromote256, 0),
        std::string(op) + ": describing a matrix");
}

Function GpuDevice::compile(const detail_gpu::Launch& launch, const std::string& text) {
  if (const auto same = texts_.find(text); same != texts_.end()) {
    ++stats_.hits;
    return kernels_[launch.key] = same->second;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string doing = std::string(launch.op) + ": compiling a kernel";
  const std::string cubin = compiled(text, architecture_, doing);
  CuModule module = nullptr;
  check(driver_.cuModuleLoadDataEx(&module, cubin.data(), 0, nullptr, nullptr), doing);
  Function function = nullptr;
  check(driver_.cuModuleGetFunction(&function, module, "tern_kernel"), doing);
  if (launch.shared_bytes > 0)
    check(driver_.cuFuncSetAttribute(function, kMostDynamicShared, static_cast<int>(launch.shared_bytes)), doing);
  ++stats_.misses, ++stats_.kernels;
  stats_.milliseconds += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return kernels_[launch.key] = texts_[text] = function;
}

// ---- graphs ----
void GpuDevice::begin_capture() {
  use();
  check(driver_.cuStreamBeginCapture_v2(stream_, kCaptureRelaxed), "capture");
  capturing_ = true;
  captured_ = {};
}

GpuDevice::Captured GpuDevice::end_capture() {
  use();
  capturing_ = false;
  // What was freed meanwhile was also used again meanwhile; now it leaves the pool for good.
  Captured result = std::move(captured_);
  captured_ = {};
  std::vector<std::pair<DevicePointer, std::size_t>> own;
  for (const auto& block : result.blocks) {
    auto& list = pool_[block.second];
    const auto at = std::find(list.begin(), list.end(), block.first);
    if (at == list.end()) continue;
    list.erase(at);
    own.push_back(block);
  }
  result.blocks = std::move(own);
  Graph graph = nullptr;
  const Result ended = driver_.cuStreamEndCapture(stream_, &graph);
  const Result made =
      ended == kSuccess ? driver_.cuGraphInstantiateWithFlags(&result.graph, graph, 0) : ended;
  if (graph) driver_.cuGraphDestroy(graph);
  if (made != kSuccess) release(result);
  check(made, "capture");
  return result;
}

void GpuDevice::replay(const Captured& captured) {
  use();
  check(driver_.cuGraphLaunch(captured.graph, stream_), "replay");
}

void GpuDevice::release(Captured& captured) noexcept {
  if (captured.graph) driver_.cuGraphExecDestroy(captured.graph);
  for (const auto& [pointer, size] : captured.blocks) pool_[size].push_back(pointer);
  captured = {};
}

}  // namespace tern::detail_cuda
