#include "gpu/reductions/reduce_text.hpp"

#include <algorithm>
#include <map>

#include "gpu/text/kernel_file.hpp"
#include "gpu/reductions/reduce_join.hpp"
#include "gpu/reductions/reduce_online.hpp"
#include "gpu/reductions/reduce_staged_text.hpp"
#include "gpu/reductions/reduce_values.hpp"

namespace tern::detail_gpu {

using detail::Step;

namespace {

constexpr const char* kReduction =
#include "gpu/reductions/reduce.wgsl.inc"
    ;
constexpr const char* kRow =
#include "gpu/reductions/reduce_row.wgsl.inc"
    ;
constexpr const char* kPass =
#include "gpu/reductions/reduce_pass.wgsl.inc"
    ;

/// Workgroup memory that the results of several reductions may take together.
constexpr int kJoinedBytes = 8192;

/// A piece of reduce_traversal.wgsl around lines.
std::string with_lines(const char* piece, const std::string& lines) {
  Holes holes = reduce_pieces();
  holes["lines"] = lines;
  return fill_holes(piece, holes);
}

class ReduceText : ReduceValues {
 public:
  explicit ReduceText(const ReducePlan& kernel) : ReduceValues(kernel) {}

  std::string module() {
    Holes holes;
    fill_place(holes);
    holes["known_results"] = known_results();
    holes["resident_rows"] = kernel_.resident() ? hold() : std::string();
    StagedText staged(kernel_, io_, dialect_);
    std::string& passes = holes["passes"];
    for (std::size_t p = 0; p < kernel_.passes.size(); ++p) passes += pass(p);
    const std::string once = results();
    holes["outputs_after_all_passes"] = last_outputs();
    // (NVRTC warns of names without a use: a staged row is one invocation's, and only single results ask for ty.)
    holes["fast_if_used"] = kernel_.staged() && once.empty() ? "" : kernel_.tiling.rows ? "ty" : "tx";
    holes["results"] = once.empty() ? once : with_lines("$if_first\n", once);
    holes["rows_of_invocation"] = staged.row_by_row(fill_holes(kRow, holes));
    const std::string body = fill_holes(kReduction, holes);
    std::vector<Shared> shared;
    const int values = kernel_.tiling.threads() * shared_;
    if (joins_words_) shared.push_back({"u32", "shared_words", values});
    if (joins_pairs_) shared.push_back({"u64", "shared_pairs", values});
    staged.share(shared);
    const Launch& launch = kernel_.plan.launch;
    return kernel_.backend.dialect().module(
        {"reduction", launch.bindings, launch.params.size(), launch.threads, shared, functions_, body});
  }

 private:
  /// Where an invocation is, and its part of the reduced range.
  void fill_place(Holes& holes) const {
    const ThreadGrid& tiling = kernel_.tiling;
    const std::string segments = io_.param(kernel_.segments_slot), across = cat(tiling.across, "u");
    holes["row_group"] = kernel_.stage.splits ? cat("group / ", segments) : std::string("group");
    holes["segment"] = kernel_.stage.splits ? cat("group - row_group * ", segments) : std::string("0u");
    holes["slow"] = tiling.rows ? "tx" : "ty";
    holes["fast_count"] = cat(tiling.rows ? tiling.along : tiling.across, "u");
    holes["first_kept"] = kernel_.staged() ? StagedText::first_kept(kernel_)
                          : kernel_.kept_group() > 1
                              ? cat("(row_group * ", across, " + tx) * ", kernel_.kept_group(), "u")
                              : cat("row_group * ", across, " + tx");
    holes["kept_count"] = io_.param(kernel_.kept_slot), holes["length"] = io_.param(kernel_.length_slot);
    holes["segment_length"] = io_.param(kernel_.segment_slot);
    holes["kept_coordinates"] = kept_coordinates_;
  }

  /// Results of passes of earlier kernels.
  std::string known_results() const {
    std::string lines;
    Holes holes = reduce_pieces();
    holes["kept_count"] = io_.param(kernel_.kept_slot), holes["kept_group"] = cat(kernel_.kept_group());
    for (std::size_t i = 0; i < kernel_.stage.known.size(); ++i) {
      const Access& a = kernel_.plan.access(kernel_.known_access[i]);
      const int s = kernel_.stage.known[i].step;
      holes["loaded"] = io_.loaded(a, kFirst), holes["base"] = io_.param(a.base);
      for (int e = 0; e < kernel_.positions(s); ++e) {
        holes["result"] = red(s, e), holes["further"] = e ? cat(" + ", e, "u") : std::string();
        lines += fill_holes("$known\n", holes);
      }
    }
    return lines;
  }

  // ---- passes ----
  OnlinePass online_pass(const std::vector<int>& reductions) const {
    return {dialect_,
            printer_,
            kernel_.program,
            reductions,
            kernel_.kept_group(),
            [this](int s, int e) { return acc(s, e); },
            [this](int s, int e) { return red(s, e); }};
  }

