#include "cpu/tape/short_runs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu {
namespace {

/// Offsets of a pattern that are kept at once, at least two patterns' worth: enough that going on to the next costs
/// nothing.
constexpr std::int64_t kOffsets = 2 * kLongPattern;
/// Bytes of a row that are moved by instructions of their own.
constexpr std::int64_t kRowBytes = 64;

struct RowCopy {
  const std::byte* from;
  std::int64_t from_step;  // in bytes
  std::byte* to;
  std::int64_t to_step, rows;
};
template <std::size_t kBytes> void move_rows(const RowCopy& r) {
  const std::byte* from = r.from;
  std::byte* to = r.to;
  for (std::int64_t i = 0; i < r.rows; ++i, from += r.from_step, to += r.to_step) std::memcpy(to, from, kBytes);
}
using MoveRows = void (*)(const RowCopy&);
template <std::size_t... kBytes>
constexpr std::array<MoveRows, sizeof...(kBytes)> all_moves(std::index_sequence<kBytes...>) {
  return {&move_rows<kBytes + 1>...};
}
constexpr auto kMoveRows = all_moves(std::make_index_sequence<kRowBytes>());

/// to[i * kTimes + j] = from[i * step]: vectors of 16 bytes, of which the next element's overwrite what is too much.
template <class T, int kTimes>
void repeat(const std::byte* from, std::int64_t step, std::byte* to, std::int64_t count) {
  constexpr std::size_t kVector = 16 / sizeof(T), kVectors = (kTimes + kVector - 1) / kVector;
  constexpr std::int64_t kBeyond = (static_cast<std::int64_t>(kVectors * kVector) + kTimes - 1) / kTimes - 1;
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  std::int64_t i = 0;
  for (; i + kBeyond < count; ++i, y += kTimes) {
    T vector[kVector];
    for (T& type : vector) type = x[i * step];
    for (std::size_t v = 0; v < kVectors; ++v) std::memcpy(y + v * kVector, vector, 16);
  }
  for (; i < count; ++i, y += kTimes) std::fill(y, y + kTimes, x[i * step]);
}
using Repeat = void (*)(const std::byte*, std::int64_t, std::byte*, std::int64_t);
template <class T, std::size_t... kTimes>
constexpr std::array<Repeat, sizeof...(kTimes)> all_repeats(std::index_sequence<kTimes...>) {
  return {&repeat<T, static_cast<int>(kTimes) + 1>...};
}
template <class T> constexpr auto kRepeats = all_repeats<T>(std::make_index_sequence<kShortRun>());

/// Offsets of the elements of some patterns, one behind the other: of as many as fit, and are read.
struct PatternOffsets {
  std::int64_t of[kOffsets];
  std::int64_t patterns;

