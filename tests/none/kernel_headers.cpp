// The comment that each kernel's file begins with says what bounds the kernel and what it reached: a figure with its
// date, or in words that it was not measured and what its time is part of. A number beside the name of a page stands on
// that page, and so does a shape. Files that are parts of kernels name those. Arrays in workgroup memory, which C++
// declares, are named with their sizes or places: sums[256].
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
#include <vector>

namespace tern {
namespace {

const std::filesystem::path kTree = TERN_SOURCE;

struct KernelHeader {
  std::filesystem::path file;
  std::vector<std::string> paragraphs;
  std::string text;  // all of them
  std::string body;  // the other lines, without their comments
};

/// The lines of // before the first other line; what is said of a function, ///, is no part of it.
KernelHeader header_of(const std::filesystem::path& file) {
  KernelHeader header{file, {""}, "", ""};
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const bool first_comment = header.body.empty() && line.starts_with("//") && !line.starts_with("///");
    if (!first_comment) header.body += line.substr(0, line.find("//")) + '\n';
    else if (line == "//") header.paragraphs.emplace_back();
    else header.paragraphs.back() += line.substr(header.paragraphs.back().empty() ? 3 : 2);
  }
  for (const std::string& paragraph : header.paragraphs) header.text += paragraph + '\n';
  return header;
}
std::vector<KernelHeader> headers() {
  std::vector<KernelHeader> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTree / "src")) {
    const std::filesystem::path& path = entry.path();
    const bool is_kernel = path.extension() == ".wgsl" || path.extension() == ".cu";
    if (is_kernel && path.stem().extension() != ".golden") all.push_back(header_of(path));
  }
  EXPECT_GT(all.size(), 80u);
  return all;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}
std::vector<std::string> dates(const std::string& text) { return matches(text, "([0-9]+ [A-Z][a-z]+ 20[0-9][0-9])"); }
std::vector<std::string> figures(const std::string& text) {
  return matches(text, "([0-9]+(?:[.][0-9]+)?) (?:µs|ms|TB/s|TFLOP/s)");
}
std::vector<std::string> pages(const std::string& text) { return matches(text, "(?:^|[^/])(docs/[a-z_/]+[.]md)"); }
std::vector<std::string> kernels(const std::string& text) { return matches(text, "([a-z0-9_.]+[.](?:wgsl|cu))\\b"); }

/// The numbers and shapes in a text, each in one form: 26,496 is 26496; 64², 64×64 and 64 x 64 are 64x64. Powers such
/// as 2^24 and numbers within words are none of them.
std::set<std::string> numbers(const std::string& text) {
  std::string plain = std::regex_replace(text, std::regex("([0-9]),([0-9][0-9][0-9])"), "$1$2");
  plain = std::regex_replace(plain, std::regex("([0-9])(?:×| x )(?=[0-9])"), "$1x");
  plain = std::regex_replace(plain, std::regex("([0-9]+)²"), "$1x$1");
  plain = std::regex_replace(plain, std::regex("([0-9]+)³"), "$1x$1x$1");
  const std::regex number("(^|[^0-9A-Za-z_.^/])([0-9]+(?:[.][0-9]+)?(?:x[0-9]+)*)(?![0-9A-Za-z_^])");
  std::set<std::string> found;
  for (std::sregex_iterator at(plain.begin(), plain.end(), number), end; at != end; ++at) found.insert((*at)[2]);
  return found;
}

/// What a page's tables and sentences may be asked for: its numbers, and the sides of its shapes, as a table may have
/// one of them in another column.
const std::set<std::string>& numbers_of(const std::string& page) {
  static std::map<std::string, std::set<std::string>> pages;
  std::set<std::string>& known = pages[page];
  if (!known.empty()) return known;
  std::ifstream in(kTree / page);
  std::ostringstream text;
  text << in.rdbuf();
  known = numbers(text.str());
  for (const std::string& shape : std::set<std::string>(known))
    if (shape.find('x') != shape.npos) known.merge(numbers(std::regex_replace(shape, std::regex("x"), " ")));
  return known;
}

/// Whether a page has the number or shape; a square may stand there as one side.
bool has_number(const std::string& page, const std::string& number) {
  const std::string side = number.substr(0, number.find('x'));
  return numbers_of(page).contains(number) || (number == side + "x" + side && numbers_of(page).contains(side));
}

