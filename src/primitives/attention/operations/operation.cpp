// Attention: by the primitive, or as two products with one row formula between them, which holds the user's.
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <utility>

#include "primitives/attention/operations/operation_checks.hpp"
#include "primitives/attention/operations/operation_fused.hpp"
#include "primitives/fused/operation_widened.hpp"
#include "primitives/gemm/operation.hpp"
#include "tern/checkpoint.hpp"
#include "tern/ops.hpp"

namespace tern::detail {

namespace {

/// a·b of matrices, f32 where they have 16 bits.
Tensor wide_product(const Tensor& a, const Tensor& b, DType type) {
  Tensor y;
  run_product({kAttentionOp, nullptr, product_shape(kAttentionOp, a, b).batch, type}, a, b, {}, {}, {&y, 1});
  return y;
}
/// Its gradients are products of 16-bit operands again: the cotangent is rounded to them.
Var wide_product(const Var& a, const Var& b, DType type) {
  if (a.dtype() == type) return product(kAttentionOp, a, b, product_shape(kAttentionOp, a.value(), b.value()).batch);
  const Var inputs[] = {a, b};
  PoolVector<Save> saved{{as_var(a.value()), -1, 0}, {as_var(b.value()), -1, 1}};
  return record_one(kAttentionOp, inputs, wide_product(a.value(), b.value(), type), std::move(saved),
                    [](const RuleContext& c) {
                      const Var g = c.grads[0].to(c.saved[0].dtype());
                      PoolVector<Var> grads(2);
                      if (c.wanted[0] && c.needed[0]) grads[0] = matmul(g, c.saved[1].mT());
                      if (c.wanted[1] && c.needed[1]) grads[1] = matmul(c.saved[0].mT(), g);
                      return grads;
                    });
}

/// Where D is 0 all scores are 0, whatever they are multiplied by; 0 times the infinite 1/√0 would be NaN.
double scale_of(const AttentionOptions& o, const CallSizes& s) {
  return o.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(s.depth, 1))));
}

