// Programs with reductions. Kept positions are divided into chunks, and the reduced axes into segments, whose partial
// results are joined pairwise: the order of sums does not depend on the number of threads.
#include <cstring>

#include "backend/instruments/trace.hpp"
#include "cpu/tape/partials.hpp"
#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {
namespace {

/// Elements summed into one partial result; partial results are joined pairwise. Fixed, so that results do not depend
/// on the number of threads.
constexpr std::int64_t kSegment = 64 * kTapeBlock;

/// Columns of a block where sums are taken with what they wait for (OnlineSum): a block then has several rows for each
/// time that the sums are scaled (logsumexp of 8192 x 1024 f32 down its columns, one thread, in ms: 128: 12.9,
/// 256: 13.2, 512: 19, 1024: 24; softmax 34, 31, 32, 30).
constexpr std::int64_t kOnlineColumns = 256;

/// Blocks' worth of whole rows that are summed where they lie (kLargeBlock).
constexpr std::int64_t kRowBlocks = 64;

/// Columns whose sums in place follow a row together: the longer a run of memory is, the better it is fetched ahead
/// (4096 x 4096 f32, Zen 4, a row at a time, one thread, in ms: 1: 8.0, 2: 8.0, 4: 5.1, 8: 4.5, 16: 5.4).
constexpr std::int64_t kWideRow = 4 * kTapeBlock;

/// Blocks' worth of narrow rows whose columns are summed in place: a segment's sum is then of 64 sums of 64 numbers (of
/// 64 columns; of 16 numbers 64 before), and what comes between blocks is a fourth.
constexpr std::int64_t kNarrowRows = 4;

/// Short rows are reduced so many at once (the lanes of the widest vector): chunks are whole vectors of them.
constexpr std::int64_t kRowsTogether = 16;

/// Elements of rows that are one block of a larger register file, where blocks of kTapeBlock compute exponentials
/// again. Of their time, in turn, one thread, f32 and bf16: softmax of rows of 1536 0.57, 2048 0.69 to 0.76, 4096 0.64
/// to 0.81, 8192 0.65 to 0.88, with backward 0.57 to 0.83. Not for others: log_softmax 0.72 to 1.05, logsumexp 0.78
/// to 1.00, cross_entropy 0.81 to 1.15, layer norm 0.8 to 1.3, with backward 0.80 to 1.17; nor f64, 0.8 to 1.3.
constexpr std::int64_t kLargeRow = 8 * kTapeBlock;

class ReducingRun {
 public:
  explicit ReducingRun(Run& run)
      : run_(run),
        tape_(run.tape),
        runner_(run.runner),
        kept_(run.layout.kept),
        full_(run.layout.full),
        length_(run.layout.length),
        width_(run.layout.width),
        rows_(run.layout.rows),
        partials_(run) {}

