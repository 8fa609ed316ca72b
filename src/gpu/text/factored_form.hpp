// Values of a factored function (factored.hpp) on their way: numbers times names, and lines along neighbours.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

inline constexpr double kExact = 1 << 24;  // integers up to there are f32

inline bool is_normal(double number) { return std::isnormal(static_cast<float>(number)); }
inline std::string number_text(double number) { return literal(Number(number), detail::ComputeType::f32); }

/// What is the same for all neighbours, as a factor.
struct SharedFactor {
  int step;
  bool inverse;
  std::string text() const { return cat(inverse ? "w" : "v", step); }
};
/// A value on its way: a product, or a line along the neighbours.
struct Form {
  double number = 1;  // number · shared · factors
  std::vector<SharedFactor> shared;
  std::vector<std::string> factors;  // one or two names
  std::string first;                 // not empty: first + number · shared · ahead
  double most = kExact + 1;          // of an integer, the largest magnitude
  std::vector<Form> beside = {};     // a line that is added
  bool line() const { return !first.empty(); }
  bool scaled() const { return number != 1 || !shared.empty(); }
  bool product() const { return !line() && (scaled() || factors.size() == 2); }
  std::string scale() const {
    std::vector<std::string> all;
    for (const SharedFactor& s : shared) all.push_back(s.text());
    if (number != 1 || all.empty()) all.push_back(number_text(number));
    return all.size() == 1 ? all[0] : cat("(", join(all, " * "), ")");
  }
  std::string text() const {
    if (!beside.empty()) return cat("fma(", factors[0], ", ", scale(), ", ", beside[0].text(), ")");
    if (line() && shared.empty()) return cat(first, " + ", number_text(number), " * f32(ahead)");
    if (line()) return cat("fma(", scale(), ", f32(ahead), ", first, ")");
    return cat(join(factors, " * "), scaled() ? " * " + scale() : "");
  }

  /// The value of this name.
  static Form plain(const std::string& name) {
    Form form;
    form.factors = {name};
    return form;
  }
  static Form negated(Form form) {
    form.number = -form.number;
    if (form.line()) form.first = cat("(-", form.first, ")");
    return form;
  }
  static Form bounded(Form form, double most) {
    form.most = most;
    return form;
  }
  /// The largest magnitude of an operation on integers.
  static double largest(detail::Elementary elementary, const std::vector<Form>& of) {
    switch (elementary) {
      case detail::Elementary::add:
      case detail::Elementary::sub: return of[0].most + of[1].most;
      case detail::Elementary::mul: return of[0].most * of[1].most;
      case detail::Elementary::maximum:
      case detail::Elementary::minimum: return std::max(of[0].most, of[1].most);
      case detail::Elementary::neg:
      case detail::Elementary::abs: return of[0].most;
      default: return kExact + 1;
    }
  }
};

}  // namespace tern::detail_gpu
