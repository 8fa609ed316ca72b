// The text of the sources, for tests of its rules.
#pragma once
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tern::test {

using LinesOfFiles = std::map<std::filesystem::path, std::vector<std::string>>;
/// The lines of every file below the folders that has one of these extensions.
inline LinesOfFiles lines_of_files(const std::vector<const char*>& folders, const std::set<std::string>& extensions) {
  namespace fs = std::filesystem;
  LinesOfFiles files;
  for (const char* folder : folders)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TERN_SOURCE) / folder)) {
      if (!entry.is_regular_file() || !extensions.contains(entry.path().extension())) continue;
      std::ifstream in(entry.path());
      std::vector<std::string>& lines = files[fs::relative(entry.path(), TERN_SOURCE)];
      for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
  return files;
}

/// Where the comment, directive, string or character that begins at a place of C++ ends; where none begins, the place.
inline std::size_t end_of_no_code(const std::string& text, std::size_t at) {
  const auto is = [&](std::string_view what) { return text.compare(at, what.size(), what) == 0; };
  const auto past = [&](const std::string& what, std::size_t from) {
    return std::min(text.find(what, from), text.size() - what.size()) + what.size();
  };
  const bool after_word = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1]));
  if (is("//")) return text.find('\n', at);
  if (is("/*")) return past("*/", at);
  if (is("R\"")) {
    const std::size_t begin = text.find('(', at);
    return past(")" + text.substr(at + 2, begin - at - 2) + "\"", begin);
  }
  if (is("#") && text.find_last_not_of(" ", at - 1) == text.rfind('\n', at)) {
    std::size_t end = text.find('\n', at);
    while (text[end - 1] == '\\') end = text.find('\n', end + 1);
    return end;
  }
  if (!is("\"") && (!is("'") || after_word)) return at;  // or an apostrophe between digits
  std::size_t end = at + 1;
  while (text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

/// C++ with blanks for what is no code; places and lines stay.
inline std::string code_of(const std::string& text) {
  std::string code = text;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const std::size_t end = end_of_no_code(text, at); at < end; ++at)
      if (text[at] != '\n') code[at] = ' ';
  return code;
}

}  // namespace tern::test
