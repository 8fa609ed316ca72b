// The text and the arguments of a kernel with reductions. An invocation walks its part of the reduced axes once for
// every result that waits for a walk; the invocations of a row then join their results in workgroup memory. Some sums
// are taken together with what they wait for (gpu/reduce_online.hpp).
#include "gpu/reduce_kernel.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "backend/trace.hpp"
#include "gpu/io.hpp"
#include "gpu/reduce_held.hpp"
#include "gpu/reduce_join.hpp"
#include "gpu/reduce_online.hpp"
#include "gpu/reduce_steps.hpp"
#include "gpu/text.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;
using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

/// Workgroup memory that the results of several reductions may take together.
constexpr int kJoinedBytes = 8192;
constexpr std::int64_t kEnoughInvocations = 256 * kEnoughGroups;

class ReduceKernel : ReduceSteps {
 public:
  ReduceKernel(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const Tiling& tiling,
               const std::vector<std::int64_t>& reduced_begin, const Shape& space, Layouts layouts, bool hold = false)
      : ReduceSteps(request, stage),
        backend_(backend),
        tiling_(tiling),
        space_(space),
        begin_(reduced_begin),
        plan_(backend.limits(), request.op, 'r', layouts),
        hold_(hold) {
    lay_out();
  }
  bool holds() const { return held_(); }

  /// False, having done nothing, where there is no such kernel in vectors.
  bool run() {
    arrange();
    if (plan_.layouts() == Layouts::vectors && !(in_vectors() && has())) return false;
    if (detail::tracing())
      detail::note(cat(stage_.joins    ? "joining"
                       : stage_.splits ? "partial "
                                       : "",
                       stage_.joins   ? ""
                       : tiling_.rows ? "rows"
                                      : "columns",
                       ", ", plan_.launch.groups, " workgroups of ", tiling_.across, "x", tiling_.along,
                       group_ > 1 ? cat(", ", group_, " elements at once") : std::string(),
                       stage_.joins ? std::string()
                       : held_()    ? cat(", 1 walk, ", walks(), " in registers")
                                    : cat(", ", walks(), walks() == 1 ? " walk" : " walks")));
    backend_.queue(plan_.launch, [this] { return text(); });
    return true;
  }
  /// Whether there is such a kernel.
  bool is_there() {
    arrange();
    return has();
  }

 private:
  bool in_vectors() const {
    return kept_.sizes.size() == 1 && reduced_.sizes.size() == 1 && group_ > 1 && plan_.in_vectors();
  }
  bool has() {
    return backend_.has_kernel(plan_.layouts(), plan_.launch, [this] { return text(); });
  }
  /// The launch's numbers and key.
  void arrange() {
    Launch& launch = plan_.launch;
    launch.threads = static_cast<std::uint32_t>(tiling_.threads());
    launch.in_bounds = true;
    const std::int64_t groups = ceil_div(kept_count_, tiling_.across * kept_group());
    launch.groups = static_cast<std::uint64_t>(groups * (stage_.splits ? stage_.segments : 1));
    plan_.note(program_.serial), plan_.note(static_cast<char>(group_));
    plan_.note(held_.steps), plan_.note(tiling_.rows), plan_.note(tiling_.across), plan_.note(tiling_.along);
    plan_.note(static_cast<char>(stage_.first)), plan_.note(static_cast<char>(stage_.last));
    plan_.note(
        static_cast<char>(stage_.joins | stage_.splits << 1 | stage_.reduced_outputs << 2 | stage_.full_outputs << 3));
    for (const int o : full_outputs_) plan_.note(static_cast<std::int16_t>(o));
    for (const Stored& s : stage_.known) plan_.note(static_cast<std::int16_t>(s.step));
    for (const Stored& s : stage_.results) plan_.note(static_cast<std::int16_t>(s.step));
    for (const int axis : kept_.original) plan_.note(static_cast<char>(axis));
    for (const int axis : reduced_.original) plan_.note(static_cast<char>(axis));
    plan_.finish_key();
  }
  std::uint32_t pinned_axes() const {
    std::uint32_t pinned = 0;
    for (const int s : sources_)
      if (step(s).kind == StepKind::position && step(s).index != detail::kOrdinalAxis)
        pinned |= 1u << (step(s).index < 0 ? step(s).index + space_.rank() : step(s).index);
    return pinned;
  }

