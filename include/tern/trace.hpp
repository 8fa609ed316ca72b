// What ran: counters and explanations. TERN_TRACE=1 prints a line for every kernel call to stderr.
#pragma once
#include <cstdint>
#include <string>

#include "tern/call_ref.hpp"
#include "tern/device.hpp"

namespace tern {

/// Kernel calls of this thread so far, and the bytes their operands and results have.
struct TraceCounts {
  std::int64_t calls = 0, bytes_read = 0, bytes_written = 0;
};
TraceCounts trace_counts();

/// What a piece of work costs, counted from the graphs of its kernel calls: for each element, 1 for an arithmetic
/// operation, comparison, choice or a reduction's step, 8 for a transcendental elementary function; 2 for each
/// multiply-add of a product.
struct Cost {
  std::int64_t flops = 0, calls = 0;
};
namespace detail {
std::string explain_calls(CallRef call);
CacheStats warm_up_calls(CallRef call);
Cost count_cost(CallRef call);
}
/// Runs f and says, a line for each kernel call: operation, kernel, sizes, bytes, time, and what the backend chose.
template <class F> std::string explain(F&& f) {
  return detail::with_call_ref(detail::explain_calls, f);
}
/// Runs f, waits for the devices it used, and says what was made for it: kernels (and misses), hits, and the time that
/// making took. A second run then makes none, whatever the values in tensors, and whatever sizes and numbers, as long
/// as dtypes and layouts stay alike. f runs as it always does: what it changes is changed.
template <class F> CacheStats warm_up(F&& f) {
  return detail::with_call_ref(detail::warm_up_calls, f);
}
/// Runs f and counts what it costs.
template <class F> Cost cost_of(F&& f) {
  return detail::with_call_ref(detail::count_cost, f);
}

}  // namespace tern
