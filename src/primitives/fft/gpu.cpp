// Fourier transforms on GPUs: lines that a workgroup's memory holds by one launch (gpu_text.cpp), longer ones as a
// matrix, columns and then rows (cpu_line.cpp has the picture), and lengths with large prime factors as a convolution
// with a chirp. Where the vendor has a library for it, it comes first (gpu_library.cpp).
#include <algorithm>
#include <memory>

#include "primitives/fft/factors.hpp"
#include "primitives/fft/gpu_library.hpp"
#include "primitives/fft/kernels.hpp"

namespace tern::detail_gpu {

using detail::FftKind;
using detail::FftRequest;

namespace fft {
namespace {

/// Lengths whose roots' numbers have room in 32 bits.
constexpr std::int64_t kLongest = std::int64_t{1} << 27;

/// With the axis last, in two: [.., outer, inner], whose steps are given.
View in_two(const View& v, int axis, std::int64_t outer, std::int64_t inner) {
  View split = v;
  split.strides.resize(0);
  for (int i = 0; i < static_cast<int>(v.strides.size()); ++i)
    if (i != axis) split.strides.push_back(v.strides[static_cast<std::size_t>(i)]);
  split.strides.push_back(outer), split.strides.push_back(inner);
  return split;
}

/// The factor that rows have: at most `most`, and near to the root of n where both fit.
std::int64_t rows_of(std::int64_t n, std::int64_t most) {
  std::int64_t best = 1;
  for (std::int64_t f = 1; f <= most; ++f) {
    if (n % f != 0) continue;
    best = f;
    if (f * f >= n) break;
  }
  return best;
}

void plain(GpuBackend& backend, const Lines& l);

void in_steps(GpuBackend& backend, const Lines& l);

/// Place i of one of the other axes after the other, without that axis.
void in_steps_by_place(GpuBackend& backend, const Lines& l) {
  const std::size_t other = l.axis == 0 ? 1 : 0;
  Lines part = l;
  part.axis = l.axis - (static_cast<int>(other) < l.axis);
  part.space = Shape();
  for (std::size_t a = 0; a < static_cast<std::size_t>(l.space.rank()); ++a)
    if (a != other) part.space.push_back(l.space[a]);
  View* const to[] = {&part.re, &part.im, &part.out_re, &part.out_im};
  const View* const from[] = {&l.re, &l.im, &l.out_re, &l.out_im};
  for (int k = 0; k < 4; ++k) {
    to[k]->strides.resize(0);
    for (std::size_t a = 0; a < from[k]->strides.size(); ++a)
      if (a != other) to[k]->strides.push_back(from[k]->strides[a]);
  }
  for (std::int64_t i = 0; i < l.space[other]; ++i) {
    for (int k = 0; k < 4; ++k) to[k]->offset = from[k]->offset + i * from[k]->strides[other];
    in_steps(backend, part);
  }
}

/// Of complex lines of n elements, which are all there.
void in_steps(GpuBackend& backend, const Lines& l) {
  if (l.space.rank() == kMaxRank) return in_steps_by_place(backend, l);  // an axis more has no room
  const std::int64_t n2 = rows_of(l.n, most_elements(backend, l.re.dtype)), n1 = l.n / n2;
  const auto along = static_cast<std::size_t>(l.axis);
  const std::int64_t step = l.re.strides[along], out_step = l.out_re.strides[along];
  Shape columns;
  for (int i = 0; i < l.space.rank(); ++i)
    if (i != l.axis) columns.push_back(l.space[static_cast<std::size_t>(i)]);
  Shape rows = columns;
  columns.push_back(n2), columns.push_back(n1), rows.push_back(n1), rows.push_back(n2);
  const int last = columns.rank() - 1;
  const Temporary between(backend, columns, last, n1, l.re.dtype);
  Lines first = l;
  first.space = columns, first.axis = last, first.n = first.given = n1, first.conjugate_out = false, first.scale = 1;
  first.re = in_two(l.re, l.axis, step, n2 * step), first.im = in_two(l.im, l.axis, step, n2 * step);
  write(first, between);
  plain(backend, first);
  Lines second = l;
  second.space = rows, second.axis = last, second.n = second.given = second.wanted = n2, second.conjugate_in = false;
  second.re = in_two(between.re, last, 0, 0), second.im = in_two(between.im, last, 0, 0);
  const auto place = static_cast<std::size_t>(last);
  for (View* v : {&second.re, &second.im}) {
    v->strides = between.strides;
    v->strides[place - 1] = 2, v->strides[place] = 2 * n1;
  }
  second.out_re = in_two(l.out_re, l.axis, out_step, n1 * out_step);
  second.out_im = in_two(l.out_im, l.axis, out_step, n1 * out_step);
  second.modulus = l.n, second.columns = n1;
  transform_lines(backend, second);
}
void plain(GpuBackend& backend, const Lines& l) {
  l.n <= most_elements(backend, l.re.dtype) ? transform_lines(backend, l) : in_steps(backend, l);
}

/// A chirp's convolution, in lines of a power of two: map, transform, multiply, transform back, map.
void convolve(GpuBackend& backend, const Lines& l) {
  std::int64_t length = 4;
  while (length < 2 * l.n - 1) length *= 2;
  const DType dtype = l.re.dtype;
  const Temporary x(backend, l.space, l.axis, length, dtype), y(backend, l.space, l.axis, length, dtype);
  const Shape one{1, length};
  const Temporary a(backend, one, 1, length, dtype), b(backend, one, 1, length, dtype);
  Lines kernel{.op = l.op, .space = one, .axis = 1, .n = length};
  read(kernel, b), write(kernel, a);
  kernel.given = 0, kernel.factor = Multiplier::chirp_alone, kernel.chirp = l.n;
  map_lines(backend, kernel);
  kernel.factor = Multiplier::none, kernel.chirp = 0, read(kernel, a), write(kernel, b);
  kernel.scale = 1 / static_cast<double>(length);
  plain(backend, kernel);

  Lines in = l;  // elements times the chirp, and zeros
  write(in, x);
  in.conjugate_out = false, in.scale = 1, in.factor = Multiplier::chirp, in.chirp = l.n;
  if (l.kind == FftKind::from_real) in.kind = FftKind::complex, in.inner = 1;
  map_lines(backend, in);
  Lines between{.op = l.op, .space = l.space, .axis = l.axis, .n = length};
  read(between, x), write(between, y);
  plain(backend, between);
  Lines product = between;
  read(product, y), write(product, x);
  product.factor = Multiplier::kernel, product.table_re = b.re, product.table_im = b.im;
  for (View* v : {&product.table_re, &product.table_im}) {
    v->strides = x.strides;
    for (int i = 0; i < l.space.rank(); ++i)
      if (i != l.axis) v->strides[static_cast<std::size_t>(i)] = 0;
  }
  map_lines(backend, product);
  between.conjugate_in = between.conjugate_out = true;
  plain(backend, between);
  Lines out = l;
  read(out, y);
  out.conjugate_in = false, out.factor = Multiplier::chirp, out.chirp = l.n;
  if (l.kind == FftKind::to_real) out.kind = FftKind::complex, out.inner = 1;
  map_lines(backend, out);
}

/// Long lines that are no plain ones become such on their way in, or out.
void long_lines(GpuBackend& backend, const Lines& l) {
  const bool plain_in = l.kind != FftKind::to_real && l.im.storage && l.given >= l.n;
  const bool plain_out = l.kind != FftKind::from_real && l.out_im.storage && l.wanted == l.n;
  std::unique_ptr<Temporary> x, y;
  Lines middle = l;
  middle.kind = FftKind::complex, middle.inner = 1;
  if (!plain_in) {
    x = std::make_unique<Temporary>(backend, l.space, l.axis, l.n, l.re.dtype);
    Lines in = l;
    write(in, *x);
    in.conjugate_out = false, in.scale = 1;
    if (l.kind == FftKind::from_real) in.kind = FftKind::complex, in.inner = 1;
    map_lines(backend, in);
    read(middle, *x), middle.conjugate_in = false;
  }
  if (!plain_out) {
    y = std::make_unique<Temporary>(backend, l.space, l.axis, l.n, l.re.dtype);
    write(middle, *y), middle.conjugate_out = false, middle.scale = 1;
  }
  in_steps(backend, middle);
  if (plain_out) return;
  Lines out = l;
  read(out, *y);
  out.conjugate_in = false;
  if (l.kind == FftKind::to_real) out.kind = FftKind::complex, out.inner = 1;
  map_lines(backend, out);
}

void run(GpuBackend& backend, const FftRequest& r) {
  const auto axis = static_cast<std::size_t>(r.axis);
  Lines l{.op = r.op, .kind = r.kind, .space = r.output_space, .axis = r.axis, .n = r.n};
  l.given = r.input_space[axis], l.wanted = r.output_space[axis];
  l.re = r.re, l.im = r.im, l.out_re = r.out_re, l.out_im = r.out_im;
  l.conjugate_in = l.conjugate_out = r.backward, l.scale = r.scale, l.inner = r.inner;
  if (l.wanted == 0 || by_library(backend, l)) return;
  if (!detail::has_only_factors(kKernelPrimes, l.n)) convolve(backend, l);
  else if (l.n <= most_elements(backend, l.re.dtype)) transform_lines(backend, l);
  else long_lines(backend, l);
}

/// Halves of a request whose views a kernel cannot see whole.
void run_what_fits(GpuBackend& backend, const FftRequest& r) {
  bool fits = true, fits_out = true;
  int axis = axis_to_halve(backend, r.input_space, r.axis, {&r.re, &r.im}, fits);
  const int of_output = axis_to_halve(backend, r.output_space, r.axis, {&r.out_re, &r.out_im}, fits_out);
  if (fits && fits_out) return run(backend, r);
  if (axis < 0) axis = of_output;
  if (axis < 0) too_long(backend, r.op);
  const auto a = static_cast<std::size_t>(axis);
  FftRequest first = r, second = r;
  const std::int64_t half = r.input_space[a] / 2;
  first.input_space[a] = first.output_space[a] = half;
  second.input_space[a] = second.output_space[a] = r.input_space[a] - half;
  for (View* v : {&second.re, &second.im, &second.out_re, &second.out_im})
    if (v->storage) v->offset += half * v->strides[a];
  run_what_fits(backend, first), run_what_fits(backend, second);
}

/// Along two axes at once where the library takes them so.
void run_both(GpuBackend& backend, const FftRequest& r) {
  bool fits = true, fits_out = true;
  axis_to_halve(backend, r.input_space, r.axis, {&r.re, &r.im}, fits);
  axis_to_halve(backend, r.output_space, r.axis, {&r.out_re, &r.out_im}, fits_out);
  if (fits && fits_out && both_by_library(backend, r)) return;
  run_what_fits(backend, r.first_alone()), run_what_fits(backend, r.second_alone());
}

}  // namespace
}  // namespace fft

void fft_on_gpu(GpuBackend& backend, const FftRequest& r) {
  backend.require_supported(r.op, r.re.dtype);
  if (r.lines() == 0) return;
  if (std::max(r.n, r.second < 0 ? 0 : r.second_alone().n) > fft::kLongest)
    throw Error(ErrorKind::unsupported,
                cat(r.op, ": lines of more than 2^27 elements are not transformed on ", backend.device().to_string()));
  backend.run_prepared(r, [&] { r.second < 0 ? fft::run_what_fits(backend, r) : fft::run_both(backend, r); });
}

}  // namespace tern::detail_gpu