  void lay_out() {
    const int rank = space_.rank();
    std::vector<const View*> views;
    for (const int o : full_outputs_) views.push_back(&r_.outputs[static_cast<std::size_t>(o)]);
    for (const int o : reduced_outputs_) views.push_back(&r_.outputs[static_cast<std::size_t>(o)]);
    std::vector<const Operand*> operands;
    for (const int s : sources_) {
      if (step(s).kind != StepKind::input) continue;
      operands.push_back(&r_.inputs[static_cast<std::size_t>(step(s).index)]);
      views.push_back(&operands.back()->view);
      if (operands.back()->gather) views.push_back(&operands.back()->gather->table);
    }
    const std::uint32_t all = (1u << rank) - 1;
    kept_ = merge_axes(space_, all & ~r_.reduced, views, pinned_axes());
    reduced_ = merge_axes(space_, all & r_.reduced, views, pinned_axes());
    kept_count_ = kept_.count();
    std::int64_t length = reduced_.count();
    kept_slot_ = plan_.add_param(static_cast<std::uint64_t>(kept_count_));
    plan_.add_axes(kept_);
    const std::int64_t walked = stage_.joins ? stage_.segments : length;
    length_slot_ = plan_.add_param(static_cast<std::uint64_t>(walked));
    segments_slot_ = plan_.add_param(static_cast<std::uint64_t>(stage_.segments));
    segment_slot_ = plan_.add_param(0);
    first_segment_slot_ = plan_.add_param(static_cast<std::uint64_t>(stage_.first_segment));
    plan_.add_axes(reduced_);
    plan_.set_inner(static_cast<int>(kept_.sizes.size() + (tiling_.rows ? reduced_.sizes.size() : 0)) - 1);
    std::size_t v = 0;
    const auto add = [&](bool written) {
      std::vector<std::int64_t> strides = kept_.strides[v];
      strides.insert(strides.end(), reduced_.strides[v].begin(), reduced_.strides[v].end());
      return plan_.add_access(*views[v++], strides, written);
    };
    for (std::size_t i = 0; i < full_outputs_.size(); ++i) full_access_.push_back(add(true));
    for (std::size_t i = 0; i < reduced_outputs_.size(); ++i) reduced_access_.push_back(add(true));
    std::size_t operand = 0;
    for (const int s : sources_) {
      access_.push_back(-1);
      if (step(s).kind == StepKind::position) add_origin(step(s));
      if (step(s).kind != StepKind::input) continue;
      access_.back() = add(false);
      const Gather* gather = operands[operand++]->gather;
      if (!gather) continue;
      std::vector<std::int64_t> strides = kept_.strides[v];
      strides.insert(strides.end(), reduced_.strides[v].begin(), reduced_.strides[v].end());
      ++v;
      plan_.add_gather(access_.back(), *gather, strides);
      plan_.launch.checked_size = gather->size;
    }
    std::int64_t extent = 1;
    for (int i = 0; i < rank; ++i)
      if (r_.reduced >> i & 1) extent *= r_.space[static_cast<std::size_t>(i)];
    slots_ = plan_.add_numbers(program_, r_.inputs, extent);
    for (const Stored& s : stage_.partials) partial_access_.push_back(plan_.add_access(s.view, {}, stage_.splits));
    for (const Stored& s : stage_.known) known_access_.push_back(plan_.add_access(s.view, {}, false));
    for (const Stored& s : stage_.results) result_access_.push_back(plan_.add_access(s.view, {}, true));
    if (plan_.launch.checked_size > 0) {
      flags_view_ = {&backend_.index_flags(), DType::u32, 0, {}};
      flags_ = plan_.add_index_flags(flags_view_);
    }
    bind();
    choose();
    const std::int64_t segment =
        round_up(ceil_div(walked, std::max<std::int64_t>(stage_.splits ? stage_.segments : 1, 1)), reduced_group());
    plan_.set(segment_slot_, static_cast<std::uint64_t>(segment));
  }

