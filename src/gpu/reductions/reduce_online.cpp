#include "gpu/reductions/reduce_online.hpp"

#include <algorithm>
#include <utility>

#include "gpu/text/printer.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::Lane;
using detail::Leaf;
using detail::OnlineSum;

std::string OnlineText::bits(const std::string& x) const {
  return cat("bitcast<", lane_ == Lane::f64 ? "u64" : "u32", ">(", x, ")");
}

/// By its bits: a compiler of WGSL may take it that there are no infinities.
std::string OnlineText::exponent_is(const std::string& x, const char* is) const {
  return cat("(", bits(x), " & ", exponent(), ") ", is, " ", exponent());
}
std::string OnlineText::finite(const std::string& m) const {
  return cat("select(", literal(Number(0.0), lane_), ", ", m, ", ", exponent_is(m, "!="), ")");
}

std::string OnlineText::power(const std::string& x, const std::string& shift) const {
  return exp(leaf(Leaf::sub, x, shift));
}

std::string OnlineText::scale(const std::string& sum, const std::string& before, const std::string& now) const {
  const std::string factor = exp(leaf(Leaf::sub, before, finite(now)));
  return cat("if (", bits(before), " != ", bits(now), ") { ", sum, " = ", leaf(Leaf::mul, sum, factor), "; }\n");
}

std::string OnlineText::joined(const Sum& sum, const Sum& part, const std::string& copy,
                               const std::string& both) const {
  return cat("var ", copy, " = ", part.sum, ";\n", scale(copy, part.max, both), scale(sum.sum, sum.max, both));
}

std::string OnlineText::finished(const std::string& sum, const std::string& m, const std::string& shift) const {
  return leaf(Leaf::mul, sum, exp(leaf(Leaf::sub, finite(m), shift)));
}

std::string OnlineText::reciprocal(const std::string& count) const {
  return leaf(Leaf::div, literal(Number(1.0), lane_), leaf(Leaf::maximum, count, literal(Number(1.0), lane_)));
}

std::string OnlineText::delta(const std::string& a, const std::string& b, const std::string& count) const {
  const std::string zero = literal(Number(0.0), lane_);
  return cat("select(", leaf(Leaf::sub, a, b), ", ", zero, ", ", a, " == ", b, " || ", count, " == ", zero, ")");
}

/// Where d is 0 nothing may change: 0 times an infinity is NaN. A sum that overflowed stays what it is, as it does
/// where the mean is known beforehand; but where the mean becomes infinite, an infinite element makes it NaN.
std::string OnlineText::add_where_moved(const std::string& sum, const std::string& d, const std::string& change) const {
  return cat("if (", d, " != ", literal(Number(0.0), lane_), " && (", exponent_is(sum, "!="), " || ",
             exponent_is(d, "=="), ")) { ", sum, " = ", leaf(Leaf::add, sum, leaf(Leaf::mul, d, change)), "; }\n");
}
std::string OnlineText::move(const std::string& sum, const std::string& d, const Lower& lower) const {
  if (lower.first.empty()) return add_where_moved(sum, d, lower.zeroth);
  return add_where_moved(sum, d, plus(plus(lower.first, lower.first), leaf(Leaf::mul, d, lower.zeroth)));
}
std::string OnlineText::move_last(const std::string& sum, const std::string& d, const Lower& lower) const {
  if (lower.first.empty()) return add_where_moved(sum, d, lower.zeroth);
  return add_where_moved(sum, d, difference(plus(lower.first, lower.first), leaf(Leaf::mul, d, lower.zeroth)));
}

namespace {

/// What a sum is corrected by, where reductions have these names.
template <class Names> OnlineText::Lower lower_of(const OnlineSum& sum, const Names& name, int e) {
  return {name(sum.lower[0], e), sum.power == 2 ? name(sum.lower[1], e) : std::string()};
}

}  // namespace

OnlineWalk::OnlineWalk(const Dialect& dialect, const detail::Program& program, const std::vector<int>& reductions,
                       int kept, Name accumulator, Name result)
    : dialect_(dialect),
      program_(program),
      kept_(kept),
      accumulator_(std::move(accumulator)),
      result_(std::move(result)) {
  for (const int step : reductions) {
    const OnlineSum* const sum = online_sum(program, step);
    if (!sum) continue;
    sums_.push_back(sum);
    const auto same =
        std::find_if(pivots_.begin(), pivots_.end(), [&](const Pivot& p) { return p.step == sum->pivot; });
    if (same == pivots_.end()) pivots_.push_back({sum->pivot, {sum}});
    else same->sums.push_back(sum);
  }
}

