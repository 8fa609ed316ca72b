// The library takes lines where they are, if they lie evenly apart and complex numbers are whole; else they are copied
// to memory where they do, by the kernel that changes elements and layouts (map_lines). That kernel also scales, which
// the library does not: on the way in where there is a copy anyhow, or else in place behind it.
#include "primitives/fft/gpu_library.hpp"

#include <array>
#include <optional>

#include "backend/instruments/trace.hpp"
#include "gpu/transform_library.hpp"

namespace tern::detail_gpu::fft {

namespace {

/// Where lines begin, and how far apart elements and lines are: in complex numbers where there are imaginary parts.
struct Lie {
  Storage* storage;
  std::int64_t first;  // bytes
  std::int64_t step, distance;
};

/// How the lines of a view lie; none where the library cannot take them so.
std::optional<Lie> lie_of(const View& re, const View& im, const Shape& space, int axis) {
  const std::int64_t parts = im.storage ? 2 : 1, size = static_cast<std::int64_t>(dtype_size(re.dtype));
  Lie lie{re.storage, re.offset * size, re.strides[static_cast<std::size_t>(axis)], 0};
  // Reals must be as aligned as complex numbers, as PyTorch's calls of cuFFT have it.
  if ((reinterpret_cast<std::intptr_t>(re.storage->data()) + lie.first) % (2 * size) != 0) return std::nullopt;
  if (im.storage && (im.storage != re.storage || im.offset != re.offset + 1)) return std::nullopt;
  std::int64_t next = 0;  // what the axis outside is to step by
  for (int i = space.rank(); i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    if (i == axis || space[at] == 1) continue;
    if (next == 0) lie.distance = re.strides[at];
    else if (re.strides[at] != next) return std::nullopt;
    next = re.strides[at] * space[at];
    if (next <= 0) return std::nullopt;
  }
  if (lie.step <= 0 || lie.step % parts != 0 || lie.distance % parts != 0) return std::nullopt;
  lie.step /= parts, lie.distance /= parts;
  if (next == 0) lie.distance = space[static_cast<std::size_t>(axis)];  // of one line
  return lie;
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
  bool run() {
    std::unique_ptr<Temporary> x, y;
    LineTransforms lines{l_.kind, l_.re.dtype == DType::f64, l_.kind == FftKind::complex && l_.conjugate_in, l_.n,
                         l_.count()};
    const bool reals_in = l_.kind == FftKind::from_real, reals_out = l_.kind == FftKind::to_real;
    const std::int64_t elements = reals_out ? half_ : l_.n;
    if (copies_in_) in_ = Lie{nullptr, 0, 1, elements};
    if (copies_out_) out_ = Lie{nullptr, 0, 1, results()};
    lines.in_step = in_->step, lines.in_distance = in_->distance;
    lines.out_step = out_->step, lines.out_distance = out_->distance;
    if (!library_.takes(lines)) return false;
    if (copies_in_) {
      x = std::make_unique<Temporary>(backend_, l_.space, l_.axis, elements, l_.re.dtype, !reals_in);
      in_->storage = x->storage.get(), copy_in(*x);
    }
    if (copies_out_) {
      y = std::make_unique<Temporary>(backend_, l_.space, l_.axis, results(), l_.re.dtype, !reals_out);
      out_->storage = y->storage.get();
    }
    transform(lines);
    if (copies_out_) copy_out(*y);
    else if (!copies_in_ && l_.scale != 1) scale();
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
  void scale() const {
    Lines all{.op = l_.op, .space = l_.space, .axis = l_.axis, .n = l_.wanted, .given = l_.wanted, .wanted = l_.wanted};
    all.re = all.out_re = l_.out_re, all.im = all.out_im = l_.out_im, all.scale = l_.scale;
    map_lines(backend_, all);
  }
  /// Queues it, and writes down how to do so again with other memory.
  void transform(const LineTransforms& lines) const {
    const std::array<Storage*, 2> used{in_->storage, out_->storage};
    const auto call = [&library = library_, lines, in = in_->first,
                       out = out_->first](std::span<Storage* const> storages) {
      library.transform(lines, static_cast<std::byte*>(storages[0]->data()) + in,
                        static_cast<std::byte*>(storages[1]->data()) + out);
    };
    call(used);
    if (Preparing* const preparing = Preparing::current()) preparing->called(used, call);
  }

  GpuBackend& backend_;
  TransformLibrary& library_;
  const Lines& l_;
  std::int64_t half_;
  std::optional<Lie> in_, out_;
  bool copies_in_ = false, copies_out_ = false;
};

/// Whether it pays where lines are to be taken by one launch of ours.
bool pays(const Lines&) { return true; }

}  // namespace

bool by_library(GpuBackend& backend, const Lines& l) {
  if (l.n < 2 || !pays(l)) return false;
  if (l.kind != FftKind::complex && l.conjugate_in != (l.kind == FftKind::to_real)) return false;
  std::string reason;
  TransformLibrary* const library = backend.transform_library(reason);
  const bool taken = library && ByLibrary(backend, *library, l).run();
  if (detail::tracing() && (taken || !reason.empty())) detail::note(taken ? library->name() : reason);
  return taken;
}

}  // namespace tern::detail_gpu::fft
