// Primitive `attention`: softmax of scores times values, without the scores in memory; and its gradient.
#pragma once
#include <algorithm>
#include <bit>

#include "backend/primitive.hpp"

namespace tern::detail {

/// Rows and columns of a block of a mask.
inline constexpr std::int64_t kMaskBlock = 64;
/// What a row may see of a block of a mask.
enum class Seen : std::int32_t { nothing, some, all };

/// As many scores as the decomposed computation keeps for backward; of more it computes blocks again.
inline constexpr std::int64_t kMostKeptScores = std::int64_t{1} << 28;

/// What both directions know. Heads and groups have an axis each: head h reads group h / (heads / groups).
struct AttentionSizes {
  std::int64_t batch = 0, heads = 0, groups = 0, rows = 0, columns = 0, depth = 0, width = 0;
  double scale = 1;         // of q·k, before the program
  bool causal = false;      // row i sees columns j ≤ i + columns - rows
  std::int64_t window = 0;  // where not 0, those less than this far from i + columns - rows
  /// Stretches of columns that are computed by themselves, each with results of its own: those of stretch p are batches
  /// p·batch + b of what is written.
  std::int64_t parts = 1;

  std::int64_t shared() const { return groups > 0 ? heads / groups : 0; }
  /// Columns of a stretch, whole blocks of a mask.
  std::int64_t part_columns() const;
  Shape of_q() const { return {batch, heads, rows, depth}; }
  Shape of_k() const { return {batch, groups, columns, depth}; }
  Shape of_v() const { return {batch, groups, columns, width}; }
  Shape of_result() const { return {parts * batch, heads, rows, width}; }
  Shape of_rows() const { return {parts * batch, heads, rows}; }
  Shape of_scores() const { return {batch, heads, rows, columns}; }
  Shape of_blocks() const;
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
    add(of_q()), add(of_v()), add(causal), add(window), add(std::bit_cast<std::uint64_t>(scale)), add(parts);
  }
  /// Pairs of a row and a column that are in reach, but for lengths.
  std::int64_t pairs() const;
};

/// Formulas of a request, each of one output and with one list of operands, which lie over the scores; null: none.
struct AttentionPrograms {
  const Program* score = nullptr;  // of the product; null: scores are the products
  const Program* open = nullptr;   // the same without the mask, for blocks that are seen whole
  const Program* thin = nullptr;   // dropout: of a share what is left of it
};

/// out = softmax(scores) · v, scores = program(scale · q·kᵀ, operands…) in f32 (f64 of those), -inf where a column is
/// not seen; a row that sees none gives 0. tops: the greatest score of each row, -inf where none is seen, and totals:
/// Σ exp(score - top), [batch, heads, rows] in f32 or f64.
struct AttentionRequest {
  const char* op = "";
  AttentionSizes sizes;
  View q, k, v;
  View lengths;  // [batch] i32: so many columns there are; may be without storage: all
  View blocks;   // Seen of each block of the scores; may be without storage: the mask is in all of them
  AttentionPrograms programs;
  std::span<const Operand> inputs;  // of the programs, from 1 on
  std::span<const View> none;       // no view is written by them
  View out, tops, totals;           // both of the latter, or neither

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.q, r.sizes.of_q()), visit.reads(r.k, r.sizes.of_k()), visit.reads(r.v, r.sizes.of_v());
    if (r.lengths.storage) visit.reads(r.lengths, Shape{r.sizes.batch});
    if (r.blocks.storage) visit.reads(r.blocks, r.sizes.of_blocks());
    if (r.programs.score) visit.program(*r.programs.score, 1, r.inputs, r.none, r.sizes.of_scores());
    else if (r.programs.thin) visit.program(*r.programs.thin, 1, r.inputs, r.none, r.sizes.of_scores());
    visit.writes(r.out, r.sizes.of_result());
    if (r.tops.storage) visit.writes(r.tops, r.sizes.of_rows()), visit.writes(r.totals, r.sizes.of_rows());
  }
  template <class Add> void parameters(Add&& add) const {
    sizes.parameters(add), add(sizes.groups), add(q.dtype), add(lengths.storage != nullptr);
    add(tops.storage != nullptr), add(blocks.storage != nullptr);
    for (const Program* p : {programs.score, programs.open, programs.thin}) add(p ? p->serial : 0);
  }
  std::int64_t flops() const;
  std::string text() const;
};

