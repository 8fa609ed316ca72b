// The WGSL library as CUDA C++: one text of every f32 function serves both languages.
#pragma once
#include <string>
#include <string_view>

namespace tern::detail_gpu {

/// A function of the WGSL library (`fn name(a: T, b: T) -> R { … }`) in CUDA C++. Of the language, what the library
/// uses: let, var, if, while, for, switch, vectors, literals; the prelude defines the rest by the same names.
/// `called`: once in a kernel, where the rest is inlined.
std::string cuda_from_wgsl(std::string_view function, bool called);

}  // namespace tern::detail_gpu
