// Launches of one kernel that do not depend on each other, in one launch: the steps of an optimizer are a kernel for
// each parameter, and a small network's parameters take longer to launch than to update.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "gpu/plan/kernel.hpp"
#include "gpu/plan/prepared.hpp"

namespace tern::detail_gpu {

class GpuBackend;

/// Collects the launches of requests that are planned one after the other, whose kernels are printed as of parts
/// (Module::parts), and queues those with the same key together.
class Horizontal {
 public:
  explicit Horizontal(GpuBackend& backend) : backend_(backend) {}
  template <class Text> void add(const Launch& launch, const Text& text) {
    Group& group = group_of(launch);
    if (group.launches.empty()) group.text = text();
    group.launches.push_back(launch);
    if (const Preparing* preparing = Preparing::current()) preparing->count_inputs(group.launches.back().numbers);
  }
  /// Queues what was added.
  void finish();

 private:
  struct Group {
    std::vector<Launch> launches;
    std::string text;
  };
  Group& group_of(const Launch& launch);

  GpuBackend& backend_;
  std::vector<Group> groups_;
};

/// The one argument of a kernel of parts: for each its pointers and its parameters, then the workgroups of each.
inline constexpr std::size_t kPartsBytes = 4096;  // what a kernel may be given
constexpr std::size_t part_bytes(std::size_t bindings, std::size_t params) {
  return 8 * bindings + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(4 * params), 8));
}
/// How many a kernel takes, whose parts have so many bindings and words of parameters.
constexpr std::size_t most_parts(std::size_t bindings, std::size_t params) {
  return std::min<std::size_t>(64, kPartsBytes / (part_bytes(bindings, params) + 4));
}
/// The argument of such a launch.
std::array<std::byte, kPartsBytes> packed_parts(const Launch& launch);

}  // namespace tern::detail_gpu
