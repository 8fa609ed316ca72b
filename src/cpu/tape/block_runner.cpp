// (Longer than other files: what runs for every block, and for every small call, in one unit, so that it can be
// inlined.)
#include "cpu/tape/block_runner.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <hwy/cache_control.h>

#include "cpu/machine/caches.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/tape/loops.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using detail::Operand;
using detail::StepKind;

namespace {

/// The value of a number step, in the bits of its type.
std::int64_t number_bits(ComputeType type, const Number& n) {
  const auto bits = [](auto value) {
    std::int64_t result = 0;
    std::memcpy(&result, &value, sizeof value);
    return result;
  };
  // In integer lanes it is in range (checked with the call); in the others it may be infinite.
  const auto integer = [&] { return n.is_integer ? n.integer : static_cast<std::int64_t>(n.real); };
  switch (type) {
    case ComputeType::f32: return bits(n.is_integer ? static_cast<float>(n.integer) : static_cast<float>(n.real));
    case ComputeType::f64: return bits(n.is_integer ? static_cast<double>(n.integer) : n.real);
    case ComputeType::i32: return bits(static_cast<std::int32_t>(integer()));
    case ComputeType::u32: return bits(static_cast<std::uint32_t>(integer()));
    case ComputeType::i64: return integer();
  }
  return 0;
}

/// This thread's register file: `slots` blocks of so many bytes, 64-byte aligned, and more behind them.
std::byte* register_file(int slots, std::size_t slot_bytes, std::size_t more = 0) {
  struct File {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    ~File() { ::operator delete (data, std::align_val_t{64}); }
  };
  File& file = detail::of_thread<File>();
  const std::size_t bytes = static_cast<std::size_t>(slots) * slot_bytes + more;
  if (file.bytes < bytes) {
    ::operator delete (file.data, std::align_val_t{64});
    file.data = nullptr, file.bytes = 0;
    const std::size_t wanted = std::max(bytes, 16 * kSlotBytes);
    file.data = static_cast<std::byte*>(::operator new (wanted, std::align_val_t{64}));
    file.bytes = wanted;
  }
  return file.data;
}

/// The kernel that copies a matrix, transposing it where it must, into lanes; null where there is none for the dtype.
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

std::int64_t bytes_of(const detail::View& view, const AxisOrder& space) {
  std::int64_t count = 1;
  for (int i = 0; i < space.rank; ++i)
    if (view.strides[static_cast<std::size_t>(space.axes[i])] != 0) count *= space.sizes[i];
  return count * static_cast<std::int64_t>(dtype_size(view.dtype));
}

/// What is read and written.
std::int64_t bytes_of(std::span<const Operand> inputs, std::span<const detail::View> outputs, const AxisOrder& space) {
  std::int64_t bytes = 0;
  for (const Operand& operand : inputs)
    if (operand.view.storage) bytes += bytes_of(operand.view, space);
  for (const detail::View& output : outputs) bytes += bytes_of(output, space);
  return bytes;
}

}  // namespace

std::size_t compute_size(ComputeType type) { return detail::is_wide(type) ? 8 : 4; }
bool stored_as_computed(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i32 || dtype == DType::u32 ||
         dtype == DType::i64;
}

namespace {

/// Whether the last that gives this value is a loop.
bool made_by_loop(const Tape& tape, const Tape::Way& way, int value) {
  for (const int i : way.block)
    if (i < 0)
      for (const int output : tape.loops[static_cast<std::size_t>(~i)].outputs)
        if (output == value) return true;
  return false;
}

void run_leaf(const Worker& w, const TapeOp& op, std::size_t n) {
  const void* args[3];
  for (int a = 0; a < 3; ++a) args[a] = w.at[static_cast<std::size_t>(op.args[a])];
  op.leaf(args, w.at[static_cast<std::size_t>(op.result)], n);
}

bool lies_as(const detail::View& view, const Shape& space) {
  return stored_as_computed(view.dtype) && is_contiguous(view, space);
}

/// Whether every step is an op or a loop that run_small knows, and every operand lies right.
bool is_small(const detail::FusedRequest& r, const Tape& tape, const Tape::Way& way, std::int64_t count) {
  if (tape.program->reduces || count > kBlock || count == 0) return false;
  for (const Operand& operand : r.inputs)
    if (operand.gather || (operand.view.storage && !lies_as(operand.view, r.space))) return false;
  for (const detail::View& output : r.outputs)
    if (!lies_as(output, r.space)) return false;
  for (const TapeValue& value : tape.values)
    if (value.kind == StepKind::position) return false;
  for (const int i : way.block)
    if (i >= 0 && tape.ops[static_cast<std::size_t>(i)].kind != TapeOp::Kind::leaf) return false;
  return true;
}

}  // namespace

