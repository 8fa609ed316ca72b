#include <cmath>

#include "formula/rule.hpp"
#include "gpu/text/factored.hpp"
#include "gpu/text/factored_form.hpp"

namespace tern::detail_gpu {

using detail::Elementary;
using detail::Step;
using detail::StepKind;

bool stays_finite(const detail::Program& program, int wanted, const std::function<bool(int)>& finite) {
  const std::size_t n = program.steps.size();
  std::vector<char> known(n);
  const auto elementary = [&](const Step& s, bool all) {
    if (s.elementary == Elementary::div) {  // by a number that is not 0
      const Step& by = program.steps[static_cast<std::size_t>(s.args[1])];
      return all && by.kind == StepKind::number && is_normal(by.number.is_integer ? 1 : by.number.real);
    }
    const detail::Finite rule = detail::rule_of(s.elementary).finite;
    return rule == detail::Finite::always || (rule == detail::Finite::of_finite && all);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Step& s = program.steps[i];
    bool all = true;
    for (const int arg : s.args) all = all && (arg < 0 || known[static_cast<std::size_t>(arg)]);
    if (!detail::is_float(s.result_type())) known[i] = true;
    else if (s.kind == StepKind::input) known[i] = finite(static_cast<int>(i));
    else if (s.kind == StepKind::number) known[i] = s.number.is_integer || std::isfinite(s.number.real);
    else if (s.kind == StepKind::elementary) known[i] = elementary(s, all);
    else known[i] = s.kind != StepKind::reduce && all;
  }
  return known[static_cast<std::size_t>(wanted)];
}

}  // namespace tern::detail_gpu
