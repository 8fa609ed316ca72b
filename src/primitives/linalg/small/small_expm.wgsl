// Exponentials of small matrices by scaling and squaring (linalg.hpp says how), in what the GPU languages share
// (dialect.hpp; pieces in small_factor_pieces.wgsl): everything of a matrix in one launch.
//
//   p, q, in workgroup memory: ┌─────────┐   a2, a4, a6, x, of each thread: ┌─────────┐
//                              │ p p p p │                                  │ 2 2 2 2 │
//   what others read of it, a  │ p p p p │   its row of the powers and of a │ 4 4 4 4 │
//   product's right side       │ p p p p │   result: a product's left side  │ 6 6 6 6 │
//                              └─────────┘                                  └─────────┘
//
// A product's left side and its result are rows of the thread's own: there is a barrier where q is made anew.
//
// Workgroup memory: p[$at(row, column)] and q[…], of all matrices of the workgroup; partial[32], sums of columns;
// bad[32] u32, whether a thread has loaded something that is not finite; busy[32] u32, squarings that are left.
//
// An odd pitch keeps columns in different banks. Both matrices are within the 16 KiB that WebGPU promises. A product's
// columns are computed $wide at a time, the last ones anew where n is no multiple: a load of the left side goes with as
// many of the right. Bound by those loads: 11 products with those of the solution, and one more for each squaring.
// 100,000 of 4 x 4 in f32 took 29 µs, through WebGPU 56, 10,000 of 32 x 32 818 and 1427, PyTorch 1702 and 1765, H200,
// 29 November 2026 (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: all steps work on one matrix in workgroup memory, with barriers that
// every invocation reaches, and what several steps do alike is in pieces.)
$begin
$own_lists
var status = 0;
var not_finite = 0u;
$load
$all_finite
var most = $type(0.0);
$norm_of(p)
let norm = most;
if (!($finite(norm))) { status = -1; }
var halvings = $type(0.0);
if (status == 0 && norm > $type($theta)) { halvings = ceil($log2(norm / $type($theta))); }
let less = $exp2(-halvings);
$for_own(p[$at(r, j)] = p[$at(r, j)] * less;)
$barrier
$product(p[$at(r, k)], p, a2[j])
$for_own(q[$at(r, j)] = a2[j];)
$barrier
$product(a2[k], q, a4[j])
$product(a4[k], q, a6[j])
$barrier
$spare_halvings
$for_own(q[$at(r, j)] = fma($type($b13), a6[j], fma($type($b11), a4[j], $type($b9) * a2[j]));)
$barrier
$product(a6[k], q, x[j])
$for_own(x[j] += $low_terms($b7, $b5, $b3, $b1);)
$barrier
$for_own(q[$at(r, j)] = x[j];)
$barrier
$product(p[$at(r, k)], q, x[j])
$barrier
$for_own(q[$at(r, j)] = fma($type($b12), a6[j], fma($type($b10), a4[j], $type($b8) * a2[j]));)
$for_own(a2[j] = $low_terms($b6, $b4, $b2, $b0);)
$barrier
$product(a6[k], q, a4[j])
$barrier
$for_own($make_sides)
$barrier
$solve
var rounds = u32(halvings);
$largest_of_all(rounds, $load_most_rounds)
for (var round = 0u; round < most_rounds; round += 1u) {
  $product(q[$at(r, k)], q, x[j])
  $barrier
  if (round < rounds) {
    $for_own(q[$at(r, j)] = x[j];)
  }
  $barrier
}
$store
$finish
