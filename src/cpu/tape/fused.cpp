#include "cpu/fused.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "backend/trace.hpp"
#include "backend/tuning.hpp"
#include "cpu/block_runner.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/online.hpp"
#include "cpu/scratch.hpp"
#include "cpu/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using detail::FusedRequest;
using detail::StepKind;

namespace {

/// Below this many element operations a second thread costs more (about 3 µs to wake) than it saves.
std::int64_t parallel_work() {
  constexpr std::int64_t k = 1024;
  static const auto* const choice =
      new detail::Choice(tuning_class(), "fused.parallel_work", {64 * k, 16 * k, 32 * k, 128 * k, 256 * k});
  return (*choice)();
}
/// Elements summed into one partial result; partial results are joined pairwise. Fixed, so that results do not depend
/// on the number of threads.
constexpr std::int64_t kSegment = 64 * kBlock;

/// Columns of a block where sums are taken with what they wait for (OnlineSum): a block then has several rows for each
/// time that the sums are scaled (logsumexp of 8192 x 1024 f32 down its columns, one thread, in ms: 128: 12.9,
/// 256: 13.2, 512: 19, 1024: 24; softmax 34, 31, 32, 30).
constexpr std::int64_t kOnlineColumns = 256;

/// Elements of a block that needs no register file, and blocks' worth of whole rows that are summed where they lie: what comes
/// between blocks stops the loads (Zen 4, rows of 1024 and 4096 in memory and in cache: 4 blocks 1.06 to 1.15 of the speed of
/// one, 16 1.09 to 1.17, 64 1.09 to 1.18).
constexpr std::int64_t kLargeBlock = 8 * kBlock, kRowBlocks = 64;

/// Columns whose sums in place follow a row together: the longer a run of memory is, the better it is fetched ahead
/// (4096 x 4096 f32, Zen 4, a row at a time, one thread, in ms: 1: 8.0, 2: 8.0, 4: 5.1, 8: 4.5, 16: 5.4).
constexpr std::int64_t kWideRow = 4 * kBlock;

/// Elements of rows that are one block of a larger register file, where blocks of kBlock compute exponentials again. Of
/// their time, in turn, one thread, f32 and bf16: softmax of rows of 1536 0.57, 2048 0.69 to 0.76, 4096 0.64 to 0.81, 8192
/// 0.65 to 0.88, with backward 0.57 to 0.83. Not for others: log_softmax 0.72 to 1.05, logsumexp 0.78 to 1.00, cross_entropy
/// 0.81 to 1.15, layer norm 0.8 to 1.3, with backward 0.80 to 1.17; nor f64, 0.8 to 1.3.
constexpr std::int64_t kLargeRow = 8 * kBlock;

/// Columns of a tile where an operand is transposed (1024 x 1024 f32, one thread, in ms: 16: 2.2, 32: 1.3, 64: 1.1,
/// 128: 1.3; without tiles 6.5), the rows it must have, and the bytes of a cache line.
constexpr std::int64_t kTile = 64, kFewestTileRows = 8, kLine = 64;

/// Elements of rows, and of a few columns of reduced axes, up to which many of them make the columns of a block, and
/// how many there must be.
constexpr std::int64_t kTurnedRow = 16, kTurnedColumns = 256, kFewestTurned = 16;

class FusedRun {
 public:
  FusedRun(const FusedRequest& request, const Tape& tape, const KernelTable& table)
      : request_(request),
        tape_(tape),
        table_(table),
        rows_(order_axes()),
        runner_(tape, table, request.inputs, request.outputs, full_, kept_, rows_, length_, coordinates()) {
    for (const TapeOnline& online : tape.online) online_.push_back({online, tape, table, rows_});
  }

  void run() {
    if (kept_.count() == 0) return;
    if (!tape_.program->reduces) run_elementwise();
    else run_reducing();
  }

