// What the kernels of attention on GPUs share: the formula of the scores, and sizes among a plan's parameters.
#pragma once
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/text/factored.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/printer.hpp"
#include "gpu/text/text.hpp"
#include "primitives/attention/attention.hpp"

namespace tern::detail_gpu {

/// What a printed formula leaves to the kernel to multiply by.
enum class LeftToKernel { nothing, positive_factor, factor };
/// How a formula is printed where the dialect reassociates: for scores that are neighbours along an axis (-1: along
/// both), and what it leaves to the kernel.
struct ScoreStyle {
  int axis = -1;
  bool few = false;  // fewer rows and columns than kFewPositions
  LeftToKernel left = LeftToKernel::nothing;
  bool scale_is_positive = false;
};

/// The formula of the scores, with its operands among a plan's accesses.
class Scores {
 public:
  Scores(Plan& plan, const detail::Program* program, std::span<const Operand> inputs, int placed)
      : plan_(&plan), program_(program), placed_(placed) {
    if (!program) return;
    for (const detail::ProgramOutput& o : program->outputs) wanted_.push_back(o.step);
    sources_ = detail_gpu::sources_of(*program, wanted_, [this](int s) { return is_source(s); });
    for (const int s : sources_) {
      if (is_placed(s) || step(s).kind == detail::StepKind::position) continue;
      const View& view = inputs[static_cast<std::size_t>(step(s).index - placed)].view;
      accesses_[s] = plan.add_access(view, {view.strides.begin(), view.strides.end()}, false);
    }
    std::vector<Operand> all(static_cast<std::size_t>(placed));
    all.insert(all.end(), inputs.begin(), inputs.end());
    const auto before = plan.launch.numbers.size();
    slots_ = plan.add_numbers(*program, all, 1);
    // All programs of a request have one list of operands: numbers are found by their places in the first one's.
    for (auto i = before; i < plan.launch.numbers.size(); ++i) plan.launch.numbers[i].input -= placed - 1;
  }
  /// `apart`: x and what is added along the axis are to be parts of their own, where they can be. `taken`: what is left
  /// to the kernel.
  Function function(const Dialect& dialect, const std::string& name, const ScoreStyle& style, bool apart, Part part,
                    Taken* taken) const {
    const ProgramPrinter printer(*program_, dialect, slots_);
    const auto source = [this](int s) { return is_source(s); };
    if (!dialect.reassociates()) return printer.function(name, wanted_, source);
    Neighbours neighbours{[&](int s) { return varies(s, style.axis); }, -1, style.few};
    LeftOut left_out{style.left != LeftToKernel::nothing};
    if (style.left == LeftToKernel::positive_factor)
      left_out.positive = [&](int input) { return input == placed_ && style.scale_is_positive; };
    for (const int s : sources_) {
      if (step(s).kind == detail::StepKind::position && axis_of(s) == style.axis) neighbours.along = s;
      if (apart && is_placed(s)) left_out.bare = s;
    }
    return factored_function(printer, neighbours, name, wanted_[0], source, left_out, part, taken);
  }
  bool defined() const { return program_ != nullptr; }
  /// Whether it is finite where placed values but the first are.
  bool stays_finite() const {
    return detail_gpu::stays_finite(*program_, wanted_[0], [this](int s) { return is_placed(s) && step(s).index > 0; });
  }
  /// Whether an operand's element depends on the column, or on a computed index.
  bool reads_by_column(const Plan& plan) const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const auto& of_step) {
      const Access& a = plan.access(of_step.second);
      return a.table >= 0 || a.steps.back() != '0';
    });
  }
  /// Lines that apply the function to `placed` values at [batch, head, row, column], and the name of the result.
  std::string apply(Io& io, const Dialect& dialect, const Function& f, const ScoreStyle& style,
                    const std::vector<std::string>& placed, const std::vector<std::string>& at,
                    std::string& result) const {
    std::string lines;
    std::vector<std::string> arguments;
    for (const int s : f.sources) {
      if (is_placed(s)) arguments.push_back(placed[static_cast<std::size_t>(step(s).index)]);
      else if (step(s).kind == detail::StepKind::position) {
        const bool along = dialect.reassociates() && axis_of(s) == style.axis;
        const std::string place = along ? "first" : at[static_cast<std::size_t>(axis_of(s))];
        arguments.push_back(cat("bitcast<i32>(", place, ")"));
      } else {
        std::vector<std::string> values;
        lines += io.load(accesses_.at(s), {at, -1, 1}, values);
        arguments.push_back(values[0]);
      }
    }
    if (dialect.reassociates()) arguments.push_back("ahead");
    const std::string value = io.unique("y");
    lines += cat("let ", value, " = ", dialect.call(f.name, arguments), ";\n");
    result = ProgramPrinter::result(f, value, 0);
    return lines;
  }

 private:
  const detail::Step& step(int s) const { return program_->steps[static_cast<std::size_t>(s)]; }
  bool is_source(int s) const {
    return step(s).kind == detail::StepKind::input || step(s).kind == detail::StepKind::position;
  }
  bool is_placed(int s) const { return step(s).kind == detail::StepKind::input && step(s).index < placed_; }
  int axis_of(int s) const { return step(s).index < 0 ? step(s).index + 4 : step(s).index; }
  /// Whether a source differs among scores that are neighbours along an axis; of -1 along both.
  bool varies(int s, int axis) const {
    if (is_placed(s)) return true;
    const auto along = [&](int a) { return a >= 2 && (axis < 0 || a == axis); };
    if (step(s).kind == detail::StepKind::position) return along(axis_of(s));
    const Access& a = plan_->access(accesses_.at(s));
    return a.table >= 0 || (along(2) && a.steps[2] != '0') || (along(3) && a.steps[3] != '0');
  }
  const Plan* plan_;
  const detail::Program* program_;
  int placed_;
  std::vector<int> wanted_, sources_, slots_;
  std::map<int, int> accesses_;
};

