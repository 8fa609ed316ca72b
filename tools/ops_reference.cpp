// Prints docs/ops.md: the registry of formulas and leaves, and the operations that the headers declare, as a reference.
// Nothing in it is typed by hand.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "formula/graph.hpp"
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

void leaf_row(const char* name, Leaf leaf) {
  const Rule& rule = rule_of(leaf);
  const char* gradient = rule.vjp || leaf == Leaf::cast ? "yes" : rule.differentiable ? "zero" : "no";
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

void formula_row(const char* name, const detail::Graph* graph, const char* text) {
  const bool declared = graph->outputs[0]->kind == NodeKind::call;
  std::printf("| `%s` | %d | `%s` | %s |\n", name, graph->inputs, formula_text(text).c_str(),
              declared ? "declared" : "derived");
}

std::string header(const char* name) {
  std::ifstream in(std::string(TERN_INCLUDE "/") + name);
  if (!in) throw std::runtime_error(std::string(TERN_INCLUDE "/") + name + " cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Operation {
  std::string name, arguments, what;
  bool differentiable = false;  // there is one on Vars that gives Vars
};

/// The first sentence of a comment's lines.
std::string first_sentence(const std::string& comment) {
  const std::string text = std::regex_replace(comment, std::regex(R"(\|)"), "\\|");
  const std::size_t end = text.find(". ");
  std::string sentence = end == std::string::npos ? text : text.substr(0, end);
  while (!sentence.empty() && (sentence.back() == '.' || sentence.back() == ' ')) sentence.pop_back();
  return sentence;
}
std::string without_types(const std::string& arguments) {
  const std::regex marks("const |&"),
      types(
          R"(\b([A-Z]|[A-Z]\.\.\.|detail::VarArg|std::vector<Tensor>|std::optional<std::int64_t>|Tensor|Shape|Axes|Pointwise<>|MatmulOptions|)"
          R"(MatmulBwdOptions|CrossEntropyOptions|EpilogueOptions|Options|Number|DType|Device|Generator|std::int64_t|int|bool|double) )");
  return std::regex_replace(std::regex_replace(arguments, marks, ""), types, "");
}

/// The functions that a header's text declares at the start of a line (after `indent`), with the comment above them.
std::vector<Operation> operations(const std::string& text, const std::string& indent) {
  const std::regex declaration("^" + indent +
                               R"((Tensor|Var|std::vector<Tensor>|std::vector<Var>|Sorted<Tensor>|Sorted<Var>|bool|)"
                               R"(MatmulBiasActivationGrads|ResidualNorm<Tensor>|ResidualNorm<Var>|auto) (\w+)\((.*))");
  const std::regex body(R"(\) const \{.*\}$)");
  const std::regex macro(R"(^TERN_DECLARE_(INDEX_)?REDUCTION\((\w+)\)$)");
  std::vector<Operation> list;
  std::map<std::string, std::size_t> index;
  std::istringstream lines(text);
  std::string comment, above;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    line = std::regex_replace(line, body, ") const;");
    if (line == "namespace detail {")
      while (std::getline(lines, line) && line[0] != '}') {
      }
    if (line.starts_with(indent + "/// ")) {
      comment += line.substr(indent.size() + 4) + " ";
      continue;
    }
    if (line.starts_with("template ") || line.starts_with("  requires ")) continue;  // of the function below
    Operation found;
    bool on_vars = false;
    if (std::regex_match(line, match, macro)) {
      found = {match[2], "x, axes = {}, keepdim = false", "", !match[1].matched};
      on_vars = found.differentiable;
    } else if (std::regex_match(line, match, declaration) && (line.ends_with("{") == (match[1] == "auto"))) {
      std::string rest = match[3];
      for (std::string more; !line.ends_with("{") && rest.find(");") == std::string::npos &&
                             rest.find(") const;") == std::string::npos &&
                             std::getline(lines, more);)
        rest += " " + more.substr(more.find_first_not_of(' '));
      found = {match[2], without_types(rest.substr(0, rest.rfind(')'))), "", false};
      on_vars = match[1] == "auto" || match[1].str().find("Var") != std::string::npos;
    } else {
      comment.clear();
      if (line.empty()) above.clear();
      continue;
    }
    if (!comment.empty()) above = comment;
    comment.clear();
    const auto [at, is_new] = index.emplace(found.name, list.size());
    if (is_new) found.what = first_sentence(above), list.push_back(found);
    list[at->second].differentiable |= on_vars;
  }
  return list;
}

void operation_rows() {
  std::vector<Operation> list = operations(header("ops.hpp"), "");
  const std::string tensor = header("tensor.hpp"), var = header("autodiff.hpp");
  const std::size_t copies = tensor.find("class Tensor {"), end = tensor.find("\n};", copies);
  const std::vector<Operation> of_vars =
      operations(var.substr(var.find("class Var {"), var.find("class GradFn :")), "  ");
  for (Operation& method : operations(tensor.substr(copies, end - copies), "  ")) {
    for (const Operation& other : of_vars) method.differentiable |= other.name == method.name;
    if (method.name == "matmul" || method.name == "defined" || method.name == "is_contiguous" ||
        method.name == "borrow")
      continue;
    method.name = "x." + method.name;
    list.push_back(std::move(method));
  }
  for (Operation& creation : operations(tensor.substr(end), "")) list.push_back(std::move(creation));
  for (const Operation& op : list)
    std::printf("| `%s` | `%s` | %s | %s |\n", op.name.c_str(), op.arguments.c_str(), op.differentiable ? "yes" : "",
                op.what.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::printf("Usage: %s\nPrints the reference of leaves and formulas (docs/ops.md) in Markdown.\n", argv[0]);
    return std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  std::printf(
      "# Operations\n\nMade by `tools/ops_reference.cpp` from `formulas.inc`, `leaves.inc` and the leaf files; a test "
      "holds this page against them.\n\n"
      "## Formulas\n\nEach is a function `tern::name(…)` on Tensors, Vars and symbolic values, and an object "
      "`tern::op::name`.\n\n"
      "| name | inputs | value | derivative |\n|---|---|---|---|\n");
#define TERN_FORMULA(name, ...) formula_row(#name, op::name.graph(), #__VA_ARGS__);
#define TERN_GATED(name, activation) formula_row(#name, op::name.graph(), "{ " #activation "(a) * b }");
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  std::printf(
      "\n## Leaves\n\nThe closed vocabulary of formulas, and what derivatives are made of besides. Budgets are the largest error in units in the last place, on "
      "the CPU.\n\n"
      "| name | inputs | takes | f32 | f64 | gradient | edges |\n|---|---|---|---|---|---|---|\n");
#define TERN_LEAF(name, arity) leaf_row(#name, Leaf::name);
#define TERN_LEAF_INNER(name, arity) leaf_row(#name, Leaf::name);
#define TERN_LEAF_SLOPE(name, arity) leaf_row(#name " (in derivatives)", Leaf::name);
#define TERN_LEAF_REDUCE(name) leaf_row(#name "(x) in a formula", Leaf::name);
#include "tern/leaves.inc"
#undef TERN_LEAF
#undef TERN_LEAF_INNER
#undef TERN_LEAF_REDUCE
  std::printf(
      "\n## Other operations\n\nMade of the above and a few kernels. Those with a gradient take Vars, and have "
      "gradients of every order.\n\n| name | arguments | gradient | what |\n|---|---|---|---|\n");
  operation_rows();
  std::printf("\nOf Tensors and Vars these are methods, too (`x.sum(0)`):");
  const char* before = " ";
#define TERN_METHOD(result, name, ...)             \
  std::printf("%s`%s`", before, #name), before = ", ";
#include "tern/methods.inc"
#undef TERN_METHOD
  std::printf(", `matmul`.\n");
  return 0;
}
