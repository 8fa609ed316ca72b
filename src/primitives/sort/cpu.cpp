// Sorting along an axis by keys: integers that are ordered as the elements are, and the places of the elements, so that
// equal ones stay in their order. Many keys are sorted by their bytes (radix), few by comparisons; where only the first
// results of a long line are wanted, those are selected before they are sorted.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/tape/block_runner.hpp"
#include "cpu/line_tools.hpp"
#include "cpu/scratch.hpp"
#include "cpu/threads_noted.hpp"
#include "formula/compute_types.hpp"
#include "primitives/sort/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using detail::SortRequest;

namespace {

/// From so many keys on, bytes are faster than comparisons.
constexpr std::int64_t kRadixFrom = 256;
/// Keys that are looked at together in a selection.
constexpr std::int64_t kGroup = 64;
/// Lines of more elements are selected from. A selection gathers so many times what is wanted, and at least so many,
/// before it looks which are the first.
constexpr std::int64_t kSelectFrom = 512, kGathered = 4, kFewestGathered = 128;

template <class T> using KeyOf = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// Ordered as the elements are: zeros are equal, and so are NaNs, which are the largest.
template <class T> KeyOf<T> key_of(T x) {
  using Key = KeyOf<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const Key bits = std::bit_cast<Key>(x + T(0));  // -0 + 0 is 0
    const Key ordered = bits ^ ((bits >> (8 * sizeof(Key) - 1)) & std::numeric_limits<Key>::max());
    return x == x ? ordered : std::numeric_limits<Key>::max();
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<Key>(x ^ (T(1) << (8 * sizeof(T) - 1)));
  } else {
    return x;
  }
}

/// A key, as an unsigned one, and its place.
struct WideItem {
  std::uint64_t key;
  std::uint32_t place;
  bool operator<(const WideItem& other) const { return key < other.key || (key == other.key && place < other.place); }
};
/// Both in one number, the key above.
struct Item {
  std::uint64_t bits;
  bool operator<(const Item& other) const { return bits < other.bits; }
};
template <class T> using ItemOf = std::conditional_t<sizeof(T) == 8, WideItem, Item>;
std::uint32_t place_of(const Item& item) { return static_cast<std::uint32_t>(item.bits); }
std::uint32_t place_of(const WideItem& item) { return item.place; }
std::uint8_t digit_of(const Item& item, int digit) { return static_cast<std::uint8_t>(item.bits >> (32 + 8 * digit)); }
std::uint8_t digit_of(const WideItem& item, int digit) { return static_cast<std::uint8_t>(item.key >> (8 * digit)); }

Item item_of(std::int32_t key, std::int64_t place) {
  const auto high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key) ^ 0x80000000u);
  return {high << 32 | static_cast<std::uint32_t>(place)};
}
WideItem item_of(std::int64_t key, std::int64_t place) {
  return {static_cast<std::uint64_t>(key) ^ (std::uint64_t{1} << 63), static_cast<std::uint32_t>(place)};
}
std::int32_t key_in(const Item& item) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(item.bits >> 32) ^ 0x80000000u);
}
std::int64_t key_in(const WideItem& item) { return static_cast<std::int64_t>(item.key ^ (std::uint64_t{1} << 63)); }

/// By the least byte first; bytes that are the same in all keys are passed over.
template <class I> void radix_sort(CallVector<I>& items, CallVector<I>& other) {
  constexpr int kDigits = sizeof(I) == sizeof(Item) ? 4 : 8;
  std::uint32_t counts[kDigits][256] = {};
  for (const I& item : items)
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit_of(item, d)];
  other.resize(items.size());
  for (int d = 0; d < kDigits; ++d) {
    std::uint32_t* const begins = counts[d];
    if (begins[digit_of(items[0], d)] == items.size()) continue;
    std::uint32_t at = 0;
    for (int v = 0; v < 256; ++v) {
      const std::uint32_t count = begins[v];
      begins[v] = at;
      at += count;
    }
    for (const I& item : items) other[begins[digit_of(item, d)]++] = item;
    items.swap(other);
  }
}

/// This thread's memory.
template <class T> struct KeyLines {
  CallVector<T> values, sorted;
  CallVector<ItemOf<T>> items, other;
  CallVector<std::int32_t> places;

  void end() {
    give_back_if_large(values), give_back_if_large(sorted), give_back_if_large(items), give_back_if_large(other);
    give_back_if_large(places);
  }
};

