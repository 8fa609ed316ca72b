// The formulas that stand in the derivatives of others only (TERN_FORMULA_INNER in tern/formulas.inc).
#pragma once
#include "tern/formula.hpp"

namespace tern::op {
#define TERN_FORMULA(name, ...)
#define TERN_GATED(name, activation)
#define TERN_FORMULA_INNER(name, ...) extern const Pointwise<> name;
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
}  // namespace tern::op
