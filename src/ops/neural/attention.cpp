// Attention as two products with one row formula between them, which holds the user's. In it batch, head, row and
// column are the coordinates of the scores, so that masks cost no memory.
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "ops/neural/neural.hpp"
#include "process/fork.hpp"
#include "tern/ops.hpp"

namespace tern::detail {

namespace {

constexpr const char* kOp = "attention";

/// Which parts the row formula has; with the two user's graphs, what it is made of.
struct Parts {
  const FormulaGraph *score = nullptr, *mask = nullptr;
  bool causal = false, window = false, lengths = false, with_sum = false;
  DType type = DType::f32;  // of the shares
  auto operator<=>(const Parts&) const = default;
};
/// The inputs before the user's: the product, its scale, S - L, the window, the lengths.
enum Input { kScores, kScale, kShift, kWindow, kLengths, kFirstOperand };

std::vector<Expr> coordinates() {
  const Expr scores = make_input(kScores);
  return {index(scores, -4), index(scores, -3), index(scores, -2), index(scores, -1)};
}
/// The user's graph of its leading arguments, then inputs from `first` on.
Expr applied(const FormulaGraph* graph, std::vector<Expr> leading, int first) {
  for (int i = 0; static_cast<int>(leading.size()) < graph->inputs; ++i) leading.push_back(make_input(first + i));
  return substitute(graph, leading)[0];
}
const FormulaGraph* row_graph(const Parts& p) {
  const std::vector<Expr> at = coordinates();
  Expr score = make_input(kScores) * make_input(kScale), seen;
  int next = kFirstOperand;
  if (p.score) {
    std::vector<Expr> leading{score};
    leading.insert(leading.end(), at.begin(), at.end());
    score = applied(p.score, leading, next);
    next += p.score->inputs - 5;
  }
  const auto also = [&](Expr condition) { seen = seen.defined() ? bit_and(seen, condition) : condition; };
  const Expr middle = at[2] + make_input(kShift);
  if (p.causal) also(at[3] <= middle);
  if (p.window) also(abs(middle - at[3]) < make_input(kWindow));
  if (p.lengths) also(at[3] < make_input(kLengths));
  if (p.mask) {
    also(applied(p.mask, at, next));
    next += p.mask->inputs - 4;
  }
  // -inf before the exponential: the derivative of what is not seen is then 0 · 0.
  if (seen.defined()) score = where(seen, score, -kInf);
  const Expr top = detach(max(score)), base = where(top == -kInf, 0, top);
  const Expr powers = exp(score - base), total = sum(powers);
  const Expr outputs[] = {cast(powers * (1 / where(total == 0, 1, total)), p.type), base + log(total)};
  return make_graph({outputs, p.with_sum ? 2u : 1u}, next);
}
const FormulaGraph* cached_graph(const Parts& parts) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& known = *new std::map<Parts, const FormulaGraph*>;
  const std::lock_guard hold(lock);
  const FormulaGraph*& graph = known[parts];
  if (!graph) graph = row_graph(parts);
  return graph;
}

/// The sizes of q, k and v.
struct Sizes {
  std::int64_t batch = 1, heads = 0, groups = 0, rows = 0, columns = 0, depth = 0, width = 0;
};
Sizes checked(const Tensor& q, const Tensor& k, const Tensor& v) {
  require_floating(kOp, "q", q), require_floating(kOp, "k", k), require_floating(kOp, "v", v);
  require_same_device(kOp, q, k), require_same_device(kOp, q, v);
  if (q.dim() < 3) refuse(kOp, "q", "[.., H, L, D]", describe(q));
  Sizes s{.heads = q.size(-3), .rows = q.size(-2), .depth = q.size(-1)};
  Shape batch = q.shape();
  batch.resize(q.dim() - 3);
  s.batch = batch.numel();
  const auto check = [&](const char* name, const Tensor& t) {
    Shape outer = t.shape();
    outer.resize(std::max(t.dim() - 3, 0));
    if (t.dim() != q.dim() || outer != batch)
      refuse(kOp, name, "as many axes and the batch of q, " + describe(q), describe(t));
    if (t.dtype() != q.dtype()) refuse(kOp, name, "the dtype of q, " + describe(q), describe(t), ErrorKind::dtype);
  };
  check("k", k), check("v", v);
  s.groups = k.size(-3), s.columns = k.size(-2), s.width = v.size(-1);
  if (k.size(-1) != s.depth)
    refuse(kOp, "k", "a last axis of " + std::to_string(s.depth) + ", as q " + describe(q), describe(k));
  if (v.size(-3) != s.groups || v.size(-2) != s.columns)
    refuse(kOp, "v", "the heads and rows of k, " + describe(k), describe(v));
  if (s.groups < 1 ? s.heads > 0 : s.heads % s.groups != 0)
    refuse(kOp, "q", "a multiple of k's " + std::to_string(s.groups) + " heads",
           std::to_string(s.heads) + " of " + describe(q));
  return s;
}

void check_formula(const char* what, const FormulaGraph* graph, std::span<const Number> values, std::size_t coordinates,
                   std::span<const Argument> operands, const Shape& scores) {
  if (graph->reduces || graph->axis_sums)
    throw Error(ErrorKind::unsupported, std::string(kOp) + ": the " + what + " contains a reduction");
  const std::size_t expected = coordinates + operands.size() + values.size();
  if (static_cast<std::size_t>(graph->inputs) != expected)
    refuse(
        kOp, what,
        std::to_string(coordinates) + " arguments and one for each of " + std::to_string(operands.size()) + " operands",
        std::to_string(static_cast<std::size_t>(graph->inputs) - values.size()) + " arguments");
  for (const Argument& operand : operands)
    if (operand.tensor || operand.var) check_broadcasts(kOp, "an operand", value_of(operand), scores);
}
Tensor checked_lengths(const Tensor& lengths, const Sizes& s, const Tensor& q) {
  require_index_dtype(kOp, "lengths", lengths), require_same_device(kOp, q, lengths);
  if (lengths.dim() != 1 || lengths.size(0) != s.batch)
    refuse(kOp, "lengths", "[" + std::to_string(s.batch) + "]", describe(lengths));
  return as_i32(kOp, lengths, 0).reshape({s.batch, 1, 1, 1});
}

/// a·b of matrices, f32 where they have 16 bits.
Tensor wide_product(const Tensor& a, const Tensor& b, DType type) {
  Tensor y;
  run_product({kOp, nullptr, product_shape(kOp, a, b).batch, type}, a, b, {}, {}, {&y, 1});
  return y;
}
/// Its gradients are products of 16-bit operands again: the cotangent is rounded to them.
Var wide_product(const Var& a, const Var& b, DType type) {
  if (a.dtype() == type) return product(kOp, a, b, product_shape(kOp, a.value(), b.value()).batch);
  const Var inputs[] = {a, b};
  PoolVector<Save> saved{{as_var(a.value()), -1, 0}, {as_var(b.value()), -1, 1}};
  return record_one(kOp, inputs, wide_product(a.value(), b.value(), type), std::move(saved), [](const RuleContext& c) {
    const Var g = c.grads[0].to(c.saved[0].dtype());
    PoolVector<Var> grads(2);
    if (c.wanted[0] && c.needed[0]) grads[0] = matmul(g, c.saved[1].mT());
    if (c.wanted[1] && c.needed[1]) grads[1] = matmul(c.saved[0].mT(), g);
    return grads;
  });
}

template <TensorOrVar R>
R decomposed(const R& q, const R& k, const R& v, const AttentionOptions& o, const ScoreFormula& formula) {
  const Sizes s = checked(value_of(q), value_of(k), value_of(v));
  const Shape space{s.batch, s.heads, s.rows, s.columns};
  const PoolVector<Argument> of_mask(o.mask_operands.begin(), o.mask_operands.end());
  if (formula.graph) check_formula("formula", formula.graph, formula.values, 5, formula.operands, space);
  if (o.mask) check_formula("mask", o.mask->graph(), o.mask->values(), 4, of_mask, space);
  if (o.window && *o.window < 1) refuse(kOp, "window", "1 or more", std::to_string(*o.window));
  const Tensor lengths = o.lengths.defined() ? checked_lengths(o.lengths, s, value_of(q)) : Tensor();
  const DType wide = dtype_size(q.dtype()) == 2 ? DType::f32 : q.dtype();
  const Shape keys{s.batch, s.groups, s.columns, s.depth}, values{s.batch, s.groups, s.columns, s.width};
  const std::int64_t shared = s.groups > 0 ? s.heads / s.groups * s.rows : 0;
  const R scores =
      wide_product(q.reshape({s.batch, s.groups, shared, s.depth}), k.reshape(keys).mT(), wide).reshape(space);
  PoolVector<Argument> list{Argument(scores), Argument(o.scale.value_or(1 / std::sqrt(static_cast<double>(s.depth)))),
                            Argument(s.columns - s.rows), Argument(o.window.value_or(0)),
                            lengths.defined() ? Argument(lengths) : Argument(std::int32_t{0})};
  for (const Argument& operand : formula.operands) list.push_back(operand);
  for (const Number& value : formula.values) list.push_back(Argument(value));
  for (const Argument& operand : of_mask) list.push_back(operand);
  if (o.mask)
    for (const Number& value : o.mask->values()) list.push_back(Argument(value));
  const Parts parts{formula.graph,     o.mask ? o.mask->graph() : nullptr,
                    o.causal,          o.window.has_value(),
                    lengths.defined(), o.logsumexp != nullptr,
                    q.dtype()};
  std::array<R, 2> rows;
  fused({kOp, cached_graph(parts), 8, {}}, list, std::span<R>(rows.data(), o.logsumexp ? 2 : 1));
  Shape result = q.shape();
  if (o.logsumexp) result.resize(q.dim() - 1), *o.logsumexp = value_of(rows[1]).reshape(result);
  result = q.shape(), result.back() = s.width;
  return matmul(rows[0].reshape({s.batch, s.groups, shared, s.columns}), v.reshape(values)).reshape(result);
}

}  // namespace

Tensor attention_of(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o,
                    const ScoreFormula& formula) {
  return decomposed(q, k, v, o, formula);
}
Var attention_of(const Var& q, const Var& k, const Var& v, const AttentionOptions& o, const ScoreFormula& formula) {
  return decomposed(q, k, v, o, formula);
}

}  // namespace tern::detail
