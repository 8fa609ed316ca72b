// One pass of reduce.wgsl: its reductions over the invocation's part of the range, and then over the workgroup. Sums
// that wait for another reduction of the same pass (softmax's sum for its maximum: reduce_online.hpp) are first made
// those for the joined result of that.
$beside_accumulators
$accumulators
if (inside) {
  $traversal
}
$join
$align_sums
$join_sums
$finish_sums
