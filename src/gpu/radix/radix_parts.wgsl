// Pieces (kernel_file.hpp) of the kernels that read lines in parts, in a search for ranks (radix_ranks_count.wgsl) and
// before a sort (radix_totals.wgsl), in what the GPU languages share (dialect.hpp).

The part of a line that a workgroup reads.
$define part_of_line
  if (group >= $lines * $parts) { return; }
  let line = group / $parts;
  let begin = (group - line * $parts) * ${part}u;
  let end = min($n, begin + ${part}u);
$end
Four keys from element i on, 256 apart, all loads on their way at once.
$define four_keys
  $for e in 0 256 512 768
    let key$e = key_of($bits_at(line * $n + min(i + ${e}u, end - 1u)), $flip);
  $end
$end
