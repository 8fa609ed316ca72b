// What Jacobi's rotations of the columns of a symmetric matrix begin with, in what the GPU languages share
// (dialect.hpp): the matrix, of which the lower triangle is there, whole, and with a multiple of 1 added to it.
//
//   ┌───────┐      ┌─────────┐   With c = 3/2 of a's Frobenius norm all eigenvalues of a + c are between 1/3 and 5/3
//   │ a     │  ->  │ a+c  aᵀ │   of c: its columns are far from 0 and its singular values are those, so that columns
//   │ a   a │      │ a    a+c│   that are orthogonal are eigenvectors. c is 1 of a matrix of zeros.
//   └───────┘      └─────────┘
//
// Workgroup memory: partial[$threads], the sum of the squares that a thread has read.
//
// One workgroup has a matrix. Bound by what one processor moves, which is little beside what comes after it
// (blocks_jacobi_pairs.wgsl): 1024 x 1024 in f32 took 1799 µs on an H200, 28 November 2026, WebGPU.
let matrix = group;
$coordinates
var sum = $type(0.0);
for (var j = thread; j < $rows; j += ${threads}u) {
  let on = $a(j, j);
  var below = $type(0.0);
  for (var i = j + 1u; i < $rows; i += 1u) {
    let x = $a(i, j);
    below = fma(x, x, below);
  }
  sum = sum + fma(on, on, below + below);
}
partial[thread] = sum;
$barrier
sum = $type(0.0);
for (var k = 0u; k < ${threads}u; k += 1u) { sum = sum + partial[k]; }
let norm = $sqrt(sum) * $type(1.5);
let shift = select(norm, $type(1.0), norm == $type(0.0));
for (var j = thread / 32u; j < $rows; j += ${threads}u / 32u) {
  for (var i = j + thread % 32u; i < $rows; i += 32u) {
    let x = $a(i, j);
    if (i == j) {
      $set_to(j, j, x + shift);
    } else {
      $set_to(i, j, x);
      $set_to(j, i, x);
      $set_a(j, i, x);
    }
  }
}
