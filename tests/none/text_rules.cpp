// Rules of the source's text: files of over 400 lines, functions of over 60 (in kernels, too) and classes of over 250
// say why, and the name of a type, a constant or a function of a header means one thing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "none/source_text.hpp"

namespace tern {
namespace {

namespace fs = std::filesystem;
using test::code_of, test::lines_of_files;

/// What the first comment says, or a script's first string, in one line.
std::string first_comment(const std::vector<std::string>& lines) {
  std::string text;
  const bool is_string = lines.front().starts_with("\"\"\"");
  for (const std::string& line : lines) {
    const std::size_t begin = is_string ? 0 : line.find_first_not_of("/# ");
    if (!is_string && !line.starts_with("//") && !line.starts_with("#")) break;
    if (begin != line.npos) text += line.substr(begin) + " ";
    if (is_string && text.size() > 4 && line.ends_with("\"\"\"")) break;
  }
  return text;
}

enum class BodyKind { space, type, function, other };  // a namespace's; other: initial values, or within a function

/// A pair of braces, and where what stands before it begins: after the statement before.
struct Body {
  BodyKind kind;
  std::size_t head, open, close;
};

BodyKind kind_of_body(const std::string& head) {
  const auto ends_with = [&](const char* word, const char* excluded) {
    const std::size_t at = head.rfind(word);
    return at != head.npos && head.find_first_of(excluded, at) == head.npos;
  };
  if (head.empty() || !std::isspace(static_cast<unsigned char>(head.back()))) return BodyKind::other;  // as in a{1}
  if (ends_with("namespace", "()=") || ends_with("extern ", "()=abc")) return BodyKind::space;
  for (const char* word : {"class ", "struct ", "union "})
    if (ends_with(word, "()=")) return BodyKind::type;
  if (head.find("TERN_SIMD(") != head.npos) return BodyKind::type;  // a macro's struct
  return head.find(')') == head.npos || ends_with("= ", "()") ? BodyKind::other : BodyKind::function;
}

/// The bodies in code, those within functions too.
std::vector<Body> bodies(const std::string& code) {
  std::vector<Body> all, open;
  std::size_t head = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const bool outside = open.empty() || open.back().kind < BodyKind::function;
    if (code[at] == '{') {
      open.push_back({outside ? kind_of_body(code.substr(head, at - head)) : BodyKind::other, head, at, 0});
    } else if (code[at] == '}') {
      EXPECT_FALSE(open.empty()) << code.substr(head, at - head);
      if (open.empty()) break;
      all.push_back(open.back()), all.back().close = at, open.pop_back();
    }
    const bool is_end =
        code[at] == '{' ? open.back().kind < BodyKind::function : code[at] == '}' && all.back().kind != BodyKind::other;
    if (is_end || (code[at] == ';' && outside)) head = at + 1;
  }
  EXPECT_TRUE(open.empty()) << "a brace is left open";
  return all;
}

TEST(TextRules, FilesOver400LinesSayWhy) {
  int longer = 0;
  for (const auto& [path, lines] :
       lines_of_files({"src", "include", "tests", "tools", "bench"},
                      {".cpp", ".hpp", ".h", ".inc", ".cu", ".wgsl", ".py", ".sh", ".cmake", ".txt", ".in"})) {
    if (lines.size() <= 400 || (path.parent_path().filename() == "golden" && path.stem() == "kernels")) continue;
    ++longer;
    EXPECT_NE(first_comment(lines).find("(Longer than other files: "), std::string::npos)
        << path << " has " << lines.size() << " lines: divide it, or let its first comment say why it is one file, in "
        << "\"(Longer than other files: …)\"";
  }
  EXPECT_GT(longer, 5);
}

/// Lines between braces, and the braces': of member functions too.
TEST(TextRules, LongFunctionsAndClassesSayWhy) {
  int functions = 0, types = 0;
  for (const auto& [path, lines] :
       lines_of_files({"src", "include", "tools", "bench", "examples", "tests"}, {".cpp", ".hpp", ".h", ".inc"})) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    for (const Body& body : bodies(code_of(text))) {
      const bool is_function = body.kind == BodyKind::function, is_type = body.kind == BodyKind::type;
      functions += is_function, types += is_type;
      const auto length = 1 + std::count(text.begin() + body.open, text.begin() + body.close, '\n');
      if (!is_function && !(is_type && length > 250)) continue;
      if (length <= 60) continue;
      const std::string why = is_function ? "(Longer than other functions: " : "(Longer than other classes: ";
      const std::string above =
          std::regex_replace(text.substr(body.head, body.open - body.head), std::regex(R"(\n *//+)"), "");
      EXPECT_NE(above.find(why), std::string::npos)
          << path.string() << ":" << 1 + std::count(text.begin(), text.begin() + body.open, '\n') << " has " << length
          << " lines: divide it, or say why it is one in the comment above it, in \"" << why << "…)\"";
    }
  }
  EXPECT_GT(functions, 5000);
  EXPECT_GT(types, 500);
}

