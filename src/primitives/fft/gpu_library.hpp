// Lines by the library of a GPU's vendor (gpu/transform_library.hpp), where there is one, and what holds lines between
// kernels.
#pragma once
#include <memory>

#include "primitives/fft/gpu_text.hpp"

namespace tern::detail_gpu::fft {

/// Numbers of the device's, one line after the other: the lines of `space` but for the axis, of n complex numbers each,
/// or of n real ones, whose `im` has no storage.
struct Temporary {
  Temporary(GpuBackend& backend, const Shape& space, int axis, std::int64_t n, DType dtype, bool complex = true)
      : n(n) {
    strides.resize(static_cast<std::size_t>(space.rank()));
    const std::int64_t parts = complex ? 2 : 1;
    std::int64_t step = parts * n;
    for (int i = space.rank() - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      strides[at] = i == axis ? parts : step;
      if (i != axis) step *= space[at];
    }
    storage = backend.temporary(step, dtype);
    re = {storage.get(), dtype, 0, strides};
    if (complex) im = {storage.get(), dtype, 1, strides};
  }
  std::int64_t n;
  std::shared_ptr<Storage> storage;
  Strides strides;
  View re, im;
};

/// The elements in `from`, and where they go.
inline void read(Lines& l, const Temporary& from) { l.re = from.re, l.im = from.im, l.given = from.n; }
inline void write(Lines& l, const Temporary& to) { l.out_re = to.re, l.out_im = to.im, l.wanted = to.n; }

/// Queues the transform of lines by the vendor's library; false, having done nothing, where there is none or it does
/// not pay.
bool by_library(GpuBackend& backend, const Lines& l);
/// The same of a request along two axes, which all fits a kernel.
bool both_by_library(GpuBackend& backend, const detail::FftRequest& r);

}  // namespace tern::detail_gpu::fft