  std::string pass(std::size_t number) {
    const std::vector<int>& reductions = kernel_.passes[number];
    const bool joins = kernel_.stage.joins;
    const std::vector<int> outputs =
        joins ? std::vector<int>{} : kernel_.outputs_of_pass(kernel_.stage.first + static_cast<int>(number));
    if (reductions.empty() && outputs.empty()) return "";
    OnlinePass online = online_pass(reductions);
    Holes holes;
    holes["beside_accumulators"] = online.declare(joins);
    std::string &accumulators = holes["accumulators"], &finished = holes["finish_sums"];
    for (const int s : reductions)
      for (int e = 0; e < kernel_.positions(s); ++e)
        accumulators += cat("var ", acc(s, e), " = ", printer_.identity(s), ";\n");
    holes["traversal"] =
        joins ? join_partials(online, reductions) : traversal(visit(online, number, reductions, outputs));
    std::vector<int> plain, sums;
    for (const int s : reductions) (online_sum(kernel_.program, s) ? sums : plain).push_back(s);
    holes["join"] = join_threads(plain);
    holes["align_sums"] = online.align(io_, kernel_.tiling.along > 1);
    holes["join_sums"] = join_threads(sums);
    for (const int s : sums) finished += finish_online(online, s);
    return fill_holes(kPass, holes);
  }
  /// The traversal that writes what reads the last reductions.
  std::string last_outputs() {
    const std::vector<int> last = kernel_.outputs_of_pass(kernel_.stage.last + 1);
    if (kernel_.stage.splits || last.empty()) return "";
    OnlinePass none = online_pass({});
    return with_lines("$if_inside\n", traversal(visit(none, kernel_.passes.size(), {}, last)));
  }

  /// The arrays of what is held, and the loads of the rows.
  std::string hold() {
    Holes holes = reduce_pieces();
    std::string &kept = holes["kept"], &held = holes["held"], loads;
    holes["kept_count"] = cat(kernel_.resident.steps * kernel_.group);
    for (const auto& list : kernel_.resident.values)
      for (const int s : list) kept += cat(kept.empty() ? "" : " ", s), holes[cat("type_", s)] = printer_.type(s);
    for (const int a : kernel_.resident.accesses) {
      const int vectors = kernel_.group * kernel_.plan.access(a).size() / kVectorBytes;
      held += cat(held.empty() ? "" : " ", a), holes[cat("vectors_", a)] = cat(kernel_.resident.steps * vectors);
      loads += io_.hold(a, position(true), cat("held", a), "u");
    }
    holes["load"] = traversal(loads);
    return fill_holes("$resident_rows\n", holes);
  }
  /// The body of a traversal: the functions of a pass, its reductions, and what it writes.
  std::string visit(OnlinePass& online, std::size_t pass, const std::vector<int>& reductions,
                    const std::vector<int>& outputs) {
    std::vector<int> wanted = kernel_.wanted_of(pass);
    const std::vector<int> kept = kernel_.resident() ? kernel_.resident.values[pass] : std::vector<int>{};
    wanted.insert(wanted.end(), kept.begin(), kept.end());
    const Function f = function(cat("pass", pass), wanted, pass);
    const Position at = position(true);
    std::vector<std::string> values;
    std::string body = calls(f, at, values);
    std::size_t taken = 0;
    OnlinePass::Values arguments;
    for (const bool weights : {false, true})
      for (const int s : reductions) {
        const detail::OnlineSum* online = online_sum(kernel_.program, s);
        if (weights ? online && online->weight >= 0 : !online) arguments[s] = results_of(f, values, taken++);
      }
    body += online.before(io_);
    for (const int s : reductions)
      if (!online_sum(kernel_.program, s) && !online.takes(s)) body += accumulate(s, arguments.at(s));
    body += online.after(io_, arguments);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      body += io_.store(kernel_.access_of_full(outputs[o]), at, results_of(f, values, taken + o), "");
    for (std::size_t i = 0; i < kept.size(); ++i)
      for (std::size_t e = 0; e < values.size(); ++e)
        body += cat(kept_value(kept[i], static_cast<int>(e)), " = ",
                    ProgramPrinter::result(f, values[e], taken + outputs.size() + i), ";\n");
    return body;
  }
  /// Reduction s of the group's values.
  std::string accumulate(int s, const std::vector<std::string>& values) const {
    const Step& argument = kernel_.step(kernel_.step(s).args[0]);
    if (kernel_.tiling.rows && kernel_.counts(s))
      return cat(acc(s, 0), " = ", printer_.combined(s, acc(s, 0), literal(Number(values.size()), argument.type)),
                 ";\n");
    std::string lines;
    for (std::size_t e = 0; e < (kernel_.counts(s) ? 1 : values.size()); ++e) {
      const std::string to = acc(s, kernel_.tiling.rows ? 0 : static_cast<int>(e));
      lines += cat(to, " = ", printer_.combined(s, to, values[e]), ";\n");
    }
    return lines;
  }
  std::string join_partials(OnlinePass& online, const std::vector<int>& reductions) {
    std::string body;
    std::map<int, std::string> parts;
    for (std::size_t k = 0; k < reductions.size(); ++k) {
      const Access& a = kernel_.plan.access(kernel_.partial_access[k]);
      std::string& part = parts[reductions[k]] =
          io_.loaded(a, cat(io_.param(a.base), " + r * ", io_.param(kernel_.kept_slot), " + k"));
      if (online.empty()) continue;  // it is read once
      const std::string name = io_.unique("part");
      body += cat("let ", name, " = ", part, ";\n"), part = name;
    }
    body += online.join(io_, [&](int s) { return parts.at(s); });
    for (const int s : reductions)
      if (!online_sum(kernel_.program, s))
        body += cat(acc(s, 0), " = ", printer_.combined(s, acc(s, 0), parts.at(s)), ";\n");
    Holes holes = reduce_pieces();
    holes["along"] = cat(kernel_.tiling.along), holes["visit"] = body;
    return fill_holes("$join_partials\n", holes);
  }

