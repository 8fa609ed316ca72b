#include "gpu/plan/switched_parts.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "backend/instruments/trace.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

// Parts of a launch: a text has a line for each part's memory. 256 vectors of 1000 are concatenated in 93 us, and with
// a launch for each in 570 (H200, 27 November 2026).
constexpr std::size_t kMostSwitched = 64;

bool is_same(const Binding& a, const Binding& b) {
  return a.storage == b.storage && a.begin == b.begin && a.end == b.end;
}

/// Launches that are one.
class SwitchedParts {
 public:
  explicit SwitchedParts(const Limits& limits) : limits_(limits) {}

  /// Adds a launch, unless the kernel could not bind what it touches as well.
  bool add(const Launch& part) {
    parts_.push_back(&part);
    if (parts_.size() == 1 || fits()) return true;
    parts_.pop_back();
    return false;
  }
  bool empty() const { return parts_.empty(); }
  void clear() { parts_.clear(); }

  void queue(GpuBackend& backend, const std::string& text) const {
    const SwitchedShape shape = this->shape();
    Launch all = *parts_[0];
    all.bindings.clear(), all.numbers.clear(), all.groups = 0, all.steps = 0;
    all.key += cat("/", shape.parts, "/");
    for (std::size_t k = 0; k < shape.bindings.size(); ++k) {
      all.key += shape.same[k] ? 's' : 'd';
      for (std::size_t i = 0; i < (shape.same[k] ? 1 : shape.parts); ++i)
        all.bindings.push_back(part(i).bindings[k]);
    }
    all.params.assign(4 * (shape.first_params() + shape.parts * shape.params), 0);
    for (std::size_t i = 0; i < shape.parts; ++i) {
      all.params[4 + i] = static_cast<std::uint32_t>(all.groups);
      if (i < parts_.size()) add_part(*parts_[i], 4 * (shape.first_params() + i * shape.params), all);
    }
    if (detail::tracing() && parts_.size() > 1) detail::note(cat(parts_.size(), " horizontally fused"));
    backend.queue(all, [&] { return backend.dialect().switched(text, shape); });
  }

 private:
  /// Part i, or what stands in for it where a text is for more.
  const Launch& part(std::size_t i) const { return *parts_[std::min(i, parts_.size() - 1)]; }
  static void add_part(const Launch& part, std::size_t at, Launch& all) {
    std::copy(part.params.begin(), part.params.end(), all.params.begin() + static_cast<std::ptrdiff_t>(at));
    for (NumberParam n : part.numbers) n.slot += static_cast<int>(at), all.numbers.push_back(n);
    all.groups += part.groups, all.steps += part.steps;
  }

  /// Of a power of two of parts, so that there are few texts, where what is missing can be stood in for: not what is
  /// written, which is bound once alone.
  SwitchedShape shape() const {
    SwitchedShape shape;
    const Launch& like = *parts_[0];
    shape.params = static_cast<std::size_t>(ceil_div(static_cast<std::int64_t>(like.params.size()), 4));
    shape.bindings = like.bindings;
    bool stands_in = true;
    for (std::size_t k = 0; k < like.bindings.size(); ++k) {
      const bool same = std::all_of(parts_.begin(), parts_.end(), [&](const Launch* other) {
        return is_same(other->bindings[k], like.bindings[k]);
      });
      shape.same.push_back(same);
      stands_in = stands_in && (same || !is_written(k));
    }
    shape.parts = stands_in ? std::bit_ceil(parts_.size()) : parts_.size();
    return shape;
  }
  bool is_written(std::size_t k) const { return parts_[0]->bindings[k].written || parts_[0]->bindings[k].atomic; }
  bool fits() const {
    const SwitchedShape shape = this->shape();
    std::size_t bindings = 0;
    for (std::size_t k = 0; k < shape.bindings.size(); ++k) {
      if (!shape.same[k] && shape.bindings[k].atomic) return false;  // changed where it lies
      bindings += shape.same[k] ? 1 : shape.parts;
    }
    return shape.parts <= kMostSwitched && bindings <= limits_.bindings && binds_once_what_is_written(shape) &&
           4 * (shape.first_params() + shape.parts * shape.params) <= limits_.param_words;
  }
  /// Whether memory that a part writes is bound once: in one place for all of them, or there for that part alone.
  bool binds_once_what_is_written(const SwitchedShape& shape) const {
    const auto memory = [&](std::size_t i, std::size_t k) { return parts_[i]->bindings[k].storage; };
    const std::size_t last = parts_.size() - 1;
    for (std::size_t k = 0; k < shape.bindings.size(); ++k) {
      // All others had the same.
      if (is_written(k) && !shape.same[k] && last > 1 && memory(0, k) == memory(1, k)) return false;
      for (std::size_t other = 0; other < shape.bindings.size(); ++other) {
        if ((!is_written(k) && !is_written(other)) || (k == other && shape.same[k])) continue;
        for (std::size_t i = 0; i < last; ++i)
          if (memory(i, other) == memory(last, k)) return false;
      }
    }
    return true;
  }

  const Limits& limits_;
  std::vector<const Launch*> parts_;
};

}  // namespace

void queue_switched(GpuBackend& backend, std::span<const Launch> launches, const std::string& text) {
  SwitchedParts together(backend.limits());
  for (const Launch& launch : launches) {
    if (together.add(launch)) continue;
    together.queue(backend, text), together.clear();
    together.add(launch);
  }
  if (!together.empty()) together.queue(backend, text);
}

}  // namespace tern::detail_gpu
