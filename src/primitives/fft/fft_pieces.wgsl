// Pieces (kernel_file.hpp) of the kernels of Fourier transforms, fft.wgsl and fft_elements.wgsl, in what the GPU
// languages share (dialect.hpp). Both have element e of `line` in the registers re and im between $load and $store.
//
// Workgroup memory: line_re[] and line_im[], of the workgroup's lines (fft.wgsl).

// ---- functions
// twiddle(a, n, step) = e^(-2πi·a/n) by the sine and cosine of an eighth of the circle; n < 2^28, step = π/4/n, so that
// nothing is divided. $sine and $cosine are series in x, their angle's square.
$define twiddle
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = $type(at) * step;
  let x = angle * angle;
  let s = angle * $sine;
  let c = $cosine;
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return $twiddle_of_re_im;
$end
// times_mod(a, b, n, over_n) = a · b mod n, a < n < 2^29, b ≤ 2^14, over_n = 1/n: the quotient in f32 is off by one at
// most, and what is left lies around 0 in 32 bits, whatever the product has.
$define times_mod
  let quotient = u32(f32(a) * f32(b) * over_n);
  let left = a * b - quotient * n;
  return select(select(left, left - n, left >= n), left + n, left >= 0x80000000u);
$end
// square(a, n, over_n) = a² mod n, a < n < 2^28, in two pieces of 14 bits.
$define square
  let high = times_mod(times_mod(a, a >> 14u, n, over_n), 16384u, n, over_n);
  let sum = high + times_mod(a, a & 16383u, n, over_n);
  return select(sum, sum - n, sum >= n);
$end

// ---- products
$define times(of_re, of_im)
  let product = re * $of_re - im * $of_im;
  im = re * $of_im + im * $of_re;
  re = product;
$end
$define times_root(root)
  {
    let w = $root;
    $times(w.re, w.im)
  }
$end
$define times_number(number)
  re *= $number;
  im *= $number;
$end
$define conjugated
  im = -im;
$end

// ---- from and to memory
// b counts the elements of lines one after the other, or beside each other: `inner` first, of which there are $length.
$define places(outer, inner, length)
  let $outer = b / $length;
  let $inner = b - $outer * $length;
$end
// k, the element's number in the whole line, where e is not.
$define numbered_in
  let k = $number_in;
$end
$define numbered_out
  let k = $number_out;
$end
$define load_element
  var re = $zero;
  var im = $zero;
  $if_numbered_in
  $mirror
  $if_given
    $coordinates
    $load_re
    $load_im
    $mirrored_part
    $conjugated_in
  $end_if_given
$end
$define where_given
  if (line < $lines && $k_in < ${whole}u && $row < $given) {
$end
$define end_of_if
  }
$end
// Of spectra of real lines a half is given; the rest are the conjugates of what stands as far from the end.
$define mirrored_row
  let mirrored = e > ${half}u;
  let row = select(e, ${whole}u - e, mirrored);
$end
$define conjugated_image
  if (mirrored) { im = -im; }
  if (row == 0u || row * 2u == ${whole}u) { im = $zero; }
  $with_image
$end
$define others_times_inner
  else {
    $times_number($inner)
  }
$end
// Halves of real lines (gpu_text.hpp): what stands at k and, as the other, at h - k.
$define load_joined
  var re = $zero;
  var im = $zero;
  var other_re = $zero;
  var other_im = $zero;
  $if_numbered_in
  $coordinates
  $if_given
    $load_re
    $load_im
  $end_if_given
  $if_mirror_given
    $load_mirror_re
    $load_mirror_im
  $end_if_given
  $conjugated_in
  $conjugated_other
  if ($k_in == 0u) {
    im = $zero;
    other_im = $zero;
  }
  $with_image
  $halves_combined($k_of_half, -, +)
