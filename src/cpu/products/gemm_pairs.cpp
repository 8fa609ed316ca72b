// The driver of gemm_pairs.hpp: what is packed, in which blocks, by which thread.
//
// Both operands are packed as the instructions read them, A in rows of neighbouring steps (or read in place, where it
// lies so), B in panels of kPairCols columns, pair by pair, k padded with zeros. For each panel of B all rows of a tile
// are summed over one block of k after the other, so that partial sums stay near; the last block rounds them into the
// result, or leaves them in f32 for the epilogue. A block ends by storing the sums and the next goes on from there,
// which changes no bit of them: so blocks may have any size.
#include "cpu/products/gemm_pairs.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cpu/products/gemm_plan.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/scratch.hpp"
#include "cpu/machine/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Steps of k for which A is packed at once, a whole number of the kernels' blocks, and its bytes (of the 2 MiB of L2
/// where there is AMX).
constexpr Int64 kNearSteps = 4096, kNearBytes = Int64{1} << 20;
/// Rows and columns of a tile, more rows where A is read in place.
constexpr Int64 kTileRows = 256, kDirectTileRows = 512, kTileCols = 1024;
/// Columns of a tile that the epilogue takes at a time: what L1 holds of up to kNearRows rows, else more, as each row
/// of the result lies in another page (64 × 784 × 256 with gelu 0.96 of the time of all at once, where others share the
/// caches 0.92; tiles of 256 rows by 64 columns 1.02).
constexpr Int64 kNearRows = 64, kNearGroup = 2 * kPairCols, kFarGroup = 8 * kPairCols;
/// Multiply-adds that are worth a task of their own.
constexpr Int64 kTaskWork = 4 << 20;
/// B is packed in chunks of kPackPanels; by a tile for itself in chunks of these, just before they are read
/// (64 × 1024 × 4096 with one panel: 0.74 of the speed, with 8: 0.96; 512³ with all at once: 0.91).
constexpr Int64 kNearPanels = 2;
/// Below these the kernels for f32 are faster: rows that fill no tile, and little work.
constexpr Int64 kFewestPairRows = 8, kFewestPairCols = 16, kFewestSteps = 32;

constexpr Int64 kStep = 2 * kPairSteps;  // k is padded to a multiple of it

struct PairScratch {
  ScratchBuffer a, b, tile, strip, transposed, shared;
};
PairScratch& pair_scratch() { return detail::of_thread<PairScratch>(); }

/// An operand of one product: element (i, p), p the step of k.
struct PairOperand {
  const std::uint16_t* data;
  Int64 row, step;
};

/// A rectangle of C[batch].
struct PairArea {
  Int64 batch, row, rows, col, cols;
};

/// One block of k: steps from `first` on of a segment.
struct KBlock {
  Int64 segment, first, steps;
  Int64 padded() const { return round_up(steps, kStep); }
};

/// PairSums in f32.
struct PairSums {
  float* data;
  Int64 row;
  float* at(Int64 i, Int64 j) const { return data ? data + i * row + j : nullptr; }
};

/// A thread's state for its calls of `micro`.
class KernelsInUse {
 public:
  explicit KernelsInUse(const PairKernels& kernels) : kernels_(kernels) { kernels_.begin(); }
  KernelsInUse(const KernelsInUse&) = delete;
  KernelsInUse& operator=(const KernelsInUse&) = delete;
  ~KernelsInUse() { kernels_.end(); }

 private:
  const PairKernels& kernels_;
};

/// Packs the operands of a product as the instructions read them.
class PairPacking {
 public:
  PairPacking(const GemmProblem& g, const PairKernels& kernels) : g_(g), kernels_(kernels) {}

