// Running sums along an axis: line by line, or where lines lie side by side or are short, many of them at once. (Longer
// than other files: each way that lines may lie, on the same cursors and kernels.)
#include <algorithm>
#include <limits>
#include <vector>

#include <hwy/cache_control.h>

#include "cpu/machine/caches.hpp"
#include "cpu/tape/block_runner.hpp"
#include "cpu/line_tools.hpp"
#include "cpu/scratch.hpp"
#include "cpu/threads_noted.hpp"
#include "formula/compute_types.hpp"
#include "primitives/scan/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using detail::ScanRequest;

namespace {

constexpr auto kRun = static_cast<std::int64_t>(kScanRun);
/// Lines that are summed at once, and the length below which they are wherever they lie.
constexpr std::int64_t kColumnsAtOnce = 256, kShortLine = 128;

/// Lines that are taken one after the other wherever they lie: rows of two elements took 1.2 to 2.0 of the time (of f64
/// in memory 0.9), but rows of three 0.5 to 1.7, of four 0.3 to 0.9 (f32, f64, i32, bf16 in L2 and in memory, Emerald
/// Rapids).
constexpr std::int64_t kLinesInTurn = 2;

/// Lines that are scanned in the lanes of vectors, whatever these have, and the length from which a line has runs
/// enough for that by itself.
constexpr std::int64_t kSideBySide = 16, kRunsOfLine = 4 * kRun;

/// Of each thread: a line as it is computed.
struct ScannedLine {
  CallVector<std::int64_t> values, part;
};

/// The kernel for lines, and the one for joining what they give; null where elements are combined one by one.
template <class T, Combine kCombine> struct ScanKernels {
  explicit ScanKernels(const KernelTable& table) {
    constexpr auto how = static_cast<std::size_t>(kCombine);
    if constexpr (how < kScanned) {
      const auto type = static_cast<std::size_t>(detail::compute_type_of(dtype_of<T>));
      scan = table.scan_lines[how][type], join = table.join_scanned[how][type];
    }
  }
  ScanLinesFn scan = nullptr;
  JoinScannedFn join = nullptr;
};

/// A line, part after part of whole runs (the last may have fewer elements): its runs side by side, since the next sum
/// of a run waits for the one before, and then each with all before it.
template <class T, Combine kCombine> class RunsOfLine {
 public:
  /// Stays in L1, read and written; 2^22 numbers of f32 at once took 2.7 ns each.
  static constexpr std::int64_t kPart = 16 * kRun * 4 / static_cast<std::int64_t>(sizeof(T));

  explicit RunsOfLine(const ScanKernels<T, kCombine>& kernels) : kernels_(kernels) {}

  /// Each run by itself, in `part`, which may be x; then join().
  void scan(const T* x, T* part, std::int64_t n, bool reverse) const {
    const std::int64_t runs = n / kRun, rest = n % kRun;
    if (!kernels_.scan) {
      for (std::int64_t begin = 0; begin < n; begin += kRun) scan_run(x, part, n, begin, reverse);
    } else {
      const std::int64_t all = reverse ? rest : 0, last = reverse ? 0 : n - rest;
      kernels_.scan({x + all, part + all, kRun, kRun, static_cast<std::size_t>(runs), kScanRun, reverse});
      if (rest > 0) kernels_.scan({x + last, part + last, 0, 0, 1, static_cast<std::size_t>(rest), reverse});
    }
  }
  /// How join() writes: past the caches or not, and what is read next, as many elements, or null.
  struct Writing {
    bool stream = false;
    const T* fetch = nullptr;
  };
  /// Each run of `part` with all before it, to `out`, which may be `part`.
  void join(const T* part, T* out, std::int64_t n, bool reverse, const Writing& writing = {}) {
    for (std::int64_t begin = 0; begin < n; begin += kRun, first_ = false) {
      const std::int64_t count = std::min(kRun, n - begin), at = reverse ? n - begin - count : begin;
      const T last = part[at + (reverse ? 0 : count - 1)], all = first_ ? last : combined(kCombine, before_, last);
      if (kernels_.join && (!first_ || part != out))
        kernels_.join({first_ ? nullptr : &before_, part + at, out + at, static_cast<std::size_t>(count),
                       writing.stream, writing.fetch ? writing.fetch + at : nullptr});
      else
        for (std::int64_t i = at; i < at + count; ++i) out[i] = first_ ? part[i] : combined(kCombine, before_, part[i]);
      before_ = all;
    }
  }

 private:
  static void scan_run(const T* x, T* out, std::int64_t n, std::int64_t begin, bool reverse) {
    T sum{};
    for (std::int64_t i = begin; i < std::min(n, begin + kRun); ++i) {
      const std::int64_t at = reverse ? n - 1 - i : i;
      out[at] = sum = i == begin ? x[at] : combined(kCombine, sum, x[at]);
    }
  }

  const ScanKernels<T, kCombine>& kernels_;
  T before_{};
  bool first_ = true;
};

/// a[c] combined with b[c], to `out`, which may be either; logarithms of sums in vectors.
template <class T, Combine kCombine>
void combine_row(const KernelTable& table, const T* a, const T* b, T* out, std::int64_t n) {
  if constexpr (kCombine == Combine::logaddexp) {
    const void* const args[2] = {a, b};
    table.logaddexp[sizeof(T) == 8](args, out, static_cast<std::size_t>(n));
  } else {
    for (std::int64_t c = 0; c < n; ++c) out[c] = combined(kCombine, a[c], b[c]);
  }
}

/// A line of logarithms of sums as kBeside lines side by side, which are then joined: element by element each waits for
/// the one before, 27 ns (Zen 4). Lines of fewer elements than kFewest are so taken.
template <class T> class LogSumLine {
 public:
  static constexpr std::int64_t kBeside = 64, kMostRows = 256, kFewest = 512;

  LogSumLine(const KernelTable& table, T* x, std::int64_t n, bool reverse, CallVector<std::int64_t>& memory)
      : table_(table), x_(x), n_(n), reverse_(reverse), rows_(std::min((n + kBeside - 1) / kBeside, kMostRows)) {
    memory.resize(static_cast<std::size_t>(rows_ * kBeside));
    part_ = reinterpret_cast<T*>(memory.data());
  }
  void run() {
    const std::int64_t most = rows_ * kBeside;
    for (std::int64_t begin = 0; begin < n_; begin += most) run_part(begin, std::min(n_ - begin, most));
  }

 private:
  static constexpr T kNothing = -std::numeric_limits<T>::infinity();

  T& at(std::int64_t i) { return x_[reverse_ ? n_ - 1 - i : i]; }
  T* row(std::int64_t r) { return part_ + r * kBeside; }
  void join(const T* before, T* row) { combine_row<T, Combine::logaddexp>(table_, before, row, row, kBeside); }

  void run_part(std::int64_t begin, std::int64_t count) {
    for_each([&](T& value, std::int64_t i) { value = i < count ? at(begin + i) : kNothing; });
    for (std::int64_t r = 1; r < rows_; ++r) join(row(r - 1), row(r));
    T before[kBeside];
    for (std::int64_t c = 0; c < kBeside; ++c)
      before[c] = sum_, sum_ = combined(Combine::logaddexp, sum_, row(rows_ - 1)[c]);
    for (std::int64_t r = 0; r < rows_; ++r) join(before, row(r));
    for_each([&](const T& value, std::int64_t i) {
      if (i < count) at(begin + i) = value;
    });
  }
  /// Every element of a part and its position, a cache line's worth of columns at a time.
  template <class Visit> void for_each(const Visit& visit) {
    constexpr std::int64_t kColumns = 64 / sizeof(T);
    for (std::int64_t first = 0; first < kBeside; first += kColumns)
      for (std::int64_t r = 0; r < rows_; ++r)
        for (std::int64_t c = first; c < first + kColumns; ++c) visit(row(r)[c], c * rows_ + r);
  }

  const KernelTable& table_;
  T* const x_;
  const std::int64_t n_;
  const bool reverse_;
  const std::int64_t rows_;
  T* part_;
  T sum_ = kNothing;
};

/// What `columns` lines have so far: of this run, and of all before it.
template <class T> struct RunningSums {
  T run[kColumnsAtOnce], before[kColumnsAtOnce];
};
/// The next element of each of these lines, the i-th of them: in the same order as RunsOfLine.
template <class T, Combine kCombine>
void scan_row(const KernelTable& table, RunningSums<T>& sums, T* x, std::int64_t columns, std::int64_t i) {
  if (i % kRun == 0) {
    if (i == kRun) std::copy(sums.run, sums.run + columns, sums.before);
    else if (i > 0) combine_row<T, kCombine>(table, sums.before, sums.run, sums.before, columns);
    std::copy(x, x + columns, sums.run);
  } else {
    combine_row<T, kCombine>(table, sums.run, x, sums.run, columns);
  }
  if (i < kRun) std::copy(sums.run, sums.run + columns, x);
  else combine_row<T, kCombine>(table, sums.before, sums.run, x, columns);
}

class Scan {
 public:
  Scan(const ScanRequest& r, const KernelTable& table)
      : r_(r),
        table_(table),
        type_(detail::compute_type_of(r.input.dtype)),
        n_(r.space[static_cast<std::size_t>(r.axis)]) {}

