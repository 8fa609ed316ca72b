// Solutions of small triangular systems, and of systems whose LU is known, in what the GPU languages share
// (dialect.hpp; $steps are of small_factor_pieces.wgsl): b becomes x in its place.
//
//   a: ┌───────┐   b: ┌────────────────┐   thread r has row r of its matrix, and of the right-hand side: of a lower
//      │ t     │      │ x x x … x      │   triangle, in step k its factor times row k is taken from the rows below
//      │ t t   │      │ x x x … x      │   ← k, whose thread divides it by the pivot
//      │ t t t │      │ · · · … ·      │
//      └───────┘      └────────────────┘   b's first $part columns; the rest are those of other workgroups, which read
//                      first … first + width     the same factors
//
// An odd pitch keeps rows in different banks. Bound by the latency of n steps with a barrier each, which other
// workgroups of 32 threads hide. Triangles with as many right-hand sides as rows: 10,000 of 8 x 8 in f32 take 12 µs,
// 1,000 of 32 x 32 81 and 10,000 385, PyTorch 30, 49 and 245, on an H100, 25 November 2026 (docs/linear_algebra.md).
let block = group / $parts;
let first = (group - block * $parts) * ${part}u;
let width = min(${part}u, $right - first);
$begin
$load_a
$load_b
$steps
$store