/// A function of a kernel's file, a piece of one, or the kernel itself where its statements stand outside of functions
/// ("The kernel").
struct KernelFunction {
  std::string name, above;  // above: the comment
  std::size_t first, length;
};

std::string kernel_function_name(const std::string& line) {
  static const std::regex function(R"(^\s*[^/#]*\b(?:TERN_DEVICE|__global__|__device__|fn)\b.*\()");
  static const std::regex name(R"(\b(?!__)(\w+)\(|^\$define (\w+))");
  std::smatch match;
  const bool is_function = line.starts_with("$define ") || std::regex_search(line, function);
  return is_function && std::regex_search(line, match, name) ? match.str(match[1].matched ? 1 : 2) : "";
}

/// The line that a function or piece ends in, by how it is indented: what stands in holes may leave braces open.
std::size_t end_of_kernel_function(const std::vector<std::string>& lines, std::size_t first) {
  const bool is_piece = lines[first].starts_with("$define ");
  std::size_t at = first;
  if (!is_piece) {
    while (at < lines.size() && lines[at].find_first_of("{;") == std::string::npos) ++at;
    if (at == lines.size() || lines[at].find('{') == std::string::npos) return at;  // a declaration
    const std::string line = std::regex_replace(lines[at], std::regex(R"(\s*(//.*)?$)"), "");
    if (line.ends_with('}')) return at;  // one line
  }
  const std::string indent = lines[first].substr(0, lines[first].find_first_not_of(' '));
  do ++at;
  while (at < lines.size() && !lines[at].starts_with(is_piece ? "$end" : indent + "}"));
  return at;
}

std::vector<KernelFunction> kernel_functions(const std::vector<std::string>& lines) {
  static const std::regex statement(R"(^(let|var|if|for|while)\b.*)");
  std::vector<KernelFunction> all;
  std::string above;
  std::size_t begin = 0, outside = 0;
  bool has_statements = false;
  while (begin < lines.size() && lines[begin].starts_with("//") && !lines[begin].starts_with("///")) ++begin;
  for (std::size_t at = begin; at < lines.size(); ++at) {
    const std::string name = kernel_function_name(lines[at]);
    if (name.empty()) {
      const std::size_t comment = lines[at].find_first_not_of(' ');
      if (comment != std::string::npos && lines[at].compare(comment, 2, "//") == 0)
        above += lines[at].substr(comment) + " ";
      else above.clear();
      ++outside, has_statements |= std::regex_match(lines[at], statement);
      continue;
    }
    const std::size_t end = end_of_kernel_function(lines, at);
    EXPECT_LT(end, lines.size()) << "no end was found of " << name;
    all.push_back({name, above, at + 1, end - at + 1});
    above.clear(), at = end;
  }
  if (has_statements) all.push_back({"The kernel", "", begin + 1, outside});
  return all;
}

/// The lines of those in kernels' files, as they stand there, their holes not filled. The file's first comment may give
/// the reason: of tern_kernel as "The kernel is longer than other functions: …", of others by their name.
TEST(TextRules, LongFunctionsOfKernelsSayWhy) {
  int functions = 0;
  for (const auto& [path, lines] : lines_of_files({"src"}, {".cu", ".wgsl"})) {
    if (path.stem().extension() == ".golden") continue;
    for (const KernelFunction& function : kernel_functions(lines)) {
      ++functions;
      if (function.length <= 60) continue;
      const std::string name = function.name == "tern_kernel" ? "The kernel" : function.name;
      const std::regex reason(name + "( is longer)? than other functions: \\w");
      EXPECT_TRUE(function.above.find("(Longer than other functions: ") != std::string::npos ||
                  std::regex_search(first_comment(lines), reason))
          << path.string() << ":" << function.first << " " << function.name << " has " << function.length
          << " lines: divide it, or say why it is one in the comment above it, in \"(Longer than other functions: …)\"";
    }
  }
  EXPECT_GT(functions, 350);
}

