// How a workgroup of the sort by digits takes its block: radix_sweep.cu has the functions, and says what they do.
//
// Workgroup memory: counts[8 · 256] u32, sums[256] u32 (the block's number comes in the last), and $staged, a word for
// each element: tern_sweep says what for.
if (group >= $lines * $blocks) { return; }
u32* const totals = $totals;
if (thread == 0u) sums[255] = atomicAdd(&totals[$tickets + $pass], 1u);
__syncthreads();
const u32 ticket = sums[255], line = ticket / $blocks;
__syncthreads();
tern_sweep<$type, $each>(
    $bits, $places, $to_bits, $to_places, totals + ($pass * $lines + line) * 256u, $states + line * $blocks * 256ull,
    ticket - line * $blocks, $pass, line * $n, $n, thread, counts, sums, $staged,
    [&]($type w) { return u32(key_of(w, $flip) >> (8u * $pass)) & 255u; });