  /// Columns of B for one block of k, in panels `panel` pairs apart. Where B is row-major its rows are read along, not
  /// panel by panel: each 64 bytes would come from another page.
  void panels_of_b(Int64 batch, const KBlock& k, Int64 col, Int64 cols, std::uint32_t* to, Int64 panel) const {
    const Int64 whole = cols / kPairCols * kPairCols;
    if (g_.b_col == 1 && k.steps % kStep == 0) {
      const auto* from = static_cast<const std::uint16_t*>(g_.b) + g_.b_offsets[batch * g_.segments + k.segment] + col;
      kernels_.interleave(from + k.first * g_.b_row, g_.b_row, k.steps, whole, to, kPairCols, panel);
    } else {
      for (Int64 j = 0; j < whole; j += kPairCols) panel_of_b(batch, k, col + j, kPairCols, to + j / kPairCols * panel);
    }
    if (whole < cols) panel_of_b(batch, k, col + whole, cols - whole, to + whole / kPairCols * panel);
  }
  /// Rows of A for one block of k: panels of kPairRows rows, in each the rows' kStep steps after each other.
  void rows_of_a(Int64 batch, const KBlock& k, Int64 row, Int64 rows, std::uint16_t* to) const {
    const auto* from = static_cast<const std::uint16_t*>(g_.a) + g_.a_offsets[batch * g_.segments + k.segment];
    const PairOperand a{from + row * g_.a_row, g_.a_row, g_.a_col};
    const Int64 first = k.first, steps = k.steps, padded = k.padded();
    const auto place = [&](Int64 i, Int64 p) {
      return to + i / kPairRows * (padded * kPairRows) + p * kPairRows + i % kPairRows * kStep;
    };
    if (a.step == 1) {
      const Int64 whole = steps / kStep * kStep;
      for (Int64 i = 0; i < rows; ++i) {
        const std::uint16_t* from = a.data + i * a.row + first;
        for (Int64 p = 0; p < whole; p += kStep) std::memcpy(place(i, p), from + p, kStep * 2);
        if (whole == steps) continue;
        std::memset(place(i, whole), 0, kStep * 2);
        std::memcpy(place(i, whole), from + whole, static_cast<std::size_t>(steps - whole) * 2);
      }
      return;
    }
    const Int64 width = round_up(rows, 16) + 16, pairs_here = ceil_div(steps, 2);
    auto* transposed = reinterpret_cast<std::uint32_t*>(pair_scratch().transposed.reserve(pairs_here * width * 4));
    pairs(a, first, steps, rows, transposed, width);
    for (Int64 i = 0; i < rows; i += kPairRows)
      for (Int64 p = 0; p < pairs_here; p += kPairSteps)
        gemm_kernels().i32.copy({transposed + p * width + i, 1, width}, std::min(kPairRows, rows - i),
                                std::min(kPairSteps, pairs_here - p), place(i, 2 * p), kPairSteps, kPairSteps);
  }

 private:
  /// to[p * to_row + i] = the pair of steps (2p, 2p + 1) from `first` on of row i.
  void pairs(const PairOperand& x, Int64 first, Int64 steps, Int64 rows, std::uint32_t* to, Int64 to_row) const {
    const std::uint16_t* from = x.data + first * x.step;
    if (x.row == 1) return kernels_.interleave(from, x.step, steps, rows, to, to_row, kPairCols);
    Int64 done = 0;
    if (x.step == 1 && x.row % 2 == 0) {  // pairs are there already: a transposition of 4-byte elements
      done = steps / 2;
      gemm_kernels().i32.copy({from, 1, x.row / 2}, done, rows, to, to_row, rows);
    }
    for (Int64 p = done; 2 * p < steps; ++p)
      for (Int64 i = 0; i < rows; ++i) {
        const std::uint32_t low = from[i * x.row + 2 * p * x.step];
        const std::uint32_t high = 2 * p + 1 < steps ? from[i * x.row + (2 * p + 1) * x.step] : 0;
        to[p * to_row + i] = high << 16 | low;
      }
  }
  /// A panel of B for one block of k.
  void panel_of_b(Int64 batch, const KBlock& k, Int64 col, Int64 cols, std::uint32_t* to) const {
    const auto* from = static_cast<const std::uint16_t*>(g_.b) + g_.b_offsets[batch * g_.segments + k.segment];
    const Int64 whole = ceil_div(k.steps, 2), padded = k.padded() / 2;
    if (cols < kPairCols) std::memset(to, 0, static_cast<std::size_t>(whole * kPairCols) * 4);
    pairs({from + col * g_.b_col, g_.b_col, g_.b_row}, k.first, k.steps, cols, to, kPairCols);
    if (whole < padded)
      std::memset(to + whole * kPairCols, 0, static_cast<std::size_t>((padded - whole) * kPairCols) * 4);
  }

  const GemmProblem& g_;
  const PairKernels& kernels_;
};

class PairRun {
 public:
  PairRun(const GemmProblem& g, const PairKernels& kernels)
      : g_(g),
        kernels_(kernels),
        packing_(g, kernels),
        steps_(round_up(g.k, kStep)),
        block_steps_(std::min(kernels.block_steps, steps_)),
        most_blocks_(kNearSteps / block_steps_),
        per_segment_(ceil_div(g.k, block_steps_)),
        blocks_(g.segments * per_segment_),
        direct_a_(g.a_col == 1 && g.k % kernels.read_steps == 0 && g.m % kernels.read_rows == 0 &&
                  std::abs(g.a_row * 2) % 2048 >= 128) {}

