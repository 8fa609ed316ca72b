// How many processors this process may use.
#pragma once
#ifdef __linux__
#include <sched.h>
#endif

#include <atomic>
#include <string>

namespace tern::detail_cpu {

/// Those it may run on, and no more than its control groups give it the time of (rounded up); at least 1.
int processors();

/// What the quotas of the control groups leave that `groups` lists (a file as /proc/self/cgroup) and of those around
/// them, in the hierarchy mounted at `root`: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us. Rounded up; INT_MAX:
/// no limit.
int processors_of_quota(const std::string& groups, const std::string& root);

/// Where a thread may run, which another may narrow for the moment in which it wakes it. The scheduler tends to wake a
/// thread on the processor of the one that wakes it, behind which it then waits: after a pause of 16 ms a worker came
/// too late to help with a product that takes two threads 0.6 ms. Without effect where the system has no such calls, or
/// forbids them.
class Placement {
 public:
  /// By the thread itself, before anything else.
  void begin();
  /// By the thread that is about to wake it: not here.
  void keep_off_this_processor();
  /// By the thread itself when it is awake: wherever it could run before.
  void restore();

#ifdef __linux__
 private:
  std::atomic<int> thread_{0};  // 0: it has not begun
  std::atomic<bool> kept_off_{false};
  cpu_set_t allowed_;  // before it was kept off
#endif
};

}  // namespace tern::detail_cpu
