#include "gpu/text/spelling.hpp"

#include <functional>
#include <map>
#include <set>

namespace tern::detail_gpu {
namespace {

struct Spellings {
  Spelling elementary[detail::kElementaryCount];
  std::map<std::string_view, std::string_view> functions;
  std::set<std::string_view> called;
};

Spellings make_tables() {
  Spellings tables;
  using detail::Elementary;
#define TERN_ELEMENTARY_SPELLING
#define TERN_SPELLING(name, cuda, wgsl) tables.elementary[static_cast<int>(Elementary::name)] = {cuda, wgsl};
#define TERN_WGSL(name, text) tables.functions[#name] = text;
#define TERN_WGSL_CALLED(name, text) tables.functions[#name] = text, tables.called.insert(#name);
#define TERN_CUDA(name, text)  // src/cuda/functions.cpp
#include "gpu/text/wgsl_math.inc"
#include "gpu/text/wgsl_bits.inc"
#include "elementary_all.inc"
#undef TERN_WGSL
#undef TERN_WGSL_CALLED
#undef TERN_CUDA
#undef TERN_SPELLING
#undef TERN_ELEMENTARY_SPELLING
  return tables;
}
const Spellings& tables() {
  static const auto& instance = *new Spellings(make_tables());  // outlives what is in static storage
  return instance;
}

}  // namespace

const Spelling& spelling_of(detail::Elementary elementary) { return tables().elementary[static_cast<int>(elementary)]; }

std::string_view wgsl_name(detail::Elementary elementary) {
  const std::string_view text = spelling_of(elementary).wgsl;
  const std::size_t name = text.find('(');
  return name == text.npos ? std::string_view() : text.substr(0, name);
}

std::string_view wgsl_function(std::string_view name) {
  const auto found = tables().functions.find(name);
  return found == tables().functions.end() ? std::string_view() : found->second;
}

bool is_called(std::string_view name) { return tables().called.contains(name); }

namespace {
void collect(std::string_view text, const std::function<std::string(std::string_view)>& function,
             std::set<std::string, std::less<>>& done, std::string& result) {
  const auto name_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  for (std::size_t at = text.find("tern_"); at != text.npos; at = text.find("tern_", at + 5)) {
    std::size_t end = at;
    while (end < text.size() && name_character(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (end == text.size() || text[end] != '(' || !done.insert(std::string(name)).second) continue;
    const std::string found = function(name);
    collect(found, function, done, result);
    if (!found.empty()) result += found + "\n";
  }
}
}  // namespace

std::string library(std::string_view text, const std::function<std::string(std::string_view)>& function) {
  std::set<std::string, std::less<>> done;
  std::string result;
  collect(text, function, done, result);
  return result;
}

}  // namespace tern::detail_gpu
