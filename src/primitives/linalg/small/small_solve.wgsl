// Solutions of small triangular systems, and of systems whose LU is known, in what the GPU languages share
// (dialect.hpp; $steps are of small_factor_pieces.wgsl): b becomes x in its place.
//
//   a: ┌─────────┐   b: ┌────────────────┐   a thread has every $threads-th column of its matrix's right-hand sides:
//      │ t       │      │ x · · · · · x  │   nobody waits for another. It solves for four rows at a time, in registers,
//      │ t t     │      │ x · · · · · x  │   from which squares of a times what is known are taken; all threads read
//      │ □ □ t   │      │ x · · · · · x  │   the same elements of a at a time
//      │ □ □ t t │      │ x · · · · · x  │
//      └─────────┘      └────────────────┘
//                        first … first + width
//
// Of few columns a thread has a row, and they wait for each other at every step.
//
// b has $part columns; the rest are those of other workgroups, which read the same factors.
//
// Workgroup memory: a[$at(row, column)], of all matrices of the workgroup; b[$side(row, column)] (and places[],
// small_factor_pieces.wgsl).
//
// Rows of a begin at multiples of four elements, so that several are loaded at once; an odd pitch keeps rows of b in
// different banks. Bound by the loads of a and the arithmetic. Triangles of 10,000 of 32 x 32 with as many sides in f32
// took 69.7 µs on an H200, through WebGPU 223, 29 November 2026 (docs/benchmarks_families.md).
let block = group / $parts;
let first = (group - block * $parts) * ${part}u;
let width = min(${part}u, $right - first);
$begin
$load_a
$load_b
$load_exchanges
$barrier
$solution
$barrier
$store
