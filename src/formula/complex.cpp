// From a graph of complex numbers to one of real ones, node by node.
#include "formula/complex.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "formula/caches.hpp"
#include "tern/error.hpp"

namespace tern::detail {

FormulaGraph::Caches::Caches() = default;
FormulaGraph::Caches::~Caches() = default;

namespace {

using ComplexOf = std::unordered_map<const Node*, Complex>;

Expr elementary_of(const Node& node, std::span<const Expr> args) {
  switch (args.size()) {
    case 1: return make_elementary(node.elementary, {args[0]}, node.index);
    case 2: return make_elementary(node.elementary, {args[0], args[1]}, node.index);
    default: return make_elementary(node.elementary, {args[0], args[1], args[2]}, node.index);
  }
}
Expr not_zero(const Complex& x) { return x.is_complex() ? bit_or(x.re != 0, x.im != 0) : x.re != 0; }
[[noreturn]] void fail(const char* op, const std::string& what) {
  throw Error(ErrorKind::dtype, std::string(op) + ": " + what);
}

/// x as a number of another dtype: an attribute of the node, or that of its second argument.
Complex converted(const char* op, const Node& node, std::span<const Complex> x) {
  const bool like = node.index == kCastLike;
  const DType dtype = like ? DType::boolean : static_cast<DType>(node.index);
  const auto part = [&](Expr e) {
    return like ? make_elementary(Elementary::cast, {e, x[1].re}, kCastLike) : cast(e, real_dtype(dtype));
  };
  if (like ? x[1].is_complex() : is_complex(dtype))
    return {part(x[0].re), part(x[0].is_complex() ? x[0].im : make_constant(0))};
  if (!x[0].is_complex()) return {elementary_of(node, std::vector<Expr>(like ? 2 : 1, x[0].re))};
  if (dtype == DType::boolean && !like) return {not_zero(x[0])};
  fail(op, "a complex number is not converted to a real one" + (like ? "" : ", " + std::string(to_string(dtype))) +
               "; take real(z), imag(z) or abs(z)");
}

class InRealNumbers {
 public:
  InRealNumbers(const char* op, ComplexOf values) : op_(op), values_(std::move(values)) {}

  std::vector<Complex> outputs(const FormulaGraph* graph) {
    for (const Node* node : topological(graph->outputs))
      if (!values_.contains(node)) values_.emplace(node, value_of(*node));
    std::vector<Complex> results;
    for (const Node* output : graph->outputs) results.push_back(values_.at(output));
    return results;
  }

 private:
  Complex value_of(const Node& node) {
    if (node.kind == NodeKind::constant || node.kind == NodeKind::extent) return {Expr(&node)};
    if (node.kind == NodeKind::elementary &&
        node.elementary == Elementary::index) {  // its argument gives but the space
      const auto known = values_.find(node.args[0]);
      return {
          make_elementary(Elementary::index, {known == values_.end() ? make_input(0) : known->second.re}, node.index)};
    }
    std::vector<Complex> x;
    std::vector<Expr> real;
    bool complex = false;
    for (const Node* arg : node.args) {
      x.push_back(values_.at(arg)), real.push_back(x.back().re);
      complex |= x.back().is_complex();
    }
    if (complex) convert_exact(node, x);
    if (node.kind == NodeKind::call) return complex ? called(node, x) : called_real(node, real);
    if (node.elementary == Elementary::cast) return converted(op_, node, x);
    const bool speaks = node.elementary == Elementary::complex_of || node.elementary == Elementary::real_part ||
                        node.elementary == Elementary::imag_part;
    if (node.elementary == Elementary::sum && complex)
      return {elementary_of(node, {&x[0].re, 1}), elementary_of(node, {&x[0].im, 1})};
    return complex || speaks ? complex_elementary(op_, node.elementary, x)
                             : Complex{elementary_of(node, real), {}, is_exact(x)};
  }
  static bool is_exact(std::span<const Complex> x) {
    const auto number = [](const Complex& c) { return c.re.node()->kind == NodeKind::constant; };
    return std::ranges::all_of(x, [&](const Complex& c) { return c.exact || number(c); }) &&
           std::ranges::any_of(x, [](const Complex& c) { return c.exact; });
  }
  /// Integers beside a complex number as floats like its parts; not the condition of a choice.
  static void convert_exact(const Node& node, std::vector<Complex>& x) {
    const auto like = std::ranges::find_if(x, [](const Complex& c) { return c.is_complex(); });
    const bool chooses = node.kind == NodeKind::elementary && node.elementary == Elementary::where;
    for (std::size_t i = chooses ? 1 : 0; i < x.size(); ++i)
      if (x[i].exact) x[i] = {make_elementary(Elementary::cast, {x[i].re, like->re}, kCastLike)};
  }
  Complex called_real(const Node& node, std::span<const Expr> x) {
    if (!node.definition->value->complex) return {make_call(node.definition, x)};
    std::vector<Complex> numbers;
    for (const Expr& e : x) numbers.push_back({e});
    return inside(node, numbers);
  }
  Complex called(const Node& node, const std::vector<Complex>& x) {
    const Complex result = complex_call(op_, node.definition, x);
    return result.re.defined() ? result : inside(node, x);
  }
  Complex inside(const Node& node, const std::vector<Complex>& x) {
    ComplexOf inputs;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (const bool full : {true, false}) inputs[make_input(static_cast<int>(i), full).node()] = x[i];
    return InRealNumbers(op_, std::move(inputs)).outputs(node.definition->value)[0];
  }