std::string OnlineWalk::declare() const {
  std::string lines = has_moments() ? "var steps = 0u;\n" : "";
  for (const Pivot& pivot : pivots_)
    for (int e = 0; e < kept_ && pivot.moments(); ++e)
      lines += cat("var ", mean_name(pivot, e), " = ", literal(Number(0.0), lane(pivot.step)), ";\n");
  return lines;
}

std::string OnlineWalk::before(Io& io) {
  std::string lines;
  before_.clear();
  const auto keep = [&](int step) {
    for (int e = 0; e < kept_; ++e) {
      std::string& name = before_[{step, e}];
      if (!name.empty()) continue;
      name = io.unique("m");
      lines += cat("let ", name, " = ", accumulator_(step, e), ";\n");
    }
  };
  for (const Pivot& pivot : pivots_) {
    if (pivot.moments()) keep(pivot.sums[0]->count);
    for (const OnlineSum* sum : pivot.sums) keep(pivot.moments() ? sum->lower[0] : pivot.step);
  }
  return lines;
}

std::string OnlineWalk::after(Io& io, const Values& arguments) {
  std::string lines, follow;
  for (const Pivot& pivot : pivots_)
    if (pivot.moments()) follow += follow_means(io, pivot);
  if (!follow.empty()) lines += cat("steps += 1u;\nif ((steps & (steps - 1u)) == 0u) {\n", indented(follow), "}\n");
  for (const Pivot& pivot : pivots_) {
    for (int e = 0; e < kept_ && !pivot.moments(); ++e)
      for (const OnlineSum* sum : pivot.sums)
        lines += text(pivot).scale(accumulator_(sum->sum, e), before_.at({pivot.step, e}), accumulator_(pivot.step, e));
    lines += terms(io, pivot, arguments);
  }
  return lines;
}

/// Makes the sums so far those for the mean that there is now. Whatever they are for, they are right; that of at least
/// half of what was seen is near enough to the mean for no more than a factor of 4 in the squares' sum. Moved with
/// every step, the eight columns that an invocation has of bf16 took 2 to 3 times as long.
std::string OnlineWalk::follow_means(Io& io, const Pivot& pivot) const {
  const OnlineText t = text(pivot);
  const std::string reciprocal = io.unique("n");
  std::string lines =
      cat("let ", reciprocal, " = ", t.reciprocal(accumulator_(pivot.sums[0]->count, 0)), ";\n");
  for (int e = 0; e < kept_; ++e) {
    const std::string mean = mean_name(pivot, e), now = io.unique("m"), d = io.unique("delta");
    lines += cat("let ", now, " = ", t.mean(accumulator_(pivot.step, e), reciprocal), ";\n");
    lines += cat("let ", d, " = ", t.delta(mean, now, before_.at({pivot.sums[0]->count, 0})), ";\n", mean, " = ", now,
                 ";\n");
    for (auto sum = pivot.sums.rbegin(); sum != pivot.sums.rend(); ++sum)
      lines += t.move(accumulator_((*sum)->sum, e), d,
                      {before_.at({(*sum)->lower[0], e}), lower_of(**sum, accumulator_, e).first});
  }
  return lines;
}

/// Adds the elements' terms.
std::string OnlineWalk::terms(Io& io, const Pivot& pivot, const Values& arguments) const {
  const OnlineText t = text(pivot);
  const std::vector<std::string>& values = arguments.at(pivot.step);
  std::vector<std::string> shifts;
  std::string lines;
  for (int e = 0; e < kept_; ++e) {
    shifts.push_back(io.unique("s"));
    lines += cat("let ", shifts.back(), " = ",
                 pivot.moments() ? mean_name(pivot, e) : t.finite(accumulator_(pivot.step, e)), ";\n");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int e = kept_ > 1 ? static_cast<int>(i) : 0;
    const std::string& shift = shifts[static_cast<std::size_t>(e)];
    const std::string base = io.unique("p");
    lines +=
        cat("let ", base, " = ", pivot.moments() ? t.difference(values[i], shift) : t.power(values[i], shift), ";\n");
    for (const OnlineSum* sum : pivot.sums) {
      std::string term = sum->power == 2 ? t.product(base, base) : base;
      if (sum->weight >= 0) term = t.product(arguments.at(sum->sum)[i], term);
      const std::string to = accumulator_(sum->sum, e);
      lines += cat(to, " = ", t.plus(to, term), ";\n");
    }
  }
  return lines;
}