  void run() {
    // What is summed in place needs no block of the register file: rows of 4096 in a cache take 0.5 of the time.
    const bool in_place = runner_.reduce_in_place(full_.count());
    if (rows_) chunk_rows(in_place);
    else chunk_columns(in_place);
    chunk_length_ = std::max<std::int64_t>(chunk_length_, 1);
    resident_ = length_ <= chunk_length_;
    const std::int64_t rows_a_segment =
        std::max<std::int64_t>(1, kSegment / (chunk_length_ * (rows_ ? 1 : chunk_kept_)));
    segment_length_ = rows_a_segment * chunk_length_;
    segments_ = std::max<std::int64_t>(1, (length_ + segment_length_ - 1) / segment_length_);
    const bool parallel = run_.worth_threads(full_.count());
    if (by_row_) widen_rows(parallel);
    partials_.set_kept(chunk_kept_);
    if (resident_) run_.describe(rows_ ? "rows in one block" : "columns in one block", parallel);
    else run_.describe(rows_ ? "rows" : "columns", parallel, count_reads());
    if (parallel && !resident_ && segments_ > 1 && chunks_ < 2 * max_threads()) return run_by_segments();
    run_.ranges(chunks_, parallel, [&](std::int64_t first, std::int64_t last) {
      Worker w = make_worker();
      std::byte* const partials = resident_ ? nullptr : partials_.memory(segments_);
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

 private:
  void chunk_rows(bool in_place) {
    std::int64_t most = in_place ? kLargeBlock : kTapeBlock;
    if (tape_.repeats && length_ > kTapeBlock && length_ <= kLargeRow) {
      most = (length_ + 15) / 16 * 16;  // slots begin at multiples of 64 bytes
      runner_.set_block(most);
    }
    chunk_length_ = std::min(length_, most);
    by_piece_ = in_place && length_ > most;
    if (in_place && !by_piece_ && tape_.online.empty())  // places look at a block twice
      most = std::clamp<std::int64_t>(full_.count() / (8 * max_threads()), most, kRowBlocks * most);
    const std::int64_t most_kept = in_place && !runner_.streams() ? kWideRow : kTapeBlock;
    chunk_kept_ = std::clamp<std::int64_t>(most / std::max<std::int64_t>(length_, 1), 1, most_kept);
    if (chunk_kept_ > kTapeBlock) runner_.set_block(chunk_kept_);
    const std::int64_t group = run_.layout.group, together = group == 1 ? kRowsTogether : group;
    if (chunk_kept_ > together) chunk_kept_ -= chunk_kept_ % together;
    chunks_ = (kept_.count() + chunk_kept_ - 1) / chunk_kept_;
  }
  void chunk_columns(bool in_place) {
    const std::int64_t most = run_.layout.transposed ? kTapeBlock / length_ / 16 * 16
                              : tape_.online.empty() ? kTapeBlock
                                                     : kOnlineColumns;
    chunk_kept_ = std::min(width_, std::max<std::int64_t>(most, 1));
    chunk_length_ = std::min(length_, std::max<std::int64_t>(1, kTapeBlock / chunk_kept_));
    by_row_ = in_place && chunk_length_ == 1;
    if (by_row_) runner_.set_block(kWideRow);
    else if (in_place && chunk_kept_ == width_ && tape_.online.empty())
      chunk_length_ = std::min(length_, kNarrowRows * kTapeBlock / chunk_kept_);
    cut_columns(chunk_kept_);
  }
  void cut_columns(std::int64_t columns) {
    chunk_kept_ = std::min(width_, columns);
    per_outer_ = (width_ + chunk_kept_ - 1) / chunk_kept_;
    chunks_ = kept_.count() / width_ * per_outer_;
  }
  /// Wider chunks of columns, as long as each thread has some; with the segments, and so the order of the sums, that
  /// they had.
  void widen_rows(bool parallel) {
    chunk_length_ = kJoinedRows;
    std::int64_t columns = kWideRow;
    for (cut_columns(columns); parallel && columns > kTapeBlock && chunks_ * segments_ < 2 * max_threads();)
      cut_columns(columns /= 2);
  }
  Worker make_worker() const { return runner_.make_worker(std::max(kTapeBlock, chunk_length_ * chunk_kept_)); }
  bool is_pass(int pass) const { return pass < tape_.program->passes - 1 || runner_.has_full_outputs(pass); }
  /// Tells the trace what is read more than once; the number of passes.
  int count_reads() const {
    int passes = 0;
    while (passes < tape_.program->passes && is_pass(passes)) ++passes;
    for (std::size_t i = 0; i < run_.request.inputs.size(); ++i) {
      int reads = 0;
      for (int pass = 0; pass < passes; ++pass) reads += runner_.reads(pass, static_cast<int>(i));
      if (reads > 1) detail::count_read(reads - 1, run_.request.inputs[i].view, run_.request.space);
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

  /// One pass along a segment of the reduced axes: computes what pass `pass` needs, reduces it into the segment's
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
        const TapeOp& op = partials_.reduction(r);
        std::byte* sum = partials_.at(partials, segment, r);
        const void* in = w.at[static_cast<std::size_t>(op.args[0])];
        const bool one_row = !rows_ && b.rows == 1 && !partials_.counts(r);
        if (by_row_ || one_row) return join_rows(op, in, sum, b, at == begin);
        if (by_piece_) return join_pieces(op, in, sum, length, at == begin);
        if (partials_.counts(r)) partials_.count(op, at == begin ? sum : scratch, b);
        else runner_.reduce(op, in, at == begin ? sum : scratch, b);
        if (at != begin) partials_.join(op, sum, scratch, b.kept);
      };
      std::byte* const before =
          at == begin || tape_.online.empty() ? nullptr : partials_.copy(partials, segment, pass + 1, b);
      for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
        if (partials_.reduction(r).pass == pass + 1 && !partials_.online_of(r)) reduce(r);
      partials_.add_online(w, b, pass + 1, before, partials_.at(partials, segment, 0));
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
    const std::size_t size = compute_size(op.type);
    if (first) std::memcpy(sum, results, size);
    for (std::int64_t i = first ? 1 : 0; i < b.kept; ++i)
      partials_.join(op, sum, results + static_cast<std::size_t>(i) * size, 1);
  }
  void run_passes(Worker& w, std::int64_t chunk, std::byte* partials) const {
    const Block b = block(chunk, 0, 0);
    runner_.load_kept(w, b);
    partials_.run_kept_ops(w, b, 0);
    for (int pass = 0; pass < tape_.program->passes && is_pass(pass); ++pass) {
      for (std::int64_t s = 0; s < segments_; ++s) run_segment(w, chunk, s, pass, partials);
      if (pass == tape_.program->passes - 1) break;
      partials_.join_segments(b, pass + 1, partials, segments_);
      partials_.take_results(w, b, pass + 1, partials);
    }
    runner_.store_outputs(w, b, false);
  }

  /// What passes 1 … `passes` gave, and what follows from it.
  void load_results(Worker& w, const Block& b, int passes, std::byte* partials) const {
    runner_.load_kept(w, b);
    partials_.run_kept_ops(w, b, 0);
    for (int pass = 1; pass <= passes; ++pass) partials_.take_results(w, b, pass, partials);
  }
  /// Few, long reductions: the segments are shared out instead of the chunks.
  void run_by_segments() const {
    std::byte* const partials = partials_.memory(chunks_ * segments_);
    const auto of_chunk = [&](std::int64_t c) {
      return partials + static_cast<std::size_t>(c * segments_) * partials_.bytes();
    };
    for (int pass = 0; pass < tape_.program->passes && is_pass(pass); ++pass) {
      run_.ranges(chunks_ * segments_, true, [&](std::int64_t first, std::int64_t last) {
        Worker w = make_worker();
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t chunk = i / segments_;
          if (i == first || i % segments_ == 0) load_results(w, block(chunk, 0, 0), pass, of_chunk(chunk));
          run_segment(w, chunk, i % segments_, pass, of_chunk(chunk));
        }
      });
      for (std::int64_t c = 0; c < chunks_ && pass < tape_.program->passes - 1; ++c)
        partials_.join_segments(block(c, 0, 0), pass + 1, of_chunk(c), segments_);
    }
    Worker w = make_worker();
    for (std::int64_t c = 0; c < chunks_; ++c) {
      load_results(w, block(c, 0, 0), tape_.program->passes - 1, of_chunk(c));
      runner_.store_outputs(w, block(c, 0, 0), false);
    }
  }

  Run& run_;
  const Tape& tape_;
  BlockRunner& runner_;
  const AxisOrder &kept_, &full_;
  const std::int64_t length_, width_;
  const bool rows_;
  PartialResults partials_;
  std::int64_t chunk_kept_ = 1, chunk_length_ = 1, chunks_ = 0, per_outer_ = 1;
  std::int64_t segment_length_ = 1, segments_ = 1;
  bool resident_ = true;
  bool by_row_ = false;    // sums of wide columns take a row at a time from where it lies
  bool by_piece_ = false;  // sums of long rows take the pieces of a segment at once
};

}  // namespace

void run_reducing(Run& run) {
  if (!run_short_sums(run)) ReducingRun(run).run();
}

}  // namespace tern::detail_cpu
