// What both directions of attention share on the CPU: operands as rows or panels of the compute type, products of tiles
// by the micro-kernels of matrix products, and the formula on a tile of scores.
#pragma once
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "backend/rounding.hpp"
#include "cpu/machine/threads.hpp"
#include "cpu/products/attention_kernels.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/scratch.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/tapes.hpp"
#include "primitives/attention/attention.hpp"

namespace tern::detail_cpu {

using detail::round_up;

/// A matrix of an operand's own elements: one head of q, k, v, or of a gradient.
struct HeadOf {
  std::byte* data;
  DType dtype;
  Int64 row, col;
  std::byte* at(Int64 i, Int64 j = 0) const {
    return data + (i * row + j * col) * static_cast<Int64>(dtype_size(dtype));
  }
};
inline HeadOf head_of(const detail::View& v, Int64 batch, Int64 head) {
  auto* const data = static_cast<std::byte*>(v.storage->data());
  const Int64 at = v.offset + batch * v.strides[0] + head * v.strides[1];
  return {data + at * static_cast<Int64>(dtype_size(v.dtype)), v.dtype, v.strides[2], v.strides[3]};
}
template <class T> T& element_of_rows(const detail::View& v, Int64 batch, Int64 head, Int64 row) {
  return static_cast<T*>(v.storage->data())[v.offset + batch * v.strides[0] + head * v.strides[1] + row * v.strides[2]];
}
/// How many columns a sample has.
inline Int64 length_of(const detail::View& lengths, Int64 batch, Int64 columns) {
  if (!lengths.storage) return columns;
  const auto* const data = static_cast<const std::int32_t*>(lengths.storage->data());
  return std::clamp<Int64>(data[lengths.offset + batch * lengths.strides[0]], 0, columns);
}

/// Matrices of compute type T, f32 or f64, for operands of one dtype.
template <class T> class TileProducts {
 public:
  explicit TileProducts(DType type)
      : types_(gemm_types(type)), rows_(sizeof(T) == 4 ? attention_kernels().f32 : attention_kernels().f64) {}
  Int64 panel() const { return types_.computed->panel_cols; }
  /// So many rows, or a few more, so that calls of the micro-kernel are full.
  Int64 full_rows(Int64 rows) const { return round_up(rows, types_.computed->max_rows); }
  const AttentionKernelsOf& rows() const { return rows_; }

  /// Rows [first, first + count) of a head, `width` elements each, `to_row` apart, with zeros behind them.
  void copy(const HeadOf& head, Int64 first, Int64 count, Int64 width, T* to, Int64 to_row) const {
    types_.kernels->copy({head.at(first), head.row, head.col}, count, width, to, to_row, to_row);
  }
  /// The same transposed, in panels: to[panel][j][i] is element j of row first + panel · panel() + i.
  void copy_transposed(const HeadOf& head, Int64 first, Int64 count, Int64 width, T* to) const {
    for (Int64 i = 0; i < count; i += panel(), to += width * panel())
      types_.kernels->copy({head.at(first + i), head.col, head.row}, width, std::min(panel(), count - i), to, panel(),
                           panel());
  }
  /// `count` rows of a head from `first` on as AttentionLanes reads k: six side by side.
  void columns_beside(const HeadOf& head, Int64 first, Int64 count, Int64 depth, T* to) const {
    if (is_there(head))
      return rows_.columns_beside({head.at(first), head.row, count, depth, to, kAttentionBeside * depth});
    for (Int64 j = 0; j < count; j += kAttentionBeside)
      copy_beside({head.at(first + j), head.dtype, head.col, head.row}, depth,
                  std::min<Int64>(kAttentionBeside, count - j), to + j * depth);
  }
  /// The same as it reads v: six elements side by side, these blocks `block` apart.
  void elements_beside(const HeadOf& head, Int64 first, Int64 count, Int64 width, T* to, Int64 block) const {
    if (is_there(head)) return rows_.elements_beside({head.at(first), head.row, count, width, to, block});
    for (Int64 w = 0; w < width; w += kAttentionBeside)
      copy_beside({head.at(first, w), head.dtype, head.row, head.col}, count,
                  std::min<Int64>(kAttentionBeside, width - w), to + w / kAttentionBeside * block);
  }
  /// Whether elements lie side by side in the compute type.
  static bool is_there(const HeadOf& head) { return dtype_size(head.dtype) == sizeof(T) && head.col == 1; }
  /// to(i, j) = from(j, i) for i < rows and j < width, `from` having rows of panel() elements.
  void turn(const T* from, Int64 rows, Int64 width, T* to, Int64 to_row) const {
    types_.computed->copy({reinterpret_cast<const std::byte*>(from), 1, panel()}, rows, width, to, to_row, width);
  }
  /// A side of a product: element (i, j) at data[i · row + j · col]. `panels`: columns in panels, so far apart.
  struct ProductSide {
    const T* data;
    Int64 row, col, panels;
  };
  /// c (rows × cols, `c_row` apart) = or += a · b, over `depth`. Columns of `a` that are its rows lie side by side.
  void multiply(const ProductSide& a, const ProductSide& b, T* c, Int64 c_row, Int64 depth, Int64 rows, Int64 cols,
                bool add) const {
    const GemmKernelsOf& k = *types_.computed;
    const bool beside = a.row == 1;
    GemmMicro call{a.data, a.row, a.col, b.data, b.row, nullptr, c_row, nullptr, c_row, depth, 0, 0, nullptr, 0};
    for (Int64 j = 0; j < cols; j += k.panel_cols) {
      call.b = b.data + j / k.panel_cols * b.panels, call.cols = std::min<Int64>(k.panel_cols, cols - j);
      for (Int64 i = 0; i < rows; i += k.max_rows) {
        T* const to = c + i * c_row + j;
        call.a = a.data + i * a.row, call.rows = std::min<Int64>(k.max_rows, rows - i);
        call.c = to, call.from = add ? to : nullptr;
        (beside ? k.micro_packed : k.micro)(call);
      }
    }
  }
  /// Stores `width` elements, times `factor`, as row `i` of a head.
  void store(const KernelTable& table, T* from, Int64 width, T factor, const HeadOf& to, Int64 i) const {
    if (factor != T{1})
      for (Int64 j = 0; j < width; ++j) from[j] *= factor;
    const auto type = static_cast<int>(to.dtype);
    const auto n = static_cast<std::size_t>(width);
    if (to.col == 1) table.store[type](from, to.at(i), n);
    else table.store_strided[type](from, to.at(i), to.col, n);
  }

 private:
  /// Rows [0, count) of a matrix, `width` ≤ kAttentionBeside elements each, as those of that many, with zeros.
  void copy_beside(const HeadOf& from, Int64 count, Int64 width, T* to) const {
    types_.kernels->copy({from.data, from.row, from.col}, count, width, to, kAttentionBeside, kAttentionBeside);
  }
  GemmTypes types_;
  const AttentionKernelsOf& rows_;
};

/// A program on tiles of scores: its first `placed` inputs are tiles, its others lie over all scores.
class TileFormula {
 public:
  TileFormula(const Tape& tape, const KernelTable& table, const detail::AttentionSizes& sizes,
              std::span<const detail::Operand> inputs, const detail::View& any, int placed);
  /// Whether it reads tile `input`.
  bool reads(int input) const { return tiles_[input] >= 0; }
  /// Of rows × cols scores from this place on, each row after the other in the tiles; the result replaces tile `into`.
  void run(std::byte* const (&tiles)[2], int into, Int64 head, Int64 row, Int64 column, Int64 rows, Int64 cols) const;

