// What Fourier transforms on the CPU ask of each SIMD target: one plain table of function pointers. The kernels
// (lanes-inl.h) transform as many lines as a vector has lanes, one line a lane.
//
// Lines under way lie in a *block*: row i has the real parts of element i of every line, and behind them the imaginary
// parts, [row][2][lanes].
#pragma once
#include <cstdint>

namespace tern::detail_cpu::fft {

inline constexpr int kMostLines = 16;
/// Lengths have no other prime factors than these; others are convolutions (cpu_plan.hpp).
inline constexpr int kPrimes[] = {2, 3, 5, 7, 11, 13};

/// One pass of Stockham's algorithm: m · s transforms of `radix` elements, x(q + s(p + m·j)) to y(q + s(radix·p + k)),
/// which it multiplies by the root to the power of p·k. `twiddles`: (radix - 1) complex numbers for each p; `roots`: of
/// the radix, which passes of an odd radix over 5 read.
template <class T> struct Pass {
  int radix;
  std::int64_t m, s;
  const T *twiddles, *roots;
};

/// Where the lines of a block lie: element i of lane l at re[offsets[l] + i · stride]. Real lines have no `im`. Rows
/// from `re_rows` (`im_rows`) on are zeros, or are not stored. `swap`: the parts change places on the way, which makes
/// a transform its inverse.
template <class T> struct LineView {
  T *re, *im;
  const std::int64_t* offsets;
  std::int64_t stride, re_rows, im_rows;
  int count;
  bool swap = false;
};

/// How columns of a long line go into the buffer where they are rows (cpu_line.cpp): times
/// base(row) · table(row, lane).
template <class T> struct ColumnTwiddles {
  const T *table, *base;  // table a block; base null for none
  T* to;                  // lane l, row i at to + l · pitch + 2 · i
  std::int64_t pitch;
  int count;
};

template <class T> struct LineKernels {
  int lanes;
  /// Transforms the block x, forward; the result is where it says, x or y.
  T* (*transform)(const Pass<T>* passes, int count, T* x, T* y);
  void (*load)(const LineView<const T>& from, std::int64_t rows, T* block);
  void (*store)(const T* block, std::int64_t rows, T scale, const LineView<T>& to);
  void (*twiddle_columns)(const T* block, std::int64_t rows, const ColumnTwiddles<T>& how);
  /// Row i times the complex number i; `conj`: and then its conjugate.
  void (*scale_rows)(T* block, std::int64_t rows, const T* by, bool conj);
  /// Of half + 1 rows: the transform of n = 2 · half real elements from that of pairs of them; roots of n, half + 1.
  void (*from_pairs)(T* block, std::int64_t half, const T* roots, T inner);
  /// The way back, with its result's parts swapped: for an inverse transform by a forward one.
  void (*to_pairs)(T* block, std::int64_t half, const T* roots, T inner);
  /// y = a · b, or its conjugate, of complex numbers one after the other.
  void (*multiply)(const T* a, const T* b, T* y, std::int64_t count, bool conj);
};

struct AllLineKernels {
  LineKernels<float> f32;
  LineKernels<double> f64;
};
/// Those of the SIMD target in use.
const AllLineKernels& line_kernels();
template <class T> const LineKernels<T>& line_kernels_of() {
  if constexpr (sizeof(T) == 4) return line_kernels().f32;
  else return line_kernels().f64;
}

}  // namespace tern::detail_cpu::fft