/// An operand of a formula, held: backward may compute a block again when the call is over.
template <TensorOrVar R> struct Held {
  explicit Held(const MaskOperand& m) : number(m.number) {
    if (m.tensor.defined()) of = operand_as<R>(m.tensor);
  }
  explicit Held(const Argument& a) {
    if (a.tensor || a.var) {
      if constexpr (std::same_as<R, Var>) of = a.var ? *a.var : as_var(*a.tensor);
      else of = value_of(a);
    } else number = a.number;
  }
  Argument argument() const { return of.defined() ? Argument(of) : Argument(number); }
  R of;
  Number number;
};
/// A stretch of rows and the columns that one of them may see.
struct RowBlock {
  std::int64_t row = 0, rows_end = 0, column = 0, columns_end = 0;
};
/// All that one call was given, checked.
template <TensorOrVar R> struct Attention {
  CallSizes s;
  AttentionOptions options;
  AttentionFormulas formulas;
  /// Of the score's formula and the mask, with the numbers they were traced with, and of dropout.
  std::vector<Held<R>> operands;
  Tensor lengths;

  Attention(const R& q, const R& k, const R& v, const AttentionOptions& o, const ScoreFormula& formula)
      : s(attention_sizes(value_of(q), value_of(k), value_of(v))), options(o), formulas{.score = formula.graph} {
    const Shape space{s.batch, s.heads, s.rows, s.columns};
    const Pointwise<>* const mask = attention_mask(o);
    const std::vector<MaskOperand>& of_mask = o.mask ? o.mask_operands : o.block_mask.operands();
    if (formula.graph)
      check_attention_formula("formula", formula.graph, formula.values, 5, formula.operands, space, value_of(q));
    for (const Argument& a : formula.operands) operands.emplace_back(a);
    for (const Number& n : formula.values) operands.emplace_back(Argument(n));
    if (mask) {
      PoolVector<Argument> list;
      for (const MaskOperand& m : of_mask) list.push_back(m.tensor.defined() ? Argument(m.tensor) : Argument(m.number));
      check_attention_formula("mask", formulas.mask = mask->graph(), mask->values(), 4, list, space, value_of(q));
      for (const MaskOperand& m : of_mask) operands.emplace_back(m);
      for (const Number& n : mask->values()) operands.emplace_back(Argument(n));
    }
    check_attention_options(o, s, value_of(q));
    // No column is further away; what does not fit 32 bits would be another number on a GPU.
    if (o.window) options.window = std::min(*o.window, s.rows + s.columns);
    if (o.lengths.defined()) lengths = attention_lengths(o.lengths, s, value_of(q));
    if (o.dropout > 0) add_dropout(value_of(q).device());
  }
  /// A key of its own for each call, drawn where the call runs, so that a replay draws another.
  void add_dropout(Device device) {
    formulas.dropout = true;
    const Tensor key = randint(0, INT32_MAX, {2}, *options.generator, {.dtype = DType::i32, .device = device});
    for (std::int64_t i = 0; i < 2; ++i) operands.emplace_back(MaskOperand(key[i]));
    operands.emplace_back(Argument(options.dropout));
  }
  bool whole(const RowBlock& b) const {
    return b.row == 0 && b.rows_end == s.rows && b.column == 0 && b.columns_end == s.columns;
  }
  /// The rows and columns of a block of what is laid over the scores, where it has all of them.
  R part(const R& x, const RowBlock& b) const {
    R y = x;
    if (x.dim() >= 2 && s.rows != 1 && x.size(-2) == s.rows) y = y.slice(-2, b.row, b.rows_end);
    if (x.dim() >= 1 && s.columns != 1 && x.size(-1) == s.columns) y = y.slice(-1, b.column, b.columns_end);
    return y;
  }
  /// The result of one block (q [B, H, l, D], k and v [B, G, s, ..]), and the logarithms of its sums where asked for.
  std::array<R, 2> block(const R& q, const R& k, const R& v, const RowBlock& b, bool with_sum) const {
    const std::int64_t l = b.rows_end - b.row, c = b.columns_end - b.column;
    const DType wide = dtype_size(q.dtype()) == 2 ? DType::f32 : q.dtype();
    const std::int64_t shared = s.groups > 0 ? s.heads / s.groups * l : 0;
    const R scores =
        wide_product(q.reshape({s.batch, s.groups, shared, s.depth}), k.mT(), wide).reshape({s.batch, s.heads, l, c});
    PoolVector<Argument> list{Argument(scores),
                              Argument(scale_of(options, s)),
                              Argument(s.columns - s.rows),
                              Argument(options.window.value_or(0)),
                              lengths.defined() ? Argument(lengths) : Argument(std::int32_t{0}),
                              Argument(b.row),
                              Argument(b.column)};
    PoolVector<R> parts;
    parts.reserve(operands.size());
    for (const Held<R>& operand : operands) {
      if (operand.of.defined()) parts.push_back(whole(b) ? operand.of : part(operand.of, b));
      list.push_back(operand.of.defined() ? Argument(parts.back()) : operand.argument());
    }
    const RowParts graph{formulas,  options.causal, options.window.has_value(), lengths.defined(), with_sum,
                         !whole(b), q.dtype()};
    std::array<R, 2> rows;
    fused({.op = kAttentionOp, .graph = attention_row_graph(graph), .reduced = 8, .space = {}}, list,
          std::span<R>(rows.data(), with_sum ? 2 : 1));
    const R shares = rows[0].reshape({s.batch, s.groups, shared, c});
    return {matmul(shares, v).reshape({s.batch, s.heads, l, s.width}), rows[1]};
  }
};

