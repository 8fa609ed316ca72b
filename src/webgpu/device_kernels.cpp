// The kernels of a WebGPU device: layouts, pipelines, bind groups, and what is recorded of a launch.
#include <chrono>
#include <cstdlib>

#include "backend/instruments/trace.hpp"
#include "gpu/text/show_kernel.hpp"
#include "tern/error.hpp"
#include "webgpu/device.hpp"

namespace tern::detail_webgpu {
namespace {

constexpr std::size_t kMostRecorded = 256;  // kernels before the encoder is submitted
constexpr std::size_t kMostBindGroups = 8192;

}  // namespace

const WebGpuDevice::KernelLayout& WebGpuDevice::layout_of(const detail_gpu::Launch& launch) {
  std::string key;
  for (const detail_gpu::Binding& b : launch.bindings) key += b.written || b.atomic ? 'w' : 'r';
  const auto [it, fresh] = layouts_.try_emplace(key);
  if (!fresh) return it->second;
  std::vector<WGPUBindGroupLayoutEntry> entries(key.size() + 1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {};
    entries[i].binding = static_cast<std::uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = i == 0              ? WGPUBufferBindingType_Uniform
                             : key[i - 1] == 'w' ? WGPUBufferBindingType_Storage
                                                 : WGPUBufferBindingType_ReadOnlyStorage;
    entries[i].buffer.hasDynamicOffset = i == 0;
  }
  WGPUBindGroupLayoutDescriptor group{};
  group.entryCount = entries.size(), group.entries = entries.data();
  it->second.group = api_.DeviceCreateBindGroupLayout(device_, &group);
  WGPUPipelineLayoutDescriptor pipeline{};
  pipeline.bindGroupLayoutCount = 1, pipeline.bindGroupLayouts = &it->second.group;
  it->second.pipeline = api_.DeviceCreatePipelineLayout(device_, &pipeline);
  check(std::string(launch.op) + ": laying out bindings");
  ++layouts_made;
  return it->second;
}

namespace {
/// "softmax, kernel reduction": the first line of a kernel's text says what it is.
std::string kernel_name(const detail_gpu::Launch& launch, const std::string& text) {
  const std::size_t end = text.find('\n');
  return std::string(launch.op) +
         (text.starts_with("// ") && end != std::string::npos ? ", kernel " + text.substr(3, end - 3) : "");
}
}  // namespace

const WebGpuDevice::Pipeline& WebGpuDevice::compile(const detail_gpu::Launch& launch, const std::string& text) {
  const std::string whole = (launch.in_bounds ? "t" : "c") + text;
  if (const auto found = texts_.find(whole); found != texts_.end()) {  // another program, the same kernel
    ++stats_.hits;
    Pipeline& known = pipelines_[launch.key] = found->second;
    known.name = kernel_name(launch, text);
    return known;
  }
  const auto start = std::chrono::steady_clock::now();
  detail_gpu::show_kernel(text);
  const KernelLayout& layout = layout_of(launch);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(text);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  static const bool checked = std::getenv("TERN_WEBGPU_CHECKED") != nullptr;  // to see what the checks cost
  const WGPUShaderModule module = launch.in_bounds && api_.DeviceCreateShaderModuleTrusted && !checked
                                      ? api_.DeviceCreateShaderModuleTrusted(device_, &descriptor, 0)
                                      : api_.DeviceCreateShaderModule(device_, &descriptor);
  const std::string name = kernel_name(launch, text), doing = name + ": compiling the kernel";
  const auto require = [&](auto made, auto release) {
    try {
      check(doing);
    } catch (...) {
      if (made) release(made);
      throw;
    }
  };
  require(module, api_.ShaderModuleRelease);
  static const auto& entry = *new std::string("main");
  WGPUComputePipelineDescriptor pipeline{};
  pipeline.layout = layout.pipeline;
  pipeline.compute.module = module, pipeline.compute.entryPoint = view(entry);
  Pipeline made{api_.DeviceCreateComputePipeline(device_, &pipeline), layout.group, name};
  api_.ShaderModuleRelease(module);
  require(made.handle, api_.ComputePipelineRelease);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ++stats_.misses, ++stats_.kernels;
  stats_.milliseconds += ms;
  if (detail::tracing()) {
    char time[48];
    std::snprintf(time, sizeof time, "compiled in %.1f ms", ms);
    detail::note(time);
  }
  return pipelines_[launch.key] = texts_[whole] = made;
}

Buffer& WebGpuDevice::buffer_of(const detail_gpu::Launch& launch, std::size_t k) {
  if (auto* buffer = static_cast<Buffer*>(launch.bindings[k].storage->data())) return *buffer;
  // A storage without elements has no buffer; each binding has a stand-in of its own, so that none is bound twice.
  while (empty_.size() <= k) empty_.push_back(create(256, WGPUBufferUsage_Storage));
  return *empty_[k];
}

WGPUBindGroup WebGpuDevice::bind_group(const detail_gpu::Launch& launch, const Pipeline& pipeline) {
  std::string key;
  const auto add = [&key](std::uint64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::uint64_t params_bytes = ((launch.params.size() + 1) * 4 + 15) / 16 * 16;
  add(reinterpret_cast<std::uintptr_t>(pipeline.layout)), add(params_bytes);
  for (std::size_t k = 0; k < launch.bindings.size(); ++k)
    add(buffer_of(launch, k).id), add(launch.bindings[k].begin), add(launch.bindings[k].end);
  if (const auto found = bind_groups_.find(key); found != bind_groups_.end()) return found->second;
  if (bind_groups_.size() > kMostBindGroups) release_bind_groups();
  std::vector<WGPUBindGroupEntry> entries(launch.bindings.size() + 1);
  entries[0] = {};
  entries[0].buffer = params_->handle, entries[0].size = params_bytes;
  for (std::size_t k = 0; k < launch.bindings.size(); ++k) {
    const detail_gpu::Binding& b = launch.bindings[k];
    WGPUBindGroupEntry& entry = entries[k + 1];
    entry = {};
    entry.binding = static_cast<std::uint32_t>(k + 1);
    const Buffer& buffer = buffer_of(launch, k);
    entry.buffer = buffer.handle;
    entry.offset = b.begin, entry.size = b.end > b.begin ? b.end - b.begin : buffer.capacity;
  }
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = pipeline.layout, descriptor.entryCount = entries.size(), descriptor.entries = entries.data();
  const WGPUBindGroup group = api_.DeviceCreateBindGroup(device_, &descriptor);
  try {
    check(pipeline.name + ": binding buffers");
  } catch (...) {
    if (group) api_.BindGroupRelease(group);
    throw;
  }
  ++bind_groups_made;
  return bind_groups_[key] = group;
}

void WebGpuDevice::run(const detail_gpu::Launch& launch, const Pipeline& pipeline) {
  if (launch.groups == 0) return;
  check(launch.op);
  std::vector<std::uint32_t> params = launch.params;
  const std::uint64_t rows = (launch.groups + limits_.groups - 1) / limits_.groups;
  const std::uint64_t width = (launch.groups + rows - 1) / rows;
  params[0] = static_cast<std::uint32_t>(width);
  params.push_back(0);  // tern_keep's
  const auto offset =
      static_cast<std::uint32_t>(add_constants(params.data(), params.size() * 4, params_arena_, kParamsBytes));
  const WGPUBindGroup group = bind_group(launch, pipeline);
  const WGPUComputePassEncoder pass = timing_ ? timed_pass(pipeline) : this->pass();
  api_.ComputePassEncoderSetPipeline(pass, pipeline.handle);
  api_.ComputePassEncoderSetBindGroup(pass, 0, group, 1, &offset);
  api_.ComputePassEncoderDispatchWorkgroups(pass, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(rows),
                                            1);
  if (timing_) end_pass();
  ++kernels;
  for (std::size_t k = 0; k < launch.bindings.size(); ++k) use(buffer_of(launch, k));
  recorded_.push_back(&pipeline);
  steps_ += launch.steps;
  if (recorded_.size() >= kMostRecorded || steps_ >= 2 * limits_.steps) flush();  // watchdogs look at submissions
}

}  // namespace tern::detail_webgpu
