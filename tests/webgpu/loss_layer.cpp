// A Vulkan layer that loses the device when it is told to, as a driver may at any time. The few declarations of Vulkan
// and of its loader that this takes are made by hand (https://github.com/KhronosGroup/Vulkan-Loader, the layer
// interface).
#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

using Handle = void*;
using Function = void (*)();
using GetProcAddr = Function (*)(Handle, const char*);
using Result = std::int32_t;
constexpr Result kDeviceLost = -4, kInitializationFailed = -3;

struct Link {  // of an instance: the second is of physical devices; of a device: the second is GetDeviceProcAddr
  Link* next;
  GetProcAddr instance_proc, second_proc;
};
struct ChainItem {
  std::int32_t type;
  const ChainItem* next;
  std::int32_t function;
  Link* link;
};
constexpr std::int32_t kInstanceChain = 47, kDeviceChain = 48;
struct CreateInfo {
  std::int32_t type;
  const ChainItem* next;
};

GetProcAddr next_instance_proc, next_device_proc;
Handle instance;
/// The next call of a kind fails, 1: a submission, 2: a wait or a look whether work is done; and all after it, until
/// another device is made.
std::atomic<int> to_fail{0};
std::atomic<bool> lost{false};

bool fails(int kind) {
  int expected = kind;
  if (to_fail.compare_exchange_strong(expected, 0)) lost = true;
  return lost;
}

Link* take_link(const CreateInfo* info, std::int32_t type) {
  for (const ChainItem* item = info->next; item; item = item->next)
    if (item->type == type && item->function == 0) {
      Link* const link = item->link;
      const_cast<ChainItem*>(item)->link = link->next;
      return link;
    }
  return nullptr;
}

Result create_instance(const CreateInfo* info, const void* allocator, Handle* made) {
  Link* const link = take_link(info, kInstanceChain);
  if (!link) return kInitializationFailed;
  next_instance_proc = link->instance_proc;
  const auto create = reinterpret_cast<Result (*)(const CreateInfo*, const void*, Handle*)>(
      next_instance_proc(nullptr, "vkCreateInstance"));
  const Result result = create(info, allocator, made);
  instance = *made;
  return result;
}
Result create_device(Handle physical, const CreateInfo* info, const void* allocator, Handle* made) {
  Link* const link = take_link(info, kDeviceChain);
  if (!link) return kInitializationFailed;
  next_device_proc = link->second_proc;
  const auto create = reinterpret_cast<Result (*)(Handle, const CreateInfo*, const void*, Handle*)>(
      link->instance_proc(instance, "vkCreateDevice"));
  lost = false;
  return create(physical, info, allocator, made);
}

Result (*next_submit)(Handle, std::uint32_t, const void*, std::uint64_t);
Result (*next_wait_semaphores)(Handle, const void*, std::uint64_t);
Result (*next_wait_fences)(Handle, std::uint32_t, const void*, std::uint32_t, std::uint64_t);

Result (*next_status)(Handle, std::uint64_t);

Result submit(Handle queue, std::uint32_t count, const void* submits, std::uint64_t fence) {
  return fails(1) ? kDeviceLost : next_submit(queue, count, submits, fence);
}
Result wait_semaphores(Handle device, const void* info, std::uint64_t timeout) {
  return fails(2) ? kDeviceLost : next_wait_semaphores(device, info, timeout);
}
Result wait_fences(Handle device, std::uint32_t count, const void* fences, std::uint32_t all, std::uint64_t timeout) {
  return fails(2) ? kDeviceLost : next_wait_fences(device, count, fences, all, timeout);
}
Result fence_status(Handle device, std::uint64_t fence) { return fails(2) ? kDeviceLost : next_status(device, fence); }

template <class F> Function as_function(F f) { return reinterpret_cast<Function>(f); }

Function device_proc(Handle device, const char* name) {
  const Function next = next_device_proc ? next_device_proc(device, name) : nullptr;
  const auto stand_in = [&](auto& slot, auto own) {
    if (!next) return next;
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(next);
    return as_function(own);
  };
  if (!std::strcmp(name, "vkQueueSubmit")) return stand_in(next_submit, submit);
  if (!std::strcmp(name, "vkWaitSemaphores") || !std::strcmp(name, "vkWaitSemaphoresKHR"))
    return stand_in(next_wait_semaphores, wait_semaphores);
  if (!std::strcmp(name, "vkWaitForFences")) return stand_in(next_wait_fences, wait_fences);
  if (!std::strcmp(name, "vkGetFenceStatus")) return stand_in(next_status, fence_status);
  if (!std::strcmp(name, "vkGetDeviceProcAddr")) return as_function(device_proc);
  return next;
}
Function instance_proc(Handle of, const char* name) {
  if (!std::strcmp(name, "vkCreateInstance")) return as_function(create_instance);
  if (!std::strcmp(name, "vkCreateDevice")) return as_function(create_device);
  if (!std::strcmp(name, "vkGetInstanceProcAddr")) return as_function(instance_proc);
  if (!std::strcmp(name, "vkGetDeviceProcAddr")) return as_function(device_proc);
  return next_instance_proc ? next_instance_proc(of, name) : nullptr;
}

struct Negotiation {
  std::int32_t type;
  void* next;
  std::uint32_t version;
  GetProcAddr instance_proc, device_proc, physical_device_proc;
};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) Result vkNegotiateLoaderLayerInterfaceVersion(Negotiation* n) {
  if (n->version > 2) n->version = 2;
  n->instance_proc = instance_proc, n->device_proc = device_proc, n->physical_device_proc = nullptr;
  return 0;
}
/// The next submission (1) or wait (2) loses the device.
__attribute__((visibility("default"))) void tern_lose_device_at(int kind) { to_fail = kind; }
}
