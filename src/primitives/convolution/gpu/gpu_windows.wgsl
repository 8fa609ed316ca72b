// The windows of an image as factor a of src/gpu/products/gemm.wgsl, in what the GPU languages share: pieces of that
// kernel. The image [samples, places along its axes, channels] is read where it lies; zeros stand for what lies
// outside.
//
//   rows are places of the result; k: of each tap (element of the kernel) all channels    result, gradient of the image
//   rows are channels of each tap; k: places of the result                                gradient of the kernels
//
// What an invocation fetches in every step is the same few units of the tile. Of the first kind it keeps the corners of
// their windows, and moves the tap and channel that all of them are at; of the second their places, and the tap and
// channel of its rows stay. gpu_windows.cpp fills the holes.
//
// Speed. Bound as gemm.wgsl is, with a few additions and comparisons more for each unit that is fetched. On an H200
// through WebGPU, 29 November 2026, 64×256×28×28 → 256 by 3×3: f32 36.9 TFLOP/s, f16 39.6, 0.93 and 0.96 of a product
// (docs/benchmarks_families.md).
$define begin_of_places
  $for u in $copies
    let place$u = first_m + (thread + ${u}u * $threads) / $units_in_line;
    var rest$u = place$u;
    $for i in $axes_down
      let corner${u}_$i = bitcast<i32>(rest$u % $out_$i * $stride_$i) - $before_$i;
      rest$u = rest$u / $out_$i;
    $end
    let image$u = base_a + rest$u * $of_samples;
  $end
  $for i in $axes
    var tap_$i = i32(0);
  $end
  var channel = thread % $units_in_line * $elements;
  $carry_channel
$end
$define advance_of_places
  channel += $tile_k;
  $carry_channel
$end
$define carry_channel
  while (channel >= $channels) {
    channel -= $channels;
    $carry_tap
  }
$end

$define begin_of_taps
  let first_place = $first_place;
  let depth_here = min($length, $places - first_place);
  let window = first_m + thread % $units_in_line * $elements;
  var rest = window / $channels;
  let channel = window - rest * $channels;
  $for i in $axes_down
    let tap_$i = bitcast<i32>(rest % $kernel_$i) * $dilation_$i - $before_$i;
    rest = rest / $kernel_$i;
  $end
  $for u in $copies
    var rest$u = first_place + (thread + ${u}u * $threads) / $units_in_line;
    $for i in $axes_down
      var corner${u}_$i = rest$u % $out_$i * $stride_$i;
      rest$u = rest$u / $out_$i;
    $end
    var image$u = base_a + rest$u * $of_samples;
  $end
$end
$define advance_of_taps
  $for u in $copies
    corner${u}_$last += $tile_k * $last_stride;
    while (corner${u}_$last >= $last_reach) {
      corner${u}_$last -= $last_reach;
      $carry_place_$u
    }
  $end
$end
