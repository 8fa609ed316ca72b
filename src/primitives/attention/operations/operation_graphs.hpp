// The formulas that attention is computed by, made of the user's.
#pragma once
#include <compare>
#include <span>

#include "formula/graph.hpp"
#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

/// What the formulas of a call are made of. All of them read one list of operands: those of the score's formula, those
/// of the mask, and where there is dropout the two words of its key and the share of what is dropped.
struct AttentionFormulas {
  const FormulaGraph *score = nullptr, *mask = nullptr;  // null: none
  bool dropout = false;
  /// Not 0: rows are so many heads that share keys, of one row each (decoding).
  std::int64_t heads_as_rows = 0;
  int operands() const;
  auto operator<=>(const AttentionFormulas&) const = default;
};

/// The decomposed computation: which parts its row formula has.
struct RowParts {
  AttentionFormulas of;
  bool causal = false, window = false, lengths = false, with_sum = false, offset = false;
  DType type = DType::f32;  // of the shares
  auto operator<=>(const RowParts&) const = default;
};
/// Outputs: the shares of a row, and the logarithm of their sum where asked for. Inputs: the product, its scale, S - L,
/// the window, the lengths, the first row and column, the operands.
const FormulaGraph* attention_row_graph(const RowParts& parts);

/// The primitive's. Inputs: the product (of `thin` a share), the scale, the operands; of slopes the product, the
/// cotangent, and the same. Slopes are null for formulas that are.
struct AttentionGraphs {
  const FormulaGraph *score = nullptr, *open = nullptr, *thin = nullptr, *slope = nullptr, *open_slope = nullptr;
};
const AttentionGraphs& attention_graphs(const AttentionFormulas& of, DType type);

/// Of a mask over blocks: Σ of what is seen, as i32. Input 0 gives the space [batch, heads, rows of blocks, columns of
/// blocks, rows, columns]; then rows and columns that there are, then the mask's operands.
const FormulaGraph* mask_count_graph(const FormulaGraph* mask);

}  // namespace tern::detail