  void run() const {
    const std::int64_t lines = lines_of(r_.space, r_.axis).count();
    const bool lie_so = r_.input.strides[static_cast<std::size_t>(r_.axis)] == 1;
    with_type(dtype_computed_in(type_), r_.op, [&]<class T>(T) {
      const auto with = [&]<Combine kCombine>() {
        const bool apart = lie_so || (lines <= kLinesInTurn && kCombine != Combine::logaddexp);
        const bool vectors = ScanKernels<T, kCombine>(table_).scan != nullptr;
        if (lines > 1 && lie_so && is_short_row(n_)) by_short_lines<T, kCombine>(lines);
        else if (vectors && lie_so && lines >= kSideBySide && n_ < kRunsOfLine) side_by_side<T, kCombine>(lines);
        else if (vectors && !apart && lines < kSideBySide && n_ >= kRun) by_few_columns<T, kCombine>(lines);
        else if (lines > 1 && (!apart || n_ < kShortLine)) by_rows<T, kCombine>(lines);
        else by_lines<T, kCombine>(lines);
      };
      switch (r_.combine) {
        case Combine::mul: return with.template operator()<Combine::mul>();
        case Combine::maximum: return with.template operator()<Combine::maximum>();
        case Combine::minimum: return with.template operator()<Combine::minimum>();
        case Combine::logaddexp:
          if constexpr (std::is_floating_point_v<T>) return with.template operator()<Combine::logaddexp>();
          else return;
        default: return with.template operator()<Combine::add>();
      }
    });
  }

