// Blocks whose rows lie anywhere, of one op or one loop: it goes along each row where that is, and copies none that it
// need not. Epilogues of products and operands that repeat a row take this way.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/tape/block_runner.hpp"

namespace tern::detail_cpu {

using detail::StepKind;

/// Whether a result may take the input's place in the register file.
bool BlockRunner::shares_slot(int input) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [&](const BlockOutput& output) {
    return tape_.values[static_cast<std::size_t>(output.value)].slot ==
           tape_.values[static_cast<std::size_t>(input)].slot;
  });
}

/// Places each operand: where its rows lie in memory as they are computed, else in its slot; what is the same for every
/// row is there once.
void BlockRunner::place_rows(Worker& w, const Block& b, RowTraversal& rows) const {
  const auto in_memory = [&](int value, const Cursor::Rectangle& matrix) {
    const auto v = static_cast<std::size_t>(value);
    w.at[v] = const_cast<void*>(matrix.data);
    rows.steps[v] = matrix.row * static_cast<std::int64_t>(compute_size(tape_.values[v].type));
    rows.moving.push_back(value);
  };
  const auto in_slot = [&](int value) {
    const auto v = static_cast<std::size_t>(value);
    w.at[v] = slot(w, value);
    rows.steps[v] = b.cols * static_cast<std::int64_t>(compute_size(tape_.values[v].type));
  };
  for (const BlockInput& input : inputs_) {
    const auto matrix = input.cursor.rectangle(b.position, b.rows, b.cols, b.pitch);
    if (matrix && matrix->col == 1 && stored_as_computed(input.cursor.dtype())) {
      in_memory(input.value, *matrix);
    } else if (matrix && matrix->row == 0 && !shares_slot(input.value)) {
      load(w, input, b.position, 1, b.cols, b.cols);
    } else if (tape_.values[static_cast<std::size_t>(input.value)].slot >= 0) {
      in_slot(input.value);
      rows.loaded.push_back(&input);
    }
  }
  for (const BlockOutput& output : outputs_) {
    const auto matrix = output.cursor.rectangle(b.position, b.rows, b.cols, b.pitch);
    const bool lies_there = matrix && matrix->col == 1;
    if (output.direct && lies_there) {
      in_memory(output.value, *matrix);
      continue;
    }
    if (tape_.values[static_cast<std::size_t>(output.value)].kind == StepKind::elementary) in_slot(output.value);
    if (lies_there) {
      const auto size = static_cast<std::int64_t>(dtype_size(output.cursor.dtype()));
      rows.stored.push_back({&output, static_cast<std::byte*>(const_cast<void*>(matrix->data)), matrix->row * size});
    } else {
      rows.stored.push_back({&output, nullptr, 0});
    }
  }
}

void BlockRunner::store_rows(const Worker& w, const Block& b, RowTraversal& rows) const {
  for (auto& [output, to, step] : rows.stored) {
    const auto v = static_cast<std::size_t>(output->value);
    const auto* const from = static_cast<const std::byte*>(w.at[v]);
    const bool streams = streams_ && reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && step % 64 == 0;
    const BlockFn store = (streams ? table_.stream : table_.store)[static_cast<int>(output->cursor.dtype())];
    const auto size = static_cast<std::int64_t>(dtype_size(output->cursor.dtype()));
    const auto computed = b.cols * static_cast<std::int64_t>(compute_size(tape_.values[v].type));
    const bool one_run = to && step == b.cols * size && rows.steps[v] == computed;
    if (one_run) store(from, to, static_cast<std::size_t>(b.size()));
    for (std::int64_t r = 0; r < b.rows && !one_run; ++r)
      if (to) store(from + r * rows.steps[v], to + r * step, static_cast<std::size_t>(b.cols));
      else output->cursor.store(table_, b.position + r * b.pitch, b.cols, from + r * rows.steps[v]);
    if (to) to += b.rows * step;
  }
}

bool BlockRunner::rows_lie_there(const Block& b) const {
  const auto lie = [&](const auto& operand) {
    const auto matrix = operand.cursor.rectangle(b.position, b.rows, b.cols, b.pitch);
    return matrix && matrix->col == 1 && (half_rows_ || stored_as_computed(operand.cursor.dtype()));
  };
  return goes_by_rows(b) && std::all_of(inputs_.begin(), inputs_.end(), lie) &&
         std::all_of(outputs_.begin(), outputs_.end(), lie);
}

