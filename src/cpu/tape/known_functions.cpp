#include "cpu/tape/known_functions.hpp"

#include <algorithm>
#include <array>

#include "tern/formula.hpp"

namespace tern::detail_cpu {
namespace {

using detail::Program;
using detail::Step;
using detail::StepKind;

struct FunctionPattern {
  int function;
  const Program* program;
};
const std::vector<FunctionPattern>& function_patterns() {
  static const std::vector<FunctionPattern>& list = *[] {
    const Pointwise<>* const formulas[kKnownFunctionCount] = {&op::asin,  &op::acos,  &op::sinh, &op::cosh,
                                                              &op::asinh, &op::acosh, &op::atanh};
    auto* const made = new std::vector<FunctionPattern>;
    for (int i = 0; i < kKnownFunctionCount; ++i)
      for (const DType dtype : {DType::f32, DType::f64}) {
        const detail::InputType type{dtype, false};
        made->push_back({i, &detail::type_program("known", formulas[i]->graph()->inlined, {&type, 1})});
      }
    return made;
  }();
  return list;
}

/// Looks for one pattern among the steps of a program.
class FunctionMatch {
 public:
  FunctionMatch(const Program& program, const Program& pattern)
      : program_(program), pattern_(pattern), place_(pattern.steps.size(), -1) {}

  /// The step that the function is taken of, where `last` is its result; -1: it is not.
  int argument(int last) { return unify(pattern_.outputs[0].step, last) ? argument_ : -1; }

 private:
  static std::size_t at(int step) { return static_cast<std::size_t>(step); }

  bool unify(int p, int s) {
    const Step &wanted = pattern_.steps[at(p)], &step = program_.steps[at(s)];
    if (wanted.kind == StepKind::input) {
      if (argument_ < 0 && step.result_type() == wanted.result_type()) argument_ = s;
      return argument_ == s;
    }
    if (place_[at(p)] >= 0) return place_[at(p)] == s;
    if (wanted.kind != step.kind || wanted.type != step.type) return false;
    if (wanted.kind == StepKind::number) return same(wanted.number, step.number);
    const bool converts = wanted.kind == StepKind::convert;
    if (converts ? wanted.from != step.from : wanted.elementary != step.elementary) return false;
    for (int a = 0; a < 3; ++a) {
      if ((wanted.args[a] < 0) != (step.args[a] < 0)) return false;
      if (wanted.args[a] >= 0 && !unify(wanted.args[a], step.args[a])) return false;
    }
    place_[at(p)] = s;
    return true;
  }
  static bool same(const Number& a, const Number& b) {
    if (a.is_integer != b.is_integer) return false;
    return a.is_integer ? a.integer == b.integer : a.real == b.real;
  }

  const Program &program_, &pattern_;
  std::vector<int> place_;
  int argument_ = -1;
};

}  // namespace

KnownFunctions::KnownFunctions(const Program& program)
    : calls_(program.steps.size()), replaced_(program.steps.size()) {
  bool any = false;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.kind != StepKind::elementary || !detail::is_float(step.type)) continue;
    for (const FunctionPattern& p : function_patterns()) {
      const Step& result = p.program->steps[static_cast<std::size_t>(p.program->outputs[0].step)];
      if (result.elementary != step.elementary || result.type != step.type) continue;
      const int argument = FunctionMatch(program, *p.program).argument(static_cast<int>(s));
      if (argument < 0) continue;
      calls_[s] = {p.function, argument}, any = true;
      break;
    }
  }
  if (any) note_replaced(program);
}

void KnownFunctions::note_replaced(const Program& program) {
  std::vector<int> pending;
  for (const auto& output : program.outputs) pending.push_back(output.step);
  for (const detail::OnlineSum& o : program.online)
    for (const int step : {o.pivot, o.sum, o.shift, o.weight, o.count, o.lower[0], o.lower[1]}) pending.push_back(step);
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (program.steps[s].kind == StepKind::reduce) pending.push_back(static_cast<int>(s));
  std::vector<bool> read(program.steps.size());
  while (!pending.empty()) {
    const int step = pending.back();
    pending.pop_back();
    if (step < 0 || read[static_cast<std::size_t>(step)]) continue;
    read[static_cast<std::size_t>(step)] = true;
    if (const KnownCall call = of(step); call.function >= 0) pending.push_back(call.argument);
    else
      for (const int arg : program.steps[static_cast<std::size_t>(step)].args) pending.push_back(arg);
  }
  for (std::size_t s = 0; s < read.size(); ++s)
    replaced_[s] = !read[s] && program.steps[s].kind == StepKind::elementary;
}

}  // namespace tern::detail_cpu
