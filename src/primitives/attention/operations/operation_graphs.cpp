// In these formulas batch, head, row and column are the coordinates of the scores, so that masks cost no memory.
#include "primitives/attention/operations/operation_graphs.hpp"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "formula/philox.hpp"
#include "primitives/attention/attention.hpp"
#include "process/fork.hpp"

namespace tern::detail {
namespace {

using Coordinates = std::vector<Expr>;  // batch, head, row, column

/// The user's graph of its leading arguments, then inputs from `next` on.
Expr applied(const FormulaGraph* graph, std::vector<Expr> leading, int& next) {
  while (static_cast<int>(leading.size()) < graph->inputs) leading.push_back(make_input(next++));
  return substitute(graph, leading)[0];
}
Expr score_at(const AttentionFormulas& of, Expr score, const Coordinates& at, int& next) {
  if (!of.score) return score;
  std::vector<Expr> leading{score};
  leading.insert(leading.end(), at.begin(), at.end());
  return applied(of.score, leading, next);
}
/// Inputs of the mask follow those of the score's formula.
int first_of_mask(const AttentionFormulas& of, int first) { return first + (of.score ? of.score->inputs - 5 : 0); }
int first_of_dropout(const AttentionFormulas& of, int first) {
  return first_of_mask(of, first) + (of.mask ? of.mask->inputs - 4 : 0);
}
/// What dropout leaves of a share: a word of Philox at its place decides, so that the same is left everywhere.
Expr left_of(Expr share, const Coordinates& at, int key) {
  const auto word = [](Expr e) { return cast(e, DType::u32); };
  const Expr bits =
      philox({word(at[3]), word(at[2]), word(at[1]), word(at[0])}, word(make_input(key)), word(make_input(key + 1)))[0];
  const Expr drawn = cast(cast(bits >> 8, DType::i32), DType::f32) * 0x1p-24, rate = make_input(key + 2);
  return where(drawn >= rate, share * (1 / (1 - rate)), 0);
}

/// The inputs of the decomposed formula before the operands.
enum RowInput { kScores, kScale, kShift, kWindow, kLengths, kRow, kColumn, kFirstOperand };

const FormulaGraph* row_graph(const RowParts& p) {
  const Expr scores = make_input(kScores), row = index(scores, -2), column = index(scores, -1);
  const Coordinates at{index(scores, -4), index(scores, -3), p.offset ? row + make_input(kRow) : row,
                       p.offset ? column + make_input(kColumn) : column};
  int next = kFirstOperand;
  Expr score = score_at(p.of, scores * make_input(kScale), at, next), seen;
  const auto also = [&](Expr condition) { seen = seen.defined() ? bit_and(seen, condition) : condition; };
  const Expr middle = at[2] + make_input(kShift);
  if (p.causal) also(at[3] <= middle);
  if (p.window) also(abs(middle - at[3]) < make_input(kWindow));
  if (p.lengths) also(at[3] < make_input(kLengths));
  if (p.of.mask) also(applied(p.of.mask, at, next));
  // -inf before the exponential: the derivative of what is not seen is then 0 · 0.
  if (seen.defined()) score = where(seen, score, -kInf);
  const Expr top = detach(max(score)), base = where(top == -kInf, 0, top);
  const Expr powers = exp(score - base), total = sum(powers);
  Expr shares = powers * (1 / where(total == 0, 1, total));
  if (p.of.dropout) shares = left_of(shares, at, next);
  const Expr outputs[] = {cast(shares, p.type), base + log(total)};
  return make_graph({outputs, p.with_sum ? 2u : 1u}, kFirstOperand + p.of.operands());
}

constexpr int kFirstOfFormula = 2;  // operand of the primitive's formulas

Coordinates coordinates(const AttentionFormulas& of) {
  const Expr x = make_input(0), head = index(x, -3), row = index(x, -2);
  const Expr batch = index(x, -4), column = index(x, -1);
  if (of.heads_as_rows == 0) return {batch, head, row, column};
  const auto whole = [](std::int64_t n) { return cast(make_constant(n), DType::i32); };
  return {batch, head * whole(of.heads_as_rows) + row, whole(0), column};
}
const FormulaGraph* score_graph(const AttentionFormulas& of, bool masked, DType type) {
  const Coordinates at = coordinates(of);
  int next = kFirstOfFormula;
  Expr score = score_at(of, make_input(0) * make_input(1), at, next);
  if (masked && of.mask) score = where(applied(of.mask, at, next), score, -kInf);
  const Expr outputs[] = {cast(score, type)};
  return make_graph(outputs, kFirstOfFormula + of.operands());
}
const FormulaGraph* thin_graph(const AttentionFormulas& of, DType type) {
  const Expr outputs[] = {cast(left_of(make_input(0), coordinates(of), first_of_dropout(of, kFirstOfFormula)), type)};
  return make_graph(outputs, kFirstOfFormula + of.operands());
}
const FormulaGraph* slope_graph(const FormulaGraph* score, DType type) {
  const GradientGraph& g = gradient(score, one_index(0), one_index(0), false, IndexSet());
  Expr slope = make_input(1) * 0;
  if (g.graph && g.output_of[0] >= 0) {
    std::vector<Expr> inputs{make_input(0)};
    for (int i = 1; i < score->inputs; ++i) inputs.push_back(make_input(i + 1));
    inputs.push_back(make_input(1)), inputs.push_back(make_input(0));
    inputs.resize(std::max(inputs.size(), static_cast<std::size_t>(g.graph->inputs)), make_input(0));
    slope = substitute(g.graph, inputs)[static_cast<std::size_t>(g.output_of[0])];
  }
  const Expr outputs[] = {cast(slope, type)};
  return make_graph(outputs, score->inputs + 1);
}
AttentionGraphs make_graphs(const AttentionFormulas& of, DType type) {
  AttentionGraphs graphs;
  if (of.dropout) graphs.thin = thin_graph(of, type);
  if (!of.score && !of.mask) return graphs;
  graphs.score = score_graph(of, true, type), graphs.open = score_graph(of, false, type);
  graphs.slope = slope_graph(graphs.score, type), graphs.open_slope = slope_graph(graphs.open, type);
  return graphs;
}

/// Values by what decides them, each made once.
template <class Key, class Value, class Make> const Value& made_once(const Key& key, Make make) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& known = *new std::map<Key, Value>;
  const std::lock_guard hold(lock);
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, make()).first;
  return found->second;
}

}  // namespace

