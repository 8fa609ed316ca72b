// How elementary functions are spelled in the GPU languages: the SPELLING sections of the files of elementary functions
// as tables.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "formula/elementary.hpp"

namespace tern::detail_gpu {

/// Expressions with $0 $1 $2 for the arguments and $t for the name of their type.
struct Spelling {
  const char* cuda = nullptr;
  const char* wgsl = nullptr;
};
const Spelling& spelling_of(detail::Elementary elementary);

/// The function that WGSL calls for it, "tern_tanh"; an operator's is empty.
std::string_view wgsl_name(detail::Elementary elementary);

/// The text of a function of the WGSL library ("tern_tanh"); empty where there is none.
std::string_view wgsl_function(std::string_view name);
/// Whether that function should stay one where a language has such a choice: it is long, and seldom reached.
bool is_called(std::string_view name);

/// The functions a text calls ("tern_tanh("), and those they call, before their users. `function` gives the text of one
/// by name, empty where there is none.
std::string library(std::string_view text, const std::function<std::string(std::string_view)>& function);

}  // namespace tern::detail_gpu
