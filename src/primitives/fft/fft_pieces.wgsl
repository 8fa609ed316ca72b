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
// square(a, n) = a² mod n, a < n < 2^29, which has no room in 32 bits.
$define square
  var r = 0u;
  for (var k = 0u; k < 29u; k += 1u) {
    r = r + r;
    if (r >= n) { r -= n; }
    if (((a >> (28u - k)) & 1u) == 1u) { r += a; }
    if (r >= n) { r -= n; }
  }
  return r;
$end

// ---- products
$define times(of_re, of_im)
  let product = re * $of_re - im * $of_im;
  im = re * $of_im + im * $of_re;
  re = product;
$end
$define times_root(root)
  let w = $root;
  $times(w.re, w.im)
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
$define load
  var re = $zero;
  var im = $zero;
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
  if (line < $lines && e < ${n}u && $row < $given) {
$end
$define end_of_if
  }
$end
// Of spectra of real lines a half is given; the rest are the conjugates of what stands as far from the end.
$define mirrored_row
  let mirrored = e > ${half}u;
  let row = select(e, ${n}u - e, mirrored);
$end
$define conjugated_image
  if (mirrored) { im = -im; }
  if (row == 0u || row * 2u == ${n}u) { im = $zero; }
  $with_image
$end
$define others_times_inner
  else {
    $times_number($inner)
  }
$end
$define store
  $conjugated_out
  $scaled
  $halves
  if (e >= ${rows}u) {
    re = $zero;
    im = $zero;
  }
  $coordinates_out
  $store_re
  $store_im
$end
$define halves_times_inner
  if (e > 0u && e * 2u != ${n}u) {
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
    $twiddled_before
    line_re[$place(own, e)] = re;
    line_im[$place(own, e)] = im;
  }
  $barrier
$end
$define scattered
  for (var b = thread; b < ${per}u * $wanted; b += ${threads}u) {
    $places(own, e, $wanted)
    let line = group * ${per}u + own;
    if (line < $lines) {
      var re = line_re[$place(own, e)];
      var im = line_im[$place(own, e)];
      $store
    }
  }
$end

// ---- chirps
$define times_twiddle
  $times_root(twiddle($column * e, ${modulus}u, $step_of_modulus))
$end
$define times_chirp
  $times_root(twiddle(square(min(e, ${last_of_chirp}u), ${period}u), ${period}u, $step_of_period))
$end
// The conjugate one, around 0.
$define chirp_alone
  let far = min(e, ${n}u - e);
  if (far < ${chirp}u) {
    let w = twiddle(square(far, ${period}u), ${period}u, $step_of_period);
    re = w.re;
    im = -w.im;
  }
$end
$define times_table
  if (e < ${n}u) {
    $load_table
    $times($table_re, $table_im)
  }
$end
