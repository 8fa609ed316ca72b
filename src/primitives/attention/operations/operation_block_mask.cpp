// Masks of attention that are made once: what is seen of each block of the scores, counted by one formula that is laid
// over blocks, so that no tensor has as many elements as there are scores.
#include <algorithm>

#include "primitives/attention/attention.hpp"
#include "primitives/attention/operations/operation_graphs.hpp"
#include "tern/creation.hpp"
#include "tern/ops.hpp"

namespace tern {
namespace detail {
namespace {

constexpr const char* kBlockMask = "block_mask";

std::int64_t blocks_in(std::int64_t n) { return (n + kMaskBlock - 1) / kMaskBlock; }
/// Rows, or columns, of a block: all where there are fewer than one has.
std::int64_t side_of_blocks(std::int64_t n) { return std::clamp<std::int64_t>(n, 1, kMaskBlock); }
/// An operand laid over [batch, heads, rows of blocks, columns of blocks, rows, columns]; filled up to whole blocks.
Tensor over_blocks(const Tensor& of, const Shape& scores) {
  Tensor x = of;
  while (x.dim() < 4) x = x.unsqueeze(0);
  for (const int axis : {2, 3}) {
    const std::int64_t there = x.size(axis), whole = blocks_in(there) * side_of_blocks(there);
    if (there == 1 && scores[static_cast<std::size_t>(axis)] != 1) continue;
    Shape more = x.shape();
    more[static_cast<std::size_t>(axis)] = whole - there;
    if (whole > there)
      x = concatenate(std::vector<Tensor>{x, zeros(more, {.dtype = x.dtype(), .device = x.device()})}, axis);
  }
  const auto split = [](std::int64_t n) {
    return n <= kMaskBlock ? std::pair{std::int64_t{1}, n} : std::pair{n / kMaskBlock, kMaskBlock};
  };
  const auto [row_blocks, rows] = split(x.size(2));
  const auto [column_blocks, columns] = split(x.size(3));
  return x.reshape({x.size(0), x.size(1), row_blocks, rows, column_blocks, columns}).permute({0, 1, 2, 4, 3, 5});
}

/// How often the memory of each was written to; 0 of numbers.
std::vector<std::uint32_t> versions_of(const std::vector<MaskOperand>& operands) {
  std::vector<std::uint32_t> versions;
  for (const MaskOperand& m : operands) {
    const Storage* const storage = m.tensor.defined() ? m.tensor.impl()->storage.get() : nullptr;
    versions.push_back(storage ? storage->version() : 0);
  }
  return versions;
}

}  // namespace

MaskOperand::MaskOperand(const Tensor& t) : tensor(t) {
  if (!t.defined()) throw Error(ErrorKind::shape, "attention: an operand of the mask is an undefined Tensor");
}

BlockMask make_block_mask(const Pointwise<>& mask, const Shape& scores, std::vector<MaskOperand> operands) {
  for (const std::int64_t n : scores)
    if (n < 0) refuse(kBlockMask, "sizes", "0 or more", to_string(scores));
  const FormulaGraph* const graph = mask.graph();
  if (graph->reduces || graph->axis_sums)
    throw Error(ErrorKind::unsupported, std::string(kBlockMask) + ": the predicate contains a reduction");
  const std::size_t given = static_cast<std::size_t>(graph->inputs) - mask.values().size();
  if (given != 4 + operands.size())
    refuse(kBlockMask, "predicate", "4 arguments and one for each of " + std::to_string(operands.size()) + " operands",
           std::to_string(given) + " arguments");
  Device device = default_device();
  bool found = false;
  for (const MaskOperand& m : operands) {
    if (!m.tensor.defined()) continue;
    check_broadcasts(kBlockMask, "an operand", m.tensor, scores);
    if (found && m.tensor.device() != device)
      refuse(kBlockMask, "operands", "on one device", describe(m.tensor), ErrorKind::device);
    device = m.tensor.device(), found = true;
  }
  BlockMask result;
  result.versions_ = versions_of(operands);
  const Shape blocks{scores[0], scores[1], blocks_in(scores[2]), blocks_in(scores[3])};
  Shape space = blocks;
  space.push_back(side_of_blocks(scores[2])), space.push_back(side_of_blocks(scores[3]));
  PoolVector<Tensor> laid;
  laid.reserve(operands.size());
  const Tensor any = zeros({1, 1, 1, 1, 1, 1}, {.dtype = DType::f32, .device = device});
  PoolVector<Argument> arguments{Argument(any), Argument(scores[2]), Argument(scores[3])};
  for (const MaskOperand& m : operands) {
    if (m.tensor.defined()) laid.push_back(over_blocks(m.tensor, scores));
    arguments.push_back(m.tensor.defined() ? Argument(laid.back()) : Argument(m.number));
  }
  for (const Number& n : mask.values()) arguments.push_back(Argument(n));
  Tensor seen;
  fused({.op = kBlockMask, .graph = mask_count_graph(graph), .reduced = 48, .space = space}, arguments,
        std::span(&seen, 1));
  const auto there = [&](std::int64_t n) {
    const Tensor left = n - arange(0, blocks_in(n), 1, {.dtype = DType::i32, .device = device}) * kMaskBlock;
    return minimum(left, kMaskBlock);
  };
  const Tensor all = there(scores[2]).unsqueeze(-1) * there(scores[3]);
  seen = seen.reshape(blocks);
  result.blocks_ = where(seen == 0, 0, where(seen == all, 2, 1)).to(DType::i32);
  result.mask_ = mask, result.operands_ = std::move(operands), result.scores_ = scores;
  return result;
}

}  // namespace detail

bool BlockMask::current() const { return detail::versions_of(operands_) == versions_; }

double BlockMask::visited() const {
  if (!defined() || blocks_.numel() == 0) return 1;
  return static_cast<double>((blocks_ != 0).sum().item<std::int64_t>()) / static_cast<double>(blocks_.numel());
}

}  // namespace tern
