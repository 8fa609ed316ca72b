// What a report says of the threads of a call.
#pragma once
#include <string>

#include "backend/instruments/trace.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/machine/threads.hpp"

namespace tern::detail_cpu {

/// Makes the call and, where it is reported, says how many threads it was shared between, and why it was one. (The
/// primitive `fused` knows that beforehand.)
template <class Call> void with_threads_noted(Call call) {
  if (!detail::tracing()) return call();
  threads_used();
  call();
  const int threads = threads_used();
  detail::note((threads > 1          ? std::to_string(threads) + " threads"
                : max_threads() == 1 ? std::string("1 thread: no more allowed")
                                     : std::string("1 thread: too little work for more, or others use them")) +
               ", " + kernels().target);
}

}  // namespace tern::detail_cpu
