#include "gpu/text/kernel_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

struct Name {
  std::string_view name;
  std::size_t end;  // of what names it
};
/// Of the hole that begins with the $ at `at`.
Name name_at(std::string_view text, std::size_t at) {
  const bool braced = text.substr(at, 2) == "${";
  const std::size_t begin = at + (braced ? 2 : 1);
  std::size_t end = begin;
  while (end < text.size() && in_name(text[end])) ++end;
  return {text.substr(begin, end - begin), braced ? end + 1 : end};
}

/// The text with `value` wherever it names `name`.
std::string with_value(std::string_view text, std::string_view name, std::string_view value) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Name hole = text[at] == '$' ? name_at(text, at) : Name{{}, at + 1};
    result += text[at] == '$' && hole.name == name ? value : text.substr(at, hole.end - at);
    at = hole.end;
  }
  return result;
}

/// The line from `at` on, with its end.
std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::min(text.find('\n', at), text.size() - 1) + 1 - at);
}
/// Without the blanks that it begins with, and its end.
std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.substr(0, line.find('\n'));
}

/// The lines up to the $end of what stands before `at`, as far to the left as that; `at` moves behind it.
std::string block_at(std::string_view text, std::size_t& at) {
  std::string body;
  for (int depth = 1;;) {
    const std::string_view line = line_at(text, at), words = trimmed(line);
    at += line.size();
    depth += words.starts_with("$for ") ? 1 : words == "$end" ? -1 : 0;
    if (depth == 0) return body;
    body += line.substr(line.starts_with("  ") ? 2 : 0);
  }
}

/// Takes the list of arguments apart whose parenthesis is at `at`, which moves behind its end.
std::vector<std::string> arguments_at(std::string_view text, std::size_t& at) {
  std::vector<std::string> list(1);
  for (int depth = 1; depth > 0;) {
    const char c = text[++at];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 1) list.emplace_back();
    else if (depth > 0 && (c != ' ' || !list.back().empty())) list.back() += c;
  }
  ++at;
  return list;
}
std::string argument(std::size_t k) { return std::to_string(k); }

/// The text with what stands between $for and $end as often as it is for.
std::string unrolled(std::string_view text, const Holes& holes) {
  if (text.find("$for ") == text.npos) return std::string(text);
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = line_at(text, at), head = trimmed(line);
    at += line.size();
    if (!head.starts_with("$for ")) {
      result += line;
      continue;
    }
    const std::string body = block_at(text, at);
    const std::size_t in = head.find(" in ");
    const std::string list = fill_holes(head.substr(in + 4), holes);
    for (std::size_t begin = 0, end; begin < list.size(); begin = end + 1) {
      end = std::min(list.find(' ', begin), list.size());
      result += unrolled(with_value(body, head.substr(5, in - 5), list.substr(begin, end - begin)), holes);
    }
  }
  return result;
}

}  // namespace

std::string fill_holes(std::string_view file, const Holes& holes) {
  const std::string unfolded = unrolled(file, holes);
  const std::string_view text = unfolded;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      result += text[at++];
      continue;
    }
    auto [name, end] = name_at(text, at);
    std::string lines = filling(holes, name);
    if (end < text.size() && text[end] == '(' && lines.find("${0}") != lines.npos) {
      const std::vector<std::string> arguments = arguments_at(text, end);
      for (std::size_t k = 0; k < arguments.size(); ++k) lines = with_value(lines, argument(k), arguments[k]);
    }
    lines = fill_holes(lines, holes);
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

Holes pieces(std::string_view file) {
  Holes found;
  for (std::size_t at = 0; at < file.size();) {
    const std::string_view line = line_at(file, at), head = trimmed(line);
    at += line.size();
    if (!head.starts_with("$define ")) continue;
    const std::string_view name = head.substr(8, head.find('(') - 8);
    std::string body = block_at(file, at);
    if (std::size_t parenthesis = 8 + name.size(); parenthesis < head.size()) {
      const std::vector<std::string> parameters = arguments_at(head, parenthesis);
      for (std::size_t k = 0; k < parameters.size(); ++k)
        body = with_value(body, parameters[k], "${" + argument(k) + "}");
    }
    found[std::string(name)] = body;
  }
  return found;
}

}  // namespace tern::detail_gpu
