// Running a tape on one block of elements: operands in, kernels called, outputs out. Shared by `fused` and the
// epilogues of matrix products. (BlockRunner is larger than other classes, in files of its own by what they do: a
// block's operands, repeats, loops and results share one set of slots, which parts of it would only hand around.)
#pragma once
#include <algorithm>
#include <vector>

#include "backend/backend.hpp"
#include "backend/memory/small_vector.hpp"
#include "cpu/tape/tape.hpp"
#include "cpu/tape/cursor.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {

inline constexpr std::size_t kSlotBytes = static_cast<std::size_t>(kTapeBlock) * 8;
/// Bytes from block to block of a register file, for blocks of so many elements; kernels may write whole vectors. An
/// odd number of cache lines: blocks that lie multiples of 4096 bytes apart share the sets of an L1, and a load waits
/// for a store to another block whose address ends like its own (482 operations on 64 elements, Emerald Rapids: 15.0 to
/// 11.8 us).
inline std::size_t slot_stride(std::int64_t elements) {
  return (static_cast<std::size_t>(std::max<std::int64_t>(elements, 64)) * 8 + 127) / 128 * 128 + 64;
}
/// Columns from which an op or a loop is called for each row (see BlockRunner::goes_by_rows).
inline constexpr std::int64_t kFewestCols = 32;
/// Elements of a block up to which an operand that repeats is read from where it is repeated.
inline constexpr std::int64_t kPatternBlock = 2 * kTapeBlock;
inline bool is_short_row(std::int64_t length) { return length > 1 && length <= static_cast<std::int64_t>(kShortRow); }

/// A rectangle of the iteration space: `rows` runs of `cols` neighbours, `pitch` positions apart.
struct Block {
  std::int64_t position = 0, rows = 1, cols = 0, pitch = 0;
  std::int64_t kept_position = 0, kept = 0;  // the kept positions it belongs to
  std::int64_t next = -1;        // where the block begins that follows, if there is one
  int placed = -1;               // the value that the caller has placed in memory …
  std::int64_t placed_step = 0;  // … and bytes from row to row of it
  std::int64_t size() const { return rows * cols; }
};

/// What one thread works with: its register file and where each value is.
struct Worker {
  std::byte* file = nullptr;
  detail::SmallVector<void*, 32> at;
  std::byte* patterns = nullptr;  // operands that repeat after few elements, over a block and one period more
};

/// Rows that a loop is called for, of n elements each. `steps`: bytes from row to row of each value; none: rows follow
/// each other, and scalars have a type each.
struct LoopRows {
  std::size_t n, count = 1;
  std::span<const std::int64_t> steps = {};
  std::span<const Fetch> fetches = {};
  std::size_t times = 0;  // not 0: the n elements are short rows of so many
  std::int64_t step(const TapeLoop& loop, int value) const {
    return steps.empty() ? static_cast<std::int64_t>(n * loop.compute_bytes) : steps[static_cast<std::size_t>(value)];
  }
};

/// Calls a loop. `streams`: past the caches. `half`: in the loop's place, from and to 16-bit memory.
void run_loop(const Worker& w, const TapeLoop& loop, const LoopRows& rows, bool streams = false, LoopFn half = nullptr);

/// Whether elements lie in memory as they are computed.
inline bool stored_as_computed(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i32 || dtype == DType::u32 ||
         dtype == DType::i64;
}

/// Whether the elements follow each other in the order of the space.
inline bool is_contiguous(const detail::View& view, const Shape& space) {
  std::int64_t step = 1;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (space[axis] != 1 && view.strides[axis] != step) return false;
    step *= space[axis];
  }
  return true;
}
inline void* memory_of(const detail::View& view) {
  return static_cast<std::byte*>(view.storage->data()) +
         view.offset * static_cast<std::int64_t>(dtype_size(view.dtype));
}