bool is_contiguous(const detail::View& view, const Shape& space) {
  std::int64_t step = 1;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (space[axis] != 1 && view.strides[axis] != step) return false;
    step *= space[axis];
  }
  return true;
}
void* memory_of(const detail::View& view) {
  return static_cast<std::byte*>(view.storage->data()) +
         view.offset * static_cast<std::int64_t>(dtype_size(view.dtype));
}

void run_loop(const Worker& w, const TapeLoop& loop, const LoopRows& rows, bool streams, LoopFn half) {
  const void* in[kLoopInputs];
  const void* scalars[kLoopScalars];
  void* out[kLoopOutputs];
  std::int64_t in_steps[kLoopInputs], scalar_steps[kLoopScalars], out_steps[kLoopOutputs];
  const auto at = [&](int value) { return w.at[static_cast<std::size_t>(value)]; };
  for (std::size_t i = 0; i < loop.inputs.size(); ++i) in[i] = at(loop.inputs[i]);
  for (std::size_t i = 0; i < loop.scalars.size(); ++i) scalars[i] = at(loop.scalars[i]);
  for (std::size_t i = 0; i < loop.outputs.size(); ++i) out[i] = at(loop.outputs[i]);
  if (rows.count > 1) {
    for (std::size_t i = 0; i < loop.inputs.size(); ++i) in_steps[i] = rows.step(loop, loop.inputs[i]);
    for (std::size_t i = 0; i < loop.scalars.size(); ++i)
      scalar_steps[i] = loop.kept[i] ? static_cast<std::int64_t>(loop.compute_bytes) : 0;
    for (std::size_t i = 0; i < loop.outputs.size(); ++i) out_steps[i] = rows.step(loop, loop.outputs[i]);
  }
  (half ? half : loop.run)({in, scalars, out, rows.n, streams, rows.count, in_steps, scalar_steps, out_steps,
                            rows.fetches.data(), rows.fetches.size()});
}

bool run_small(const detail::FusedRequest& r, const Tape& tape, const KernelTable& table) {
  // A single op is a kernel as it is; as a loop it is one for what does not fit a block.
  const Tape::Way& way = loops_enabled() && tape.ops.size() > 1 ? tape.compiled : tape.plain;
  std::int64_t count = 1;
  for (const std::int64_t size : r.space) count *= size;
  if (!is_small(r, tape, way, count)) return false;
  const auto n = static_cast<std::size_t>(count);
  Worker w{register_file(tape.slots, kSlotBytes), {}, nullptr};
  for (std::size_t v = 0; v < tape.values.size(); ++v) {
    const TapeValue& value = tape.values[v];
    std::byte* const slot = value.slot < 0 ? nullptr : w.file + static_cast<std::size_t>(value.slot) * kSlotBytes;
    w.at.push_back(slot);
    if (value.kind == StepKind::input) w.at[v] = memory_of(r.inputs[static_cast<std::size_t>(value.index)].view);
    if (!slot || (value.kind != StepKind::number && value.kind != StepKind::param)) continue;
    const Number& number =
        value.kind == StepKind::number ? value.number : r.inputs[static_cast<std::size_t>(value.index)].number;
    const std::int64_t bits = number_bits(value.type, number);
    table.fill[static_cast<int>(value.type)](&bits, slot, way.filled[v] ? n : 1);
  }
  // The last step may write into the output, even where that is an input as well.
  const int last = tape.ops.empty() ? -1 : tape.ops.back().result;
  for (std::size_t k = 0; k < r.outputs.size(); ++k)
    if (tape.outputs[k] == last && std::count(tape.outputs.begin(), tape.outputs.end(), last) == 1)
      w.at[static_cast<std::size_t>(last)] = memory_of(r.outputs[k]);
  for (const int i : way.block)
    if (i >= 0) run_leaf(w, tape.ops[static_cast<std::size_t>(i)], n);
    else run_loop(w, tape.loops[static_cast<std::size_t>(~i)], {n, 1, {}, {}});
  for (std::size_t k = 0; k < r.outputs.size(); ++k) {
    void* const to = memory_of(r.outputs[k]);
    const void* const from = w.at[static_cast<std::size_t>(tape.outputs[k])];
    if (from != to) std::memmove(to, from, n * dtype_size(r.outputs[k].dtype));
  }
  return true;
}

