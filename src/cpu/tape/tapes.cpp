#include "cpu/tape/tapes.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cpu/simd/dispatch.hpp"
#include "process/fork.hpp"

namespace tern::detail_cpu {
namespace {

/// Programs live as long as the process, so their address is a key.
struct Tapes {
  detail::ForkSafe<std::mutex> lock;
  std::unordered_map<const detail::Program*, std::unique_ptr<Tape>> known;
  CacheStats stats;
  std::atomic<std::int64_t> calls{0};
};
Tapes& tapes() {
  static Tapes* const instance = new Tapes;  // for programs that compute in destructors of static objects
  return *instance;
}

/// A cache: each thread's last ones, by the program's serial, are found without the lock.
struct Recent {
  const detail::Program* program = nullptr;
  const Tape* tape = nullptr;
};
thread_local Recent recent[64];

const Tape& compiled(const char* op, const detail::Program& program) {
  Tapes& all = tapes();
  const std::lock_guard hold(all.lock);
  std::unique_ptr<Tape>& tape = all.known[&program];
  if (tape) return *tape;
  const auto start = std::chrono::steady_clock::now();
  tape = compile_tape(op, program, kernels());
  ++all.stats.misses, ++all.stats.kernels;
  all.stats.milliseconds +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return *tape;
}

}  // namespace

Elementary combining_elementary(Elementary reduction) {
  switch (reduction) {
    case Elementary::sum: return Elementary::add;
    case Elementary::prod: return Elementary::mul;
    case Elementary::max: return Elementary::maximum;
    default: return Elementary::minimum;
  }
}

void count_call() { tapes().calls.fetch_add(1, std::memory_order_relaxed); }

const Tape& tape_of(const char* op, const detail::Program& program) {
  count_call();
  return find_tape(op, program);
}
const Tape& find_tape(const char* op, const detail::Program& program) {
  Recent& slot = recent[program.serial % 64];
  if (slot.program != &program) slot = {&program, &compiled(op, program)};
  return *slot.tape;
}

CacheStats tape_stats() {
  Tapes& all = tapes();
  const std::lock_guard hold(all.lock);
  CacheStats stats = all.stats;
  stats.hits = all.calls.load(std::memory_order_relaxed) - stats.misses;
  return stats;
}

}  // namespace tern::detail_cpu