  void bind() {
    const std::vector<std::int64_t> sizes(space_.begin(), space_.end());
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) {
      const bool linear = a.actual.empty() && a.view->strides.empty();
      touched.push_back(linear ? ByteRange{0, static_cast<std::int64_t>(a.view->storage->bytes())}
                               : bytes_touched(*a.view, sizes));
    }
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (access_[i] >= 0)
        touched[static_cast<std::size_t>(access_[i])] =
            bytes_touched(r_.inputs[static_cast<std::size_t>(step(sources_[i]).index)], sizes);
    plan_.bind(touched);
  }

  /// Neighbours an invocation handles, along the last reduced axis (rows) or the last kept one (columns): whole words
  /// of packed outputs where it can; else those are merged into words.
  void choose() {
    if (stage_.joins || (tiling_.rows ? reduced_ : kept_).sizes.empty()) {
      for (const auto* list : {&reduced_access_, &full_access_})
        for (const int a : *list)
          if (plan_.access(a).size() < 4) plan_.merge_parts(a);
      return;
    }
    if (tiling_.rows)
      for (const int a : reduced_access_)
        if (plan_.access(a).size() < 4) plan_.merge_parts(a);
    const Axes& axes = tiling_.rows ? reduced_ : kept_;
    const auto inner = kept_.sizes.size() + (tiling_.rows ? reduced_.sizes.size() : 0) - 1;
    group_ = plan_.choose_group(static_cast<int>(inner), axes.sizes.back(), false);
    if (tiling_.rows) return hold_ ? hold_rows() : shorten_rows();
    const int threads = tiling_.threads();  // the workgroup's columns stay, its invocations walk more steeply
    tiling_.across = std::max(1, tiling_.across / group_);
    tiling_.along = threads / tiling_.across;
    if (plan_.layouts() != Layouts::own) return;
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(reduced_.count(), 1));
    tiling_.along = static_cast<int>(std::min(static_cast<std::uint64_t>(tiling_.along), std::bit_ceil(length)));
    // Where a GPU is full without, no columns are shared: what invocations join costs more than a longer walk.
    while (tiling_.along > 1 && !stage_.splits && kept_count_ / group_ * tiling_.along > 2 * kEnoughInvocations)
      tiling_.along /= 2, tiling_.across *= 2;
  }
  /// No more invocations a row than have two steps each: the workgroup takes more rows instead.
  void shorten_rows() {
    if (plan_.layouts() != Layouts::own || stage_.splits) return;
    const int threads = tiling_.threads();
    const auto steps = static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_div(reduced_.count(), 2 * group_), 1));
    tiling_.along = static_cast<int>(std::min(static_cast<std::uint64_t>(tiling_.along), std::bit_ceil(steps)));
    tiling_.across = std::min(threads / tiling_.along, std::max(tiling_.across, rows_of_group()));
  }
  /// Holds rows that fit into registers.
  void hold_rows() {
    if (walks() < 2 || group_ < 2 || reduced_.sizes.size() != 1) return;
    HeldRows rows{program_, plan_, {}, [this](int i) { return is_source(i); }, [this](int i) { return access_of(i); },
                  kept_.sizes.size(), group_, kept_count_, ceil_div(reduced_.count(), group_)};
    for (std::size_t p = 0; p < walks(); ++p) rows.wanted.push_back(wanted_of(p));
    held_ = rows.choose();
    if (!held_()) return;
    const int threads = std::max(tiling_.threads(), held_.along);
    tiling_.along = held_.along, tiling_.across = std::min(threads / held_.along, rows_of_group());
  }
  /// Rows of a workgroup that leave enough workgroups.
  int rows_of_group() const {
    const auto rows = static_cast<std::uint64_t>(std::max<std::int64_t>(kept_count_ / kEnoughGroups, 1));
    return static_cast<int>(std::min<std::uint64_t>(std::bit_floor(rows), 256));
  }
  int access_of(int source) const {
    return access_[static_cast<std::size_t>(std::find(sources_.begin(), sources_.end(), source) - sources_.begin())];
  }
  int kept_group() const { return tiling_.rows ? 1 : group_; }
  int reduced_group() const { return tiling_.rows ? group_ : 1; }
  /// A reduction's result, of element e of a group of kept positions.
  std::string red(int s, int e) const { return named("red", s, e); }
  /// The same as the invocations joined it: a sum taken with what it waits for is not finished then.
  std::string joined(int s, int e) const { return (online_sum(program_, s) ? "raw_" : "") + red(s, e); }
  std::string acc(int s, int e) const { return named("acc", s, e); }
  std::string named(const char* stem, int s, int e) const {
    return kept_group() > 1 ? cat(stem, s, "_", e < positions(s) ? e : 0) : cat(stem, s);
  }
  /// Kept positions of an invocation for which a reduction has a result of its own: they all have the same count.
  int positions(int s) const { return counts(s) ? 1 : kept_group(); }

  void add_origin(const Step& s) {
    std::int64_t first = 0;
    const auto begin = [&](int axis) { return begin_[static_cast<std::size_t>(axis)]; };
    if (s.index == detail::kOrdinalAxis) {
      std::int64_t stride = 1;
      for (int i = space_.rank() - 1; i >= 0; --i)
        if (r_.reduced >> i & 1) first += stride * begin(i), stride *= r_.space[static_cast<std::size_t>(i)];
    } else {
      first = begin(s.index < 0 ? s.index + space_.rank() : s.index);
    }
    origin_slots_.push_back(plan_.add_param(static_cast<std::uint64_t>(first)));
  }

  // ---- text ----
  std::string position_value(int s, const Position& at, int e) const {
    std::size_t n = 0;
    for (const int other : sources_) {
      if (other == s) break;
      n += step(other).kind == StepKind::position;
    }
    std::string value = backend_.dialect().param(origin_slots_[n]);
    if (step(s).index == detail::kOrdinalAxis)
      return cat("bitcast<i32>(", value, " + r + ", tiling_.rows ? e : 0, "u)");
    const int axis = step(s).index < 0 ? step(s).index + space_.rank() : step(s).index;
    const auto add = [&](std::size_t place) {
      value +=
          cat(" + ", at.coordinates[place], static_cast<int>(place) == at.inner ? cat(" + ", e, "u") : std::string());
    };
    for (std::size_t k = 0; k < kept_.original.size(); ++k)
      if (kept_.original[k] == axis) add(k);
    for (std::size_t k = 0; k < reduced_.original.size(); ++k)
      if (reduced_.original[k] == axis) add(kept_.sizes.size() + k);
    return cat("bitcast<i32>(", value, ")");
  }

  /// Lines that call a function for each element of the group; `values` names the results.
  std::string calls(Io& io, const Function& f, const Position& at, std::vector<std::string>& values) {
    std::string lines;
    std::vector<std::vector<std::string>> loaded;
    for (const int s : f.sources) {
      loaded.emplace_back();
      if (step(s).kind == StepKind::input) lines += io.load(access_of(s), at, loaded.back());
    }
    for (int e = 0; e < at.group; ++e) {
      std::vector<std::string> arguments;
      for (std::size_t k = 0; k < f.sources.size(); ++k) {
        const int s = f.sources[k];
        arguments.push_back(step(s).kind == StepKind::input      ? loaded[k][static_cast<std::size_t>(e)]
                            : step(s).kind == StepKind::position ? position_value(s, at, e)
                            : step(s).kind == StepKind::reduce   ? red(s, tiling_.rows ? 0 : e)
                                                                 : kept_value(s, e));
      }
      values.push_back(io.unique("y"));
      lines += cat("let ", values.back(), " = ", backend_.dialect().call(f.name, arguments), ";\n");
    }
    return lines;
  }

  std::string kept_value(int s, int e) const { return cat("kept", s, "[u * ", group_, "u + ", e, "u]"); }
  /// The arrays of what is held, and the loads of the rows.
  std::string hold(Io& io, const ProgramPrinter& printer) const {
    std::string lines, loads;
    for (const auto& list : held_.values)
      for (const int s : list) lines += cat(printer.type(s), " kept", s, "[", held_.steps * group_, "];\n");
    for (const int a : held_.accesses) {
      const int vectors = group_ * plan_.access(a).size() / kVectorBytes;
      lines += cat("vec4<u32> held", a, "[", held_.steps * vectors, "];\n");
      loads += io.hold(a, position(true), cat("held", a), "u");
    }
    return lines + cat("if (inside) {\n", indented(walk(loads)), "}\n");
  }
  std::string walk(const std::string& body) const {
    const Dialect& d = backend_.dialect();
    if (held_())
      return cat("#pragma unroll\nfor (u32 u = 0u; u < ", held_.steps, "u; ++u) {\n  let r = (ty + u * ", tiling_.along,
                 "u) * ", group_, "u;\n  if (r < end) {\n", indented(indented(body)), "  }\n}\n");
    std::string lines = cat("for (var r = begin + ty * ", reduced_group(),
                            "u; r < end; r += ", tiling_.along * reduced_group(), "u) {\n");
    std::vector<std::string> unused;
    lines += indented(Io(plan_, d).coordinates(reduced_, "r", "d", unused) + body);
    return lines + "}\n";
  }
  Position position(bool full) const {
    Position at{kept_names_, -1, 1};
    std::vector<std::string> names;
    Io(plan_, backend_.dialect()).coordinates(reduced_, full ? "r" : "0u", "d", names);
    if (!full) names.assign(names.size(), "0u");
    at.coordinates.insert(at.coordinates.end(), names.begin(), names.end());
    const std::size_t kept = kept_.sizes.size();
    if (!tiling_.rows && kept > 0) at.inner = static_cast<int>(kept) - 1, at.group = group_;
    if (tiling_.rows && full && !reduced_.sizes.empty())
      at.inner = static_cast<int>(at.coordinates.size()) - 1, at.group = group_;
    return at;
  }

  /// How values are computed: in the quick functions of 16 bits where that is all the program gives.
  const Dialect& values_dialect() const {
    std::vector<int> all;
    for (const detail::ProgramOutput& output : program_.outputs) all.push_back(output.step);
    return dialect_for(backend_.dialect(), program_, all);
  }
  OnlineWalk online_walk(const std::vector<int>& reductions) const {
    return {values_dialect(), program_, reductions, kept_group(), [this](int s, int e) { return acc(s, e); },
            [this](int s, int e) { return red(s, e); }};
  }

  /// The walk of a pass: its reductions' arguments and the full outputs that it can write, by one function.
  std::string pass(Io& io, const ProgramPrinter& printer, std::size_t p, std::string& functions) {
    const std::vector<int>& reductions = passes_[p];
    const std::vector<int> outputs =
        stage_.joins ? std::vector<int>{} : outputs_of_pass(stage_.first + static_cast<int>(p));
    if (reductions.empty() && outputs.empty()) return "";
    OnlineWalk online = online_walk(reductions);
    std::string lines = online.declare();
    for (const int s : reductions)
      for (int e = 0; e < positions(s); ++e) lines += cat("var ", acc(s, e), " = ", printer.identity(s), ";\n");
    if (stage_.joins) lines += join_partials(io, printer, online, reductions);
    else
      lines +=
          cat("if (inside) {\n", indented(walk(visit(io, printer, online, p, reductions, outputs, functions))), "}\n");
    std::vector<int> plain, sums;
    for (const int s : reductions) (online_sum(program_, s) ? sums : plain).push_back(s);
    lines += join_threads(printer, plain);
    if (tiling_.along > 1) lines += online.align(io);
    lines += join_threads(printer, sums);
    for (const int s : sums) lines += finish_online(io, printer, online, s, functions);
    return lines;
  }

  /// From the joined sum to the one the program means; partial results stay as they are.
  std::string finish_online(Io& io, const ProgramPrinter& printer, const OnlineWalk& walk, int s,
                            std::string& functions) {
    std::string lines;
    for (int e = 0; e < kept_group(); ++e)
      lines += cat(stage_.splits ? "let " : "var ", red(s, e), " = ", joined(s, e), ";\n");
    if (stage_.splits) return lines;
    const Function f =
        printer.function(cat("shift", s), {online_sum(program_, s)->shift}, [this](int i) { return is_source(i); });
    functions += f.text;
    std::vector<std::string> shifts;
    std::string body = calls(io, f, position(false), shifts);
    for (int e = 0; e < kept_group(); ++e)
      body += walk.finished(io, s, e, joined(s, e), shifts[static_cast<std::size_t>(e)]);
    return lines + cat("if (inside) {\n", indented(body), "}\n");
  }

  /// The body of a walk.
  std::string visit(Io& io, const ProgramPrinter& printer, OnlineWalk& walk, std::size_t p,
                    const std::vector<int>& reductions, const std::vector<int>& outputs, std::string& functions) {
    std::vector<int> wanted = wanted_of(p);
    const std::vector<int> kept = held_() ? held_.values[p] : std::vector<int>{};
    wanted.insert(wanted.end(), kept.begin(), kept.end());
    const Function f =
        printer.function(cat("pass", p), wanted, [&](int i) { return is_source(i) || held_.before(p, i); });
    functions += f.text;
    const Position at = position(true);
    std::vector<std::string> values;
    std::string body = calls(io, f, at, values);
    std::size_t taken = 0;
    const auto next_result = [&] {
      std::vector<std::string> of_each;
      for (const std::string& value : values) of_each.push_back(ProgramPrinter::result(f, value, taken));
      return ++taken, of_each;
    };
    OnlineWalk::Values arguments;
    for (const bool weights : {false, true})
      for (const int s : reductions) {
        const detail::OnlineSum* online = online_sum(program_, s);
        if (weights ? online && online->weight >= 0 : !online) arguments[s] = next_result();
      }
    body += walk.before(io);
    for (const int s : reductions)
      if (!online_sum(program_, s)) body += accumulate(printer, s, arguments.at(s));
    body += walk.after(io, arguments);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      std::vector<std::string> of_output;
      for (const std::string& value : values) of_output.push_back(ProgramPrinter::result(f, value, taken + o));
      body += io.store(access_of_full(outputs[o]), at, of_output, "");
    }
    for (std::size_t i = 0; i < kept.size(); ++i)
      for (std::size_t e = 0; e < values.size(); ++e)
        body += cat(kept_value(kept[i], static_cast<int>(e)), " = ",
                    ProgramPrinter::result(f, values[e], taken + outputs.size() + i), ";\n");
    return body;
  }
  /// Reduction s of the group's values.
  std::string accumulate(const ProgramPrinter& printer, int s, const std::vector<std::string>& values) const {
    const Step& argument = step(step(s).args[0]);
    if (tiling_.rows && counts(s))
      return cat(acc(s, 0), " = ", printer.combined(s, acc(s, 0), literal(Number(values.size()), argument.lane)),
                 ";\n");
    std::string lines;
    for (std::size_t e = 0; e < (counts(s) ? 1 : values.size()); ++e) {
      const std::string to = acc(s, tiling_.rows ? 0 : static_cast<int>(e));
      lines += cat(to, " = ", printer.combined(s, to, values[e]), ";\n");
    }
    return lines;
  }
  int access_of_full(int output) const {
    const auto place = std::find(full_outputs_.begin(), full_outputs_.end(), output) - full_outputs_.begin();
    return full_access_[static_cast<std::size_t>(place)];
  }

  std::string join_partials(Io& io, const ProgramPrinter& printer, OnlineWalk& walk,
                            const std::vector<int>& reductions) {
    std::string body;
    std::map<int, std::string> parts;
    for (std::size_t k = 0; k < reductions.size(); ++k) {
      const Access& a = plan_.access(partial_access_[k]);
      std::string& part = parts[reductions[k]] =
          io.loaded(a, cat(io.param(a.base), " + r * ", io.param(kept_slot_), " + k"));
      if (walk.empty()) continue;  // it is read once
      const std::string name = io.unique("part");
      body += cat("let ", name, " = ", part, ";\n"), part = name;
    }
    body += walk.join(io, [&](int s) { return parts.at(s); });
    for (const int s : reductions)
      if (!online_sum(program_, s)) body += cat(acc(s, 0), " = ", printer.combined(s, acc(s, 0), parts.at(s)), ";\n");
    return cat("if (inside) {\n  for (var r = ty; r < end; r += ", tiling_.along, "u) {\n", indented(indented(body)),
               "  }\n}\n");
  }

  /// All invocations of a row (or of a group of columns) get the results. Reductions that join alike wait together.
  std::string join_threads(const ProgramPrinter& printer, const std::vector<int>& reductions) {
    std::string lines;
    for (std::size_t k = 0; k < reductions.size();) {
      const int s = reductions[k];
      const bool wide = detail::is_wide_lane(step(s).lane);
      JoinText join{backend_.dialect(), tiling_, printer.type(s), wide, {}, {}};
      const int most = std::max(1, kJoinedBytes / (tiling_.threads() * kept_group() * (wide ? 8 : 4)));
      for (int n = 0; n < most && k < reductions.size() && joins_alike(reductions[k], s); ++n, ++k)
        for (int e = 0; e < positions(reductions[k]); ++e)
          join.from.push_back(acc(reductions[k], e)), join.to.push_back(joined(reductions[k], e));
      shared_ = std::max(shared_, static_cast<int>(join.from.size()));
      lines += join.text([&](const std::string& a, const std::string& b) { return printer.combined(s, a, b); });
    }
    return lines;
  }
  std::string results(Io& io, const ProgramPrinter& printer, std::string& functions) {
    std::string once;
    const auto write = [&](int access, const std::string& index, int s) {
      const Access& a = plan_.access(access);
      for (int e = 0; e < kept_group(); ++e) once += io.stored(a, e ? cat(index, " + ", e, "u") : index, red(s, e));
    };
    if (stage_.splits)
      for (std::size_t k = 0; k < passes_[0].size(); ++k)
        write(partial_access_[k],
              cat(io.param(plan_.access(partial_access_[k]).base), " + (segment + ", io.param(first_segment_slot_),
                  ") * ", io.param(kept_slot_), " + k"),
              passes_[0][k]);
    for (std::size_t k = 0; k < stage_.results.size(); ++k)
      write(result_access_[k], cat(io.param(plan_.access(result_access_[k]).base), " + k"), stage_.results[k].step);
    if (!reduced_outputs_.empty()) {
      const Function f = printer.function("finish", steps_of(reduced_outputs_), [this](int i) { return is_source(i); });
      functions += f.text;
      const Position at = position(false);
      std::vector<std::string> values;
      once += calls(io, f, at, values);
      for (std::size_t o = 0; o < reduced_outputs_.size(); ++o) {
        std::vector<std::string> of_output;
        for (const std::string& value : values) of_output.push_back(ProgramPrinter::result(f, value, o));
        once += io.store(reduced_access_[o], at, of_output, "");
      }
    }
    std::string lines;
    if (!stage_.splits) {  // what reads the last reductions
      const std::vector<int> last = outputs_of_pass(stage_.last + 1);
      OnlineWalk none = online_walk({});
      if (!last.empty())
        lines += cat("if (inside) {\n", indented(walk(visit(io, printer, none, passes_.size(), {}, last, functions))),
                     "}\n");
    }
    if (!once.empty()) lines += cat("if (inside && ty == 0u) {\n", indented(once), "}\n");
    return lines;
  }

  std::string text() {
    const Dialect& d = backend_.dialect();
    const ProgramPrinter printer(program_, values_dialect(), slots_);
    Io io(plan_, d);
    io.check_indices_in(flags_, plan_.launch.check_slot);
    std::string functions, body;
    if (stage_.splits)
      body += cat("let row_group = group / ", d.param(segments_slot_), ";\nlet segment = group - row_group * ",
                  d.param(segments_slot_), ";\n");
    else body += "let row_group = group;\nlet segment = 0u;\n";
    if (tiling_.rows)
      body += cat("let tx = thread / ", tiling_.along, "u;\nlet ty = thread - tx * ", tiling_.along, "u;\n");
    else body += cat("let ty = thread / ", tiling_.across, "u;\nlet tx = thread - ty * ", tiling_.across, "u;\n");
    body += kept_group() > 1 ? cat("let k = (row_group * ", tiling_.across, "u + tx) * ", group_, "u;\n")
                             : cat("let k = row_group * ", tiling_.across, "u + tx;\n");
    body += cat("let inside = k < ", d.param(kept_slot_), ";\n");
    body += cat("let begin = segment * ", d.param(segment_slot_), ";\nlet end = min(", d.param(length_slot_),
                ", begin + ", d.param(segment_slot_), ");\n");
    body += io.coordinates(kept_, "k", "c", kept_names_);
    for (std::size_t i = 0; i < stage_.known.size(); ++i) {
      const Access& a = plan_.access(known_access_[i]);
      for (int e = 0; e < positions(stage_.known[i].step); ++e)
        body += cat("let ", red(stage_.known[i].step, e), " = ",
                    io.loaded(a, cat(d.param(a.base), " + min(k, ", d.param(kept_slot_), " - ", kept_group(), "u)",
                                     e ? cat(" + ", e, "u") : std::string())),
                    ";\n");
    }
    if (held_()) body += hold(io, printer);
    for (std::size_t p = 0; p < passes_.size(); ++p) body += pass(io, printer, p, functions);
    body += results(io, printer, functions);
    std::vector<Shared> shared;
    if (body.find("shared_words") != body.npos)
      shared.push_back({"u32", "shared_words", tiling_.threads() * shared_});
    if (body.find("shared_pairs") != body.npos)
      shared.push_back({"u64", "shared_pairs", tiling_.threads() * shared_});
    Module module{
        "reduction", plan_.launch.bindings, plan_.launch.params.size(), plan_.launch.threads, shared, functions, body};
    return d.module(module);
  }

  GpuBackend& backend_;
  Tiling tiling_;
  Shape space_;
  std::vector<std::int64_t> begin_;
  Plan plan_;
  Axes kept_, reduced_;
  std::vector<std::string> kept_names_;
  Held held_;
  bool hold_;
  std::vector<int> full_access_, reduced_access_, access_, slots_;
  std::vector<int> partial_access_, known_access_, result_access_, origin_slots_;
  std::int64_t kept_count_ = 1;
  View flags_view_;
  int kept_slot_ = -1, length_slot_ = -1, segments_slot_ = -1, segment_slot_ = -1, first_segment_slot_ = -1,
      flags_ = -1, group_ = 1;
  int shared_ = 1;  // values that each invocation has in workgroup memory, at most
};

}  // namespace

void run_reduce_kernel(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const Tiling& tiling,
                       const std::vector<std::int64_t>& begin, const Shape& space) {
  run_in_layouts(backend.limits(), [&](Layouts layouts) {
    return ReduceKernel(backend, request, stage, tiling, begin, space, layouts).run();
  });
}

bool run_held_rows(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const Tiling& tiling,
                   const std::vector<std::int64_t>& begin, const Shape& space) {
  ReduceKernel kernel(backend, request, stage, tiling, begin, space, Layouts::own, true);
  return kernel.holds() && kernel.run();
}

bool has_reduce_kernel(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const Tiling& tiling,
                       const std::vector<std::int64_t>& begin, const Shape& space) {
  return ReduceKernel(backend, request, stage, tiling, begin, space, Layouts::any).is_there();
}

}  // namespace tern::detail_gpu