/// What a product's epilogue reads and writes passes by the caches from this part of them on, and leaves them to the
/// operands (1024 x 1024 x 4096 bf16 with gelu, the pre-activation kept, Zen 4: 22.3 to 21.5 ms; what follows 0.99).
constexpr std::int64_t kProductShare = 4;

const Tape::Way& BlockRunner::way_of(const Tape& tape, const KernelTable& table, std::int64_t row) {
  if (!loops_enabled()) return tape.plain;
  return tape.program->reduces && row >= table.loop_row ? tape.rows : tape.compiled;
}

BlockRunner::BlockRunner(const Tape& tape, const KernelTable& table, std::span<const Operand> inputs,
                         std::span<const detail::View> outputs, const AxisOrder& full, const AxisOrder& kept, bool rows,
                         std::int64_t length, std::span<const Strides> coordinates, int skip)
    : tape_(tape), way_(way_of(tape, table, rows ? length : 0)), table_(table), rows_(rows) {
  for (const Operand& operand : inputs)
    for (const detail::View& output : outputs)
      in_place_ |= operand.view.storage && operand.view.storage == output.storage;
  if (full.count() >= kBlock * 1024) {
    const std::int64_t bytes = bytes_of(inputs, outputs, full);
    streams_ = !in_place_ && bytes > (skip > 0 ? cache_bytes() / kProductShare : cache_bytes());
    fetches_ = bytes > cache_bytes() / 2;
  }
  for (std::size_t v = 0; v < tape.values.size(); ++v) {
    bind(static_cast<int>(v), inputs, full, kept, length, coordinates, skip);
    if (tape.values[v].kind == StepKind::position) coordinates = coordinates.subspan(1);
  }
  for (std::size_t k = 0; k < tape.outputs.size(); ++k) {
    const bool is_full = tape.program->outputs[k].full || !tape.program->reduces;
    const int pass = in_place_ ? tape.program->passes - 1 : tape.output_pass[k];
    outputs_.push_back(
        {Cursor(outputs[k], is_full ? full : kept), tape.outputs[k], is_full, may_write_directly(k, outputs), pass});
  }
  if (skip == 0) find_patterns(full.count());
  if (skip == 0 && full.count() >= kFewestCols) {
    input_columns_ = find_columns(inputs_), output_columns_ = find_columns(outputs_);
    const auto number = [](auto& list, const std::vector<Columns>& groups) {
      for (std::size_t g = 0; g < groups.size(); ++g)
        for (const int i : groups[g].members) list[static_cast<std::size_t>(i)].columns = static_cast<int>(g);
    };
    number(inputs_, input_columns_), number(outputs_, output_columns_);
  }
  const int only = way_.block.size() == 1 ? way_.block[0] : 0;
  by_rows_ = !tape.program->reduces && !in_place_ && way_.block.size() == 1 &&
             (only < 0 || tape.ops[static_cast<std::size_t>(only)].kind == TapeOp::Kind::leaf);
  half_rows_ = find_half_loop();
  const auto lies_so = [count = full.count()](const auto& operand) {
    return operand.cursor.direct(0, count) != nullptr;
  };
  // The blocks of a product (skip > 0) are rectangles and no runs: those of few columns take lanes.
  if (skip == 0 && half_rows_ && std::all_of(inputs_.begin(), inputs_.end(), lies_so) &&
      std::all_of(outputs_.begin(), outputs_.end(), lies_so)) {
    half_loop_ = half_rows_;
    for (Output& output : outputs_) output.direct = true;
  }
}

/// Operands that repeat after a few elements, and are read in blocks: repeated once for all blocks.
void BlockRunner::find_patterns(std::int64_t count) {
  for (Input& input : inputs_) {
    const std::int64_t period = input.full ? input.cursor.period() : 0;
    if (period == 0 || 2 * period > count || tape_.values[static_cast<std::size_t>(input.value)].slot < 0) continue;
    input.period = period, input.pattern = patterns_++;
  }
}
void BlockRunner::fill_patterns(const Worker& w, std::int64_t fill) const {
  for (const Input& input : inputs_) {
    if (input.period == 0) continue;
    const std::size_t type = compute_size(tape_.values[static_cast<std::size_t>(input.value)].type);
    std::byte* const to = w.patterns + input.pattern * 2 * kSlotBytes;
    input.cursor.load(table_, 0, input.period, to);
    const std::size_t wanted = static_cast<std::size_t>(std::min(fill, kBlock) + input.period) * type;
    for (std::size_t bytes = static_cast<std::size_t>(input.period) * type; bytes < wanted;) {
      const std::size_t more = std::min(bytes, wanted - bytes);
      std::memcpy(to + bytes, to, more);
      bytes += more;
    }
  }
}

