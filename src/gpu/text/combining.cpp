#include "gpu/text/combining.hpp"

#include <limits>

#include "formula/compute_types.hpp"
#include "gpu/text/printer.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::Combine;
using detail::ComputeType;

std::string combining_function(const Dialect& dialect, Combine how, ComputeType type) {
  const char* const spelled = compute_type_name(type);
  if (how == Combine::last)  // a formula has no use for an argument that it does not read
    return dialect.pure_function_head("combine", {{spelled, "a"}, {spelled, "b"}}, spelled) + "  return b;\n}\n";
  const detail::InputType of{dtype_computed_in(type), false}, types[] = {of, of};
  const detail::Program& program = detail::type_program("combine", detail::combining_graph(how), types);
  return ProgramPrinter(program, dialect, {}).pure_function("combine", program.outputs[0].step);
}

std::string combining_identity(Combine how, ComputeType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (how) {
    case Combine::mul: return literal(Number(1.0), type);
    case Combine::minimum: return extreme_literal(true, type);
    case Combine::maximum: return extreme_literal(false, type);
    case Combine::logaddexp: return literal(Number(-infinity), type);
    default: return cat(compute_type_name(type), "()");
  }
}

}  // namespace tern::detail_gpu
