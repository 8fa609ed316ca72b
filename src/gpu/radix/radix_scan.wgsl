// The sums of sums[0 … thread] in place of sums[thread], by a tree over the workgroup (Hillis and Steele, 1986): part
// of radix_add_up.wgsl, radix_move.wgsl, radix_select.wgsl, primitives/sort/sort_booleans_write.wgsl and others.
{
  $for reach in $reaches
    let with$reach = sums[thread] + select(0u, sums[max(thread, ${reach}u) - ${reach}u], thread >= ${reach}u);
    $barrier
    sums[thread] = with$reach;
    $barrier
  $end
}
