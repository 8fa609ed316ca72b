#include "gpu/plan/horizontal.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/gpu_backend.hpp"
#include "gpu/plan/switched_parts.hpp"

namespace tern::detail_gpu {

Horizontal::Group& Horizontal::group_of(const Launch& launch) {
  for (Group& group : groups_)
    if (group.launches[0].key == launch.key) return group;
  return groups_.emplace_back();
}

void Horizontal::finish() {
  if (Preparing* preparing = Preparing::current()) preparing->count_inputs_from(0);  // they are counted already
  const bool switched = backend_.dialect().parts_by_switch();
  for (const Group& group : groups_) {
    if (switched) {
      queue_switched(backend_, group.launches, group.text);
      continue;
    }
    const Launch& like = group.launches[0];
    const std::size_t most = most_parts(like.bindings.size(), like.params.size());
    for (std::size_t begin = 0; begin < group.launches.size(); begin += most) {
      Launch all = like;
      all.bindings.clear(), all.params.clear(), all.numbers.clear(), all.groups = 0;
      for (std::size_t i = begin; i < std::min(begin + most, group.launches.size()); ++i) {
        const Launch& part = group.launches[i];
        for (NumberParam n : part.numbers) n.slot += static_cast<int>(all.params.size()), all.numbers.push_back(n);
        all.bindings.insert(all.bindings.end(), part.bindings.begin(), part.bindings.end());
        all.params.insert(all.params.end(), part.params.begin(), part.params.end());
        all.groups += part.groups, all.parts.push_back(static_cast<std::uint32_t>(part.groups));
      }
      backend_.queue(all, [&] { return group.text; });
    }
  }
  groups_.clear();
}

std::array<std::byte, kPartsBytes> packed_parts(const Launch& launch) {
  std::array<std::byte, kPartsBytes> block;
  const std::size_t parts = launch.parts.size(), bindings = launch.bindings.size() / parts,
                    params = launch.params.size() / parts;
  std::byte* at = block.data();
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t k = 0; k < bindings; ++k, at += 8) {
      const Binding& b = launch.bindings[part * bindings + k];
      const auto address = reinterpret_cast<std::uintptr_t>(b.storage->data()) + b.begin;
      std::memcpy(at, &address, 8);
    }
    std::memcpy(at, &launch.params[part * params], 4 * params);
    at = block.data() + (part + 1) * part_bytes(bindings, params);
  }
  at = block.data() + most_parts(bindings, params) * part_bytes(bindings, params);
  std::memcpy(at, launch.parts.data(), 4 * parts);
  return block;
}

}  // namespace tern::detail_gpu
