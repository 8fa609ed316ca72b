// The entries of operations (src/ops/entry.hpp) as such: each is whole, says what its header says, and every operation
// that a header declares has one. (Longer than other files: each rule is a test on the one list.)
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
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
/// The public headers that declare no operations, each with what it declares instead.
const std::map<std::string, const char*>& other_headers() {
  static const std::map<std::string, const char*> map{
      {"aliases.hpp", "other names of operations, by macros; the entries list them"},
      {"autodiff.hpp", "variables and backward"},
      {"capture.hpp", "recordings of a program"},
      {"checkpoint.hpp", "functions of a program's functions, which differentiable() in trials.hpp tries"},
      {"device.hpp", "devices, their memory and threads"},
      {"dtype.hpp", "questions about dtypes"},
      {"eigen.hpp", "conversions to another library's types"},
      {"fixed.hpp", "vectors and matrices within formulas"},
      {"formula.hpp", "formulas and elementary functions, which have lists of their own"},
      {"implicit.hpp", "functions of a program's functions"},
      {"interop.hpp", "conversions to other libraries' types"},
      {"io.hpp", "files"},
      {"operands.hpp", "what operations take"},
      {"refusals.hpp", "overloads of operations that refuse what is no tensor"},
      {"shape.hpp", "shapes"},
      {"trace.hpp", "reports about a program's calls"},
      {"transforms.hpp", "functions of a program's functions"},
      {"tree.hpp", "tensors within a program's own types"},
      {"tuning.hpp", "measurements"},
      {"webgpu.hpp", "a device of the program's"},
  };
  return map;
}
/// The others that declare operations, ops.hpp first: the rest has more arguments for some of its names.
std::vector<std::string> headers_of_operations() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(TERN_HEADERS)) names.insert(file.path().filename());
  std::vector<std::string> list{"ops.hpp"};
  for (const std::string& name : names)
    if (name.ends_with(".hpp") && name != "ops.hpp" && !other_headers().contains(name)) list.push_back(name);
  return list;
}
/// Everything that declares operations: these headers, and operation.hpp in a primitive's folder.
std::string headers(bool with_methods) {
  std::string text;
  for (const std::string& name : headers_of_operations())
    if (name != "tensor.hpp") text += without_details(header(name));
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
/// The names of the methods that give tensors, as a class declares them: lines "  Tensor name(" and the like, and
/// "template <TensorOrVar T> … name(".
std::set<std::string> declared_methods(const std::string& text) {
  std::istringstream lines(text);
  std::set<std::string> names;
  bool is_one = false;
  for (std::string line; std::getline(lines, line);) {
    is_one |= line.starts_with("template <TensorOrVar");
    for (const char* result : {"  Tensor ", "  Var ", "  std::vector<Tensor> ", "  std::vector<Var> "})
      is_one |= line.starts_with(result);
    const std::size_t end = line.find('(');
    is_one &= line.find("operator") == std::string::npos && line.find("static_assert") == std::string::npos;
    if (!is_one || end == std::string::npos || line.find("requires") != std::string::npos) continue;
    const std::size_t begin = line.rfind(' ', end) + 1;
    names.insert(line.substr(begin, end - begin)), is_one = false;
  }
  return names;
}
/// C++ without comments, what stands in quotes, lines of the preprocessor and lines that call a macro of tern's: those
/// declare overloads of functions that stand beside them.
std::string bare_code(const std::string& text) {
  std::istringstream lines(text);
  std::string code;
  bool continues = false;
  for (std::string line; std::getline(lines, line);) {
    const bool skipped = continues || line.starts_with("#");
    continues = skipped && line.ends_with("\\");
    if (skipped || line.starts_with("TERN_")) continue;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!quoted && line.compare(i, 2, "//") == 0) break;
      if (quoted && line[i] == '\\') ++i;
      else if (line[i] == '"') quoted = !quoted;
      else if (!quoted) code += line[i];
    }
    code += ' ';
  }
  return code;
}
/// The function that a statement declares at namespace level: the name before the first parenthesis that is neither in
/// angle brackets nor a condition's; "" where it declares something else.
std::string function_of(const std::string& statement) {
  std::string outside;  // of angle brackets and conditions
  int angles = 0, condition = 0;
  for (const char c : statement) {
    if (c == '(' && angles == 0 && (condition > 0 || outside.ends_with("requires"))) ++condition;
    else if (c == ')' && condition > 0) --condition;
    else if (condition > 0) continue;
    else if (c == '<') ++angles;
    else if (c == '>') --angles;
    else if (angles == 0 && c == '(') break;
    else if (angles == 0) outside += c;
    if (outside.ends_with("operator")) return "";  // formulas and methods
  }
  if (outside.size() == statement.size() || angles != 0) return "";
  std::istringstream words(outside);
  std::vector<std::string> list{std::istream_iterator<std::string>(words), {}};
  for (const std::string& word : list)
    for (const char* other : {"class", "struct", "enum", "using", "concept", "=", "static_assert"})
      if (word == other) return "";
  return list.size() < 2 || statement.find('(') == std::string::npos ? "" : list.back();
}
/// The functions that a header declares at namespace level, outside the namespaces "detail" and "operations".
std::set<std::string> declared_functions(const std::string& text) {
  std::set<std::string> names;
  std::vector<bool> open;  // braces: whether each is of a namespace whose functions count
  std::string statement;
  int parentheses = 0;
  for (const char c : bare_code(text)) {
    parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (parentheses > 0 || (c != '{' && c != '}' && c != ';')) {
      statement += c;
      continue;
    }
    const bool counts = std::ranges::all_of(open, std::identity());
    const std::size_t space = statement.find("namespace ");
    if (c == '{')
      open.push_back(space != std::string::npos && statement.find("detail") == std::string::npos &&
                     statement.find("operations") == std::string::npos);
    if (c == '}' && !open.empty()) open.pop_back();
    if (const std::string name = function_of(statement); counts && c != '}' && !name.empty()) names.insert(name);
    statement.clear();
  }
  EXPECT_TRUE(open.empty()) << "braces that do not match";
  return names;
}
/// What a header says between "class <name> {" and its end.
std::string class_text(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("class " + name + " {"), end = text.find("\n};", begin);
  EXPECT_NE(begin, std::string::npos) << name;
  return text.substr(begin, end - begin);
}
std::set<std::string> names_of_entries() {
  std::set<std::string> names;
  for (const operations::Entry& entry : operations::entries()) {
    names.insert(entry.name);
    for (const char* alias : entry.aliases) names.insert(alias);
  }
  return names;
}
TEST(OperationEntries, AreThereForGatedActivationsAndOptimisers) {
  const std::set<std::string> names = names_of_entries();
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
}
/// What needs no entry: formulas and elementary functions, whose lists the contract's tests go through, and what is
/// named here.
std::set<std::string> functions_without_entries() {
  std::set<std::string> names{
      "assign",         // writes into memory: no result, and no gradient; tests/every_device/tensors
      "default_dtype",  // a setting
      "block_mask",     // says what attention leaves out: its result is no tensor
      "tensor",         // values of the program's, which every test begins with
  };
#define TERN_FORMULA(name, ...) names.insert(#name);
#define TERN_FORMULA_MORE(name, ...)
#define TERN_GATED(name, ...) names.insert(#name);
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
#define TERN_ELEMENTARY(name, arity) names.insert(#name);
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
  return names;
}
TEST(OperationEntries, AreThereForEveryFunction) {
  const std::set<std::string> names = names_of_entries(), others = functions_without_entries();
  std::size_t count = 0;
  const auto expect_entries = [&](const std::string& file) {
    for (const std::string& name : declared_functions(header(file))) {
      EXPECT_TRUE(names.contains(name) || others.contains(name)) << file << " declares " << name << " without an entry";
      ++count;
    }
  };
  for (const std::string& name : headers_of_operations()) expect_entries(name);
  for (const auto& folder : std::filesystem::directory_iterator(TERN_HEADERS "../../src/primitives"))
    if (std::filesystem::exists(folder.path() / "operation.hpp"))
      expect_entries("../../src/primitives/" + folder.path().filename().string() + "/operation.hpp");
  EXPECT_GT(count, 250u);
  for (const auto& [name, instead] : other_headers())
    EXPECT_TRUE(std::filesystem::exists(TERN_HEADERS + name)) << name << " (" << instead << ") is gone";
}
/// What takes no tensors, or numbers as well, as distributions do; of gradients the compiler says what they take.
std::set<std::string> functions_without_operands() {
  std::set<std::string> names = functions_without_entries();
  names.insert({"zeros", "ones", "full", "empty", "eye", "arange", "linspace", "logspace", "geomspace",
                "from_function", "fftfreq", "rfftfreq", "hann", "hamming", "blackman", "rope_tables", "rand", "randn",
                "randint", "sobol", "kaiming", "xavier", "orthogonal", "bernoulli", "exponential", "laplace", "gumbel",
                "cauchy", "lognormal", "truncated_normal", "gamma", "beta", "student_t", "dirichlet", "poisson",
                "binomial", "clip_grad_norm", "clip_grad_value", "matmul_bias_activation_bwd"});
  return names;
}
TEST(OperationEntries, AreOfFunctionsThatRefuseWhatIsNoTensor) {
  const std::string list = header("refusals.hpp");
  std::set<std::string> known = functions_without_operands();
  const std::regex call(R"(TERN_REFUSE_\w+\((\w+))");
  for (std::sregex_iterator at(list.begin(), list.end(), call), end; at != end; ++at) known.insert((*at)[1]);
  for (const std::string& file : headers_of_operations()) {
    if (file == "compositions.hpp") continue;  // all there is of one stands there
    for (const std::string& name : declared_functions(header(file)))
      EXPECT_TRUE(known.contains(name))
          << file << " declares " << name << ": what is no tensor in its call is to be refused in refusals.hpp";
  }
  for (const operations::Entry& entry : operations::entries())
    for (const std::string alias : entry.aliases) EXPECT_TRUE(known.contains(alias)) << alias;
}
/// However it is written.
TEST(OperationEntries, AreAskedOfEveryFormOfDeclaration) {
  const std::set<std::string> found = declared_functions(R"(
#define TERN_MANY(name) \
  Tensor name();
namespace tern {
TERN_MANY(by_macro)
Tensor plain(const Shape& shape, const Options& options = {.dtype = DType::i32});  // Tensor of_comment(int);
template <TensorOrVar T> std::vector<T> list(const T& x, std::string_view mode = "Tensor of_string(;");
template <detail::Parameter A, detail::Parameter B>
detail::Drawn<A, B> drawn(const A& a,
                          const B& b);
template <TensorOrVar... X>
  requires(sizeof...(X) > 0)
ResultOf<X...> conditional(const X&... x) {
  return sum(x...);
}
template <class A>
  requires detail::PointwiseArgs<A> && std::same_as<A, Tensor>
auto constrained(const A& z) {
  if (z) { return inner(z); }
  return local(z);
}
void written(Gradients& gradients, double limit);
inline bool asked(const Tensor& x) { return x.defined(); }
class Generator {
  Tensor method(int);
};
enum class Mode : std::uint8_t { one, two };
using Map = std::function<Tensor(const Tensor&)>;
inline constexpr auto variable = [](auto x) { return f(x); };
std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);
namespace detail {
Tensor hidden(int);
}  // namespace detail
namespace fft {
template <TensorOrVar X> X nested(const X& x);
}
}  // namespace tern
namespace tern::detail {
Tensor also_hidden(int);
}
)");
  const std::set<std::string> expected{"plain", "list",    "drawn", "conditional", "constrained",
                                       "written", "asked", "nested"};
  EXPECT_EQ(found, expected);
}
/// Methods that give tensors; `detach` only cuts the graph, and operators and accessors compute nothing.
TEST(OperationEntries, AreThereForEveryMethod) {
  const std::set<std::string> names = names_of_entries(), without{"detach", "operator[]", "grad", "value"};
  for (const auto& [file, type] : {std::pair{"tensor.hpp", "Tensor"}, std::pair{"autodiff.hpp", "Var"}}) {
    const std::set<std::string> methods = declared_methods(class_text(header(file), type));
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
