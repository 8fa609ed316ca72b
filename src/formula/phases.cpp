// A program without the sums that are taken in another reduction's pass.
#include <algorithm>
#include <atomic>

#include "formula/program.hpp"

namespace tern::detail {

std::uint64_t next_program_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

Program with_a_pass_for_each_phase(const Program& program) {
  Program result = program;
  result.steps.clear(), result.online.clear(), result.phases = 1;
  std::vector<char> needed(program.steps.size());
  for (const ProgramOutput& output : program.outputs) needed[static_cast<std::size_t>(output.step)] = 1;
  for (std::size_t i = needed.size(); i-- > 0;)
    for (const int arg : program.steps[i].args)
      if (needed[i] && arg >= 0) needed[static_cast<std::size_t>(arg)] = 1;
  std::vector<int> place(program.steps.size(), -1);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = static_cast<int>(result.steps.size());
    Step step = program.steps[i];
    step.phase = step.kind == StepKind::reduce;
    for (int& arg : step.args) {
      if (arg < 0) continue;
      arg = place[static_cast<std::size_t>(arg)];
      step.phase =
          std::max(step.phase, result.steps[static_cast<std::size_t>(arg)].phase + (step.kind == StepKind::reduce));
    }
    step.pass = step.phase;
    result.phases = std::max(result.phases, step.phase + 1);
    result.steps.push_back(step);
  }
  for (ProgramOutput& output : result.outputs) output.step = place[static_cast<std::size_t>(output.step)];
  result.passes = result.phases;
  result.serial = next_program_serial();
  return result;
}

}  // namespace tern::detail