std::string OnlineWalk::join(Io& io, const std::function<std::string(int step)>& part) {
  std::string lines;
  for (const Pivot& pivot : pivots_)
    lines += pivot.moments() ? join_moments(io, pivot, part) : join_powers(io, pivot, part);
  return lines;
}
std::string OnlineWalk::join_powers(Io& io, const Pivot& pivot, const std::function<std::string(int)>& part) const {
  const OnlineText t = text(pivot);
  const std::string top = accumulator_(pivot.step, 0), both = io.unique("m");
  std::string lines =
      cat("let ", both, " = ", dialect_.leaf(Leaf::maximum, lane(pivot.step), {top, part(pivot.step)}), ";\n");
  for (const OnlineSum* s : pivot.sums) {
    const std::string sum = accumulator_(s->sum, 0), copy = io.unique("part");
    lines += t.joined({sum, top}, {part(s->sum), part(pivot.step)}, copy, both);
    lines += cat(sum, " = ", t.plus(sum, copy), ";\n");
  }
  return lines;
}
std::string OnlineWalk::join_moments(Io& io, const Pivot& pivot, const std::function<std::string(int)>& part) const {
  const OnlineText t = text(pivot);
  const int count = pivot.sums[0]->count;
  const auto accumulator = [&](int step) { return accumulator_(step, 0); };
  const std::string mean = mean_name(pivot, 0), both = io.unique("m"), d = io.unique("delta"),
                    of_part = io.unique("delta");
  std::string lines = cat(
      "let ", both, " = ",
      t.mean(t.plus(accumulator(pivot.step), part(pivot.step)), t.reciprocal(t.plus(accumulator(count), part(count)))),
      ";\n");
  lines += cat("let ", d, " = ", t.delta(mean, both, accumulator(count)), ";\n", mean, " = ", both, ";\n");
  lines += cat("let ", of_part, " = ", t.delta(t.mean(part(pivot.step), t.reciprocal(part(count))), both, part(count)),
               ";\n");
  for (auto it = pivot.sums.rbegin(); it != pivot.sums.rend(); ++it) {
    const OnlineSum& s = **it;
    const auto part_of = [&](int step, int) { return part(step); };
    const std::string sum = accumulator(s.sum), copy = io.unique("part");
    lines += cat("var ", copy, " = ", part(s.sum), ";\n", t.move(copy, of_part, lower_of(s, part_of, 0)),
                 t.move(sum, d, lower_of(s, accumulator_, 0)), sum, " = ", t.plus(sum, copy), ";\n");
  }
  return lines;
}

std::string OnlineWalk::align(Io& io) const {
  std::string lines;
  for (const Pivot& pivot : pivots_) {
    const OnlineText t = text(pivot);
    const std::string reciprocal = io.unique("n");
    if (pivot.moments())
      lines += cat("let ", reciprocal, " = ", t.reciprocal(result_(pivot.sums[0]->count, 0)), ";\n");
    for (int e = 0; e < kept_; ++e) {
      const std::string d = io.unique("delta");
      if (pivot.moments())
        lines += cat("let ", d, " = ",
                     t.delta(mean_name(pivot, e), t.mean(result_(pivot.step, e), reciprocal),
                             accumulator_(pivot.sums[0]->count, 0)),
                     ";\n");
      for (auto it = pivot.sums.rbegin(); it != pivot.sums.rend(); ++it) {
        const OnlineSum& s = **it;
        const std::string sum = accumulator_(s.sum, e);
        lines += pivot.moments() ? t.move(sum, d, lower_of(s, accumulator_, e))
                                 : t.scale(sum, accumulator_(pivot.step, e), result_(pivot.step, e));
      }
    }
  }
  return lines;
}

std::string OnlineWalk::finished(Io& io, int sum, int e, const std::string& raw, const std::string& shift) const {
  const OnlineSum& s = *online_sum(program_, sum);
  const OnlineText t{dialect_, lane(sum)};
  const std::string to = result_(sum, e), pivot = result_(s.pivot, e);
  if (s.power == 0) return cat(to, " = ", t.finished(raw, pivot, shift), ";\n");
  const std::string d = io.unique("delta");
  return cat("let ", d, " = ", t.delta(t.mean(pivot, t.reciprocal(result_(s.count, 0))), shift, result_(s.count, 0)),
             ";\n", t.move_last(to, d, lower_of(s, result_, e)));
}

}  // namespace tern::detail_gpu
