// Small tools for writing program text.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tern::detail_gpu {

namespace text {
inline void append(std::string& out, std::string_view s) { out += s; }
inline void append(std::string& out, char c) { out += c; }
template <class T>
requires std::is_integral_v<T>
void append(std::string& out, T number) { out += std::to_string(number); }
}  // namespace text

/// The parts one after the other; numbers in decimal.
template <class... Parts> std::string cat(const Parts&... parts) {
  std::string result;
  (text::append(result, parts), ...);
  return result;
}

inline std::string join(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) result += (i ? between : "") + parts[i];
  return result;
}

/// Lists for $for (kernel_file.hpp): first, first + step, … below end; and 1 2 4 … below end, or `down` from the last.
inline std::string numbers(int first, int end, int step = 1) {
  std::string list;
  for (int i = first; i < end; i += step) list += cat(list.empty() ? "" : " ", i);
  return list;
}
inline std::string powers_of_two(int end, bool down = false) {
  std::string list;
  for (int i = 1; i < end; i *= 2) list = down ? cat(i, i > 1 ? " " : "", list) : cat(list, i > 1 ? " " : "", i);
  return list;
}

/// A pattern with $0 $1 $2 replaced by the arguments and $t by the type.
inline std::string fill_in(std::string_view pattern, std::string_view type, const std::vector<std::string>& arguments) {
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') result += pattern[i];
    else if (pattern[++i] == 't') result += type;
    else result += arguments[static_cast<std::size_t>(pattern[i] - '0')];
  }
  return result;
}

/// Every line two characters to the right.
inline std::string indented(std::string_view lines) {
  std::string result;
  bool start = true;
  for (const char c : lines) {
    if (start && c != '\n') result += "  ";
    result += c;
    start = c == '\n';
  }
  return result;
}

}  // namespace tern::detail_gpu