/// The name of the type that a statement declares, or defines before its brace; "" where it does neither. What is said
/// of a friend or imported by "using enum" declares none.
std::string declared_type(std::string head) {
  if (head.find("alignas") != head.npos) head = std::regex_replace(head, std::regex(R"(alignas\(\w+\))"), "");
  std::size_t keyword = 0, begin = 0;
  for (const std::string word : {"class ", "struct ", "union ", "enum "})
    if (const std::size_t at = head.rfind(word); at != head.npos && at + word.size() > begin)
      keyword = at, begin = at + word.size();
  if (begin == 0) return "";
  if (keyword > 0 && (std::isalnum(static_cast<unsigned char>(head[keyword - 1])) || head[keyword - 1] == '_'))
    return "";
  for (const char* before : {"friend ", "using "})
    if (std::string_view(head).substr(0, keyword).ends_with(before)) return "";
  static const std::regex name(R"(^\s*(?:\[\[\w+\]\]\s*)?([\w:]+)\s*(?:$|<|:[^()=]*$|final\b[^()=]*$))");
  std::smatch match;
  const std::string rest = head.substr(begin);
  return std::regex_search(rest, match, name) ? match.str(1) : "";
}

struct TypeDeclaration {
  std::string name, full;  // full: after its namespaces, of which an unnamed one is its file, and the types it is in
  bool defines, specialises, in_function;
};

/// Every declaration of a type, alone or with its members.
std::vector<TypeDeclaration> type_declarations(const std::string& path, const std::string& code) {
  static const std::regex space(R"(\bnamespace\s*([\w:]*)\s*$)"), of_c(R"(\bextern\s*$)");
  constexpr const char* kNoScope = "{";
  std::vector<TypeDeclaration> all;
  std::vector<std::string> scopes;  // kNoScope: of a function, or initial values
  std::size_t head = 0;
  for (std::size_t at = code.find_first_of("{;}"); at != code.npos; at = code.find_first_of("{;}", head)) {
    const std::string statement = code.substr(head, at - head);
    head = at + 1;
    if (code[at] == '}') {
      if (!scopes.empty()) scopes.pop_back();
      continue;
    }
    const std::string written = declared_type(statement);
    if (!written.empty()) {
      std::string full;
      for (const std::string& scope : scopes) full += scope.empty() ? "" : scope + "::";
      full = written.starts_with("tern::") ? written : full + written;
      const bool specialises = statement.find(written + "<") != statement.npos;
      all.push_back({full.substr(full.rfind(':') + 1), full, code[at] == '{', specialises,
                     std::ranges::find(scopes, kNoScope) != scopes.end()});
    }
    if (code[at] == ';') continue;
    std::smatch match;
    if (!written.empty()) scopes.push_back(written);
    else if (std::regex_search(statement, match, space)) scopes.push_back(match.length(1) ? match.str(1) : path);
    else scopes.push_back(std::regex_search(statement, of_c) ? "" : kNoScope);
  }
  return all;
}

