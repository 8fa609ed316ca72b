#include "gpu/text/translate.hpp"

#include <cctype>

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view without_blanks(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// "a: f32, b: vec2<f32>" as "f32 a, vec2<f32> b".
std::string parameters(std::string_view list) {
  std::string result;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view one = list.substr(0, comma);
    const std::size_t colon = one.find(':');
    result += cat(result.empty() ? "" : ", ", without_blanks(one.substr(colon + 1)), " ",
                  without_blanks(one.substr(0, colon)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return result;
}

/// A number as the token that begins at `at`: digits, hexadecimal digits, exponents and suffixes.
std::size_t number_end(std::string_view text, std::size_t at) {
  const bool hexadecimal = text.substr(at, 2) == "0x";
  std::size_t end = at;
  while (end < text.size()) {
    const char c = text[end];
    const bool sign = (c == '+' || c == '-') && end > at && (hexadecimal ? text[end - 1] == 'p' : text[end - 1] == 'e');
    if (!is_word(c) && c != '.' && !sign) break;
    ++end;
  }
  return end;
}

/// WGSL's numbers with a fraction or an exponent are f32 here; C++'s are double without a suffix.
std::string number_in_cpp(std::string_view token) {
  const bool hexadecimal = token.substr(0, 2) == "0x";
  const bool real = token.find('.') != token.npos || token.find(hexadecimal ? 'p' : 'e') != token.npos;
  const bool suffixed = token.back() == 'f' && (!hexadecimal || token.find('p') != token.npos);
  return cat(token, real && !suffixed ? "f" : "");
}

/// Functions of another name in C++, or of the same name and another meaning.
std::string_view word(std::string_view token) { return token == "round" ? std::string_view("rintf") : token; }

std::string body(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      const std::size_t end = number_end(text, at);
      result += number_in_cpp(text.substr(at, end - at));
      at = end;
    } else if (is_word(c)) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string_view token = text.substr(at, end - at);
      if (token == "switch") {
        const std::size_t brace = text.find('{', end);
        result += cat("switch (", without_blanks(text.substr(end, brace - end)), ") ");
        end = brace;
      } else {
        result += word(token);
      }
      at = end;
    } else {
      result += c, ++at;
    }
  }
  return result;
}

}  // namespace

std::string cuda_from_wgsl(std::string_view function, bool called) {
  const std::size_t head = function.find("fn "), open = function.find('(', head), close = function.find(')', open),
                    arrow = function.find("->", close), brace = function.find('{', arrow);
  const std::string_view name = without_blanks(function.substr(head + 3, open - head - 3)),
                         result = without_blanks(function.substr(arrow + 2, brace - arrow - 2));
  return cat(called ? "TERN_CALLED " : "TERN_DEVICE ", result, " ", name, "(",
             parameters(function.substr(open + 1, close - open - 1)), ") ", body(function.substr(brace)));
}

}  // namespace tern::detail_gpu
