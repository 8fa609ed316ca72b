// Fourier transforms on GPUs: lines that a workgroup holds by one launch (gpu_text.cpp), longer ones as a matrix,
// columns and then rows (cpu_line.cpp has the picture), columns perhaps likewise, and lengths with large prime factors
// as a convolution with a chirp. Real lines are complex ones of half the length. What else is done to elements is done
// where a launch reads or writes them anyhow. Where the vendor has a library for it, it comes first (gpu_library.cpp).
#include <algorithm>
#include <array>
#include <cmath>

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
  if (l.n <= kLongestOfSteps || (l.kind == FftKind::to_real && l.halves == Halves::none)) return true;
  return !lie_apart(l, l.re) || !lie_apart(l, l.out_re);
}

void plain(GpuBackend& backend, const Lines& l);

void in_steps(GpuBackend& backend, const Lines& l);

/// All views of lines that are read, and those written.
std::array<View*, 6> views_in(Lines& l) { return {&l.re, &l.im, &l.mirror_re, &l.mirror_im, &l.table_re, &l.table_im}; }
std::array<View*, 2> views_out(Lines& l) { return {&l.out_re, &l.out_im}; }

/// Place i of one of the other axes after the other, without that axis.
void in_steps_by_place(GpuBackend& backend, const Lines& l) {
  const auto counts = [&](int axis) {
    const auto is = [&](const Numbering::Weighted& part) { return part.axis == axis; };
    return axis == l.axis || std::ranges::any_of(l.from.parts, is) || std::ranges::any_of(l.to.parts, is);
  };
  int without_number = 0;
  while (counts(without_number)) ++without_number;
  const auto other = static_cast<std::size_t>(without_number);
  Lines part = l;
  part.axis = l.axis - (static_cast<int>(other) < l.axis);
  part.space = Shape();
  for (std::size_t a = 0; a < static_cast<std::size_t>(l.space.rank()); ++a)
    if (a != other) part.space.push_back(l.space[a]);
  for (Numbering* const numbers : {&part.from, &part.to})
    for (Numbering::Weighted& each : numbers->parts) each.axis -= without_number < each.axis;
  Lines all = l;
  const auto each_view = [&](const auto& visit) {
    for (std::size_t k = 0; k < 6; ++k) visit(*views_in(all)[k], *views_in(part)[k]);
    for (std::size_t k = 0; k < 2; ++k) visit(*views_out(all)[k], *views_out(part)[k]);
  };
  each_view([&](const View& from, View& to) {
    if (from.storage) to.strides = without(from.strides, without_number);
  });
  for (std::int64_t i = 0; i < l.space[other]; ++i) {
    each_view([&](const View& from, View& to) {
      if (from.storage) to.offset = from.offset + i * from.strides[other];
    });
    in_steps(backend, part);
  }
}

/// The numbers of elements whose axis has become two, of which `weight` counts the first: parts of other axes stand
/// where in_two() has put these.
Numbering numbers_in_two(const Numbering& whole, const Lines& l, bool before, std::int64_t columns, std::int64_t n) {
  Numbering numbers = whole;
  numbers.each = whole.each * columns;
  numbers.whole = whole.whole ? whole.whole : n, numbers.covered = whole.covered ? whole.covered : n;
  for (Numbering::Weighted& part : numbers.parts) part.axis += (before ? 1 : 0) - (l.axis < part.axis ? 1 : 0);
  numbers.parts.push_back({before ? 0 : l.space.rank() - 1, whole.each});
  return numbers;
}

