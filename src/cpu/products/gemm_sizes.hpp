// The block sizes of the matrix product, all in one place. Measured on one core of a shared Sapphire Rapids (2 MiB L2,
// fma roof 138 GFLOP/s), variants in turn within one run; f32 2000³ unless said otherwise.
#pragma once
#include "backend/instruments/tuning.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/products/gemm_depth.hpp"

namespace tern::detail_cpu {

/// Steps of k a micro-kernel call sums: 256: 0.97, 384: 1, 512: 1.02, 768: 1.035, 1024: 1.045 of the speed (f64: 1.04),
/// for partial sums go to and from L2 less often. B's panel (128 KiB) is then read from L2, not L1, with A 13 bytes a
/// cycle.
constexpr Int64 kDepth = 1024;
/// Bytes of B packed at once for all threads; a wider B is taken in ranges of columns.
constexpr Int64 kSharedBytes = Int64{64} << 20;
/// Columns that must fit for that.
constexpr Int64 kSharedCols = 512;
/// Bytes of a packed B that each thread packs for itself, as its tiles meet it: 2 MiB of L2 hold most of it, nobody
/// waits, and no line goes from core to core. Of the speed, with 1, 2, 4, 8 and 16 threads on 16 cores: 512³
/// f32 1.03, 1.03 to 1.09, 1.10, 1.2 to 1.3, 1.3; f64 1.00, 1.05, 1.01, 1.02, 1.07; but 1024³, 4 and 8 MiB,
/// f32 1.00, 1.00, 1.00, 1.08, 0.98; f64 0.99, 0.98, 1.00, 0.95, 0.92. With 1 MiB of L2 (Zen 4), one and two threads:
/// 512³ f32 1.05, 1.19, f64 1.04, 1.04; 768³ f32 1.03, 1.08; 1024³ f32 1.03, 1.03.
constexpr Int64 kOwnBytes = Int64{5} << 19;
/// Without that each tile packs its own B, so up to this size of A tiles take more rows (and fewer columns).
constexpr Int64 kLocalBytes = Int64{512} << 10;
/// B is packed in chunks of this many panels, this many rows after each other (Zen 4, 80 × 1024 × 4096: 8 at 1.08 of
/// the speed of 32, 1 at 0.9; Sapphire Rapids: the same from 4 on).
constexpr Int64 kPackPanels = 8, kStripRows = 8;
/// An operand's element counts as this many multiply-adds.
constexpr Int64 kTraffic = 8;
/// Where the rows of a B that is read in place take a page or more, blocks of the depth are shorter (see depth_block).
constexpr Int64 kLongMatrixRow = 2048;
/// Rows of A up to which such a B is streamed: it is read once, a row in as long runs as a thread can have, so one tile
/// a thread (f32: 1.19 of the speed of four, bf16: 1.37) of up to kStreamCols columns (1 × 512 × 16384 bf16: 1.1 of
/// 2048's).
constexpr Int64 kStreamRows = 4, kStreamCols = 8192;
/// Columns up to which A is read in place (unless its rows collide in L1), and the size of A up to which it always is.
/// With more columns of a row-major A, micro_packed pays for the copy where other programs share the core
/// (512 × 256 × 256: 1.2 of the speed, 784 × 64 × 256: 1.5). Where B is read in place, too, the small tiles of several
/// threads would each make a copy, and it takes more columns to pay (64 × 784 × 256 with two threads: in place 1.04,
/// 32 × 784 × 256: 1.04 to 1.2).
constexpr Int64 kDirectCols = 128, kDirectBothCols = 256, kSmallBytes = Int64{32} << 10;
/// How operands are read, by what the processor's own prefetching follows.
struct Reading {
  Int64 direct, stream;  // steps of k in a block, of more and of up to kStreamRows rows
  bool ahead;  // whether what comes next is fetched where B is streamed, in f32 and f64, too: in 16 bits it always is
  Int64 far_rows;     // rows of A up to which it is read in place where packed it takes more than kOwnBytes
  Int64 direct_cols;  // columns up to which A is read in place (see kDirectBothCols)
};
inline Reading reading() {
  // Intel (Sapphire Rapids). Blocks of 32 rows to stream: 1 × 1024 × 4096 at 1.08 of the speed (8: 0.99), and fetching
  // ahead: 0.92 to 0.95 (in 16 bits, whose rows are shorter, 1.03 to 1.08). Else 32 to 128 steps are within 3 % and 256
  // at 0.53 to 0.8. 80 to 256 rows in place: 0.75 to 1.1.
  constexpr Reading others{64, 32, false, 0, kDirectCols};
  // AMD (Zen 4, one and two threads). Fetching ahead in blocks of 32, then of 128: 1 × 1024 × 4096 1.29, 1.5 and 1.21,
  // 1.34; 4 × 1024 × 4096 2.3, 3.6 and 2.0, 2.6; 256 steps 1.0 more, 1024 0.8. 8 to 64 × 1024 × 4096 in blocks of 128:
  // 1.07, of 256 and 512: 1.11. In place instead of packed, f32: 80, 128, 256, 384, 512 × 1024 × 4096 1.6, 1.37, 1.16,
  // 1.06, 0.93 and 1.6, 1.35, 1.2, 1.13, 1.07 (f64 1.05 and 1.07, f16 1.00 and 1.03); with the vectors of AVX2, or in
  // an L2 that holds it (128 × 512 × 512), 0.82 to 1.0. A in place for 256 columns, two threads: 256³ f32 1.04,
  // f64 1.03, aᵀ·b 1.07 to 1.15, a·bᵀ 1.04, 512 × 256 × 256 1.02, aᵀ·b 1.05, 784 × 64 × 256 1.02; for 512 0.96 to 1.02.
  constexpr Reading amd{256, 128, true, 0, kDirectCols}, amd_avx512{256, 128, true, 512, 2 * kDirectCols};
  if (!made_by_amd()) return others;
  return gemm_kernels().f32.lanes >= 16 ? amd_avx512 : amd;
}
/// Columns up to which a column-major A is taken as the B of the transposed product.
constexpr Int64 kTransposedCols = 16;
/// Rows that a call which packs B fetches ahead: 8 to 32 made no difference.
constexpr Int64 kAheadRows = 16;
/// Rows from which A is packed side by side: fewer are not transposed in vectors.
constexpr Int64 kSideBySideRows = 4;
/// Columns up to which a tile may take all rows (see run_packed), with packed A by up to kWholeThreads: each packs all
/// of it (200 × 300 × 256 with two threads: 1.1 of the speed).
constexpr Int64 kWholeCols = 256, kWholeThreads = 2;
/// Tiles for each thread up to which one more or less is seen: 1024³ as 14 tiles for two threads, not 13, runs at 1.02
/// to 1.04 of the speed.
constexpr Int64 kFewTiles = 16;
/// Rows (or, transposed, columns) up to which dot products beat packing a B that lies along k (16 × 1024 × 4096: 1.09,
/// 32: 0.88; 10 columns: 1.4), and the k they need.
constexpr Int64 kDotRows = 16, kDotCols = 16, kDotDepth = 64;
/// Steps of k of one dot product.
constexpr Int64 kDotBlock = 2048;
/// Bytes of a packed B that every thread's L2 holds beside the rest: a thread then takes whole rows of C, as who reads
/// C next divides it by rows (784 × 64 × 256, two threads: 161 to 136 µs; a training step with it 606 to 582).
constexpr Int64 kHeldBytes = Int64{256} << 10;
/// Bytes of a tile that the epilogue takes at a time, whole panels of at least two. The time of the fused product over
/// that of the plain one, 1024 × 1024 × 4096, gelu (Zen 4): 16 KiB 1.040, 32: 1.028, 64: 1.035, 128: 1.036, all at once
/// 1.049, and where others share the caches 1.045, 1.033, 1.035, 1.058, 1.064.
constexpr Int64 kGroupBytes = Int64{32} << 10;
/// Columns of C from which writing it is the work, where k is at most kOuterDepth; of a tile, whose rows of B L1 holds;
/// and elements of a tile.
constexpr Int64 kOuterCols = 256, kOuterTileCols = 4096, kOuterTile = Int64{64} << 10;

/// The sizes that tuning may change: none of them is seen in an element's sum.
struct TileSizes {
  /// Of a tile. 56 to 112 are within 1 %, 140: 0.99; 336 KiB of A with kDepth.
  Int64 rows;
  /// Of a row of a tile: 2048: 0.98, 4096: 1, 8192: 1.02. 672 KiB with 84 rows.
  Int64 row_bytes;
  /// From this many multiply-adds on B is packed once, for all threads or by each.
  Int64 shared_work;
  /// Multiply-adds that are worth a task of their own.
  Int64 task_work;
};
inline TileSizes chosen_sizes() {
  struct Choices {
    detail::Choice rows{tuning_class(), "gemm.tile_rows", {84, 56, 112, 140}};
    detail::Choice row_bytes{tuning_class(), "gemm.tile_row_bytes", {8192, 4096, 16384}};
    detail::Choice shared_work{tuning_class(), "gemm.shared_work", {8 << 20, 2 << 20, 32 << 20}};
    detail::Choice task_work{tuning_class(), "gemm.task_work", {512 << 10, 256 << 10, 1024 << 10}};
  };
  static const auto* const c = new Choices;
  return {c->rows(), c->row_bytes(), c->shared_work(), c->task_work()};
}

}  // namespace tern::detail_cpu
