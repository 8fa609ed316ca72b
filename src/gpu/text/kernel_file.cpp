#include "gpu/text/kernel_file.hpp"

#include <cstdio>
#include <cstdlib>

namespace tern::detail_gpu {
namespace {

bool in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// Where the last line of `text` begins with blanks alone, those.
std::string indentation(const std::string& text) {
  const std::size_t begin = text.rfind('\n') + 1;
  const std::string line = text.substr(begin);
  return line.find_first_not_of(' ') == line.npos ? line : std::string();
}

const std::string& filling(const Holes& holes, std::string_view name) {
  if (const auto found = holes.find(name); found != holes.end()) return found->second;
  std::fprintf(stderr, "tern: nothing fills the hole $%.*s of a kernel\n", static_cast<int>(name.size()), name.data());
  std::abort();
}

}  // namespace

std::string fill_holes(std::string_view text, const Holes& holes) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      result += text[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && in_name(text[end])) ++end;
    std::string lines = fill_holes(filling(holes, text.substr(at + 1, end - at - 1)), holes);
    if (lines.ends_with('\n')) lines.pop_back();  // the hole's own line ends as well
    const std::string margin = indentation(result);
    const bool begins_line = margin.size() == result.size() - (result.rfind('\n') + 1);
    if (begins_line && lines.empty() && end < text.size() && text[end] == '\n')
      result.resize(result.size() - margin.size()), ++end;
    for (const char c : lines) {
      result += c;
      if (c == '\n') result += margin;
    }
    at = end;
  }
  return result;
}

}  // namespace tern::detail_gpu
