// Solutions of small triangular systems, and of systems whose LU is known, in what the GPU languages share
// (dialect.hpp; gpu_small_solve.cpp writes $solution).
//
//   a: ┌─────────┐   b: ┌────────────────┐   a thread has every $threads-th column of its matrix's right-hand sides, in
//      │ t       │      │ x · · · · · x  │   registers: nobody waits for another. All threads read the same elements
//      │ t t     │      │ x · · · · · x  │   of a at a time, 16 bytes of a row; exchanges are rows that are read, or
//      │ □ □ t   │      │ x · · · · · x  │   written, elsewhere
//      │ □ □ t t │      │ x · · · · · x  │
//      └─────────┘      └────────────────┘
//                        first … first + width
//
// Of few columns a thread has a row, and they wait for each other at every step.
//
// b has $part columns; the rest are those of other workgroups, which read the same factors.
//
// Workgroup memory: a[$at(row, column)], of all matrices of the workgroup (and places[], small_factor_pieces.wgsl);
// b[$side(row, column)], few columns. Columns in registers instead of there leave room for twice as many workgroups.
//
// Bound by the arithmetic and the memory of a, b and x alike. Triangles of 10,000 of 32 x 32 with as many sides in f32
// took 43.3 µs on an H200, through WebGPU 68.8, 29 November 2026 (docs/benchmarks_families.md).
let block = group / $parts;
let first = (group - block * $parts) * ${part}u;
let width = min(${part}u, $right - first);
$begin
$load_a
$load_b
$load_exchanges
$barrier
$solution
$store
