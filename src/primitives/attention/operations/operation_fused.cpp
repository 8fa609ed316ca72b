#include "primitives/attention/operations/operation_fused.hpp"

#include "backend/run.hpp"
#include "tern/ops.hpp"
#include "tern/products.hpp"

namespace tern::detail {
namespace {

constexpr const char* kFusedOp = "attention";
constexpr std::int64_t kWidest = 256;  // of keys and of values

/// Σ a·b over the last axis; of 16-bit floats in f32.
Tensor dots(const Tensor& a, const Tensor& b) {
  if (dtype_size(a.dtype()) > 2) return vecdot(a, b);
  return row_formula([](auto x, auto y) { return sum(cast(x, DType::f32) * cast(y, DType::f32)); }, a, b);
}
DType wide_type(const Tensor& q) { return dtype_size(q.dtype()) == 2 ? DType::f32 : q.dtype(); }

}  // namespace

/// Programs and operands of a call.
struct FusedAttention::Formula {
  AttentionPrograms programs;
  const Program *slope = nullptr, *open_slope = nullptr;
  PoolVector<Operand> inputs;
  AttentionSizes sizes;
  View blocks;

  Formula(const FusedAttention& a, DType type, bool backward) : sizes(a.sizes) {
    const AttentionGraphs& graphs = attention_graphs(a.formulas, type);
    if (!graphs.score) sizes.scale = a.scale;
    if (!graphs.score && !graphs.thin) return;
    const Shape space = sizes.of_scores();
    SmallVector<InputType, 8> types;
    types.push_back({type, false}), types.push_back({DType::f32, true});
    inputs.push_back({{}, Number(a.scale)});
    for (std::size_t i = 0; i < a.tensors.size(); ++i) {
      const Tensor& t = a.tensors[i];
      types.push_back(t.defined() ? InputType{t.dtype(), false} : InputType{DType::f32, true});
      inputs.push_back(t.defined() ? Operand{view_over(t, space), {}} : Operand{{}, a.numbers[i]});
    }
    SmallVector<InputType, 8> of_slope;
    of_slope.push_back({type, false});
    for (const InputType& t : types) of_slope.push_back(t);
    const auto typed = [&](const FormulaGraph* graph, const SmallVector<InputType, 8>& of) {
      if (!graph) return static_cast<const Program*>(nullptr);
      const Program& program = type_program(kFusedOp, graph, of);
      check_coordinates(kFusedOp, program, space, 0);
      return &program;
    };
    programs.score = typed(graphs.score, types), programs.thin = typed(graphs.thin, types);
    if (a.blocks.defined()) {
      blocks = view_over(a.blocks, sizes.of_blocks()), programs.open = typed(graphs.open, types);
    }
    if (!backward) return;
    slope = typed(graphs.slope, of_slope);
    if (a.blocks.defined()) open_slope = typed(graphs.open_slope, of_slope);
  }
};

Tensor FusedAttention::logsumexp(const Tensor& rows) { return rows[0] + log(rows[1]); }

bool FusedAttention::applies(const Tensor& q, bool with_gradients) const {
  Backend& backend = q.impl()->storage->backend();
  const AttentionSizes& s = sizes;
  return s.batch * s.heads * s.rows > 0 && s.columns > 0 && s.depth > 0 && s.width > 0 && s.depth <= kWidest &&
         s.width <= kWidest && attention_pays(backend, s, q.dtype(), with_gradients);
}
bool FusedAttention::has_backward(const Tensor& q) const {
  return q.impl()->storage->backend().offers<AttentionBackwardRequest>();
}

Tensor FusedAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v, Tensor* rows) const {
  require_kernels(kFusedOp, q);
  Backend& backend = q.impl()->storage->backend();
  const Formula formula(*this, wide_type(q), false);
  Tensor out = make_tensor(sizes.of_result(), sizes.parts > 1 ? wide_type(q) : q.dtype(), backend, kFusedOp);
  AttentionRequest r;
  r.op = kFusedOp, r.sizes = formula.sizes;
  r.q = view_over(q, sizes.of_q()), r.k = view_over(k, sizes.of_k()), r.v = view_over(v, sizes.of_v());
  if (lengths.defined()) r.lengths = view_over(lengths, Shape{sizes.batch});
  r.programs = formula.programs, r.blocks = formula.blocks, r.inputs = formula.inputs;
  r.out = view_over(out, sizes.of_result());
  if (rows) {
    *rows = make_tensor(Shape{2, sizes.parts * sizes.batch, sizes.heads, sizes.rows}, wide_type(q), backend, kFusedOp);
    r.tops = view_over((*rows)[0], sizes.of_rows()), r.totals = view_over((*rows)[1], sizes.of_rows());
  }
  run(backend, r);
  return out;
}