  PatternOffsets(const ShortRuns& runs, std::int64_t elements)
      : patterns(std::clamp<std::int64_t>((elements + runs.period - 1) / runs.period, 1, kOffsets / runs.period)) {
    of[0] = 0;
    std::int64_t filled = 1;
    const auto repeat = [&](std::int64_t times, std::int64_t step) {
      const std::int64_t part = filled;
      for (std::int64_t t = 1; t < times; ++t)
        for (std::int64_t i = 0; i < part; ++i) of[filled++] = of[i] + t * step;
    };
    for (int a = runs.axes - 1; a >= 0; --a) repeat(runs.sizes[a], runs.strides[a]);
    repeat(patterns, runs.step);
  }
};
/// Calls move(pattern's base, offsets, count, index of the first element).
template <class T, class Move>
void by_offsets(const ShortRuns& runs, T* base, std::int64_t within, std::int64_t n, const Move& move) {
  const PatternOffsets offsets(runs, within + n);
  const std::int64_t length = offsets.patterns * runs.period;
  for (std::int64_t done = 0, at = within; done < n; at = 0, base += offsets.patterns * runs.step) {
    const std::int64_t count = std::min(length - at, n - done);
    move(base, offsets.of + at, count, done);
    done += count;
  }
}

/// Whether the same element of neighbouring patterns is a run of memory, as in a transposed matrix of few columns: a
/// pattern is a row of such columns, which vectors turn (8 columns of f32, in L2, 1.2 ns an element by offsets).
template <class T> bool are_columns(const ShortRuns& runs, std::int64_t within, std::int64_t n) {
  return sizeof(T) == 4 && within == 0 && runs.step == 1 && runs.period <= kShortRun && n % runs.period == 0;
}
/// Calls move(a pointer to each column).
template <class Void, class T, class Move> void by_columns(const ShortRuns& runs, T* base, const Move& move) {
  const PatternOffsets offsets(runs, runs.period);
  std::array<Void*, static_cast<std::size_t>(kShortRun)> columns;
  for (std::int64_t i = 0; i < runs.period; ++i) columns[static_cast<std::size_t>(i)] = base + offsets.of[i];
  move(columns.data());
}

template <class T>
void gather(const ShortRuns& runs, const std::byte* base, std::int64_t within, std::int64_t n, std::byte* to) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t stride = runs.axes == 1 ? runs.strides[0] : -1, bytes = runs.period * kSize;
  if (within == 0 && n % runs.period == 0 && stride == 1 && bytes <= kRowBytes)
    return kMoveRows[static_cast<std::size_t>(bytes - 1)]({base, runs.step * kSize, to, bytes, n / runs.period});
  if (stride == 0 && within + n <= runs.period) {
    std::fill_n(reinterpret_cast<T*>(to), n, *reinterpret_cast<const T*>(base));
    return;
  }
  if (within == 0 && n % runs.period == 0 && stride == 0 && runs.step == 1 && kSize >= 4)
    return kernels().repeat[kSize == 8](base, to, static_cast<std::size_t>(n / runs.period),
                                        static_cast<std::size_t>(runs.period), 1, false);
  if (within == 0 && n % runs.period == 0 && stride == 0 && runs.period <= kShortRun)
    return kRepeats<T>[static_cast<std::size_t>(runs.period - 1)](base, runs.step, to, n / runs.period);
  if (within == 0 && n % runs.period == 0 && stride == 0) {
    const auto* const x = reinterpret_cast<const T*>(base);
    for (std::int64_t i = 0; i * runs.period < n; ++i)
      std::fill_n(reinterpret_cast<T*>(to) + i * runs.period, runs.period, x[i * runs.step]);
    return;
  }
  if (are_columns<T>(runs, within, n))
    return by_columns<const void>(runs, reinterpret_cast<const T*>(base), [&](const void* const* columns) {
      kernels().join_columns(columns, static_cast<std::size_t>(runs.period), to, runs.period,
                             static_cast<std::size_t>(n / runs.period));
    });
  by_offsets(runs, reinterpret_cast<const T*>(base), within, n,
             [&](const T* x, const std::int64_t* offsets, std::int64_t count, std::int64_t first) {
               T* const y = reinterpret_cast<T*>(to) + first;
               for (std::int64_t i = 0; i < count; ++i) y[i] = x[offsets[i]];
             });
}
template <class T>
void scatter(const ShortRuns& runs, std::byte* base, std::int64_t within, std::int64_t n, const std::byte* from) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t bytes = runs.period * kSize;
  if (within == 0 && n % runs.period == 0 && runs.axes == 1 && runs.strides[0] == 1 && bytes <= kRowBytes)
    return kMoveRows[static_cast<std::size_t>(bytes - 1)]({from, bytes, base, runs.step * kSize, n / runs.period});
  if (are_columns<T>(runs, within, n))
    return by_columns<void>(runs, reinterpret_cast<T*>(base), [&](void* const* columns) {
      kernels().split_columns(from, runs.period, static_cast<std::size_t>(runs.period), columns,
                              static_cast<std::size_t>(n / runs.period));
    });
  by_offsets(runs, reinterpret_cast<T*>(base), within, n,
             [&](T* y, const std::int64_t* offsets, std::int64_t count, std::int64_t first) {
               const T* const x = reinterpret_cast<const T*>(from) + first;
               for (std::int64_t i = 0; i < count; ++i) y[offsets[i]] = x[i];
             });
}

