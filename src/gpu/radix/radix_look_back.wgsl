// Pieces (kernel_file.hpp) by which WebGPU's pass of a sort by digits is one kernel, as CUDA's is (radix_sweep.cu):
// radix_move_in_subgroups.wgsl ranks and moves, and these tell the blocks of a line of each other.
//
// states[line · blocks + block][digit]: a count in 28 bits, and above it what it counts in this pass:
//
//   2 · pass + 1: the block's own          2 · pass + 2: those of all blocks of the line up to and with this one
//
//   block:                0     1     2     3 (here)
//                       ┌─────┬─────┬─────┬─────┐       the slot of digit d in block 3 says its own 2 (say_own), adds
//   states[…][digit d]: │ all │ all │ own │ own │       up 4 and, as that is of all, 9 (look_back), and says all: 15
//                       │  5  │  9  │  4  │  2  │
//                       └─────┴──↑──┴──↑──┴─────┘
//
// Less than these is of a pass before, or none: it waits. Blocks draw their numbers when they begin ($drawn_too of
// radix_subgroups.wgsl), so those it waits for have begun. But WGSL does not promise that they go on, and Mesa's driver
// for the CPU leaves a loop after 65535 rounds: a slot that has waited for $patience rounds counts the other block's
// elements itself ("decoupled fallback", Smith, Levien and Owens, 2025). A state is one word, and no other word depends
// on it, so no order between memory accesses is asked for.

The block's number, which the first invocation draws.
$define next_block
  atomicAdd(&$totals[$tickets + $pass], 1u)
$end
Where the slot's digit has its state.
$define state_of_block
  let state = number * 256u + own_digit;
$end
Says how many elements with the slot's digit the block has: those behind the end have the last digit.
$define say_own
  let own_state = own.x - select(0u, ${tile}u - here, own_digit == 255u);
  let has_own = 2u * $pass + 1u;
  if (has_digit) { atomicStore(&$states[state], ((has_own + select(0u, 1u, block == 0u)) << 28u) | own_state); }
$end
How many the blocks before it have. Four states are on their way at once: with blocks of 3584 a sort of 2^24 in f32 took
887 µs on an H200, 29 November 2026, with one 963, with eight 985, and with passes of three kernels (radix_count.wgsl)
971.
$define look_back
  var in_blocks_before = 0u;
  if (block != 0u && has_digit) {
    var other = block - 1u;
    var waited = 0u;
    var found = false;
    loop {
      let at_first = other;
      $for e in 0 1 2 3
        let seen$e = atomicLoad(&$states[state - (block - other + min(other, ${e}u)) * 256u]);
      $end
      $for e in 0 1 2 3
        if (!found && at_first == other + ${e}u && (seen$e >> 28u) >= has_own) {
          in_blocks_before += seen$e & 0xfffffffu;
          found = (seen$e >> 28u) > has_own;
          other -= 1u;
        }
      $end
      if (found) { break; }
      waited = select(0u, waited + 1u, other == at_first);
      if (waited >= ${patience}u) {
        for (var i = 0u; i < ${tile}u; i += 1u) {
          let its_key = key_of($bits_at(line * $n + other * ${tile}u + i), $flip);
          in_blocks_before += select(0u, 1u, ((its_key >> $shift) & 255u) == own_digit);
        }
        if (other == 0u) { break; }
        other -= 1u;
      }
    }
    atomicStore(&$states[state], ((has_own + 1u) << 28u) | (in_blocks_before + own_state));
  }
$end
