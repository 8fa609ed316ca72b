// A product with any formula as its epilogue, in what the GPU languages share (dialect.hpp): for every dtype, layout
// and device; CUDA's 16-bit products have kernels of their own (src/cuda/products).
//
//   out[batch, m, n] = formula(Σ over segments and k of a[batch, segment, m, k] · b[batch, segment, k, n], operands…)
//
// A segment is a place along contracted batch axes that are no longer k. A workgroup has one tile of the results; an
// invocation (ty, tx) of it has part_m × part_n of these, in blocks of 4 × 4 spread evenly over the tile, so that
// neighbours read neighbouring vectors. For part_m = part_n = 8:
//
//              first_n         tile_n / 2
//             ┌──┬──┬──┬──────┬──┬──┬──┬──────┐
//    first_m  │  │B0│  │      │  │B1│  │      │   B0, B1, B2, B3: the blocks of one invocation.
//             ├──┼──┼──┼──────┼──┼──┼──┼──────┤   acc<r>_<j>: row r of its part (0 to 7), a vector of four columns of
//             │  │  │  │      │  │  │  │      │   block column j, in a register of its own.
//   tile_m/2  ├──┼──┼──┼──────┼──┼──┼──┼──────┤
//             │  │B2│  │      │  │B3│  │      │
//             └──┴──┴──┴──────┴──┴──┴──┴──────┘
//
// Tiles are traversed in bands of eight rows: workgroups that run together share rows of a and columns of b.
//
// For each step of tile_k along k all invocations fetch the tile's rows of a and columns of b into workgroup memory, as
// [k][m / 4] and [k][n / 4] vectors of four (gemm_fetch.wgsl), wait for each other, multiply what is there, and wait
// again. What the next step needs is on its way into registers meanwhile (gemm_steps.wgsl).
//
// Speed. Bound by the arithmetic units and, per step of k, part_m / 4 + part_n / 4 loads of vectors for part_m · part_n
// multiplications. On an H100 through WebGPU, 27 November 2026, 4096³: f32 40.9 TFLOP/s, f16 42.6
// (docs/benchmarks_families.md); as CUDA C++ f32 38 on an H200 before steps were fetched ahead
// (docs/benchmarks_history.md). Which tile is taken is measured: gemm_tiles.cpp.
//
// gemm.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl, or
// TERN_SHOW_KERNELS=1.
let tiles = $tiles_m * $tiles_n;
let batch = group / tiles;
let tile = group - batch * tiles;
let band = tile / (8u * $tiles_n);
let in_band = tile - band * 8u * $tiles_n;
let band_rows = min(8u, $tiles_m - band * 8u);
let first_m = (band * 8u + in_band % band_rows) * $tile_m;
let first_n = in_band / band_rows * $tile_n;
let ty = thread / $parts_across;
let tx = thread - ty * $parts_across;
$batch_coordinates
$sums
$for_each_segment
let base_a = $base_a;
let base_b = $base_b;
$begin_a
$steps
$end_of_segments
for (var i = 0u; i < $part_m; i += 1u) {
  let row = first_m + (i / 4u) * $rows_between_blocks + ty * 4u + (i & 3u);
  $finish_row
  $move_up
}