 private:
  // ---- layout ----
  /// The axes as what decides the memory's order has them, the furthest apart first: the result of what is elementwise
  /// (in place it may be a transposed view), the largest operand of what only reduces. Sums then depend on strides as
  /// well.
  detail::SmallVector<int, kMaxRank> axes_by_memory() const {
    const auto rank = static_cast<std::size_t>(request_.space.rank());
    detail::SmallVector<int, kMaxRank> axes;
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
    const detail::View* guide = request_.outputs.empty() ? nullptr : &request_.outputs[0];
    if (tape_.program->reduces) {
      guide = nullptr;
      for (const detail::ProgramOutput& output : tape_.program->outputs)
        if (output.full) return axes;
      std::int64_t most = 0;
      for (const detail::Operand& operand : request_.inputs)
        if (operand.view.storage && !operand.gather && elements_of(operand.view) > most)
          most = elements_of(operand.view), guide = &operand.view;
    }
    if (!guide || elements_of(*guide) != request_.space.numel()) return axes;  // repeated along an axis
    const auto step = [&](int axis) { return std::abs(guide->strides[static_cast<std::size_t>(axis)]); };
    for (std::size_t i = 1; i < rank; ++i)
      for (std::size_t j = i; j > 0 && step(axes[j - 1]) < step(axes[j]); --j) std::swap(axes[j - 1], axes[j]);
    return axes;
  }
  /// Those that differ.
  std::int64_t elements_of(const detail::View& view) const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(request_.space.rank()); ++i)
      if (view.strides[i] != 0) count *= request_.space[i];
    return count;
  }

  /// Whether the reduced axes are innermost. Those of few elements are not, though they lie there: they come first, so
  /// that a block has many short rows as its columns (turned_).
  bool order_axes() {
    const detail::SmallVector<int, kMaxRank> axes = axes_by_memory();
    const auto size = [&](std::size_t i) { return request_.space[static_cast<std::size_t>(axes[i])]; };
    const auto reduced = [&](std::size_t i) { return (request_.reduced >> axes[i] & 1) != 0; };
    const std::size_t rank = axes.size();
    bool rows = true;  // of the innermost axis that matters
    for (std::size_t i = 0; i < rank; ++i)
      if (size(i) != 1) rows = reduced(i);
    std::size_t inner_begin = rank;  // columns: the kept axes behind the last reduced one
    while (!rows && inner_begin > 0 && !reduced(inner_begin - 1)) --inner_begin;
    std::int64_t kept = 1, columns = 1;
    for (std::size_t i = 0; i < rank; ++i) {
      if (reduced(i)) length_ *= size(i);
      else (i < inner_begin ? kept : columns) *= size(i);
    }
    turned_ = tape_.program->reduces && length_ > 0 && kept >= kFewestTurned &&
              length_ * columns <= (rows ? kTurnedRow : kTurnedColumns);
    if (turned_) inner_begin = 0;
    const auto add = [&](AxisOrder& order, std::size_t i) {
      order.axes[order.rank] = axes[i];
      order.sizes[order.rank++] = size(i);
    };
    for (std::size_t i = 0; i < inner_begin; ++i)
      if (!reduced(i)) add(full_, i), add(kept_, i);
    for (std::size_t i = 0; i < rank; ++i)
      if (reduced(i)) add(full_, i);
    for (std::size_t i = inner_begin; i < rank; ++i)
      if (!reduced(i)) {
        add(full_, i), add(kept_, i);
        width_ *= size(i);
      }
    return rows && !turned_;
  }

  Strides coordinate_strides(int axis) const {
    Strides strides;
    strides.resize(request_.space.rank(), 0);
    if (axis != detail::kOrdinalAxis) {
      strides[static_cast<std::size_t>(axis < 0 ? axis + request_.space.rank() : axis)] = 1;
      return strides;
    }
    std::int64_t step = 1;
    for (int i = request_.space.rank() - 1; i >= 0; --i) {
      if (!(request_.reduced >> i & 1)) continue;
      strides[static_cast<std::size_t>(i)] = step;
      step *= request_.space[static_cast<std::size_t>(i)];
    }
    return strides;
  }

  /// Of the values that are positions, in their order.
  detail::PoolVector<Strides> coordinates() const {
    detail::PoolVector<Strides> result;
    for (const TapeValue& value : tape_.values)
      if (value.kind == StepKind::position) result.push_back(coordinate_strides(value.index));
    return result;
  }

  // ---- drivers ----
  bool worth_threads(std::int64_t elements) const {
    return elements * static_cast<std::int64_t>(tape_.ops.size() + 1) > parallel_work();
  }
  void describe(const char* mode, bool parallel, int passes = 0) const {
    if (!detail::tracing()) return;
    const Order& block = runner_.way().block;
    const auto loops = std::count_if(block.begin(), block.end(), [](int i) { return i < 0; });
    detail::note(
        std::string("tape of ") + std::to_string(tape_.ops.size()) + " ops, " +
        (loops > 0 ? std::to_string(loops) + " compiled, " : std::string()) + mode +
        (passes > 0 ? " in " + std::to_string(passes) + (passes == 1 ? " pass, " : " passes, ") : ", ") +
        (parallel ? std::to_string(max_threads()) + " threads" : std::string("1 thread: too little work for more")) +
        ", " + table_.target);
  }
  /// Calls body(first, last) on ranges that cover [0, count), in parallel where it pays.
  template <class Body> void ranges(std::int64_t count, bool parallel, Body body) const {
    const std::int64_t tasks = parallel ? std::min<std::int64_t>(count, 4 * max_threads()) : 1;
    const auto part = [&](std::int64_t first, std::int64_t last) {
      body(first, last);
      runner_.finish();
    };
    if (tasks <= 1) return part(0, count);
    parallel_for(tasks, [&](std::int64_t t) { part(count * t / tasks, count * (t + 1) / tasks); });
  }

  /// A tile of the two axes that its rows and columns run along, in positions of full_.
  struct Tiling {
    int row_axis, col_axis;
    std::int64_t rows, cols, pitch;
  };
  std::int64_t positions_a_step(int axis) const {
    std::int64_t step = 1;
    for (int i = axis + 1; i < full_.rank; ++i) step *= full_.sizes[i];
    return step;
  }
  /// Where an operand's neighbours lie along another axis than the result's, runs along the last axis would touch a
  /// cache line for each element: squares touch as many lines as they fill.
  std::optional<Tiling> tiling() const {
    int last = full_.rank - 1;
    while (last > 0 && full_.sizes[last] == 1) --last;
    if (last >= 0 && full_.sizes[last] < kShortRun) return {};  // moved by patterns
    std::optional<Tiling> found;
    const auto consider = [&](const detail::View& view) {
      if (found || last < 1 || !view.storage) return;
      const auto step = [&](int i) { return std::abs(view.strides[static_cast<std::size_t>(full_.axes[i])]); };
      int best = last;
      for (int i = 0; i < last; ++i)
        if (full_.sizes[i] >= kFewestTileRows && step(i) != 0 && step(i) < step(best)) best = i;
      if (best == last || step(last) * static_cast<std::int64_t>(dtype_size(view.dtype)) < kLine) return;
      const std::int64_t cols = std::min(full_.sizes[last], std::max(kTile, kBlock / full_.sizes[best]));
      found = {best, last, std::min(full_.sizes[best], kBlock / std::min(cols, kBlock)), std::min(cols, kBlock),
               positions_a_step(best)};
    };
    for (const detail::Operand& operand : request_.inputs)
      if (!operand.gather) consider(operand.view);
    for (const detail::View& output : request_.outputs) consider(output);
    return found;
  }

  void run_tiles(const Tiling& t) const {
    const std::int64_t down = (full_.sizes[t.row_axis] + t.rows - 1) / t.rows,
                       across = (full_.sizes[t.col_axis] + t.cols - 1) / t.cols;
    const std::int64_t others = full_.count() / (full_.sizes[t.row_axis] * full_.sizes[t.col_axis]);
    const bool parallel = worth_threads(full_.count());
    describe("elementwise in tiles", parallel);
    ranges(others * down * across, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = runner_.make_worker(kBlock);
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
    if (cols > kBlock || cols == 0) return false;
    const std::int64_t together = std::max<std::int64_t>(1, kLargeBlock / cols), blocks = (rows + together - 1) / together;
    const auto block = [&](std::int64_t i) {
      Block b;
      b.position = b.kept_position = i * together * cols;
      b.rows = std::min(together, rows - i * together), b.cols = b.pitch = cols, b.kept = b.size();
      return b;
    };
    if (!runner_.rows_lie_there(block(0))) return false;
    const bool parallel = worth_threads(full_.count());
    describe("elementwise, row by row", parallel);
    ranges(blocks, parallel, [&](std::int64_t first, std::int64_t last_block) {
      Worker w = runner_.make_worker(kBlock);
      for (std::int64_t i = first; i < last_block; ++i) runner_.run_block(w, block(i));
    });
    return true;
  }

  void run_elementwise() const {
    if (const std::optional<Tiling> tiles = tiling()) return run_tiles(*tiles);
    const bool one_loop = runner_.is_one_loop(full_.count());
    if (!one_loop && run_by_rows()) return;
    const std::int64_t count = full_.count(), size = one_loop ? kLargeBlock : kBlock;
    const std::int64_t blocks = (count + size - 1) / size;
    const bool parallel = worth_threads(count);
    describe("elementwise", parallel);
    ranges(blocks, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = runner_.make_worker(count);
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t n = std::min(size, count - i * size);
        const Block b{i * size, 1, n, n, 0, n};
        runner_.run_block(w, b);
      }
    });
  }

  /// Kept positions [first, first + kept) that one block (or one walk along the reduced axes) handles.
  void run_reducing() {
    const std::int64_t groups = kept_.count();
    // What is summed in place needs no block of the register file: rows of 4096 in a cache take 0.5 of the time.
    const bool in_place = runner_.reduce_in_place(full_.count());
    if (rows_) {
      std::int64_t most = in_place ? kLargeBlock : kBlock;
      if (tape_.repeats && length_ > kBlock && length_ <= kLargeRow) {
        most = (length_ + 15) / 16 * 16;  // slots begin at multiples of 64 bytes
        runner_.set_block(most);
      }
      chunk_length_ = std::min(length_, most);
      by_piece_ = in_place && length_ > most;
      if (in_place && !by_piece_)
        most = std::clamp<std::int64_t>(full_.count() / (8 * max_threads()), most, kRowBlocks * most);
      chunk_kept_ = std::clamp<std::int64_t>(most / std::max<std::int64_t>(length_, 1), 1, kBlock);
      chunks_ = (groups + chunk_kept_ - 1) / chunk_kept_;
    } else {
      const std::int64_t most = turned_ ? kBlock / length_ / 16 * 16 : tape_.online.empty() ? kBlock : kOnlineColumns;
      chunk_kept_ = std::min(width_, std::max<std::int64_t>(most, 1));
      chunk_length_ = std::min(length_, std::max<std::int64_t>(1, kBlock / chunk_kept_));
      by_row_ = in_place && chunk_length_ == 1;
      if (by_row_) runner_.set_block(kWideRow);
      cut_columns(groups, chunk_kept_);
    }
    chunk_length_ = std::max<std::int64_t>(chunk_length_, 1);
    resident_ = length_ <= chunk_length_;
    const std::int64_t rows_a_segment =
        std::max<std::int64_t>(1, kSegment / (chunk_length_ * (rows_ ? 1 : chunk_kept_)));
    segment_length_ = rows_a_segment * chunk_length_;
    segments_ = std::max<std::int64_t>(1, (length_ + segment_length_ - 1) / segment_length_);
    const bool parallel = worth_threads(full_.count());
    if (by_row_) widen_rows(groups, parallel);
    if (resident_) describe(rows_ ? "rows in one block" : "columns in one block", parallel);
    else describe(rows_ ? "rows" : "columns", parallel, count_reads());
    if (parallel && !resident_ && segments_ > 1 && chunks_ < 2 * max_threads()) return run_by_segments();
    ranges(chunks_, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = make_worker();
      std::byte* const partials = resident_ ? nullptr : partial_memory(segments_);
      for (std::int64_t c = first; c < last; ++c) {
        if (!resident_) {
          run_passes(w, c, partials);
          continue;
        }
        Block b = block(c, 0, length_);
        if (rows_ && c + 1 < last) b.next = b.position + b.size();
        runner_.run_block(w, b);
      }
    });
  }

  void cut_columns(std::int64_t groups, std::int64_t columns) {
    chunk_kept_ = std::min(width_, columns);
    per_outer_ = (width_ + chunk_kept_ - 1) / chunk_kept_;
    chunks_ = groups / width_ * per_outer_;
  }
  /// Wider chunks of columns, as long as each thread has some; with the segments, and so the order of the sums, that they had.
  void widen_rows(std::int64_t groups, bool parallel) {
    chunk_length_ = kJoinedRows;
    std::int64_t columns = kWideRow;
    for (cut_columns(groups, columns); parallel && columns > kBlock && chunks_ * segments_ < 2 * max_threads();)
      cut_columns(groups, columns /= 2);
  }
  Worker make_worker() const { return runner_.make_worker(std::max(kBlock, chunk_length_ * chunk_kept_)); }
  bool is_pass(int pass) const { return pass < tape_.program->walks - 1 || runner_.has_full_outputs(pass); }
  /// Tells the trace what is read more than once; the number of passes.
  int count_reads() const {
    int passes = 0;
    while (passes < tape_.program->walks && is_pass(passes)) ++passes;
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      int reads = 0;
      for (int pass = 0; pass < passes; ++pass) reads += runner_.reads(pass, static_cast<int>(i));
      if (reads > 1) detail::count_read(reads - 1, request_.inputs[i].view, request_.space);
    }
    return passes;
  }

  Block block(std::int64_t chunk, std::int64_t begin, std::int64_t length) const {
    Block b;
    if (rows_) {
      b.kept_position = chunk * chunk_kept_;
      b.kept = std::min(chunk_kept_, kept_.count() - b.kept_position);
      b.position = b.kept_position * length_ + begin;
      b.cols = b.pitch = b.kept * length;
    } else {
      const std::int64_t outer = chunk / per_outer_, column = chunk % per_outer_ * chunk_kept_;
      b.kept = std::min(chunk_kept_, width_ - column);
      b.kept_position = outer * width_ + column;
      b.position = (outer * length_ + begin) * width_ + column;
      b.rows = length, b.cols = b.kept, b.pitch = width_;
    }
    return b;
  }

  std::size_t partial_bytes() const { return tape_.reductions.size() * static_cast<std::size_t>(chunk_kept_) * 8; }
  /// This thread's room for the partial results of so many segments.
  std::byte* partial_memory(std::int64_t segments) const {
    struct Partials : Buffer {};
    return detail::of_thread<Partials>().reserve(segments * static_cast<std::int64_t>(partial_bytes()));
  }
  std::byte* partial(std::byte* partials, std::int64_t segment, std::size_t reduction) const {
    return partials + static_cast<std::size_t>(segment) * partial_bytes() +
           reduction * static_cast<std::size_t>(chunk_kept_) * 8;
  }

  /// One walk along a segment of the reduced axes: computes what pass `pass` needs, reduces it into the segment's
  /// partial results, and stores the full outputs that are there.
  void run_segment(Worker& w, std::int64_t chunk, std::int64_t segment, int pass, std::byte* partials) const {
    const std::int64_t begin = segment * segment_length_, end = std::min(length_, begin + segment_length_);
    alignas(64) std::byte scratch[kSlotBytes];
    for (std::int64_t at = begin, length = 0; at < end || at == begin; at += std::max<std::int64_t>(length, 1)) {
      length = std::min(chunk_length_, end - at);
      if (by_piece_) length = std::max(length, (end - at) / chunk_length_ * chunk_length_);
      Block b = block(chunk, at, length);
      if (at + length < end && (b.rows == 1 || b.pitch == b.cols)) b.next = b.position + length * (rows_ ? 1 : width_);
      runner_.load_full(w, b, pass);
      runner_.aim_outputs(w, b, true, pass);
      runner_.execute(w, runner_.pass(pass), b);
      const auto reduce = [&](std::size_t r) {
        const TapeOp& op = reduction(r);
        std::byte* sum = partial(partials, segment, r);
        const void* in = w.at[static_cast<std::size_t>(op.args[0])];
        const bool one_row = !rows_ && b.rows == 1 && !counts(r);
        if (by_row_ || one_row) return join_rows(op, in, sum, b, at == begin);
        if (by_piece_) return join_pieces(op, in, sum, length, at == begin);
        if (counts(r)) count(op, at == begin ? sum : scratch, b);
        else runner_.reduce(op, in, at == begin ? sum : scratch, b);
        if (at != begin) join(op, sum, scratch, b.kept);
      };
      std::byte* const before =
          at == begin || tape_.online.empty() ? nullptr : copy_partials(partials, segment, pass + 1, b);
      for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
        if (reduction(r).walk == pass + 1 && !online_of(r)) reduce(r);
      add_online(w, b, pass + 1, before, partial(partials, segment, 0));
      runner_.store_outputs(w, b, true, pass);
    }
  }
  /// A block of wide columns, a row after the other; `first`: of a segment.
  void join_rows(const TapeOp& op, const void* in, void* sum, Block b, bool first) const {
    if (first) {
      Block row = b;
      row.rows = 1;
      runner_.reduce(op, in, sum, row);
      in = static_cast<const std::byte*>(in) + b.pitch * runner_.element_bytes(op);
      --b.rows;
    }
    runner_.join_rows(op, in, sum, b);
  }
  /// Pieces of a row, each reduced by itself; `first`: of a segment.
  void join_pieces(const TapeOp& op, const void* in, std::byte* sum, std::int64_t length, bool first) const {
    alignas(64) std::byte results[kSegment / kLargeBlock * 8];
    Block b;
    b.kept = std::max<std::int64_t>(1, length / chunk_length_), b.cols = length;
    runner_.reduce(op, in, results, b);
    const std::size_t size = lane_size(op.lane);
    if (first) std::memcpy(sum, results, size);
    for (std::int64_t i = first ? 1 : 0; i < b.kept; ++i) join(op, sum, results + static_cast<std::size_t>(i) * size, 1);
  }
  const TapeOp& reduction(std::size_t r) const { return tape_.ops[static_cast<std::size_t>(tape_.reductions[r])]; }
  /// The place among the reductions of an op.
  std::size_t place_of(int op) const {
    return static_cast<std::size_t>(std::find(tape_.reductions.begin(), tape_.reductions.end(), op) -
                                    tape_.reductions.begin());
  }
  /// Whether reduction r is a sum that is taken with what it waits for: those kernels, or null.
  const OnlineKernels* online_of(std::size_t r) const {
    for (std::size_t i = 0; i < tape_.online.size(); ++i)
      if (tape_.online[i].sum == tape_.reductions[r]) return &online_[i];
    return nullptr;
  }
  OnlineParts parts_of(const TapeOnline& online, std::byte* results) const {
    const auto of = [&](int op) { return op < 0 ? nullptr : partial(results, 0, place_of(op)); };
    return {of(online.sum), of(online.pivot), of(online.count), {of(online.lower[0]), of(online.lower[1])}};
  }
  /// This thread's copy of what a walk has of a segment so far.
  std::byte* copy_partials(std::byte* partials, std::int64_t segment, int walk, const Block& b) const {
    struct Copies : Buffer {};
    std::byte* const copy = detail::of_thread<Copies>().reserve(static_cast<std::int64_t>(partial_bytes()));
    for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
      if (reduction(r).walk == walk)
        std::memcpy(partial(copy, 0, r), partial(partials, segment, r),
                    static_cast<std::size_t>(b.kept) * lane_size(reduction(r).lane));
    return copy;
  }
  /// Adds a block to the sums of a walk that are taken with what they wait for. `now` has the other results with the
  /// block, `before` without it (null: there was none before).
  void add_online(const Worker& w, const Block& b, int walk, std::byte* before, std::byte* now) const {
    alignas(64) std::byte power[kSlotBytes];
    const auto value = [&](int v) { return v < 0 ? nullptr : w.at[static_cast<std::size_t>(v)]; };
    int taken = -1;  // one power for all sums of a maximum
    for (std::size_t i = 0; i < tape_.online.size(); ++i) {
      const TapeOnline& online = tape_.online[i];
      const TapeOp& pivot = tape_.ops[static_cast<std::size_t>(online.pivot)];
      if (pivot.walk != walk || online.power == 2) continue;  // squares are added with what they are corrected by
      const OnlineParts parts = parts_of(online, now), old = before ? parts_of(online, before) : OnlineParts{};
      const void* const x = value(pivot.args[0]);
      if (online.power == 1) {
        online_[i].add_moments(x, value(online.weight), before ? &old : nullptr, parts, squares_of(online, now), b);
        continue;
      }
      if (taken != online.pivot) online_[i].take_power(x, parts, power, b);
      taken = online.pivot;
      online_[i].add_power(power, value(online.weight), before ? &old : nullptr, parts, b);
    }
  }
  /// The sum of squares that is corrected by this one, or null.
  void* squares_of(const TapeOnline& first, std::byte* results) const {
    for (const TapeOnline& online : tape_.online)
      if (online.power == 2 && online.lower[1] == first.sum) return partial(results, 0, place_of(online.sum));
    return nullptr;
  }
  /// Whether reduction r counts elements.
  bool counts(std::size_t r) const {
    return std::any_of(tape_.online.begin(), tape_.online.end(),
                       [&](const TapeOnline& online) { return online.count == tape_.reductions[r]; });
  }
  /// The number of a block's elements for each kept position, in place of their sum.
  void count(const TapeOp& op, void* to, const Block& b) const {
    alignas(8) std::byte along[8];
    const double n = static_cast<double>(b.size() / b.kept);
    const float narrow = static_cast<float>(n);
    if (detail::is_wide_lane(op.lane)) std::memcpy(along, &n, sizeof n);
    else std::memcpy(along, &narrow, sizeof narrow);
    table_.fill[static_cast<int>(op.lane)](along, to, static_cast<std::size_t>(b.kept));
  }
  static void join(const TapeOp& op, void* into, const void* other, std::int64_t n) {
    const void* args[3] = {into, other, nullptr};
    op.combine(args, into, static_cast<std::size_t>(n));
  }

  /// Joins the segments' partial results of a walk pairwise: each before what it is corrected by.
  void join_segments(const Block& b, int walk, std::byte* partials) const {
    for (std::int64_t step = 1; step < segments_; step *= 2)
      for (std::int64_t s = 0; s + step < segments_; s += 2 * step) {
        for (std::size_t i = tape_.online.size(); i-- > 0;)
          if (tape_.ops[static_cast<std::size_t>(tape_.online[i].sum)].walk == walk)
            online_[i].join(parts_of(tape_.online[i], partial(partials, s, 0)),
                            parts_of(tape_.online[i], partial(partials, s + step, 0)), b.kept);
        for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
          if (reduction(r).walk == walk && !online_of(r))
            join(reduction(r), partial(partials, s, r), partial(partials, s + step, r), b.kept);
      }
  }
  /// Takes the joined results of a walk and computes what follows from them.
  void take_results(Worker& w, const Block& b, int walk, std::byte* partials) const {
    for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
      if (reduction(r).walk == walk)
        std::memcpy(w.at[static_cast<std::size_t>(reduction(r).result)], partial(partials, 0, r),
                    static_cast<std::size_t>(b.kept) * lane_size(reduction(r).lane));
    run_kept_ops(w, b, walk);
  }
  /// In the order of the tape, in which a sum stands behind what its shift is computed by.
  void run_kept_ops(Worker& w, const Block& b, int walk) const {
    for (std::size_t i = 0; i < tape_.ops.size(); ++i) {
      const TapeOp& op = tape_.ops[i];
      if (op.walk != walk) continue;
      if (op.kind != TapeOp::Kind::reduce) {
        if (!op.full) runner_.execute(w, op, b);
        continue;
      }
      for (std::size_t k = 0; k < tape_.online.size(); ++k) {
        const TapeOnline& online = tape_.online[k];
        if (online.sum != static_cast<int>(i)) continue;
        const auto of = [&](int o) {
          return o < 0 ? nullptr : w.at[static_cast<std::size_t>(tape_.ops[static_cast<std::size_t>(o)].result)];
        };
        online_[k].finish(
            {of(online.sum), of(online.pivot), of(online.count), {of(online.lower[0]), of(online.lower[1])}},
            w.at[static_cast<std::size_t>(online.shift)], b.kept);
      }
    }
  }

  void run_passes(Worker& w, std::int64_t chunk, std::byte* partials) const {
    const Block b = block(chunk, 0, 0);
    runner_.load_kept(w, b);
    run_kept_ops(w, b, 0);
    for (int pass = 0; pass < tape_.program->walks && is_pass(pass); ++pass) {
      for (std::int64_t s = 0; s < segments_; ++s) run_segment(w, chunk, s, pass, partials);
      if (pass == tape_.program->walks - 1) break;
      join_segments(b, pass + 1, partials);
      take_results(w, b, pass + 1, partials);
    }
    runner_.store_outputs(w, b, false);
  }

  /// What walks 1 … `walks` gave, and what follows from it.
  void load_results(Worker& w, const Block& b, int walks, std::byte* partials) const {
    runner_.load_kept(w, b);
    run_kept_ops(w, b, 0);
    for (int walk = 1; walk <= walks; ++walk) take_results(w, b, walk, partials);
  }
  /// Few, long reductions: the segments are shared out instead of the chunks.
  void run_by_segments() const {
    std::byte* const partials = partial_memory(chunks_ * segments_);
    const auto of_chunk = [&](std::int64_t c) {
      return partials + static_cast<std::size_t>(c * segments_) * partial_bytes();
    };
    for (int pass = 0; pass < tape_.program->walks && is_pass(pass); ++pass) {
      ranges(chunks_ * segments_, true, [&](std::int64_t first, std::int64_t last) {
        Worker w = make_worker();
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t chunk = i / segments_;
          if (i == first || i % segments_ == 0) load_results(w, block(chunk, 0, 0), pass, of_chunk(chunk));
          run_segment(w, chunk, i % segments_, pass, of_chunk(chunk));
        }
      });
      for (std::int64_t c = 0; c < chunks_ && pass < tape_.program->walks - 1; ++c)
        join_segments(block(c, 0, 0), pass + 1, of_chunk(c));
    }
    Worker w = make_worker();
    for (std::int64_t c = 0; c < chunks_; ++c) {
      load_results(w, block(c, 0, 0), tape_.program->walks - 1, of_chunk(c));
      runner_.store_outputs(w, block(c, 0, 0), false);
    }
  }

  const FusedRequest& request_;
  const Tape& tape_;
  const KernelTable& table_;
  AxisOrder full_, kept_;
  std::int64_t length_ = 1, width_ = 1;  // elements along the reduced axes; kept elements innermost (columns)
  bool turned_ = false;                  // columns that are short rows in memory
  bool rows_;                            // the reduced axes are innermost; else the kept ones
  BlockRunner runner_;
  detail::SmallVector<OnlineKernels, 2> online_;
  std::int64_t chunk_kept_ = 1, chunk_length_ = 1, chunks_ = 0, per_outer_ = 1;
  std::int64_t segment_length_ = 1, segments_ = 1;
  bool resident_ = true;
  bool by_row_ = false;    // sums of wide columns take a row at a time from where it lies
  bool by_piece_ = false;  // sums of long rows take the pieces of a segment at once
};

}  // namespace

namespace {
/// Results of reductions over nothing. Beside a 0 the other sizes may be too large to multiply.
void run_empty(FusedRequest request, const Tape& tape, const KernelTable& table) {
  bool results = request.program->reduces;
  for (int i = 0; i < request.space.rank(); ++i) {
    std::int64_t& size = request.space[static_cast<std::size_t>(i)];
    if (request.reduced >> i & 1) size = 0;
    else results &= size > 0;
  }
  if (results) FusedRun(request, tape, table).run();
}
}  // namespace

void run_fused(const FusedRequest& request, const Tape& tape, const KernelTable& table) {
  if (request.space.numel() == 0) return run_empty(request, tape, table);
  if (!detail::tracing() && run_small(request, tape, table)) return;
  FusedRun(request, tape, table).run();
}

}  // namespace tern::detail_cpu
