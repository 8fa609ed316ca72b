// Takes a module of PTX apart.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tern::tools {

/// A module of its own for each entry of a module, by the entry's name: with the functions and variables that it names,
/// directly or by way of others.
std::map<std::string, std::string> split_ptx(std::string_view module);

}  // namespace tern::tools