/// A formula of a request and the one that blocks seen whole have in its place, as functions of a kernel.
class ScorePair {
 public:
  ScorePair(Plan& plan, const detail::Program* program, const detail::Program* open, std::span<const Operand> inputs,
            int placed)
      : program_(plan, program, inputs, placed), open_(plan, open, inputs, placed) {}
  ScorePair(Plan& plan, const detail::Program* program, std::span<const Operand> inputs, int placed)
      : ScorePair(plan, program, nullptr, inputs, placed) {}
  bool defined() const { return program_.defined(); }
  bool reads_by_column(const Plan& plan) const { return program_.reads_by_column(plan) || open_.reads_by_column(plan); }
  bool stays_finite() const { return program_.stays_finite() && (!open_.defined() || open_.stays_finite()); }
  /// What both leave to the kernel.
  Taken taken(const Dialect& d, const ScoreStyle& style) const {
    Taken of_one, of_open;
    if (!program_.defined() || !d.reassociates() || style.left == LeftToKernel::nothing) return {};
    const bool apart = style.left == LeftToKernel::positive_factor && !open_.defined();
    program_.function(d, "", style, apart, Part::rest, &of_one);
    if (open_.defined()) open_.function(d, "", style, apart, Part::rest, &of_open);
    return !open_.defined() || of_one.factor == of_open.factor ? of_one : Taken();
  }
  std::string functions(const Dialect& d, const std::string& name, const ScoreStyle& style = {}) const {
    if (!program_.defined()) return "";
    std::string text = function(program_, d, name, style).text;
    if (open_.defined()) text += function(open_, d, name + "_open", style).text;
    if (taken(d, style).apart)
      text += function(program_, d, name + "_along", style, Part::along).text +
              function(program_, d, name + "_begin", style, Part::begin).text;
    return text;
  }
  /// Lines that give `to` a part of a formula that is taken apart, in which no placed value is read.
  std::string apply_part(Io& io, const Dialect& d, const std::string& name, Part part,
                         const std::vector<std::string>& at, const std::string& to, const ScoreStyle& style) const {
    if (!taken(d, style).apart) return "";
    const std::string of = name + (part == Part::along ? "_along" : "_begin");
    std::string result;
    const std::string lines =
        program_.apply(io, d, function(program_, d, of, style, part), style, {"0.0f"}, at, result);
    return cat(lines, to, " = ", result, ";\n");
  }
  /// Lines that give `to` the result; `seen_block` is in scope where there are two.
  std::string apply(Io& io, const Dialect& d, const std::string& name, const std::vector<std::string>& placed,
                    const std::vector<std::string>& at, const std::string& to, const ScoreStyle& style = {}) const {
    const auto lines_of = [&](const Scores& scores, const std::string& of) {
      std::string result;
      const std::string lines = scores.apply(io, d, function(scores, d, of, style), style, placed, at, result);
      return cat(lines, to, " = ", result, ";\n");
    };
    if (!program_.defined()) return "";
    if (!open_.defined()) return lines_of(program_, name);
    return cat("if (seen_block == 2u) {\n", indented(lines_of(open_, name + "_open")), "} else {\n",
               indented(lines_of(program_, name)), "}\n");
  }