  void run() {
    choose_tile();
    // Packed by each tile for itself, where one row of tiles reads it.
    if (g_.m <= tile_rows_) return run_tiles(0, g_.batches, 0, g_.n);
    const bool same = std::equal(g_.b_offsets + g_.segments, g_.b_offsets + g_.batches * g_.segments, g_.b_offsets);
    const Int64 column = std::max<Int64>(1, g_.segments * steps_ * 2);
    const Int64 range =
        std::min(round_up(g_.n, kPairCols), std::max(kTileCols, kSharedBytes / column / kPairCols * kPairCols));
    shared_ = reinterpret_cast<std::uint32_t*>(pair_scratch().shared.reserve(range * column));
    for (Int64 batch = 0; batch < g_.batches; batch += same ? g_.batches : 1)
      for (Int64 col = 0; col < g_.n; col += range) {
        const Int64 cols = std::min(range, g_.n - col);
        shared_begin_ = col;
        constexpr Int64 kWide = kPackPanels * kPairCols;
        parallel_for(ceil_div(cols, kWide), [&](Int64 chunk) {
          const Int64 at = chunk * kWide;
          for (Int64 i = 0; i < blocks_; ++i)
            packing_.panels_of_b(batch, block(i), col + at, std::min(kWide, cols - at), shared_panel(col + at, i),
                                 shared_step());
        });
        run_tiles(batch, same ? g_.batches : 1, col, cols);
      }
  }

 private:
  KBlock block(Int64 i) const {
    const Int64 first = i % per_segment_ * block_steps_;
    return {i / per_segment_, first, std::min(block_steps_, g_.k - first)};
  }

  /// Tiles small enough that every thread has several, or one where that has all rows: of fewer columns first, since a
  /// thread that has all rows of its columns packs their B for itself.
  void choose_tile() {
    const Int64 near =
        kNearBytes / (2 * block_steps_ * std::clamp<Int64>(blocks_, 1, most_blocks_)) / kPairRows * kPairRows;
    const Int64 most = direct_a_ && g_.m <= kDirectTileRows ? kDirectTileRows : std::min(kTileRows, near);
    tile_rows_ = std::min(most, round_up(g_.m, kPairRows));
    tile_cols_ = std::min(kTileCols, round_up(g_.n, kPairCols));
    const Int64 threads = max_threads(), want = threads == 1 ? 1 : 4 * threads;
    const Int64 wide = tile_cols_;
    while (tiles() < want && tile_cols_ > 4 * kPairCols) tile_cols_ = round_up(tile_cols_ / 2, kPairCols);
    const Int64 enough = g_.m <= tile_rows_ ? threads : want;
    while (tiles() < enough && tile_rows_ > 2 * kPairRows) tile_rows_ = round_up(tile_rows_ / 2, kPairRows);
    if (g_.m > tile_rows_) divide_rows(wide, want);
  }
  /// Wide tiles of fewer rows instead, where they come out as more even parts (1023 × 777 × 513 with two threads: eight
  /// of 256 × 288 leave one a fifth more than the other, of 128 × 544 none).
  void divide_rows(Int64 wide, Int64 want) {
    const Int64 rows = tile_rows_, cols = std::exchange(tile_cols_, wide), most = busiest(rows, cols);
    while (tiles() < want && tile_rows_ > 2 * kPairRows) tile_rows_ = round_up(tile_rows_ / 2, kPairRows);
    if (tiles() < want || busiest(tile_rows_, wide) >= most) tile_rows_ = rows, tile_cols_ = cols;
  }
  Int64 tiles(Int64 rows, Int64 cols) const { return g_.batches * ceil_div(g_.m, rows) * ceil_div(g_.n, cols); }
  Int64 tiles() const { return tiles(tile_rows_, tile_cols_); }
  /// Elements of C of the thread that has most of them, at most.
  Int64 busiest(Int64 rows, Int64 cols) const { return ceil_div(tiles(rows, cols), max_threads()) * rows * cols; }

  /// The shared packing: panel after panel, in each the blocks of k.
  Int64 shared_step() const { return g_.segments * steps_ / 2 * kPairCols; }
  std::uint32_t* shared_panel(Int64 col, Int64 i) const {
    const KBlock b = block(i);
    return shared_ + (col - shared_begin_) / kPairCols * shared_step() + (b.segment * steps_ + b.first) / 2 * kPairCols;
  }

