// The driver of gemm_pairs.hpp: what is packed, in which blocks, by which thread.
//
// Both operands are packed as the instructions read them, A in rows of neighbouring steps (or read in place, where it
// lies so), B in panels of kPairCols columns, pair by pair, k padded with zeros. C stays in f32 until it is handed to the epilogue. A block of k ends by
// storing the sums and the next goes on from there, which changes no bit of them: so blocks may have any size.
#include "cpu/gemm_pairs.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/scratch.hpp"
#include "cpu/threads.hpp"

namespace tern::detail_cpu {
namespace {

using Index = std::int64_t;

/// Steps of k a call sums: a panel of B is 16 KiB then and those rows of A as much, which L1 holds together (512: 0.95
/// of the speed).
constexpr Index kBlockSteps = 256;
/// Rows and columns of a tile: 1 MiB of sums, 128 KiB of A.
constexpr Index kTileRows = 256, kTileCols = 1024;
/// Bytes of packed B that stay in L2 (2 MiB where there is AMX): then a tile has as few rows as a call, and its sums stay
/// there, too (512³: 1.13 of the speed; 1024³, whose B is larger: 0.77).
constexpr Index kNearBytes = Index{3} << 19;
/// B is packed in chunks of this many panels.
constexpr Index kPackPanels = 8;
/// Bytes of B packed at once for all threads.
constexpr Index kSharedBytes = Index{64} << 20;
/// Below these the kernels for f32 are faster: rows that fill no tile, and little work.
constexpr Index kFewestRows = 8, kFewestCols = 16, kFewestSteps = 32;

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index round_up(Index a, Index b) { return divide_up(a, b) * b; }
constexpr Index kStep = 2 * kPairSteps;  // k is padded to a multiple of it

struct Scratch {
  Buffer a, b, tile, turned, shared;
};
Scratch& scratch() {
  static thread_local Scratch buffers;
  return buffers;
}

/// An operand of one product: element (i, p), p the step of k.
struct Operand {
  const std::uint16_t* data;
  Index row, step;
};

class PairRun {
 public:
  PairRun(const GemmProblem& g, const PairKernels& kernels) : g_(g), kernels_(kernels), steps_(round_up(g.k, kStep)) {}

  void run() {
    const bool same = std::equal(g_.b_offsets + g_.segments, g_.b_offsets + g_.batches * g_.segments, g_.b_offsets);
    choose_tile();
    direct_a_ = g_.a_col == 1 && g_.k % kStep == 0 && g_.m % 16 == 0 && std::abs(g_.a_row * 2) % 2048 >= 128;
    // Packed by each tile for itself, where one row of tiles reads it.
    if (g_.m <= tile_rows_) return run_tiles(0, g_.batches, 0, g_.n);
    const Index column = g_.segments * steps_ * 2;
    const Index range = std::min(round_up(g_.n, kPairCols), std::max(kTileCols, kSharedBytes / column / kPairCols * kPairCols));
    std::byte* const base = scratch().shared.reserve(range * column);
    shared_ = reinterpret_cast<std::uint32_t*>(base);
    for (Index batch = 0; batch < g_.batches; batch += same ? g_.batches : 1)
      for (Index col = 0; col < g_.n; col += range) {
        const Index cols = std::min(range, g_.n - col);
        shared_begin_ = col;
        constexpr Index kWide = kPackPanels * kPairCols;
        parallel_for(divide_up(cols, kWide), [&](Index chunk) {
          const Index at = chunk * kWide;
          for (Index s = 0; s < g_.segments; ++s)
            for (Index p = 0; p < steps_; p += kBlockSteps)
              pack_panels(batch, s, p, col + at, std::min(kWide, cols - at));
        });
        run_tiles(batch, same ? g_.batches : 1, col, cols);
      }
  }

 private:
  /// Tiles small enough that every thread has several.
  void choose_tile() {
    const bool near = g_.m > kTileRows && g_.segments * steps_ * round_up(g_.n, kPairCols) * 2 <= kNearBytes;
    tile_rows_ = near ? kPairRows : std::min(kTileRows, round_up(g_.m, kPairRows));
    tile_cols_ = std::min(kTileCols, round_up(g_.n, kPairCols));
    const Index threads = max_threads(), want = threads == 1 ? 1 : 4 * threads;
    const auto tiles = [&] { return g_.batches * divide_up(g_.m, tile_rows_) * divide_up(g_.n, tile_cols_); };
    while (tiles() < want && tile_cols_ > 4 * kPairCols) tile_cols_ = round_up(tile_cols_ / 2, kPairCols);
    while (tiles() < want && tile_rows_ > 2 * kPairRows) tile_rows_ = round_up(tile_rows_ / 2, kPairRows);
  }

