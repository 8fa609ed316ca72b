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
#include "cpu/threads.hpp"

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

/// Elements of a block that needs no register file.
constexpr std::int64_t kLargeBlock = 8 * kBlock;

/// Columns of a tile where an operand is transposed (1024 x 1024 f32, one thread, in ms: 16: 2.2, 32: 1.3, 64: 1.1,
/// 128: 1.3; without tiles 6.5), the rows it must have, and the bytes of a cache line.
constexpr std::int64_t kTile = 64, kFewestTileRows = 8, kLine = 64;

class FusedRun {
 public:
  FusedRun(const FusedRequest& request, const Tape& tape, const KernelTable& table)
      : request_(request),
        tape_(tape),
        table_(table),
        rows_(order_axes()),
        runner_(tape, table, request.inputs, request.outputs, full_, kept_, rows_, length_, coordinates()) {}

  void run() {
    if (kept_.count() == 0) return;
    if (!tape_.program->reduces) run_elementwise();
    else run_reducing();
  }

 private:
  // ---- layout ----
  /// Whether the reduced axes are innermost.
  bool order_axes() {
    const int rank = request_.space.rank();
    int last = -1;  // innermost axis that matters
    for (int i = 0; i < rank; ++i)
      if (request_.space[static_cast<std::size_t>(i)] != 1) last = i;
    const bool rows = last < 0 || (request_.reduced >> last & 1);
    const auto add = [&](AxisOrder& order, int axis) {
      order.axes[order.rank] = axis;
      order.sizes[order.rank++] = request_.space[static_cast<std::size_t>(axis)];
    };
    int inner_begin = rank;  // columns: the kept axes behind the last reduced one
    while (!rows && inner_begin > 0 && !(request_.reduced >> (inner_begin - 1) & 1)) --inner_begin;
    for (int i = 0; i < inner_begin; ++i)
      if (!(request_.reduced >> i & 1)) add(full_, i), add(kept_, i);
    for (int i = 0; i < rank; ++i)
      if (request_.reduced >> i & 1) {
        add(full_, i);
        length_ *= request_.space[static_cast<std::size_t>(i)];
      }
    for (int i = inner_begin; i < rank; ++i) {
      add(full_, i), add(kept_, i);
      width_ *= request_.space[static_cast<std::size_t>(i)];
    }
    return rows;
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

  std::vector<Strides> coordinates() const {
    const bool counts = std::any_of(tape_.values.begin(), tape_.values.end(),
                                    [](const TapeValue& v) { return v.kind == StepKind::position; });
    std::vector<Strides> result(counts ? tape_.values.size() : 0);
    for (std::size_t v = 0; v < tape_.values.size(); ++v)
      if (tape_.values[v].kind == StepKind::position) result[v] = coordinate_strides(tape_.values[v].index);
    return result;
  }

  // ---- drivers ----
  bool worth_threads(std::int64_t elements) const {
    return elements * static_cast<std::int64_t>(tape_.ops.size() + 1) > parallel_work();
  }
  void describe(const char* mode, bool parallel) const {
    if (!detail::tracing()) return;
    const Order& block = runner_.way().block;
    const auto loops = std::count_if(block.begin(), block.end(), [](int i) { return i < 0; });
    detail::note(
        std::string("tape of ") + std::to_string(tape_.ops.size()) + " ops, " +
        (loops > 0 ? std::to_string(loops) + " compiled, " : std::string()) + mode + ", " +
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

  void run_elementwise() const {
    if (const std::optional<Tiling> tiles = tiling()) return run_tiles(*tiles);
    const std::int64_t count = full_.count(), size = runner_.is_one_loop(count) ? kLargeBlock : kBlock;
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
    if (rows_) {
      chunk_kept_ = length_ <= kBlock ? std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(length_, 1)) : 1;
      chunk_length_ = std::min(length_, kBlock);
      chunks_ = (groups + chunk_kept_ - 1) / chunk_kept_;
    } else {
      chunk_kept_ = std::min(width_, kBlock);
      chunk_length_ = std::min(length_, std::max<std::int64_t>(1, kBlock / chunk_kept_));
      per_outer_ = (width_ + chunk_kept_ - 1) / chunk_kept_;
      chunks_ = groups / width_ * per_outer_;
    }
    chunk_length_ = std::max<std::int64_t>(chunk_length_, 1);
    resident_ = length_ <= chunk_length_;
    const std::int64_t rows_a_segment =
        std::max<std::int64_t>(1, kSegment / (chunk_length_ * (rows_ ? 1 : chunk_kept_)));
    segment_length_ = rows_a_segment * chunk_length_;
    segments_ = std::max<std::int64_t>(1, (length_ + segment_length_ - 1) / segment_length_);
    const bool parallel = worth_threads(full_.count());
    describe(rows_ ? (resident_ ? "rows in one block" : "rows in passes")
                   : (resident_ ? "columns in one block" : "columns in passes"),
             parallel);
    const bool only_reduced = tape_.program->phases == 2 && !runner_.has_full_outputs();
    if (parallel && !resident_ && only_reduced && segments_ > 1 && chunks_ < 2 * max_threads())
      return run_by_segments();
    ranges(chunks_, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = runner_.make_worker(kBlock);
      std::vector<std::byte> partials(resident_ ? 0 : static_cast<std::size_t>(segments_) * partial_bytes());
      for (std::int64_t c = first; c < last; ++c) {
        if (resident_) runner_.run_block(w, block(c, 0, length_));
        else run_passes(w, c, partials.data());
      }
    });
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
  std::byte* partial(std::byte* partials, std::int64_t segment, std::size_t reduction) const {
    return partials + static_cast<std::size_t>(segment) * partial_bytes() +
           reduction * static_cast<std::size_t>(chunk_kept_) * 8;
  }

  /// One walk along a segment of the reduced axes: computes what pass `pass` needs, reduces it into the segment's
  /// partial results, and stores the full outputs that are there.
  void run_segment(Worker& w, std::int64_t chunk, std::int64_t segment, int pass, std::byte* partials) const {
    const std::int64_t begin = segment * segment_length_, end = std::min(length_, begin + segment_length_);
    alignas(64) std::byte scratch[kSlotBytes];
    for (std::int64_t at = begin; at < end || at == begin; at += chunk_length_) {
      const Block b = block(chunk, at, std::min(chunk_length_, end - at));
      runner_.load_full(w, b);
      runner_.aim_outputs(w, b, true, pass);
      runner_.execute(w, runner_.pass(pass), b);
      for (std::size_t r = 0; r < tape_.reductions.size(); ++r) {
        const TapeOp& op = tape_.ops[static_cast<std::size_t>(tape_.reductions[r])];
        if (op.phase != pass + 1) continue;
        std::byte* sum = partial(partials, segment, r);
        const void* in = w.at[static_cast<std::size_t>(op.args[0])];
        runner_.reduce(op, in, at == begin ? sum : scratch, b);
        if (at != begin) join(op, sum, scratch, b.kept);
      }
      runner_.store_outputs(w, b, true, pass);
    }
  }
  static void join(const TapeOp& op, void* into, const void* other, std::int64_t n) {
    const void* args[3] = {into, other, nullptr};
    op.combine(args, into, static_cast<std::size_t>(n));
  }

  /// Joins the segments' partial results pairwise and computes what follows from the reductions of this phase.
  void finish_phase(Worker& w, const Block& b, int phase, std::byte* partials) const {
    for (std::size_t r = 0; r < tape_.reductions.size(); ++r) {
      const TapeOp& op = tape_.ops[static_cast<std::size_t>(tape_.reductions[r])];
      if (op.phase != phase) continue;
      for (std::int64_t step = 1; step < segments_; step *= 2)
        for (std::int64_t s = 0; s + step < segments_; s += 2 * step)
          join(op, partial(partials, s, r), partial(partials, s + step, r), b.kept);
      std::memcpy(w.at[static_cast<std::size_t>(op.result)], partial(partials, 0, r),
                  static_cast<std::size_t>(b.kept) * lane_size(op.lane));
    }
    run_kept_ops(w, b, phase);
  }
  void run_kept_ops(Worker& w, const Block& b, int phase) const {
    for (const TapeOp& op : tape_.ops)
      if (!op.full && op.kind != TapeOp::Kind::reduce && op.phase == phase) runner_.execute(w, op, b);
  }

  void run_passes(Worker& w, std::int64_t chunk, std::byte* partials) const {
    const Block b = block(chunk, 0, 0);
    runner_.load_kept(w, b);
    run_kept_ops(w, b, 0);
    for (int pass = 0; pass < tape_.program->phases; ++pass) {
      const bool last = pass == tape_.program->phases - 1;
      if (last && !runner_.has_full_outputs(pass)) break;
      for (std::int64_t s = 0; s < segments_; ++s) run_segment(w, chunk, s, pass, partials);
      if (!last) finish_phase(w, b, pass + 1, partials);
    }
    runner_.store_outputs(w, b, false);
  }

  /// Few, long reductions: the segments are shared out instead of the chunks.
  void run_by_segments() const {
    std::vector<std::byte> partials(static_cast<std::size_t>(chunks_ * segments_) * partial_bytes());
    const auto of_chunk = [&](std::int64_t c) {
      return partials.data() + static_cast<std::size_t>(c * segments_) * partial_bytes();
    };
    ranges(chunks_ * segments_, true, [&](std::int64_t first, std::int64_t last) {
      Worker w = runner_.make_worker(kBlock);
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t chunk = i / segments_;
        const Block b = block(chunk, 0, 0);
        runner_.load_kept(w, b);
        run_kept_ops(w, b, 0);
        run_segment(w, chunk, i % segments_, 0, of_chunk(chunk));
      }
    });
    Worker w = runner_.make_worker(kBlock);
    for (std::int64_t c = 0; c < chunks_; ++c) {
      const Block b = block(c, 0, 0);
      runner_.load_kept(w, b);
      run_kept_ops(w, b, 0);
      finish_phase(w, b, 1, of_chunk(c));
      runner_.store_outputs(w, b, false);
    }
  }

  const FusedRequest& request_;
  const Tape& tape_;
  const KernelTable& table_;
  AxisOrder full_, kept_;
  std::int64_t length_ = 1, width_ = 1;  // elements along the reduced axes; kept elements innermost (columns)
  bool rows_;                            // the reduced axes are innermost; else the kept ones
  BlockRunner runner_;
  std::int64_t chunk_kept_ = 1, chunk_length_ = 1, chunks_ = 0, per_outer_ = 1;
  std::int64_t segment_length_ = 1, segments_ = 1;
  bool resident_ = true;
};

}  // namespace

void run_fused(const FusedRequest& request, const Tape& tape, const KernelTable& table) {
  if (!detail::tracing() && run_small(request, tape, table)) return;
  FusedRun(request, tape, table).run();
}

}  // namespace tern::detail_cpu
