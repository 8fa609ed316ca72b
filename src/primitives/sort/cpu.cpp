// Sorting along an axis by keys: integers that are ordered as the elements are, and the places of the elements, so that
// equal ones stay in their order. Many keys are sorted by their bytes (radix), few by comparisons; where only the first
// results of a long line are wanted, those are selected before they are sorted.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

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

template <class I> inline constexpr int kDigits = sizeof(I) == sizeof(Item) ? 4 : 8;
/// How many items have each byte.
template <class I> struct DigitCounts {
  std::uint32_t of[kDigits<I>][256] = {};
  void add(const I& item) {
    for (int d = 0; d < kDigits<I>; ++d) ++of[d][digit_of(item, d)];
  }
};
/// Counts as where each of these begins.
void counts_to_begins(std::uint32_t* counts) {
  std::uint32_t at = 0;
  for (int v = 0; v < 256; ++v) at += std::exchange(counts[v], at);
}
/// By the least byte first; bytes that are the same in all keys are passed over.
template <class I> void radix_sort(CallVector<I>& items, CallVector<I>& other, DigitCounts<I>& counts) {
  other.resize(items.size());
  for (int d = 0; d < kDigits<I>; ++d) {
    std::uint32_t* const begins = counts.of[d];
    if (begins[digit_of(items[0], d)] == items.size()) continue;
    counts_to_begins(begins);
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
    // By bytes equal keys stay in the order they stand in, which after a selection is not that of their places.
    if (selected) select(x, n, wanted);
    else items.resize(static_cast<std::size_t>(n));
    if (selected || n < kRadixFrom) {
      for (std::int64_t i = 0; !selected && i < n; ++i) items[static_cast<std::size_t>(i)] = item_of(key(x[i]), i);
      std::sort(items.begin(), items.end());
      return;
    }
    DigitCounts<ItemOf<T>> counts;
    for (std::int64_t i = 0; i < n; ++i) counts.add(items[static_cast<std::size_t>(i)] = item_of(key(x[i]), i));
    radix_sort(items, lines_.other, counts);
  }

  /// The element at a place of the order, of x: from its key, if that tells it from all others.
  T value(const T* x, std::size_t rank) const {
    const ItemOf<T>& item = lines_.items[rank];
    const KeyOf<T> key = descending_ ? ~key_in(item) : key_in(item);
    constexpr KeyOf<T> most = std::numeric_limits<KeyOf<T>>::max();
    if constexpr (std::is_floating_point_v<T>) {
      if (key == 0 || key == most) [[unlikely]] return x[place_of(item)];  // of either sign, any NaN
      return std::bit_cast<T>(key ^ ((key >> (8 * sizeof(key) - 1)) & most));
    } else {
      return static_cast<T>(static_cast<T>(key) ^ (std::is_unsigned_v<T> ? T(1) << (8 * sizeof(T) - 1) : 0));
    }
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

/// Elements as they are computed: where they lie, or copied.
template <class T>
const T* elements(const Cursor& input, std::int64_t position, std::int64_t count, CallVector<T>& copy,
                  const KernelTable& table) {
  if (stored_as_computed(input.dtype()))
    if (const void* const there = input.direct(position, count)) return static_cast<const T*>(there);
  copy.resize(static_cast<std::size_t>(count));
  input.load(table, position, count, copy.data());
  return copy.data();
}
/// Where results are written: to memory as it is, or to a copy that is then stored; null where they are not wanted.
template <class T> class Destination {
 public:
  T* to = nullptr;

  Destination(const std::optional<Cursor>& output, bool there, std::int64_t position, std::int64_t count,
              CallVector<T>& copy)
      : output_(output), position_(position), count_(count) {
    if (!output) return;
    if (there && stored_as_computed(output->dtype()))
      to = static_cast<T*>(const_cast<void*>(output->direct(position, count)));
    if (to) return;
    copy.resize(static_cast<std::size_t>(count));
    to = copy.data(), copied_ = true;
  }
  void finish(const KernelTable& table) const {
    if (copied_) output_->store(table, position_, count_, to);
  }

 private:
  const std::optional<Cursor>& output_;
  std::int64_t position_, count_;
  bool copied_ = false;
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
  const auto cursor_of = [&](const detail::View& view) {
    return view.storage ? std::optional<Cursor>(Cursor(view, results)) : std::nullopt;
  };
  const std::optional<Cursor> values = cursor_of(r.values), indices = cursor_of(r.indices);
  const auto apart = [&](const detail::View& view) { return view.storage != r.input.storage; };
  for_lines(count, n, [&](std::int64_t first, std::int64_t last) {
    auto& lines = detail::of_thread<KeyLines<T>>();
    LineSort<T> sorter(lines, r.descending);
    for (std::int64_t line = first; line < last; line += together) {
      const std::int64_t some = std::min(together, last - line), results_of_some = some * given;
      const T* const from = elements<T>(input, line * n, some * n, lines.values, table);
      const Destination<T> sorted(values, apart(r.values), line * given, results_of_some, lines.sorted);
      const Destination<std::int32_t> places(indices, apart(r.indices), line * given, results_of_some, lines.places);
      std::size_t to = 0;
      for (std::int64_t k = 0; k < some; ++k) {
        const T* const x = from + k * n;
        sorter.sort(x, n, wanted);
        for (std::int64_t i = 0; i < given; ++i, ++to) {
          const auto rank = static_cast<std::size_t>(r.rank_count > 0 ? r.ranks[static_cast<std::size_t>(i)] : i);
          if (places.to) places.to[to] = static_cast<std::int32_t>(place_of(lines.items[rank]));
          if (sorted.to) sorted.to[to] = sorter.value(x, rank);
        }
      }
      sorted.finish(table), places.finish(table);
    }
    lines.end();
  });
}

/// All of a line of bytes: each value's place is where those before it end.
void sort_line_of_bytes(const std::uint8_t* x, std::int64_t n, std::uint8_t flip, std::uint8_t* values,
                        std::int32_t* places) {
  std::uint32_t counts[256] = {};
  for (std::int64_t i = 0; i < n; ++i) ++counts[x[i] ^ flip];
  if (values) {
    std::uint8_t* to = values;
    for (std::size_t v = 0; v < 256; ++v) to = std::fill_n(to, counts[v], static_cast<std::uint8_t>(v ^ flip));
  }
  if (!places) return;
  counts_to_begins(counts);
  for (std::int64_t i = 0; i < n; ++i) places[counts[x[i] ^ flip]++] = static_cast<std::int32_t>(i);
}
/// Of what is stored in bytes, sorted from memory to memory; false: it lies otherwise, or not all of it is wanted.
bool sort_bytes(const SortRequest& r) {
  const auto axis = static_cast<std::size_t>(r.axis);
  const std::int64_t n = r.space[axis];
  const auto lies_so = [&](const detail::View& view) {
    return !view.storage || (view.strides[axis] == 1 && view.storage != r.input.storage);
  };
  if (dtype_size(r.input.dtype) != 1 || n < kRadixFrom || r.rank_count > 0) return false;
  if ((r.first > 0 && r.first < n) || r.input.strides[axis] != 1) return false;
  if (!lies_so(r.values) || !lies_so(r.indices)) return false;
  const auto flip = static_cast<std::uint8_t>((r.descending ? 0xff : 0) ^ (r.input.dtype == DType::i8 ? 0x80 : 0));
  const AxisOrder lines = lines_of(r.space, r.axis);
  for_lines(lines.count(), n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const auto at = [&](const detail::View& view) { return at_line(view, lines, line); };
      sort_line_of_bytes(pointer<std::uint8_t>(at(r.input)), n, flip,
                         r.values.storage ? pointer<std::uint8_t>(at(r.values)) : nullptr,
                         r.indices.storage ? pointer<std::int32_t>(at(r.indices)) : nullptr);
    }
  });
  return true;
}

}  // namespace

void sort_on_cpu(detail::Backend&, const SortRequest& r) {
  with_threads_noted([&] {
    if (r.space.numel() == 0 || sort_bytes(r)) return;
    with_type(dtype_computed_in(detail::compute_type_of(r.input.dtype)), r.op,
              [&]<class T>(T) { sort_lines<T>(r, kernels()); });
  });
}

}  // namespace tern::detail_cpu