/// The loop that takes 16-bit floats from memory, and gives such; null where the tape is more than it, or an operand is
/// of another type.
LoopFn BlockRunner::find_half_loop() const {
  if (tape_.program->reduces || in_place_ || way_.block.size() != 1 || way_.block[0] >= 0 || outputs_.empty())
    return nullptr;
  const TapeLoop& loop = tape_.loops[static_cast<std::size_t>(~way_.block[0])];
  const DType dtype = outputs_[0].cursor.dtype();
  if (inputs_.size() != loop.inputs.size() || outputs_.size() != loop.outputs.size()) return nullptr;
  const auto read_so = [&](const Input& i) {
    return i.full && i.cursor.dtype() == dtype && std::count(loop.inputs.begin(), loop.inputs.end(), i.value) == 1;
  };
  if (!std::all_of(inputs_.begin(), inputs_.end(), read_so) ||
      !std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& o) {
        return o.cursor.dtype() == dtype && std::count(tape_.outputs.begin(), tape_.outputs.end(), o.value) == 1;
      }))
    return nullptr;
  return dtype == DType::f16 ? loop.f16 : dtype == DType::bf16 ? loop.bf16 : nullptr;
}

void BlockRunner::bind(int v, std::span<const Operand> inputs, const AxisOrder& full, const AxisOrder& kept,
                       std::int64_t length, std::span<const Strides> coordinates, int skip) {
  const TapeValue& value = tape_.values[static_cast<std::size_t>(v)];
  if (value.slot < 0 && value.kind != StepKind::input) return;
  const bool filled = way_.filled[static_cast<std::size_t>(v)];
  const auto operand = [&]() -> const Operand& { return inputs[static_cast<std::size_t>(value.index - skip)]; };
  switch (value.kind) {
    case StepKind::input:
      if (value.index >= skip)
        inputs_.push_back({v, Cursor(operand().view, value.full ? full : kept, operand().gather), value.full});
      break;
    case StepKind::position:
      inputs_.push_back({v, Cursor::coordinate(full, coordinates[0]), true});
      break;
    case StepKind::number: numbers_.push_back({v, filled, number_bits(value.type, value.number)}); break;
    case StepKind::param: numbers_.push_back({v, filled, number_bits(value.type, operand().number)}); break;
    case StepKind::extent: numbers_.push_back({v, filled, number_bits(value.type, Number(length))}); break;
    default: break;
  }
}

/// An op may write its result into the output's memory where that has the lanes' type and nothing else needs the
/// block afterwards. In place, only the last op may: earlier ones would overwrite an input still to be read.
bool BlockRunner::may_write_directly(std::size_t k, std::span<const detail::View> outputs) const {
  const int value = tape_.outputs[k];
  if (!stored_as_computed(outputs[k].dtype)) return false;
  if (streams_ && !made_by_loop(tape_, way_, tape_.outputs[k])) return false;  // a loop streams itself
  const TapeValue& v = tape_.values[static_cast<std::size_t>(value)];
  if (v.kind != StepKind::leaf) return false;
  if (std::count(tape_.outputs.begin(), tape_.outputs.end(), value) != 1) return false;
  return !in_place_ || (!tape_.ops.empty() && tape_.ops.back().result == value);
}

Worker BlockRunner::make_worker(std::int64_t fill) const {
  Worker w{register_file(tape_.slots, slot_bytes_, pattern_bytes()),
           detail::SmallVector<void*, 32>(tape_.values.size(), nullptr), nullptr};
  w.patterns = w.file + static_cast<std::size_t>(tape_.slots) * slot_bytes_;
  fill_patterns(w, fill);
  for (std::size_t v = 0; v < tape_.values.size(); ++v)
    if (tape_.values[v].slot >= 0) w.at[v] = slot(w, static_cast<int>(v));
  for (const auto& [value, filled, bits] : numbers_) {
    void* const to = w.at[static_cast<std::size_t>(value)];
    if (filled)
      table_.fill[static_cast<int>(tape_.values[static_cast<std::size_t>(value)].type)](
          &bits, to, std::min(static_cast<std::size_t>(fill), slot_bytes_ / 8));
    else std::memcpy(to, &bits, sizeof bits);
  }
  return w;
}

