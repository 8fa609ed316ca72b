#include "cpu/cpu_backend.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "backend/trace.hpp"
#include "cpu/allocator.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/fused.hpp"
#include "cpu/gemm_verb.hpp"
#include "cpu/lines.hpp"
#include "cpu/threads.hpp"
#include "process/fork.hpp"

namespace tern::detail_cpu {
namespace {

class CpuBackend final : public detail::Backend {
 public:
  Device device() const override { return cpu(); }
  std::string name() const override { return std::string("CPU with ") + kernels().target; }
  CacheStats cache_stats() const override {
    const std::lock_guard hold(lock_);
    CacheStats stats = stats_;
    stats.hits = calls_.load(std::memory_order_relaxed) - stats.misses;
    return stats;
  }

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

  void fused(const detail::FusedRequest& request) override {
    run_fused(request, tape(request.op, *request.program), kernels());
  }
  void gemm(const detail::GemmRequest& request) override {
    const Tape& epilogue = tape(request.op, *request.epilogue);
    with_threads_noted([&] { run_gemm(request, epilogue, kernels()); });
  }
  void scatter(const detail::ScatterRequest& request) override {
    with_threads_noted([&] { run_scatter(request); });
  }
  void scan(const detail::ScanRequest& request) override {
    with_threads_noted([&] { run_scan(request, kernels()); });
  }
  void sort(const detail::SortRequest& request) override {
    with_threads_noted([&] { run_sort(request, kernels()); });
  }

 private:
  /// Says how many threads the call was shared between, and why it was one. (The fused verb knows that beforehand.)
  template <class Call> static void with_threads_noted(Call call) {
    if (!detail::tracing()) return call();
    threads_used();
    call();
    const int threads = threads_used();
    detail::note((threads > 1          ? std::to_string(threads) + " threads"
                  : max_threads() == 1 ? std::string("1 thread: no more allowed")
                                       : std::string("1 thread: too little work for more, or others use them")) +
                 ", " + kernels().target);
  }
  /// Programs live as long as the process, so their address is a key.
  const Tape& tape(const char* op, const detail::Program& program) {
    struct Recent {
      const detail::Program* program = nullptr;
      const Tape* tape = nullptr;
    };
    thread_local Recent recent[64];
    calls_.fetch_add(1, std::memory_order_relaxed);
    Recent& slot = recent[program.serial % 64];
    if (slot.program == &program) return *slot.tape;
    const std::lock_guard hold(lock_);
    std::unique_ptr<Tape>& tape = tapes_[&program];
    if (!tape) {
      const auto start = std::chrono::steady_clock::now();
      tape = compile_tape(op, program, kernels());
      ++stats_.misses, ++stats_.kernels;
      stats_.milliseconds +=
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    slot = {&program, tape.get()};
    return *tape;
  }

  mutable detail::ForkSafe<std::mutex> lock_;
  std::unordered_map<const detail::Program*, std::unique_ptr<Tape>> tapes_;
  CacheStats stats_;
  std::atomic<std::int64_t> calls_{0};
};

}  // namespace

detail::Backend& cpu_backend() {
  static CpuBackend* instance = new CpuBackend;  // outlives tensors in static storage
  return *instance;
}

}  // namespace tern::detail_cpu