 private:
  template <class T, Combine kCombine> void by_lines(std::int64_t count) const {
    const bool log_sums = kCombine == Combine::logaddexp && n_ >= LogSumLine<T>::kFewest;
    for_lines(count, n_, [&](std::int64_t first, std::int64_t last) {
      ScannedLine& mine = detail::of_thread<ScannedLine>();
      for (std::int64_t line = first; line < last; ++line)
        if (!log_sums) by_parts<T, kCombine>(line, mine.values);
        else if constexpr (kCombine == Combine::logaddexp) by_log_sums<T>(line, mine);
    });
  }
  template <class T, Combine kCombine> void by_parts(std::int64_t line, CallVector<std::int64_t>& buffer) const {
    const AxisOrder order = along(r_.space, r_.axis), lines = lines_of(r_.space, r_.axis);
    const Cursor input(at_line(r_.input, lines, line), order), output(at_line(r_.output, lines, line), order);
    const ScanKernels<T, kCombine> kernels(table_);
    RunsOfLine<T, kCombine> runs(kernels);
    constexpr std::int64_t most = RunsOfLine<T, kCombine>::kPart;
    buffer.resize(static_cast<std::size_t>(std::min(n_, most)));
    T* const x = reinterpret_cast<T*>(buffer.data());
    const bool streams = may_stream<T>();
    for (std::int64_t begin = 0; begin < n_; begin += most) {
      const std::int64_t count = std::min(most, n_ - begin), position = r_.reverse ? n_ - begin - count : begin;
      const ElementsThere<T> at = placed(input, output, position, count, x);
      const bool lines = reinterpret_cast<std::uintptr_t>(at.to) % 64 == 0 && (!r_.reverse || count % kRun == 0),
                 past = streams && at.direct && lines, reads_on = past && at.from != x && begin + 2 * most <= n_;
      T* const part = past ? x : at.to;
      runs.scan(at.from, part, count, r_.reverse);
      runs.join(part, at.to, count, r_.reverse, {past, reads_on ? at.from + (r_.reverse ? -most : most) : nullptr});
      if (!at.direct) output.store(table_, position, count, at.to);
    }
    if (streams) hwy::FlushStream();
  }
  /// Whether what is read and written cannot stay in the caches.
  template <class T> bool may_stream() const {
    return r_.space.numel() * 2 * static_cast<std::int64_t>(sizeof(T)) >= cache_bytes();
  }
  /// Elements where they lie and where they go, as they are computed: in memory, or in the buffer.
  template <class T> struct ElementsThere {
    const T* from;
    T* to;
    bool direct;
  };
  template <class T>
  ElementsThere<T> placed(const Cursor& input, const Cursor& output, std::int64_t position, std::int64_t count,
                   T* buffer) const {
    const auto memory = [&](const Cursor& cursor) {
      return stored_as_computed(cursor.dtype()) ? const_cast<void*>(cursor.direct(position, count)) : nullptr;
    };
    const void* from = memory(input);
    void* to = r_.input.storage == r_.output.storage ? nullptr : memory(output);
    if (!from) input.load(table_, position, count, buffer), from = buffer;
    return {static_cast<const T*>(from), to ? static_cast<T*>(to) : buffer, to != nullptr};
  }
  /// Lines one behind the other, not much longer than a run.
  template <class T, Combine kCombine> void side_by_side(std::int64_t count) const {
    AxisOrder order = lines_of(r_.space, r_.axis);
    const AxisOrder line = along(r_.space, r_.axis);
    order.axes[order.rank] = line.axes[0], order.sizes[order.rank++] = n_;
    const Cursor input(r_.input, order), output(r_.output, order);
    const ScanKernels<T, kCombine> kernels(table_);
    const std::int64_t groups = (count + kSideBySide - 1) / kSideBySide;
    for_lines(groups, n_ * std::min(count, kSideBySide), [&](std::int64_t first, std::int64_t last) {
      CallVector<std::int64_t>& buffer = detail::of_thread<ScannedLine>().values;
      buffer.resize(static_cast<std::size_t>(kSideBySide * n_));
      T* const x = reinterpret_cast<T*>(buffer.data());
      for (std::int64_t g = first; g < last; ++g) {
        const std::int64_t lines = std::min(kSideBySide, count - g * kSideBySide), position = g * kSideBySide * n_;
        const ElementsThere<T> at = placed(input, output, position, lines * n_, x);
        kernels.scan({at.from, at.to, n_, n_, static_cast<std::size_t>(lines), static_cast<std::size_t>(n_),
                      r_.reverse});
        if (!at.direct) output.store(table_, position, lines * n_, at.to);
      }
    });
  }
  /// A few columns: some runs of all of them, taken apart, are lines side by side.
  template <class T, Combine kCombine> void by_few_columns(std::int64_t columns) const {
    const AxisOrder order = axis_outermost();
    const Cursor input(r_.input, order), output(r_.output, order);
    const ScanKernels<T, kCombine> kernels(table_);
    std::vector<RunsOfLine<T, kCombine>> runs(static_cast<std::size_t>(columns), RunsOfLine<T, kCombine>(kernels));
    const std::int64_t most = (kSideBySide + columns - 1) / columns * kRun;
    ScannedLine& mine = detail::of_thread<ScannedLine>();
    mine.values.resize(static_cast<std::size_t>(most * columns)), mine.part.resize(mine.values.size());
    T *const apart = reinterpret_cast<T*>(mine.part.data()), *const x = reinterpret_cast<T*>(mine.values.data());
    for (std::int64_t i = 0; i < n_; i += most) {
      const std::int64_t rows = std::min(most, n_ - i), position = (r_.reverse ? n_ - i - rows : i) * columns;
      const ElementsThere<T> at = placed(input, output, position, rows * columns, x);
      to_columns(at.from, columns, apart, rows);
      if (rows == most)
        kernels.scan({apart, apart, kRun, kRun, static_cast<std::size_t>(rows / kRun * columns), kScanRun, r_.reverse});
      for (std::int64_t c = 0; c < columns; ++c) {
        RunsOfLine<T, kCombine>& line = runs[static_cast<std::size_t>(c)];
        T* const column = apart + c * rows;
        if (rows < most) line.scan(column, column, rows, r_.reverse);
        line.join(column, column, rows, r_.reverse);
      }
      to_rows(apart, columns, at.to, rows);
      if (!at.direct) output.store(table_, position, rows * columns, at.to);
    }
  }
  template <class T> void by_log_sums(std::int64_t line, ScannedLine& mine) const {
    const AxisOrder order = along(r_.space, r_.axis), lines = lines_of(r_.space, r_.axis);
    mine.values.resize(static_cast<std::size_t>(n_));
    T* const x = reinterpret_cast<T*>(mine.values.data());
    Cursor(at_line(r_.input, lines, line), order).load(table_, 0, n_, x);
    LogSumLine<T>(table_, x, n_, r_.reverse, mine.part).run();
    Cursor(at_line(r_.output, lines, line), order).store(table_, 0, n_, x);
    give_back_if_large(mine.values), give_back_if_large(mine.part);
  }