/// The loop from and to 16-bit memory, row by row; false where an operand's rows are none there.
bool BlockRunner::run_half_rows(Worker& w, const Block& b, Steps& steps) const {
  const auto place = [&](const auto& operand) {
    const auto matrix = operand.cursor.rectangle(b.position, b.rows, b.cols, b.pitch);
    if (!matrix || matrix->col != 1) return false;
    const auto v = static_cast<std::size_t>(operand.value);
    w.at[v] = const_cast<void*>(matrix->data);
    steps[v] = matrix->row * 2;
    return true;
  };
  if (!std::all_of(inputs_.begin(), inputs_.end(), place) || !std::all_of(outputs_.begin(), outputs_.end(), place))
    return false;
  const TapeLoop& loop = tape_.loops[static_cast<std::size_t>(~way_.block[0])];
  const LoopRows rows{static_cast<std::size_t>(b.cols), static_cast<std::size_t>(b.rows), steps, {}};
  run_loop(w, loop, rows, may_stream(w, loop, rows), half_rows_);
  for (const BlockOutput& output : outputs_)
    w.at[static_cast<std::size_t>(output.value)] = slot(w, output.value);  // as others expect
  return true;
}

/// The op or loop that is all there is to do, on rows wherever they lie: as many at once as slots have room for.
void BlockRunner::run_rows(Worker& w, const Block& whole) const {
  RowTraversal rows{Steps(tape_.values.size(), 0), {}, {}, {}};
  if (half_rows_ && run_half_rows(w, whole, rows.steps)) return;
  if (whole.placed >= 0) {
    rows.steps[static_cast<std::size_t>(whole.placed)] = whole.placed_step;
    rows.moving.push_back(whole.placed);
  }
  place_rows(w, whole, rows);
  const std::int64_t together = std::max<std::int64_t>(1, block_ / whole.cols);
  for (std::int64_t done = 0; done < whole.rows; done += together) {
    Block b = whole;
    b.position += done * b.pitch, b.rows = std::min(together, whole.rows - done), b.kept = b.size();
    for (const BlockInput* input : rows.loaded) load(w, *input, b.position, b.rows, b.cols, b.pitch);
    execute_rows(w, b, rows.steps);
    store_rows(w, b, rows);
    for (const int value : rows.moving) {
      auto& at = w.at[static_cast<std::size_t>(value)];
      at = static_cast<std::byte*>(at) + b.rows * rows.steps[static_cast<std::size_t>(value)];
    }
  }
}

/// Whether the rows of all operands follow each other.
bool BlockRunner::are_one_run(const Block& b, const Steps& steps) const {
  const auto follows = [&](int value) {
    const auto v = static_cast<std::size_t>(value);
    return steps[v] == b.cols * static_cast<std::int64_t>(compute_size(tape_.values[v].type));
  };
  return b.size() <= kTapeBlock && (b.placed < 0 || follows(b.placed)) &&
         std::all_of(inputs_.begin(), inputs_.end(), [&](const BlockInput& i) { return follows(i.value); }) &&
         std::all_of(outputs_.begin(), outputs_.end(), [&](const BlockOutput& o) { return follows(o.value); });
}

void BlockRunner::execute_rows(const Worker& w, const Block& b, const Steps& steps) const {
  if (are_one_run(b, steps)) return execute(w, way_.block, b);
  if (way_.block[0] < 0) {
    const TapeLoop& loop = tape_.loops[static_cast<std::size_t>(~way_.block[0])];
    const LoopRows rows{static_cast<std::size_t>(b.cols), static_cast<std::size_t>(b.rows), steps, {}};
    return run_loop(w, loop, rows, may_stream(w, loop, rows));
  }
  const TapeOp& op = tape_.ops[static_cast<std::size_t>(way_.block[0])];
  for (std::int64_t r = 0; r < b.rows; ++r) {
    const auto at = [&](int value) {
      const auto v = static_cast<std::size_t>(value);
      return static_cast<std::byte*>(w.at[v]) + r * steps[v];
    };
    const void* args[3] = {at(op.args[0]), at(op.args[1]), at(op.args[2])};
    op.elementary(args, at(op.result), static_cast<std::size_t>(b.cols));
  }
}

}  // namespace tern::detail_cpu
