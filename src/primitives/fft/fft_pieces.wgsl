// Pieces (kernel_file.hpp) of the kernels of Fourier transforms, fft.wgsl and fft_elements.wgsl, in what the GPU
// languages share (dialect.hpp). Both have element e of `line` in the registers re and im between $load and $store.

// ---- functions
// twiddle(a, n) = e^(-2πi·a/n) by the sine and cosine of an eighth of the circle; n < 2^28. $sine and $cosine are
// series in x, their angle's square.
$define twiddle
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = $type(at) * $eighth / $type(n);
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
  if (line < $lines && e < ${n}u && $row < $given) {
    $coordinates
    $load_re
    $load_im
    $mirrored_part
    $conjugated_in
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
// One of Stockham's passes: of each line n / $radix butterflies, of elements $s_m apart.
$define pass
  for (var b = thread; b < $butterflies; b += ${threads}u) {
    let own = b / $each;
    let i = b - own * $each;
    let p = i / $s;
    let q = i - p * $s;
    let read = own * ${n}u + q + $s * p;
    let write = own * ${n}u + q + $s_radix * p;
    $for j in $points
      let x${j}r = ${from}re[read + $from_$j];
      let x${j}i = ${from}im[read + $from_$j];
    $end
    $butterfly
    $for k in $plain
      ${to}re[write + $to_$k] = y${k}r;
      ${to}im[write + $to_$k] = y${k}i;
    $end
    $for k in $twiddled
      $root_$k
      ${to}re[write + $to_$k] = y${k}r * w${k}r - y${k}i * w${k}i;
      ${to}im[write + $to_$k] = y${k}r * w${k}i + y${k}i * w${k}r;
    $end
  }
$end
$define first_root
  let w1 = twiddle(p, ${order}u);
  let w1r = w1.re;
  let w1i = w1.im;
$end
// The root to the power of k, of those to the powers of a and b, its halves: few roundings.
$define root_of(k, a, b)
  let w${k}r = w${a}r * w${b}r - w${a}i * w${b}i;
  let w${k}i = w${a}r * w${b}i + w${a}i * w${b}r;
$end

// ---- chirps
$define times_twiddle
  $times_root(twiddle((line % ${columns}u) * e, ${modulus}u))
$end
$define times_chirp
  $times_root(twiddle(square(min(e, ${last_of_chirp}u), ${period}u), ${period}u))
$end
// The conjugate one, around 0.
$define chirp_alone
  let far = min(e, ${n}u - e);
  if (far < ${chirp}u) {
    let w = twiddle(square(far, ${period}u), ${period}u);
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
