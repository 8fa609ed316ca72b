// A graph with types: what backends execute or print. One list of steps in order, each in a compute type.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formula/graph.hpp"

namespace tern::detail {

enum class StepKind : std::uint8_t {
  input,       // element of operand `index`, of type `dtype`, widened to `type`
  number,      // constant `number`, converted to `type`
  param,       // operand `index` is a plain number, converted to `type`
  extent,      // number of elements along the reduced axes, converted to `type`
  position,    // i32 coordinate along axis `index`, or kOrdinalAxis: position within the reduced axes
  elementary,  // elementwise function of `args` in `type` (of the arguments; a predicate has the integer type as wide)
  convert,     // args[0] from type `from` to `type`; floats to integers saturate, NaN gives 0
  wrap,        // args[0] reduced to what `dtype` can hold: integers wrap, floats round to nearest even
  reduce,      // reduction `elementary` of args[0] over the reduced axes
};

struct Step {
  StepKind kind = StepKind::elementary;
  Elementary elementary = Elementary::count;
  ComputeType type =
      ComputeType::f32;  // of the result; for elementary functions with results that are predicates: of the arguments
  ComputeType from = ComputeType::f32;     // convert: of the argument
  DType dtype = DType::f32;  // logical type of the result (boolean for predicates)
  bool full = true;          // varies along the reduced axes
  bool saturate = false;     // wrap of a float-to-integer conversion: clamp instead of wrapping
  int phase = 0;             // number of reductions that must be finished before it can be computed
  int pass = 0;              // number of passes over the reduced axes that must be finished before it can be computed
  int index = 0;
  Number number;
  int args[3] = {-1, -1, -1};

  /// The compute type of the result.
  ComputeType result_type() const;
};

struct ProgramOutput {
  int step = -1;
  DType dtype = DType::f32;
  bool full = true;
};

/// Type of one operand as far as a program depends on it.
struct InputType {
  DType dtype = DType::f32;
  bool number = false;  // a plain number: takes the type of what it meets
  friend bool operator==(const InputType&, const InputType&) = default;
};

/// A sum whose terms wait for a reduction of the same axes, its pivot, and that is yet taken in the pivot's pass: with
/// what the pivot is so far, and corrected where that changes.
///
/// power 0: sum(exp(x - shift)) where shift is a reduced value that waits for max(x), as softmax has it, and logsumexp.
/// The pivot is max(x). With m the maximum so far (0 where that is infinite or NaN) exp(x - m) is summed, what is there
/// is multiplied by exp(before - m) where m grows, and the result by exp(m - shift). ("Online softmax": Milakov and
/// Gimelshein, 2018.)
///
/// power 1 and 2: sum((x - shift)^power) where shift is mean(x), as a variance has it. The pivot is sum(x). With m the
/// mean so far (x - m)^power is summed, and where m changes by -d
///   Σ (x - m)  gets d · Σ 1,    Σ (x - m)²  gets d · (2 Σ (x - m) + d · Σ 1),
/// which is exact whatever m was; that m is near the mean keeps it free of cancellation. (As Chan, Golub and LeVeque,
/// 1979, with the sum of the first powers kept instead of taken to be 0.)
///
/// power kPlace: min(where((x == extreme) | (x != x), ordinal, 2^31 - 1)), as argmax and argmin have it: no sum, but
/// taken like one. The pivot is max(x) or min(x), the weight the ordinal, and there is no shift. The least ordinal of
/// elements that equal the extreme so far is kept; where that changes it is 2^31 - 1 again, before the elements that
/// changed it are seen.
///
/// So too where each term is multiplied by a weight that waits for no more than x does, as the gradients of softmax and
/// of a variance have it; Σ 1 is then the sum of the weights, and Σ (x - m) a weighted sum.
struct OnlineSum {
  static constexpr int kPlace = -1;
  static constexpr std::int32_t kNowhere = 2147483647;
  int pivot = -1, sum = -1;  // reduce steps
  int shift = -1;            // kPlace: none
  int weight = -1;  // a full step; -1: none
  int power = 0;
  int count = -1;             // power 1 and 2: the reduce step that counts the elements
  int lower[2] = {-1, -1};    // the same weight's sums with powers 0 and (where power is 2) 1: reduce steps
  bool is_place() const { return power == kPlace; }
};

struct Program {
  const FormulaGraph* graph = nullptr;
  std::vector<InputType> inputs;
  std::vector<Step> steps;  // arguments before their users
  std::vector<ProgramOutput> outputs;
  int phases = 1;
  /// As phases, where the sums in `online` take no pass of their own.
  int passes = 1;
  std::vector<OnlineSum> online;  // a sum behind those it is corrected by
  bool reduces = false;
  /// Inputs that are plain numbers and meet integers of this dtype, whose range they must be in.
  struct IntegralNumber {
    int input;
    DType dtype;
  };
  std::vector<IntegralNumber> integral_numbers;
  std::uint64_t serial = 0;                // unique, for caches keyed by program
  /// The same with a pass for every phase, for who reads memory only once; null where that is this one.
  std::shared_ptr<const Program> in_phases;
};

/// Types `graph` for operands of these types; kept with the graph. `op` names the operation in errors.
/// Throws dtype where types do not fit together.
const Program& type_program(const char* op, const FormulaGraph* graph, std::span<const InputType> inputs);

/// Program::in_phases, of a program with sums in `online`.
Program with_a_pass_for_each_phase(const Program& program);
std::uint64_t next_program_serial();

/// The entry of program.online that is about this sum; null where there is none.
const OnlineSum* online_sum(const Program& program, int sum);

/// The dtype a program computes T in: f32 for 16-bit floats, i32 for narrow integers and booleans.
ComputeType compute_type_of(DType dtype);
/// Whether the number is a value of an integer dtype (or boolean).
bool fits(const Number& number, DType dtype);
bool is_float(ComputeType type);
bool is_wide(ComputeType type);

}  // namespace tern::detail
