// What runs for every block. (Longer than other files: one unit, so that all of it can be inlined.) What is found out
// once is in block_runner_setup.cpp.
#include "cpu/tape/block_runner.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include <hwy/cache_control.h>

#include "cpu/products/gemm_kernels.hpp"
#include "cpu/tape/loops.hpp"
#include "cpu/tape/numbers.hpp"

namespace tern::detail_cpu {

using detail::Operand;
using detail::StepKind;

namespace {

/// The kernel that copies a matrix, transposing it where it must, as it is computed; null where there is none for the
/// dtype.
const decltype(GemmKernelsOf::copy)* matrix_copy(DType dtype) {
  const GemmKernels& kernels = gemm_kernels();
  switch (dtype) {
    case DType::f16: return &kernels.f16.copy;
    case DType::bf16: return &kernels.bf16.copy;
    case DType::f32:
    case DType::i32:
    case DType::u32: return &kernels.i32.copy;  // bits
    case DType::f64:
    case DType::i64: return &kernels.i64.copy;
    default: return nullptr;
  }
}

}  // namespace

void run_loop(const Worker& w, const TapeLoop& loop, const LoopRows& rows, bool streams, LoopFn half) {
  const void* in[kLoopInputs];
  const void* scalars[kLoopScalars];
  void* out[kLoopOutputs];
  std::int64_t in_steps[kLoopInputs], scalar_steps[kLoopScalars], out_steps[kLoopOutputs];
  const auto at = [&](int value) { return w.at[static_cast<std::size_t>(value)]; };
  for (std::size_t i = 0; i < loop.inputs.size(); ++i) in[i] = at(loop.inputs[i]);
  for (std::size_t i = 0; i < loop.scalars.size(); ++i) scalars[i] = at(loop.scalars[i]);
  for (std::size_t i = 0; i < loop.outputs.size(); ++i) out[i] = at(loop.outputs[i]);
  if (rows.count > 1 || rows.times > 0)
    for (std::size_t i = 0; i < loop.scalars.size(); ++i)
      scalar_steps[i] = loop.kept[i] ? static_cast<std::int64_t>(loop.compute_bytes) : 0;
  if (rows.count > 1) {
    for (std::size_t i = 0; i < loop.inputs.size(); ++i) in_steps[i] = rows.step(loop, loop.inputs[i]);
    for (std::size_t i = 0; i < loop.outputs.size(); ++i) out_steps[i] = rows.step(loop, loop.outputs[i]);
  }
  (half ? half : loop.run)({in, scalars, out, rows.n, streams, rows.count, in_steps, scalar_steps,
                            out_steps, rows.fetches.data(), rows.fetches.size(), rows.times});
}

/// Of 2^22 f32 by hand, results past the caches, Zen 3, in ms, fetched 256, 512, 1024 and 2048 bytes before their turn,
/// and not: floor 1.38, 1.26, 1.24, 1.32 and 1.42; but x + y 2.10, 2.23, 2.41 and, not fetched, 2.05.
constexpr std::int64_t kFetchedAhead = 512;

/// Bytes of rows that are copied together: they stay in L1.
constexpr std::size_t kCopied = 1024;

void expand_block(const KernelTable& table, ComputeType type, const void* in, void* out, const KeptOfBlock& b) {
  const std::size_t size = compute_size(type), run = static_cast<std::size_t>(b.size / b.kept);
  const auto* const from = static_cast<const std::byte*>(in);
  auto* const to = static_cast<std::byte*>(out);
  if (!b.rows) {
    const std::size_t bytes = static_cast<std::size_t>(b.kept) * size;
    std::memcpy(to, from, bytes);
    for (std::size_t done = bytes, more; done < run * bytes; done += more)  // rows may be few elements
      std::memcpy(to + done, to, more = std::min({done, run * bytes - done, kCopied / bytes * bytes + bytes}));
  } else if (b.group > 1 || run <= static_cast<std::size_t>(kShortRepetition)) {
    const bool pairs = size == 4 && b.group % 2 == 0;  // as elements of 8 bytes
    table.repeat[size == 8 || pairs](from, to, static_cast<std::size_t>(b.kept / b.group), run,
                                     static_cast<std::size_t>(pairs ? b.group / 2 : b.group), false);
  } else {
    for (std::size_t g = 0; g < static_cast<std::size_t>(b.kept); ++g)
      table.fill[static_cast<int>(type)](from + g * size, to + g * run * size, run);
  }
}

/// Bytes of an element of what is repeated: as loops take it from memory, or widened.
std::size_t BlockRunner::pattern_element(const BlockInput& input) const {
  return half_loop_ ? dtype_size(input.cursor.dtype())
                    : compute_size(tape_.values[static_cast<std::size_t>(input.value)].type);
}
void BlockRunner::fill_patterns(const Worker& w, std::int64_t block) const {
  for (const BlockInput& input : inputs_) {
    if (input.period == 0) continue;
    const std::size_t type = pattern_element(input);
    std::byte* const to = w.patterns + input.pattern * kPatternBytes;
    input.cursor.load(table_, 0, input.period, to);
    if (half_loop_) {  // which are the same halves again
      float wide[Cursor::kLongestPeriod];
      std::memcpy(wide, to, static_cast<std::size_t>(input.period) * sizeof(float));
      table_.store[static_cast<int>(input.cursor.dtype())](wide, to, static_cast<std::size_t>(input.period));
    }
    const std::size_t wanted = static_cast<std::size_t>(block + input.period) * type;
    for (std::size_t bytes = static_cast<std::size_t>(input.period) * type; bytes < wanted;) {
      const std::size_t more = std::min(bytes, wanted - bytes);
      std::memcpy(to + bytes, to, more);
      bytes += more;
    }
  }
}

Worker BlockRunner::make_worker(std::int64_t fill) const {
  Worker w{register_file(tape_.slots, slot_bytes_, pattern_bytes()),
           detail::SmallVector<void*, 32>(tape_.values.size(), nullptr), nullptr};
  w.patterns = w.file + static_cast<std::size_t>(tape_.slots) * slot_bytes_;
  fill_patterns(w, std::min({fill, block_, kPatternBlock}));
  for (const auto [value, at] : tape_.placed) w.at[value] = w.file + at * slot_bytes_;
  for (const auto& [value, filled, bits] : numbers_) {
    void* const to = w.at[static_cast<std::size_t>(value)];
    if (filled)
      table_.fill[static_cast<int>(tape_.values[static_cast<std::size_t>(value)].type)](
          &bits, to, static_cast<std::size_t>(std::min(fill, block_)));
    else std::memcpy(to, &bits, sizeof bits);
  }
  return w;
}

std::byte* BlockRunner::slot(const Worker& w, int value) const {
  return w.file + static_cast<std::size_t>(tape_.values[static_cast<std::size_t>(value)].slot) * slot_bytes_;
}

void BlockRunner::load(Worker& w, const BlockInput& input, std::int64_t position, std::int64_t rows, std::int64_t cols,
                       std::int64_t pitch) const {
  if (rows == 1 || pitch == cols) cols *= rows, rows = 1;
  if (reduces_in_place_) rows = 1;  // and the others follow
  void*& at = w.at[static_cast<std::size_t>(input.value)];
  if (rows == 1 && (half_loop_ || reduces_in_place_ || stored_as_computed(input.cursor.dtype())))
    if (const void* direct = input.cursor.direct(position, cols)) {
      at = const_cast<void*>(direct);
      return;
    }
  const TapeValue& value = tape_.values[static_cast<std::size_t>(input.value)];
  if (value.slot < 0) return;
  if (rows == 1 && input.period > 0 && cols <= std::min(block_, kPatternBlock)) {
    at = w.patterns + input.pattern * kPatternBytes +
         static_cast<std::size_t>(position % input.period) * pattern_element(input);
    return;
  }
  std::byte* to = slot(w, input.value);
  at = to;
  const std::size_t size = compute_size(value.type);
  if (const auto* copy = rows > 1 ? matrix_copy(input.cursor.dtype()) : nullptr)
    if (const auto matrix = input.cursor.rectangle(position, rows, cols, pitch); matrix && matrix->col != 0) {
      if (matrix->row == 1 && rows < 4 && stored_as_computed(input.cursor.dtype())) {
        split_short_rows(size, {static_cast<const std::byte*>(matrix->data), matrix->col, rows, cols}, to);
        return;
      }
      (*copy)({matrix->data, matrix->row, matrix->col}, rows, cols, to, cols, cols);
      return;
    }
  for (std::int64_t r = 0; r < rows; ++r)
    input.cursor.load(table_, position + r * pitch, cols, to + static_cast<std::size_t>(r * cols) * size);
}

void BlockRunner::load_full(Worker& w, const Block& b, int pass) const {
  std::uint64_t loaded = 0;  // of input_columns_
  for (std::size_t g = 0; g < input_columns_.size(); ++g)
    if (load_columns(w, input_columns_[g], b, pass)) loaded |= std::uint64_t{1} << g;
  for (const BlockInput& input : inputs_) {
    if (input.columns >= 0 && (loaded >> input.columns & 1)) continue;
    if (tape_.lazy[static_cast<std::size_t>(input.value)]) continue;
    if (input.full && (pass == kAnyPass || needs(pass)[static_cast<std::size_t>(input.value)]))
      load(w, input, b.position, b.rows, b.cols, b.pitch);
  }
}

void BlockRunner::load_kept(Worker& w, const Block& b) const {
  for (const BlockInput& input : inputs_)
    if (!input.full) load(w, input, b.kept_position, 1, b.kept, b.kept);
}

void BlockRunner::aim_outputs(Worker& w, const Block& b, bool full, int pass) const {
  for (const BlockOutput& output : outputs_) {
    if (!output.direct || output.full != full) continue;
    void*& at = w.at[static_cast<std::size_t>(output.value)];
    at = slot(w, output.value);
    if (pass != kAnyPass && output.pass != pass) continue;
    const bool one_run = !full || b.rows == 1 || b.pitch == b.cols;
    const void* memory =
        one_run ? output.cursor.direct(full ? b.position : b.kept_position, full ? b.size() : b.kept) : nullptr;
    if (memory) at = const_cast<void*>(memory);
  }
}

void BlockRunner::store_outputs(Worker& w, const Block& b, bool full, int pass) const {
  std::uint64_t stored = 0;  // of output_columns_
  for (std::size_t g = 0; full && g < output_columns_.size(); ++g)
    if (store_columns(w, output_columns_[g], b, pass)) stored |= std::uint64_t{1} << g;
  for (const BlockOutput& output : outputs_) {
    if (output.full != full || (pass != kAnyPass && output.pass != pass)) continue;
    if (output.columns >= 0 && (stored >> output.columns & 1)) continue;
    const void* at = w.at[static_cast<std::size_t>(output.value)];
    const TapeValue& value = tape_.values[static_cast<std::size_t>(output.value)];
    if (output.direct && at != slot(w, output.value)) continue;  // written already
    const std::size_t size = compute_size(value.type);
    if (!full || b.rows == 1 || b.pitch == b.cols) {
      output.cursor.store(table_, full ? b.position : b.kept_position, full ? b.size() : b.kept, at, streams_);
      continue;
    }
    const auto matrix = output.cursor.rectangle(b.position, b.rows, b.cols, b.pitch);
    if (matrix && matrix->row == 1 && b.rows < kShortRun && stored_as_computed(output.cursor.dtype())) {
      if (const auto* copy = b.rows >= 4 ? matrix_copy(output.cursor.dtype()) : nullptr)
        (*copy)({at, 1, b.cols}, b.cols, b.rows, const_cast<void*>(matrix->data), matrix->col, b.rows);
      else join_short_rows(size, static_cast<const std::byte*>(at),
                {static_cast<std::byte*>(const_cast<void*>(matrix->data)), matrix->col, b.rows, b.cols});
      continue;
    }
    for (std::int64_t r = 0; r < b.rows; ++r)
      output.cursor.store(table_, b.position + r * b.pitch, b.cols,
                          static_cast<const std::byte*>(at) + static_cast<std::size_t>(r * b.cols) * size, streams_);
  }
}

void BlockRunner::expand(const Worker& w, const TapeOp& op, const Block& b) const {
  expand_block(table_, op.type, w.at[static_cast<std::size_t>(op.args[0])], w.at[static_cast<std::size_t>(op.result)],
               {rows_, group_, b.kept, b.size()});
}

/// Where 16-bit floats are reduced as they lie in memory: the kernels for it.
const HalfReduction* BlockRunner::half_reduction(const TapeOp& op) const {
  for (const BlockInput& input : inputs_)
    if (reduces_in_place_ && input.value == op.args[0] && !stored_as_computed(input.cursor.dtype()))
      return &table_.reduce_half[static_cast<int>(op.which)][input.cursor.dtype() == DType::bf16];
  return nullptr;
}
void BlockRunner::reduce(const TapeOp& op, const void* in, void* out, const Block& b, bool stream) const {
  const HalfReduction* const half = half_reduction(op);
  const auto kept = static_cast<std::size_t>(b.kept);
  if (group_ > 1)
    op.groups(in, out, static_cast<std::size_t>(b.kept / group_), static_cast<std::size_t>(b.size() / b.kept),
              static_cast<std::size_t>(group_));
  else if (rows_) (half ? half->rows : op.rows)(in, out, kept, static_cast<std::size_t>(b.size() / b.kept), stream);
  else (half ? half->columns : op.columns)(in, out, static_cast<std::size_t>(b.rows), kept, false);
}
void BlockRunner::join_rows(const TapeOp& op, const void* in, void* into, const Block& b) const {
  const HalfReduction* const half = half_reduction(op);
  (half ? half->join : op.join)(in, static_cast<std::size_t>(b.pitch), static_cast<std::size_t>(b.rows), into,
                                static_cast<std::size_t>(b.kept));
}

void BlockRunner::execute(const Worker& w, const TapeOp& op, const Block& b) const {
  const auto n = static_cast<std::size_t>(op.once ? 1 : op.full ? b.size() : b.kept);
  void* result = w.at[static_cast<std::size_t>(op.result)];
  const void* first = w.at[static_cast<std::size_t>(op.args[0])];
  switch (op.kind) {
    case TapeOp::OpKind::elementary: {
      if (short_rows_ && op.with_column) {
        op.with_column(w.at[static_cast<std::size_t>(op.along)], w.at[static_cast<std::size_t>(op.column)], result,
                       static_cast<std::size_t>(b.kept), n / static_cast<std::size_t>(b.kept), false);
        break;
      }
      const void* args[3] = {first, w.at[static_cast<std::size_t>(op.args[1])],
                             w.at[static_cast<std::size_t>(op.args[2])]};
      op.elementary(args, result, n);
      break;
    }
    case TapeOp::OpKind::block: op.block(first, result, n); break;
    case TapeOp::OpKind::expand:
      if (!short_rows_ || !way_.unread[static_cast<std::size_t>(&op - tape_.ops.data())]) expand(w, op, b);
      break;
    case TapeOp::OpKind::reduce:
      if (op.place >= 0) {
        const TapeOnline& online = tape_.online[static_cast<std::size_t>(op.place)];
        const TapeOp& pivot = tape_.ops[static_cast<std::size_t>(online.pivot)];
        find_places(w, online, b, w.at[static_cast<std::size_t>(pivot.result)], static_cast<std::int32_t*>(result));
      } else if (!only_place_) {
        reduce(op, first, result, b, streams_ && is_aligned_memory(w, result));
      }
      break;
  }
}

/// Whether what is there lies in aligned memory, not in the register file.
bool BlockRunner::is_aligned_memory(const Worker& w, const void* at) const {
  const auto* const to = static_cast<const std::byte*>(at);
  const std::byte* const end = w.file + static_cast<std::size_t>(tape_.slots) * slot_bytes_;
  return reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && !(to >= w.file && to < end);
}

/// Whether a loop's results may pass by the caches: all go to aligned memory and none to the register file.
bool BlockRunner::may_stream(const Worker& w, const TapeLoop& loop, const LoopRows& rows) const {
  return streams_ && std::all_of(loop.outputs.begin(), loop.outputs.end(), [&](int value) {
    return (rows.count == 1 || rows.step(loop, value) % 64 == 0) &&
           is_aligned_memory(w, w.at[static_cast<std::size_t>(value)]);
  });
}

/// What the block after b reads, where it lies.
BlockRunner::Fetches BlockRunner::fetches_for(const Block& b) const {
  Fetches list;
  for (const BlockInput& input : inputs_) {
    const void* const from = input.full ? input.cursor.direct(b.next, b.size()) : nullptr;
    if (from && from != input.cursor.direct(b.position, b.size()))
      list.push_back({from, dtype_size(input.cursor.dtype())});
  }
  return list;
}

/// Where columns of results go that a block joins after this loop: a draw reads nothing, so that their lines are read
/// while it computes, not when they are written.
BlockRunner::Fetches BlockRunner::fetches_of_draw(const TapeLoop& loop, const Block& b) const {
  Fetches list;
  const std::span draws(&table_.philox[0][0][0], sizeof table_.philox / sizeof(LoopFn));
  if (streams_ || std::ranges::find(draws, loop.run) == draws.end()) return list;
  for (const Columns& columns : output_columns_) {
    const std::int64_t bytes = columns.line.step * static_cast<std::int64_t>(sizeof(std::uint32_t));
    list.push_back({columns.line.begin + b.position * bytes, static_cast<std::size_t>(bytes)});
  }
  return list;
}

/// What a loop reads kFetchedAhead bytes later of its one operand, where that lies in memory.
BlockRunner::Fetches BlockRunner::fetches_ahead(const Block& b) const {
  Fetches list;
  const BlockInput& input = inputs_[0];
  if (const void* const from = input.full ? input.cursor.direct(b.position, b.size()) : nullptr)
    list.push_back({static_cast<const std::byte*>(from) + kFetchedAhead, dtype_size(input.cursor.dtype())});
  return list;
}

void BlockRunner::execute_loop(const Worker& w, const TapeLoop& loop, const Block& b,
                               std::span<const Fetch> fetches) const {
  const auto size = static_cast<std::size_t>(b.size()), kept = static_cast<std::size_t>(b.kept);
  LoopRows rows{size, 1, {}, fetches};
  switch (loop.over) {
    case TapeLoop::Over::kept: rows.n = kept; break;
    case TapeLoop::Over::short_rows: rows.times = size / kept; break;
    case TapeLoop::Over::elements:
      if (!loop.of_rows() || kept == 1) break;
      if (short_rows_) rows.times = size / kept;
      else rows.n = size / kept, rows.count = kept;
  }
  run_loop(w, loop, rows, may_stream(w, loop, rows), half_loop_);
}

void BlockRunner::execute(const Worker& w, const Order& order, const Block& b) const {
  bool fetches = fetches_ && b.next >= 0;  // the first loop does it
  for (const int i : order) {
    if (i >= 0) {
      execute(w, tape_.ops[static_cast<std::size_t>(i)], b);
      continue;
    }
    const TapeLoop& loop = tape_.loops[static_cast<std::size_t>(~i)];
    if (short_rows_ && loop.only >= 0 && tape_.ops[static_cast<std::size_t>(loop.only)].with_column)
      execute(w, tape_.ops[static_cast<std::size_t>(loop.only)], b);
    else if (loop.over != TapeLoop::Over::elements) execute_loop(w, loop, b, {});
    else if (fetches) execute_loop(w, loop, b, fetches_for(b));
    else execute_loop(w, loop, b, fetches_ahead_ ? fetches_ahead(b) : fetches_of_draw(loop, b));
    fetches = fetches && loop.over != TapeLoop::Over::elements;
  }
}

const Order& BlockRunner::pass(int index) const {
  return in_place_ && index == tape_.program->passes - 1 ? way_.late : way_.passes[static_cast<std::size_t>(index)];
}
const std::vector<bool>& BlockRunner::needs(int pass) const {
  return in_place_ && pass == tape_.program->passes - 1 ? tape_.needs.back()
                                                       : tape_.needs[static_cast<std::size_t>(pass)];
}
bool BlockRunner::reads(int pass, int index) const {
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const BlockInput& input) {
    const TapeValue& value = tape_.values[static_cast<std::size_t>(input.value)];
    return input.full && value.kind == StepKind::input && value.index == index &&
           needs(pass)[static_cast<std::size_t>(input.value)];
  });
}

