// Pieces (kernel_file.hpp) of columns.wgsl and columns_largest.wgsl, in what the GPU languages share (dialect.hpp).

// ---- which element an invocation has
$define element_of_line
  let e = group * ${threads}u + thread;
  let row = e / $columns;
  let j = e - row * $columns;
  let matrix = row / $rows;
  let i = row - matrix * $rows;
$end
$define element_of_tile
  let matrix = group / $tiles;
  let tile = group - matrix * $tiles;
  let down = tile / $across;
  let i = down * 8u + thread % 8u;
  let j = (tile - down * $across) * ${tile_columns}u + thread / 8u;
$end

// ---- numbers, changed on their way (Move, gpu_columns.hpp)
$define moved
  $find_row
  $load
  var x = ${sign}$number;
  $spoil
  $clear_outside
  $set_diagonal
  $look_for_infinities
  $take_root
  $scale
  $clear_tiny
  $store
$end
$define place_of_row
  $load_place
  let place = u32($place);
$end
$define spoiled
  $load_bad
  if ($bad != 0) { x = $nan; }
$end
$define zero_outside(condition)
  if ($condition) { x = $zero; }
$end
$define on_diagonal(number)
  if (i == j) { x = $number; }
$end
Whoever meets one writes the same.
$define noted_unless_finite
  if (!($isfinite(x))) {
    $clear
    let status = -1;
    $store_status
  }
$end
$define cleared
  x = $zero;
$end
$define root_of_positive
  if (x < $zero) { x = $zero; }
  x = $sqrt(x);
$end
$define zero_if_tiny
  if (i != j && $abs(x) < $tiny) { x = $zero; }
$end
x · 2^by, in two steps, as by may be beyond the exponents of f32 or f64; exact, but for subnormal results.
$define times_power(by)
  let half = ($by) / 2;
  let other_half = ($by) - half;
  x = x * $power(half) * $power(other_half);
$end

// ---- what should be 0 but for roundings
Whoever meets one that is not writes the same.
$define noted_unless_small
  $load
  if (!($abs($number) <= $type($rows) * $a_row)) {
    let status = 1;
    $store_status
  }
$end

// ---- places of rows
Libraries count from 1.
$define moved_pivot
  $load
  let place = i32($number) - 1;
  $store
$end
A row is followed back through the exchanges, all of which every invocation reads: 1024 of them one after the other, and
no row of 1024 elements is moved for them. cuSOLVER's laswp takes 542 us for a matrix of 1024 x 1024, and of 16 columns
144 (f32, H200, 26 November 2026).
$define places_of_rows
  var place = i32(i);
  for (var step = 0u; step < $rows; step += 1u) {
    let k = $exchanged;
    $load
    let other = clamp(i32($number), 0, i32($rows) - 1);
    let here = i32(k);
    let at_here = place == here;
    let at_other = place == other;
    place = select(select(place, here, at_other), other, at_here);
  }
  $store
$end

// ---- the largest number of a part
$define of_column
  let i = e;
  let j = part;
$end
$define of_neighbours
  let i = e / $width;
  let j = e - i * $width;
$end
$define look(load, number)
  $load
  if ($isfinite($number)) { largest = max(largest, $abs($number)); }
$end
$define if_lower(looks)
  if (j <= i) {
    $looks
  }
$end
by, of `largest`; a subnormal number is a count of the least ones.
$define exponent
  let count = $bits(largest);
  let subnormal = i32(count >> $mantissa) == 0;
  let size = $bits(select(largest, $type(count), subnormal));
  let by = select($least - i32(size >> $mantissa) + select($bias, subnormal), 0, largest == $zero);
$end
