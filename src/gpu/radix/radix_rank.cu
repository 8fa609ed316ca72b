// CUDA's functions that rank elements by a digit of 8 bits in a workgroup: of a pass of the sort by digits
// (radix_sweep.cu), and of lines that one workgroup of 8 warps sorts (sort_tile.cu).
//
// A tile is 256 · each neighbours; a warp has 32 · each of them, one after the other, and its lane l every 32nd from
// the l-th on, so that what its lanes load together lies together:
//
//   ┌────────────────── warp 0 ──────────────────┐┌──── warp 1 …
//   │ lane 0 │ lane 1 │ … │ lane 31 │ lane 0 │ … ││
//   │ e = 0                         │ e = 1      ││
//
//   counts[warp][digit]: of the warp's elements so far; then, how many of the tile stand before its first
//
// Of the lanes whose elements have one digit (found by 8 votes) the first one counts all in its warp's counter of that
// digit; an element's rank in the tile is what the counter showed, the lanes before it, and what the other warps and
// the lesser digits have. Elements behind the end have the last digit, and as they are the last of it no others' ranks
// change.
//
// Bound by the votes and by registers: each element keeps its digit and its rank in one. On an H200, 28
// November 2026, a pass of radix_sweep.cu, most of which this is, took 196 µs of 2^24 in bf16, by itself and with the
// clock held low, the next pass 211 (docs/benchmarks_families.md).
/// The sum of the values of the invocations up to and with this one, of 256; `sums`: 8 words.
TERN_DEVICE u32 tern_sum_up_to(u32 value, u32* sums, u32 thread) {
  const u32 lane = thread & 31u, warp = thread >> 5;
  u32 sum = value;
#pragma unroll
  for (u32 distance = 1; distance < 32u; distance *= 2) {
    const u32 other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31u) sums[warp] = sum;
  __syncthreads();
  u32 before = 0u;
#pragma unroll
  for (u32 w = 0; w < 8u; ++w) before += w < warp ? sums[w] : 0u;
  __syncthreads();
  return before + sum;
}
/// Of each element its digit, in the 8 high bits, and its rank: one register.
template <int each> struct Ranks {
  u32 word[each];
  __device__ __forceinline__ u32 digit(int e) const { return word[e] >> 24; }
  __device__ __forceinline__ u32 rank(int e) const { return word[e] & 0xffffffu; }
};
/// The warp's 256 words `mine` become its counts, and rank(e) an element's place among those of its digit in the warp.
template <int each> TERN_DEVICE void tern_rank_in_warp(Ranks<each>& r, u32* mine, u32 lane) {
  const u32 below = (1u << lane) - 1u;
#pragma unroll
  for (u32 i = 0; i < 256u; i += 32u) mine[i + lane] = 0u;
  __syncwarp();
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 digit = r.digit(e);
    u32 same = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const bool set = (digit >> bit) & 1u;
      const u32 vote = __ballot_sync(0xffffffffu, set);
      same &= set ? vote : ~vote;
    }
    const u32 before = u32(__popc(same & below)), so_far = mine[digit];
    __syncwarp();
    if (before == 0u) mine[digit] = so_far + u32(__popc(same));
    __syncwarp();
    r.word[e] += so_far + before;
  }
}
/// `counts`: 8 * 256 words; `sums`: 8. Afterwards rank(e) is the element's place in the tile sorted by this digit.
template <int each> TERN_DEVICE void tern_rank(Ranks<each>& r, u32* counts, u32* sums, u32 thread) {
  u32* const mine = counts + (thread >> 5) * 256u;
  tern_rank_in_warp(r, mine, thread & 31u);
  __syncthreads();
  u32 total = 0u;
  for (u32 w = 0; w < 8; ++w) {
    const u32 count = counts[w * 256u + thread];
    counts[w * 256u + thread] = total, total += count;
  }
  const u32 less = tern_sum_up_to(total, sums, thread) - total;
  for (u32 w = 0; w < 8; ++w) counts[w * 256u + thread] += less;
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e) r.word[e] += mine[r.digit(e)];
}
/// Sorts `here` elements, in a tile, by all digits of their keys: staged[i] becomes the i-th element's bits, places[i]
/// where it stood.
template <int bits, int each, class Word, class Key>
TERN_DEVICE void tern_sort_tile(Word* staged, u16* places, u32 here, u32 thread, u32* counts, u32* sums, Key key) {
  const u32 first = (thread >> 5) * 32u * each + (thread & 31u);
  Word mine[each];
  u32 place[each];
  Ranks<each> r;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 at = first + e * 32u;
    mine[e] = at < here ? staged[at] : Word(0), place[e] = at;
  }
#pragma unroll 1
  for (int shift = 0; shift < bits; shift += 8) {
#pragma unroll
    for (int e = 0; e < each; ++e)
      r.word[e] = (first + e * 32u < here ? u32(key(mine[e]) >> shift) & 255u : 255u) << 24;
    tern_rank(r, counts, sums, thread);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < each; ++e) staged[r.rank(e)] = mine[e], places[r.rank(e)] = u16(place[e]);
    __syncthreads();
    if (shift + 8 >= bits) break;
#pragma unroll
    for (int e = 0; e < each; ++e) mine[e] = staged[first + e * 32u], place[e] = places[first + e * 32u];
  }
}
