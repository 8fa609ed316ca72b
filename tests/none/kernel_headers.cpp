// The comment that each kernel's file begins with says what bounds the kernel and what it reached: a figure with its
// date, or in words that it was not measured and what its time is part of. A number beside the name of a page stands on
// that page, and so does a shape. Files that are parts of kernels name those.
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

const std::filesystem::path kTree = TERN_SOURCE;

struct KernelHeader {
  std::filesystem::path file;
  std::vector<std::string> paragraphs;
  std::string text;  // all of them
};

/// The lines of // before the first other line; what is said of a function, ///, is no part of it.
KernelHeader header_of(const std::filesystem::path& file) {
  KernelHeader header{file, {""}, ""};
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && line.starts_with("//") && !line.starts_with("///");) {
    if (line == "//") header.paragraphs.emplace_back();
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

}  // namespace
}  // namespace tern
