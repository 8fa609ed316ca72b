// Kernels that stand in files: every file, and every piece of one ($define), is part of a text that golden/kernels.wgsl
// or golden/kernels.cu shows, or a file of its primitive's folder (golden/samples.hpp). So the texts that are reviewed
// (golden/kernels.cpp), and those that are compiled alone (cuda/compile.cpp, webgpu/compile.cpp), leave none out.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "golden/shown.hpp"

namespace tern::test {
namespace {

namespace fs = std::filesystem;

struct KernelFile {
  const char* path;
  std::string_view text;
};
constexpr KernelFile kKernelFiles[] = {
#include "kernel_files.inc"
};

/// A kernel, or a piece of one.
struct KernelPart {
  std::string name;
  std::vector<std::string> stretches;  // what of it is printed as it stands here: lines, or what is beside holes
};

/// Adds the stretches of a line. What a hole is given, $name(…), is printed elsewhere.
void add_stretches(std::string_view line, std::vector<std::string>& stretches) {
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  while (!line.empty()) {
    const std::size_t hole = std::min(line.find('$'), line.size());
    std::string_view stretch = line.substr(0, hole);
    stretch.remove_prefix(std::min(stretch.find_first_not_of(' '), stretch.size()));
    stretch = stretch.substr(0, stretch.find_last_not_of(' ') + 1);
    if (!stretch.empty()) stretches.emplace_back(stretch);
    line.remove_prefix(hole);
    if (line.empty()) return;
    line.remove_prefix(line.starts_with("${") ? 2 : 1);
    while (!line.empty() && in_name(line.front())) line.remove_prefix(1);
    if (line.starts_with('}')) line.remove_prefix(1);
    if (line.starts_with('(')) return;
  }
}

/// The file, or its pieces, among which are comments for readers.
std::vector<KernelPart> parts_of(const KernelFile& file) {
  const bool in_pieces = file.text.find("$define ") != file.text.npos;
  std::vector<KernelPart> parts;
  if (!in_pieces) parts.push_back({file.path, {}});
  int depth = in_pieces ? 0 : 1;
  for (std::size_t at = 0, end; at < file.text.size(); at = end + 1) {
    end = std::min(file.text.find('\n', at), file.text.size());
    std::string_view line = file.text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("$define "))
      parts.push_back({std::string(file.path) + ", " + std::string(line.substr(8, line.find('(') - 8)), {}}), ++depth;
    else if (line.starts_with("$for ")) ++depth;
    else if (line == "$end") --depth;
    else if (depth > 0) add_stretches(line, parts.back().stretches);
  }
  return parts;
}

/// What a text must have to be made of a part: the longest stretch that stands in no other, or, where no line is its
/// own, all of them.
std::vector<std::string> marks_of(const KernelPart& part, const std::vector<KernelPart>& all) {
  const auto elsewhere = [&](const std::string& stretch) {
    return std::ranges::any_of(all, [&](const KernelPart& other) {
      return other.name != part.name && std::ranges::any_of(other.stretches, [&](const std::string& its) {
               return its.find(stretch) != its.npos;
             });
    });
  };
  std::vector<std::string> longest = part.stretches;
  std::ranges::stable_sort(longest, std::ranges::greater(), &std::string::size);
  constexpr std::size_t kFewest = 12;
  for (const std::string& stretch : longest)
    if (stretch.size() >= kFewest && !elsewhere(stretch)) return {stretch};
  return part.stretches;
}

/// Whether a primitive's folder shows the texts of an operation's samples in a language.
bool has_golden_file(const operations::Entry& entry, bool in_cuda) {
  const std::string name = std::string(entry.name) + golden_suffix(in_cuda);
  return std::ranges::any_of(fs::directory_iterator(fs::path(TERN_SOURCE) / "src" / "primitives"),
                             [&](const fs::directory_entry& folder) { return fs::exists(folder.path() / name); });
}

struct Wanted {
  std::string part;
  std::vector<std::string> marks;
};

TEST(KernelFiles, GoldenTextsShowEveryOne) {
  std::vector<KernelPart> all;
  for (const KernelFile& file : kKernelFiles)
    for (KernelPart& part : parts_of(file)) all.push_back(std::move(part));
  ASSERT_GT(all.size(), 100u);
  std::vector<Wanted> wanted;
  for (const KernelPart& part : all) wanted.push_back({part.name, marks_of(part, all)});
  for (const bool in_cuda : {false, true}) {
    ShownTexts texts(in_cuda, [&](const Kind&, Extent extent, const detail_gpu::Launch&, const std::string& text) {
      if (extent == Extent::hash) return;
      std::erase_if(wanted, [&](const Wanted& w) {
        return std::ranges::all_of(w.marks, [&](const std::string& mark) { return text.find(mark) != text.npos; });
      });
    });
    texts.each();
    for (const operations::Entry& entry : operations::entries())
      if (has_golden_file(entry, in_cuda)) texts.each_of(entry);
  }
  for (const Wanted& w : wanted) {
    std::string marks;
    for (const std::string& mark : w.marks) marks += '\n' + mark;
    ADD_FAILURE() << w.part << ": no text that is shown (golden/kinds.hpp, golden/samples.hpp) has" << marks;
  }
}

TEST(KernelFiles, SamplesThatNameKernelsHaveThemShown) {
  for (const operations::Entry& entry : operations::entries())
    EXPECT_TRUE(kinds_of(entry).empty() || has_golden_file(entry, false) || has_golden_file(entry, true))
        << entry.name << golden_suffix(false) << " is missing in its primitive's folder: tern_golden_kernels prints it";
}

}  // namespace
}  // namespace tern::test