std::byte* BlockRunner::slot(const Worker& w, int value) const {
  return w.file + static_cast<std::size_t>(tape_.values[static_cast<std::size_t>(value)].slot) * slot_bytes_;
}

void BlockRunner::load(Worker& w, const Input& input, std::int64_t position, std::int64_t rows, std::int64_t cols,
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
  if (rows == 1 && input.period > 0 && cols <= kBlock) {
    at = w.patterns + input.pattern * 2 * kSlotBytes +
         static_cast<std::size_t>(position % input.period) * compute_size(value.type);
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
  for (const Input& input : inputs_) {
    if (input.columns >= 0 && (loaded >> input.columns & 1)) continue;
    if (tape_.lazy[static_cast<std::size_t>(input.value)]) continue;
    if (input.full && (pass == kAnyPass || needs(pass)[static_cast<std::size_t>(input.value)]))
      load(w, input, b.position, b.rows, b.cols, b.pitch);
  }
}

void BlockRunner::load_kept(Worker& w, const Block& b) const {
  for (const Input& input : inputs_)
    if (!input.full) load(w, input, b.kept_position, 1, b.kept, b.kept);
}

void BlockRunner::aim_outputs(Worker& w, const Block& b, bool full, int pass) const {
  for (const Output& output : outputs_) {
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
  for (const Output& output : outputs_) {
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
  const std::size_t size = compute_size(op.type);
  const auto* from = static_cast<const std::byte*>(w.at[static_cast<std::size_t>(op.args[0])]);
  auto* to = static_cast<std::byte*>(w.at[static_cast<std::size_t>(op.result)]);
  if (rows_) {
    const auto run = static_cast<std::size_t>(b.size() / b.kept);
    for (std::int64_t g = 0; g < b.kept; ++g)
      table_.fill[static_cast<int>(op.type)](from + static_cast<std::size_t>(g) * size,
                                             to + static_cast<std::size_t>(g) * run * size, run);
  } else {
    const std::size_t bytes = static_cast<std::size_t>(b.kept) * size;
    for (std::int64_t r = 0; r < b.rows; ++r) std::memcpy(to + static_cast<std::size_t>(r) * bytes, from, bytes);
  }
}

/// Where 16-bit floats are reduced as they lie in memory: the kernels for it.
const HalfReduction* BlockRunner::half_reduction(const TapeOp& op) const {
  for (const Input& input : inputs_)
    if (reduces_in_place_ && input.value == op.args[0] && !stored_as_computed(input.cursor.dtype()))
      return &table_.reduce_half[static_cast<int>(op.which)][input.cursor.dtype() == DType::bf16];
  return nullptr;
}
void BlockRunner::reduce(const TapeOp& op, const void* in, void* out, const Block& b) const {
  const HalfReduction* const half = half_reduction(op);
  const auto kept = static_cast<std::size_t>(b.kept);
  if (rows_) (half ? half->rows : op.rows)(in, out, kept, static_cast<std::size_t>(b.size() / b.kept));
  else (half ? half->columns : op.columns)(in, out, static_cast<std::size_t>(b.rows), kept);
}
void BlockRunner::join_rows(const TapeOp& op, const void* in, void* into, const Block& b) const {
  const HalfReduction* const half = half_reduction(op);
  (half ? half->join : op.join)(in, static_cast<std::size_t>(b.pitch), static_cast<std::size_t>(b.rows), into,
                                static_cast<std::size_t>(b.kept));
}

void BlockRunner::execute(const Worker& w, const TapeOp& op, const Block& b) const {
  const auto n = static_cast<std::size_t>(op.full ? b.size() : b.kept);
  void* result = w.at[static_cast<std::size_t>(op.result)];
  const void* first = w.at[static_cast<std::size_t>(op.args[0])];
  switch (op.kind) {
    case TapeOp::Kind::leaf: {
      const void* args[3] = {first, w.at[static_cast<std::size_t>(op.args[1])],
                             w.at[static_cast<std::size_t>(op.args[2])]};
      op.leaf(args, result, n);
      break;
    }
    case TapeOp::Kind::block: op.block(first, result, n); break;
    case TapeOp::Kind::expand: expand(w, op, b); break;
    case TapeOp::Kind::reduce:
      if (op.place >= 0) {
        const TapeOnline& online = tape_.online[static_cast<std::size_t>(op.place)];
        const TapeOp& pivot = tape_.ops[static_cast<std::size_t>(online.pivot)];
        find_places(w, online, b, w.at[static_cast<std::size_t>(pivot.result)], static_cast<std::int32_t*>(result));
      } else {
        reduce(op, first, result, b);
      }
      break;
  }
}

/// Whether a loop's results may pass by the caches: all go to aligned memory and none to the register file.
bool BlockRunner::may_stream(const Worker& w, const TapeLoop& loop, const LoopRows& rows) const {
  const std::byte* const end = w.file + static_cast<std::size_t>(tape_.slots) * slot_bytes_;
  return streams_ && std::all_of(loop.outputs.begin(), loop.outputs.end(), [&](int value) {
    const auto* const to = static_cast<const std::byte*>(w.at[static_cast<std::size_t>(value)]);
    const bool aligned =
        reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && (rows.count == 1 || rows.step(loop, value) % 64 == 0);
    return aligned && !(to >= w.file && to < end);
  });
}

/// What the block after b reads, where it lies.
BlockRunner::Fetches BlockRunner::fetches_for(const Block& b) const {
  Fetches list;
  for (const Input& input : inputs_) {
    const void* const from = input.full ? input.cursor.direct(b.next, b.size()) : nullptr;
    if (from && from != input.cursor.direct(b.position, b.size()))
      list.push_back({from, dtype_size(input.cursor.dtype())});
  }
  return list;
}

void BlockRunner::execute_loop(const Worker& w, const TapeLoop& loop, const Block& b,
                               std::span<const Fetch> fetches) const {
  const auto count = static_cast<std::size_t>(loop.of_rows() ? b.kept : 1);
  const LoopRows rows{static_cast<std::size_t>(b.size()) / count, count, {}, fetches};
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
    if (!fetches) execute_loop(w, loop, b, {});
    else execute_loop(w, loop, b, fetches_for(b));
    fetches = false;
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
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& input) {
    const TapeValue& value = tape_.values[static_cast<std::size_t>(input.value)];
    return input.full && value.kind == StepKind::input && value.index == index &&
           needs(pass)[static_cast<std::size_t>(input.value)];
  });
}

bool BlockRunner::has_full_outputs(int pass) const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [&](const Output& o) { return o.full && (pass == kAnyPass || o.pass == pass); });
}

