// How a workgroup of the sort by digits moves its block: radix_move.cu has the functions, and says what they do.
const u32 line = group / $blocks, block = group - line * $blocks, begin = block * ${tile}u;
const u32 first = line * $n + begin;
tern_move<$type, $each>($bits + first, $places$first_place, $to_bits, $to_places, $totals + line * 256u,
                        $counts + line * 256u * $blocks + block, $blocks, begin, min($n - begin, ${tile}u), line * $n,
                        thread, counts, sums, $staged, [&]($type w) { return u32(key_of(w, $flip) >> $shift) & 255u; });