  const char* op_;
  ComplexOf values_;
};

std::unique_ptr<RealFormula> derive(const char* op, const FormulaGraph* graph, const Operands& operands) {
  auto formula = std::make_unique<RealFormula>();
  formula->operands = operands;
  ComplexOf inputs;
  int count = 0;
  for (int i = 0; i < graph->inputs; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool complex = operands.complex[at];
    for (const bool full : {true, false}) {
      const auto operand = [&](int index) {
        const Expr e = make_input(index, full);
        return operands.converted != DType::boolean && operands.floating[at] ? cast(e, operands.converted) : e;
      };
      inputs[make_input(i, full).node()] = {operand(count), complex ? operand(count + 1) : Expr(), operands.exact[at]};
    }
    count += complex ? 2 : 1;
  }
  std::vector<Expr> outputs;
  for (const Complex& y : InRealNumbers(op, std::move(inputs)).outputs(graph)) {
    const bool converts = operands.results != DType::boolean && y.is_complex();
    const auto part = [&](Expr e) { return converts ? cast(e, operands.results) : e; };
    outputs.push_back(part(y.re));
    if (y.is_complex()) outputs.push_back(part(y.im));
    formula->complex_outputs.push_back(y.is_complex());
  }
  formula->graph = make_graph(outputs, count);
  return formula;
}

/// A node as on_each_part sees it: a real number, or any part of a complex one.
struct LoweredPart {
  Expr e;
  bool of_complex = false;
};
/// Nothing where parts meet.
std::optional<LoweredPart> on_part(const Node& node, std::span<const LoweredPart> x) {
  std::vector<Expr> args;
  int parts = 0;
  for (const LoweredPart& p : x) args.push_back(p.e), parts += p.of_complex;
  if (node.kind == NodeKind::call) {
    if (parts > 0 || node.definition->value->complex) return {};
    return LoweredPart{make_call(node.definition, args)};
  }
  const bool to_complex =
      node.elementary == Elementary::cast && node.index >= 0 && is_complex(static_cast<DType>(node.index));
  if (to_complex && parts == 1) return LoweredPart{cast(args[0], real_dtype(static_cast<DType>(node.index))), true};
  bool splits = parts == 0 && !to_complex;
  switch (node.elementary) {
    case Elementary::real_part:
    case Elementary::imag_part:
    case Elementary::complex_of: return {};
    case Elementary::add:
    case Elementary::sub: splits |= parts == 2; break;
    case Elementary::neg:
    case Elementary::detach:
    case Elementary::sum: splits = true; break;
    case Elementary::mul: splits |= parts == 1; break;
    case Elementary::div: splits |= parts == 1 && x[0].of_complex; break;
    case Elementary::where: splits |= parts == 2 && !x[0].of_complex; break;
    default: break;
  }
  if (!splits) return {};
  return LoweredPart{elementary_of(node, args), parts > 0};
}
const FormulaGraph* part_graph(const FormulaGraph* graph, const IndexSet& complex_inputs) {
  std::unordered_map<const Node*, LoweredPart> values;
  for (const Node* node : topological(graph->outputs)) {
    if (node->kind == NodeKind::input) {
      values[node] = {Expr(node), complex_inputs[static_cast<std::size_t>(node->index)]};
    } else if (node->kind == NodeKind::constant || node->kind == NodeKind::extent) {
      values[node] = {Expr(node)};
    } else {
      if (node->elementary == Elementary::index) return nullptr;  // axes are counted from the last
      std::vector<LoweredPart> x;
      for (const Node* arg : node->args) x.push_back(values.at(arg));
      const std::optional<LoweredPart> part = on_part(*node, x);
      if (!part) return nullptr;
      values[node] = *part;
    }
  }
  std::vector<Expr> outputs;
  for (const Node* output : graph->outputs) {
    const LoweredPart& part = values.at(output);
    if (!part.of_complex) return nullptr;
    outputs.push_back(part.e);
  }
  return make_graph(outputs, graph->inputs);
}

/// What `make` gives, kept with the graph where `is_it` finds it.
template <class IsIt, class Make>
const RealFormula& kept(const FormulaGraph* graph, const IsIt& is_it, const Make& make) {
  FormulaGraph::Caches& caches = *graph->caches;
  const auto find = [&]() -> const RealFormula* {
    for (const auto& formula : caches.in_real_numbers)
      if (is_it(*formula)) return formula.get();
    return nullptr;
  };
  {
    const std::shared_lock hold(caches.lock);
    if (const RealFormula* found = find()) return *found;
  }
  std::unique_ptr<RealFormula> made = make();
  const std::unique_lock hold(caches.lock);
  if (const RealFormula* found = find()) return *found;
  return *caches.in_real_numbers.emplace_back(std::move(made));
}

}  // namespace

const RealFormula& in_real_numbers(const char* op, const FormulaGraph* graph, const Operands& operands) {
  return kept(
      graph, [&](const RealFormula& f) { return !f.on_parts && f.operands == operands; },
      [&] { return derive(op, graph, operands); });
}

const FormulaGraph* on_each_part(const FormulaGraph* graph, const IndexSet& complex_inputs) {
  return kept(
             graph, [&](const RealFormula& f) { return f.on_parts && f.operands.complex == complex_inputs; },
             [&] {
               auto formula = std::make_unique<RealFormula>();
               formula->on_parts = true, formula->operands.complex = complex_inputs;
               formula->graph = part_graph(graph, complex_inputs);
               return formula;
             })
      .graph;
}

}  // namespace tern::detail