int AttentionFormulas::operands() const { return first_of_dropout(*this, 0) + (dropout ? 3 : 0); }

const FormulaGraph* attention_row_graph(const RowParts& parts) {
  return made_once<RowParts, const FormulaGraph*>(parts, [&] { return row_graph(parts); });
}
const AttentionGraphs& attention_graphs(const AttentionFormulas& of, DType type) {
  return made_once<std::pair<AttentionFormulas, DType>, AttentionGraphs>({of, type},
                                                                         [&] { return make_graphs(of, type); });
}
const FormulaGraph* mask_count_graph(const FormulaGraph* mask) {
  return made_once<const FormulaGraph*, const FormulaGraph*>(mask, [&] {
    const Expr space = make_input(0), size = cast(make_constant(kMaskBlock), DType::i32);
    const Expr row = index(space, -4) * size + index(space, -2), column = index(space, -3) * size + index(space, -1);
    int next = 3;
    const Expr seen = applied(mask, {index(space, -6), index(space, -5), row, column}, next);
    const Expr there = bit_and(row < make_input(1), column < make_input(2));
    const Expr outputs[] = {sum(where(seen, cast(there, DType::i32), cast(make_constant(0), DType::i32)))};
    return make_graph(outputs, next);
  });
}

}  // namespace tern::detail