/// Of lines whose results are complex, or real but for halves of spectra that are to become whole.
void in_steps(GpuBackend& backend, const Lines& l) {
  if (l.space.rank() == kMaxRank) return in_steps_by_place(backend, l);  // an axis more has no room
  const std::int64_t n2 = rows_of(l.n, most_elements(backend, l.re.dtype)), n1 = l.n / n2;
  const auto along = static_cast<std::size_t>(l.axis);
  const std::int64_t out_step = l.out_re.strides[along];
  const bool apart = lie_apart(l, l.re), across = apart && lie_apart(l, l.out_re);
  const int last = l.space.rank();
  Lines first = l;
  first.space = in_two(l.space, l.axis, apart, n2, n1);
  for (View* const v : views_in(first)) {
    if (!v->storage) continue;
    const std::int64_t step = v->strides[along];
    const bool is_table = v == &first.table_re || v == &first.table_im;  // has the whole number as its index
    v->strides = in_two(v->strides, l.axis, apart, is_table ? 0 : step, is_table ? step : n2 * step);
  }
  first.from = numbers_in_two(l.from, l, apart, n2, l.n);
  Lines second = l;
  second.space = in_two(l.space, l.axis, across, n1, n2);
  for (View* const v : views_out(second))
    if (v->storage) v->strides = in_two(v->strides, l.axis, across, out_step, n1 * out_step);
  second.to = numbers_in_two(l.to, l, across, n1, l.n);
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
  first.axis = last, first.n = first.wanted = n1, first.conjugate_out = first.chirped = false, first.scale = 1;
  first.kind = l.kind == FftKind::to_real ? l.kind : FftKind::complex, first.to = {};
  plain(backend, first);
  second.axis = last, second.n = second.given = n2, second.conjugate_in = false;
  second.kind = l.kind == FftKind::to_real ? FftKind::complex : l.kind, second.from = {};
  second.halves = Halves::none, second.mirror_re = second.mirror_im = second.table_re = second.table_im = {};
  second.factor = Multiplier::none;
  second.modulus = l.n, second.columns = across ? 0 : last - 1;
  transform_lines(backend, second);
}
void plain(GpuBackend& backend, const Lines& l) {
  in_one_launch(backend, l) ? transform_lines(backend, l) : in_steps(backend, l);
}

/// Of lines in two launches: the first does what is done to elements on their way in, and hands on complex numbers.
void keep_way_in(Lines& l) {
  l.conjugate_out = false, l.scale = 1;
  if (l.kind == FftKind::from_real) l.kind = FftKind::complex, l.inner = 1;
}
/// The second does what is done on their way out.
void keep_way_out(Lines& l) {
  l.conjugate_in = false, l.halves = Halves::none, l.mirror_re = l.mirror_im = {};
  if (l.kind == FftKind::to_real) l.kind = FftKind::complex, l.inner = 1;
}

/// Calls then(lines) with these as they are, or, where halves of spectra are given and `whole` numbers are wanted, with
/// a copy of which all are there.
template <class Then> void with_whole(GpuBackend& backend, const Lines& l, bool whole, const Then& then) {
  if (l.kind != FftKind::to_real || l.halves == Halves::joined || !whole) return then(l);
  const Temporary x(backend, l.space, l.axis, l.n, l.re.dtype);
  Lines in = l, rest = l;
  write(in, x), keep_way_in(in);
  map_lines(backend, in);
  read(rest, x), keep_way_out(rest);
  then(rest);
}

/// A chirp's convolution, in lines of a power of two: the transform of the elements times the chirp, and back from its
/// product with the chirp's.
void convolve(GpuBackend& backend, const Lines& given) {
  std::int64_t length = 4;
  while (length < 2 * given.n - 1) length *= 2;
  const DType dtype = given.re.dtype;
  const Shape one{1, length};
  const Temporary a(backend, one, 1, length, dtype), b(backend, one, 1, length, dtype);
  Lines kernel{.op = given.op, .space = one, .axis = 1, .n = length};
  read(kernel, a), write(kernel, b);
  kernel.given = 0, kernel.factor = Multiplier::chirp_alone, kernel.chirp = given.n;
  kernel.conjugate_out = true, kernel.scale = 1 / static_cast<double>(length);
  plain(backend, kernel);

  with_whole(backend, given, length > most_elements(backend, dtype), [&](const Lines& l) {
    const Temporary x(backend, l.space, l.axis, length, dtype);
    Lines in = l;
    write(in, x), keep_way_in(in);
    in.n = length, in.from.whole = l.whole_in(), in.from.covered = length;
    in.factor = Multiplier::chirp, in.chirp = l.n;
    plain(backend, in);
    Lines out = l;
    read(out, x), keep_way_out(out);
    out.n = length, out.to.whole = l.whole_out(), out.to.covered = length;
    out.conjugate_in = out.chirped = true, out.chirp = l.n;
    out.factor = Multiplier::kernel, out.table_re = b.re, out.table_im = b.im;
    for (View* const v : {&out.table_re, &out.table_im}) {
      v->strides = x.strides;
      for (int i = 0; i < l.space.rank(); ++i)
        if (i != l.axis) v->strides[static_cast<std::size_t>(i)] = 0;
    }
    plain(backend, out);
  });
}

