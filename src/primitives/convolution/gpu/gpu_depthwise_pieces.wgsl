// What gpu_depthwise.wgsl and gpu_depthwise_weight.wgsl share: which channels and which strip of results an invocation
// has, and the lines of the image that those meet.
//
//   invocations of a workgroup                      a strip: $lines x $rows results of one channel (of 16 bits: of two,
//   ┌──────────────── $across ───────────────┐      a word of memory), and the places of the image that meet them
//   │ strip 0: channels 0, 1, 2, …           │         $span_rows
//   │ strip 1: the same channels, below      │      ┌────────────┐   An invocation reads each line of those places
//   │ …                                      │      │┌──────┐    │   once, into registers, and adds it to all of its
//   └────────────────────────────────────────┘      ││ rows │    │   results that meet it. Neighbours read neighbouring
//                                                   │└──────┘    │   words; strips below each other share lines, which
//                                                   └────────────┘   the caches keep. Lines outside are left out.
$define units
  let channel = (group % $blocks * $across + thread % $across) * $channels_of_word;
  let first_strip = group / $blocks * $strips + thread / $across;
$end
$define strip
  let down = strip % $strips_down;
  let along = strip / $strips_down;
  let sample = along / $strips_along;
  let line = down * $lines;
  let row = (along - sample * $strips_along) * $rows;
$end
$define corner
  let first_line = line * $stride_lines - $before_lines;
  let first_row = row * $stride_rows - $before_rows;
  let corner = ($image_base + sample * $image_sample + channel) / $channels_of_word + first_line * $image_line
             + first_row * $image_row;
$end
$define line_of_image
  if (first_line + ${span_line}u < $in_lines) {
    let at = corner + ${span_line}u * $image_line;
    $for k in $span_rows
      var word_$k = 0u;
      if (first_row + ${k}u < $in_rows) { word_$k = $image[at + ${k}u * $image_row]; }
      $for e in $elements
        let x_${k}_$e = $value_$e(word_$k);
      $end
    $end
    $meetings
  }
$end
