// Programs without reductions: straight along memory, row by row, or in tiles.
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {
namespace {

/// Columns of a tile where an operand is transposed (1024 x 1024 f32, one thread, in ms: 16: 2.2, 32: 1.3, 64: 1.1,
/// 128: 1.3; without tiles 6.5), the rows it must have, and the bytes of a cache line.
constexpr std::int64_t kTileColumns = 64, kFewestTileRows = 8, kLine = 64;

/// Columns of a result that a thread transposes at once: whole tiles of the kernel's, of either size of elements.
constexpr std::int64_t kBandOfColumns = 64;

/// Elements of a block of one operation whose operands repeat along short rows: it fills few slots, and what comes
/// between blocks is half of its time (Zen 5, 10^5 f32 and bf16 in rows of 4 times a column, one thread, in us: 1024:
/// 15 and 27, 2048: 12 and 23, 4096: 11 and 25; 10^7: 3200 and 3400, 2700 and 2800, 3100 and 4300).
constexpr std::int64_t kFewOpsBlock = 2 * kTapeBlock;

/// Elements of a block that one operation takes from memory to memory, at most: what comes between blocks of 8192 was
/// 0.16 us of each (sums of 2^16 and 2^22 f32 with a loop by hand at 7.7 and 1850 us: 9.1 and 1960; Emerald Rapids).
constexpr std::int64_t kMemoryBlock = 32 * kLargeBlock;

/// Elements a block has at least, where threads share what is less than a block for each: calling the kernels of 482
/// operations takes as long as some 160 elements do (Emerald Rapids).
constexpr std::int64_t kLeastBlock = 128;

/// Runs of at least a cache line, from memory to other memory. Up to here line by line, the last of which may lie over
/// the one before: a call of memcpy takes as long as a run of four (Emerald Rapids, 4096 runs of 64 bytes).
constexpr std::int64_t kByLines = 512;
void copy_run(const std::byte* source, std::byte* target, std::int64_t bytes) {
  if (bytes > kByLines) return void(std::memcpy(target, source, static_cast<std::size_t>(bytes)));
  std::int64_t at = 0;
  for (; at + kLine <= bytes; at += kLine) std::memcpy(target + at, source + at, kLine);
  if (at < bytes) std::memcpy(target + bytes - kLine, source + bytes - kLine, kLine);
}

/// Where such runs begin in both, from the run `first` on: lines of them along the last of the `outer` axes before.
class RunsOfNeighbours {
 public:
  RunsOfNeighbours(const AxisOrder& order, int outer, const detail::View& from, const detail::View& to,
                   std::int64_t first)
      : source(static_cast<const std::byte*>(memory_of(from))),
        target(static_cast<std::byte*>(memory_of(to))),
        order_(order),
        last_(outer - 1) {
    const auto size = static_cast<std::int64_t>(dtype_size(from.dtype));
    for (int i = last_; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(order.axes[i]);
      read_[i] = from.strides[axis] * size, written_[i] = to.strides[axis] * size;
      at_[i] = first % order.sizes[i], first /= order.sizes[i];
      source += at_[i] * read_[i], target += at_[i] * written_[i];
    }
  }

  const std::byte* source;
  std::byte* target;
  std::int64_t source_step() const { return read_[last_]; }
  std::int64_t target_step() const { return written_[last_]; }
  /// Runs to the end of the line.
  std::int64_t left() const { return order_.sizes[last_] - at_[last_]; }
  void advance(std::int64_t runs) {  // at most left()
    for (int i = last_; i >= 0; --i, runs = 1) {
      source += runs * read_[i], target += runs * written_[i];
      if ((at_[i] += runs) < order_.sizes[i]) return;
      source -= at_[i] * read_[i], target -= at_[i] * written_[i], at_[i] = 0;
    }
  }

 private:
  const AxisOrder& order_;
  const int last_;
  std::int64_t at_[kMaxRank] = {}, read_[kMaxRank], written_[kMaxRank];
};

/// (Longer than other classes: each way that needs no block is a few lines on the same request and the same axes.)
class ElementwiseRun {
 public:
  explicit ElementwiseRun(Run& run) : run_(run), runner_(run.runner), full_(run.layout.full) {}

  void run() const {
    if (run_repetition() || run_with_column(run_) || run_copy() || run_conversion()) return;
    if (const std::optional<TiledAxes> tiles = tiling()) {
      if (!run_transposition(*tiles)) run_tiles(*tiles);
      return;
    }
    const bool one_loop = runner_.is_one_loop(full_.count());
    if (!one_loop && run_by_rows()) return;
    const std::int64_t count = full_.count();
    if (!one_loop) runner_.take_halves(count, true);
    const bool parallel = run_.worth_threads(count);
    const std::int64_t size = one_loop ? whole_block(count, parallel) : block_of(count, parallel);
    if (!one_loop) runner_.set_block(size);
    const std::int64_t blocks = (count + size - 1) / size;
    run_.describe("elementwise", parallel);
    run_.ranges(blocks, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = runner_.make_worker(count);
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t n = std::min(size, count - i * size);
        const Block b{i * size, 1, n, n, 0, n};
        runner_.run_block(w, b);
      }
    });
  }

 private:
  /// Elements of a block that goes from memory to memory: all of a thread's, but that threads share some.
  std::int64_t whole_block(std::int64_t count, bool parallel) const {
    if (!parallel || max_threads() == 1) return kMemoryBlock;
    const std::int64_t share = (count / (8 * max_threads()) + kLine - 1) / kLine * kLine;  // whole lines of memory
    return std::clamp(share, kLargeBlock, kMemoryBlock);
  }
  /// Elements of a block: a block for each thread where a long tape has few elements (1000 of 482 operations on two
  /// threads: 60 to 35 us).
  std::int64_t block_of(std::int64_t count, bool parallel) const {
    if (run_.tape.ops.size() == 1 && has_short_rows()) return kFewOpsBlock;
    const std::int64_t share = parallel ? (count + max_threads() - 1) / max_threads() : count;
    return std::clamp((share + 63) / 64 * 64, kLeastBlock, kTapeBlock);
  }

  /// Elements that are repeated along short rows, and nothing else (gradients of sums): from memory to memory. Of the
  /// time through blocks (Zen 5, one thread, 10^7 f32 and bf16): rows of 2 0.5 and 0.3, of 3 0.5 and 0.3.
  bool run_repetition() const {
    if (!only_moves()) return false;
    const detail::FusedRequest& r = run_.request;
    const auto size = static_cast<std::int64_t>(dtype_size(r.outputs[0].dtype));
    const auto from = Cursor(r.inputs[0].view, full_).repetition();
    const Cursor::StridedMemory to = Cursor(r.outputs[0], full_).line();
    if (!from || to.step != 1 || size == 1 || from->times > (size == 2 ? kRepeatedHalves : kShortRepetition))
      return false;
    const RepeatFn repeat = size == 2 ? run_.table.repeat_halves : run_.table.repeat[size == 8];
    const bool streams = runner_.streams() && reinterpret_cast<std::uintptr_t>(to.begin) % kLine == 0,
               parallel = run_.worth_threads(full_.count());
    const std::int64_t some = (kLargeBlock / from->times + kLine - 1) / kLine * kLine;  // whole lines of memory
    run_.describe("elements repeated", parallel);
    run_.ranges((from->rows + some - 1) / some, parallel, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t begin = first * some, end = std::min(last * some, from->rows);
      repeat(from->column + begin * size, to.begin + begin * from->times * size, static_cast<std::size_t>(end - begin),
             static_cast<std::size_t>(from->times), 1, streams);
    });
    return true;
  }

  /// Whether the tape does nothing with an element of the one operand but store it elsewhere, in whatever dtype.
  bool only_stores() const {
    const detail::FusedRequest& r = run_.request;
    if (std::ranges::find(run_.tape.live, true) != run_.tape.live.end()) return false;
    if (r.inputs.size() != 1 || r.outputs.size() != 1 || r.inputs[0].gather) return false;
    const detail::View &from = r.inputs[0].view, &to = r.outputs[0];
    return run_.tape.values[static_cast<std::size_t>(run_.tape.outputs[0])].kind == detail::StepKind::input &&
           from.storage && from.storage != to.storage;
  }
  /// The same, as it is.
  bool only_moves() const {
    return only_stores() && run_.request.inputs[0].view.dtype == run_.request.outputs[0].dtype;
  }

  /// f32 to 16 bits or back, of contiguous memory: not through a block.
  bool run_conversion() const {
    if (!only_stores()) return false;
    const detail::View &from = run_.request.inputs[0].view, &to = run_.request.outputs[0];
    const auto is_half = [](DType dtype) { return is_floating(dtype) && dtype_size(dtype) == 2; };
    const bool narrows = from.dtype == DType::f32 && is_half(to.dtype), streams = runner_.streams(),
               widens = is_half(from.dtype) && to.dtype == DType::f32 && !streams;  // a load does not stream
    if ((!narrows && !widens) || !is_contiguous(from, run_.request.space) || !is_contiguous(to, run_.request.space))
      return false;
    const auto* const source = static_cast<const std::byte*>(memory_of(from));
    auto* const target = static_cast<std::byte*>(memory_of(to));
    const bool past_caches = streams && reinterpret_cast<std::uintptr_t>(target) % kLine == 0;
    const BlockFn convert = widens ? run_.table.load[static_cast<int>(from.dtype)]
                                   : (past_caches ? run_.table.stream : run_.table.store)[static_cast<int>(to.dtype)];
    const auto size = static_cast<std::int64_t>(dtype_size(from.dtype)), out = 6 - size;
    const std::int64_t count = full_.count();
    const bool parallel = run_.worth_threads(count);
    run_.describe("converted", parallel);
    run_.ranges((count + kLargeBlock - 1) / kLargeBlock, parallel, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t begin = first * kLargeBlock, end = std::min(last * kLargeBlock, count);
      convert(source + begin * size, target + begin * out, static_cast<std::size_t>(end - begin));
    });
    return true;
  }

  /// Runs of neighbours that lie elsewhere afterwards (axes exchanged but for the last): from memory to memory, not
  /// through a block.
  bool run_copy() const {
    if (!only_moves()) return false;
    const detail::View &from = run_.request.inputs[0].view, &to = run_.request.outputs[0];
    if (is_floating(from.dtype) && dtype_size(from.dtype) == 2) return false;  // of those a formula gives one NaN
    const auto size = static_cast<std::int64_t>(dtype_size(from.dtype));
    std::int64_t run = 1;
    int outer = full_.rank;  // axes in front of a run
    for (; outer > 0; --outer) {
      const auto axis = static_cast<std::size_t>(full_.axes[outer - 1]);
      if (full_.sizes[outer - 1] != 1 && (from.strides[axis] != run || to.strides[axis] != run)) break;
      run *= full_.sizes[outer - 1];
    }
    if (run * size < kLine || run > kLargeBlock || run == full_.count()) return false;
    const bool streams = runner_.streams() && size == 4 && run * size % kLine == 0 && is_aligned(to, size),
               parallel = run_.worth_threads(full_.count());
    const BlockFn move = run_.table.stream[static_cast<int>(DType::i32)];  // bits
    const std::int64_t some = std::max<std::int64_t>(1, kLargeBlock / run), runs = full_.count() / run;
    const AxisOrder order = streams ? as_read(outer, from) : full_;
    run_.describe("runs copied", parallel);
    run_.ranges((runs + some - 1) / some, parallel, [&](std::int64_t first, std::int64_t last) {
      RunsOfNeighbours next(order, outer, from, to, first * some);
      const std::int64_t end = std::min(last * some, runs);
      for (std::int64_t k = first * some; k < end;) {
        const std::int64_t line = std::min(next.left(), end - k);
        for (std::int64_t i = 0; i < line; ++i) {
          const std::byte* const source = next.source + i * next.source_step();
          std::byte* const target = next.target + i * next.target_step();
          if (streams) move(source, target, static_cast<std::size_t>(run));
          else copy_run(source, target, run * size);
        }
        next.advance(line), k += line;
      }
    });
    return true;
  }
  /// The first `outer` axes as they lie in `from`: what is written past the caches may lie apart, what is read is then
  /// one run. (2^22 f32, 32 x 64 runs of 64 exchanged, Zen 3: 5.6 ms in the result's order.)
  AxisOrder as_read(int outer, const detail::View& from) const {
    AxisOrder order = full_;
    const auto step = [&](int i) { return std::abs(from.strides[static_cast<std::size_t>(order.axes[i])]); };
    for (int i = 1; i < outer; ++i)
      for (int k = i; k > 0 && step(k) > step(k - 1); --k)
        std::swap(order.axes[k], order.axes[k - 1]), std::swap(order.sizes[k], order.sizes[k - 1]);
    return order;
  }
  /// Whether every run of whole cache lines begins with one.
  bool is_aligned(const detail::View& view, std::int64_t size) const {
    bool aligned = reinterpret_cast<std::uintptr_t>(memory_of(view)) % kLine == 0;
    for (int i = 0; i < full_.rank; ++i) {
      const std::int64_t stride = view.strides[static_cast<std::size_t>(full_.axes[i])];
      aligned &= full_.sizes[i] == 1 || stride == 1 || stride * size % kLine == 0;
    }
    return aligned;
  }

  /// A tile of the two axes that its rows and columns run along, in positions of full_.
  struct TiledAxes {
    int row_axis, col_axis;
    std::int64_t rows, cols, pitch;
  };
  bool has_short_rows() const {
    int last = full_.rank - 1;
    while (last > 0 && full_.sizes[last] == 1) --last;
    return last > 0 && full_.sizes[last] < kShortRepetition;
  }
  std::int64_t positions_a_step(int axis) const {
    std::int64_t step = 1;
    for (int i = axis + 1; i < full_.rank; ++i) step *= full_.sizes[i];
    return step;
  }
  /// Where an operand's neighbours lie along another axis than the result's, runs along the last axis would touch a
  /// cache line for each element: squares touch as many lines as they fill.
  std::optional<TiledAxes> tiling() const {
    int last = full_.rank - 1;
    while (last > 0 && full_.sizes[last] == 1) --last;
    if (last >= 0 && full_.sizes[last] < kShortRun) return {};  // moved by patterns
    std::optional<TiledAxes> found;
    const auto consider = [&](const detail::View& view) {
      if (found || last < 1 || !view.storage) return;
      const auto step = [&](int i) { return std::abs(view.strides[static_cast<std::size_t>(full_.axes[i])]); };
      int best = last;
      for (int i = 0; i < last; ++i)
        if (full_.sizes[i] >= kFewestTileRows && step(i) != 0 && step(i) < step(best)) best = i;
      if (best == last || step(last) * static_cast<std::int64_t>(dtype_size(view.dtype)) < kLine) return;
      const std::int64_t cols = std::min(full_.sizes[last], std::max(kTileColumns, kTapeBlock / full_.sizes[best]));
      found = {best, last, std::min(full_.sizes[best], kTapeBlock / std::min(cols, kTapeBlock)),
               std::min(cols, kTapeBlock), positions_a_step(best)};
    };
    for (const detail::Operand& operand : run_.request.inputs)
      if (!operand.gather) consider(operand.view);
    for (const detail::View& output : run_.request.outputs) consider(output);
    return found;
  }

  /// The same where nothing is done but to store such an operand as the result lies: from memory to memory.
  bool run_transposition(const TiledAxes& t) const {
    if (!only_moves()) return false;
    const detail::View &from = run_.request.inputs[0].view, &to = run_.request.outputs[0];
    const auto size = static_cast<std::int64_t>(dtype_size(from.dtype));
    const auto step = [](const detail::View& view, int axis) { return view.strides[static_cast<std::size_t>(axis)]; };
    const int down = full_.axes[t.row_axis], across = full_.axes[t.col_axis];
    const std::int64_t rows = full_.sizes[t.row_axis], cols = full_.sizes[t.col_axis];
    if (size < 4 || step(from, down) != 1 || step(to, across) != 1) return false;
    const bool streams = runner_.streams() && cols * size % kLine == 0 && is_aligned(to, size),
               parallel = run_.worth_threads(full_.count());
    const std::int64_t bands = (cols + kBandOfColumns - 1) / kBandOfColumns, matrices = full_.count() / (rows * cols);
    run_.describe("transposed", parallel);
    run_.ranges(matrices * bands, parallel, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t column = i % bands * kBandOfColumns, some = std::min(kBandOfColumns, cols - column);
        std::int64_t read = column * step(from, across), written = column, rest = i / bands;
        for (int a = full_.rank - 1; a >= 0; --a) {
          if (a == t.row_axis || a == t.col_axis) continue;
          read += rest % full_.sizes[a] * step(from, full_.axes[a]);
          written += rest % full_.sizes[a] * step(to, full_.axes[a]);
          rest /= full_.sizes[a];
        }
        const auto* const source = static_cast<const std::byte*>(memory_of(from)) + read * size;
        auto* const target = static_cast<std::byte*>(memory_of(to)) + written * size;
        run_.table.transpose[size == 8]({source, step(from, across), target, step(to, down),
                                         static_cast<std::size_t>(rows), static_cast<std::size_t>(some), streams});
      }
    });
    return true;
  }

  void run_tiles(const TiledAxes& t) const {
    const std::int64_t down = (full_.sizes[t.row_axis] + t.rows - 1) / t.rows,
                       across = (full_.sizes[t.col_axis] + t.cols - 1) / t.cols;
    const std::int64_t others = full_.count() / (full_.sizes[t.row_axis] * full_.sizes[t.col_axis]);
    const bool parallel = run_.worth_threads(full_.count());
    run_.describe("elementwise in tiles", parallel);
    run_.ranges(others * down * across, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = runner_.make_worker(kTapeBlock);
      for (std::int64_t tile = first; tile < last; ++tile) {
        const std::int64_t row = tile / across % down * t.rows, col = tile % across * t.cols;
        std::int64_t position = row * t.pitch + col * positions_a_step(t.col_axis), rest = tile / (down * across);
        for (int i = full_.rank - 1; i >= 0; --i) {
          if (i == t.row_axis || i == t.col_axis) continue;
          position += rest % full_.sizes[i] * positions_a_step(i);
          rest /= full_.sizes[i];
        }
        Block b;
        b.position = b.kept_position = position;
        b.rows = std::min(t.rows, full_.sizes[t.row_axis] - row), b.pitch = t.pitch;
        b.cols = std::min(t.cols, full_.sizes[t.col_axis] - col), b.kept = b.size();
        runner_.run_block(w, b);
      }
    });
  }

  /// Rows of up to a block where an operand repeats, or is part of a matrix: none of it is copied.
  bool run_by_rows() const {
    int last = full_.rank - 1;
    while (last > 0 && full_.sizes[last] == 1) --last;
    const std::int64_t cols = last < 0 ? 1 : full_.sizes[last], rows = full_.count() / std::max<std::int64_t>(cols, 1);
    if (cols > kTapeBlock || cols == 0) return false;
    const std::int64_t together = std::max<std::int64_t>(1, kLargeBlock / cols),
                       blocks = (rows + together - 1) / together;
    const auto block = [&](std::int64_t i) {
      Block b;
      b.position = b.kept_position = i * together * cols;
      b.rows = std::min(together, rows - i * together), b.cols = b.pitch = cols, b.kept = b.size();
      return b;
    };
    if (!runner_.rows_lie_there(block(0))) return false;
    const bool parallel = run_.worth_threads(full_.count());
    run_.describe("elementwise, row by row", parallel);
    run_.ranges(blocks, parallel, [&](std::int64_t first, std::int64_t last_block) {
      Worker w = runner_.make_worker(kTapeBlock);
      for (std::int64_t i = first; i < last_block; ++i) runner_.run_block(w, block(i));
    });
    return true;
  }

  Run& run_;
  BlockRunner& runner_;
  const AxisOrder& full_;
};

}  // namespace

void run_elementwise(Run& run) { ElementwiseRun(run).run(); }

}  // namespace tern::detail_cpu
