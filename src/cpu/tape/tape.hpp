// A program as the CPU runs it: a short list of kernel calls over blocks of elements that stay in the L1 cache.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/simd/kernel_table.hpp"
#include "formula/program.hpp"

namespace tern::detail_cpu {

/// Elements a block has at most. 1024 values of four bytes are 4 KiB: eight live values fill two thirds of a 48 KiB L1,
/// and a kernel call (about 5 ns) is below 10 % of its work.
inline constexpr std::int64_t kTapeBlock = 1024;

/// Where a value of the tape comes from.
struct TapeValue {
  detail::StepKind kind;
  ComputeType type;
  bool full;      // varies along the reduced axes
  int index = 0;  // of the operand or axis
  Number number;
  int slot = -1;  // block of the register file that holds it
};

struct TapeOp {
  enum class OpKind : std::uint8_t { elementary, block, reduce, expand } kind = OpKind::elementary;
  int result = 0, args[3] = {};
  int arity = 1;
  bool full = true;
  int phase = 0, pass = 0;     // computed after this many reductions, and passes over the reduced axes (Step)
  Elementary which = Elementary::count;    // of kind elementary function and reduce
  bool fast = false;          // its version for results of 16 bits
  ElementaryFn elementary = nullptr;
  BlockFn block = nullptr;
  ReduceFn rows = nullptr, columns = nullptr;
  GroupsFn groups = nullptr;   // of a reduction, as the two and the next
  JoinFn join = nullptr;
  ElementaryFn combine = nullptr;    // two partial results of the reduction
  ComputeType type = ComputeType::f32;
  bool by_number = false;  // a division by one number, of which one element is read
  bool once = false;       // all elements are one number, and one of them is read
  /// Of an operation with what is repeated along the reduced axes: its kernel where these are short rows, and the
  /// values it then takes.
  WithColumnFn with_column = nullptr;
  int along = 0, column = 0;
  int place = -1;  // of a reduction that gives the place of an extreme (OnlineSum::kPlace): which of Tape::online
  /// A formula with a kernel of its own (cpu/tape/known_functions.hpp): no elementary function, and so in no loop.
  bool is_formula() const { return kind == OpKind::elementary && which == Elementary::count; }
  /// Whether but one element of an argument is read.
  bool reads_one(int argument) const { return once || (by_number && argument == 1); }
};

/// A detail::OnlineSum: ops of kind reduce, the value subtracted, and what multiplies the terms. -1: none.
struct TapeOnline {
  int pivot = 0, sum = 0, shift = 0, weight = -1, power = 0, count = -1, lower[2] = {-1, -1};
  bool is_place() const { return power == detail::OnlineSum::kPlace; }
};

/// A loop compiled ahead of time that does several ops at once (cpu/tape/loops.hpp), with the values it takes and
/// gives.
struct TapeLoop {
  LoopFn run = nullptr;
  LoopFn f16 = nullptr, bf16 = nullptr;  // the same where all it takes and gives is such and in memory, or null
  std::vector<int> inputs, scalars, outputs;
  std::size_t compute_bytes = 4;
  std::vector<bool> kept;  // for each scalar whether it has a type a row, so that a call is of one row
  int only = -1;           // the op that it stands for, where it is one alone
  /// What it goes over: elements, short rows that it reduces (and is told how long they are), or what each row has one
  /// of.
  enum class Over : std::uint8_t { elements, short_rows, kept } over = Over::elements;
  bool of_rows() const { return std::find(kept.begin(), kept.end(), true) != kept.end(); }
};

/// Ops in order of execution; ~i stands for the loop i.
using Order = std::vector<int>;

class WholeProgram;

struct Tape {
  const detail::Program* program = nullptr;
  std::vector<TapeValue> values;  // those of the program's steps first
  std::vector<TapeOp> ops;        // in order of computation
  std::vector<int> outputs;       // value of each output
  std::vector<int> given;         // values that no op computes: operands, positions and numbers
  int slots = 0;                  // blocks of the register file …
  struct Placed {
    std::uint32_t value, slot;
  };
  std::vector<Placed> placed;     // … and the values that have one
  std::vector<TapeLoop> loops;
  /// What a block takes: all ops, and where there are loops, these instead of the ops they stand for.
  struct Way {
    Order block;
    /// passes[p]: the ops on full values that the reductions at the end of pass p and the full outputs of pass p need.
    std::vector<Order> passes;
    Order late;  // the last pass where all full outputs wait for it: in place, an earlier one would overwrite an input
    std::vector<bool> filled;     // values that an op reads a whole block of (numbers: else one type will do)
    std::vector<bool> unread;     // ops that expand what nothing but TapeOp::with_column reads along short rows
  };
  /// `rows`: where the reduced axes are innermost, loops take reduced values a row at a time, instead of repeated.
  /// `short_rows`: the same of short ones, for a block alone, with kernels of several steps (CentredSquaresLoops,
  /// product_sums_in_place_of_ops) and loops of what a row has one of; no ops where there are none of these.
  Way plain, compiled, rows, short_rows;
  /// needs[p][v]: pass p reads the full value v, the last entry being that of Way::late.
  std::vector<std::vector<bool>> needs;
  std::vector<int> output_pass;   // the pass in which a full output is there
  std::vector<int> reductions;    // ops of kind reduce, in order
  std::vector<TapeOnline> online;
  std::vector<bool> live;  // ops that outputs need where a row is one block
  std::vector<bool> lazy;  // values that are asked for by element (ordinals of places), and read as no block
  bool places = false;     // some op gives the place of an extreme
  /// Values of four bytes, of which passes over a row in blocks compute exponentials more often than where it is one
  /// block.
  bool repeats = false;
  std::shared_ptr<const WholeProgram> whole;  // null where it is none
};

/// The tape of a program for this processor's kernels; throws unsupported where an elementary function has no kernel
/// for its type.
std::unique_ptr<Tape> compile_tape(const char* op, const detail::Program& program, const KernelTable& table);

/// The elementwise function that joins two partial results of a reduction.
Elementary combining_elementary(Elementary reduction);

}  // namespace tern::detail_cpu