/// Lines of any length. What lies behind the results of those that no launch takes alone is written by one of its own.
void transform(GpuBackend& backend, const Lines& l) {
  const bool plain_length = detail::has_only_factors(kKernelPrimes, l.n);
  if (plain_length && in_one_launch(backend, l)) return transform_lines(backend, l);
  if (l.wanted <= l.n) {
    if (!plain_length) return convolve(backend, l);
    return with_whole(backend, l, true, [&](const Lines& whole) { in_steps(backend, whole); });
  }
  const Temporary y(backend, l.space, l.axis, l.n, l.re.dtype);
  Lines middle = l, out = l;
  write(middle, y), keep_way_in(middle);
  transform(backend, middle);
  read(out, y), keep_way_out(out), out.from = {};
  map_lines(backend, out);
}

/// Every second element along an axis, from the first or the next one on.
View every_second(View v, int axis, std::int64_t first) {
  std::int64_t& step = v.strides[static_cast<std::size_t>(axis)];
  v.offset += first * step, step *= 2;
  return v;
}
/// From element `last` on backwards.
View backwards(View v, int axis, std::int64_t last) {
  if (!v.storage) return v;
  std::int64_t& step = v.strides[static_cast<std::size_t>(axis)];
  v.offset += last * step, step = -step;
  return v;
}

/// Real lines as complex ones of half as many elements, if these are whole numbers of such; false, having done nothing,
/// where they are not.
bool by_halves(GpuBackend& backend, const Lines& l) {
  const bool from_real = l.kind == FftKind::from_real;
  const std::int64_t half = l.n / 2, reals = from_real ? std::min(l.given, l.n) : l.wanted;
  const View& other = from_real ? l.im : l.out_im;
  if (l.kind == FftKind::complex || l.n % 2 != 0 || l.n < 4 || other.storage) return false;
  if (reals % 2 != 0 || reals == 0 || reals > l.n) return false;
  Lines halves = l;
  halves.n = half;
  if (!from_real) {
    halves.halves = Halves::joined, halves.from.whole = l.n, halves.from.covered = half, halves.wanted = reals / 2;
    halves.mirror_re = backwards(l.re, l.axis, half), halves.mirror_im = backwards(l.im, l.axis, half);
    halves.out_re = every_second(l.out_re, l.axis, 0), halves.out_im = every_second(l.out_re, l.axis, 1);
    halves.conjugate_out = false;
    transform(backend, halves);
    return true;
  }
  halves.given = reals / 2, halves.conjugate_in = false;
  halves.re = every_second(l.re, l.axis, 0), halves.im = every_second(l.re, l.axis, 1);
  Lines out = halves;
  out.halves = Halves::separated, out.to.whole = l.n, out.scale = l.scale / 2;
  if (detail::has_only_factors(kKernelPrimes, half) && l.wanted <= half + 1 && in_one_launch(backend, halves)) {
    transform_lines(backend, out);
    return true;
  }
  const Temporary y(backend, l.space, l.axis, half, l.re.dtype);
  write(halves, y), keep_way_in(halves);
  transform(backend, halves);
  read(out, y);
  out.from.whole = l.n;
  out.mirror_re = backwards(y.re, l.axis, half), out.mirror_im = backwards(y.im, l.axis, half);
  map_lines(backend, out);
  return true;
}

void run(GpuBackend& backend, const FftRequest& r) {
  const auto axis = static_cast<std::size_t>(r.axis);
  Lines l{.op = r.op, .kind = r.kind, .space = r.output_space, .axis = r.axis, .n = r.n};
  l.given = r.input_space[axis], l.wanted = r.output_space[axis];
  l.re = r.re, l.im = r.im, l.out_re = r.out_re, l.out_im = r.out_im;
  l.conjugate_in = l.conjugate_out = r.backward, l.scale = r.scale, l.inner = r.inner;
  if (l.wanted == 0 || by_library(backend, l)) return;
  if (!by_halves(backend, l)) transform(backend, l);
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