  struct PackedRows {
    const std::uint16_t* data;
    Int64 row, step, panel;  // elements from row to row, from kStep steps to the next, from kPairRows rows to the next
  };
  /// Where pack_near_a has packed the rows of A for a block, or where they lie.
  PackedRows packed_a(const PairArea& area, Int64 i, Int64 since) const {
    const KBlock k = block(i);
    if (direct_a_)
      return {static_cast<const std::uint16_t*>(g_.a) + g_.a_offsets[area.batch * g_.segments + k.segment] +
                  area.row * g_.a_row + k.first,
              g_.a_row, kStep, kPairRows * g_.a_row};
    return {near_a(area, i - since), kStep, kStep * kPairRows, kPairRows * k.padded()};
  }
  std::uint16_t* near_a(const PairArea& area, Int64 place) const {
    return reinterpret_cast<std::uint16_t*>(pair_scratch().a.data()) +
           place * (round_up(area.rows, kPairRows) * block_steps_);
  }
  std::uint32_t* near_b(Int64 blocks, Int64 panel, Int64 place) const {
    return reinterpret_cast<std::uint32_t*>(pair_scratch().b.data()) + panel * near_step(blocks) + place * near_step(1);
  }
  Int64 near_step(Int64 blocks) const { return blocks * (block_steps_ / 2 * kPairCols); }  // from panel to panel

  /// What a tile packs for itself of `blocks` blocks from `begin` on: all its rows, kNearPanels panels.
  void pack_near_a(const PairArea& area, Int64 begin, Int64 blocks) const {
    if (direct_a_) return;
    pair_scratch().a.reserve(blocks * round_up(area.rows, kPairRows) * block_steps_ * 2);
    for (Int64 i = 0; i < blocks; ++i)
      packing_.rows_of_a(area.batch, block(begin + i), area.row, area.rows, near_a(area, i));
  }
  void pack_near_b(const PairArea& area, Int64 j, Int64 begin, Int64 blocks) const {
    pair_scratch().b.reserve(kNearPanels * blocks * block_steps_ * kPairCols * 2);
    const Int64 cols = std::min(kNearPanels * kPairCols, area.cols - j);
    for (Int64 i = 0; i < blocks; ++i)
      packing_.panels_of_b(area.batch, block(begin + i), area.col + j, cols, near_b(blocks, 0, i), near_step(blocks));
  }

  // ---- tiles ----
  void run_tiles(Int64 batch, Int64 batches, Int64 col, Int64 cols) {
    const Int64 down = ceil_div(g_.m, tile_rows_), across = ceil_div(cols, tile_cols_),
                tiles = batches * down * across;
    const Int64 share = ceil_div(tiles, 4 * max_threads()), work = tile_rows_ * tile_cols_ * g_.segments * steps_;
    const Int64 together = std::clamp<Int64>(kTaskWork / std::max<Int64>(work, 1), 1, share);
    parallel_for(ceil_div(tiles, together), [&](Int64 task) {
      const KernelsInUse running(kernels_);
      for (Int64 t = task * together; t < std::min(tiles, (task + 1) * together); ++t) {
        const Int64 row = t % down * tile_rows_, first = t / down % across * tile_cols_;
        run_tile({batch + t / (across * down), row, std::min(tile_rows_, g_.m - row), col + first,
                  std::min(tile_cols_, cols - first)});
      }
    });
  }

  void run_tile(const PairArea& area) const {
    const bool rounded = g_.rounded && blocks_ != 0;
    const Int64 height = round_up(area.rows, 16);
    // The epilogue takes panels while they are near, where they are done one after the other.
    const Int64 group = rounded || blocks_ == 0 || blocks_ > most_blocks_ ? round_up(area.cols, kPairCols)
                        : area.rows <= kNearRows                          ? kNearGroup
                                                                          : kFarGroup;
    PairSums c{nullptr, 0};
    if (!rounded || blocks_ > most_blocks_) {
      // Rows of sums up to 1 KiB follow each other, as the output's do; longer ones would fall into the same sets of
      // L1.
      const Int64 panels = std::min(ceil_div(area.cols, kPairCols), group / kPairCols);
      c.row = panels * kPairCols + (panels <= 8 ? 0 : 16);
      c.data = reinterpret_cast<float*>(pair_scratch().tile.reserve(height * c.row * 4));
    }
    if (blocks_ == 0) std::memset(c.data, 0, static_cast<std::size_t>(height * c.row) * 4);
    const PairSums strip{reinterpret_cast<float*>(pair_scratch().strip.reserve(height * kPairCols * 4)), kPairCols};
    for (Int64 begin = 0; begin < blocks_; begin += most_blocks_) {
      const Int64 blocks = std::min(most_blocks_, blocks_ - begin);
      pack_near_a(area, begin, blocks);
      for (Int64 j = 0; j < area.cols; j += kPairCols) {
        const Int64 place = j / kPairCols % kNearPanels;
        if (!shared_ && place == 0) pack_near_b(area, j, begin, blocks);
        const Int64 since = j / group * group, end = std::min(j + kPairCols, area.cols);
        run_panel(area, j, begin, blocks, c, j - since, strip, place);
        if (!rounded && begin + blocks == blocks_ && (end % group == 0 || end == area.cols))
          hand_over(area, c, since, end);
      }
    }
    if (!rounded && blocks_ == 0) hand_over(area, c, 0, area.cols);
  }