$end
$define where_joined_given
  if (line < $lines && $k_in < ${half}u && $k_in < $given) {
$end
$define where_mirror_given
  if (line < $lines && $k_in < ${half}u && ${half}u - $k_in < $given) {
$end
$define other_conjugated
  other_im = -other_im;
$end
$define both_times_inner
  else {
    $times_number($inner)
    other_re *= $inner;
    other_im *= $inner;
  }
$end
$define load_separated
  var re = $zero;
  var im = $zero;
  if (line < $lines && e <= ${half}u) {
    $coordinates
    let row = select(e, 0u, e == ${half}u);
    let mirrored = select(e, ${half}u, e == 0u);
    $load_re
    $load_im
    var other_re = $zero;
    var other_im = $zero;
    $load_mirror_re
    $load_mirror_im
    $halves_combined(e, +, -)
  }
$end
$define halves_combined(k, plus, minus)
  {
    let w = twiddle($k, ${whole_of_halves}u, $step_of_halves);
    let less_re = re - other_re;
    let less_im = im + other_im;
    re = re + other_re $plus (w.re * less_im + w.im * less_re);
    im = im - other_im $minus (w.re * less_re - w.im * less_im);
  }
$end
$define store
  $if_numbered_out
  $chirped
  $conjugated_out
  $scaled
  $inner_ones
  $cut
  $coordinates_out
  $store_re
  $store_im
$end
$define zeros_behind
  if ($k_out >= ${rows}u) {
    re = $zero;
    im = $zero;
  }
$end
$define halves_times_inner
  if ($k_out > 0u && $k_out * 2u != ${whole_out}u) {
    $times_number($inner)
  }
$end

// ---- passes
// One of Stockham's passes: of each line n / $radix butterflies; this invocation's are number c of $turns. Element k of
// butterfly c is register g; `from` and `to` are what is added to its place for k.
$define pass
  {
    $for c in $turns
      let turn$c = $number_$c;
      $whose_$c
      $where_$c
      $for g in $elements_$c
        $x_$g
      $end
      $butterfly_$c
      $for g in $elements_$c
        $root_$g
      $end
    $end
    $barrier_between
    $for c in $turns
      $if_there_$c
        $for g in $elements_$c
          $y_$g
        $end
      $end_if_$c
    $end
  }
$end
// Which line's butterfly it is: lines one after the other, or neighbours beside each other.
$define along(c)
  let own$c = turn$c / $each;
  let i$c = turn$c - own$c * $each;
$end
$define across(c)
  let i$c = turn$c / ${per}u;
  let own$c = turn$c - i$c * ${per}u;
$end
$define place_of_first(c)
  let p$c = i$c;
  let to$c = i$c * $radix;
$end
$define place_between(c)
  let p$c = i$c / $s;
  let to$c = p$c * $s_radix + i$c - p$c * $s;
$end
$define place_of_last(c)
  let to$c = i$c;
$end
$define if_there(less)
  if (thread < $less) {
$end
$define fetched(g, c, from)
  var x${g}r = $zero;
  var x${g}i = $zero;
  {
    let e = i$c + $from;
    let line = $line(own$c);
    $load
    $factor
    $twiddled_before
    x${g}r = re;
    x${g}i = im;
  }
$end
$define taken(g, c, from)
  let e$g = i$c + $from;
  let x${g}r = line_re[$place(own$c, e$g)];
  let x${g}i = line_im[$place(own$c, e$g)];
$end
$define first_root(g, c)
  let w$g = twiddle(p$c, ${order}u, $step_of_order);
  let w${g}r = w$g.re;
  let w${g}i = w$g.im;
$end
// The root to the power of k, of those to the powers of a and b, its halves: few roundings.
$define root_of(k, a, b)
  let w${k}r = w${a}r * w${b}r - w${a}i * w${b}i;
  let w${k}i = w${a}r * w${b}i + w${a}i * w${b}r;
$end
$define put(g, c, to)
  let o$g = to$c + $to;
  line_re[$place(own$c, o$g)] = y${g}r;
  line_im[$place(own$c, o$g)] = y${g}i;
$end
$define put_twiddled(g, c, to)
  let o$g = to$c + $to;
  line_re[$place(own$c, o$g)] = y${g}r * w${g}r - y${g}i * w${g}i;
  line_im[$place(own$c, o$g)] = y${g}r * w${g}i + y${g}i * w${g}r;
$end
$define stored(g, c, to)
  {
    let e = to$c + $to;
    let line = group * ${per}u + own$c;
    if ($is_wanted) {
      var re = y${g}r;
      var im = y${g}i;
      $store
    }
  }
$end

// ---- by way of the workgroup's memory
// Where neighbours in memory would be read, or written, by invocations far from each other.
$define gathered
  for (var b = thread; b < ${per}u * ${n}u; b += ${threads}u) {
    $places(own, e, ${n}u)
    let line = $line(own);
    $load
    $factor
    $twiddled_before
    line_re[$place(own, e)] = re;
    line_im[$place(own, e)] = im;
  }
  $barrier
$end
$define scattered
  for (var b = thread; b < ${per}u * $results; b += ${threads}u) {
    $places(own, e, $results)
    let line = group * ${per}u + own;
    if ($is_result) {
      var re = line_re[$place(own, $kept)];
      var im = line_im[$place(own, $kept)];
      $store
    }
  }
$end
// The same of halves (gpu_text.hpp): results k and h - k come of the same two elements.
$define separated
  for (var b = thread; b < ${per}u * $pairs; b += ${threads}u) {
    $own_and_k
    let line = group * ${per}u + own;
    let there = $place(own, k);
    let back = $place(own, select(${n}u - k, 0u, k == 0u));
    let other_re = line_re[back];
    let other_im = line_im[back];
    let sum_re = line_re[there] + other_re;
    let sum_im = line_im[there] - other_im;
    let less_re = line_re[there] - other_re;
    let less_im = line_im[there] + other_im;
    let w = twiddle(k, ${whole_of_halves}u, $step_of_halves);
    let turned_re = w.re * less_im + w.im * less_re;
    let turned_im = w.re * less_re - w.im * less_im;
    if (line < $lines && k < $wanted) {
      let e = k;
      var re = sum_re + turned_re;
      var im = sum_im - turned_im;
      $store
    }
    if (line < $lines && 2u * k < ${n}u && ${n}u - k < $wanted) {
      let e = ${n}u - k;
      var re = sum_re - turned_re;
      var im = -sum_im - turned_im;
      $store
    }
  }
$end

// ---- chirps
$define times_twiddle
  $times_root(twiddle($column * e, ${modulus}u, $step_of_modulus))
$end
$define times_chirp
  $times_chirp_at($k_in)
$end
$define times_chirp_at(k)
  $times_root(twiddle(square(min($k, ${last_of_chirp}u), ${period}u, $over_period), ${period}u, $step_of_period))
$end
// What a convolution by way of conjugates gives.
$define conjugated_times_chirp
  $conjugated
  $times_chirp_at($k_out)
$end
// The conjugate one, around 0.
$define chirp_alone
  let far = min($k_in, ${whole}u - $k_in);
  if (far < ${chirp}u) {
    let w = twiddle(square(far, ${period}u, $over_period), ${period}u, $step_of_period);
    re = w.re;
    im = -w.im;
  }
$end
$define times_table
  {
    $load_table
    $times($table_re, $table_im)
  }
$end