template <class T> class LineSort {
 public:
  LineSort(KeyLines<T>& lines, bool descending) : lines_(lines), descending_(descending) {}

  /// The places of the first `wanted` of n elements, in lines_.items.
  void sort(const T* x, std::int64_t n, std::int64_t wanted) {
    auto& items = lines_.items;
    items.clear();
    const bool selected = wanted < n / 8 && n > kSelectFrom;
    if (selected) {
      select(x, n, wanted);
    } else {
      items.resize(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) items[static_cast<std::size_t>(i)] = item_of(key(x[i]), i);
    }
    // By bytes equal keys stay in the order they stand in, which after a selection is not that of their places.
    if (!selected && n >= kRadixFrom) radix_sort(items, lines_.other);
    else std::sort(items.begin(), items.end());
  }

 private:
  KeyOf<T> key(T x) const { return descending_ ? ~key_of(x) : key_of(x); }

  void select(const T* x, std::int64_t n, std::int64_t wanted) {
    auto& items = lines_.items;
    const auto most = static_cast<std::size_t>(std::max(kFewestGathered, kGathered * wanted));
    const auto cut = [&] {
      if (static_cast<std::int64_t>(items.size()) <= wanted) return;
      std::nth_element(items.begin(), items.begin() + wanted, items.end());
      items.resize(static_cast<std::size_t>(wanted));
    };
    KeyOf<T> worst = std::numeric_limits<KeyOf<T>>::max();
    bool full =
        false;  // `wanted` are known, the last of them `worst`: others must be before it, for they stand behind it
    for (std::int64_t begin = 0; begin < n; begin += kGroup) {
      const std::int64_t count = std::min(kGroup, n - begin);
      KeyOf<T> keys[kGroup];
      bool any = !full;
      for (std::int64_t i = 0; i < count; ++i) keys[i] = key(x[begin + i]);
      for (std::int64_t i = 0; i < count; ++i) any |= keys[i] < worst;
      if (!any) continue;
      for (std::int64_t i = 0; i < count; ++i)
        if (!full || keys[i] < worst) items.push_back(item_of(keys[i], begin + i));
      if (items.size() < most) continue;
      cut();
      worst = key_in(*std::max_element(items.begin(), items.end())), full = true;
    }
    cut();
  }

  KeyLines<T>& lines_;
  bool descending_;
};

/// As many lines as fit a block are read and written together.
template <class T> void sort_lines(const SortRequest& r, const KernelTable& table) {
  const std::int64_t n = r.space[static_cast<std::size_t>(r.axis)], wanted = r.first > 0 ? std::min(r.first, n) : n;
  const std::int64_t given = r.rank_count > 0 ? r.rank_count : wanted;
  AxisOrder order = lines_of(r.space, r.axis);
  const std::int64_t count = order.count(),
                     together = std::max<std::int64_t>(1, kTapeBlock / std::max<std::int64_t>(n, 1));
  order.axes[order.rank] = r.axis, order.sizes[order.rank++] = n;
  AxisOrder results = order;
  results.sizes[results.rank - 1] = given;
  const Cursor input(r.input, order);
  const auto cursor_of = [&](const detail::View& view) { return view.storage ? Cursor(view, results) : Cursor(); };
  const Cursor values = cursor_of(r.values), indices = cursor_of(r.indices);
  for_lines(count, n, [&](std::int64_t first, std::int64_t last) {
    auto& lines = detail::of_thread<KeyLines<T>>();
    LineSort<T> sorter(lines, r.descending);
    for (std::int64_t line = first; line < last; line += together) {
      const std::int64_t some = std::min(together, last - line);
      lines.values.resize(static_cast<std::size_t>(some * n));
      lines.sorted.resize(static_cast<std::size_t>(some * given)), lines.places.resize(lines.sorted.size());
      input.load(table, line * n, some * n, lines.values.data());
      std::size_t to = 0;
      for (std::int64_t k = 0; k < some; ++k) {
        const T* const x = lines.values.data() + k * n;
        sorter.sort(x, n, wanted);
        for (std::int64_t i = 0; i < given; ++i, ++to) {
          const auto rank = static_cast<std::size_t>(r.rank_count > 0 ? r.ranks[static_cast<std::size_t>(i)] : i);
          const std::uint32_t place = place_of(lines.items[rank]);
          lines.places[to] = static_cast<std::int32_t>(place), lines.sorted[to] = x[place];
        }
      }
      if (r.values.storage) values.store(table, line * given, some * given, lines.sorted.data());
      if (r.indices.storage) indices.store(table, line * given, some * given, lines.places.data());
    }
    lines.end();
  });
}

}  // namespace

void sort_on_cpu(detail::Backend&, const SortRequest& r) {
  with_threads_noted([&] {
    if (r.space.numel() == 0) return;
    with_type(dtype_computed_in(detail::compute_type_of(r.input.dtype)), r.op,
              [&]<class T>(T) { sort_lines<T>(r, kernels()); });
  });
}

}  // namespace tern::detail_cpu
