// Fourier transforms of lines by the library of a GPU's vendor.
#pragma once
#include <cstdint>

#include "primitives/fft/fft.hpp"

namespace tern::detail_gpu {

/// Lines of one length in the device's memory, `count` of them. Steps along a line and distances from one line to the
/// next are in elements of what lies there: complex numbers with their parts side by side, or real ones.
struct LineTransforms {
  detail::FftKind kind = detail::FftKind::complex;
  bool wide = false;      // of f64
  bool backward = false;  // of complex lines: the other kinds have one direction each
  std::int64_t n = 0, count = 1;
  std::int64_t in_step = 1, in_distance = 0, out_step = 1, out_distance = 0;
  /// Where rows > 0, complex lines are rows of that many each, and what has been transformed is so along the columns
  /// too; from one row to the next it is so many steps.
  std::int64_t rows = 0, in_row = 0, out_row = 0;
  bool operator==(const LineTransforms&) const = default;
};

/// Queues transforms, unscaled, behind what was queued before.
class TransformLibrary {
 public:
  virtual ~TransformLibrary() = default;
  virtual const char* name() const = 0;
  /// Whether it transforms such lines.
  virtual bool takes(const LineTransforms& lines) = 0;
  /// Of lines that it takes. `in` may be spoilt where it is of halves of spectra.
  virtual void transform(const LineTransforms& lines, void* in, void* out) = 0;
};

}  // namespace tern::detail_gpu
