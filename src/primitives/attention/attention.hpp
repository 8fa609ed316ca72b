// Primitive `attention`: softmax of scores times values, without the scores in memory; and its gradient.
#pragma once
#include <algorithm>
#include <bit>

#include "backend/primitive.hpp"

namespace tern::detail {

/// What both directions know. Heads and groups have an axis each: head h reads group h / (heads / groups).
struct AttentionSizes {
  std::int64_t batch = 0, heads = 0, groups = 0, rows = 0, columns = 0, depth = 0, width = 0;
  double scale = 1;         // of q·k, before the program
  bool causal = false;      // row i sees columns j ≤ i + columns - rows
  std::int64_t window = 0;  // where not 0, those less than this far from i + columns - rows

  Shape of_q() const { return {batch, heads, rows, depth}; }
  Shape of_k() const { return {batch, groups, columns, depth}; }
  Shape of_v() const { return {batch, groups, columns, width}; }
  Shape of_result() const { return {batch, heads, rows, width}; }
  Shape of_rows() const { return {batch, heads, rows}; }
  Shape of_scores() const { return {batch, heads, rows, columns}; }
  /// The columns row `row` may see by its place, of `length` that there are: [first, end).
  std::int64_t first(std::int64_t row) const {
    return window > 0 ? std::max<std::int64_t>(0, row + columns - rows - window + 1) : 0;
  }
  std::int64_t end(std::int64_t row, std::int64_t length) const {
    std::int64_t last = length;
    if (causal) last = std::min(last, row + columns - rows + 1);
    if (window > 0) last = std::min(last, row + columns - rows + window);
    return std::max<std::int64_t>(last, 0);
  }
  template <class Add> void parameters(Add&& add) const {
    add(of_q()), add(of_v()), add(causal), add(window), add(std::bit_cast<std::uint64_t>(scale));
  }
  /// Pairs of a row and a column that are in reach, but for lengths.
  std::int64_t pairs() const;
};

/// out = softmax(scores) · v, scores = program(scale · q·kᵀ, operands…) in f32 (f64 of those), -inf where a column is
/// not seen; a row that sees none gives 0. tops: the greatest score of
/// each row, -inf where none is seen, and totals: Σ exp(score - top), [batch, heads, rows] in f32 or f64.
struct AttentionRequest {
  const char* op = "";
  AttentionSizes sizes;
  View q, k, v;
  View lengths;                      // [batch] i32: so many columns there are; may be without storage: all
  const Program* program = nullptr;  // null: scores are the products. One output; operands lie over the scores.
  std::span<const Operand> inputs;   // its inputs from 1 on
  std::span<const View> none;        // no view is written by it
  View out, tops, totals;            // both of the latter, or neither

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.q, r.sizes.of_q()), visit.reads(r.k, r.sizes.of_k()), visit.reads(r.v, r.sizes.of_v());
    if (r.lengths.storage) visit.reads(r.lengths, Shape{r.sizes.batch});
    if (r.program) visit.program(*r.program, 1, r.inputs, r.none, r.sizes.of_scores());
    visit.writes(r.out, r.sizes.of_result());
    if (r.tops.storage) visit.writes(r.tops, r.sizes.of_rows()), visit.writes(r.totals, r.sizes.of_rows());
  }
  template <class Add> void parameters(Add&& add) const {
    sizes.parameters(add), add(sizes.groups), add(q.dtype), add(program ? program->serial : 0);
    add(lengths.storage != nullptr), add(tops.storage != nullptr);
  }
  std::int64_t flops() const;
  std::string text() const;
};

/// The gradients of q, k and v from that of the result. `slope`: the derivative of `program` by the product (input 0)
/// times a cotangent (input 1); the same operands. means: Σ out · out_grad of each row.
struct AttentionBackwardRequest {
  const char* op = "";
  AttentionSizes sizes;
  View q, k, v, lengths;
  const Program *program = nullptr, *slope = nullptr;  // both or neither
  std::span<const Operand> inputs, slope_inputs;
  std::span<const View> none;
  View tops, totals, means, out_grad;
  View q_grad, k_grad, v_grad;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.q, r.sizes.of_q()), visit.reads(r.k, r.sizes.of_k()), visit.reads(r.v, r.sizes.of_v());
    if (r.lengths.storage) visit.reads(r.lengths, Shape{r.sizes.batch});
    if (r.program) visit.program(*r.program, 1, r.inputs, r.none, r.sizes.of_scores());
    if (r.slope) visit.program(*r.slope, 2, r.slope_inputs, r.none, r.sizes.of_scores());
    visit.reads(r.tops, r.sizes.of_rows()), visit.reads(r.totals, r.sizes.of_rows());
    visit.reads(r.means, r.sizes.of_rows());
    visit.reads(r.out_grad, r.sizes.of_result());
    visit.writes(r.q_grad, r.sizes.of_q()), visit.writes(r.k_grad, r.sizes.of_k());
    visit.writes(r.v_grad, r.sizes.of_v());
  }
  template <class Add> void parameters(Add&& add) const {
    sizes.parameters(add), add(sizes.groups), add(q.dtype);
    add(program ? program->serial : 0), add(slope ? slope->serial : 0), add(lengths.storage != nullptr);
  }
  std::int64_t flops() const;
  std::string text() const;
};

/// Whether a backend has a kernel of this primitive that is the fastest way for these sizes: a product into scores in
/// memory, softmax and a second product are the other one. `with_gradients`: those will be asked for.
/// TERN_ATTENTION_KERNEL=1: whether it has one (for tests); 0: never on a GPU.
bool attention_pays(Backend& backend, const AttentionSizes& sizes, DType dtype, bool with_gradients);

}  // namespace tern::detail
