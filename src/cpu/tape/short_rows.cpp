// What goes along short rows that lie one behind the other from memory to memory, without blocks: sums and means, and
// one operation with a column.
#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {
namespace {

using detail::StepKind;

/// Elements of a part: what comes between two is little beside it.
constexpr std::int64_t kElementsOfPart = 16 * kLargeBlock;
/// Rows of a part are whole lines of what is written, whatever is stored: no two threads write one.
constexpr std::int64_t kWholeRows = 64;

/// Rows of `length` elements of a part.
std::int64_t rows_of_part(std::int64_t length) { return kElementsOfPart / length / kWholeRows * kWholeRows; }
/// Whether what lies there may be written past the caches.
bool streams_to(const Run& run, const Cursor::StridedMemory& to) {
  return run.runner.streams() && reinterpret_cast<std::uintptr_t>(to.begin) % 64 == 0;
}

/// Whether the tape is a sum of its only operand, or that divided by how many are summed.
bool is_sum_or_mean(const Tape& tape) {
  const auto kind = [&](int value) { return tape.values[static_cast<std::size_t>(value)].kind; };
  if (tape.ops.empty() || tape.ops.size() > 2 || tape.outputs.size() != 1 || !tape.online.empty()) return false;
  const TapeOp &sum = tape.ops[0], &last = tape.ops.back();
  if (sum.kind != TapeOp::OpKind::reduce || sum.which != Elementary::sum || kind(sum.args[0]) != StepKind::input ||
      tape.outputs[0] != last.result)
    return false;
  return tape.ops.size() == 1 || (last.kind == TapeOp::OpKind::elementary && last.which == Elementary::div &&
                                  last.args[0] == sum.result && kind(last.args[1]) == StepKind::extent);
}

}  // namespace

bool run_short_sums(Run& run) {
  const detail::FusedRequest& r = run.request;
  const Layout& layout = run.layout;
  if (r.inputs.size() != 1 || r.outputs.size() != 1 || !layout.rows || layout.group != 1 || !is_sum_or_mean(run.tape))
    return false;
  const detail::View &in = r.inputs[0].view, &out = r.outputs[0];
  const auto dtype = static_cast<std::size_t>(in.dtype);
  const ComputeType type = run.tape.ops[0].type;
  if (!in.storage || r.inputs[0].gather || in.dtype != out.dtype || in.storage == out.storage || layout.length < 2 ||
      layout.length > run.table.summed_row[dtype] || type != detail::compute_type_of(in.dtype))
    return false;
  const Cursor::StridedMemory from = Cursor(in, layout.full).line(), to = Cursor(out, layout.kept).line();
  if (from.step != 1 || to.step != 1) return false;

  const std::int64_t rows = layout.kept.count(), size = static_cast<std::int64_t>(dtype_size(in.dtype)),
                     some = rows_of_part(layout.length);
  const bool parallel = run.worth_threads(layout.full.count()), streams = streams_to(run, to);
  run.describe("short rows from memory to memory", parallel);
  run.ranges((rows + some - 1) / some, parallel, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * some, end = std::min(last * some, rows);
    run.table.row_sums[dtype](from.begin + begin * layout.length * size, to.begin + begin * size,
                              static_cast<std::size_t>(end - begin), static_cast<std::size_t>(layout.length),
                              run.tape.ops.size() == 2, streams);
  });
  return true;
}

bool run_with_column(Run& run) {
  const detail::FusedRequest& r = run.request;
  if (run.layout.full.rank < 2 || run.tape.ops.size() != 1 || run.tape.outputs.size() != 1 || r.inputs.size() != 2 ||
      r.outputs.size() != 1)
    return false;
  const TapeOp& op = run.tape.ops[0];
  const detail::View& out = r.outputs[0];
  const auto dtype = static_cast<std::size_t>(out.dtype);
  if (op.kind != TapeOp::OpKind::elementary || op.arity != 2 || run.tape.outputs[0] != op.result) return false;
  const Cursor::StridedMemory to = Cursor(out, run.layout.full).line();
  if (to.step != 1) return false;
  for (const bool column_first : {false, true}) {
    const WithColumnFn function = run.table.with_column[column_first][static_cast<int>(op.which)][dtype];
    const auto operand = [&](int argument) -> const detail::Operand* {
      const TapeValue& value = run.tape.values[static_cast<std::size_t>(op.args[argument])];
      const detail::Operand* const o =
          value.kind == StepKind::input ? &r.inputs[static_cast<std::size_t>(value.index)] : nullptr;
      return o && o->view.storage && !o->gather && o->view.dtype == out.dtype ? o : nullptr;
    };
    const detail::Operand *const x = operand(column_first), *const column = operand(!column_first);
    if (!function || !x || !column || column->view.storage == out.storage) continue;
    const Cursor::StridedMemory from = Cursor(x->view, run.layout.full).line();
    const auto repeated = Cursor(column->view, run.layout.full).repetition();
    if (from.step != 1 || (x->view.storage == out.storage && from.begin != to.begin) || !repeated ||
        repeated->times > run.table.column_times[dtype])
      continue;
    const std::int64_t times = repeated->times, rows = repeated->rows, some = rows_of_part(times),
                       size = static_cast<std::int64_t>(dtype_size(out.dtype));
    const bool parallel = run.worth_threads(rows * times), streams = streams_to(run, to);
    run.describe("short rows and a column from memory to memory", parallel);
    run.ranges((rows + some - 1) / some, parallel, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t begin = first * some, end = std::min(last * some, rows), at = begin * times * size;
      function(from.begin + at, repeated->column + begin * size, to.begin + at, static_cast<std::size_t>(end - begin),
               static_cast<std::size_t>(times), streams);
    });
    return true;
  }
  return false;
}

}  // namespace tern::detail_cpu
