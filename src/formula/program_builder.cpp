#include "formula/program_builder.hpp"

#include <algorithm>

namespace tern::detail {

int ProgramBuilder::push(Step step) {
  if (!program_.reduces && step.kind != StepKind::number && step.kind != StepKind::param &&
      step.kind != StepKind::extent)
    step.full = true;
  step.pass = pass_of(step);
  program_.steps.push_back(step);
  return static_cast<int>(program_.steps.size()) - 1;
}

int ProgramBuilder::number(const Number& value, ComputeType type, DType dtype) {
  Step step;
  step.kind = StepKind::number, step.type = type, step.dtype = dtype, step.full = false, step.number = value;
  return push(step);
}

int ProgramBuilder::unary(StepKind kind, int arg, ComputeType type, DType dtype, bool saturate) {
  const auto key = std::tuple(kind, arg, type, dtype, saturate);
  if (const auto found = conversions_.find(key); found != conversions_.end()) return found->second;
  Step step;
  step.kind = kind, step.from = at(arg).result_type(), step.type = type, step.dtype = dtype, step.saturate = saturate;
  step.full = at(arg).full, step.phase = at(arg).phase, step.args[0] = arg;
  return conversions_[key] = push(step);
}

int ProgramBuilder::converted(int arg, ComputeType type) {
  return at(arg).result_type() == type ? arg : unary(StepKind::convert, arg, type, at(arg).dtype);
}

int ProgramBuilder::counted(int count, DType dtype) {
  const int width = 8 * static_cast<int>(dtype_size(dtype));
  const Step given = at(count);
  if (width >= 32 || (given.kind == StepKind::number && given.number.integer >= 0 && given.number.integer < width))
    return count;
  return binary(Elementary::bit_and, count, number(width - 1, given.type, dtype), given.type, dtype);
}

int ProgramBuilder::binary(Elementary elementary, int a, int b, ComputeType type, DType dtype) {
  Step step;
  step.kind = StepKind::elementary, step.elementary = elementary, step.type = type, step.dtype = dtype;
  step.args[0] = a, step.args[1] = b;
  step.full = at(a).full || at(b).full, step.phase = std::max(at(a).phase, at(b).phase);
  return push(step);
}

int ProgramBuilder::product_of(int a, int b) {
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step& step = program_.steps[i];
    if (step.kind == StepKind::elementary && step.elementary == Elementary::mul && step.args[0] == a &&
        step.args[1] == b)
      return static_cast<int>(i);
  }
  return binary(Elementary::mul, a, b, at(a).type, at(a).dtype);
}

int ProgramBuilder::one_of(const Step& like) {
  int& one = one_of_type_[is_wide(like.type)];
  if (one < 0) one = number(1, like.type, like.dtype);
  return one;
}

int ProgramBuilder::sum_in_pass(Step step, int pass, std::optional<OnlineSum> online) {
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step& other = program_.steps[i];
    if (other.kind == StepKind::reduce && other.elementary == step.elementary && other.type == step.type &&
        other.args[0] == step.args[0] && other.pass == pass && other.dtype == step.dtype)
      return static_cast<int>(i);
  }
  step.pass = pass;
  program_.steps.push_back(step);
  const int index = static_cast<int>(program_.steps.size()) - 1;
  if (online) online->sum = index, program_.online.push_back(*online);
  return index;
}

int ProgramBuilder::pass_of(const Step& step) const {
  int pass = 0;
  for (const int arg : step.args)
    if (arg >= 0) pass = std::max(pass, at(arg).pass);
  return step.kind == StepKind::reduce ? pass + 1 : pass;
}

}  // namespace tern::detail
