// Kernels of Fourier transforms as text, in what the GPU languages share (dialect.hpp).
#pragma once
#include <string>
#include <vector>

#include "gpu/plan/lines.hpp"
#include "primitives/fft/fft.hpp"

namespace tern::detail_gpu::fft {

using detail::FftKind;

/// What elements are multiplied by on their way through a kernel that transforms nothing.
enum class Multiplier : int { none, chirp, chirp_alone, kernel };

/// Lines on their way through one kernel: of `given` elements, as request.kind says, to `wanted` of them.
struct Lines {
  const char* op = "";
  FftKind kind = FftKind::complex;
  Shape space;  // what it says along the axis does not matter
  int axis = 0;
  std::int64_t n = 0;  // elements between: those of a transform
  std::int64_t given = 0, wanted = 0;
  View re = {}, im = {}, out_re = {}, out_im = {};
  bool conjugate_in = false, conjugate_out = false;
  double scale = 1, inner = 1;
  /// Element i of a line of column c is first multiplied by the root of `modulus` to the power of c · i; 0: is not.
  /// Columns are the last of the other axes, or the first of all.
  std::int64_t modulus = 0, columns = 0;
  bool columns_first = false;
  Multiplier factor = Multiplier::none;
  std::int64_t chirp = 0;  // the length of the chirp
  View table_re = {}, table_im = {};

  /// By which results are multiplied that have a mirror image.
  double inner_of_results() const { return kind == FftKind::from_real ? inner : 1; }
  std::int64_t count() const {
    std::int64_t lines = 1;
    for (int i = 0; i < space.rank(); ++i)
      if (i != axis) lines *= space[static_cast<std::size_t>(i)];
    return lines;
  }
};

/// Elements that a workgroup's memory holds: the longest line of one launch.
std::int64_t most_elements(const GpuBackend& backend, DType dtype);
/// The prime factors that the lengths of one launch may have.
inline constexpr int kKernelPrimes[] = {2, 3, 5, 7};
/// Queues the transform of lines of up to most_elements().
void transform_lines(GpuBackend& backend, const Lines& lines);
/// Queues the kernel that multiplies elements, and changes how they lie.
void map_lines(GpuBackend& backend, const Lines& lines);

}  // namespace tern::detail_gpu::fft
