// Matrices transposed from memory to memory. Stands after cpu/products/gemm_kernels-inl.h, whose blocks it takes, and
// kernels. No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// As many rows of the result and columns, in bytes of either, are transposed into L1 at once: rows of the operand are
/// read by 512 bytes, one behind the other, and rows of the result written by 256. (2048 x 2048 f32, Zen 3, one thread,
/// in ms, rows by columns, past the caches: 16 x 64 without such reading 7.6, 64 x 32 5.3, 64 x 64 4.5, 128 x 64 4.2,
/// 128 x 32 5.0, 256 x 32 4.9, 256 x 16 5.4; through the caches 9.5 and more; a copy 2.6.)
inline constexpr std::size_t kTransposedRowBytes = 512, kTransposedColumnBytes = 256;

/// tile[i * kPitch + j] = from[j * step + i]
template <class T, std::size_t kPitch>
void TransposeTile(const T* from, std::int64_t step, std::size_t rows, std::size_t cols, T* tile) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t lanes = hn::MaxLanes(d), block = 16 / sizeof(T);
  const std::size_t whole_rows = rows - rows % block, whole_cols = cols - cols % lanes;
  for (std::size_t j = 0; j < whole_cols; j += lanes) {
    const T* const line = from + static_cast<std::int64_t>(j) * step;
    for (std::size_t i = 0; i < whole_rows; i += block)
      gemm_simd::TransposeBlock(d, line + i, step, tile + i * kPitch + j, static_cast<std::int64_t>(kPitch));
    for (std::size_t i = whole_rows; i < rows; ++i)
      for (std::size_t k = 0; k < lanes; ++k)
        tile[i * kPitch + j + k] = (line + static_cast<std::int64_t>(k) * step)[i];
  }
  for (std::size_t j = whole_cols; j < cols; ++j)
    for (std::size_t i = 0; i < rows; ++i) tile[i * kPitch + j] = (from + static_cast<std::int64_t>(j) * step)[i];
}

template <class T> void TransposeMatrix(const Transposition& m) {
  constexpr std::size_t most_rows = kTransposedRowBytes / sizeof(T), most_cols = kTransposedColumnBytes / sizeof(T);
  const hn::ScalableTag<T> d;
  HWY_ALIGN T tile[most_rows * most_cols];
  for (std::size_t column = 0; column < m.cols; column += most_cols)
    for (std::size_t row = 0; row < m.rows; row += most_rows) {
      const std::size_t rows = row + most_rows < m.rows ? most_rows : m.rows - row,
                        cols = column + most_cols < m.cols ? most_cols : m.cols - column;
      TransposeTile<T, most_cols>(static_cast<const T*>(m.from) + static_cast<std::int64_t>(column) * m.from_row + row,
                                  m.from_row, rows, cols, tile);
      T* to = static_cast<T*>(m.to) + static_cast<std::int64_t>(row) * m.to_row + column;
      for (std::size_t i = 0; i < rows; ++i, to += m.to_row) {
        const T* const line = tile + i * most_cols;
        if (!m.stream) __builtin_memcpy(to, line, cols * sizeof(T));
        else
          for (std::size_t j = 0; j < cols; j += hn::Lanes(d)) hn::Stream(hn::Load(d, line + j), d, to + j);
      }
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
