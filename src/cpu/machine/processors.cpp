#include "cpu/machine/processors.hpp"

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <climits>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace tern::detail_cpu {
namespace {

namespace fs = std::filesystem;

int rounded_up(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return INT_MAX;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

/// Of one group, whichever version's files it has.
int quota_of(const fs::path& folder) {
  double quota = 0, period = 0;
  if (std::ifstream(folder / "cpu.max") >> quota >> period)
    return rounded_up(quota, period);  // "max 100000" is no number
  if (std::ifstream(folder / "cpu.cfs_quota_us") >> quota && std::ifstream(folder / "cpu.cfs_period_us") >> period)
    return rounded_up(quota, period);  // -1: none
  return INT_MAX;
}

/// Of a group and those around it. One that is not mounted here (a container's) is passed over.
int least_quota(const fs::path& root, fs::path group) {
  int least = INT_MAX;
  for (group = group.relative_path();; group = group.parent_path()) {
    least = std::min(least, quota_of(root / group));
    if (group.empty()) return least;
  }
}

/// How many processors the affinity allows. The kernel refuses a mask smaller than its own.
int allowed_processors() {
#ifdef __linux__
  for (std::size_t most = 1024; most <= std::size_t{1} << 20; most *= 2) {
    std::vector<unsigned long> words(most / (8 * sizeof(unsigned long)));
    const std::size_t bytes = words.size() * sizeof words[0];
    auto* const set = reinterpret_cast<cpu_set_t*>(words.data());
    if (sched_getaffinity(0, bytes, set) == 0) return std::max(1, CPU_COUNT_S(bytes, set));
  }
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int processors_of_quota(const std::string& groups, const std::string& root) {
  int least = INT_MAX;
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {  // "0::/a/group", or "4:cpu,cpuacct:/a/group"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, least_quota(root, group));
      least = std::min(least, least_quota(fs::path(root) / "unified", group));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      for (const std::string& folder : {controllers, std::string("cpu")})
        least = std::min(least, least_quota(fs::path(root) / folder, group));
    }
  }
  return least;
}

#ifdef __linux__
void Placement::begin() { thread_.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_release); }
void Placement::keep_off_this_processor() {
  const int thread = thread_.load(std::memory_order_acquire), here = sched_getcpu();
  if (thread == 0 || here < 0 || here >= CPU_SETSIZE || kept_off_.load(std::memory_order_acquire)) return;
  if (sched_getaffinity(thread, sizeof allowed_, &allowed_) != 0 || !CPU_ISSET(here, &allowed_)) return;
  cpu_set_t others = allowed_;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(thread, sizeof others, &others) == 0)
    kept_off_.store(true, std::memory_order_release);
}
void Placement::restore() {
  if (!kept_off_.load(std::memory_order_acquire)) return;
  sched_setaffinity(0, sizeof allowed_, &allowed_);
  kept_off_.store(false, std::memory_order_release);
}
#else
void Placement::begin() {}
void Placement::keep_off_this_processor() {}
void Placement::restore() {}
#endif

int processors() { return std::min(allowed_processors(), processors_of_quota("/proc/self/cgroup", "/sys/fs/cgroup")); }

}  // namespace tern::detail_cpu
