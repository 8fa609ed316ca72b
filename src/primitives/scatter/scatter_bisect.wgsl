// Part of scatter_sorted.wgsl and scatter_entries.wgsl: for each name the first of a line's sorted keys that is not
// less than its bound. Bound by latency: a chain of loads, each of which waits for the one before. Not measured by
// itself: its time is part of what those say.
$for first in $searched
  var $first = 0u;
  var ${first}_high = $length;
  for (; $first < ${first}_high;) {
    let ${first}_middle = ($first + ${first}_high) / 2u;
    if (bitcast<u32>($key_of_${first}_middle) < $bound_of_$first) {
      $first = ${first}_middle + 1u;
    } else {
      ${first}_high = ${first}_middle;
    }
  }
$end