/// How a block's elements belong to its kept positions: `rows` and `group` as in BlockRunner.
struct KeptOfBlock {
  bool rows;
  std::int64_t group, kept, size;
};
/// Repeats a type for each kept position along the reduced axes of a block.
void expand_block(const KernelTable& table, ComputeType type, const void* from, void* to, const KeptOfBlock& block);

/// Runs a request of at most a block whose operands lie as the space does, without any of what follows: its time is
/// that of the smallest operation. False where it is another request.
bool run_small(const detail::FusedRequest& request, const Tape& tape, const KernelTable& table);

/// The extremes of the blocks before one, and where they stand.
struct PlacesBefore {
  const void* extremes;
  const std::int32_t* places;
};

/// The same of larger ones that one elementwise operation, or loop, carries out where all operands lie as the space
/// does: what a plan takes was 2 us of the 14 to 17 of an operation on 2^16 f32 (Zen 3).
bool run_whole(const detail::FusedRequest& request, const Tape& tape);

class BlockRunner {
 public:
  /// Positions count along `full` (all axes) and `kept` (those not reduced). `rows`: the reduced axes are innermost,
  /// but for `group` kept positions.
  /// `skip`: that many operands are placed by the caller (an accumulator). `length`: elements along the reduced axes.
  /// `coordinates`: strides of each of the tape's values that are positions, in their order.
  BlockRunner(const Tape& tape, const KernelTable& table, std::span<const detail::Operand> inputs,
              std::span<const detail::View> outputs, const AxisOrder& full, const AxisOrder& kept, bool rows,
              std::int64_t length, std::span<const Strides> coordinates = {}, int skip = 0,
              std::int64_t group = 1);

  /// Blocks may have so many elements instead of kTapeBlock; before make_worker().
  void set_block(std::int64_t elements) { block_ = elements, slot_bytes_ = slot_stride(elements); }
  /// A worker on this thread's register file, with blocks of up to `fill` elements of each number prepared.
  Worker make_worker(std::int64_t fill) const;
  /// `pass`: only what it reads.
  void load_full(Worker& w, const Block& b, int pass = kAnyPass) const;
  void load_kept(Worker& w, const Block& b) const;
  /// Lets ops write outputs in place where memory allows; before execute.
  void aim_outputs(Worker& w, const Block& b, bool full, int pass = kAnyPass) const;
  /// `pass`: only the full outputs that are there after it.
  void store_outputs(Worker& w, const Block& b, bool full, int pass = kAnyPass) const;
  void execute(const Worker& w, const TapeOp& op, const Block& b) const;
  /// Of a block's rows or columns, the least ordinals of elements that equal their `extremes` (2^31 - 1: none).
  /// Rows that count up are not looked through where `before`, what the blocks before this one have, stays.
  void find_places(const Worker& w, const TapeOnline& online, const Block& b, const void* extremes,
                   std::int32_t* places, const PlacesBefore& before = {}) const;
  /// The ops and loops of a list.
  void execute(const Worker& w, const Order& order, const Block& b) const;
  /// What a pass over the full values executes.
  const Order& pass(int index) const;
  const Tape::Way& way() const { return way_; }
  /// op's reduction of the block `in`, to `out`; `stream`: past the caches, to aligned memory.
  void reduce(const TapeOp& op, const void* in, void* out, const Block& b, bool stream = false) const;
  /// Rows of the block `in` into `into`, one after the other.
  void join_rows(const TapeOp& op, const void* in, void* into, const Block& b) const;
  /// Of an element of the operand that op reduces, where it lies.
  std::int64_t element_bytes(const TapeOp& op) const {
    return half_reduction(op) ? 2 : static_cast<std::int64_t>(compute_size(op.type));
  }
  bool has_full_outputs(int pass = kAnyPass) const;
  /// Whether what is read and written cannot stay in the caches.
  bool streams() const { return streams_; }
  /// Whether pass `pass` reads input `index`, element by element.
  bool reads(int pass, int index) const;
  static constexpr int kAnyPass = -1;
  /// Whether one compiled loop, or one operation, goes from memory to memory for `count` positions: blocks may then be
  /// larger than kTapeBlock. (65536 f32 in cache, an operation: 64 blocks cost 2.5 of exp's 16 us, Emerald Rapids.)
  bool is_one_loop(std::int64_t count) const;
  /// Has 16-bit operands taken from memory if one loop does it all so; `by_patterns`: those that repeat from patterns
  /// of halves, and blocks are then at most kPatternBlock long. (98,304 bf16 times a row of 5, Zen 3: 62 us widened, so
  /// 29.)
  void take_halves(std::int64_t count, bool by_patterns);
  /// Whether all that is done with full values is to reduce operands (no numbers) that lie in memory as they are
  /// computed or as 16-bit floats: then they are reduced where they lie, and blocks may be larger, too.
  bool reduce_in_place(std::int64_t count);
  /// After a thread's last block: what it streamed is visible to others.
  void finish() const;
  /// Values for the only output from `position` on; any number of them.
  void store_computed(std::int64_t position, std::int64_t count, const void* values) const {
    outputs_[0].cursor.store(table_, position, count, values, streams_);
  }
  /// The same of a block of few columns, `step` values from row to row: a column at a time. False, and nothing is done,
  /// where rows do not lie evenly.
  bool store_columns_computed(const Block& b, const void* values, std::int64_t step) const;
  /// Everything for one block at once.
  void run_block(Worker& w, const Block& b) const;
  /// Whether run_block does a block of several rows row by row, wherever they lie.
  bool goes_by_rows(const Block& b) const { return by_rows_ && b.rows > 1 && b.cols >= kFewestCols; }
  /// Whether it copies nothing then.
  bool rows_lie_there(const Block& b) const;

