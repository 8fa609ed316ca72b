// Each file of src includes what it names, itself or through what it includes. CI compiles files in batches, where one
// may lean on the includes of those before it; users' builds compile each by itself.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "none/source_text.hpp"

namespace tern {
namespace {

namespace fs = std::filesystem;
using test::code_of, test::lines_of_files;

/// A name in code, what stands before it, and the character behind it.
struct Word {
  std::string name, before;  // before: a word, or a character
  char after;
  std::size_t column;
};

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<Word> words_of(const std::string& code) {
  std::vector<Word> all;
  std::string before;
  std::size_t line = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '\n') line = at + 1;
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    std::size_t end = at + 1;
    while (in_name(c) && end < code.size() && in_name(code[end])) ++end;
    const std::string word = code.substr(at, end - at);
    if (in_name(c) && !std::isdigit(static_cast<unsigned char>(c))) {
      const std::size_t next = code.find_first_not_of(" \n", end);
      all.push_back({word, before, next == code.npos ? '\0' : code[next], at - line});
    }
    before = word, at = end - 1;
  }
  return all;
}

struct SourceFile {
  std::vector<std::string> includes;
  std::vector<Word> words;
  std::set<std::string> names;
};

std::map<std::string, SourceFile> source_files() {
  std::map<std::string, SourceFile> files;
  for (const auto& [path, lines] : lines_of_files({"src", "include"}, {".cpp", ".hpp", ".h", ".inc"})) {
    SourceFile& file = files[path];
    std::string text;
    for (const std::string& line : lines) {
      text += line + "\n";
      if (line.starts_with("#include \"")) file.includes.push_back(line.substr(10, line.find('"', 10) - 10));
    }
    file.words = words_of(code_of(text));
    for (const Word& word : file.words) file.names.insert(word.name);
  }
  return files;
}

/// The files that a file has from its includes.
std::set<std::string> included_by(const std::map<std::string, SourceFile>& files, const std::string& path) {
  std::set<std::string> all;
  std::vector<std::string> open{path};
  while (!open.empty()) {
    const std::string from = open.back();
    open.pop_back();
    for (const std::string& include : files.at(from).includes)
      for (const fs::path& found : {fs::path(from).parent_path() / include, "src" / fs::path(include),
                                    "include" / fs::path(include)})
        if (files.contains(found.string()) && all.insert(found.string()).second) open.push_back(found.string());
  }
  return all;
}

bool opens_declaration(const std::string& before) {
  static const std::set<std::string> words{"class", "struct", "enum", "union", "using", "concept", "typename",
                                           "auto",  "int",    ".",    "namespace"};
  return words.contains(before);
}
bool is_constant(const Word& word) {
  return word.name[0] == 'k' && word.name.size() > 1 && std::isupper(static_cast<unsigned char>(word.name[1]));
}
bool is_type(const Word& word) {
  return word.name.size() > 1 && std::isupper(static_cast<unsigned char>(word.name[0])) &&
         word.name.find('_') == word.name.npos;
}
/// Of several words: others are names of much else.
bool is_function(const Word& word) {
  return word.after == '(' && std::islower(static_cast<unsigned char>(word.name[0])) &&
         word.name.find('_') != word.name.npos && word.before != "." && word.before != ":";
}
/// Whether a word declares what it names. `outside`: on a line that begins in the first column, where functions are
/// declared and none is called.
bool declares(const Word& word, bool outside) {
  static const std::set<std::string> not_types{"return", "else", "throw", "case", "co_return"};
  if (is_constant(word)) return word.after == '=' || word.after == '{' || word.after == '[';
  if (is_type(word)) return opens_declaration(word.before);
  if (!outside && std::islower(static_cast<unsigned char>(word.name[0])) && word.after == '=') return true;
  if (!is_function(word) || not_types.contains(word.before)) return false;
  const bool type_before = word.before == ">" || (outside && (word.before == "&" || word.before == "*"));
  return type_before || in_name(word.before.empty() ? ' ' : word.before[0]);
}
/// What is declared in a file, or only on lines that begin in the first column.
std::set<std::string> declared_names(const SourceFile& file, bool outside_alone) {
  std::set<std::string> names;
  bool outside = false;
  std::size_t last = 0;
  for (const Word& word : file.words) {
    if (word.column == 0 || word.column < last) outside = word.column == 0;
    last = word.column;
    if ((outside || !outside_alone) && declares(word, outside)) names.insert(word.name);
  }
  return names;
}

TEST(OwnIncludes, EachFileHasWhatItNames) {
  const std::map<std::string, SourceFile> files = source_files();
  std::map<std::string, std::string> headers;  // what they declare outside of types
  for (const auto& [path, file] : files)
    if (path.ends_with(".hpp"))
      for (const std::string& name : declared_names(file, true)) headers[name] = path;
  EXPECT_GT(headers.size(), 1500u);
  int checked = 0;
  for (const auto& [path, file] : files) {
    if (!path.ends_with(".cpp")) continue;
    std::set<std::string> known = declared_names(file, false);
    for (const std::string& include : included_by(files, path)) known.merge(std::set(files.at(include).names));
    for (const Word& word : file.words) {
      const bool within = word.before == "." || word.before == ":";  // of what stands before it
      if (within || (!is_function(word) && !is_type(word) && !is_constant(word))) continue;
      ++checked;
      const auto header = headers.find(word.name);
      if (header != headers.end() && known.insert(word.name).second)
        ADD_FAILURE() << path << " names " << word.name << ", but does not include " << header->second;
    }
  }
  EXPECT_GT(checked, 30000);
}

}  // namespace
}  // namespace tern
