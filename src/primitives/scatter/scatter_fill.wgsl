// Part of scatter_read.wgsl where entries are put in order by buckets (scatter_rank.wgsl): entry t takes a slot of its
// place's bucket, whichever is free. The first one that finds it full notes that the place is crowded. Bound by what a
// launch takes: an atomic or two an entry. Not measured by itself: its time is part of what scatter_crowded.wgsl says.
if (place < $size) {
  let slot = atomicAdd(&$counts[place], 1u);
  if (slot < ${bucket}u) { $slots[place * ${bucket}u + slot] = t; }
  if (slot == ${bucket}u) { $crowded[atomicAdd(&$counts[$size], 1u)] = place; }
}
