#include "split_ptx.hpp"

#include <cctype>
#include <set>
#include <vector>

namespace tern::tools {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

std::set<std::string_view> names_in(std::string_view text) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end > i) names.insert(text.substr(i, end - i));
    i = end + (end == i);
  }
  return names;
}

/// What stands at the top level of a module: a directive, a variable, a function or an entry.
struct Item {
  std::string_view text, name;
  bool entry = false, directive = false;
};

/// The end of the item that begins at `at`: a line for directives, else a semicolon or a body's closing brace.
std::size_t end_of(std::string_view module, std::size_t at, bool directive) {
  if (directive) return std::min(module.find('\n', at) + 1, module.size());
  int braces = 0, others = 0;
  bool value = false;  // a variable's braces are followed by a semicolon
  for (std::size_t i = at; i < module.size(); ++i) {
    const char c = module[i];
    if (c == '/' && module.substr(i, 2) == "//") {
      i = module.find('\n', i);
      if (i == module.npos) return module.size();
    }
    value |= c == '=' && braces == 0;
    braces += (c == '{') - (c == '}'), others += (c == '(') - (c == ')');
    if (c == ';' && braces == 0 && others == 0) return i + 1;
    if (c == '}' && braces == 0 && !value) return i + 1;
  }
  return module.size();
}

/// The name an item declares: the last before its parameters, brackets, value or end.
std::string_view name_of(std::string_view item) {
  std::size_t at = item.find(".func");
  if (at != item.npos) {  // a result in parentheses may stand before the name
    at += 5;
    while (at < item.size() && std::isspace(static_cast<unsigned char>(item[at]))) ++at;
    if (at < item.size() && item[at] == '(') at = item.find(')', at) + 1;
  } else {
    at = 0;
  }
  std::size_t end = item.find_first_of("([=;", at);
  if (end == item.npos) end = item.size();
  while (end > at && !in_name(item[end - 1])) --end;
  std::size_t begin = end;
  while (begin > at && in_name(item[begin - 1])) --begin;
  return item.substr(begin, end - begin);
}

std::vector<Item> items_of(std::string_view module) {
  std::vector<Item> items;
  for (std::size_t at = 0; at < module.size();) {
    if (std::isspace(static_cast<unsigned char>(module[at])) || module[at] == '\0') {
      ++at;
      continue;
    }
    if (module.substr(at, 2) == "//") {
      at = module.find('\n', at);
      if (at == module.npos) break;
      continue;
    }
    Item item;
    for (const char* word : {".version", ".target", ".address_size"})
      item.directive |= module.substr(at).starts_with(word);
    const std::size_t end = end_of(module, at, item.directive);
    item.text = module.substr(at, end - at);
    item.entry = item.text.substr(0, item.text.find('(')).find(".entry") != std::string_view::npos;
    if (!item.directive) item.name = name_of(item.text);
    items.push_back(item);
    at = end;
  }
  return items;
}

}  // namespace

std::map<std::string, std::string> split_ptx(std::string_view module) {
  const std::vector<Item> items = items_of(module);
  std::vector<std::set<std::string_view>> named;
  for (const Item& item : items)
    named.push_back(item.entry || !item.directive ? names_in(item.text) : std::set<std::string_view>{});
  std::map<std::string, std::string> modules;
  for (std::size_t e = 0; e < items.size(); ++e) {
    if (!items[e].entry) continue;
    std::vector<char> taken(items.size(), 0);
    std::vector<std::size_t> pending{e};
    while (!pending.empty()) {
      const std::size_t at = pending.back();
      pending.pop_back();
      if (taken[at]) continue;
      taken[at] = 1;
      for (std::size_t i = 0; i < items.size(); ++i)
        if (!items[i].entry && !items[i].directive && named[at].contains(items[i].name)) pending.push_back(i);
    }
    std::string& text = modules[std::string(items[e].name)];
    for (std::size_t i = 0; i < items.size(); ++i)
      if (taken[i] || items[i].directive) {
        text += items[i].text;
        if (!items[i].directive) text += '\n';
      }
  }
  return modules;
}

}  // namespace tern::tools
