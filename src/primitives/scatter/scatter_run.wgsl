// Part of scatter_sorted.wgsl and scatter_entries.wgsl: the entries from `low` on that name the place `wanted` are
// combined with what is there, in their order. What bounds it stands there.
$load_old
$for e in $elements
  var acc$e = $old_$e;
$end
for (; low < $run_end; low += 1u) {
  $leave_at_others
  let j = bitcast<u32>($place_of_low);
  $entry_coordinates
  $load_new
  $for e in $elements
    acc$e = combine(acc$e, $new_$e);
  $end
}
$leave_crowded
$store
