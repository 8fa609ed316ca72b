#include "gpu/reductions/reduce_online.hpp"

#include <utility>
namespace tern::detail_gpu {

using detail::ComputeType;
using detail::Elementary;
using detail::OnlineSum;

namespace {

constexpr const char* kOnline =
#include "gpu/reductions/reduce_online.wgsl.inc"
    ;

/// The pieces of the file in a compute type, f32 or f64.
Holes pieces_in(const Dialect& dialect, ComputeType type) {
  static const auto& file = *new Holes(pieces(kOnline));  // outlives what is in static storage
  Holes holes = file;
  for (const auto& [name, elementary] :
       {std::pair{"add", Elementary::add}, std::pair{"sub", Elementary::sub}, std::pair{"mul", Elementary::mul},
        std::pair{"div", Elementary::div}, std::pair{"max", Elementary::maximum}})
    holes[name] = dialect.elementary(elementary, type, {kFirst, kSecond});
  holes["exp"] = dialect.elementary(Elementary::exp, type, {kFirst});
  holes["zero"] = literal(Number(0.0), type), holes["one"] = literal(Number(1.0), type);
  holes["bits"] = cat("bitcast<", type == ComputeType::f64 ? "u64" : "u32", ">");
  holes["exponent"] = type == ComputeType::f64 ? "0x7ff0000000000000ull" : "0x7f800000u";
  return holes;
}

/// What a moment is corrected by, over d, by lower ones of these names: the count, and for squares the first moment.
std::string change(const OnlineSum& sum, const std::string& d, const std::string& count, const std::string& first,
                   const char* of_squares = "change_of_squares") {
  return sum.power == 2 ? cat("$", of_squares, "(", d, ", ", count, ", ", first, ")") : count;
}
template <class Names> std::string first_moment(const OnlineSum& sum, const Names& name, int e) {
  return sum.power == 2 ? name(sum.lower[1], e) : std::string();
}

}  // namespace

OnlinePass::OnlinePass(const Dialect& dialect, const ProgramPrinter& printer, const detail::Program& program,
                       const std::vector<int>& reductions, int kept, Name accumulator, Name result)
    : dialect_(dialect),
      printer_(printer),
      program_(program),
      kept_(kept),
      accumulator_(std::move(accumulator)),
      result_(std::move(result)) {
  for (const int step : reductions) {
    const OnlineSum* const sum = online_sum(program, step);
    if (!sum) continue;
    const auto same = std::find_if(pivots_.begin(), pivots_.end(), [&](const Pivot& p) {
      return p.step == sum->pivot && p.places() == sum->is_place();
    });
    if (same == pivots_.end()) pivots_.push_back({sum->pivot, {sum}});
    else same->sums.push_back(sum);
  }
}

/// Names of sums and means, for so many kept positions.
Holes OnlinePass::names_of(const Pivot& pivot, int positions) const {
  Holes holes = pieces_in(dialect_, type_of(pivot.step));
  const auto count = static_cast<int>(pivot.sums.size());
  holes["sums"] = numbers(0, count), holes["positions"] = numbers(0, positions);
  std::string& last_first = holes["last_first"];
  for (int s = count - 1; s >= 0; --s) last_first += cat(s, s ? " " : "");
  for (int e = 0; e < positions; ++e) {
    for (int s = 0; s < count; ++s)
      holes[cat("sum_", s, "_", e)] = accumulator_(pivot.sums[static_cast<std::size_t>(s)]->sum, e);
    if (pivot.moments()) holes[cat("mean_", e)] = mean_name(pivot, e);
  }
  return holes;
}

/// Names of places and what they are of.
Holes OnlinePass::places_of(const Pivot& pivot, int positions) const {
  static const auto& file = *new Holes(pieces(kOnline));  // outlives what is in static storage
  Holes holes = file;
  const ComputeType type = type_of(pivot.step);
  holes["equal"] = has_rank(pivot) ? cat("(tern_order(", kFirst, ") == tern_order(", kSecond, "))")
                                   : dialect_.elementary(Elementary::equal, type, {kFirst, kSecond});
  holes["is_nan"] = dialect_.elementary(Elementary::isnan, type, {kFirst});
  holes["extreme"] = printer_.combined(pivot.step, kFirst, kSecond);
  holes["nowhere"] = literal(Number(OnlineSum::kNowhere), ComputeType::i32);
  holes["least"] = dialect_.elementary(Elementary::minimum, ComputeType::i32, {kFirst, kSecond});
  holes["positions"] = numbers(0, positions);
  for (int e = 0; e < positions; ++e)
    holes[cat("place_", e)] = accumulator_(pivot.sums[0]->sum, e), holes[cat("top_", e)] = accumulator_(pivot.step, e);
  return holes;
}

std::string OnlinePass::declare(bool joins) const {
  std::string lines, ranks;
  for (const Pivot& pivot : pivots_) {
    if (has_rank(pivot) && !joins) {
      Holes holes = places_of(pivot, kept_);
      for (int e = 0; e < kept_; ++e) holes[cat("rank_", e)] = rank_name(pivot, e);
      ranks += fill_holes("$declare_ranks\n", holes);
    }
    if (!pivot.moments()) continue;
    const Holes holes = names_of(pivot, kept_);
    lines += fill_holes(lines.empty() ? "$declare_steps\n$declare_means\n" : "$declare_means\n", holes);
  }
  return lines + ranks;
}

std::string OnlinePass::before(Io& io) {
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
    if (has_rank(pivot)) continue;
    if (pivot.moments()) keep(pivot.count());
    for (const OnlineSum* sum : pivot.sums) keep(pivot.moments() ? sum->lower[0] : pivot.step);
  }
  return lines;
}