/// Calls move(base of the pattern, position within it, first element, count): what is no whole pattern at both ends,
/// and all between them at once. By offsets all are one.
template <class Move>
void in_three(const ShortRuns& runs, std::size_t size, std::int64_t within, std::int64_t n, const Move& move) {
  const bool offsets_alone = (runs.axes > 1 || runs.strides[0] > 1) && (size != 4 || runs.step != 1);
  if (offsets_alone) return move(std::int64_t{0}, within, std::int64_t{0}, n);
  std::int64_t done = 0, pattern = 0;
  if (within > 0) {
    done = std::min(n, runs.period - within), pattern = 1;
    move(std::int64_t{0}, within, std::int64_t{0}, done);
  }
  const std::int64_t whole = (n - done) / runs.period;
  if (whole > 0) move(pattern * runs.step, std::int64_t{0}, done, whole * runs.period);
  done += whole * runs.period, pattern += whole;
  if (done < n) move(pattern * runs.step, std::int64_t{0}, done, n - done);
}

template <class T, std::int64_t kLength>
void split(const std::byte* from, std::int64_t step, std::int64_t count, std::byte* to) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i, x += step)
    for (std::int64_t j = 0; j < kLength; ++j) y[j * count + i] = x[j];
}
template <class T, std::int64_t kLength>
void join(const std::byte* from, std::int64_t step, std::int64_t count, std::byte* to) {
  const auto* x = reinterpret_cast<const T*>(from);
  auto* y = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i, y += step)
    for (std::int64_t j = 0; j < kLength; ++j) y[j] = x[j * count + i];
}
using MoveColumnsFn = void (*)(const std::byte*, std::int64_t, std::int64_t, std::byte*);
template <class T, bool kSplit, std::size_t... kLengths>
constexpr std::array<MoveColumnsFn, sizeof...(kLengths)> all_transposes(std::index_sequence<kLengths...>) {
  return {(kSplit ? &split<T, static_cast<std::int64_t>(kLengths)> : &join<T, static_cast<std::int64_t>(kLengths)>)...};
}
template <class T, bool kSplit>
constexpr auto kTransposes = all_transposes<T, kSplit>(std::make_index_sequence<kShortRun>());

}  // namespace

void split_short_rows(std::size_t size, const ShortRows<const std::byte>& rows, std::byte* to) {
  const auto length = static_cast<std::size_t>(rows.length);
  (size == 4 ? kTransposes<std::uint32_t, true> : kTransposes<std::uint64_t, true>)[length](rows.data, rows.step,
                                                                                            rows.count, to);
}
void join_short_rows(std::size_t size, const std::byte* from, const ShortRows<std::byte>& rows) {
  const auto length = static_cast<std::size_t>(rows.length);
  (size == 4 ? kTransposes<std::uint32_t, false> : kTransposes<std::uint64_t, false>)[length](from, rows.step,
                                                                                              rows.count, rows.data);
}

void gather_pattern(const ShortRuns& runs, std::size_t size, const std::byte* base, std::int64_t within,
                    std::int64_t n, std::byte* to) {
  const auto bytes = static_cast<std::int64_t>(size);
  in_three(runs, size, within, n, [&](std::int64_t offset, std::int64_t at, std::int64_t first, std::int64_t count) {
    const std::byte* const from = base + offset * bytes;
    std::byte* const into = to + first * bytes;
    switch (size) {
      case 1: return gather<std::uint8_t>(runs, from, at, count, into);
      case 2: return gather<std::uint16_t>(runs, from, at, count, into);
      case 4: return gather<std::uint32_t>(runs, from, at, count, into);
      default: return gather<std::uint64_t>(runs, from, at, count, into);
    }
  });
}
void scatter_pattern(const ShortRuns& runs, std::size_t size, std::byte* base, std::int64_t within, std::int64_t n,
                     const std::byte* from) {
  const auto bytes = static_cast<std::int64_t>(size);
  in_three(runs, size, within, n, [&](std::int64_t offset, std::int64_t at, std::int64_t first, std::int64_t count) {
    std::byte* const into = base + offset * bytes;
    const std::byte* const source = from + first * bytes;
    switch (size) {
      case 1: return scatter<std::uint8_t>(runs, into, at, count, source);
      case 2: return scatter<std::uint16_t>(runs, into, at, count, source);
      case 4: return scatter<std::uint32_t>(runs, into, at, count, source);
      default: return scatter<std::uint64_t>(runs, into, at, count, source);
    }
  });
}

}  // namespace tern::detail_cpu
