// The part of a reduction's kernel (reduce.wgsl, which has the picture and the figures) that an invocation runs for its
// kept positions, k and perhaps a few behind it: once, or where rows pass through workgroup memory
// (reduce_staged.wgsl) for each row of its own.
let k = $first_kept;
let inside = k < $kept_count;
let begin = segment * $segment_length;
let end = min($length, begin + $segment_length);
$kept_coordinates
$known_results
$resident_rows
$passes
$outputs_after_all_passes
$results