std::string OnlinePass::after(Io& io, const Values& arguments) {
  std::string lines;
  Holes in_time;
  std::string& follow = in_time["follow"];
  for (const Pivot& pivot : pivots_) {
    if (!pivot.moments()) continue;
    if (in_time.size() == 1) in_time.merge(pieces_in(dialect_, type_of(pivot.step)));
    follow += follow_means(io, pivot);
  }
  if (!follow.empty()) lines = fill_holes("$follow_means_in_time\n", in_time);
  for (const Pivot& pivot : pivots_)  // first, as what waits for the same extreme follows it
    if (pivot.places()) lines += note_places(io, pivot, arguments);
  for (const Pivot& pivot : pivots_) {
    if (pivot.places()) continue;
    if (!pivot.moments()) lines += follow_maxima(pivot);
    lines += terms(io, pivot, arguments);
  }
  return lines;
}

std::string OnlinePass::follow_means(Io& io, const Pivot& pivot) const {
  Holes holes = names_of(pivot, kept_);
  holes["over"] = io.unique("n");
  holes["count"] = accumulator_(pivot.count(), 0), holes["count_before"] = before_.at({pivot.count(), 0});
  for (int e = 0; e < kept_; ++e) {
    holes[cat("now_", e)] = io.unique("m"), holes[cat("d_", e)] = io.unique("delta");
    holes[cat("total_", e)] = accumulator_(pivot.step, e);
    for (std::size_t s = 0; s < pivot.sums.size(); ++s) {
      const OnlineSum& sum = *pivot.sums[s];
      holes[cat("change_", s, "_", e)] =
          change(sum, cat("$d_", e), before_.at({sum.lower[0], e}), first_moment(sum, accumulator_, e));
    }
  }
  return fill_holes("$follow_means\n", holes);
}

std::string OnlinePass::follow_maxima(const Pivot& pivot) const {
  Holes holes = names_of(pivot, kept_);
  for (int e = 0; e < kept_; ++e)
    holes[cat("before_", e)] = before_.at({pivot.step, e}), holes[cat("top_", e)] = accumulator_(pivot.step, e);
  return fill_holes("$follow_maxima\n", holes);
}

