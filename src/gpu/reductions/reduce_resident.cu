// Pieces (kernel_file.hpp) of a kernel with reductions whose rows stay in registers between passes
// (reduce_resident.hpp): memory is read once, however many passes there are.
//
//   row:      │ ty 0: $group neighbours │ ty 1 │ … │ ty 0 │ ty 1 │ … │      $steps groups an invocation, of which the
//               u = 0                                u = 1                  last may lie behind the row
//
//   an invocation's registers:   held<operand>[u · vectors + v]   vectors of 16 bytes as they lie in memory
//                                kept<step>[u · $group + e]       what is not computed twice, such as exponentials
//
// The loops are unrolled, so that the arrays become registers: 160 words at most, 96 with more than 256 invocations.
//
// Bound by memory. On an H200, 22 November 2026: softmax of 16384×1024 in f32 37 µs and in bf16 20, copies 35 and 19;
// of 4096×16384 in bf16 70, a copy 66 (docs/benchmarks_families.md).

$define traversal_of_held
  #pragma unroll
  for (u32 u = 0u; u < ${steps}u; ++u) {
    let r = (ty + u * ${along}u) * ${group}u;
    if (r < end) {
      $visit
    }
  }
$end
$define resident_rows
  $for s in $kept
    $type_$s kept$s[$kept_count];
  $end
  $for a in $held
    vec4<u32> held$a[$vectors_$a];
  $end
  if (inside) {
    $load
  }
$end
