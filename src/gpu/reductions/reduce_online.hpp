// The text of sums that are taken in the walk of the reduction that they wait for (formula/program.hpp, OnlineSum).
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formula/program.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"

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

  std::string plus(const std::string& a, const std::string& b) const { return leaf(detail::Leaf::add, a, b); }
  std::string difference(const std::string& a, const std::string& b) const { return leaf(detail::Leaf::sub, a, b); }
  /// The mean of what is there, 0 of nothing; one division does for all kept positions of an invocation.
  std::string mean(const std::string& total, const std::string& reciprocal) const {
    return leaf(detail::Leaf::mul, total, reciprocal);
  }
  std::string reciprocal(const std::string& count) const;
  /// By how much the mean of `count` elements is larger than another: 0 where both are the same infinity, and of none.
  std::string delta(const std::string& a, const std::string& b, const std::string& count) const;
  /// What a sum of (x - mean)^power is corrected by: the lower sums, of which power 1 has none but the first.
  struct Lower {
    std::string zeroth, first;
  };
  /// The statement that makes `sum` one for a mean that is smaller by d.
  std::string move(const std::string& sum, const std::string& d, const Lower& lower) const;
  /// The same by lower sums of which the first is one for the new mean.
  std::string move_last(const std::string& sum, const std::string& d, const Lower& lower) const;

 private:
  std::string leaf(detail::Leaf which, const std::string& a, const std::string& b) const {
    return dialect_.leaf(which, lane_, {a, b});
  }
  std::string add_where_moved(const std::string& sum, const std::string& d, const std::string& change) const;
  std::string exp(const std::string& x) const { return dialect_.leaf(detail::Leaf::exp, lane_, {x}); }
  std::string bits(const std::string& x) const;
  /// Compares x's exponent, by `is`, with that of infinities and NaN.
  std::string exponent_is(const std::string& x, const char* is) const;
  const char* exponent() const { return lane_ == detail::Lane::f64 ? "0x7ff0000000000000ull" : "0x7f800000u"; }

  const Dialect& dialect_;
  detail::Lane lane_;
};

/// The statements of a kernel for such sums of one walk. A reduction is a variable `accumulator(step, e)` while it is
/// walked, for each kept position e of an invocation, and `result(step, e)` once the invocations have joined theirs.
class OnlineWalk {
 public:
  using Name = std::function<std::string(int step, int e)>;
  /// Values of a step for each element that an invocation handles at once.
  using Values = std::map<int, std::vector<std::string>>;
  /// `reductions`: all of the walk.
  OnlineWalk(const Dialect& dialect, const detail::Program& program, const std::vector<int>& reductions, int kept,
             Name accumulator, Name result);

  bool empty() const { return sums_.empty(); }
  bool has_moments() const {
    return std::any_of(pivots_.begin(), pivots_.end(), [](const Pivot& pivot) { return pivot.moments(); });
  }
  /// The variables that it keeps beside the accumulators.
  std::string declare() const;
  /// Before and after the other reductions have been given the elements of a step: `arguments` of reductions, and the
  /// sums' weights by the sums.
  std::string before(Io& io);
  std::string after(Io& io, const Values& arguments);
  /// Before the other reductions are given the partial results `part(step)` (one kept position).
  std::string join(Io& io, const std::function<std::string(int step)>& part);
  /// Makes an invocation's sums those for the pivots' results.
  std::string align(Io& io) const;
  /// From the joined sum `raw` to the one the program means; `shift`: the value that is subtracted.
  std::string finished(Io& io, int sum, int e, const std::string& raw, const std::string& shift) const;

 private:
  struct Pivot {
    int step;
    std::vector<const detail::OnlineSum*> sums;  // the last is corrected by those before it
    bool moments() const { return sums[0]->power > 0; }
  };
  OnlineText text(const Pivot& pivot) const { return {dialect_, lane(pivot.step)}; }
  detail::Lane lane(int step) const { return program_.steps[static_cast<std::size_t>(step)].lane; }
  std::string mean_name(const Pivot& pivot, int e) const { return cat("mean_of_", accumulator_(pivot.step, e)); }
  std::string terms(Io& io, const Pivot& pivot, const Values& arguments) const;
  std::string follow_means(Io& io, const Pivot& pivot) const;
  std::string join_moments(Io& io, const Pivot& pivot, const std::function<std::string(int step)>& part) const;
  std::string join_powers(Io& io, const Pivot& pivot, const std::function<std::string(int step)>& part) const;

  const Dialect& dialect_;
  const detail::Program& program_;
  int kept_;
  Name accumulator_, result_;
  std::vector<const detail::OnlineSum*> sums_;
  std::vector<Pivot> pivots_;
  std::map<std::pair<int, int>, std::string> before_;  // of a reduction's accumulator
};

}  // namespace tern::detail_gpu