std::string OnlinePass::follow_extremes(const Pivot& pivot) const {
  Holes holes = places_of(pivot, kept_);
  for (int e = 0; e < kept_; ++e) holes[cat("before_", e)] = before_.at({pivot.step, e});
  return fill_holes("$follow_extremes\n", holes);
}

std::string OnlinePass::note_places(Io& io, const Pivot& pivot, const Values& arguments) const {
  const std::vector<std::string>& values = arguments.at(pivot.step);
  Holes holes = places_of(pivot, kept_);
  holes["values"] = numbers(0, static_cast<int>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int e = kept_ > 1 ? static_cast<int>(i) : 0;
    holes[cat("value_", i)] = values[i], holes[cat("ordinal_", i)] = arguments.at(pivot.sums[0]->sum)[i];
    holes[cat("top_of_", i)] = cat("$top_", e), holes[cat("to_", i)] = cat("$place_", e);
    holes[cat("key_", i)] = has_rank(pivot) ? io.unique("key") : "", holes[cat("rank_for_", i)] = rank_name(pivot, e);
  }
  if (!has_rank(pivot)) return follow_extremes(pivot) + fill_holes("$note_places\n", holes);
  const bool largest = program_.steps[static_cast<std::size_t>(pivot.step)].elementary == Elementary::max;
  holes["rank_of"] = cat(largest ? "tern_rank_of_max(" : "tern_rank_of_min(", kFirst, ")");
  return fill_holes("$note_by_rank\n", holes);
}

std::string OnlinePass::terms(Io& io, const Pivot& pivot, const Values& arguments) const {
  const std::vector<std::string>& values = arguments.at(pivot.step);
  Holes holes = names_of(pivot, kept_);
  for (int e = 0; e < kept_; ++e) {
    holes[cat("shift_", e)] = io.unique("s");
    holes[cat("shift_of_", e)] =
        pivot.moments() ? mean_name(pivot, e) : cat("$finite(", accumulator_(pivot.step, e), ")");
  }
  holes["values"] = numbers(0, static_cast<int>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int e = kept_ > 1 ? static_cast<int>(i) : 0;
    const std::string base = holes[cat("base_", i)] = io.unique("p");
    const std::string difference = cat("$sub(", values[i], ", $shift_", e, ")");
    holes[cat("base_of_", i)] = pivot.moments() ? difference : cat("$exp(", difference, ")");
    for (std::size_t s = 0; s < pivot.sums.size(); ++s) {
      const OnlineSum& sum = *pivot.sums[s];
      std::string& term = holes[cat("term_", s, "_", i)] = sum.power == 2 ? cat("$mul(", base, ", ", base, ")") : base;
      if (sum.weight >= 0) term = cat("$mul(", arguments.at(sum.sum)[i], ", ", term, ")");
      holes[cat("to_", s, "_", i)] = accumulator_(sum.sum, e);
    }
  }
  return fill_holes("$terms\n", holes);
}

