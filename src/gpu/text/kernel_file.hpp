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
/// left empty goes. Every hole must have a filling, which may have holes itself. ${name} is $name before more letters.
///
/// Unrolled steps stand once:
///   $for e in $elements
///     sum += $x_$e;
///   $end
/// with "0 1 2" for $elements is the line with e = 0, 1 and 2: $x_0, $x_1, $x_2. Without elements it is nothing.
///
/// A filling that has ${0}, ${1}, … takes arguments: $max(a, b) with "tern_max(${0}, ${1})" for max is tern_max(a, b).
std::string fill_holes(std::string_view text, const Holes& holes);

/// The arguments of a filling, as its text names them.
inline constexpr const char *kFirst = "${0}", *kSecond = "${1}";

/// The fillings that a file of pieces defines, of which a kernel is made as a request asks for them:
///   $define mean(sum, count)
///     $sum / $count
///   $end
/// is a filling of two arguments. What stands between pieces is for readers.
Holes pieces(std::string_view file);

}  // namespace tern::detail_gpu