bool BlockRunner::has_full_outputs(int pass) const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [&](const BlockOutput& o) { return o.full && (pass == kAnyPass || o.pass == pass); });
}

bool BlockRunner::is_one_loop(std::int64_t count) const {
  if (half_loop_) return true;
  const auto takes_memory = [&] {  // and no numbers, which are filled in for kTapeBlock
    const TapeOp& op = tape_.ops[static_cast<std::size_t>(way_.block[0])];
    const auto is_taken = [&](const Constant& c) {
      return c.filled && std::find(op.args, op.args + op.arity, c.value) != op.args + op.arity;
    };
    return op.kind == TapeOp::OpKind::elementary && std::ranges::none_of(numbers_, is_taken);
  };
  return way_.block.size() == 1 && (way_.block[0] < 0 || takes_memory()) &&
         std::all_of(
             inputs_.begin(), inputs_.end(), [&](const BlockInput& i) { return lies_there(i.cursor, count); }) &&
         std::all_of(
             outputs_.begin(), outputs_.end(),
             [&](const BlockOutput& o) { return o.direct && lies_there(o.cursor, count); });
}
bool BlockRunner::reduce_in_place(std::int64_t count) {
  const bool places = !tape_.online.empty();
  if (has_full_outputs() || (places && !rows_)) return false;
  if (!std::ranges::all_of(tape_.online, &TapeOnline::is_place)) return false;
  for (std::size_t i = 0; i < tape_.ops.size(); ++i) {
    const TapeOp& op = tape_.ops[i];
    if (op.place >= 0 || !tape_.live[i]) continue;
    const StepKind of =
        tape_.values[static_cast<std::size_t>(op.args[0])].kind;  // of a number the register file has kTapeBlock
    if (op.kind == TapeOp::OpKind::reduce ? of != StepKind::input : op.full) return false;
  }
  const auto is_computed_in = [&](const BlockInput& i) {
    const DType dtype = i.cursor.dtype();
    return stored_as_computed(dtype) ||
           (!places && group_ == 1 && (dtype == DType::f16 || dtype == DType::bf16) &&
            table_.reduce_half[static_cast<int>(Elementary::sum)][dtype == DType::bf16].rows);
  };
  reduces_in_place_ = std::all_of(inputs_.begin(), inputs_.end(), [&](const BlockInput& i) {
    return tape_.lazy[static_cast<std::size_t>(i.value)] ||
           (i.full && is_computed_in(i) && i.cursor.direct(0, count) != nullptr);
  });
  return reduces_in_place_;
}
/// Whether `count` elements are one run in memory, as they are computed.
bool BlockRunner::lies_there(const Cursor& cursor, std::int64_t count) {
  return stored_as_computed(cursor.dtype()) && cursor.direct(0, count) != nullptr;
}

void BlockRunner::finish() const {
  if (streams_) hwy::FlushStream();
}

void BlockRunner::run_block(Worker& w, const Block& b) const {
  if (goes_by_rows(b)) return run_rows(w, b);
  load_full(w, b);
  load_kept(w, b);
  aim_outputs(w, b, true);
  aim_outputs(w, b, false);
  execute(w, way_.block, b);
  store_outputs(w, b, true);
  store_outputs(w, b, false);
}

}  // namespace tern::detail_cpu
