// Kernels that stand in files of their language (.cu, .wgsl; CMake makes string literals of them,
// cmake/TernKernels.cmake).
// What a formula or a request decides is filled into their holes, $name.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tern::detail_gpu {

/// What replaces each $name.
using Holes = std::map<std::string, std::string, std::less<>>;

/// The text with its holes filled, lines that fill one indented like the hole; a line of nothing but a hole that is
/// left empty goes. Every hole must have a filling, which may have holes itself.
std::string fill_holes(std::string_view text, const Holes& holes);

}  // namespace tern::detail_gpu
