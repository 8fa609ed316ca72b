// First positions of extremes, taken in the pass of the extreme (OnlineSum::kPlace). An ordinal is asked for only where
// an element is the extreme so far: seldom.
#include <algorithm>
#include <cstring>

#include "cpu/tape/block_runner.hpp"

namespace tern::detail_cpu {

namespace {
constexpr std::int32_t kNowhere = detail::OnlineSum::kNowhere;

/// Elements of rows in which a place is found without a call for each.
constexpr std::int64_t kShortPlaces = 64;
}

/// Of one row of n elements, whose ordinals follow the order of memory in no way that is known.
std::int32_t BlockRunner::least_place(const Cursor& ordinals, FindFn find, const std::byte* x, std::size_t size,
                                      const void* extreme, std::int64_t position, std::int64_t n) const {
  std::int32_t least = kNowhere, places[kTapeBlock];
  for (std::int64_t at = 0; at < n; at += kTapeBlock) {
    const std::byte* const part = x + static_cast<std::size_t>(at) * size;
    const auto length = static_cast<std::size_t>(std::min(kTapeBlock, n - at));
    std::size_t i = find(part, extreme, length);
    if (i == length) continue;
    ordinals.load(table_, position + at, static_cast<std::int64_t>(length), places);
    for (; i < length; i += 1 + find(part + (i + 1) * size, extreme, length - i - 1))
      least = std::min(least, places[i]);
  }
  return least;
}

void BlockRunner::find_places(const Worker& w, const TapeOnline& online, const Block& b, const void* extremes,
                              std::int32_t* places, const PlacesBefore& before) const {
  const TapeOp& pivot = tape_.ops[static_cast<std::size_t>(online.pivot)];
  const auto* const x = static_cast<const std::byte*>(w.at[static_cast<std::size_t>(pivot.args[0])]);
  const auto* const wanted = static_cast<const std::byte*>(extremes);
  const std::size_t size = compute_size(pivot.type);
  const BlockInput& weight = *std::ranges::find(inputs_, online.weight, &BlockInput::value);
  const Cursor& ordinals = weight.cursor;
  const bool counts = ordinals.counts_up();
  std::int32_t first = 0;
  if (counts) ordinals.load(table_, b.position, 1, &first);
  if (!rows_) {
    std::int32_t of_rows[kTapeBlock];
    for (std::int64_t g = 0; g < b.rows; ++g) {
      if (counts) of_rows[g] = first + static_cast<std::int32_t>(g);
      else ordinals.load(table_, b.position + g * b.pitch, 1, of_rows + g);
    }
    return table_.places_of_columns[static_cast<int>(pivot.type)](
        x, extremes, of_rows, places, static_cast<std::size_t>(b.rows), static_cast<std::size_t>(b.kept));
  }
  const auto type = static_cast<int>(pivot.type);
  const std::int64_t run = b.size() / b.kept;
  const auto kept = static_cast<std::size_t>(b.kept), length = static_cast<std::size_t>(run);
  const auto stays = [&](std::int64_t k) {  // also beside an equal element, which stands behind it
    const auto at = static_cast<std::size_t>(k) * size;
    return before.extremes && before.places[k] < first &&
           std::memcmp(wanted + at, static_cast<const std::byte*>(before.extremes) + at, size) == 0;
  };
  if (counts && run > 1 && run <= table_.place_row[type])
    return table_.places_of_rows[pivot.which == Elementary::min][type](x, first, places, kept, length);
  if (counts && run <= kShortPlaces) return table_.find_rows[type](x, extremes, first, places, kept, length);
  const FindFn find = table_.find[type];
  for (std::int64_t k = 0; k < b.kept; ++k) {
    const std::byte* const row = x + static_cast<std::size_t>(k * run) * size;
    const void* const extreme = wanted + static_cast<std::size_t>(k) * size;
    if (!counts) {
      places[k] = least_place(ordinals, find, row, size, extreme, b.position + k * run, run);
      continue;
    }
    if (stays(k)) {
      places[k] = kNowhere;
      continue;
    }
    const auto i = static_cast<std::int64_t>(find(row, extreme, static_cast<std::size_t>(run)));
    places[k] = i < run ? first + static_cast<std::int32_t>(i) : kNowhere;
  }
}

}  // namespace tern::detail_cpu