std::string OnlinePass::join(Io& io, const Part& part) {
  std::string lines;
  for (const Pivot& pivot : pivots_)
    lines += pivot.places()    ? join_places(io, pivot, part)
             : pivot.moments() ? join_moments(io, pivot, part)
                               : join_powers(io, pivot, part);
  return lines;
}
std::string OnlinePass::join_places(Io& io, const Pivot& pivot, const Part& part) const {
  Holes holes = places_of(pivot, 1);
  holes["part_top"] = part(pivot.step), holes["part_place"] = part(pivot.sums[0]->sum);
  holes["both"] = io.unique("m"), holes["copy"] = io.unique("part");
  return fill_holes("$join_places\n", holes);
}
std::string OnlinePass::join_powers(Io& io, const Pivot& pivot, const Part& part) const {
  Holes holes = names_of(pivot, 1);
  holes["top"] = accumulator_(pivot.step, 0), holes["part_top"] = part(pivot.step);
  holes["both"] = io.unique("m");
  for (std::size_t s = 0; s < pivot.sums.size(); ++s)
    holes[cat("copy_", s)] = io.unique("part"), holes[cat("part_", s)] = part(pivot.sums[s]->sum);
  return fill_holes("$join_powers\n", holes);
}
std::string OnlinePass::join_moments(Io& io, const Pivot& pivot, const Part& part) const {
  const auto part_of = [&](int step, int) { return part(step); };
  Holes holes = names_of(pivot, 1);
  holes["total"] = accumulator_(pivot.step, 0), holes["count"] = accumulator_(pivot.count(), 0);
  holes["part_total"] = part(pivot.step), holes["part_count"] = part(pivot.count());
  holes["both"] = io.unique("m"), holes["d"] = io.unique("delta"), holes["part_d"] = io.unique("delta");
  for (std::size_t s = pivot.sums.size(); s-- > 0;) {
    const OnlineSum& sum = *pivot.sums[s];
    const int zeroth = sum.lower[0];
    holes[cat("copy_", s)] = io.unique("part"), holes[cat("part_", s)] = part(sum.sum);
    holes[cat("part_change_", s)] = change(sum, "$part_d", part(zeroth), first_moment(sum, part_of, 0));
    holes[cat("change_", s)] = change(sum, "$d", accumulator_(zeroth, 0), first_moment(sum, accumulator_, 0));
  }
  return fill_holes("$join_moments\n", holes);
}

std::string OnlinePass::align(Io& io, bool joined) const {
  std::string lines;
  for (const Pivot& pivot : pivots_) {
    if (!joined && !pivot.moments()) continue;  // an invocation's own result is all there is
    if (pivot.places()) {
      Holes holes = places_of(pivot, kept_);
      for (int e = 0; e < kept_; ++e) holes[cat("joined_top_", e)] = result_(pivot.step, e);
      lines += fill_holes("$align_places\n", holes);
      continue;
    }
    Holes holes = names_of(pivot, kept_);
    holes["over"] = io.unique("n");
    if (pivot.moments())
      holes["joined_count"] = result_(pivot.count(), 0), holes["count"] = accumulator_(pivot.count(), 0);
    for (int e = 0; e < kept_; ++e) {
      holes[cat("d_", e)] = io.unique("delta");
      holes[cat("top_", e)] = accumulator_(pivot.step, e);
      holes[cat("joined_top_", e)] = holes[cat("joined_total_", e)] = result_(pivot.step, e);
      for (std::size_t s = 0; s < pivot.sums.size() && pivot.moments(); ++s) {
        const OnlineSum& sum = *pivot.sums[s];
        holes[cat("change_", s, "_", e)] =
            change(sum, cat("$d_", e), accumulator_(sum.lower[0], e), first_moment(sum, accumulator_, e));
      }
    }
    lines += fill_holes(pivot.moments() ? "$align_moments\n" : "$align_powers\n", holes);
  }
  return lines;
}

std::string OnlinePass::finished(Io& io, int sum, int e, const std::string& raw, const std::string& shift) const {
  const OnlineSum& s = *online_sum(program_, sum);
  Holes holes = pieces_in(dialect_, type_of(sum));
  holes["sum"] = result_(sum, e), holes["joined"] = raw, holes["shift"] = shift;
  if (s.power == 0) {
    holes["top"] = result_(s.pivot, e);
    return fill_holes("$finish_powers\n", holes);
  }
  holes["d"] = io.unique("delta");
  holes["total"] = result_(s.pivot, e), holes["count"] = result_(s.count, 0);
  holes["change"] = change(s, "$d", result_(s.lower[0], e), first_moment(s, result_, e), "change_of_squares_by_last");
  return fill_holes("$finish_moments\n", holes);
}

}  // namespace tern::detail_gpu
