// The same as scatter_lines.cu where lines are neighbours in memory (scatter_add along the columns of a matrix): a
// workgroup of $across warps has $across lines, and reads their entries together, as they lie:
//
//               $across lines →
//              ┌──────────┬──────────┬───
//   entries    │ thread 0 │ thread 1 │ …      row 0 of a step; then each warp adds its line's entries, 32 at once
//      ↓       ├──────────┼──────────┼───     (scatter_in_lane_order.cu), while the next step's are loaded
//              │ …        │          │
//
//   results[line][place], places[line][entry], values[line][entry]: in workgroup memory, each line 8 words further than
//   it is long, so that neighbours do not meet in a bank
//
// Bound by the latency of lanes that add one after the other. Along the columns of 4096² in f32 386 µs on an H200, 29
// November 2026, PyTorch with atomics 619 (docs/benchmarks.md), on an H100 one line a workgroup twice as long as four
// (docs/benchmarks_history.md).
extern __shared__ u64 shared_words[];
$type* const results = ($type*)shared_words;
$type* const values = results + ${across}u * ${pitch}u;
u32* const places = (u32*)(values + ${across}u * ${step_pitch}u);
const u32 lane = thread & 31u, mine = thread >> 5, column = thread % ${across}u, row = thread / ${across}u;
const u32 line = group * ${across}u + column;
const bool inside = line < $lines;
$line_coordinates
if (inside) {
  for (u32 k = row; k < $size; k += 32u) {
    $load_old
    results[column * ${pitch}u + k] = $old_0;
  }
}
$type* const own = results + mine * ${pitch}u;
u32 next_place[$ahead];
$type next_value[$ahead];
for (u32 begin = 0u; begin < $count + ${step}u; begin += ${step}u) {
  if (begin > 0u) {
    __syncthreads();
    $for e in $entries
      places[column * ${step_pitch}u + ${e}u * 32u + row] = next_place[$e];
      values[column * ${step_pitch}u + ${e}u * 32u + row] = next_value[$e];
    $end
    __syncthreads();
  }
  $for e in $entries
    next_place[$e] = $nowhere;
    if (inside && begin + ${e}u * 32u + row < $count) {
      let j = begin + ${e}u * 32u + row;
      $entry_coordinates
      let index = $index;
      next_place[$e] = bitcast<u32>(index) + select(0u, $size, index < 0);
      $load_$e
      next_value[$e] = $new_$e;
    }
  $end
  if (begin > 0u) {
#pragma unroll
    for (u32 e = 0u; e < ${ahead}u; ++e) {
      const u32 place = places[mine * ${step_pitch}u + e * 32u + lane];
      const $type value = values[mine * ${step_pitch}u + e * 32u + lane];
      $look_at(place)
      $add_in_lane_order
    }
  }
}
__syncthreads();
if (inside) {
  for (u32 k = row; k < $size; k += 32u) {
    $store
  }
}