/// The arrays in workgroup memory that C++ declares for the kernels of tests/golden.
std::set<std::string> shared_arrays() {
  std::set<std::string> names;
  const auto add = [&](const char* file, const std::string& before, const char* pattern) {
    std::ifstream in(kTree / "tests/golden" / file);
    for (std::string line; std::getline(in, line);)
      if (line.find(before) != line.npos)
        for (const std::string& name : matches(line, pattern)) names.insert(name);
  };
  add("kernels.wgsl", "var<workgroup>", "var<workgroup> ([a-z_0-9]+): array<");
  add("kernels.cu", "__shared__", "^  __shared__ [^;]* ([a-z_0-9]+)\\[");
  return names;
}
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
/// Whether the name at `at` is declared there, as a variable or a parameter: behind a type or `let`, or in (&name)[4].
bool is_declared_at(const std::string& body, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && body[end - 1] == ' ') --end;
  if (end == 0 || (end == at && body[end - 1] != '&')) return false;
  if (end == at) return end > 1 && body[end - 2] == '(';
  if (std::string("*&>").find(body[end - 1]) != std::string::npos) return end > 1 && in_word(body[end - 2]);
  std::size_t begin = end;
  while (begin > 0 && in_word(body[begin - 1])) --begin;
  const std::string word = body.substr(begin, end - begin);
  return !word.empty() && word != "return" && word != "else";
}
/// Of these names those of arrays that a text reads or writes, and does not declare.
std::set<std::string> undeclared_arrays(const std::string& body, const std::set<std::string>& names) {
  std::set<std::string> used, declared;
  for (std::size_t at = 0, end = 0; at < body.size(); at = end + 1) {
    for (end = at; end < body.size() && in_word(body[end]);) ++end;
    const std::string name = body.substr(at, end - at);
    const char before = at > 0 ? body[at - 1] : ' ', after = end < body.size() ? body[end] : ' ';
    if (before == '.' || before == '$' || before == '{' || !names.contains(name)) continue;
    if (after == ':' || is_declared_at(body, at)) declared.insert(name);
    else if (after == '[') used.insert(name);
  }
  std::erase_if(used, [&](const std::string& name) { return declared.contains(name); });
  return used;
}

TEST(KernelHeaders, SayWhatBoundsTheKernelAndWhatItReached) {
  for (const KernelHeader& header : headers()) {
    const auto says = [&](const char* words) { return header.text.find(words) != header.text.npos; };
    const bool names_another = !kernels(header.text).empty();
    if (says("ound by") && !dates(header.text).empty() && !figures(header.text).empty()) continue;
    if (says("ound by") && !header.text.starts_with("Pieces ")) {
      EXPECT_TRUE(says("ot measured") && (names_another || !pages(header.text).empty()))
          << header.file << " has no figure with a date, and does not say that it was not measured, and what it is of";
    } else {
      EXPECT_TRUE(names_another || says("in their own files"))
          << header.file << " says neither what bounds it (\"Bound by …\") nor which kernels it is a part of";
    }
  }
}
TEST(KernelHeaders, FiguresStandOnThePagesTheyName) {
  int checked = 0;
  for (const KernelHeader& header : headers())
    for (const std::string& paragraph : header.paragraphs) {
      const std::vector<std::string> named = pages(paragraph);
      for (const std::string& page : named) EXPECT_TRUE(std::filesystem::exists(kTree / page)) << header.file << page;
      if (named.empty()) continue;
      const std::regex date("[0-9]+ [A-Z][a-z]+ 20[0-9]+");
      std::set<std::string> asked = numbers(std::regex_replace(paragraph, date, ""));
      std::erase_if(asked, [](const std::string& number) { return number.size() < 3; });  // which stand by chance
      for (const std::string& figure : figures(paragraph)) asked.insert(figure);
      for (const std::string& number : asked) {
        EXPECT_TRUE(std::ranges::any_of(named, [&](const auto& page) { return has_number(page, number); }))
            << header.file << " has " << number << ", which " << named[0] << " has not";
        ++checked;
      }
    }
  EXPECT_GT(checked, 200);
}
TEST(KernelHeaders, NameFilesThatAreThere) {
  std::set<std::string> names;
  for (const char* folder : {"src", "tests/golden"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kTree / folder))
      names.insert(entry.path().filename());
  for (const KernelHeader& header : headers())
    for (const std::string& name : kernels(header.text))
      EXPECT_TRUE(names.contains(name) || name.starts_with('_')) << header.file << " names " << name;
}
TEST(KernelHeaders, NameTheArraysInWorkgroupMemory) {
  const std::set<std::string> names = shared_arrays();
  EXPECT_GT(names.size(), 50u);
  EXPECT_TRUE(undeclared_arrays("sums[thread] = total;", {"sums"}).contains("sums"));
  EXPECT_TRUE(undeclared_arrays("f32 sums[4] = {};\nsums[0] = x * sums[1];", {"sums"}).empty());
  int checked = 0;
  for (const KernelHeader& header : headers())
    for (const std::string& name : undeclared_arrays(header.body, names)) {
      EXPECT_TRUE(std::regex_search(header.text, std::regex("(^|[^a-z_0-9])" + name + "\\[")))
          << header.file << " uses " << name << ", which is declared elsewhere: say what it is, as in "
          << "\"Workgroup memory: " << name << "[256] u32, the counts of …\"";
      ++checked;
    }
  EXPECT_GT(checked, 70);
}

}  // namespace
}  // namespace tern
