// The CPU as a backend, and what the program asks of its threads.
#include <cstring>

#include "backend/registry.hpp"
#include "cpu/machine/allocator.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/tapes.hpp"
#include "cpu/machine/threads.hpp"
#include "tern/dlpack.hpp"

namespace tern::detail_cpu {
namespace {

class CpuBackend final : public detail::Backend {
 public:
  Device device() const override { return cpu(); }
  bool in_host_memory() const override { return true; }
  std::string name() const override { return std::string("CPU with ") + kernels().target; }
  CacheStats cache_stats() const override { return tape_stats(); }

  void* allocate(std::size_t bytes) override { return detail_cpu::allocate(bytes); }
  void deallocate(void* data, std::size_t bytes) noexcept override { detail_cpu::deallocate(data, bytes); }
  MemoryStats memory_stats() const override { return detail_cpu::memory_stats(); }
  void release_memory() override { detail_cpu::release_memory(); }
  void upload(detail::Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) override {
    if (bytes) std::memcpy(static_cast<std::byte*>(to.data()) + byte_offset, from, bytes);
  }
  void download(const detail::Storage& from, std::size_t byte_offset, void* to, std::size_t bytes) override {
    if (bytes) std::memcpy(to, static_cast<const std::byte*>(from.data()) + byte_offset, bytes);
  }
  /// Whatever the other device is, it writes straight into place.
  bool copy_from(detail::Storage& to, std::size_t to_offset, const detail::Storage& from, std::size_t from_offset,
                 std::size_t bytes) override {
    from.backend().download(from, from_offset, static_cast<std::byte*>(to.data()) + to_offset, bytes);
    return true;
  }
  void synchronize() override {}

 protected:
  std::vector<std::string_view> families() const override { return {"cpu"}; }
};

detail::Backend& cpu_backend(int) {
  static CpuBackend* instance = new CpuBackend;  // outlives tensors in static storage
  return *instance;
}

std::vector<DeviceInfo> cpu_devices() { return {{cpu(), true, cpu_backend(0).name(), ""}}; }

void borrow(detail::TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive, int) {
  detail::borrow_memory(cpu_backend(0), tensor, pointer, std::move(keep_alive));
}

}  // namespace
}  // namespace tern::detail_cpu

namespace tern {

void set_num_threads(int threads) {
  if (threads < 1)
    throw Error(ErrorKind::device, "set_num_threads: needs at least 1 thread, got " + std::to_string(threads));
  detail_cpu::set_max_threads(threads);
}
int num_threads() { return detail_cpu::max_threads(); }

constinit const detail::BackendEntry detail::cpu_entry{detail_cpu::cpu_backend, detail_cpu::cpu_devices,
                                                       detail_cpu::borrow, /*numbered=*/false, /*addresses=*/true,
                                                       /*dlpack=*/{kDLCPU, kDLCUDAHost}};

}  // namespace tern
