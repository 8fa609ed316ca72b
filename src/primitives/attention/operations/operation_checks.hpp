// What a call of attention must be, before anything is allocated.
#pragma once
#include <span>

#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

inline constexpr const char* kAttentionOp = "attention";

/// The sizes of q, k and v.
struct CallSizes {
  std::int64_t batch = 1, heads = 0, groups = 0, rows = 0, columns = 0, depth = 0, width = 0;
};
CallSizes attention_sizes(const Tensor& q, const Tensor& k, const Tensor& v);
/// `what`: the formula or the mask, of so many coordinates first.
void check_attention_formula(const char* what, const FormulaGraph* graph, std::span<const Number> values,
                             std::size_t coordinates, std::span<const Argument> operands, const Shape& scores,
                             const Tensor& q);
/// As i32, [batch, 1, 1, 1].
Tensor attention_lengths(const Tensor& lengths, const CallSizes& s, const Tensor& q);
/// The mask of a call; null: none.
const Pointwise<>* attention_mask(const AttentionOptions& o);
void check_attention_options(const AttentionOptions& o, const CallSizes& s, const Tensor& q);

}  // namespace tern::detail
