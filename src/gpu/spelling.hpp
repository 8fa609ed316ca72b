// How leaves are spelled in the GPU languages: the SPELLING sections of the leaf files as tables.
#pragma once
#include <string_view>

#include "formula/leaf.hpp"

namespace tern::detail_gpu {

/// Expressions with $0 $1 $2 for the arguments and $t for the name of their type.
struct Spelling {
  const char* cuda = nullptr;
  const char* wgsl = nullptr;
};
const Spelling& spelling_of(detail::Leaf leaf);

/// The text of a function of the WGSL library ("tern_tanh"); empty where there is none.
std::string_view wgsl_function(std::string_view name);

}  // namespace tern::detail_gpu
