// The comment that each kernel's file begins with says what bounds the kernel and what it reached: a figure with its
// date, or in words that it was not measured and what its time is part of. A figure beside the name of a page stands on
// that page. Files that are parts of kernels name those.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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

/// Whether a page has the number, whatever else it has digits of; "26,496" is 26496.
bool has_number(const std::filesystem::path& page, const std::string& number) {
  std::ifstream in(page);
  std::ostringstream text;
  text << in.rdbuf();
  std::string plain = text.str();
  std::erase(plain, ',');
  const auto goes_on = [&](std::size_t at) {
    return at < plain.size() && ((plain[at] >= '0' && plain[at] <= '9') || plain[at] == '.');
  };
  for (std::size_t at = plain.find(number); at != plain.npos; at = plain.find(number, at + 1)) {
    const std::size_t end = at + number.size();
    const bool ends = !goes_on(end) || (plain[end] == '.' && !goes_on(end + 1));
    if (ends && (at == 0 || !goes_on(at - 1))) return true;
  }
  return false;
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
      for (const std::string& figure : figures(paragraph)) {
        EXPECT_TRUE(std::ranges::any_of(named, [&](const auto& page) { return has_number(kTree / page, figure); }))
            << header.file << " has " << figure << ", which " << named[0] << " has not";
        ++checked;
      }
    }
  EXPECT_GT(checked, 60);
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