bool BlockRunner::is_one_loop(std::int64_t count) const {
  if (half_loop_) return true;
  return way_.block.size() == 1 && way_.block[0] < 0 &&
         std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& i) { return lies_there(i.cursor, count); }) &&
         std::all_of(outputs_.begin(), outputs_.end(),
                     [&](const Output& o) { return o.direct && lies_there(o.cursor, count); });
}
bool BlockRunner::reduce_in_place(std::int64_t count) {
  const bool places = !tape_.online.empty();
  if (has_full_outputs() || (places && !rows_)) return false;
  if (!std::ranges::all_of(tape_.online, &TapeOnline::is_place)) return false;
  for (std::size_t i = 0; i < tape_.ops.size(); ++i) {
    const TapeOp& op = tape_.ops[i];
    if (op.place >= 0 || !tape_.live[i]) continue;
    const StepKind of =
        tape_.values[static_cast<std::size_t>(op.args[0])].kind;  // of a number the register file has kBlock
    if (op.kind == TapeOp::Kind::reduce ? of != StepKind::input : op.full) return false;
  }
  const auto is_computed_in = [&](const Input& i) {
    const DType dtype = i.cursor.dtype();
    return stored_as_computed(dtype) || (!places && (dtype == DType::f16 || dtype == DType::bf16) &&
                                      table_.reduce_half[static_cast<int>(Leaf::sum)][dtype == DType::bf16].rows);
  };
  reduces_in_place_ = std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& i) {
    return tape_.lazy[static_cast<std::size_t>(i.value)] ||
           (i.full && is_computed_in(i) && i.cursor.direct(0, count) != nullptr);
  });
  return reduces_in_place_;
}
/// Whether `count` elements are one run of lanes in memory.
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