// Masks by place skip what no row of a block sees; and of many scores only one block is there at a time.
constexpr std::int64_t kFewestBlockRows = 128, kMostScores = std::int64_t{1} << 26;
/// How many rows a block has.
std::int64_t rows_of_blocks(const CallSizes& s, const AttentionOptions& o) {
  if (o.rows_at_once > 0) return o.rows_at_once;
  const std::int64_t a_row = std::max<std::int64_t>(1, s.batch * s.heads * s.columns);
  std::int64_t rows = std::max<std::int64_t>(s.rows, 1);
  if (o.causal || o.window) rows = std::max(kFewestBlockRows, (rows + 7) / 8);
  if (s.rows > kMostKeptScores / a_row) rows = std::min(rows, std::max<std::int64_t>(1, kMostScores / a_row));
  return rows;
}
RowBlock block_at(const CallSizes& s, const AttentionOptions& o, std::int64_t row, std::int64_t rows) {
  RowBlock b{row, std::min(s.rows, row + rows), 0, s.columns};
  const std::int64_t shift = s.columns - s.rows;
  if (o.causal) b.columns_end = std::clamp<std::int64_t>(b.rows_end + shift, 0, s.columns);
  if (!o.window) return b;
  const std::int64_t reach = *o.window - 1;
  b.columns_end = std::clamp<std::int64_t>(b.rows_end + shift + reach, 0, b.columns_end);
  b.column = std::clamp<std::int64_t>(b.row + shift - reach, 0, b.columns_end);
  return b;
}

/// k or v with zeros beyond a sample's length: a share of 0 times what lies there could be NaN.
template <TensorOrVar R> R within_lengths(const R& x, const Tensor& lengths) {
  static const Pointwise own(kAttentionOp, [](auto of, auto length) { return where(index(of, -2) < length, of, 0); });
  return lengths.defined() ? R(own(x, lengths)) : x;
}
/// The decomposed computation, in blocks of rows: q [B, H, L, D], k and v [B, G, S, ..] give [B, H, L, Dv].
template <TensorOrVar R>
R blocks_of(const Attention<R>& given, const R& of_q, const R& all_k, const R& all_v, Tensor* sums) {
  const CallSizes& s = given.s;
  const AttentionOptions& o = given.options;
  const std::int64_t rows = rows_of_blocks(s, o);
  const bool again = o.rows_at_once > 0 || rows * 8 < s.rows;
  Attention<R> all = given;
  R of_k = within_lengths(all_k, all.lengths), of_v = within_lengths(all_v, all.lengths);
  // What several blocks read is in f32 before, so that their gradients are added up in f32, and rounded once.
  if (std::same_as<R, Var> && rows < s.rows) {
    of_k = widened(of_k), of_v = widened(of_v);
    for (Held<R>& operand : all.operands)
      if (operand.of.defined()) operand.of = widened(operand.of);
  }
  const DType dtype = of_q.dtype();
  std::vector<R> results;
  std::vector<Tensor> logs;
  for (std::int64_t row = 0; row == 0 || row < s.rows; row += rows) {
    const RowBlock b = block_at(s, o, row, rows);
    const auto columns = [&](const R& x) {
      return b.column == 0 && b.columns_end == s.columns ? x : x.slice(-2, b.column, b.columns_end);
    };
    const R q_part = rows >= s.rows ? of_q : of_q.slice(-2, b.row, b.rows_end), k_part = columns(of_k),
            v_part = columns(of_v);
    if constexpr (std::same_as<R, Var>)
      if (again) {
        const auto log = sums ? std::make_shared<Tensor>() : nullptr;
        const auto run = [all, b, log](const Var& x, const Var& y, const Var& z) {
          const std::array<Var, 2> rows_of = all.block(x, y.to(x.dtype()), z.to(x.dtype()), b, log != nullptr);
          if (log) *log = rows_of[1].value();
          return rows_of[0];
        };
        results.push_back(checkpoint(run)(q_part, k_part, v_part));
        if (log) logs.push_back(*log);
        continue;
      }
    const std::array<R, 2> y = all.block(q_part, R(k_part.to(dtype)), R(v_part.to(dtype)), b, sums != nullptr);
    results.push_back(y[0]);
    if (sums) logs.push_back(value_of(y[1]));
  }
  if (sums) *sums = logs.size() == 1 ? logs[0] : concatenate(logs, 2);
  return results.size() == 1 ? results[0] : concatenate(results, 2);
}