/// The gradients of q, k and v from that of the result. `slope`: the derivative of the score by the product (input 0)
/// times a cotangent (input 1); the same operands; `open_slope` without the mask. means: Σ out · out_grad of each row.
struct AttentionBackwardRequest {
  const char* op = "";
  AttentionSizes sizes;
  View q, k, v, lengths, blocks;
  AttentionPrograms programs;
  const Program *slope = nullptr, *open_slope = nullptr;  // where there are those
  std::span<const Operand> inputs, slope_inputs;
  std::span<const View> none;
  View tops, totals, means, out_grad;
  View q_grad, k_grad, v_grad;
  /// Of the scores, in the operands' dtype; where these have storage they are written in place of the gradients of k
  /// and v, which are products by them (attention_keeps_shares): of shares what dropout leaves, and slopes.
  View shares, slopes;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.q, r.sizes.of_q()), visit.reads(r.k, r.sizes.of_k()), visit.reads(r.v, r.sizes.of_v());
    if (r.lengths.storage) visit.reads(r.lengths, Shape{r.sizes.batch});
    if (r.blocks.storage) visit.reads(r.blocks, r.sizes.of_blocks());
    if (r.programs.score) visit.program(*r.programs.score, 1, r.inputs, r.none, r.sizes.of_scores());
    else if (r.programs.thin) visit.program(*r.programs.thin, 1, r.inputs, r.none, r.sizes.of_scores());
    if (r.slope) visit.program(*r.slope, 2, r.slope_inputs, r.none, r.sizes.of_scores());
    visit.reads(r.tops, r.sizes.of_rows()), visit.reads(r.totals, r.sizes.of_rows());
    visit.reads(r.means, r.sizes.of_rows());
    visit.reads(r.out_grad, r.sizes.of_result());
    visit.writes(r.q_grad, r.sizes.of_q());
    if (r.shares.storage) {
      visit.writes(r.shares, r.sizes.of_scores()), visit.writes(r.slopes, r.sizes.of_scores());
    } else {
      visit.writes(r.k_grad, r.sizes.of_k()), visit.writes(r.v_grad, r.sizes.of_v());
    }
  }
  template <class Add> void parameters(Add&& add) const {
    sizes.parameters(add), add(sizes.groups), add(q.dtype), add(lengths.storage != nullptr);
    add(blocks.storage != nullptr), add(shares.storage != nullptr);
    for (const Program* p : {programs.score, programs.open, programs.thin, slope, open_slope}) add(p ? p->serial : 0);
  }
  std::int64_t flops() const;
  std::string text() const;
};

/// Whether the scale that a request's formula has as its input 1 is positive.
template <class Request> bool has_positive_scale(const Request& r) {
  return !r.inputs.empty() && !r.inputs[0].number.is_integer && r.inputs[0].number.real > 0;
}

/// Whether a backend has a kernel of this primitive that is the fastest way for these sizes: a product into scores in
/// memory, softmax and a second product are the other one. `with_gradients`: those will be asked for.
/// TERN_ATTENTION_KERNEL=1: whether it has one (for tests); 0: never on a GPU; mma: likewise, on CUDA never Hopper's.
bool attention_pays(Backend& backend, const AttentionSizes& sizes, DType dtype, bool with_gradients);
/// Whether a backend's kernel of the gradients is the fastest where it keeps shares and slopes, for products by them.
bool attention_keeps_shares(Backend& backend, const AttentionBackwardRequest& request);
/// Into how many stretches of columns forward is to be divided so that all threads, or processors, have work. Depends
/// on the sizes, the dtype and the kind of device alone.
std::int64_t attention_parts(Backend& backend, const AttentionSizes& sizes, DType dtype);

}  // namespace tern::detail
