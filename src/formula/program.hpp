// A graph with types: what backends execute or print. One list of steps in order, each in a lane type.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "formula/graph.hpp"

namespace tern::detail {

enum class StepKind : std::uint8_t {
  input,     // element of operand `index`, of type `dtype`, widened to `lane`
  number,    // constant `number`, converted to `lane`
  param,     // operand `index` is a plain number, converted to `lane`
  extent,    // number of elements along the reduced axes, converted to `lane`
  position,  // i32 coordinate along axis `index`, or kOrdinalAxis: position within the reduced axes
  leaf,      // elementwise leaf of `args` in `lane` (of the arguments; a truth result has integer lanes as wide)
  convert,   // args[0] from lane `from` to `lane`; floats to integers saturate, NaN gives 0
  wrap,      // args[0] reduced to what `dtype` can hold: integers wrap, floats round to nearest even
  reduce,    // reduction `leaf` of args[0] over the reduced axes
};

struct Step {
  StepKind kind = StepKind::leaf;
  Leaf leaf = Leaf::count;
  Lane lane = Lane::f32;     // of the result; for leaves with truth results: of the arguments
  Lane from = Lane::f32;     // convert: of the argument
  DType dtype = DType::f32;  // logical type of the result (boolean for truths)
  bool full = true;          // varies along the reduced axes
  bool saturate = false;     // wrap of a float-to-integer conversion: clamp instead of wrapping
  int phase = 0;             // number of reductions that must be finished before it can be computed
  int walk = 0;              // number of walks over the reduced axes that must be finished before it can be computed
  int index = 0;
  Number number;
  int args[3] = {-1, -1, -1};

  /// The lanes the result is stored in.
  Lane result_lane() const;
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

/// sum(exp(x - shift)) where shift is a reduced value that waits for max(x): as softmax has it, and logsumexp. Who
/// walks along x once for the maximum knows the sum as well: with m the maximum so far (0 where that is infinite or
/// NaN) he sums exp(x - m), multiplies what he has by exp(before - m) where m grows, and the result by exp(m - shift).
/// So too sum(weight * exp(x - shift)), where the weight waits for no more than x does: as softmax's gradient has it.
struct OnlineSum {
  int max = -1, sum = -1;  // reduce steps
  int shift = -1;
  int weight = -1;  // a full step; -1: none
};

struct Program {
  const Graph* graph = nullptr;
  std::vector<InputType> inputs;
  std::vector<Step> steps;  // arguments before their users
  std::vector<ProgramOutput> outputs;
  int phases = 1;
  /// As phases, where the sums in `online` take no walk of their own.
  int walks = 1;
  std::vector<OnlineSum> online;
  bool reduces = false;
  /// Inputs that are plain numbers and meet integers of this dtype, whose range they must be in.
  struct IntegralNumber {
    int input;
    DType dtype;
  };
  std::vector<IntegralNumber> integral_numbers;
  std::uint64_t serial = 0;                // unique, for caches keyed by program
};

/// Types `graph` for operands of these types; kept with the graph. `op` names the operation in errors.
/// Throws dtype where types do not fit together.
const Program& type_program(const char* op, const Graph* graph, std::span<const InputType> inputs);

/// The entry of program.online that is about this sum; null where there is none.
const OnlineSum* online_sum(const Program& program, int sum);

/// The dtype a program computes T in: f32 for 16-bit floats, i32 for narrow integers and booleans.
Lane lane_of(DType dtype);
/// Whether the number is a value of an integer dtype (or boolean).
bool fits(const Number& number, DType dtype);
bool is_float_lane(Lane lane);
bool is_wide_lane(Lane lane);

}  // namespace tern::detail