 private:
  static AxisOrder order_of(const Shape& space);
  static std::vector<Strides> coordinates_of(const Tape& tape, int rank);
  static std::vector<detail::View> nowhere(const Tape& tape, const detail::View& any);
  const Tape& tape_;
  AxisOrder order_;
  std::vector<Strides> coordinates_;
  std::vector<detail::View> outputs_;  // which are never written: results are taken from the register file
  BlockRunner runner_;
  int tiles_[2] = {-1, -1};
  std::size_t width_;
};

/// What the rows of a tile see of its columns, by the blocks of a mask.
class MaskBlocks {
 public:
  explicit MaskBlocks(const detail::View& blocks) : blocks_(blocks) {}
  /// Without blocks some: the mask, if there is one, is in the formula.
  detail::Seen of(Int64 batch, Int64 head, Int64 row, Int64 rows, Int64 column, Int64 cols) const;

 private:
  const detail::View& blocks_;
};

/// The formulas of a request.
class TileFormulas {
 public:
  template <class Request> TileFormulas(const Request& r, const detail::View& any) : blocks_(r.blocks) {
    const auto make = [&](std::optional<TileFormula>& to, const detail::Program* p, auto inputs, int placed) {
      if (p) to.emplace(tape_of(r.op, *p), kernels(), r.sizes, inputs, any, placed);
    };
    make(score_, r.programs.score, r.inputs, 1), make(open_, r.programs.open, r.inputs, 1);
    make(thin_, r.programs.thin, r.inputs, 1);
    if constexpr (requires { r.slope; })
      make(slope_, r.slope, r.slope_inputs, 2), make(open_slope_, r.open_slope, r.slope_inputs, 2);
  }
  detail::Seen seen(Int64 batch, Int64 head, Int64 row, Int64 rows, Int64 column, Int64 cols) const {
    return blocks_.of(batch, head, row, rows, column, cols);
  }
  /// The formula of the scores of a tile, and its slope; null: none.
  const TileFormula* score(detail::Seen seen) const { return of(seen == detail::Seen::all ? open_ : score_, score_); }
  const TileFormula* slope(detail::Seen seen) const {
    return of(seen == detail::Seen::all ? open_slope_ : slope_, slope_);
  }
  /// Dropout of shares; null: none.
  const TileFormula* thin() const { return thin_ ? &*thin_ : nullptr; }

 private:
  static const TileFormula* of(const std::optional<TileFormula>& first, const std::optional<TileFormula>& other) {
    return first ? &*first : other ? &*other : nullptr;
  }
  MaskBlocks blocks_;
  std::optional<TileFormula> score_, open_, thin_, slope_, open_slope_;
};

/// How backward divides the columns of a key head, where there are few heads: `count` stretches of `columns`, the last
/// of which may be shorter. They have gradients of q of their own, which are added up in their order.
struct Stretches {
  Int64 count, columns;
};
inline Stretches stretches_of(const detail::AttentionSizes& s) {
  constexpr Int64 kColumns = 128, kFewestTasks = 16;
  const Int64 keys = s.batch * s.groups, parts = std::max<Int64>((s.columns + kColumns - 1) / kColumns, 1);
  const Int64 count = std::min(parts, std::max<Int64>((kFewestTasks + keys - 1) / keys, 1));
  const Int64 columns = (parts + count - 1) / count * kColumns;
  return {std::max<Int64>((s.columns + columns - 1) / columns, 1), columns};
}

/// Calls task(0), task(1), …: on this thread alone where the scores are few.
template <class Task> void for_tasks(const detail::AttentionSizes& s, Int64 few, Int64 count, Task task) {
  if (s.batch * s.heads * s.rows * s.columns * (s.depth + s.width) >= few) return parallel_for(count, task);
  for (Int64 i = 0; i < count; ++i) task(i);
}

}  // namespace tern::detail_cpu