/// A call for the primitive.
template <TensorOrVar R> FusedAttention fused_call(const Attention<R>& all) {
  const CallSizes& s = all.s;
  const AttentionOptions& o = all.options;
  FusedAttention call;
  call.sizes.batch = s.batch, call.sizes.heads = s.heads, call.sizes.groups = s.groups, call.sizes.rows = s.rows;
  call.sizes.columns = s.columns, call.sizes.depth = s.depth, call.sizes.width = s.width;
  call.sizes.causal = o.causal, call.sizes.window = o.window.value_or(0);
  call.formulas = all.formulas, call.blocks = o.block_mask.blocks();
  for (const Held<R>& operand : all.operands) {
    call.tensors.push_back(operand.of.defined() ? value_of(operand.of) : Tensor());
    call.numbers.push_back(operand.number);
  }
  call.scale = scale_of(o, s);
  if (all.lengths.defined()) call.lengths = all.lengths.reshape({s.batch});
  return call;
}
/// The gradients of q, k, v and the operands. By the primitive where those of q, k and v are asked for and are not to
/// have gradients themselves; else by the computation it stands for. Saved: q, k, v, the result, what is known
/// of its rows, then the operands that are tensors.
struct FusedRule {
  FusedAttention call;
  Attention<Var> all;           // whose operands are numbers, or else come from what was saved
  std::vector<std::size_t> at;  // which of the operands are tensors

  static constexpr std::size_t kFirstOperand = 5;
  /// Where input i of the operation (q, k, v, operands) is among what was saved.
  static std::size_t place_of(std::size_t input) { return input < 3 ? input : kFirstOperand + input - 3; }

  PoolVector<Var> operator()(const RuleContext& c) const {
    const bool nested = grad_enabled();
    bool of_operands = false;
    for (std::size_t i = 3; i < 3 + at.size(); ++i) of_operands |= c.wanted[i] && c.needed[i];
    PoolVector<Var> grads(3 + at.size());
    if (!nested && !of_operands && call.has_backward(c.saved[0].value())) {
      const std::array<Tensor, 3> g = call.backward(c.saved[0].value(), c.saved[1].value(), c.saved[2].value(),
                                                    c.saved[3].value(), c.saved[4].value(), c.grads[0].value());
      for (std::size_t i = 0; i < 3; ++i) grads[i] = as_var(g[i]);
      return grads;
    }
    const RecordingScope recording;
    std::vector<Var> inputs, targets;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      const Var& x = c.saved[place_of(i)];
      const bool wanted = c.wanted[i] && c.needed[i];
      inputs.push_back(wanted ? alias(nested ? x : Var(x.value())) : x);
      if (wanted) targets.push_back(inputs.back());
    }
    Attention<Var> again = all;
    for (std::size_t i = 0; i < at.size(); ++i) again.operands[at[i]].of = inputs[3 + i];
    const Var y = blocks_of(again, inputs[0], inputs[1], inputs[2], nullptr);
    const std::vector<Var> found =
        backward_to({&y, 1}, c.grads.first(1), targets, {.create_graph = nested, .keep_graph = nested});
    std::size_t next = 0;
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (c.wanted[i] && c.needed[i]) grads[i] = found[next++];
    return grads;
  }
};
Tensor by_primitive(const FusedAttention& call, const Attention<Tensor>&, const Tensor& q, const Tensor& k,
                    const Tensor& v, Tensor* sums) {
  Tensor rows, y = call.alone(q, k, v, sums ? &rows : nullptr);
  if (sums) *sums = FusedAttention::logsumexp(rows);
  return y;
}
Var by_primitive(FusedAttention call, const Attention<Var>& all, const Var& q, const Var& k, const Var& v,
                 Tensor* sums) {
  std::vector<Var> inputs{q, k, v};
  FusedRule rule{std::move(call), all, {}};
  for (std::size_t i = 0; i < all.operands.size(); ++i)
    if (all.operands[i].of.defined()) {
      inputs.push_back(all.operands[i].of), rule.at.push_back(i);
      rule.all.operands[i].of = as_var(inputs.back().value());
    }
  const bool recorded = grad_enabled() && wanted_mask(inputs).any();
  Tensor rows, y = recorded ? rule.call.forward(q.value(), k.value(), v.value(), &rows)
                            : rule.call.alone(q.value(), k.value(), v.value(), sums ? &rows : nullptr);
  if (sums) *sums = FusedAttention::logsumexp(rows);
  if (!recorded) return as_var(y);
  PoolVector<Save> saved;
  for (int i = 0; i < 3; ++i) saved.push_back({as_var(inputs[static_cast<std::size_t>(i)].value()), -1, i});
  saved.push_back({Var(), 0}), saved.push_back({as_var(rows)});
  for (std::size_t i = 3; i < inputs.size(); ++i) saved.push_back({as_var(inputs[i].value()), -1, static_cast<int>(i)});
  // Not read from there: backward after a write to them throws, as after one to q.
  if (rule.call.lengths.defined()) saved.push_back({as_var(rule.call.lengths)});
  return record_one(kAttentionOp, inputs, std::move(y), std::move(saved), std::move(rule));
}

