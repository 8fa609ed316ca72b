// Part of scatter_lines.cu and scatter_columns.cu: the lanes of a warp combine their `value` with what `own`, the
// results of one line in workgroup memory, has at their `place`; those with one place in the order of the lanes, so
// that sums have the bits that adding one by one has.
//
// First every lane leaves its number there. Where each finds its own, no two have one place; where they do not, lanes
// of one place add one after the other. (To compare the places of all lanes, __match_any_sync, takes longer than that.)
{
  const bool there = place < $size;
  $type old = $type();
  if (there) { old = own[place]; }
  __syncwarp();
  if (there) { own[place] = $type(lane); }
  __syncwarp();
  const bool alone = !there || own[place] == $type(lane);
  if (__all_sync(0xffffffffu, alone)) {
    if (there) { own[place] = combine(old, value); }
    __syncwarp();
  } else {
    if (there) { own[place] = old; }
    __syncwarp();
    const u32 same = __match_any_sync(0xffffffffu, place);
    const u32 before = u32(__popc(same & ((1u << lane) - 1u)));
    for (u32 now = 0u; __any_sync(0xffffffffu, there && before >= now); ++now) {
      if (there && before == now) { own[place] = combine(own[place], value); }
      __syncwarp();
    }
  }
}
