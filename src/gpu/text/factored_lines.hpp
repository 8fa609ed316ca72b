// The lines of a factored function (factored.hpp): what values are called on the way, and sums of forms.
#pragma once
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "gpu/text/factored_form.hpp"

namespace tern::detail_gpu {

class FactoredLines {
 public:
  void let(const std::string& name, const std::string& text) { lines_.emplace_back(name, text); }
  /// A new name for it.
  std::string named(const std::string& text) {
    std::string name = cat("t", next_++);
    let(name, text);
    return name;
  }
  /// One name for it, f32.
  std::string one(const Form& form) {
    if (!form.product() && !form.line()) return form.factors[0];
    return named(form.text());
  }
  /// x + y or x - y, each of which varies among the neighbours or does not.
  Form sum(const Form& x, bool x_varies, const Form& y, bool y_varies, bool minus) {
    const char* const sign = minus ? " - " : " + ";
    const bool lines = (x.line() || !x_varies) && (y.line() || !y_varies);
    if (lines && (!x.line() || !y.line() || (x.shared.empty() && y.shared.empty()))) {
      Form form = x.line() ? x : minus ? Form::negated(y) : y;
      if (x.line() && y.line()) form.number = minus ? x.number - y.number : x.number + y.number;
      form.first = named(cat(x.line() ? x.first : x.factors[0], sign, y.line() ? y.first : y.factors[0]));
      return form;
    }
    const bool first = x.product() && x_varies;
    const Form &product = first ? x : y, &other = first ? y : x;
    if (first || (y.product() && y_varies)) {
      const bool two = product.factors.size() == 2 && !product.scaled();
      Form rest = product;
      rest.number = 1, rest.shared.clear();
      const std::string left = two ? product.factors[0] : one(rest), right = two ? product.factors[1] : product.scale(),
                        added = one(other);
      return Form::plain(named(
          cat("fma(", minus && !first ? "-" : "", left, ", ", right, ", ", minus && first ? "-" : "", added, ")")));
    }
    const std::string left = one(x), right = one(y);
    return Form::plain(named(cat(left, sign, right)));
  }
  /// The lines whose names `result`, or a line after them, asks for.
  std::string before(const std::string& result) const {
    std::string asked = result, text;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      if (!names(asked, line->first)) continue;
      asked += cat(" ", line->second);
      text = cat("  let ", line->first, " = ", line->second, ";\n", text);
    }
    return text;
  }

 private:
  static bool names(const std::string& text, const std::string& name) {
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
    }
    return false;
  }

  std::vector<std::pair<std::string, std::string>> lines_;
  int next_ = 0;
};

}  // namespace tern::detail_gpu
