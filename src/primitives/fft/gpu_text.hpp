// Kernels of Fourier transforms as text, in what the GPU languages share (dialect.hpp).
#pragma once
#include <string>
#include <vector>

#include "gpu/plan/lines.hpp"
#include "primitives/fft/fft.hpp"

namespace tern::detail_gpu::fft {

using detail::FftKind;

/// What elements are multiplied by on their way in.
enum class Multiplier : int { none, chirp, chirp_alone, kernel };

/// Which element of the whole line each element is that a launch has, where that is one of several steps: number
/// each · e, and of some of the other axes the coordinate times a weight.
struct Numbering {
  struct Weighted {
    int axis;
    std::int64_t weight;
  };
  std::int64_t each = 1;
  std::int64_t whole = 0;    // elements of the line that count; 0: those of the transform
  std::int64_t covered = 0;  // numbers that all launches have together; 0: the same
  std::vector<Weighted> parts = {};
  bool plain() const { return parts.empty() && each == 1; }
};

/// Real lines by complex ones of half the length, whose elements have an even number's real one as their real part and
/// the next as their imaginary one: with w(k) = e^(-2πi·k/n), h = n / 2, of elements k and h - k
///
///   joined, on their way in:       Z(k) = X(k) + X̄(h - k) + i·w(k)·(X(k) - X̄(h - k)),  k < h
///   separated, on their way out: 2·X(k) = Z(k) + Z̄(h - k) - i·w(k)·(Z(k) - Z̄(h - k)),  k ≤ h
enum class Halves : int { none, joined, separated };

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
  Numbering from = {}, to = {};
  Halves halves = Halves::none;
  View mirror_re = {}, mirror_im = {};  // of halves, elements from number h on backwards
  /// Element i of a line of column c is first multiplied by the root of `modulus` to the power of c · i; 0: is not.
  std::int64_t modulus = 0;
  int columns = 0;  // the axis of which c is the coordinate
  /// What elements are multiplied by on their way in, and whether results are conjugated and times the chirp.
  Multiplier factor = Multiplier::none;
  bool chirped = false;
  std::int64_t chirp = 0;  // the length of the chirp
  View table_re = {}, table_im = {};

  std::int64_t whole_in() const { return from.whole ? from.whole : n; }
  std::int64_t whole_out() const { return to.whole ? to.whole : n; }
  std::int64_t rows_in() const { return kind == FftKind::to_real ? whole_in() / 2 + 1 : whole_in(); }
  std::int64_t rows_out() const { return kind == FftKind::from_real ? whole_out() / 2 + 1 : whole_out(); }
  /// By which results are multiplied that have a mirror image.
  double inner_of_results() const { return kind == FftKind::from_real ? inner : 1; }
  std::int64_t count() const { return count_behind(-1); }
  /// Lines from one place of an axis to the next.
  std::int64_t count_behind(int other) const {
    std::int64_t lines = 1;
    for (int i = other + 1; i < space.rank(); ++i)
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
/// Queues the kernel that changes elements, but by factors, and how they lie.
void map_lines(GpuBackend& backend, const Lines& lines);

}  // namespace tern::detail_gpu::fft
