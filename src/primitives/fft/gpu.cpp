// Fourier transforms on GPUs: lines that a workgroup holds by one launch (gpu_text.cpp), longer ones as a matrix,
// columns and then rows (cpu_line.cpp has the picture), columns perhaps likewise, and lengths with large prime factors
// as a convolution with a chirp. Where the vendor has a library for it, it comes first (gpu_library.cpp).
#include <algorithm>
#include <cmath>
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

/// Lines that are one of several steps: of up to so many elements, a workgroup has several beside each other, which are
/// read and written in pieces of 64 bytes or more.
constexpr std::int64_t kLongestOfSteps = 512;

template <class List> List without(const List& list, int axis) {
  List rest;
  for (int i = 0; i < static_cast<int>(list.size()); ++i)
    if (i != axis) rest.push_back(list[static_cast<std::size_t>(i)]);
  return rest;
}
template <class List> List in_front(std::int64_t first, const List& list) {
  List all;
  all.push_back(first);
  for (const std::int64_t each : list) all.push_back(each);
  return all;
}
/// With the axis as two, of which the first stands before all others or after them, and the second last.
template <class List> List in_two(const List& list, int axis, bool before, std::int64_t first, std::int64_t second) {
  List parts = without(list, axis);
  if (before) parts = in_front(first, parts);
  else parts.push_back(first);
  parts.push_back(second);
  return parts;
}

/// The factor that rows have: at most `most`, and near to what makes as few steps as alike as they can be.
std::int64_t rows_of(std::int64_t n, std::int64_t most) {
  most = std::min(most, kLongestOfSteps);
  const double bits = std::log2(static_cast<double>(n));
  const double wanted = bits / std::ceil(bits / std::log2(static_cast<double>(most)));
  const auto off = [&](std::int64_t f) { return std::abs(std::log2(static_cast<double>(f)) - wanted); };
  std::int64_t best = 1;
  for (std::int64_t f = 2; f <= most; ++f)
    if (n % f == 0 && off(f) < off(best)) best = f;
  return best;
}

/// Whether elements of another axis are nearer in memory than a line's.
bool lie_apart(const Lines& l, const View& v) {
  const std::int64_t step = std::abs(v.strides[static_cast<std::size_t>(l.axis)]);
  for (std::size_t i = 0; i < v.strides.size(); ++i)
    if (l.space[i] > 1 && std::abs(v.strides[i]) < step) return true;
  return false;
}

/// Two launches are quicker where a workgroup would read few lines beside each other: 4096 of 1024 in c64, of columns,
/// by one 180 us and by two 77 (WebGPU, H200, 29 November 2026).
bool in_one_launch(GpuBackend& backend, const Lines& l) {
  if (l.n > most_elements(backend, l.re.dtype)) return false;
  if (l.n <= kLongestOfSteps || l.kind != FftKind::complex) return true;
  return !lie_apart(l, l.re) || !lie_apart(l, l.out_re);
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
  const bool apart = lie_apart(l, l.re), across = apart && lie_apart(l, l.out_re);
  const int last = l.space.rank();
  Lines first = l;
  first.space = in_two(l.space, l.axis, apart, n2, n1);
  for (View* v : {&first.re, &first.im}) v->strides = in_two(v->strides, l.axis, apart, step, n2 * step);
  Lines second = l;
  second.space = in_two(l.space, l.axis, across, n1, n2);
  for (View* v : {&second.out_re, &second.out_im})
    v->strides = in_two(v->strides, l.axis, across, out_step, n1 * out_step);
  // What lies between: other axes' elements beside each other where they are so before and after, else columns'.
  const Shape lies = across ? in_front(n2, in_front(n1, without(l.space, l.axis))) : first.space;
  const Temporary between(backend, lies, last, lies[static_cast<std::size_t>(last)], l.re.dtype);
  const int rows = apart ? 0 : last - 1, columns = across ? 1 : last;
  const Strides others = without(without(between.strides, std::max(rows, columns)), std::min(rows, columns));
  const std::int64_t row = between.strides[static_cast<std::size_t>(rows)],
                     column = between.strides[static_cast<std::size_t>(columns)];
  write(first, between), read(second, between);
  first.out_re.strides = first.out_im.strides = in_two(others, -1, apart, row, column);
  second.re.strides = second.im.strides = in_two(others, -1, across, column, row);
  first.axis = last, first.n = first.given = first.wanted = n1, first.conjugate_out = false, first.scale = 1;
  plain(backend, first);
  second.axis = last, second.n = second.given = second.wanted = n2, second.conjugate_in = false;
  second.modulus = l.n, second.columns = n1, second.columns_first = across;
  transform_lines(backend, second);
}
void plain(GpuBackend& backend, const Lines& l) {
  in_one_launch(backend, l) ? transform_lines(backend, l) : in_steps(backend, l);
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
  else if (in_one_launch(backend, l)) transform_lines(backend, l);
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
