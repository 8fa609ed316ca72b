// The gradient of the kernels where each channel is convolved by itself, in what the GPU languages share: sums in f32,
// a part for each strip that invocations have at the same time, [parts, taps, channels], which another kernel adds up,
// always in the same order.
//
//   parts[part, tap, channel] = Σ x[…]·y[sample, line, row, channel] over the strips part, part + $parts, …
//
// Which invocation has what is drawn in gpu_depthwise_pieces.wgsl. The sums of all taps are in registers.
//
// Bound as gpu_depthwise.wgsl is, and where that says what was reached: f32 both directions 0.599 ms
// (docs/benchmarks_families.md).
//
// gpu_depthwise.cpp fills the holes, $name.
$define weight
  $units
  if (channel >= $channels || first_strip >= $parts) { return; }
  $for t in $taps
    $for e in $elements
      var sum_${t}_$e = f32(0.0);
    $end
  $end
  for (var strip = first_strip; strip < $count; strip += $parts) {
    $strip
    $all_or_some
  }
  let part = first_strip;
  $store
$end
// What a strip adds: one that is not cut all of its results at once.
$define all
  $corner
  $result_corner
  $for r in $result_lines
    $for p in $result_rows
      let result_${r}_$p = $result[result + ${r}u * $result_line + ${p}u * $result_row];
      $for e in $elements
        let y_${r}_${p}_$e = $value_$e(result_${r}_$p);
      $end
    $end
  $end
  $lines_of_image
$end
// Else those that are there, one by one: places that none of them meet may hold anything.
$define some
  if (line + $lines <= $out_lines && row + $rows <= $out_rows) {
    $all
  } else {
    for (var line_now = line; line_now < min(line + $lines, $out_lines); line_now += 1u) {
      for (var row_now = row; row_now < min(row + $rows, $out_rows); row_now += 1u) {
        let line = line_now;
        let row = row_now;
        $corner
        $result_corner
        let result_0_0 = $result[result];
        $for e in $elements
          let y_0_0_$e = $value_$e(result_0_0);
        $end
        $lines_of_one
      }
    }
  }
$end
$define result_corner
  let result = ($result_base + sample * $result_sample + channel) / $channels_of_word + line * $result_line
             + row * $result_row;
$end
