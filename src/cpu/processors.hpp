// How many processors this process may use.
#pragma once
#include <string>

namespace tern::detail_cpu {

/// Those it may run on, and no more than its control groups give it the time of (rounded up); at least 1.
int processors();

/// What the quotas of the control groups leave that `groups` lists (a file as /proc/self/cgroup) and of those around them, in
/// the hierarchy mounted at `root`: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us. Rounded up; INT_MAX: no limit.
int processors_of_quota(const std::string& groups, const std::string& root);

}  // namespace tern::detail_cpu
