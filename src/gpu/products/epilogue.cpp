#include "gpu/products/epilogue.hpp"

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

namespace {
void remove_axes(MergedAxes& axes) {
  axes.sizes.clear(), axes.original.clear();
  for (auto& strides : axes.strides) strides.clear();
}
}  // namespace

std::vector<std::int64_t> sizes_over_tile(const detail::GemmRequest& r) {
  std::vector<std::int64_t> sizes(r.batch.begin(), r.batch.end());
  for (int i = 0; i < r.batch.rank(); ++i)
    if (r.contracted >> i & 1) sizes[static_cast<std::size_t>(i)] = 1;
  sizes.push_back(r.m), sizes.push_back(r.n);
  return sizes;
}

bool continues_depth(const detail::GemmRequest& r, std::int64_t k, std::int64_t step_a, std::int64_t step_b) {
  const auto row = static_cast<std::size_t>(r.batch.rank());
  return step_a == k * r.a.strides[row + 1] && step_b == k * r.b.strides[row];
}

namespace {
/// Batches that share b, the last of the views, and whose rows follow each other in everything else are more rows of
/// one product.
void merge_rows(const detail::GemmRequest& r, const std::vector<const View*>& views, MergedAxes& kept,
                std::int64_t& m) {
  const auto row = static_cast<std::size_t>(r.batch.rank());
  if (kept.sizes.size() != 1 || kept.strides.back()[0] != 0) return;
  for (std::size_t v = 0; v + 1 < views.size(); ++v)
    if (kept.strides[v][0] != m * views[v]->strides[row]) return;
  m *= kept.sizes[0];
  remove_axes(kept);
}

/// Contracted batches that follow each other along k in a and b, the views of `contracted`, are a longer k.
void merge_depth(const detail::GemmRequest& r, MergedAxes& contracted, std::int64_t& k) {
  if (contracted.sizes.size() != 1 || !continues_depth(r, k, contracted.strides[0][0], contracted.strides[1][0]))
    return;
  k *= contracted.sizes[0];
  remove_axes(contracted);
}
}  // namespace

MergedProduct merged(const detail::GemmRequest& r, const Epilogue& epilogue) {
  return merged(r, epilogue.views(), epilogue.pinned());
}
MergedProduct merged(const detail::GemmRequest& r, std::vector<const View*> views, std::uint32_t pinned) {
  MergedProduct p{.m = r.m, .k = r.k, .kept = {}, .contracted = {}};
  p.a = views.size();
  views.push_back(&r.a), views.push_back(&r.b);
  const std::uint32_t all = (1u << r.batch.rank()) - 1, rows = 1u << r.batch.rank();
  p.kept = merge_axes(r.batch, all & ~r.contracted, views, pinned & all);
  p.contracted = merge_axes(r.batch, all & r.contracted, std::span(views).subspan(p.a), 0);
  if (!(pinned & (all | rows))) merge_rows(r, views, p.kept, p.m);
  merge_depth(r, p.contracted, p.k);
  return p;
}

int add_factor(Plan& plan, const View& factor, const MergedAxes& kept, std::size_t place, const MergedAxes& contracted,
               std::size_t which) {
  std::vector<std::int64_t> strides = kept.strides[place];
  const std::vector<std::int64_t>& along = contracted.strides[which];
  strides.insert(strides.end(), along.begin(), along.end());
  strides.insert(strides.end(), factor.strides.end() - 2, factor.strides.end());  // of rows and columns
  return plan.add_access(factor, strides, false);
}

Epilogue::Epilogue(const detail::GemmRequest& request) : r_(request), program_(*request.epilogue) {
  for (const detail::ProgramOutput& o : program_.outputs) wanted_.push_back(o.step);
  sources_ = sources_of(program_, wanted_, [this](int s) { return is_source(s); });
}

/// The axis of batch + [m, n] a position counts along.
int Epilogue::axis_of(int source) const {
  const int rank = r_.batch.rank() + 2, axis = step(source).index;
  return axis < 0 ? axis + rank : axis;
}

