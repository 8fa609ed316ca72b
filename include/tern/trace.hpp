// What ran: counters and explanations. TERN_TRACE=1 prints a line for every kernel call to stderr.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace tern {

/// Kernel calls of this thread so far, and the bytes their operands and results have.
struct TraceCounts {
  std::int64_t calls = 0, bytes_read = 0, bytes_written = 0;
};
TraceCounts trace_counts();

/// What a piece of work costs, counted from the graphs of its kernel calls: for each element, 1 for an arithmetic
/// operation, comparison, choice or a reduction's step, 8 for a transcendental leaf; 2 for each multiply-add of a product.
struct Cost {
  std::int64_t flops = 0, calls = 0;
};
namespace detail {
Cost count_cost(void (*call)(void*), void* context);
std::string explain_calls(void (*call)(void*), void* context);
}
/// Runs f and says, a line for each kernel call: operation, kernel, sizes, bytes, time, and what the backend chose.
template <class F> std::string explain(F&& f) {
  return detail::explain_calls([](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); },
                               const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}
/// Runs f and counts what it costs.
template <class F> Cost cost_of(F&& f) {
  return detail::count_cost([](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); },
                            const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}
/// Runs f once so that the kernels it needs are made before they are timed or waited for.
template <class F> void warm_up(F&& f) { f(); }

}  // namespace tern