  std::uint32_t* panel_of(Index col, Index segment, Index step) const {
    const Index panel = (col - shared_begin_) / kPairCols;
    return shared_ + (panel * g_.segments + segment) * (steps_ / 2 * kPairCols) + step / 2 * kPairCols;
  }

  // ---- packing ----
  /// to[p * to_row + i] = the pair of steps (2p, 2p + 1) from `first` on of row i.
  void pairs(const Operand& x, Index first, Index steps, Index rows, std::uint32_t* to, Index to_row) const {
    const std::uint16_t* from = x.data + first * x.step;
    if (x.row == 1) return kernels_.interleave(from, x.step, steps, rows, to, to_row, kPairCols);
    Index done = 0;
    if (x.step == 1 && x.row % 2 == 0) {  // pairs are there already: a transposition of 4-byte elements
      done = steps / 2;
      gemm_kernels().i32.copy({from, 1, x.row / 2}, done, rows, to, to_row, rows);
    }
    for (Index p = done; 2 * p < steps; ++p)
      for (Index i = 0; i < rows; ++i) {
        const std::uint32_t low = from[i * x.row + 2 * p * x.step];
        const std::uint32_t high = 2 * p + 1 < steps ? from[i * x.row + (2 * p + 1) * x.step] : 0;
        to[p * to_row + i] = high << 16 | low;
      }
  }

  /// Panels of the shared packing for one block of k. Where B is row-major its rows are read along, not panel by panel:
  /// each 64 bytes would come from another page.
  void pack_panels(Index batch, Index segment, Index first, Index col, Index cols) const {
    const Index steps = std::min(kBlockSteps, g_.k - first), whole = cols / kPairCols * kPairCols;
    if (g_.b_col == 1 && steps % kStep == 0) {
      const auto* from = static_cast<const std::uint16_t*>(g_.b) + g_.b_offsets[batch * g_.segments + segment] + col;
      kernels_.interleave(from + first * g_.b_row, g_.b_row, steps, whole, panel_of(col, segment, first), kPairCols,
                          panel_of(col + kPairCols, 0, 0) - panel_of(col, 0, 0));
    } else {
      for (Index j = 0; j < whole; j += kPairCols)
        pack_b(batch, segment, first, col + j, kPairCols, panel_of(col + j, segment, first));
    }
    if (whole < cols) pack_b(batch, segment, first, col + whole, cols - whole, panel_of(col + whole, segment, first));
  }
  /// A panel of B for one block of k.
  void pack_b(Index batch, Index segment, Index first, Index col, Index cols, std::uint32_t* to) const {
    const Operand b{static_cast<const std::uint16_t*>(g_.b) + g_.b_offsets[batch * g_.segments + segment] + col * g_.b_col,
                    g_.b_col, g_.b_row};
    const Index steps = std::min(kBlockSteps, g_.k - first), padded = std::min(kBlockSteps, steps_ - first);
    const Index whole = divide_up(steps, 2);
    if (cols < kPairCols) std::memset(to, 0, static_cast<std::size_t>(whole * kPairCols) * 4);
    pairs(b, first, steps, cols, to, kPairCols);
    if (whole < padded / 2)
      std::memset(to + whole * kPairCols, 0, static_cast<std::size_t>((padded / 2 - whole) * kPairCols) * 4);
  }

  /// Rows of A for one block of k: panels of kPairRows rows, in each the rows' kStep steps after each other.
  void pack_a(Index batch, Index segment, Index first, Index row, Index rows, std::uint16_t* to) const {
    const Operand a{static_cast<const std::uint16_t*>(g_.a) + g_.a_offsets[batch * g_.segments + segment] + row * g_.a_row,
                    g_.a_row, g_.a_col};
    const Index steps = std::min(kBlockSteps, g_.k - first), padded = std::min(kBlockSteps, steps_ - first);
    const auto place = [&](Index i, Index p) {
      return to + i / kPairRows * (padded * kPairRows) + p * kPairRows + i % kPairRows * kStep;
    };
    if (a.step == 1) {
      const Index whole = steps / kStep * kStep;
      for (Index i = 0; i < rows; ++i) {
        const std::uint16_t* from = a.data + i * a.row + first;
        for (Index p = 0; p < whole; p += kStep) std::memcpy(place(i, p), from + p, kStep * 2);
        if (whole == steps) continue;
        std::memset(place(i, whole), 0, kStep * 2);
        std::memcpy(place(i, whole), from + whole, static_cast<std::size_t>(steps - whole) * 2);
      }
      return;
    }
    const Index width = round_up(rows, 16) + 16, pairs_here = divide_up(steps, 2);
    auto* turned = reinterpret_cast<std::uint32_t*>(scratch().turned.reserve(pairs_here * width * 4));
    pairs(a, first, steps, rows, turned, width);
    for (Index i = 0; i < rows; i += kPairRows)
      for (Index p = 0; p < pairs_here; p += kPairSteps)
        gemm_kernels().i32.copy({turned + p * width + i, 1, width}, std::min(kPairRows, rows - i),
                                std::min(kPairSteps, pairs_here - p), place(i, 2 * p), kPairSteps, kPairSteps);
  }

