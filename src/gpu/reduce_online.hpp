// The text of sums of exp(x - shift) that are taken in the same walk as max(x) (formula/program.hpp, OnlineSum).
#pragma once
#include <string>

#include "gpu/dialect.hpp"

namespace tern::detail_gpu {

/// Expressions and statements of one lane type, f32 or f64.
class OnlineText {
 public:
  OnlineText(const Dialect& dialect, detail::Lane lane) : dialect_(dialect), lane_(lane) {}

  /// m, or 0 where it is infinite or NaN: exp(x - m) of infinities is NaN, which a later, larger m could not undo.
  std::string finite(const std::string& m) const;
  /// exp(x - shift).
  std::string power(const std::string& x, const std::string& shift) const;
  /// The statement that brings `sum`, taken for the maximum `before`, to the maximum `now`.
  std::string scale(const std::string& sum, const std::string& before, const std::string& now) const;
  std::string product(const std::string& weight, const std::string& power) const {
    return leaf(detail::Leaf::mul, weight, power);
  }
  /// A sum and the maximum that it was taken for.
  struct Sum {
    std::string sum, max;
  };
  /// The statements that bring the variable `sum`, and a copy named `copy` of another part's, to the maximum of both.
  std::string joined(const Sum& sum, const Sum& part, const std::string& copy, const std::string& both) const;
  /// The sum for the maximum m as that of exp(x - shift).
  std::string finished(const std::string& sum, const std::string& m, const std::string& shift) const;

 private:
  std::string leaf(detail::Leaf which, const std::string& a, const std::string& b) const {
    return dialect_.leaf(which, lane_, {a, b});
  }
  std::string exp(const std::string& x) const { return dialect_.leaf(detail::Leaf::exp, lane_, {x}); }
  std::string bits(const std::string& x) const;

  const Dialect& dialect_;
  detail::Lane lane_;
};

}  // namespace tern::detail_gpu
