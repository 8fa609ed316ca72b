// Prints docs/ops.md: the registry of formulas and elementary functions, and the entries of operations, as a reference.
// Nothing in it is typed by hand.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "formula/graph.hpp"
#include "ops/entry.hpp"
#include "tern/tern.hpp"

namespace {

using namespace tern;
using namespace tern::detail;

const char* takes_text(Takes takes) {
  constexpr const char* texts[] = {"any", "integers, floats", "floats", "integers", "integers, boolean"};
  return texts[static_cast<int>(takes)];
}

std::string budget(double ulp) {
  if (ulp == 0) return "exact";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", ulp);
  return text;
}

std::string edges(const Rule& rule) {
  std::string text;
  for (int i = 0; i < rule.edge_count; ++i) {
    char edge[64];
    std::snprintf(edge, sizeof edge, "%s%g→%g", i ? ", " : "", rule.edges[static_cast<std::size_t>(i)].at,
                  rule.edges[static_cast<std::size_t>(i)].gives);
    text += edge;
  }
  return text;
}

void elementary_row(const char* name, Elementary elementary) {
  const Rule& rule = rule_of(elementary);
  const char* gradient = rule.vjp || elementary == Elementary::cast ? "yes" : rule.differentiable ? "zero" : "no";
  std::printf("| `%s` | %d | %s | %s | %s | %s | %s |\n", name, rule.arity, takes_text(rule.takes),
              budget(rule.ulp_f32).c_str(), budget(rule.ulp_f64).c_str(), gradient, edges(rule).c_str());
}

/// The text of a formula without its surroundings: "[](auto x) { return x * x; }" → "x * x".
std::string formula_text(const char* text) {
  std::string all(text), body;
  const std::size_t open = all.find('{');
  int depth = 0;
  for (std::size_t i = open; i < all.size(); ++i) {
    depth += all[i] == '{' ? 1 : all[i] == '}' ? -1 : 0;
    body += all[i];
    if (depth == 0) break;
  }
  std::string result;
  for (const char c : body.substr(1, body.size() - 2)) result += c == '|' ? std::string("\\|") : std::string(1, c);
  const std::size_t first = result.find_first_not_of(' '), last = result.find_last_not_of(" ;");
  result = result.substr(first, last - first + 1);
  return result.rfind("return ", 0) == 0 ? result.substr(7) : result;
}

void formula_row(const char* name, const detail::FormulaGraph* graph, const char* text, bool predicate = false) {
  const bool declared = graph->outputs[0]->kind == NodeKind::call;
  std::printf("| `%s` | %d | `%s` | %s |\n", name, graph->inputs, formula_text(text).c_str(),
              predicate ? "none" : declared ? "declared" : "derived");
}

std::string in_a_cell(const char* text) {
  std::string cell;
  for (; *text; ++text) cell += *text == '|' ? std::string("\\|") : std::string(1, *text);
  return cell;
}

/// A table for each family.
void entry_rows() {
  const operations::Entry* before = nullptr;
  for (const operations::Entry& entry : operations::entries()) {
    if (!before || before->family != entry.family)
      std::printf("\n### %s\n\n| name | arguments | gradient | what |\n|---|---|---|---|\n", title(entry.family));
    std::printf("| `%s` | `%s` | %s | %s |\n", entry.name, entry.arguments, entry.differentiable ? "yes" : "",
                in_a_cell(entry.says).c_str());
    before = &entry;
  }
}

/// Sentences as lines of at most 120 columns (letters here take one byte each, but for … and ·, which only shortens).
void print_paragraph(const std::string& text) {
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (column != 0) column + 1 + (end - begin) > 120 ? (std::printf("\n"), column = 0) : (std::printf(" "), ++column);
    std::printf("%s", text.substr(begin, end - begin).c_str());
    column += end - begin, begin = end + 1;
  }
  std::printf("\n");
}

/// A family's heading, the sentences under it and the head of its table.
void print_heading(const char* heading, const char* sentences, const char* columns) {
  std::printf("%s\n\n", heading);
  print_paragraph(sentences);
  std::printf("\n%s\n", columns);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::printf("Usage: %s\nPrints the reference of elementary functions and formulas (docs/ops.md) in Markdown.\n",
                argv[0]);
    return std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  std::printf("# Operations\n\n");
  print_paragraph(
      "Made by `tools/ops_reference.cpp` from `formulas.inc`, `elementary.inc`, their files and the entries of "
      "operations; a test holds this page against them.");
  print_heading("\n## Formulas",
                "Each is a function `tern::name(…)` on Tensors, Vars and symbolic values, and an object "
                "`tern::op::name`.",
                "| name | inputs | value | derivative |\n|---|---|---|---|");
#define TERN_FORMULA(name, ...) formula_row(#name, op::name.graph(), #__VA_ARGS__);
#define TERN_FORMULA_PREDICATE(name, ...) formula_row(#name, op::name.graph(), #__VA_ARGS__, true);
#define TERN_FORMULA_MORE(name, arity, ...) formula_row(#name, op::name##_with.graph(), #__VA_ARGS__);
#define TERN_GATED(name, activation) formula_row(#name, op::name.graph(), "{ " #activation "(a) * b }");
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  print_heading("\n## Elementary functions of formulas",
                "The closed vocabulary of formulas, and what derivatives are made of besides. Budgets are the largest "
                "error in units in the last place, on the CPU.",
                "| name | inputs | takes | f32 | f64 | gradient | edges |\n|---|---|---|---|---|---|---|");
#define TERN_ELEMENTARY(name, arity) elementary_row(#name, Elementary::name);
#define TERN_ELEMENTARY_INNER(name, arity) elementary_row(#name, Elementary::name);
#define TERN_ELEMENTARY_SLOPE(name, arity) elementary_row(#name " (in derivatives)", Elementary::name);
#define TERN_ELEMENTARY_REDUCE(name) elementary_row(#name "(x) in a formula", Elementary::name);
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
  std::printf("\n## Other operations\n\n");
  print_paragraph(
      "Made of the above and a few kernels. Those with a gradient take Vars, and have gradients of every order.");
  entry_rows();
  std::string methods = "Of Tensors and Vars these are methods, too (`x.sum(0)`):";
#define TERN_METHOD(result, name, ...) methods += " `" #name "`,";
#include "tern/methods.inc"
#undef TERN_METHOD
  std::printf("\n");
  print_paragraph(methods + " `matmul`.");
  return 0;
}