 private:
  struct BlockInput {
    int value;
    Cursor cursor;
    bool full;
    /// Positions after which it repeats, where a worker keeps it repeated (Worker::patterns); else 0.
    std::int64_t period = 0;
    std::size_t pattern = 0;  // which of those
    int columns = -1;         // which of input_columns_ it is in
  };
  struct BlockOutput {
    Cursor cursor;
    int value;
    bool full, direct;
    int pass;
    int columns = -1;  // which of output_columns_ it is in
  };
  void find_patterns(std::int64_t count);
  bool is_only_place(std::int64_t length) const;
  /// Operands, or results, that are the elements of rows in memory (of vectors, of small matrices).
  struct Columns {
    detail::SmallVector<int, 16> members;  // of inputs_ or outputs_, in the order of memory
    Cursor::StridedMemory line;
  };
  template <class List> std::vector<Columns> find_columns(const List& list) const;
  bool load_columns(Worker& w, const Columns& columns, const Block& b, int pass) const;
  /// Two columns side by side past the caches.
  void stream_pairs(const void* first, const void* second, std::byte* to, std::int64_t pairs) const;
  bool store_columns(const Worker& w, const Columns& columns, const Block& b, int pass) const;
  static constexpr std::size_t kPatternBytes = static_cast<std::size_t>(kPatternBlock + Cursor::kLongestPeriod) * 8;
  std::size_t pattern_bytes() const { return patterns_ * kPatternBytes; }
  /// For blocks of up to so many elements.
  std::size_t pattern_element(const BlockInput& input) const;
  void fill_patterns(const Worker& w, std::int64_t block) const;
  static const Tape::Way& way_of(const Tape& tape, const KernelTable& table, std::int64_t row);
  static bool lies_there(const Cursor& cursor, std::int64_t count);
  void bind(int value, std::span<const detail::Operand> inputs, const AxisOrder& full, const AxisOrder& kept,
            std::int64_t length, std::span<const Strides> coordinates, int skip);
  const std::vector<bool>& needs(int pass) const;
  LoopFn find_half_loop() const;
  bool is_aligned_memory(const Worker& w, const void* at) const;
  bool may_stream(const Worker& w, const TapeLoop& loop, const LoopRows& rows) const;
  using Fetches = detail::SmallVector<Fetch, 4>;
  Fetches fetches_for(const Block& b) const;
  Fetches fetches_of_draw(const TapeLoop& loop, const Block& b) const;
  Fetches fetches_ahead(const Block& b) const;
  void execute_loop(const Worker& w, const TapeLoop& loop, const Block& b, std::span<const Fetch> fetches) const;
  const HalfReduction* half_reduction(const TapeOp& op) const;
  bool may_write_directly(std::size_t k, std::span<const detail::View> outputs) const;
  std::int32_t least_place(const Cursor& ordinals, FindFn find, const std::byte* x, std::size_t size,
                           const void* extreme, std::int64_t position, std::int64_t n) const;
  std::byte* slot(const Worker& w, int value) const;
  void load(Worker& w, const BlockInput& input, std::int64_t position, std::int64_t rows, std::int64_t cols,
            std::int64_t pitch) const;
  void expand(const Worker& w, const TapeOp& op, const Block& b) const;
  /// Bytes from row to row of each value.
  using Steps = detail::SmallVector<std::int64_t, 32>;
  /// How run_rows goes along the rows of a block.
  struct RowTraversal {
    Steps steps;
    detail::SmallVector<int, 32> moving;           // values that lie in memory
    detail::SmallVector<const BlockInput*, 4> loaded;  // inputs that are not, and change from row to row
    struct StoredRow {
      const BlockOutput* output;
      std::byte* to;  // null: by its cursor
      std::int64_t step;
    };
    detail::SmallVector<StoredRow, 2> stored;  // outputs that are not
  };
  void run_rows(Worker& w, const Block& whole) const;
  bool run_half_rows(Worker& w, const Block& b, Steps& steps) const;
  void place_rows(Worker& w, const Block& b, RowTraversal& rows) const;
  bool are_one_run(const Block& b, const Steps& steps) const;
  void execute_rows(const Worker& w, const Block& b, const Steps& steps) const;
  void store_rows(const Worker& w, const Block& b, RowTraversal& rows) const;
  bool shares_slot(int input) const;