  /// All invocations of a row (or of a group of columns) get the results. Reductions that join alike wait together.
  std::string join_threads(const std::vector<int>& reductions) {
    std::string lines;
    for (std::size_t k = 0; k < reductions.size();) {
      const int s = reductions[k];
      const bool wide = detail::is_wide(kernel_.step(s).type);
      JoinText join{kernel_.backend.dialect(), kernel_.tiling, printer_.type(s), wide, {}, {}};
      const int most = std::max(1, kJoinedBytes / (kernel_.tiling.threads() * kernel_.kept_group() * (wide ? 8 : 4)));
      for (int n = 0; n < most && k < reductions.size() && kernel_.joins_alike(reductions[k], s); ++n, ++k)
        for (int e = 0; e < kernel_.positions(reductions[k]); ++e)
          join.from.push_back(acc(reductions[k], e)), join.to.push_back(joined(reductions[k], e));
      shared_ = std::max(shared_, static_cast<int>(join.from.size()));
      if (join.takes_memory()) (wide ? joins_pairs_ : joins_words_) = true;
      lines += join.text(printer_.combined(s, kFirst, kSecond));
    }
    return lines;
  }
  /// From the joined sum to the one the program means; partial results stay as they are.
  std::string finish_online(const OnlinePass& online, int s) {
    std::string lines;
    for (int e = 0; e < kernel_.kept_group(); ++e)
      lines += cat(kernel_.stage.splits ? "let " : "var ", red(s, e), " = ", joined(s, e), ";\n");
    if (kernel_.stage.splits || online_sum(kernel_.program, s)->is_place()) return lines;
    const Function f = function(cat("shift", s), {online_sum(kernel_.program, s)->shift});
    std::vector<std::string> shifts;
    std::string body = calls(f, position(false), shifts);
    for (int e = 0; e < kernel_.kept_group(); ++e)
      body += online.finished(io_, s, e, joined(s, e), shifts[static_cast<std::size_t>(e)]);
    return lines + with_lines("$if_inside\n", body);
  }

  // ---- results ----
  /// Lines that write a reduction's results for an invocation's kept positions.
  std::string write(int access, const std::string& index, int s) const {
    std::string lines;
    for (int e = 0; e < kernel_.kept_group(); ++e)
      lines += io_.stored(kernel_.plan.access(access), e ? cat(index, " + ", e, "u") : index, red(s, e));
    return lines;
  }
  /// What one invocation of each kept position writes: partial results, what later kernels need, and outputs.
  std::string results() {
    const auto base = [&](int access) { return io_.param(kernel_.plan.access(access).base); };
    std::string once;
    if (kernel_.stage.splits)
      for (std::size_t k = 0; k < kernel_.passes[0].size(); ++k) {
        const int access = kernel_.partial_access[k];
        const std::string part = cat(" + (segment + ", io_.param(kernel_.first_segment_slot), ") * ");
        once += write(access, cat(base(access), part, io_.param(kernel_.kept_slot), " + k"), kernel_.passes[0][k]);
      }
    for (std::size_t k = 0; k < kernel_.stage.results.size(); ++k) {
      const int access = kernel_.result_access[k];
      once += write(access, cat(base(access), " + k"), kernel_.stage.results[k].step);
    }
    if (kernel_.reduced_outputs.empty()) return once;
    const Function f = function("finish", kernel_.steps_of(kernel_.reduced_outputs));
    const Position at = position(false);
    std::vector<std::string> values;
    once += calls(f, at, values);
    for (std::size_t o = 0; o < kernel_.reduced_outputs.size(); ++o)
      once += io_.store(kernel_.reduced_access[o], at, results_of(f, values, o), "");
    return once;
  }

  int shared_ = 1;  // values that each invocation has in workgroup memory, at most
  bool joins_words_ = false, joins_pairs_ = false;  // in that memory
};

}  // namespace

std::string reduce_text(const ReducePlan& plan) { return ReduceText(plan).module(); }

}  // namespace tern::detail_gpu
