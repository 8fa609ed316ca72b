// What the kernels of a sort share: a request with what every stage asks of it, and the holes of their files.
#pragma once
#include <string>
#include <vector>

#include "gpu/plan/lines.hpp"
#include "gpu/radix/radix.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/sort/gpu.hpp"

namespace tern::detail_gpu {

inline constexpr const char* kSortPlaceText =
#include "primitives/sort/sort_place.wgsl.inc"
    ;

constexpr std::uint32_t kSortThreads = 256, kSortBlock = 1024;  // elements a workgroup sorts in its own memory

/// A request, and what every stage asks of it.
struct SortJob {
  SortJob(GpuBackend& backend, const detail::SortRequest& request)
      : backend(backend), r(request), results(r.results()), n(r.space[static_cast<std::size_t>(r.axis)]),
        wanted(results[static_cast<std::size_t>(r.axis)]), lines(r.space.numel() / n), dtype(r.input.dtype),
        halves(Radix::sorts_halves(backend, dtype)) {}
  const Dialect& dialect() const { return backend.dialect(); }
  std::uint32_t flip() const { return r.descending ? ~0u : 0u; }
  bool to_values() const { return r.values.storage != nullptr; }
  bool to_indices() const { return r.indices.storage != nullptr; }
  /// The results that are asked for, after `first`.
  std::vector<const View*> views(std::vector<const View*> first) const {
    if (to_values()) first.push_back(&r.values);
    if (to_indices()) first.push_back(&r.indices);
    return first;
  }

  GpuBackend& backend;
  const detail::SortRequest& r;
  Shape results;
  std::int64_t n, wanted, lines;  // length of a line, of its results, and how many
  DType dtype;
  bool halves;
};

/// Whether a workgroup sorts a whole line by digits, in its memory; and what does so.
bool fits_sort_tile(const SortJob& job);
void sort_tiles(const SortJob& job);

// ---- what the holes of the files have ----

inline Holes sort_holes(const LinePlan& l, DType dtype) {
  return {{"threads", cat(kSortThreads)},   {"each", cat(l.group)},
          {"elements", numbers(0, l.group)}, {"length", l.p(l.length_slot)},
          {"lines", l.p(l.lines_slot)},      {"barrier", l.backend.dialect().barrier()},
          {"word", word_of(dtype)},          {"place", kSortPlaceText}};
}

/// Loads the group of the input, and names the bits of each element.
inline void load_bits(Holes& holes, const LinePlan& l, Io& io, const Position& at, DType dtype) {
  std::vector<std::string> names;
  holes["load"] = io.load(0, at, names);
  for (int e = 0; e < l.group; ++e) holes[cat("bits_", e)] = packed(dtype, names[static_cast<std::size_t>(e)]);
}

/// Stores the group's results from expressions, of accesses from `access` on.
struct SortResults {
  std::vector<std::string> values, places;
};
inline void store_results(Holes& holes, const SortJob& job, Io& io, const Position& at, int access,
                          const SortResults& results) {
  holes["store_values"] = job.to_values() ? io.store(access++, at, results.values, "") : std::string();
  holes["store_places"] = job.to_indices() ? io.store(access, at, results.places, "") : std::string();
}

}  // namespace tern::detail_gpu
