// Pieces (kernel_file.hpp) of scan.wgsl and scan_columns.wgsl, in what the GPU languages share (dialect.hpp).
//
// Workgroup memory: sums[256], an invocation's sum of its own elements.

The running sums of an invocation's own elements, and the last of them where the others see it.
$define own_sums
  var sum = s0;
  $for e in $later_elements
    sum = combine(sum, s$e);
    s$e = sum;
  $end
  sums[thread] = sum;
  $barrier
$end
