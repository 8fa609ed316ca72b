// The library takes lines where they are, if they lie evenly apart and complex numbers are whole; else they are copied
// to memory where they do, by the kernel that changes elements and layouts (map_lines). That kernel also scales, which
// the library does not: on the way in where there is a copy anyhow, or else in place behind it.
#include "primitives/fft/gpu_library.hpp"

#include <array>
#include <bit>
#include <optional>

#include "backend/instruments/trace.hpp"
#include "gpu/transform_library.hpp"
#include "primitives/fft/factors.hpp"

namespace tern::detail_gpu::fft {

namespace {

/// Where lines begin, and how far apart elements and lines are: in complex numbers where there are imaginary parts.
struct Lie {
  Storage* storage;
  std::int64_t first;  // bytes
  std::int64_t step, distance;
  std::int64_t row = 0;  // steps from one row to the next, where there are two axes
};

/// How the lines of a view lie along an axis, and, where `second` is one, how those are rows of columns along that.
/// None where the library cannot take them so.
std::optional<Lie> lie_of(const View& re, const View& im, const Shape& space, int axis, int second = -1) {
  const std::int64_t parts = im.storage ? 2 : 1, size = static_cast<std::int64_t>(dtype_size(re.dtype));
  Lie lie{re.storage, re.offset * size, re.strides[static_cast<std::size_t>(axis)], 0};
  // Reals must be as aligned as complex numbers, as PyTorch's calls of cuFFT have it.
  if ((reinterpret_cast<std::intptr_t>(re.storage->data()) + lie.first) % (2 * size) != 0) return std::nullopt;
  if (im.storage && (im.storage != re.storage || im.offset != re.offset + 1)) return std::nullopt;
  std::int64_t next = 0;  // what the axis outside is to step by
  for (int i = space.rank(); i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    if (i == axis || i == second || space[at] == 1) continue;
    if (next == 0) lie.distance = re.strides[at];
    else if (re.strides[at] != next) return std::nullopt;
    next = re.strides[at] * space[at];
    if (next <= 0) return std::nullopt;
  }
  if (lie.step <= 0 || lie.step % parts != 0 || lie.distance % parts != 0) return std::nullopt;
  if (second >= 0) {  // rows lie in wider ones
    const std::int64_t row = re.strides[static_cast<std::size_t>(second)];
    lie.row = row / lie.step;
    if (row % lie.step != 0 || lie.row < space[static_cast<std::size_t>(axis)]) return std::nullopt;
  }
  lie.step /= parts, lie.distance /= parts;
  return lie;
}

/// Queues it, and writes down how to do so again with other memory.
void transform(TransformLibrary& library, const LineTransforms& lines, const Lie& from, const Lie& to) {
  const std::array<Storage*, 2> used{from.storage, to.storage};
  const auto call = [&library, lines, in = from.first, out = to.first](std::span<Storage* const> storages) {
    library.transform(lines, static_cast<std::byte*>(storages[0]->data()) + in,
                      static_cast<std::byte*>(storages[1]->data()) + out);
  };
  call(used);
  if (Preparing* const preparing = Preparing::current()) preparing->called(used, call);
}
/// Of whole complex numbers, in place.
void scale(GpuBackend& backend, const Lines& l) {
  Lines all{.op = l.op, .space = l.space, .axis = l.axis, .n = l.wanted, .given = l.wanted, .wanted = l.wanted};
  all.re = all.out_re = l.out_re, all.im = all.out_im = l.out_im, all.scale = l.scale;
  map_lines(backend, all);
}

/// Lines of a power of two that are scaled on their way, ifft, for which the library takes a launch more: 65536 of 64
/// in c64 24 us and by the library 38, 4096 of 1024 27 and 37, one of 2^22 71 and 79; in c128 38 to 42 and 73 to 80.
/// And lines that one launch of ours takes, and the library not where they lie, which would be two or three: spectra of
/// real lines among them, which it spoils: 4096 of 1024 in f32 17 and 24, 512 of 8192 by halves 15.4 and 24.6, and one
/// line of any length, 2^22 44.4 and 49.4 (H200, 29 November 2026); but 256 of 16384 32.6 and 26.0. Of other lengths
/// short ones that are scaled, and no spectra: longer ones were not measured.
bool ours_are_better(const GpuBackend& backend, const Lines& l, bool copies_in, bool copies_out) {
  if (!detail::has_only_factors(kKernelPrimes, l.n)) return false;
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(l.n)), to_real = l.kind == FftKind::to_real;
  const bool in_one = (to_real && power ? l.n / 2 : l.n) <= most_elements(backend, l.re.dtype);
  const bool scaled = l.kind == FftKind::complex && l.scale != 1;
  if (scaled && power && (in_one || l.space.rank() < kMaxRank)) return true;
  if (!in_one) return to_real && power && l.count() == 1;
  if (copies_out || copies_in) return copies_out || power || !to_real;
  return scaled && l.n <= (l.re.dtype == DType::f64 ? 1024 : 256) &&
         l.re.strides[static_cast<std::size_t>(l.axis)] == 2;
}

/// Lines on their way through the library.
class ByLibrary {
 public:
  ByLibrary(GpuBackend& backend, TransformLibrary& library, const Lines& l)
      : backend_(backend), library_(library), l_(l), half_(l.n / 2 + 1) {
    // The library spoils halves of spectra, and reads what the request does not.
    if (l.kind != FftKind::to_real && l.given >= l.n && (l.kind == FftKind::from_real) == !l.im.storage)
      in_ = lie_of(l.re, l.im, l.space, l.axis);
    if (l.wanted == results() && l.inner_of_results() == 1 && (l.kind == FftKind::to_real) == !l.out_im.storage)
      out_ = lie_of(l.out_re, l.out_im, l.space, l.axis);
    copies_in_ = !in_, copies_out_ = !out_;
  }
  /// False, having done nothing, where it does not pay or the library refuses.
  bool run() {
    if (ours_are_better(backend_, l_, copies_in_, copies_out_)) return false;
    std::unique_ptr<Temporary> x, y;
    LineTransforms lines{l_.kind, l_.re.dtype == DType::f64, l_.kind == FftKind::complex && l_.conjugate_in, l_.n,
                         l_.count()};
    const bool reals_in = l_.kind == FftKind::from_real, reals_out = l_.kind == FftKind::to_real;
    const std::int64_t elements = reals_out ? half_ : l_.n;
    if (copies_in_) in_ = Lie{nullptr, 0, 1, elements};
    if (copies_out_) out_ = Lie{nullptr, 0, 1, results()};
    lines.in_step = in_->step, lines.in_distance = in_->distance;
    lines.out_step = out_->step, lines.out_distance = out_->distance;
    if (lines.count == 1) lines.in_distance = lines.out_distance = l_.n;
    if (!library_.takes(lines)) return false;
    if (copies_in_) {
      x = std::make_unique<Temporary>(backend_, l_.space, l_.axis, elements, l_.re.dtype, !reals_in);
      in_->storage = x->storage.get(), copy_in(*x);
    }
    if (copies_out_) {
      y = std::make_unique<Temporary>(backend_, l_.space, l_.axis, results(), l_.re.dtype, !reals_out);
      out_->storage = y->storage.get();
    }
    transform(library_, lines, *in_, *out_);
    if (copies_out_) copy_out(*y);
    else if (!copies_in_ && l_.scale != 1) scale(backend_, l_);
    return true;
  }

