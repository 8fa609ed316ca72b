#include "gpu/reductions/reduce_values.hpp"

#include "gpu/reductions/reduce_staged_text.hpp"

namespace tern::detail_gpu {

using detail::StepKind;

namespace {

constexpr const char* kTraversal =
#include "gpu/reductions/reduce_traversal.wgsl.inc"
    ;
constexpr const char* kHeld =
#include "gpu/reductions/reduce_resident.cu.inc"
    ;
constexpr const char* kStaged =
#include "gpu/reductions/reduce_staged.wgsl.inc"
    ;
Holes value_pieces() {
  Holes all = pieces(kTraversal);
  all.merge(pieces(kStaged));
  all.merge(pieces(kHeld));
  return all;
}

/// How values are computed: in the fast-math variants of 16 bits where that is all the program gives.
const Dialect& values_dialect(const ReducePlan& kernel) {
  std::vector<int> all;
  for (const detail::ProgramOutput& output : kernel.program.outputs) all.push_back(output.step);
  return dialect_for(kernel.backend.dialect(), kernel.program, all);
}

}  // namespace

const Holes& reduce_pieces() {
  static const auto& all = *new Holes(value_pieces());  // outlives what is in static storage
  return all;
}

ReduceValues::ReduceValues(const ReducePlan& kernel)
    : kernel_(kernel),
      dialect_(values_dialect(kernel)),
      io_(kernel.plan, kernel.backend.dialect()),
      printer_(kernel.program, dialect_, kernel.number_slots) {
  io_.check_indices_in(kernel.flags, kernel.plan.launch.check_slot);
  kept_coordinates_ = io_.coordinates(kernel.kept, "k", "c", kept_names_);
}

Position ReduceValues::position(bool full) const {
  Position at{kept_names_, -1, 1};
  std::vector<std::string> names;
  io_.coordinates(kernel_.reduced, full ? "r" : "0u", "d", names);
  if (!full) names.assign(names.size(), "0u");
  at.coordinates.insert(at.coordinates.end(), names.begin(), names.end());
  const std::size_t kept = kernel_.kept.sizes.size();
  if (!kernel_.tiling.rows && kept > 0) at.inner = static_cast<int>(kept) - 1, at.group = kernel_.group;
  if (kernel_.tiling.rows && full && !kernel_.reduced.sizes.empty())
    at.inner = static_cast<int>(at.coordinates.size()) - 1, at.group = kernel_.group;
  return at;
}

std::string ReduceValues::position_value(int s, const Position& at, int e) const {
  std::size_t n = 0;
  for (const int other : kernel_.sources) {
    if (other == s) break;
    n += kernel_.step(other).kind == StepKind::position;
  }
  std::string value = kernel_.backend.dialect().param(kernel_.origin_slots[n]);
  if (kernel_.step(s).index == detail::kOrdinalAxis)
    return cat("bitcast<i32>(", value, " + r + ", kernel_.tiling.rows ? e : 0, "u)");
  const int rank = kernel_.request.space.rank(), index = kernel_.step(s).index, axis = index < 0 ? index + rank : index;
  const auto add = [&](std::size_t place) {
    value +=
        cat(" + ", at.coordinates[place], static_cast<int>(place) == at.inner ? cat(" + ", e, "u") : std::string());
  };
  for (std::size_t k = 0; k < kernel_.kept.original.size(); ++k)
    if (kernel_.kept.original[k] == axis) add(k);
  for (std::size_t k = 0; k < kernel_.reduced.original.size(); ++k)
    if (kernel_.reduced.original[k] == axis) add(kernel_.kept.sizes.size() + k);
  return cat("bitcast<i32>(", value, ")");
}

Function ReduceValues::function(const std::string& name, const std::vector<int>& wanted, std::size_t pass) {
  Function f =
      printer_.function(name, wanted, [&](int i) { return kernel_.is_source(i) || kernel_.resident.before(pass, i); });
  functions_ += f.text;
  return f;
}

std::string ReduceValues::calls(const Function& f, const Position& at, std::vector<std::string>& values) {
  std::string lines;
  std::vector<std::vector<std::string>> loaded;
  for (const int s : f.sources) {
    loaded.emplace_back();
    if (kernel_.step(s).kind == StepKind::input) lines += io_.load(kernel_.access_of(s), at, loaded.back());
  }
  for (int e = 0; e < at.group; ++e) {
    std::vector<std::string> arguments;
    for (std::size_t k = 0; k < f.sources.size(); ++k) {
      const int s = f.sources[k];
      const StepKind kind = kernel_.step(s).kind;
      arguments.push_back(kind == StepKind::input      ? loaded[k][static_cast<std::size_t>(e)]
                          : kind == StepKind::position ? position_value(s, at, e)
                          : kind == StepKind::reduce   ? red(s, kernel_.tiling.rows ? 0 : e)
                                                       : kept_value(s, e));
    }
    values.push_back(io_.unique("y"));
    lines += cat("let ", values.back(), " = ", kernel_.backend.dialect().call(f.name, arguments), ";\n");
  }
  return lines;
}

std::vector<std::string> ReduceValues::results_of(const Function& f, const std::vector<std::string>& values,
                                                  std::size_t i) {
  std::vector<std::string> results;
  for (const std::string& value : values) results.push_back(ProgramPrinter::result(f, value, i));
  return results;
}

std::string ReduceValues::traversal(const std::string& visit) const {
  const int along = kernel_.tiling.along, group = kernel_.reduced_group();
  Holes holes = reduce_pieces();
  holes["along"] = cat(along), holes["group"] = cat(group), holes["visit"] = visit;
  if (kernel_.resident()) {
    holes["steps"] = cat(kernel_.resident.steps);
    return fill_holes("$traversal_of_held\n", holes);
  }
  if (kernel_.staged()) return StagedText::traversal(kernel_, visit);
  std::vector<std::string> unused;
  holes["stride"] = cat(along * group), holes["coordinates"] = io_.coordinates(kernel_.reduced, "r", "d", unused);
  return fill_holes("$traversal\n", holes);
}

}  // namespace tern::detail_gpu