 private:
  Function function(const Scores& scores, const Dialect& d, const std::string& name, ScoreStyle style,
                    Part part = Part::rest) const {
    const Taken of_both = taken(d, style);
    if (of_both.factor.trivial() && !of_both.apart) style.left = LeftToKernel::nothing;
    return scores.function(d, name, style, of_both.apart, part, nullptr);
  }
  Scores program_, open_;
};

/// Sizes, and what is seen by place, as parameters of a plan.
class ScoreSizes {
 public:
  ScoreSizes(Plan& plan, const Dialect& dialect, const detail::AttentionSizes& s, detail::ComputeType type,
             std::int64_t tiles)
      : sizes(s), dialect_(dialect), type_(type) {
    const auto p = [&](std::int64_t n) { return plan.add_param(static_cast<std::uint64_t>(n)); };
    rows = p(s.rows), columns = p(s.columns), depth = p(s.depth), width = p(s.width), heads = p(s.heads);
    groups = p(s.groups), this->tiles = p(tiles), shift = p(s.columns - s.rows), window = p(s.window);
    if (type == detail::ComputeType::f64) {
      const auto bits = std::bit_cast<std::uint64_t>(s.scale);
      scale = plan.add_param(bits & 0xffffffffu), plan.add_param(bits >> 32);
    } else scale = plan.add_param(std::bit_cast<std::uint32_t>(static_cast<float>(s.scale)));
    if (s.parts > 1) {
      part_groups = p(s.batch * s.heads * tiles), part_columns = p(s.part_columns()), batches = p(s.batch);
    }
    plan.note(static_cast<char>(s.causal)), plan.note(static_cast<char>(s.window > 0));
    plan.note(static_cast<char>(s.parts > 1));
  }
  std::string p(int slot) const { return dialect_.param(slot); }
  std::string integer(int slot) const { return cat("bitcast<i32>(", p(slot), ")"); }
  std::string scaling() const {
    return type_ == detail::ComputeType::f64 ? cat("bitcast<f64>(tern_join(", p(scale), ", ", p(scale + 1), "))")
                                             : cat("bitcast<f32>(", p(scale), ")");
  }
  /// The holes both kernels have.
  Holes holes() const {
    return {{"type", compute_type_name(type_)},
            {"barrier", dialect_.barrier()},
            {"lowest", extreme_literal(false, type_)},
            {"highest", extreme_literal(true, type_)},
            {"rows", p(rows)},
            {"columns", p(columns)},
            {"depth", p(depth)},
            {"width", p(width)},
            {"heads", p(heads)},
            {"groups", p(groups)},
            {"tiles", p(tiles)},
            {"shift", p(shift)},
            {"scale", scaling()},
            // A share's error counts beside 1: where the language's own is good to 3 + 2|x| units, so is its sum.
            {"exp", type_ == detail::ComputeType::f32 && !dialect_.native()
                        ? cat("tern_share(", kFirst, ")")
                        : dialect_.elementary(detail::Elementary::exp, type_, {kFirst})}};
  }
  /// Whether a column is seen from the row that `middle` is of.
  std::string seen(const std::string& column, const std::string& middle, bool lengths) const {
    const std::string j = cat("bitcast<i32>(", column, ")");
    std::string all = cat("(", column, " < ", lengths ? std::string("length") : p(columns), ")");
    if (sizes.causal) all += cat(" && (", j, " <= ", middle, ")");
    if (sizes.window > 0) all += cat(" && (abs(", middle, " - ", j, ") < ", integer(window), ")");
    return all;
  }
  /// begin and end of the columns that `tile` rows from `first` on may see: the same for all invocations, as barriers
  /// ask. It begins at a multiple of `step`.
  std::string columns_of(const std::string& first, int tile, std::int64_t step = 32) const {
    return by_place(first, tile, step) + of_part();
  }
  /// The same of the rows that may see `tile` columns.
  std::string rows_of(const std::string& first, int tile, std::int64_t step = 32) const {
    if (!sizes.causal && sizes.window == 0) return "";
    std::string lines = cat("let middle_of_all = bitcast<i32>(", first, ") - ", integer(shift), ";\n");
    lines += cat("begin = u32(clamp(middle_of_all", sizes.causal ? "" : cat(" - ", integer(window), " + 1"), ", 0, ",
                 integer(rows), ")) / ", step, "u * ", step, "u;\n");
    if (sizes.window > 0)
      lines += cat("end = u32(clamp(middle_of_all + ", tile, " + ", integer(window), ", 0, ", integer(rows), "));\n");
    return lines;
  }
  /// The stretch of columns that a workgroup has, and its number within that.
  std::string part_lines(const std::string& all) const {
    if (sizes.parts == 1) return cat("let own_group = ", all, ";\n");
    return cat("let part = ", all, " / ", p(part_groups), ";\nlet own_group = ", all, " - part * ", p(part_groups),
               ";\n");
  }
  /// The batch that results are written to.
  std::string out_batch() const {
    return sizes.parts == 1 ? std::string("batch") : cat("(part * ", p(batches), " + batch)");
  }

