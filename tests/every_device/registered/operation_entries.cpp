// The entries of operations (src/ops/entry.hpp) as such: each is whole, says what its header says, and every operation
// that a header declares has one.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "every_device/registered/trials.hpp"

namespace tern::test {
namespace {

/// As its header declares it: of gradients of gated activations the name in TERN_GATED.
std::string declared_name(const operations::Entry& entry) {
#define TERN_FORMULA(formula, ...)
#define TERN_GATED(formula, activation) \
  if (std::string(entry.name) == #formula "_bwd") return "name##_bwd";
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  return plain_name(entry);
}

TEST(OperationEntries, AreWhole) {
  std::set<std::string> names;
  for (const operations::Entry& entry : operations::entries()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << "there are two entries of this name";
    for (const char* alias : entry.aliases)
      EXPECT_TRUE(names.insert(alias).second) << alias << " is another's name, too";
    EXPECT_NE(std::string(entry.says), "") << "without documentation";
    EXPECT_FALSE(entry.samples.empty()) << "without a sample";
    EXPECT_FALSE(entry.bad.empty()) << "without bad input";
    bool compared = false;
    for (const operations::Sample& sample : entry.samples) {
      EXPECT_EQ(sample.shapes({}).size(), sample.call.operands()) << sample.with;
      compared |= static_cast<bool>(sample.reference);
    }
    EXPECT_TRUE(compared) << "no sample has a reference";
    EXPECT_NE(std::string(entry.tolerance.because), "") << "a tolerance without its reason";
  }
}

std::string header(const std::string& name) {
  std::ifstream in(TERN_HEADERS + name);
  EXPECT_TRUE(in.good()) << TERN_HEADERS << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
/// A header's text but for what stands in namespaces "detail".
std::string without_details(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  std::ptrdiff_t open = 0;  // braces
  for (std::string line; std::getline(lines, line);) {
    const bool details = line.starts_with("namespace detail {") || line.starts_with("namespace tern::detail {");
    if (open == 0 && !details) rest += line + "\n";
    else open += std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
  }
  return rest;
}
/// Everything that declares operations: the public headers but for those of what operations are made of, and
/// operation.hpp in a primitive's folder.
std::string headers(bool with_methods) {
  static const std::set<std::string> others = {"aliases.hpp", "autodiff.hpp", "dlpack.hpp", "eigen.hpp",
                                               "fixed.hpp",   "formula.hpp",  "io.hpp",     "interop.hpp",
                                               "tensor.hpp",  "transforms.hpp"};
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(TERN_HEADERS)) names.insert(file.path().filename());
  std::string text = without_details(header("ops.hpp"));  // first: others have more arguments for some of its names
  for (const std::string& name : names)
    if (name.ends_with(".hpp") && name != "ops.hpp" && !others.contains(name)) text += without_details(header(name));
  if (with_methods) text += header("tensor.hpp");
  for (const auto& folder : std::filesystem::directory_iterator(TERN_HEADERS "../../src/primitives"))
    if (std::filesystem::exists(folder.path() / "operation.hpp"))
      text += without_details(header("../../src/primitives/" + folder.path().filename().string() + "/operation.hpp"));
  return text;
}
struct Declaration {
  std::string comment, text;  // each in one line
};
/// The first declaration of a function of this name that has a comment (///) above it.
Declaration declaration(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  Declaration d;
  bool in_comment = false;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with("///")) {
      if (!in_comment) d = {};
      in_comment = true, d.comment += line.substr(3);
      continue;
    }
    in_comment = false, d.text += line + " ";
    if (line.find(';') == std::string::npos && !line.ends_with("{")) continue;
    if (!d.comment.empty() && d.text.find(" " + name + "(") != std::string::npos) return d;
    d = {};
  }
  return {};
}
/// Each of "x, axis = -1" in its order.
bool lists(const std::string& declared, const std::string& arguments) {
  std::istringstream list(arguments);
  std::size_t at = declared.find('(');
  for (std::string argument; std::getline(list, argument, ',');) {
    argument.erase(0, argument.find_first_not_of(' '));
    at = declared.find(argument, at);
    if (at == std::string::npos) return false;
    at += argument.size();
  }
  return true;
}
/// The names of functions of tensors that a header declares: lines "template <TensorOrVar T> … name(" and
/// "Tensor name(".
std::set<std::string> declared(const std::string& text, const std::string& indent = "") {
  std::istringstream lines(text);
  std::set<std::string> names;
  bool is_one = false;
  for (std::string line; std::getline(lines, line);) {
    is_one |= line.starts_with("template <TensorOrVar");
    for (const char* result : {"Tensor ", "Var ", "std::vector<Tensor> ", "std::vector<Var> "})
      is_one |= line.starts_with(indent + result);
    is_one |= indent.empty() && line.starts_with("bool ");  // of methods, it is a question about the object
    const std::size_t end = line.find('(');
    is_one &= line.find("operator") == std::string::npos && line.find("static_assert") == std::string::npos;
    if (!is_one || end == std::string::npos || line.find("requires") != std::string::npos) continue;
    const std::size_t begin = line.rfind(' ', end) + 1;
    names.insert(line.substr(begin, end - begin)), is_one = false;
  }
  return names;
}
/// What a header says between "class <name> {" and its end.
std::string class_text(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("class " + name + " {"), end = text.find("\n};", begin);
  EXPECT_NE(begin, std::string::npos) << name;
  return text.substr(begin, end - begin);
}
TEST(OperationEntries, AreThereForEveryDeclaration) {
  std::set<std::string> names;
  for (const operations::Entry& entry : operations::entries()) {
    names.insert(entry.name);
    for (const char* alias : entry.aliases) names.insert(alias);
  }
#define TERN_FORMULA(name, ...)
#define TERN_GATED(name, activation) EXPECT_TRUE(names.contains(#name "_bwd")) << #name;
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  const std::string optimisers = header("optim.hpp");
  int count = 0;
  for (std::size_t at = 0; (at = optimisers.find("\nclass ", at)) != optimisers.npos;) {
    at += 7;
    const std::string name = optimisers.substr(at, optimisers.find_first_of(" {;", at) - at);
    if (class_text(optimisers, name).find(" step(") == std::string::npos) continue;  // not an optimiser
    EXPECT_TRUE(names.contains(name)) << name << " is declared without an entry";
    ++count;
  }
  EXPECT_GE(count, 2);
  const std::set<std::string> functions = declared(headers(false));
  EXPECT_GT(functions.size(), 30u);
  for (const std::string& name : functions)
    EXPECT_TRUE(names.contains(name)) << name << " is declared without an entry";
  // Methods that give tensors; `detach` only cuts the graph, and operators and accessors compute nothing.
  const std::set<std::string> without{"detach", "operator[]", "grad", "value"};
  for (const auto& [file, type] : {std::pair{"tensor.hpp", "Tensor"}, std::pair{"autodiff.hpp", "Var"}}) {
    const std::set<std::string> methods = declared(class_text(header(file), type), "  ");
    EXPECT_GT(methods.size(), 8u) << type;
    for (const std::string& name : methods)
      EXPECT_TRUE(names.contains("x." + name) || names.contains(name) || without.contains(name))
          << type << "::" << name << " is declared without an entry";
  }
}
TEST(OperationEntries, SayWhatTheHeadersSay) {
  const std::string text = headers(true), methods = header("tensor.hpp");
  for (const operations::Entry& entry : operations::entries()) {
    const bool is_method = plain_name(entry) != entry.name;
    const Declaration d = declaration(is_method ? methods : text, declared_name(entry));
    EXPECT_TRUE(d.comment.starts_with(" " + std::string(entry.says)))
        << entry.name << " is commented with \"" << d.comment << "\"";
    EXPECT_TRUE(lists(d.text, entry.arguments)) << entry.name << " is declared " << d.text;
  }
}

}  // namespace
}  // namespace tern::test
