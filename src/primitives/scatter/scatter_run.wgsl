// Part of scatter_sorted.wgsl and scatter_entries.wgsl: the entries from `low` on that name the place `wanted` are
// combined with what is there, in their order. What bounds it stands there.
$load_old
$for e in $elements
  var acc$e = $old_$e;
$end
for (; low < $table_end; low += 1u) {
  if (bitcast<u32>($key_of_low) != wanted) { break; }
  let j = bitcast<u32>($place_of_low);
  $entry_coordinates
  $load_new
  $for e in $elements
    acc$e = combine(acc$e, $new_$e);
  $end
}
$store