std::vector<const View*> Epilogue::views() const {
  std::vector<const View*> views;
  for (const View& v : r_.outputs) views.push_back(&v);
  for (const int s : sources_)
    if (!is_sum(s) && !is_position(s)) views.push_back(&r_.inputs[static_cast<std::size_t>(step(s).index) - 1].view);
  return views;
}

std::uint32_t Epilogue::pinned() const {
  std::uint32_t axes = 0;
  for (const int s : sources_)
    if (is_position(s)) axes |= 1u << axis_of(s);
  return axes;
}

void Epilogue::add_accesses(Plan& plan, const MergedAxes& batch) {
  const auto row = static_cast<std::size_t>(r_.batch.rank());
  const std::vector<const View*> all = views();
  for (std::size_t v = 0; v < all.size(); ++v) {
    std::vector<std::int64_t> strides = batch.strides[v];
    strides.push_back(all[v]->strides[row]), strides.push_back(all[v]->strides[row + 1]);
    const bool written = v < r_.outputs.size();
    (written ? outputs_ : operands_).push_back(plan.add_access(*all[v], strides, written));
  }
}

void Epilogue::add_numbers(Plan& plan) {
  std::vector<Operand> inputs(1);  // input 0 is the sum
  inputs.insert(inputs.end(), r_.inputs.begin(), r_.inputs.end());
  slots_ = plan.add_numbers(program_, inputs, 1);
}

Function Epilogue::function(const Dialect& dialect) const {
  const ProgramPrinter printer(program_, dialect_for(dialect, program_, wanted_), slots_);
  return printer.function("epilogue", wanted_, [this](int s) { return is_source(s); });
}

std::string Epilogue::position_value(int source, const Position& at, const MergedAxes& batch, int e) const {
  const int axis = axis_of(source), rank = r_.batch.rank();
  if (axis == rank + 1) return cat("bitcast<i32>(col + ", at.ahead, at.ahead.empty() ? "" : " + ", e, "u)");
  if (axis == rank) return "bitcast<i32>(row)";
  for (std::size_t k = 0; k < batch.original.size(); ++k)
    if (batch.original[k] == axis) return cat("bitcast<i32>(", at.coordinates[k], ")");
  return "i32(0)";
}

/// The place of a source among the operands, which are in the order of the sources.
std::size_t Epilogue::operand_of(int source) const {
  std::size_t n = 0;
  for (const int other : sources_) {
    if (other == source) return n;
    n += !is_sum(other) && !is_position(other);
  }
  return n;
}

std::string Epilogue::finish(Io& io, const Dialect& dialect, const Function& f, const Position& at,
                             const MergedAxes& batch, const std::function<std::string(int)>& sum,
                             const std::string& guard, const std::string& inside, const KeepOutput& kept) const {
  std::string lines;
  std::vector<std::vector<std::string>> loaded;
  for (const int s : f.sources) {
    loaded.emplace_back();
    if (!is_sum(s) && !is_position(s)) lines += io.load(operands_[operand_of(s)], at, loaded.back());
  }
  std::vector<std::vector<std::string>> results(outputs_.size());
  for (int e = 0; e < at.group; ++e) {
    std::vector<std::string> arguments;
    for (std::size_t k = 0; k < f.sources.size(); ++k)
      arguments.push_back(is_sum(f.sources[k])        ? sum(e)
                          : is_position(f.sources[k]) ? position_value(f.sources[k], at, batch, e)
                                                      : loaded[k][static_cast<std::size_t>(e)]);
    const std::string value = io.unique("y");
    lines += cat("let ", value, " = ", dialect.call(f.name, arguments), ";\n");
    for (std::size_t o = 0; o < outputs_.size(); ++o) results[o].push_back(ProgramPrinter::result(f, value, o));
  }
  std::string stores;
  Position guarded = at;
  guarded.last.clear();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const std::string taken = kept ? kept(o, results[o]) : std::string();
    stores += taken.empty() ? io.store(outputs_[o], guarded, results[o], guard) : taken;
  }
  return lines + (inside.empty() ? stores : cat("if (", inside, ") {\n", indented(stores), "}\n"));
}

}  // namespace tern::detail_gpu
