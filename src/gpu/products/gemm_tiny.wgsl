// Many products of small matrices, or of many rows with one small matrix, with any formula as the epilogue, in what the
// GPU languages share (dialect.hpp): at most 16 columns of results, along a k of at most 16.
//
//   out[batch, row, :] = formula(Σ over k of a[batch, row, k] · b[batch, k, :], operands…)
//
// An invocation has one row of results, in registers: it reads its row of a, and all of its b. Nothing goes through
// workgroup memory, for there is nothing to wait for: neighbours have rows of the same batch, which follow each other
// in memory, and read the same b at once, which the caches give them. Of 4 x 4 in f32 a row of a, of b and of the
// results is one vector of 16 bytes.
//
//        k             n                 n
//      ┌────┐       ┌─────┐           ┌─────┐
//    m │────│─ × k  │     │   =     m │─────│─  one invocation
//      └────┘       └─────┘           └─────┘
//
// Sums are added up in the order of k, as in gemm.wgsl, so that both give the same bits.
//
// Speed. Bound by memory up to 16 x 16, whose 16 · 16 multiply-adds of a row read 64 vectors of b from the caches.
// Tiles of workgroup memory would be nine tenths empty. On an H100, 27 November 2026, in f32: 100,000 of 4 x 4 5.8 µs
// by CUDA and 5.0 by WebGPU, of 16 x 16 137 and 142, 110 and 75 % of the rate of a copy (docs/benchmarks.md).
//
// gemm_tiny.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl, or
// TERN_SHOW_KERNELS=1.
let i = group * $threads + thread;
if (i >= $count) { return; }
$coordinates
let row = $row;
let col = 0u;
$load_row
$sums
$multiply
$finish
