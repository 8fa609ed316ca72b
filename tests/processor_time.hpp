// How long processors work for this process: what other programs do not add to.
#pragma once
#include <ctime>

namespace tern::test {

/// Seconds so far, on all its threads.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace tern::test
