// The steps of a program while it is typed.
#pragma once
#include <map>
#include <optional>
#include <tuple>

#include "formula/program.hpp"

namespace tern::detail {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(Program& program) : program_(program) {}
  const Program& program() const { return program_; }
  const Step& at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }

  /// Appends a step; the number of passes it waits for follows from its arguments.
  int push(Step step);
  /// A number, the same for all elements.
  int number(const Number& value, ComputeType type, DType dtype = DType::f32);
  int binary(Elementary elementary, int a, int b, ComputeType type, DType dtype);
  /// A step of one argument: one that is there already, if any.
  int unary(StepKind kind, int arg, ComputeType type, DType dtype, bool saturate = false);
  int converted(int arg, ComputeType type);
  /// A count modulo the width of a dtype. Kernels take it modulo the type's, which is wider for 8 and 16 bits.
  int counted(int count, DType dtype);
  /// a · b: a step that is there already, if any, for sums are asked about more than once.
  int product_of(int a, int b);
  /// The number 1 in the compute type of a step's result.
  int one_of(const Step& like);
  /// The reduction `step`, known after that many passes: one that is there already, if any. `online`: how it is taken
  /// in the pass of another.
  int sum_in_pass(Step step, int pass, std::optional<OnlineSum> online = {});
  /// How many passes must be finished before a new step can be computed.
  int pass_of(const Step& step) const;

 private:
  Program& program_;
  std::map<std::tuple<StepKind, int, ComputeType, DType, bool>, int> conversions_;
  int one_of_type_[2] = {-1, -1};  // the number 1 in f32 and f64
};

}  // namespace tern::detail
