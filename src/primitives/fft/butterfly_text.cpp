#include "primitives/fft/butterfly_text.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>
#include <vector>

#include "gpu/text/text.hpp"

namespace tern::detail_gpu::fft {

std::string constant_text(const std::string& type, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  std::string digits = text;
  if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
  return cat(type, "(", digits, ")");
}

namespace {

/// The names of a complex number's parts are its own with "r" and "i" behind.
using Numbers = std::vector<std::string>;

class ButterflyText {
 public:
  ButterflyText(int first, std::string type) : first_(first), type_(std::move(type)) {}

  /// Sets the numbers `to` to the transform of the numbers `from`.
  void transform(const Numbers& from, const Numbers& to) {
    switch (from.size()) {
      case 2: return two(from, to);
      case 3:
      case 5:
      case 7: return odd(from, to);
      case 4: return four(from, to);
      case 8: return composed(from, to, 2);
      case 9: return composed(from, to, 3);
      default: return composed(from, to, 4);
    }
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string fresh() { return cat("t", first_, "_", next_++, "_"); }
  void let(const std::string& name, const std::string& re, const std::string& im) {
    text_ += cat("let ", name, "r = ", re, ";\nlet ", name, "i = ", im, ";\n");
  }
  void add(const std::string& to, const std::string& a, const std::string& b) {
    let(to, cat(a, "r + ", b, "r"), cat(a, "i + ", b, "i"));
  }
  void subtract(const std::string& to, const std::string& a, const std::string& b) {
    let(to, cat(a, "r - ", b, "r"), cat(a, "i - ", b, "i"));
  }
  /// a - i·b and a + i·b
  void less_times_i(const std::string& to, const std::string& a, const std::string& b) {
    let(to, cat(a, "r + ", b, "i"), cat(a, "i - ", b, "r"));
  }
  void plus_times_i(const std::string& to, const std::string& a, const std::string& b) {
    let(to, cat(a, "r - ", b, "i"), cat(a, "i + ", b, "r"));
  }

  void two(const Numbers& x, const Numbers& y) { add(y[0], x[0], x[1]), subtract(y[1], x[0], x[1]); }
  void four(const Numbers& x, const Numbers& y) {
    const std::string a = fresh(), b = fresh(), c = fresh(), d = fresh();
    add(a, x[0], x[2]), subtract(b, x[0], x[2]), add(c, x[1], x[3]), subtract(d, x[1], x[3]);
    add(y[0], a, c), less_times_i(y[1], b, d), subtract(y[2], a, c), plus_times_i(y[3], b, d);
  }
  /// A prime: sums and differences of what stands at j and at radix - j have real factors.
  void odd(const Numbers& x, const Numbers& y) {
    const int radix = static_cast<int>(x.size()), half = (radix - 1) / 2;
    const auto at = [](const Numbers& list, int k) -> const std::string& { return list[static_cast<std::size_t>(k)]; };
    Numbers sums, differences;
    std::string re = cat(x[0], "r"), im = cat(x[0], "i");
    for (int j = 1; j <= half; ++j) {
      sums.push_back(fresh()), differences.push_back(fresh());
      add(sums.back(), at(x, j), at(x, radix - j)), subtract(differences.back(), at(x, j), at(x, radix - j));
      re += cat(" + ", sums.back(), "r"), im += cat(" + ", sums.back(), "i");
    }
    let(y[0], re, im);
    for (int k = 1; k <= half; ++k) {
      const std::string even = fresh(), crossed = fresh();
      std::string even_re = cat(x[0], "r"), even_im = cat(x[0], "i"), re_of_crossed, im_of_crossed;
      for (int j = 1; j <= half; ++j) {
        const double angle = 2 * std::numbers::pi * (j * k % radix) / radix;
        const std::string c = constant_text(type_, std::cos(angle)), s = constant_text(type_, std::sin(angle));
        const std::string &sum = at(sums, j - 1), &difference = at(differences, j - 1), plus = j > 1 ? " + " : "";
        even_re += cat(" + ", c, " * ", sum, "r"), even_im += cat(" + ", c, " * ", sum, "i");
        re_of_crossed += cat(plus, s, " * ", difference, "r"), im_of_crossed += cat(plus, s, " * ", difference, "i");
      }
      let(even, even_re, even_im), let(crossed, re_of_crossed, im_of_crossed);
      less_times_i(at(y, k), even, crossed), plus_times_i(at(y, radix - k), even, crossed);
    }
  }
  /// Of a · b elements, as a matrix: b transforms of a elements that lie b apart, their results times roots, and a
  /// transforms of b.
  void composed(const Numbers& x, const Numbers& y, std::size_t b) {
    const std::size_t radix = x.size(), a = radix / b;
    std::vector<Numbers> between(a, Numbers(b));
    for (std::size_t j = 0; j < b; ++j) {
      Numbers column, results;
      for (std::size_t k = 0; k < a; ++k) column.push_back(x[j + b * k]), results.push_back(fresh());
      transform(column, results);
      for (std::size_t k = 0; k < a; ++k) between[k][j] = times_root(results[k], j * k, radix);
    }
    for (std::size_t k = 0; k < a; ++k) {
      Numbers results;
      for (std::size_t j = 0; j < b; ++j) results.push_back(y[k + a * j]);
      transform(between[k], results);
    }
  }
  /// The name of that number times e^(-2πi·power/radix).
  std::string times_root(const std::string& of, std::size_t power, std::size_t radix) {
    if (power == 0) return of;
    const std::string name = fresh();
    if (4 * power == radix) {
      let(name, cat(of, "i"), cat("-", of, "r"));
      return name;
    }
    const double angle = 2 * std::numbers::pi * static_cast<double>(power) / static_cast<double>(radix);
    double cosine = std::cos(angle), sine = std::sin(angle);
    if (8 * power % radix == 0) {  // an odd eighth of the circle: both are exactly alike
      cosine = std::copysign(std::numbers::sqrt2 / 2, cosine), sine = std::copysign(std::numbers::sqrt2 / 2, sine);
    }
    const std::string c = constant_text(type_, cosine), s = constant_text(type_, sine);
    let(name, cat(of, "r * ", c, " + ", of, "i * ", s), cat(of, "i * ", c, " - ", of, "r * ", s));
    return name;
  }

  int first_, next_ = 0;
  std::string type_, text_;
};

}  // namespace

std::string butterfly_text(int radix, int first, const std::string& type) {
  Numbers from, to;
  for (int k = first; k < first + radix; ++k) from.push_back(cat("x", k)), to.push_back(cat("y", k));
  ButterflyText text(first, type);
  text.transform(from, to);
  return std::move(text).text();
}

}  // namespace tern::detail_gpu::fft