/// Sets a generator back where a call throws that has drawn from it.
class DrawnOnlyIfDone {
 public:
  explicit DrawnOnlyIfDone(Generator* generator) : generator_(generator) {
    if (generator_) before_ = *generator_;
  }
  ~DrawnOnlyIfDone() {
    if (generator_ && std::uncaught_exceptions() > exceptions_) *generator_ = before_;
  }
  DrawnOnlyIfDone(const DrawnOnlyIfDone&) = delete;
  DrawnOnlyIfDone& operator=(const DrawnOnlyIfDone&) = delete;

 private:
  Generator* generator_;
  Generator before_;
  int exceptions_ = std::uncaught_exceptions();
};

template <TensorOrVar R>
R attended(const R& q, const R& k, const R& v, const AttentionOptions& o, const ScoreFormula& formula) {
  const DrawnOnlyIfDone drawn(o.dropout > 0 ? o.generator : nullptr);
  Attention<R> all(q, k, v, o, formula);
  const CallSizes& s = all.s;
  Tensor* const sums = std::exchange(all.options.logsumexp, nullptr);
  const R of_q = q.reshape({s.batch, s.heads, s.rows, s.depth});
  const R of_k = k.reshape({s.batch, s.groups, s.columns, s.depth});
  const R of_v = v.reshape({s.batch, s.groups, s.columns, s.width});
  const FusedAttention call = fused_call(all);
  bool with_gradients = false;
  if constexpr (std::same_as<R, Var>) {
    const Var inputs[] = {q, k, v};
    with_gradients = grad_enabled() && wanted_mask(inputs).any();
  }
  const bool fused = o.rows_at_once == 0 && call.applies(value_of(q), with_gradients);
  const R y = fused ? by_primitive(call, all, of_q, of_k, of_v, sums) : blocks_of(all, of_q, of_k, of_v, sums);
  Shape shape = q.shape();
  shape.resize(q.dim() - 1);
  if (sums) *sums = sums->reshape(shape);
  shape.push_back(s.width);
  return y.reshape(shape);
}

}  // namespace

template <TensorOrVar T>
T attention_of(const T& q, const T& k, const T& v, const AttentionOptions& o, const ScoreFormula& formula) {
  return attended(q, k, v, o, formula);
}
template Tensor attention_of(const Tensor&, const Tensor&, const Tensor&, const AttentionOptions&, const ScoreFormula&);
template Var attention_of(const Var&, const Var&, const Var&, const AttentionOptions&, const ScoreFormula&);

}  // namespace tern::detail
