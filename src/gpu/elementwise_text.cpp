// The text of a pointwise kernel: elementwise.wgsl with its holes filled.
#include <algorithm>
#include <map>

#include "gpu/elementwise_plan.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::Step;
using detail::StepKind;

namespace {

constexpr const char* kElementwise =
#include "gpu/elementwise.wgsl.inc"
    ;
constexpr const char* kElementwiseRun =
#include "gpu/elementwise_run.wgsl.inc"
    ;
constexpr const char* kElementwiseTile =
#include "gpu/elementwise_tile.wgsl.inc"
    ;

/// The value of a step that is a position, of an element of the group; `origin` counts such steps.
std::string position_value(const ElementwisePlan& e, const Step& step, const Position& at, int element,
                           std::size_t& origin) {
  const Dialect& d = e.backend.dialect();
  const auto coordinate = [&](int axis) -> std::string {
    for (std::size_t k = 0; k < e.axes.original.size(); ++k)
      if (e.axes.original[k] == axis)
        return element && static_cast<int>(k) == at.inner ? cat("(", at.coordinates[k], " + ", element, "u)")
                                                          : at.coordinates[k];
    return "0u";
  };
  std::string value = d.param(e.origin_slots[origin++]);
  if (step.index != detail::kOrdinalAxis) {
    const int axis = step.index < 0 ? step.index + e.job.space.rank() : step.index;
    const bool constant = e.group_is_row && axis == e.axes.original.back();  // counted from 0
    value = constant ? coordinate(axis) : cat(value, " + ", coordinate(axis));
  } else {
    std::size_t k = 0;
    for (int i = 0; i < e.job.space.rank(); ++i)
      if (e.job.reduced >> i & 1) value += cat(" + ", coordinate(i), " * ", d.param(e.ordinal_strides[k++]));
  }
  return cat("bitcast<i32>(", value, ")");
}

/// What was loaded: of each source the elements of the group, or nothing yet.
using Loaded = std::vector<std::vector<std::string>>;

/// The place of an invocation in a run.
void name_run(Holes& holes, const ElementwisePlan& e, const Io& io, Position& at) {
  holes["place"] = kElementwiseRun;
  if (!e.group_is_row) {
    holes["coordinates"] = io.coordinates(e.axes, "i", "c", at.coordinates);
    return;
  }
  MergedAxes rows;
  rows.sizes.assign(e.axes.sizes.begin(), e.axes.sizes.end() - 1);
  rows.slots.assign(e.axes.slots.begin(), e.axes.slots.end() - 1);
  holes["coordinates"] = cat("let row = i / ", e.group, "u;\n", io.coordinates(rows, "row", "c", at.coordinates));
  at.coordinates.push_back("0u");
}

/// Coordinates of the other axes than a tile's two; a tile's are `across` and `along`.
std::string coordinates_of_tile(const ElementwisePlan& e, const Io& io, Position& at) {
  MergedAxes others;
  for (std::size_t i = 0; i + 1 < e.axes.sizes.size(); ++i)
    if (static_cast<int>(i) != e.across)
      others.sizes.push_back(e.axes.sizes[i]), others.slots.push_back(e.axes.slots[i]);
  std::vector<std::string> names;
  std::string lines = io.coordinates(others, "rest", "c", names);
  for (std::size_t i = 0, next = 0; i + 1 < e.axes.sizes.size(); ++i)
    at.coordinates.push_back(static_cast<int>(i) == e.across ? "across" : names[next++]);
  at.coordinates.push_back("along");
  return lines;
}

/// Lines that read what lies across into workgroup memory; those operands are taken from there.
std::string read_tiles(const ElementwisePlan& e, Io& io, const Position& at, Loaded& loaded,
                       std::vector<Shared>& shared) {
  const std::int64_t rows = e.rows_of_tile();
  std::string reads;
  for (std::size_t s = 0; s < e.sources.size(); ++s) {
    if (e.access[s] < 0 || !e.reads_across(e.access[s])) continue;
    const std::string tile = cat("tile", s);
    std::vector<std::string> values;
    reads += io.load(e.access[s], at, values);
    const detail::ComputeType type = detail::compute_type_of(e.plan.access(e.access[s]).dtype());
    shared.push_back({compute_type_name(type), tile, static_cast<int>(e.group * rows * kPitch)});
    for (int i = 0; i < e.group; ++i) {
      reads += cat(tile, "[(thread / ", kAcross, "u * ", e.group, "u + ", i, "u) * ", kPitch, "u + thread % ", kAcross,
                   "u] = ", values[static_cast<std::size_t>(i)], ";\n");
      loaded[s].push_back(
          cat(tile, "[(thread % ", rows, "u * ", e.group, "u + ", i, "u) * ", kPitch, "u + thread / ", rows, "u]"));
    }
  }
  return reads;
}

/// The place of an invocation in a tile.
void name_tile(Holes& holes, const ElementwisePlan& e, Io& io, Position& at, Loaded& loaded,
               std::vector<Shared>& shared) {
  const auto p = [&](std::size_t i) { return e.backend.dialect().param(e.tile_slots[i]); };
  const std::int64_t rows = e.rows_of_tile();
  const bool staged = e.is_staged();
  holes["place"] = kElementwiseTile;
  holes["size_across"] = p(0), holes["size_along"] = p(1), holes["tiles_across"] = p(2), holes["tiles_along"] = p(3);
  holes["lanes"] = cat(kAcross), holes["rows"] = cat(rows), holes["barrier"] = e.backend.dialect().barrier();
  holes["coordinates"] = coordinates_of_tile(e, io, at);
  holes["staged_tiles"] = staged ? "all" : "";
  holes["read_tiles"] = staged ? read_tiles(e, io, at, loaded, shared) : std::string();
  holes["invocation_across"] = staged ? cat("thread / ", rows, "u") : cat("thread % ", kAcross, "u");
  holes["invocation_along"] = staged ? cat("thread % ", rows, "u") : cat("thread / ", kAcross, "u");
}

/// Where a row is a group: the steps whose values are the same for all of a row and are needed by others, so that they
/// are taken once for it. (The compiler finds that in some of these texts: 2^24 normal numbers in f32 took 104 us where
/// it did not.)
std::vector<int> steps_of_row(const ElementwisePlan& e) {
  if (!e.group_is_row) return {};
  const std::size_t count = e.program.steps.size();
  std::vector<char> varies(count), wanted(count);
  for (const int step : e.wanted) wanted[static_cast<std::size_t>(step)] = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = e.program.steps[i];
    const int axis = step.index < 0 ? step.index + e.job.space.rank() : step.index;
    const bool of_row = step.kind == StepKind::position && step.index != detail::kOrdinalAxis;
    if (e.is_source(static_cast<int>(i))) varies[i] = !of_row || axis == e.axes.original.back();
    else
      for (const int arg : step.args) varies[i] = varies[i] || (arg >= 0 && varies[static_cast<std::size_t>(arg)]);
  }
  std::vector<int> found;
  for (std::size_t i = count; i-- > 0;) {
    const StepKind kind = e.program.steps[i].kind;
    if (!wanted[i] || e.is_source(static_cast<int>(i))) continue;
    if (varies[i]) {
      for (const int arg : e.program.steps[i].args)
        if (arg >= 0) wanted[static_cast<std::size_t>(arg)] = 1;
    } else if (kind != StepKind::number && kind != StepKind::param && kind != StepKind::extent) {
      found.push_back(static_cast<int>(i));
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

bool begins_bundle(const ElementwisePlan& e, int access) {
  return std::ranges::find(e.bundles, access) != e.bundles.end();
}
/// Lines that load a source, and those in a bundle with it.
std::string loads_of(const ElementwisePlan& e, Io& io, const Position& at, std::size_t source, Loaded& loaded) {
  const int first = e.access[source];
  if (!begins_bundle(e, first)) return io.load(first, at, loaded[source]);
  std::vector<std::string> values;
  const std::string lines = io.load_bundle(first, at, values);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto s = std::ranges::find(e.access, first + static_cast<int>(k)) - e.access.begin();
    loaded[static_cast<std::size_t>(s)] = {values[k]};
  }
  return lines;
}
/// Lines that store the group's results: of each output.
std::string stores_of(const ElementwisePlan& e, Io& io, const Position& at,
                      const std::vector<std::vector<std::string>>& results, const std::string& guard) {
  std::string lines;
  std::size_t count = 1;  // outputs that are stored together
  for (std::size_t o = 0; o < e.outputs.size(); o += count) {
    const int first = e.outputs[o];
    const bool together = begins_bundle(e, first);
    count = together ? static_cast<std::size_t>(kVectorBytes / e.plan.access(first).size()) : 1;
    std::vector<std::string> values;
    for (std::size_t k = 0; together && k < count; ++k) values.push_back(results[o + k][0]);
    lines += together ? io.store_bundle(first, at, values) : io.store(first, at, results[o], guard);
  }
  return lines;
}

/// What the sources are for element i of the group: of steps.
std::map<int, std::string> values_of_sources(const ElementwisePlan& e, const Loaded& loaded, const Position& at,
                                             int i) {
  std::map<int, std::string> values;
  std::size_t origin = 0;
  for (std::size_t s = 0; s < e.sources.size(); ++s) {
    const Step& step = e.program.steps[static_cast<std::size_t>(e.sources[s])];
    values[e.sources[s]] =
        e.access[s] >= 0 ? loaded[s][static_cast<std::size_t>(i)] : position_value(e, step, at, i, origin);
  }
  return values;
}
std::string call_on(const Dialect& d, const Function& function, const std::map<int, std::string>& values) {
  std::vector<std::string> arguments;
  for (const int source : function.sources) arguments.push_back(values.at(source));
  return d.call(function.name, arguments);
}

}  // namespace

std::string elementwise_text(const ElementwisePlan& e) {
  const Dialect& d = dialect_for(e.backend.dialect(), e.program, e.wanted);
  const ProgramPrinter printer(e.program, d, e.slots);
  const std::vector<int> of_row = steps_of_row(e);
  const auto is_source = [&](int step) { return e.is_source(step); };
  const Function row = of_row.empty() ? Function{} : printer.function("row_values", of_row, is_source);
  const Function f = printer.function("formula", e.wanted, [&](int step) {
    return is_source(step) || std::find(of_row.begin(), of_row.end(), step) != of_row.end();
  });
  Io io(e.plan, d);
  io.check_indices_in(e.flags, e.plan.launch.check_slot);
  const std::string guard = e.plan.guarded ? cat("i + $0 < ", d.param(e.count_slot)) : std::string();
  io.guard_checks(guard);
  if (e.is_part() && d.parts_by_switch()) io.choose_memory();
  Position at{{}, static_cast<int>(e.axes.sizes.size()) - 1, e.group};
  std::vector<Shared> shared;
  Loaded loaded(e.sources.size());
  Holes holes{{"threads", cat(e.plan.launch.threads)},
              {"each", cat(e.group)},
              {"elements", numbers(0, e.group)},
              {"count", d.param(e.count_slot)}};
  if (e.across >= 0) name_tile(holes, e, io, at, loaded, shared);
  else name_run(holes, e, io, at);
  std::string& load = holes["load"];
  for (std::size_t s = 0; s < e.sources.size(); ++s)
    if (e.access[s] >= 0 && loaded[s].empty()) load += loads_of(e, io, at, s, loaded);
  std::vector<std::vector<std::string>> results(e.outputs.size());
  for (int i = 0; i < e.group; ++i) {
    std::map<int, std::string> values = values_of_sources(e, loaded, at, i);
    if (i == 0 && !of_row.empty()) load += cat("let of_row = ", call_on(d, row, values), ";\n");
    for (std::size_t k = 0; k < of_row.size(); ++k) values[of_row[k]] = ProgramPrinter::result(row, "of_row", k);
    holes[cat("formula_", i)] = call_on(d, f, values);
    for (std::size_t o = 0; o < e.outputs.size(); ++o) results[o].push_back(ProgramPrinter::result(f, cat("y", i), o));
  }
  holes["store"] = stores_of(e, io, at, results, guard);
  Module module{"elementwise", e.plan.launch.bindings, e.plan.launch.params.size(),    e.plan.launch.threads,
                shared,        row.text + f.text,      fill_holes(kElementwise, holes)};
  module.parts = e.is_part();
  return d.module(module);
}

}  // namespace tern::detail_gpu