  /// Lines of a few elements, one behind the other: a block of them is transposed into columns and back.
  template <class T, Combine kCombine> void by_short_lines(std::int64_t count) const {
    AxisOrder order = lines_of(r_.space, r_.axis);
    const AxisOrder line = along(r_.space, r_.axis);
    order.axes[order.rank] = line.axes[0], order.sizes[order.rank++] = n_;
    const Cursor input(r_.input, order), output(r_.output, order);
    const std::int64_t most = kTapeBlock / n_ / 16 * 16;
    for_lines((count + most - 1) / most, n_ * std::min(count, most), [&](std::int64_t first, std::int64_t last) {
      alignas(64) T block[kTapeBlock], columns[kTapeBlock];
      for (std::int64_t part = first; part < last; ++part) {
        const std::int64_t lines = std::min(most, count - part * most), position = part * most * n_;
        const auto column = [&](std::int64_t i) { return columns + (r_.reverse ? n_ - 1 - i : i) * lines; };
        const ElementsThere<T> at = placed(input, output, position, lines * n_, block);
        to_columns(at.from, n_, columns, lines);
        for (std::int64_t i = 1; i < n_; ++i) {
          const T* const before = column(i - 1);
          T* const now = column(i);
          for (std::int64_t c = 0; c < lines; ++c) now[c] = combined(kCombine, before[c], now[c]);
        }
        to_rows(columns, n_, at.to, lines);
        if (!at.direct) output.store(table_, position, lines * n_, at.to);
      }
    });
  }
  /// `lines` rows of n elements as columns, one behind the other; and the reverse.
  template <class T> void to_columns(const T* rows, std::int64_t n, T* columns, std::int64_t lines) const {
    if constexpr (sizeof(T) == 4) {
      void* to[kShortRow];
      for (std::int64_t i = 0; i < n; ++i) to[i] = columns + i * lines;
      table_.split_columns(rows, n, static_cast<std::size_t>(n), to, static_cast<std::size_t>(lines));
    } else {
      split_short_rows(sizeof(T), {reinterpret_cast<const std::byte*>(rows), n, n, lines},
                       reinterpret_cast<std::byte*>(columns));
    }
  }
  template <class T> void to_rows(const T* columns, std::int64_t n, T* rows, std::int64_t lines) const {
    if constexpr (sizeof(T) == 4) {
      const void* from[kShortRow];
      for (std::int64_t i = 0; i < n; ++i) from[i] = columns + i * lines;
      table_.join_columns(from, static_cast<std::size_t>(n), rows, n, static_cast<std::size_t>(lines));
    } else {
      join_short_rows(sizeof(T), reinterpret_cast<const std::byte*>(columns),
                      {reinterpret_cast<std::byte*>(rows), n, n, lines});
    }
  }

