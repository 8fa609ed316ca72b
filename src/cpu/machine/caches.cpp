#include "cpu/machine/caches.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "cpu/machine/threads.hpp"

namespace tern::detail_cpu {
namespace {

/// A cache of more than kMostCacheBytes is one that all cores of a processor share, and a virtual machine is told of
/// all of it, 260 or 300 MiB, where it may use a part (two cores of a Sapphire Rapids: silu_mul of 200 MB at 19 GB/s
/// through it). So much is counted. Of the time through such a cache (Emerald Rapids), sums past it take 0.78 from 12
/// to 48 MB, 0.65 of 96; with a sum that reads the first one's result 0.91, 0.92, 0.83 and 0.65.
constexpr std::int64_t kMostCacheBytes = std::int64_t{64} << 20, kCountedOfShared = std::int64_t{24} << 20;

/// A cache and how many logical processors share it.
struct SharedCache {
  std::int64_t bytes = 0;
  int sharing = 1;
};

/// The processors in a list such as "0-3,8-11".
int count_of(const std::string& list) {
  int count = 0;
  const char *at = list.data(), *const end = at + list.size();
  while (at < end) {
    int first = 0, last = 0;
    auto [after, error] = std::from_chars(at, end, first);
    if (error != std::errc()) break;
    last = first;
    if (after < end && *after == '-') after = std::from_chars(after + 1, end, last).ptr;
    count += last - first + 1;
    at = after + 1;
  }
  return std::max(count, 1);
}

/// As Linux describes the first processor's; nothing where there is no third level, as a second is one core's. glibc's
/// sysconf adds up those of all cores that AMD's processors have, 320 MiB where two cores share 32: results of
/// `silu_mul` went through the caches up to that size, at 0.8 of the speed.
SharedCache described_last_level() {
  SharedCache last;
  int highest = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    int level = 0;
    std::int64_t size = 0;
    char unit = 0;
    std::string shared;
    if (!(std::ifstream(folder + "level") >> level)) break;
    if (level <= highest || !(std::ifstream(folder + "size") >> size >> unit) || size <= 0) continue;
    std::ifstream(folder + "shared_cpu_list") >> shared;
    highest = level;
    last = {size << (unit == 'M' ? 20 : unit == 'K' ? 10 : 0), count_of(shared)};
  }
  return highest >= 3 ? last : SharedCache{};
}

SharedCache last_level() {
  if (const SharedCache described = described_last_level(); described.bytes > 0) return described;
  long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return {bytes > 0 ? bytes : std::int64_t{32} << 20, 1 << 16};
}

}  // namespace

std::int64_t cache_bytes() {
  static const SharedCache last = last_level();
  const std::int64_t counted = last.bytes > kMostCacheBytes ? kCountedOfShared : last.bytes;
  return counted * ((max_threads() + last.sharing - 1) / last.sharing);
}

}  // namespace tern::detail_cpu