/// Types in namespaces and in other types have a name each, which no type within a function takes, and are defined in
/// one place; what is declared alone is defined somewhere under just that name.
TEST(TextRules, NoTwoTypesOfOneName) {
  // Specialised by the macro TERN_FIELDS, for types of programs.
  const std::set<std::string> defined_by_programs{"tern::detail::ListedFields"};
  const std::regex alias(R"(^(?:template <.*> )?using (\w+) = (.*)$)"),
      concept_of(R"(^(?:template <.*> )?concept (\w+).*)");
  std::map<std::string, std::map<std::string, std::set<std::string>>> types;  // name, full name or meaning, files
  std::map<std::string, std::string> declared, in_functions;                  // and one of their files
  std::set<std::string> defined;
  for (const auto& [path, lines] : lines_of_files({"src", "include"}, {".cpp", ".hpp", ".h", ".inc"})) {
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\n";
      std::smatch match;
      if (std::regex_match(line, match, alias) && !match.str(2).ends_with("::" + match.str(1) + ";"))
        types[match[1]]["= " + match.str(2)];
      if (std::regex_match(line, match, concept_of)) types[match[1]]["concept of " + path.string()];
    }
    for (const TypeDeclaration& type : type_declarations(path, code_of(text))) {
      if (type.in_function) in_functions[type.name] = path;
      else if (!type.defines) declared[type.full] = path;
      else if (auto& files = types[type.name][type.full]; defined.insert(type.full), !type.specialises)
        files.insert(path);
    }
  }
  EXPECT_GT(types.size(), 1000u);
  for (const auto& [name, meanings] : types) {
    std::string list;
    for (const auto& [full, files] : meanings) {
      list += " " + full;
      EXPECT_LE(files.size(), 1u) << full << " is defined in " << *files.begin() << " and in another file";
    }
    EXPECT_EQ(meanings.size(), 1u) << "several types are named " << name << ":" << list;
  }
  for (const auto& [name, path] : in_functions)
    EXPECT_FALSE(types.contains(name)) << "a function in " << path << " has a type " << name << ", as others have";
  for (const auto& [full, path] : declared) {
    const bool of_a_library = full.find("::") == full.npos;  // of C: in no namespace
    EXPECT_TRUE(of_a_library || defined.contains(full) || defined_by_programs.contains(full))
        << path << " declares " << full << ", which is defined nowhere";
  }
}

/// Constants of namespaces have a name each, whichever file they are of; those of types and functions, which stand
/// beside what they are for, may share theirs.
TEST(TextRules, NoTwoConstantsOfOneName) {
  const std::regex declaration(R"(^(?:template <.*> )?(?:(?:inline|static) )?(?:constexpr|constinit|const) .*$)");
  const std::regex constant(R"(\b(k[A-Z]\w*)(?: =(?!=)|\{|\[))");
  std::map<std::string, std::set<std::string>> places;
  for (const auto& [path, lines] : lines_of_files({"src", "include"}, {".cpp", ".hpp", ".h", ".inc"})) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    bool goes_on = false;  // the declaration, from the line before
    std::istringstream code(code_of(text));
    for (std::string line; std::getline(code, line);) {
      if (!goes_on && !std::regex_match(line, declaration)) continue;
      for (std::sregex_iterator match(line.begin(), line.end(), constant); match != std::sregex_iterator(); ++match)
        places[(*match)[1]].insert(path);
      goes_on = line.find_first_of(";{") == line.npos;
    }
  }
  EXPECT_GT(places.size(), 750u);
  for (const auto& [name, at] : places) {
    std::string list;
    for (const std::string& path : at) list += " " + path;
    EXPECT_EQ(at.size(), 1u) << "constants of several files are named " << name << ":" << list;
  }
}

/// What headers of src declare outside of types is seen in the whole house, so that a name has one meaning there: it is
/// of one namespace, but for stages that several backends have, and for what is the same of several types.
TEST(TextRules, NoTwoFunctionsOfOneNameInHeaders) {
  const std::set<std::string> stages{"arrange",     "by_library",    "in_vectors",           "lay_out",
                                     "run_depthwise", "run_depthwise_weight", "run_elementwise", "run_reducing"};
  const std::set<std::string> same{"product", "transposed"};  // of matrices
  const std::regex space(R"(^namespace ([\w:]+) \{)"),
      function(R"(^(?!return|else|using)[\w\[][^=()]*[\s*&]([a-z]\w*)\(.*)");
  std::map<std::string, std::map<std::string, std::string>> places;  // name, namespace, a file
  for (const auto& [path, lines] : lines_of_files({"src"}, {".hpp"})) {
    std::string here;
    std::smatch match;
    for (const std::string& line : lines)
      if (std::regex_search(line, match, space)) here = match.str(1);
      else if (std::regex_match(line, match, function)) places[match.str(1)][here] = path;
  }
  EXPECT_GT(places.size(), 700u);
  for (const auto& [name, at] : places) {
    std::string list;
    for (const auto& [where, path] : at) list += " " + where + " (" + path + ")";
    EXPECT_TRUE(at.size() == 1 || stages.contains(name) || same.contains(name))
        << "functions of several namespaces are named " << name << ":" << list;
  }
}

}  // namespace
}  // namespace tern
