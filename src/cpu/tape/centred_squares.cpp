#include "cpu/tape/centred_squares.hpp"

#include <algorithm>

#include "cpu/tape/found_steps.hpp"

namespace tern::detail_cpu {
namespace {

std::size_t of_index(int index) { return static_cast<std::size_t>(index); }
bool divides_by_length(const Tape& tape, const TapeOp& op) {
  return op.kind == TapeOp::OpKind::elementary && op.which == Elementary::div && op.by_number &&
         tape.values[of_index(op.args[1])].kind == detail::StepKind::extent;
}

}  // namespace

CentredSquaresLoops::CentredSquaresLoops(const Tape& tape, const std::map<int, int>& producer) {
  for (std::size_t i = 0; i < tape.ops.size(); ++i)
    if (CentredValues found{}; tape.live[i] && is_plain_sum(tape.ops[i]) && match(tape, producer, tape.ops[i], found))
      all_.push_back(found);
}

bool CentredSquaresLoops::match(const Tape& tape, const std::map<int, int>& producer, const TapeOp& total,
                                CentredValues& found) const {
  const ComputeType type = total.type;
  const auto op_of = [&](int value) -> const TapeOp* {
    const auto made = producer.find(value);
    return made == producer.end() ? nullptr : &tape.ops[of_index(made->second)];
  };
  const TapeOp* const squares = op_of(total.args[0]);
  if (!squares || !is_function(*squares, Elementary::mul, type) || squares->args[0] != squares->args[1]) return false;
  const TapeOp* const centred = op_of(squares->args[0]);
  if (!centred || !centred->full || !is_function(*centred, Elementary::sub, type)) return false;
  const TapeOp* const repeated = op_of(centred->args[1]);
  if (!repeated || repeated->kind != TapeOp::OpKind::expand) return false;
  const TapeOp* const mean = op_of(repeated->args[0]);
  if (!mean || !divides_by_length(tape, *mean)) return false;
  const TapeOp* const sum = op_of(mean->args[0]);
  if (!sum || !is_plain_sum(*sum) || sum->args[0] != centred->args[0] || !tape.values[of_index(sum->args[0])].full)
    return false;
  const auto is_found = [&](const CentredValues& v) { return v.sum == sum->result || v.total == total.result; };
  if (std::ranges::any_of(all_, is_found)) return false;
  found = {sum->args[0],    sum->result,  mean->result, centred->result,
           squares->result, total.result, total.result, type == ComputeType::f64, false};
  for (std::size_t i = 0; i < tape.ops.size(); ++i) {
    const TapeOp& op = tape.ops[i];
    if (tape.live[i] && !op.full && op.args[0] == total.result && divides_by_length(tape, op) &&
        !is_read_elsewhere(tape, total.result, {op.result}))
      found.last = op.result;
  }
  found.keeps = is_read_elsewhere(tape, found.centred, {found.squares});
  return !is_read_elsewhere(tape, found.sum, {found.mean}) && !is_read_elsewhere(tape, found.squares, {found.total});
}

bool CentredSquaresLoops::CentredValues::gives(int value) const {
  return value == sum || value == mean || value == centred || value == squares || value == total || value == last;
}

Order CentredSquaresLoops::in_place_of_ops(const Order& ops, Tape& tape, const KernelTable& table) const {
  Order order;
  for (const int i : ops) {
    const int result = i < 0 ? -1 : tape.ops[of_index(i)].result;
    const auto found = std::ranges::find_if(all_, [&](const CentredValues& v) { return i >= 0 && v.gives(result); });
    if (found == all_.end()) order.push_back(i);
    if (found == all_.end() || result != found->sum) continue;
    order.push_back(~static_cast<int>(tape.loops.size()));
    TapeLoop& loop = tape.loops.emplace_back();
    loop.run = table.centred_squares[found->wide][found->keeps][found->last != found->total];
    loop.compute_bytes = found->wide ? 8 : 4;
    loop.inputs = {found->x}, loop.outputs = {found->mean, found->last};
    if (found->keeps) loop.outputs.push_back(found->centred);
    loop.over = TapeLoop::Over::short_rows;
  }
  return order;
}

}  // namespace tern::detail_cpu
