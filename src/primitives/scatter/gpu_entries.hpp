// The entries of a large table in the order of the places that they name, and of those that name one place in their
// own: what the kernels of gpu_sorted.cpp go through.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/plan/lines.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"
#include "primitives/scatter/kernels.hpp"

namespace tern::detail_gpu {

/// The entries of the table as lines, one for every line of the output: how the request's axes are laid out in them.
struct EntryLines {
  explicit EntryLines(const detail::ScatterRequest& r);
  std::uint32_t summed = 0, lines = 0;  // axes that the output does not have, and those the table varies along besides
  std::int64_t length = 1, count = 1;   // entries that may meet in an element, and all of them
  View view;                            // [lines, length] laid over the request's space, without storage
};

/// Words (i32) that live as long as `storage`, from its first on.
struct EntryWords {
  std::shared_ptr<Storage> storage;
  View view;
};
EntryWords words_of_entries(GpuBackend& backend, std::int64_t count);

struct OrderedEntries {
  EntryWords keys;    // the places that are named, in their order; of buckets as the table has them
  EntryWords places;  // the entries that name them
  std::int64_t room;  // words of `places` for a line
  /// Where the entries of each place begin among `places`, and where they end; without storage where there is no list.
  EntryWords begins = {};
  View ends = {};
  std::int64_t range_words = 0;
  /// Places with so many entries (0: none) are crowded, and combined by workgroups of their own: which these are, how
  /// many at most, and the word that says how many.
  std::uint32_t crowded_from = 0;
  EntryWords crowded = {};
  std::int64_t most_crowded = 0;
  std::shared_ptr<Storage> counts = {};
  View crowded_count = {};
};
OrderedEntries order_entries(GpuBackend& backend, const detail::ScatterRequest& r, const EntryLines& lines);

/// Whether lists of where entries begin and end are worth their kernels: where all lines of the output share them, and
/// all of it is written.
inline bool has_ranges(const Limits& limits, const detail::ScatterRequest& r, const EntryLines& lines) {
  return lines.lines == 0 && r.initial.storage && !limits.archived;
}

// ---- kernels on entries ----

inline constexpr std::uint32_t kEntryThreads = 256;
/// Finishes a plan's key, after the last change to the plan.
void prepare_entries(GpuBackend& backend, Plan& plan);
void launch_entries(GpuBackend& backend, Plan& plan, std::int64_t invocations,
                    const std::function<std::string()>& text);

struct Buckets;
/// Reads the entries, counted from 0, and fills buckets with them where there are any.
void read_table(GpuBackend& backend, const detail::ScatterRequest& r, const EntryLines& lines, const View& entries,
                const Buckets* buckets);

// ---- buckets: gpu_buckets.cpp ----

/// Whether entries are put in order by buckets of their places.
bool fits_buckets(const Limits& limits, const detail::ScatterRequest& r, const EntryLines& lines);
OrderedEntries order_in_buckets(GpuBackend& backend, const detail::ScatterRequest& r, const EntryLines& lines);
/// Adds accesses by which buckets are filled; returns the first.
int add_buckets(Plan& plan, const Buckets& buckets, std::vector<ByteRange>& touched);
/// $fill: the entry t, which names `place`, into its bucket, by these accesses; nothing where there are none (-1).
void name_filling(Holes& holes, const Plan& plan, int first_bucket);

}  // namespace tern::detail_gpu