  const detail::AttentionSizes& sizes;
  int rows, columns, depth, width, heads, groups, tiles, shift, window, scale;
  int part_groups = -1, part_columns = -1, batches = -1;

 private:
  std::string of_part() const {
    if (sizes.parts == 1) return "";
    const std::string from = cat("part * ", p(part_columns));
    return cat("begin = max(begin, ", from, ");\nend = min(end, ", from, " + ", p(part_columns), ");\n");
  }
  std::string by_place(const std::string& first, int tile, std::int64_t step) const {
    if (!sizes.causal && sizes.window == 0) return "";
    std::string lines = cat("let middle_of_all = bitcast<i32>(", first, ") + ", integer(shift), ";\n");
    if (sizes.window > 0)
      lines += cat("begin = u32(clamp(middle_of_all - ", integer(window), " + 1, 0, ", integer(columns),
                   ")) / ", step, "u * ", step, "u;\n");
    return lines + cat("end = u32(clamp(middle_of_all + ", tile, sizes.causal ? "" : cat(" + ", integer(window)),
                       ", 0, ", integer(columns), "));\n");
  }
  const Dialect& dialect_;
  detail::ComputeType type_;
};
inline int add_whole(Plan& plan, const View& view, bool written = false) {
  return plan.add_access(view, {view.strides.begin(), view.strides.end()}, written);
}
/// Lines that load one element and give it to `to`.
inline std::string fetch_to(Io& io, int access, const std::vector<std::string>& at, const std::string& to) {
  std::vector<std::string> values;
  const std::string lines = io.load(access, {at, -1, 1}, values);
  return lines + to + " = " + values[0] + ";\n";
}
/// Lines of a loop over tiles that give `seen_block`, and leave out tiles of which nothing is seen.
inline std::string block_lines(Io& io, const Dialect& dialect, int access, const std::string& row,
                               const std::string& column) {
  if (access < 0) return "";
  const std::vector<std::string> at{"batch", "head", cat("(", row, " / 64u)"), cat("(", column, " / 64u)")};
  std::vector<std::string> values;
  const std::string load = io.load(access, {at, -1, 1}, values);
  return cat("if (thread == 0u) {\n", indented(cat(load, "blocks_seen[0] = u32(", values[0], ");\n")), "}\n",
             dialect.load_for_all("seen_block", "blocks_seen"), "if (seen_block == 0u) { continue; }\n");
}
/// `length`, the columns of the sample, of as many as `columns`.
inline std::string length_lines(Io& io, int access, const std::string& columns) {
  if (access < 0) return "";
  return cat(fetch_to(io, access, {"batch"}, "let length_of"), "let length = min(u32(max(length_of, 0)), ", columns,
             ");\n");
}

}  // namespace tern::detail_gpu