  struct PackedA {
    const std::uint16_t* data;
    Index row, step, panel;  // elements from row to row, from kStep steps to the next, from kPairRows rows to the next
  };
  PackedA packed_a(Index batch, Index segment, Index first, Index row, Index rows) const {
    if (direct_a_)
      return {static_cast<const std::uint16_t*>(g_.a) + g_.a_offsets[batch * g_.segments + segment] + row * g_.a_row + first,
              g_.a_row, kStep, kPairRows * g_.a_row};
    auto* to = reinterpret_cast<std::uint16_t*>(scratch().a.reserve(round_up(rows, kPairRows) * kBlockSteps * 2 + 4096));
    pack_a(batch, segment, first, row, rows, to);
    return {to, kStep, kStep * kPairRows, kPairRows * std::min(kBlockSteps, steps_ - first)};
  }

  // ---- tiles ----
  void run_tiles(Index batch, Index batches, Index col, Index cols) {
    const Index down = divide_up(g_.m, tile_rows_), across = divide_up(cols, tile_cols_);
    parallel_for(batches * down * across, [&](Index t) {
      const Index row = t / across % down * tile_rows_, first = t % across * tile_cols_;
      run_tile(batch + t / (across * down), row, std::min(tile_rows_, g_.m - row), col + first,
               std::min(tile_cols_, cols - first));
    });
  }

  void run_tile(Index batch, Index row, Index rows, Index col, Index cols) const {
    // Rows of sums up to 1 KiB follow each other, as the output's do; longer ones would fall into the same sets of L1.
    const Index panels = divide_up(cols, kPairCols), c_row = panels * kPairCols + (panels <= 8 ? 0 : 16);
    const Index height = round_up(rows, 16);
    auto* c = reinterpret_cast<float*>(scratch().tile.reserve(height * c_row * 4));
    if (g_.segments == 0 || g_.k == 0) std::memset(c, 0, static_cast<std::size_t>(height * c_row) * 4);
    bool add = false;
    kernels_.begin();
    for (Index s = 0; s < g_.segments; ++s)
      for (Index p = 0; p < g_.k; p += kBlockSteps, add = true) {
        const Index padded = std::min(kBlockSteps, steps_ - p);
        const PackedA a = packed_a(batch, s, p, row, rows);
        for (Index j = 0; j < panels; ++j) {
          const std::uint32_t* b = panel_b(batch, s, p, col + j * kPairCols, cols - j * kPairCols);
          for (Index i = 0; i < rows; i += kPairRows)
            kernels_.micro({a.data + i / kPairRows * a.panel, a.row, a.step, reinterpret_cast<const std::uint16_t*>(b),
                            c + i * c_row + j * kPairCols, c_row, padded / 2, std::min(kPairRows, rows - i), add});
        }
      }
    kernels_.end();
    g_.epilogue(g_.context, {c, c_row, batch, row, col, rows, cols});
  }

  const std::uint32_t* panel_b(Index batch, Index segment, Index step, Index col, Index left) const {
    if (shared_) return panel_of(col, segment, step);
    auto* to = reinterpret_cast<std::uint32_t*>(scratch().b.reserve(kBlockSteps / 2 * kPairCols * 4));
    pack_b(batch, segment, step, col, std::min(kPairCols, left), to);
    return to;
  }

  const GemmProblem& g_;
  const PairKernels& kernels_;
  Index steps_;  // of k, padded
  /// A is read in place: whole steps and whole tiles of rows, which do not all fall into one set of L1 (batches of 64³:
  /// 1.25 of the speed, 256³: 1.06; 1024³ would have 0.96, 2048³ 0.87).
  bool direct_a_ = false;
  Index tile_rows_ = 0, tile_cols_ = 0;
  std::uint32_t* shared_ = nullptr;
  Index shared_begin_ = 0;
};

}  // namespace

bool gemm_pairs(const GemmProblem& problem) {
  if (problem.type != DType::bf16 || problem.c || problem.m < kFewestRows || problem.n < kFewestCols ||
      problem.k < kFewestSteps)
    return false;
  const PairKernels* kernels = pair_kernels();
  if (!kernels) return false;
  PairRun(problem, *kernels).run();
  return true;
}

}  // namespace tern::detail_cpu
