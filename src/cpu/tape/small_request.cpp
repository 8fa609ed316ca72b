// Requests of at most a block, whose operands lie as the space does: kernels and loops are called where they lie.
#include <algorithm>
#include <cstring>

#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/loops.hpp"
#include "cpu/tape/numbers.hpp"

namespace tern::detail_cpu {

using detail::Operand;
using detail::StepKind;

namespace {

/// The request's elements: `groups` times `length` reduced ones times `columns`.
struct SmallSpace {
  std::int64_t groups = 1, length = 1, columns = 1;

  std::int64_t count() const { return groups * length * columns; }
  std::int64_t kept() const { return groups * columns; }
  bool rows() const { return columns == 1 || groups > 1; }
  KeptOfBlock block() const { return {rows(), rows() ? columns : 1, kept(), count()}; }
};

/// False where reduced axes lie apart, or there are more elements than a block has.
bool measure(const detail::FusedRequest& r, SmallSpace& space) {
  bool reduced = false, kept_after = false;
  for (int i = 0; i < r.space.rank(); ++i) {
    const std::int64_t size = r.space[static_cast<std::size_t>(i)];
    if (size == 1) continue;
    if (r.reduced >> i & 1) {
      if (kept_after) return false;
      space.length *= size, reduced = true;
    } else {
      (reduced ? space.columns : space.groups) *= size;
      kept_after |= reduced;
    }
    if (size > kTapeBlock || space.count() > kTapeBlock) return false;
  }
  return space.count() > 0;
}

/// Whether it lies as the space does, or (not full) as its kept axes do, as it is computed.
bool lies_as(const detail::View& view, const detail::FusedRequest& r, bool full) {
  if (!stored_as_computed(view.dtype)) return false;
  std::int64_t step = 1;
  for (int i = r.space.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (r.space[axis] == 1 || (!full && (r.reduced >> i & 1))) continue;
    if (view.strides[axis] != step) return false;
    step *= r.space[axis];
  }
  return true;
}

/// Elements up to which an operand of an elementwise request that lies otherwise is copied one by one (4 x 8 and a row:
/// 505 and 210 ns).
constexpr std::int64_t kFewElements = 256;

template <class T> void copy_few(const detail::View& view, const Shape& space, void* to) {
  const T* from = static_cast<const T*>(memory_of(view));
  T* out = static_cast<T*>(to);
  const int rank = space.rank();
  const auto size = [&](int i) { return i < 0 ? 1 : space[static_cast<std::size_t>(i)]; };
  const auto stride = [&](int i) { return i < 0 ? 0 : view.strides[static_cast<std::size_t>(i)]; };
  std::int64_t at[kMaxRank] = {};
  const std::int64_t inner = size(rank - 1), step = stride(rank - 1);
  while (true) {
    for (std::int64_t k = 0; k < inner; ++k) out[k] = from[k * step];
    out += inner;
    int axis = rank - 2;
    for (; axis >= 0; --axis) {
      from += stride(axis);
      if (++at[axis] < size(axis)) break;
      from -= size(axis) * stride(axis), at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// Whether every operand lies right, or may be copied (`copies`: one must), and no place or position is asked for.
bool is_small(const detail::FusedRequest& r, const Tape& tape, std::int64_t few, bool& copies) {
  if (tape.places) return false;
  for (const TapeValue& value : tape.values) {
    if (value.kind == StepKind::position) return false;
    if (value.kind != StepKind::input) continue;
    const Operand& operand = r.inputs[static_cast<std::size_t>(value.index)];
    if (operand.gather) return false;
    if (!operand.view.storage || lies_as(operand.view, r, value.full || !tape.program->reduces)) continue;
    if (tape.program->reduces || few > kFewElements || !stored_as_computed(operand.view.dtype) || value.slot < 0)
      return false;
    copies = true;
  }
  for (std::size_t k = 0; k < r.outputs.size(); ++k)
    if (!lies_as(r.outputs[k], r, tape.program->outputs[k].full || !tape.program->reduces)) return false;
  return true;
}

class SmallRun {
 public:
  SmallRun(const detail::FusedRequest& r, const Tape& tape, const KernelTable& table, const SmallSpace& space,
           bool copies)
      : r_(r),
        tape_(tape),
        table_(table),
        space_(space),
        copies_(copies),
        count_(static_cast<std::size_t>(space.count())),
        kept_(static_cast<std::size_t>(space.kept())),
        way_(way_of(tape, table, space)) {}

  void run() {
    place_values();
    for (const int i : way_.block)
      if (i >= 0) run_op(op(i));
      else run_small_loop(tape_.loops[static_cast<std::size_t>(~i)]);
    store_outputs();
  }

 private:
  /// A single op is a kernel as it is; as a loop it is one for what does not fit a block.
  static const Tape::Way& way_of(const Tape& tape, const KernelTable& table, const SmallSpace& space) {
    if (!loops_enabled() || tape.ops.size() < 2) return tape.plain;
    const bool rows = tape.program->reduces && space.columns == 1 && space.length >= table.loop_row;
    return rows ? tape.rows : tape.compiled;
  }
  const TapeOp& op(int i) const { return tape_.ops[static_cast<std::size_t>(i)]; }
  void*& at(int value) { return w_.at[static_cast<std::size_t>(value)]; }

  void place_values() {
    const std::size_t stride = slot_stride(static_cast<std::int64_t>(count_));
    w_.file = register_file(tape_.slots, stride);
    for (std::size_t v = 0; v < tape_.values.size(); ++v) {
      const TapeValue& value = tape_.values[v];
      std::byte* const slot = value.slot < 0 ? nullptr : w_.file + static_cast<std::size_t>(value.slot) * stride;
      w_.at.push_back(slot);
      if (value.kind == StepKind::input) place_input(v, r_.inputs[static_cast<std::size_t>(value.index)].view);
      if (!slot) continue;
      if (value.kind == StepKind::number) fill(v, value.number);
      else if (value.kind == StepKind::param) fill(v, r_.inputs[static_cast<std::size_t>(value.index)].number);
      else if (value.kind == StepKind::extent) fill(v, Number(space_.length));
    }
    // The last step may write into the output, even where that is an input as well.
    const int last = tape_.ops.empty() ? -1 : tape_.ops.back().result;
    for (std::size_t k = 0; k < r_.outputs.size(); ++k)
      if (tape_.outputs[k] == last && std::count(tape_.outputs.begin(), tape_.outputs.end(), last) == 1)
        at(last) = memory_of(r_.outputs[k]);
  }
  void place_input(std::size_t v, const detail::View& view) {
    if (!copies_ || lies_as(view, r_, true)) w_.at[v] = memory_of(view);
    else if (dtype_size(view.dtype) == 4) copy_few<std::uint32_t>(view, r_.space, w_.at[v]);
    else copy_few<std::uint64_t>(view, r_.space, w_.at[v]);
  }
  void fill(std::size_t v, const Number& number) {
    const std::int64_t bits = number_bits(tape_.values[v].type, number);
    if (way_.filled[v]) table_.fill[static_cast<int>(tape_.values[v].type)](&bits, w_.at[v], count_);
    else std::memcpy(w_.at[v], &bits, sizeof bits);
  }

  void run_op(const TapeOp& op) {
    const std::size_t n = op.once ? 1 : op.full || !tape_.program->reduces ? count_ : kept_;
    const void* const args[3] = {at(op.args[0]), at(op.args[1]), at(op.args[2])};
    switch (op.kind) {
      case TapeOp::OpKind::elementary: return op.elementary(args, at(op.result), n);
      case TapeOp::OpKind::block: return op.block(args[0], at(op.result), n);
      case TapeOp::OpKind::expand: return expand_block(table_, op.type, args[0], at(op.result), space_.block());
      case TapeOp::OpKind::reduce: return reduce(op, args[0], at(op.result));
    }
  }
  void reduce(const TapeOp& op, const void* in, void* out) const {
    const auto groups = static_cast<std::size_t>(space_.groups), length = static_cast<std::size_t>(space_.length),
               columns = static_cast<std::size_t>(space_.columns);
    if (columns == 1) op.rows(in, out, groups, length, false);
    else if (groups == 1) op.columns(in, out, length, columns, false);
    else op.groups(in, out, groups, length, columns);
  }
  void run_small_loop(const TapeLoop& loop) {
    const std::size_t rows = loop.of_rows() ? kept_ : 1;
    run_loop(w_, loop, {count_ / rows, rows, {}, {}});
  }
  void store_outputs() {
    for (std::size_t k = 0; k < r_.outputs.size(); ++k) {
      void* const to = memory_of(r_.outputs[k]);
      const void* const from = at(tape_.outputs[k]);
      const bool full = tape_.program->outputs[k].full || !tape_.program->reduces;
      if (from != to) std::memmove(to, from, (full ? count_ : kept_) * dtype_size(r_.outputs[k].dtype));
    }
  }

  const detail::FusedRequest& r_;
  const Tape& tape_;
  const KernelTable& table_;
  const SmallSpace space_;
  const bool copies_;
  const std::size_t count_, kept_;
  const Tape::Way& way_;
  Worker w_;  // without braces, which clear its 32 places: 15 ns of a call's 310
};

}  // namespace

bool run_small(const detail::FusedRequest& r, const Tape& tape, const KernelTable& table) {
  SmallSpace space;
  bool copies = false;
  if (!measure(r, space) || !is_small(r, tape, space.count(), copies)) return false;
  SmallRun(r, tape, table, space, copies).run();
  return true;
}

}  // namespace tern::detail_cpu
