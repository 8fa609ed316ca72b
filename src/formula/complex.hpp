// Formulas of complex numbers, written in real ones: a complex operand is two, its real and its imaginary part, and so
// is a complex result. What types, differentiates and runs graphs sees no other.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "formula/graph.hpp"

namespace tern::detail {

/// A number of a formula: re + i·im, or real where im is undefined.
struct Complex {
  Expr re = {}, im = {};
  bool exact = false;  // integers or booleans: converted where they meet a complex number
  bool is_complex() const { return im.defined(); }
};

/// What a formula is written in real numbers for.
struct Operands {
  IndexSet complex;
  IndexSet floating;                 // the floating and the complex ones
  IndexSet exact;                    // integers and booleans
  DType converted = DType::boolean;  // the floating ones and parts are converted to it, unless it is boolean
  DType results = DType::boolean;    // so are the parts of complex results
  friend bool operator==(const Operands&, const Operands&) = default;
};

/// A formula in real numbers. Its inputs are the original's in their order, complex ones as two, the real part first;
/// so are its outputs.
struct RealFormula {
  Operands operands;
  bool on_parts = false;  // as on_each_part gives it: null, or with the original's inputs and outputs
  const FormulaGraph* graph = nullptr;
  std::vector<bool> complex_outputs;
};

/// The formula for such operands; kept with the graph. Throws dtype, naming what has no meaning for complex numbers.
const RealFormula& in_real_numbers(const char* op, const FormulaGraph* graph, const Operands& operands);

/// The graph that gives each part of every result from the same part of the operands (and from real ones), as x + y,
/// 2·x and sum(x) do; kept with the graph. Null where there is none.
const FormulaGraph* on_each_part(const FormulaGraph* graph, const IndexSet& complex_inputs);

/// What elementary(x…) is where one of them is complex. Throws dtype where it has no meaning.
Complex complex_elementary(const char* op, Elementary elementary, std::span<const Complex> x);
/// The same of a formula with a declared derivative, where there is a rule for it; else (both undefined) its
/// expression is taken.
Complex complex_call(const char* op, const Definition* definition, std::span<const Complex> x);

}  // namespace tern::detail
