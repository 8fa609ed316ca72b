// Rules of the source's text: files of over 400 lines say why, and a type's name means one thing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tern {
namespace {

namespace fs = std::filesystem;

/// The lines of every file below the folders that has one of these extensions.
std::map<fs::path, std::vector<std::string>> lines_of_files(const std::vector<const char*>& folders,
                                                            const std::set<std::string>& extensions) {
  std::map<fs::path, std::vector<std::string>> files;
  for (const char* folder : folders)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TERN_SOURCE) / folder)) {
      if (!entry.is_regular_file() || !extensions.contains(entry.path().extension())) continue;
      std::ifstream in(entry.path());
      std::vector<std::string>& lines = files[fs::relative(entry.path(), TERN_SOURCE)];
      for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
  return files;
}

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

TEST(TextRules, FilesOver400LinesSayWhy) {
  int longer = 0;
  for (const auto& [path, lines] : lines_of_files(
           {"src", "include", "tests", "tools", "bench"},
           {".cpp", ".hpp", ".h", ".inc", ".cu", ".wgsl", ".py", ".sh", ".cmake", ".txt", ".in"})) {
    if (lines.size() <= 400 || (path.parent_path().filename() == "golden" && path.stem() == "kernels")) continue;
    ++longer;
    EXPECT_NE(first_comment(lines).find("(Longer than other files: "), std::string::npos)
        << path << " has " << lines.size() << " lines: divide it, or let its first comment say why it is one file, in "
        << "\"(Longer than other files: …)\"";
  }
  EXPECT_GT(longer, 5);
}

/// Types that stand in a namespace, not in another type or a function: the first column is theirs.
TEST(TextRules, NoTwoTypesOfOneName) {
  // Places and counts are what the CPU calls Index; tern::Index, what x(…) takes, is unknown there.
  const std::set<std::string> known{"Index"};
  const std::regex type(
      R"(^(?:template <.*> )?(?:class|struct|enum class|enum|union) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: [:{].*)?$)");
  const std::regex alias(R"(^(?:template <.*> )?using (\w+) = (.*)$)");
  std::map<std::string, std::map<fs::path, std::string>> places;  // and what an alias stands for
  for (const auto& [path, lines] : lines_of_files({"src", "include"}, {".cpp", ".hpp", ".h"}))
    for (const std::string& line : lines) {
      std::smatch match;
      if (line.empty() || line.front() == ' ') continue;
      if (std::regex_match(line, match, alias)) places[match[1]].emplace(path, match[2]);
      else if (std::regex_match(line, match, type)) places[match[1]].emplace(path, path.string());
    }
  EXPECT_GT(places.size(), 300u);
  for (const auto& [name, at] : places) {
    const bool is_one = std::ranges::all_of(at, [&](const auto& place) { return place.second == at.begin()->second; });
    if (is_one || known.contains(name)) continue;
    std::string list;
    for (const auto& [path, what] : at) list += " " + path.string();
    ADD_FAILURE() << "types of several files are named " << name << ":" << list;
  }
}

}  // namespace
}  // namespace tern