  const Tape& tape_;
  const Tape::Way& way_;
  const KernelTable& table_;
  bool rows_;
  std::int64_t group_;
  bool short_rows_;  // what is repeated along a row is repeated by the operation, or the loop, that takes it
  std::int64_t block_ = kTapeBlock;  // elements a block has at most, and bytes from one to the next
  std::size_t slot_bytes_ = slot_stride(kTapeBlock), patterns_ = 0;
  /// Outputs pass by the caches (finish() when a thread has written its last), as all that is read and written cannot
  /// be in them afterwards: that saves reading their lines first.
  bool streams_ = false;
  /// What the next block reads is fetched while this one is computed. Of the time, softmax of rows in one block (Zen 4,
  /// L3 of 32 MiB): 64 and 32 MiB 0.82, 16 0.88 to 1.0 (layer norm 0.76 to 1.0), 8 and less 1.02 to 1.07.
  bool fetches_ = false;
  bool fetches_ahead_ = false;  // what a loop reads soon of its one operand is fetched, where it streams its results
  bool in_place_ = false;  // an output shares memory with an input
  bool reduces_in_place_ = false;
  bool only_place_ = false;  // of an extreme that nothing else reads, found where short rows lie
  bool by_rows_ = false;   // one op or loop is all there is to do
  LoopFn half_rows_ = nullptr;  // one loop does it all from 16-bit memory to 16-bit memory, where rows lie there …
  LoopFn half_loop_ = nullptr;  // … and where all is one run
  std::vector<Columns> input_columns_, output_columns_;
  detail::SmallVector<BlockInput, 4> inputs_;
  detail::SmallVector<BlockOutput, 2> outputs_;
  struct Constant {
    int value;
    bool filled;  // else one type is read
    std::int64_t bits;
  };
  detail::SmallVector<Constant, 8> numbers_;
};

}  // namespace tern::detail_cpu
