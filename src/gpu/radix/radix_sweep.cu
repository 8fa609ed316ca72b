// CUDA's pass of a sort by digits of 8 bits as one kernel ("onesweep", Adinets and Merrill, 2022): a workgroup ranks
// the elements of a block, learns from the blocks before it in the line how many of each digit they have, and moves its
// own to where they belong. Every element is read once and written once.
//
// states[line · blocks + block][digit]: a count, and above it, in 32 bits, what it counts in this pass:
//
//   2 · pass + 1: the block's own          2 · pass + 2: those of all blocks of the line up to and with this one
//
//   block:                0     1     2     3 (here)
//                       ┌─────┬─────┬─────┬─────┐       invocation d of block 3 says its own 2 (tern_say_own), adds up
//   states[…][digit d]: │ all │ all │ own │ own │       4 and, as that is of all, 9 (tern_look_back), and says
//                       │  5  │  9  │  4  │  2  │       all: 15
//                       └─────┴──↑──┴──↑──┴─────┘
//
// An invocation to a digit goes back from block to block, adding up their own, to the first whose count is of all.
// Less than that is of a pass before, or none: it waits. Blocks draw their numbers when they begin, so those it waits
// for have begun. No other word depends on the state, so no order between memory accesses is asked for.
//
// Then elements go in tile order by the digit through workgroup memory, so that neighbours of one digit are written
// together, and after them their places. Which thread has which: radix_rank.cu.
//
//   staged[rank]:  │ digit 0 │ digit 1 │ …       sums[digit]: where staged[0] would go, if it had that digit
//
// Bound by the votes that rank, and by how many elements a processor holds: 2^24 in f32 take 764 µs in all on an H100,
// 27 November 2026, PyTorch 921 (docs/benchmarks.md; what other sizes give: docs/tuning.md).
/// Says how many elements with the invocation's digit this block has.
TERN_DEVICE void tern_say_own(volatile u64* state, u32 block, u32 own, u32 pass) {
  *state = u64(2u * pass + (block == 0u ? 2u : 1u)) << 32 | own;
}
/// How many the blocks before it have.
TERN_DEVICE u32 tern_look_back(volatile u64* state, u32 block, u32 own, u32 pass) {
  if (block == 0u) return 0u;
  const u32 has_own = 2u * pass + 1u, has_all = has_own + 1u;
  u32 before = 0u;
  for (const volatile u64* other = state - 256;; other -= 256) {
    u64 seen;
    do { seen = *other; } while (u32(seen >> 32) < has_own);
    before += u32(seen);
    if (u32(seen >> 32) == has_all) break;
  }
  *state = u64(has_all) << 32 | (before + own);
  return before;
}
/// `starts`: of the line's digits in it. counts: 8 · 256 words, a warp's after another's; sums: 256.
template <class Word, int each, class Key>
TERN_DEVICE void tern_sweep(const Word* bits, const u32* places, Word* to_bits, u32* to_places, const u32* starts,
                            u64* states, u32 block, u32 pass, u32 line_begin, u32 n, u32 thread, u32* counts,
                            u32* sums, Word* staged, Key digit_of) {
  constexpr u32 kThreads = 256u, kTile = kThreads * each, kWarps = kThreads / 32u;
  const u32 begin = block * kTile, here = min(n - begin, kTile), lane = thread & 31u, warp = thread >> 5;
  const u32 first = warp * 32u * each + lane;
  bits += line_begin + begin;
  Word mine[each];
  Ranks<each> r;
#pragma unroll
  for (int e = 0; e < each; ++e) mine[e] = first + e * 32u < here ? bits[first + e * 32u] : Word(0);
#pragma unroll
  for (int e = 0; e < each; ++e) r.word[e] = (first + e * 32u < here ? digit_of(mine[e]) : 255u) << 24;
  tern_rank_in_warp(r, counts + warp * 256u, lane);
  __syncthreads();
  u32 total = 0u;
  for (u32 w = 0; w < kWarps; ++w) {
    const u32 count = counts[w * 256u + thread];
    counts[w * 256u + thread] = total, total += count;
  }
  const u32 own = thread == 255u ? total - (kTile - here) : total;  // those behind the end have the last digit
  volatile u64* const state = states + block * 256ull + thread;
  tern_say_own(state, block, own, pass);
  const u32 less = tern_sum_up_to(total, sums, thread) - total;
  for (u32 w = 0; w < kWarps; ++w) counts[w * 256u + thread] += less;
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e) r.word[e] += counts[warp * 256u + r.digit(e)], staged[r.rank(e)] = mine[e];
  sums[thread] = line_begin + starts[thread] + tern_look_back(state, block, own, pass) - less;
  __syncthreads();
  u32 to[each];
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 at = e * kThreads + thread;
    if (at >= here) continue;
    const Word word = staged[at];
    to[e] = sums[digit_of(word)] + at;
    if (to_bits) to_bits[to[e]] = word;
  }
  if (!to_places) return;
  __syncthreads();
  u32* const staged_places = (u32*)staged;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 at = first + e * 32u;
    staged_places[r.rank(e)] = places && at < here ? places[line_begin + begin + at] : begin + at;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e)
    if (e * kThreads + thread < here) to_places[to[e]] = staged_places[e * kThreads + thread];
}