  /// Columns from `begin` to `end` of a tile to the epilogue.
  void hand_over(const PairArea& area, const PairSums& c, Int64 begin, Int64 end) const {
    g_.epilogue(g_.context, {c.data, c.row, area.batch, area.row, area.col + begin, area.rows, end - begin});
  }
  /// All rows of a tile with one panel of B over `blocks` blocks from `begin` on: partial sums go through `strip`,
  /// those of the blocks before come from `c`, at column `at`, and the results go there or, rounded, where they belong.
  void run_panel(const PairArea& area, Int64 j, Int64 begin, Int64 blocks, const PairSums& c, Int64 at,
                 const PairSums& strip, Int64 place) const {
    const Int64 calls = ceil_div(area.rows, kPairRows);
    for (Int64 i = 0; i < blocks; ++i) {
      const PackedRows a = packed_a(area, begin + i, begin);
      const std::uint32_t* const b = shared_ ? shared_panel(area.col + j, begin + i) : near_b(blocks, place, i);
      const PairSums none{nullptr, 0}, &from = i > 0 ? strip : begin > 0 ? c : none, &to = i + 1 < blocks ? strip : c;
      const KBlock k = block(begin + i);
      const Int64 pairs = ceil_div(k.steps, 2), from_col = i > 0 ? 0 : at, to_col = i + 1 < blocks ? 0 : at;
      const bool last = g_.rounded && begin + i + 1 == blocks_;
      // The next block of this panel or the next panel's first follows it.
      const auto* const ahead = reinterpret_cast<const char*>(b + k.padded() / 2 * kPairCols);
      const Int64 times = k.padded() / kStep,
                  lines = shared_ ? ceil_div(k.padded() * kPairCols * 2 / 64, calls * times) : 0;
      for (Int64 call = 0; call < calls; ++call) {
        const Int64 r = call * kPairRows;
        kernels_.micro({a.data + call * a.panel, a.row, a.step, reinterpret_cast<const std::uint16_t*>(b),
                        from.at(r, from_col), from.row, to.at(r, to_col), to.row, pairs,
                        std::min(kPairRows, area.rows - r), std::min(kPairCols, area.cols - j),
                        last ? rounded_at(area, r, j) : nullptr, g_.rounded_row, ahead + call * lines * times * 64,
                        lines});
      }
    }
  }
  std::uint16_t* rounded_at(const PairArea& area, Int64 i, Int64 j) const {
    return static_cast<std::uint16_t*>(g_.rounded) + g_.rounded_offsets[area.batch] + (area.row + i) * g_.rounded_row +
           area.col + j;
  }

  const GemmProblem& g_;
  const PairKernels& kernels_;
  PairPacking packing_;
  /// Steps of k, padded; of a block; blocks in kNearSteps, in a segment and in all.
  Int64 steps_, block_steps_, most_blocks_, per_segment_, blocks_;
  /// A is read in place: no more of it is read than there is, and rows that do not all fall into one
  /// set of L1 (batches of 64³: 1.25 of the speed, 256³: 1.06; 1024³ and 2048³ would not differ).
  bool direct_a_;
  Int64 tile_rows_ = 0, tile_cols_ = 0;
  std::uint32_t* shared_ = nullptr;
  Int64 shared_begin_ = 0;
};

}  // namespace

bool gemm_pairs(const GemmProblem& problem) {
  if (problem.type != DType::bf16 || problem.c || problem.m < kFewestPairRows || problem.n < kFewestPairCols ||
      problem.k < kFewestSteps)
    return false;
  const PairKernels* kernels = pair_kernels();
  if (!kernels) return false;
  PairRun(problem, *kernels).run();
  return true;
}

}  // namespace tern::detail_cpu