 private:
  std::int64_t results() const { return l_.kind == FftKind::from_real ? half_ : l_.n; }

  void copy_in(const Temporary& x) const {
    Lines in = l_;
    write(in, x);
    in.conjugate_in = in.conjugate_out = false;
    if (l_.kind == FftKind::from_real) in.kind = FftKind::complex, in.inner = 1;
    map_lines(backend_, in);
  }
  void copy_out(const Temporary& y) const {
    Lines out = l_;
    read(out, y);
    out.conjugate_in = out.conjugate_out = false;
    if (copies_in_) out.scale = 1;
    if (l_.kind == FftKind::to_real) out.kind = FftKind::complex, out.inner = 1;
    map_lines(backend_, out);
  }
  GpuBackend& backend_;
  TransformLibrary& library_;
  const Lines& l_;
  std::int64_t half_;
  std::optional<Lie> in_, out_;
  bool copies_in_ = false, copies_out_ = false;
};

TransformLibrary* library_of(GpuBackend& backend) {
  std::string reason;
  TransformLibrary* const library = backend.library<TransformLibrary>(reason);
  if (!library && detail::tracing() && !reason.empty()) detail::note(reason);
  return library;
}
bool noted(const TransformLibrary& library) {
  if (detail::tracing()) detail::note(library.name());
  return true;
}

}  // namespace

bool by_library(GpuBackend& backend, const Lines& l) {
  if (l.n < 2 || (l.kind != FftKind::complex && l.conjugate_in != (l.kind == FftKind::to_real))) return false;
  TransformLibrary* const library = library_of(backend);
  return library && ByLibrary(backend, *library, l).run() && noted(*library);
}

bool both_by_library(GpuBackend& backend, const detail::FftRequest& r) {
  TransformLibrary* const library = library_of(backend);
  if (!library || !r.im.storage || !r.out_im.storage) return false;
  int axis = r.axis, rows = r.second;  // whichever is the inner one in memory
  if (r.re.strides[static_cast<std::size_t>(axis)] > r.re.strides[static_cast<std::size_t>(rows)])
    std::swap(axis, rows);
  const auto from = lie_of(r.re, r.im, r.input_space, axis, rows),
             to = lie_of(r.out_re, r.out_im, r.output_space, axis, rows);
  if (!from || !to) return false;
  Lines all{.op = r.op, .space = r.output_space, .axis = axis, .n = r.output_space[static_cast<std::size_t>(axis)]};
  all.wanted = all.n, all.out_re = r.out_re, all.out_im = r.out_im, all.scale = r.scale;
  const std::int64_t count = r.output_space[static_cast<std::size_t>(rows)];
  LineTransforms lines{FftKind::complex, r.re.dtype == DType::f64, r.backward, all.n,       all.count() / count,
                       from->step,       from->distance,           to->step,   to->distance};
  lines.rows = count, lines.in_row = from->row, lines.out_row = to->row;
  if (lines.count == 1) lines.in_distance = lines.out_distance = all.n * count;
  if (all.n < 2 || count < 2 || !library->takes(lines)) return false;
  transform(*library, lines, *from, *to);
  if (r.scale != 1) scale(backend, all);
  return noted(*library);
}

}  // namespace tern::detail_gpu::fft
