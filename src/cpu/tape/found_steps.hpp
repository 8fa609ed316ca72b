// What is asked of a tape's steps where a kernel may take several of them (centred_squares.hpp, product_sums.hpp).
#pragma once
#include <algorithm>
#include <vector>

#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

inline bool is_plain_sum(const TapeOp& op) {
  return op.kind == TapeOp::OpKind::reduce && op.which == Elementary::sum && op.place < 0 && detail::is_float(op.type);
}
inline bool is_function(const TapeOp& op, Elementary which, ComputeType type) {
  return op.kind == TapeOp::OpKind::elementary && op.which == which && op.type == type && !op.fast;
}
inline bool reads(const TapeOp& op, int value) {
  return std::find(op.args, op.args + op.arity, value) != op.args + op.arity;
}
/// Whether an output, or an op that outputs need and that gives none of these values, reads `value`.
inline bool is_read_elsewhere(const Tape& tape, int value, const std::vector<int>& given) {
  if (std::ranges::count(tape.outputs, value) > 0) return true;
  for (std::size_t i = 0; i < tape.ops.size(); ++i)
    if (tape.live[i] && std::ranges::count(given, tape.ops[i].result) == 0 && reads(tape.ops[i], value)) return true;
  return false;
}

}  // namespace tern::detail_cpu