  /// A row has the i-th elements of all lines.
  AxisOrder axis_outermost() const {
    AxisOrder order = along(r_.space, r_.axis);
    const AxisOrder others = lines_of(r_.space, r_.axis);
    for (int i = 0; i < others.rank; ++i)
      order.axes[order.rank] = others.axes[i], order.sizes[order.rank++] = others.sizes[i];
    return order;
  }
  template <class T, Combine kCombine> void by_rows(std::int64_t lines) const {
    const AxisOrder order = axis_outermost();
    const Cursor input(r_.input, order), output(r_.output, order);
    for_lines((lines + kColumnsAtOnce - 1) / kColumnsAtOnce, n_ * std::min(lines, kColumnsAtOnce),
              [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t chunk = first; chunk < last; ++chunk)
                  scan_columns<T, kCombine>(input, output, lines, chunk * kColumnsAtOnce);
              });
  }
  template <class T, Combine kCombine>
  void scan_columns(const Cursor& input, const Cursor& output, std::int64_t lines, std::int64_t column) const {
    alignas(64) T block[kTapeBlock];
    RunningSums<T> sums;
    const std::int64_t columns = std::min(kColumnsAtOnce, lines - column),
                       most = columns == lines ? kTapeBlock / columns : 1;
    for (std::int64_t i = 0; i < n_; i += most) {
      const std::int64_t rows = std::min(most, n_ - i), row = r_.reverse ? n_ - i - rows : i;
      const std::int64_t position = row * lines + column;
      input.load(table_, position, rows * columns, block);
      for (std::int64_t k = 0; k < rows; ++k)
        scan_row<T, kCombine>(table_, sums, block + (r_.reverse ? rows - 1 - k : k) * columns, columns, i + k);
      output.store(table_, position, rows * columns, block);
    }
  }

  const ScanRequest& r_;
  const KernelTable& table_;
  ComputeType type_;
  std::int64_t n_;
};

}  // namespace

void scan_on_cpu(detail::Backend&, const ScanRequest& request) {
  with_threads_noted([&] { Scan(request, kernels()).run(); });
}

}  // namespace tern::detail_cpu
