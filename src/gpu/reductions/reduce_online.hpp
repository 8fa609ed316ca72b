// The text of sums that are taken in the pass of the reduction that they wait for (formula/program.hpp, OnlineSum):
// fills the pieces of reduce_online.wgsl. (Larger than other classes: a hole of those pieces is a member.)
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formula/program.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/printer.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

/// The statements of a kernel for such sums of one pass. A reduction is a variable `accumulator(step, e)` while it is
/// traversed, for each kept position e of an invocation, and `result(step, e)` once the invocations have joined theirs.
class OnlinePass {
 public:
  using Name = std::function<std::string(int step, int e)>;
  /// Values of a step for each element that an invocation handles at once.
  using Values = std::map<int, std::vector<std::string>>;
  using Part = std::function<std::string(int step)>;
  /// `reductions`: all of the pass.
  OnlinePass(const Dialect& dialect, const ProgramPrinter& printer, const detail::Program& program,
             const std::vector<int>& reductions, int kept, Name accumulator, Name result);

  bool empty() const { return pivots_.empty(); }
  /// Whether `after` gives this reduction its elements, too.
  bool takes(int step) const {
    return std::any_of(pivots_.begin(), pivots_.end(), [&](const Pivot& p) { return p.step == step && has_rank(p); });
  }
  bool has_moments() const {
    return std::any_of(pivots_.begin(), pivots_.end(), [](const Pivot& pivot) { return pivot.moments(); });
  }
  /// The variables that it keeps beside the accumulators, for elements or where it joins partial results.
  std::string declare(bool joins) const;
  /// Before and after the other reductions have been given the elements of a step: `arguments` of reductions, and the
  /// sums' weights by the sums.
  std::string before(Io& io);
  std::string after(Io& io, const Values& arguments);
  /// Before the other reductions are given the partial results `part(step)` (one kept position).
  std::string join(Io& io, const Part& part);
  /// Makes an invocation's sums those for the pivots' results. Where those are its own (not `joined`), moments alone,
  /// whose mean is a step behind.
  std::string align(Io& io, bool joined) const;
  /// From the joined sum `raw` to the one the program means; `shift`: the value that is subtracted.
  std::string finished(Io& io, int sum, int e, const std::string& raw, const std::string& shift) const;

 private:
  struct Pivot {
    int step;
    std::vector<const detail::OnlineSum*> sums;  // the last is corrected by those before it
    bool moments() const { return sums[0]->power > 0; }
    bool places() const { return sums[0]->is_place(); }
    int count() const { return sums[0]->count; }
  };
  detail::ComputeType type_of(int step) const { return program_.steps[static_cast<std::size_t>(step)].type; }
  std::string mean_name(const Pivot& pivot, int e) const { return cat("mean_of_", accumulator_(pivot.step, e)); }
  Holes names_of(const Pivot& pivot, int positions) const;
  std::string follow_maxima(const Pivot& pivot) const;
  std::string terms(Io& io, const Pivot& pivot, const Values& arguments) const;
  std::string follow_means(Io& io, const Pivot& pivot) const;
  std::string join_moments(Io& io, const Pivot& pivot, const Part& part) const;
  std::string join_powers(Io& io, const Pivot& pivot, const Part& part) const;

  /// Whether the places of an extreme are found by ranks: of f32 in WGSL.
  bool has_rank(const Pivot& pivot) const {
    return pivot.places() && type_of(pivot.step) == detail::ComputeType::f32 && !dialect_.native();
  }
  std::string rank_name(const Pivot& pivot, int e) const { return cat("rank_of_", accumulator_(pivot.step, e)); }
  Holes places_of(const Pivot& pivot, int positions) const;
  std::string follow_extremes(const Pivot& pivot) const;
  std::string note_places(Io& io, const Pivot& pivot, const Values& arguments) const;
  std::string join_places(Io& io, const Pivot& pivot, const Part& part) const;

  const Dialect& dialect_;
  const ProgramPrinter& printer_;
  const detail::Program& program_;
  int kept_;
  Name accumulator_, result_;
  std::vector<Pivot> pivots_;
  std::map<std::pair<int, int>, std::string> before_;  // of a reduction's accumulator
};

}  // namespace tern::detail_gpu
