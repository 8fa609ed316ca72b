#include "primitives/attention/operations/operation_checks.hpp"

#include <algorithm>

#include "backend/recording/capture.hpp"

namespace tern::detail {

CallSizes attention_sizes(const Tensor& q, const Tensor& k, const Tensor& v) {
  require_floating(kAttentionOp, "q", q), require_floating(kAttentionOp, "k", k),
      require_floating(kAttentionOp, "v", v);
  require_same_device(kAttentionOp, q, k), require_same_device(kAttentionOp, q, v);
  if (q.dim() < 3) refuse(kAttentionOp, "q", "[.., H, L, D]", describe(q));
  CallSizes s{.heads = q.size(-3), .rows = q.size(-2), .depth = q.size(-1)};
  Shape batch = q.shape();
  batch.resize(q.dim() - 3);
  s.batch = batch.numel();
  const auto check = [&](const char* name, const Tensor& t) {
    Shape outer = t.shape();
    outer.resize(std::max(t.dim() - 3, 0));
    if (t.dim() != q.dim() || outer != batch)
      refuse(kAttentionOp, name, "as many axes and the batch of q, " + describe(q), describe(t));
    if (t.dtype() != q.dtype())
      refuse(kAttentionOp, name, "the dtype of q, " + describe(q), describe(t), ErrorKind::dtype);
  };
  check("k", k), check("v", v);
  s.groups = k.size(-3), s.columns = k.size(-2), s.width = v.size(-1);
  if (k.size(-1) != s.depth)
    refuse(kAttentionOp, "k", "a last axis of " + std::to_string(s.depth) + ", as q " + describe(q), describe(k));
  if (v.size(-3) != s.groups || v.size(-2) != s.columns)
    refuse(kAttentionOp, "v", "the heads and rows of k, " + describe(k), describe(v));
  if (s.groups < 1 ? s.heads > 0 : s.heads % s.groups != 0)
    refuse(kAttentionOp, "q", "a multiple of k's " + std::to_string(s.groups) + " heads",
           std::to_string(s.heads) + " of " + describe(q));
  return s;
}

void check_attention_formula(const char* what, const FormulaGraph* graph, std::span<const Number> values,
                             std::size_t coordinates, std::span<const Argument> operands, const Shape& scores,
                             const Tensor& q) {
  if (graph->reduces || graph->axis_sums)
    throw Error(ErrorKind::unsupported, std::string(kAttentionOp) + ": the " + what + " contains a reduction");
  const std::size_t expected = coordinates + operands.size() + values.size();
  if (static_cast<std::size_t>(graph->inputs) != expected)
    refuse(
        kAttentionOp, what,
        std::to_string(coordinates) + " arguments and one for each of " + std::to_string(operands.size()) + " operands",
        std::to_string(static_cast<std::size_t>(graph->inputs) - values.size()) + " arguments");
  for (const Argument& operand : operands) {
    if (!operand.tensor && !operand.var) continue;
    check_broadcasts(kAttentionOp, "an operand", value_of(operand), scores),
        require_same_device(kAttentionOp, q, value_of(operand));
  }
}
namespace {
/// On GPUs, and at replays, they are checked as indices are.
void check_lengths(const Tensor& given, const Tensor& lengths, std::int64_t columns) {
  if (!in_host_memory(lengths) || current_capture())
    return require_indices("attention (lengths, of so many columns and 0)", lengths, columns + 1);
  for (const std::int64_t length : given.to(DType::i64).to_vector<std::int64_t>())
    if (length < 0 || length > columns)
      refuse(kAttentionOp, "lengths", "from 0 to the " + std::to_string(columns) + " columns of k",
             std::to_string(length), ErrorKind::index);
}
}  // namespace
Tensor attention_lengths(const Tensor& lengths, const CallSizes& s, const Tensor& q) {
  require_index_dtype(kAttentionOp, "lengths", lengths), require_same_device(kAttentionOp, q, lengths);
  if (lengths.dim() != 1 || lengths.size(0) != s.batch)
    refuse(kAttentionOp, "lengths", "[" + std::to_string(s.batch) + "]", describe(lengths));
  // i64 first to what is out of reach as well: i32 would not hold it.
  const Tensor within = lengths.dtype() == DType::i64 ? clamp(lengths, -1, s.columns + 1) : lengths;
  const Tensor columns = as_i32(kAttentionOp, within, -1);
  if (s.batch > 0) check_lengths(lengths, columns, s.columns);
  return columns.reshape({s.batch, 1, 1, 1});
}

const Pointwise<>* attention_mask(const AttentionOptions& o) {
  return o.mask ? &*o.mask : o.block_mask.defined() ? &o.block_mask.mask() : nullptr;
}
namespace {
/// Throws value where an operand was written to since the mask was made. A replay asks again, as it reads the operands
/// anew; but for a mask made in the same recording, which it makes anew, too.
void require_current(const BlockMask& mask) {
  const auto require = [](const BlockMask& mask) {
    if (!mask.current())
      refuse(kAttentionOp, "block_mask", "one whose operands are as they were (make it anew)",
             "an operand written to since", ErrorKind::value);
  };
  require(mask);
  CapturedCalls* const capture = current_capture();
  if (capture && !capture->made(*mask.blocks().impl()->storage)) capture->add_action([=] { require(mask); });
}
}  // namespace
void check_attention_options(const AttentionOptions& o, const CallSizes& s, const Tensor& q) {
  if (o.window && *o.window < 1) refuse(kAttentionOp, "window", "1 or more", std::to_string(*o.window));
  if (o.rows_at_once < 0) refuse(kAttentionOp, "rows_at_once", "0 or more", std::to_string(o.rows_at_once));
  if (o.scale && !std::isfinite(*o.scale))
    refuse(kAttentionOp, "scale", "a finite number", std::to_string(*o.scale), ErrorKind::value);
  if (!(o.dropout >= 0 && o.dropout < 1))
    refuse(kAttentionOp, "dropout", "from 0 to below 1", std::to_string(o.dropout), ErrorKind::value);
  if (!o.mask && !o.mask_operands.empty())
    refuse(kAttentionOp, "mask_operands", "none without a mask (a block_mask has its own)",
           std::to_string(o.mask_operands.size()));
  if (o.dropout > 0 && !o.generator) refuse(kAttentionOp, "generator", "one to draw from", "none", ErrorKind::value);
  if (!o.block_mask.defined()) return;
  if (o.mask) refuse(kAttentionOp, "mask", "none beside block_mask", "one");
  const Shape given = o.block_mask.scores(), wanted{s.batch, s.heads, s.rows, s.columns};
  for (std::size_t i = 0; i < 4; ++i)
    if (given[i] != wanted[i] && (i > 1 || given[i] != 1))
      refuse(kAttentionOp, "block_mask", "one of " + to_string(wanted), to_string(given));
  require_same_device(kAttentionOp, q, o.block_mask.blocks());
  require_current(o.block_mask);
}

}  // namespace tern::detail
