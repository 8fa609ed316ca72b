// What small matrices on the CPU ask of each SIMD target: one plain table of function pointers. The kernels
// (lanes-inl.h) factorise as many matrices as a vector has lanes, one matrix a lane.
//
// Matrices under way lie in a *block*: element (i, j) of all of them side by side, [i · columns + j][lane]. Lanes
// behind the last matrix hold copies of it.
#pragma once
#include <cstdint>

namespace tern::detail_cpu::matrices {

inline constexpr int kMostLanes = 16;

/// Where the matrices of a block lie: element (i, j) of lane l at at[l] + i · row_step + j · column_step.
template <class T> struct LaneView {
  T* const* at;
  std::int64_t rows, columns, row_step, column_step;
  int count;  // of lanes that are there
};

/// A triangle of a block: element (i, j) at row_step · i + column_step · j, in elements of a matrix.
template <class T> struct LaneTriangle {
  const T* block;
  int n;
  std::int64_t row_step, column_step;
  bool lower, unit;
};

/// Matrices (or vectors, or numbers) of whole blocks, each dense and right behind the one before. b, x and det may be
/// null.
template <class T> struct DenseBlocks {
  const T *a, *b;
  T *x, *det;
  std::int64_t blocks;
};
/// How many blocks were done: the next one has a matrix that needs care.
template <class T> using DenseKernel = std::int64_t (*)(const DenseBlocks<T>&);

/// Statuses are as those of requests (linalg.hpp), but say nothing of elements that are not finite, which `finite`
/// finds: nonzero in lanes where all are.
template <class T> struct LaneKernels {
  int lanes;
  void (*load)(const LaneView<const T>& from, T* block);
  void (*store)(const T* block, const LaneView<T>& to);
  /// Of `count` elements, or of the lower triangle of n × n = count.
  void (*finite)(const T* block, int count, int n_of_triangle, std::int32_t* finite);
  /// The lower factor in place of the lower triangle, zeros above it.
  void (*cholesky)(int n, T* block, std::int32_t* status);
  /// In place of m × n; pivots [min(m, n)][lane].
  void (*lu)(int m, int n, T* block, std::int32_t* pivots, std::int32_t* status);
  /// b = T⁻¹·b with `right` columns.
  void (*triangle)(const LaneTriangle<T>& t, int right, T* b);
  /// The exchanges of rows in their order, or back.
  void (*permute)(int n, int right, const std::int32_t* pivots, bool back, T* b);
  /// b = A⁻¹·b for `right` columns, with `identity` of b = 1, and the pivots' product with its sign. a is destroyed.
  /// Where the sign alone is wanted, `sign_only`, the pivots stay on the diagonal of a.
  void (*direct)(int n, int right, bool identity, T* a, T* b, T* det, bool sign_only, std::int32_t* status);
  /// The same of dense blocks, without the sign alone; and the lower factors x of a. Null where there is none.
  DenseKernel<T> (*dense_direct)(int n, int right, bool identity);
  DenseKernel<T> (*dense_cholesky)(int n);
  /// q·r = x, columns as rows: x is [n][m] and becomes r, [n][inner]; q, [inner][m], may be null.
  void (*qr)(int m, int n, int inner, T* x, T* q);
  /// Ascending eigenvalues of symmetric a, of which the lower triangle is read; vectors as rows, or null. spare: n × n.
  void (*eigh)(int n, T* a, T* vectors, T* spare, T* values, std::int32_t* status);
  /// Descending singular values of the matrix whose n columns of m ≥ n elements are the rows of w. With `right`,
  /// [n][n], whose rows are the vectors of the short side, `left`, [inner][m], are those of the long one. spare: n·m
  /// elements.
  void (*svd)(int m, int n, int inner, T* w, T* left, T* right, T* spare, T* values, std::int32_t* status);
  /// a becomes e^a; spare: 5·n² + n elements. Status -1 where the norm is not finite.
  void (*exponential)(int n, T* a, T* spare, std::int32_t* status);
};

struct AllLaneKernels {
  LaneKernels<float> f32;
  LaneKernels<double> f64;
};
/// Those of the SIMD target in use.
const AllLaneKernels& lane_kernels();
template <class T> const LaneKernels<T>& lane_kernels_of() {
  if constexpr (sizeof(T) == 4) return lane_kernels().f32;
  else return lane_kernels().f64;
}

}  // namespace tern::detail_cpu::matrices