/// Heads that share keys as rows of one head, where each has one row: keys are then read once for all of them.
FusedAttention FusedAttention::with_heads_as_rows() const {
  FusedAttention a = *this;
  const std::int64_t shared = sizes.shared();
  if (sizes.rows != 1 || shared == 1 || sizes.window > 0 || blocks.defined()) return a;
  a.sizes.heads = sizes.groups, a.sizes.rows = shared;
  a.sizes.causal = false;  // the one row sees all columns
  a.formulas.heads_as_rows = shared;
  for (Tensor& t : a.tensors) {
    if (!t.defined() || t.dim() < 3 || t.size(-3) == 1) continue;
    Shape shape = t.shape();
    shape[static_cast<std::size_t>(t.dim() - 3)] = sizes.groups, shape[static_cast<std::size_t>(t.dim() - 2)] = shared;
    t = t.reshape(shape);
  }
  return a;
}
namespace {
/// Of stretches of columns [parts, ..] what they are together: of results, greatest scores and sums the result.
Tensor merged(const Tensor& of, const Tensor& tops, const Tensor& totals, DType type) {
  static const FormulaGraph* const graph = [] {
    const Expr top = max(make_input(1)), base = where(top == -kInf, 0, top);
    const Expr weight = exp(make_input(1) - base) * make_input(2), total = sum(weight);
    const Expr outputs[] = {sum(weight * make_input(0)) / where(total == 0, 1, total)};
    return make_graph(outputs, 3);
  }();
  const Argument list[] = {of, tops, totals};
  return fused_one<Tensor>({.op = kFusedOp, .graph = graph, .reduced = 1, .space = {}, .drops_axes = true}, list)
      .to(type);
}
/// The greatest scores and the sums.
Tensor merged_rows(const Tensor& tops, const Tensor& totals) {
  static const FormulaGraph* const graph = [] {
    const Expr top = max(make_input(0)), base = where(top == -kInf, 0, top);
    const Expr outputs[] = {top, sum(exp(make_input(0) - base) * make_input(1))};
    return make_graph(outputs, 2);
  }();
  std::array<Tensor, 2> y;
  const Argument list[] = {tops, totals};
  fused({.op = kFusedOp, .graph = graph, .reduced = 1, .space = {}, .drops_axes = true}, list, y);
  return stack(std::vector<Tensor>{y[0], y[1]}, 0);
}
}  // namespace
Tensor FusedAttention::alone(const Tensor& q, const Tensor& k, const Tensor& v, Tensor* rows) const {
  FusedAttention a = with_heads_as_rows();
  a.sizes.parts = attention_parts(q.impl()->storage->backend(), a.sizes, q.dtype());
  const std::int64_t parts = a.sizes.parts;
  Tensor known, y = a.forward(q.reshape(a.sizes.of_q()), k, v, rows || parts > 1 ? &known : nullptr);
  if (parts > 1) {
    Shape shape{parts, a.sizes.batch, a.sizes.heads, a.sizes.rows};
    const Tensor tops = known[0].reshape(shape), totals = known[1].reshape(shape);
    shape.push_back(a.sizes.width);
    y = merged(y.reshape(shape), tops.unsqueeze(-1), totals.unsqueeze(-1), q.dtype());
    if (rows) known = merged_rows(tops, totals);
  }
  if (rows) *rows = known.reshape({2, sizes.batch, sizes.heads, sizes.rows});
  return y.reshape(sizes.of_result());
}

std::array<Tensor, 3> FusedAttention::backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                                               const Tensor& rows, const Tensor& out_grad) const {
  Backend& backend = q.impl()->storage->backend();
  const DType wide = wide_type(q);
  const Formula formula(*this, wide, true);
  const Tensor means = dots(out, out_grad).reshape(sizes.of_rows());
  const auto made = [&](const Shape& shape) { return make_tensor(shape, q.dtype(), backend, kFusedOp); };
  std::array<Tensor, 3> grads{made(sizes.of_q())};
  AttentionBackwardRequest r;
  r.op = kFusedOp, r.sizes = formula.sizes;
  r.q = view_over(q, sizes.of_q()), r.k = view_over(k, sizes.of_k()), r.v = view_over(v, sizes.of_v());
  if (lengths.defined()) r.lengths = view_over(lengths, Shape{sizes.batch});
  r.programs = formula.programs, r.slope = formula.slope, r.open_slope = formula.open_slope;
  r.blocks = formula.blocks;
  r.inputs = formula.inputs, r.slope_inputs = formula.inputs;
  r.tops = view_over(rows[0], sizes.of_rows()), r.totals = view_over(rows[1], sizes.of_rows());
  r.means = view_over(means, sizes.of_rows());
  r.out_grad = view_over(out_grad, sizes.of_result());
  r.q_grad = view_over(grads[0], sizes.of_q());
  if (attention_keeps_shares(backend, r)) {
    const Tensor shares = made(sizes.of_scores()), slopes = made(sizes.of_scores());
    r.shares = view_over(shares, sizes.of_scores()), r.slopes = view_over(slopes, sizes.of_scores());
    run(backend, r);
    grads[1] = of_keys(slopes, q, r.sizes.scale), grads[2] = of_keys(shares, out_grad, 1);
    return grads;
  }
  grads[1] = made(sizes.of_k()), grads[2] = made(sizes.of_v());
  r.k_grad = view_over(grads[1], sizes.of_k()), r.v_grad = view_over(grads[2], sizes.of_v());
  run(backend, r);
  return grads;
}
/// Σ weights · of, over all rows of the heads that share a key, for each key; times a factor.
Tensor FusedAttention::of_keys(const Tensor& weights, const Tensor& of, double factor) const {
  const std::int64_t rows = sizes.shared() * sizes.rows;
  const Tensor a = weights.reshape({sizes.batch, sizes.groups, rows, sizes.columns}).mT();
  const Tensor b = of.reshape({sizes.batch, sizes.groups, rows, of.size(-1)});
  if (factor == 1) return matmul(a, b);
  return matmul_epilogue(a, b, [](auto sum, auto by) { return sum * by; }, factor);
}

}  // namespace tern::detail
