#include "ops/neural/attention_fused.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "backend/run.hpp"
#include "process/fork.hpp"
#include "tern/ops.hpp"
#include "tern/products.hpp"

namespace tern::detail {
namespace {

constexpr const char* kOp = "attention";
constexpr std::int64_t kWidest = 256;  // of keys and of values

/// The formula of the scores, and its derivative by them. Inputs: the product, its scale, then what the user's read.
struct Graphs {
  const FormulaGraph *score = nullptr, *slope = nullptr;
};
Expr with(const FormulaGraph* graph, std::vector<Expr> leading, int& next) {
  while (static_cast<int>(leading.size()) < graph->inputs) leading.push_back(make_input(next++));
  return substitute(graph, leading)[0];
}
const FormulaGraph* score_graph(const FormulaGraph* of_score, const FormulaGraph* of_mask, DType type) {
  const Expr product = make_input(0);
  const std::vector<Expr> at{index(product, -4), index(product, -3), index(product, -2), index(product, -1)};
  Expr score = product * make_input(1);
  int next = 2;
  if (of_score) {
    std::vector<Expr> leading{score};
    leading.insert(leading.end(), at.begin(), at.end());
    score = with(of_score, leading, next);
  }
  if (of_mask) score = where(with(of_mask, at, next), score, -kInf);
  const Expr outputs[] = {cast(score, type)};
  return make_graph(outputs, next);
}
/// Inputs: the product, the cotangent, then those of the score's graph from its scale on.
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
const Graphs& graphs_of(const FormulaGraph* score, const FormulaGraph* mask, DType type) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& known = *new std::map<std::tuple<const FormulaGraph*, const FormulaGraph*, DType>, Graphs>;
  const std::lock_guard hold(lock);
  Graphs& graphs = known[{score, mask, type}];
  if (!graphs.score) {
    graphs.score = score_graph(score, mask, type);
    graphs.slope = slope_graph(graphs.score, type);
  }
  return graphs;
}
/// Σ a·b over the last axis; of 16-bit floats in f32.
Tensor dots(const Tensor& a, const Tensor& b) {
  if (dtype_size(a.dtype()) > 2) return vecdot(a, b);
  return row_formula([](auto x, auto y) { return sum(cast(x, DType::f32) * cast(y, DType::f32)); }, a, b);
}
DType wide_type(const Tensor& q) { return dtype_size(q.dtype()) == 2 ? DType::f32 : q.dtype(); }

}  // namespace

/// Programs and operands of a call; none where scores are the products.
struct FusedAttention::Formula {
  const Program *program = nullptr, *slope = nullptr;
  PoolVector<Operand> inputs;
  AttentionSizes sizes;

  Formula(const FusedAttention& a, DType type, bool backward) : sizes(a.sizes) {
    if (!a.score && !a.mask) {
      sizes.scale = a.scale;
      return;
    }
    const Graphs& graphs = graphs_of(a.score, a.mask, type);
    const Shape space = sizes.of_scores();
    SmallVector<InputType, 8> types;
    types.push_back({type, false}), types.push_back({DType::f32, true});
    inputs.push_back({{}, Number(a.scale)});
    for (std::size_t i = 0; i < a.tensors.size(); ++i) {
      const Tensor& t = a.tensors[i];
      types.push_back(t.defined() ? InputType{t.dtype(), false} : InputType{DType::f32, true});
      inputs.push_back(t.defined() ? Operand{view_over(t, space), {}} : Operand{{}, a.numbers[i]});
    }
    program = &type_program(kOp, graphs.score, types);
    check_coordinates(kOp, *program, space, 0);
    if (!backward) return;
    SmallVector<InputType, 8> of_slope;
    of_slope.push_back({type, false});
    for (const InputType& t : types) of_slope.push_back(t);
    slope = &type_program(kOp, graphs.slope, of_slope);
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
  require_kernels(kOp, q);
  Backend& backend = q.impl()->storage->backend();
  const Formula formula(*this, wide_type(q), false);
  Tensor out = make_tensor(sizes.of_result(), q.dtype(), backend, kOp);
  AttentionRequest r{.op = kOp, .sizes = formula.sizes};
  r.q = view_over(q, sizes.of_q()), r.k = view_over(k, sizes.of_k()), r.v = view_over(v, sizes.of_v());
  if (lengths.defined()) r.lengths = view_over(lengths, Shape{sizes.batch});
  r.program = formula.program, r.inputs = formula.inputs;
  r.out = view_over(out, sizes.of_result());
  if (rows) {
    *rows = make_tensor(Shape{2, sizes.batch, sizes.heads, sizes.rows}, wide_type(q), backend, kOp);
    r.tops = view_over((*rows)[0], sizes.of_rows()), r.totals = view_over((*rows)[1], sizes.of_rows());
  }
  run(backend, r);
  return out;
}

std::array<Tensor, 3> FusedAttention::backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                                               const Tensor& rows, const Tensor& out_grad) const {
  Backend& backend = q.impl()->storage->backend();
  const DType wide = wide_type(q);
  const Formula formula(*this, wide, true);
  const Tensor means = dots(out, out_grad).reshape(sizes.of_rows());
  std::array<Tensor, 3> grads{make_tensor(sizes.of_q(), q.dtype(), backend, kOp),
                              make_tensor(sizes.of_k(), q.dtype(), backend, kOp),
                              make_tensor(sizes.of_v(), q.dtype(), backend, kOp)};
  AttentionBackwardRequest r{.op = kOp, .sizes = formula.sizes};
  r.q = view_over(q, sizes.of_q()), r.k = view_over(k, sizes.of_k()), r.v = view_over(v, sizes.of_v());
  if (lengths.defined()) r.lengths = view_over(lengths, Shape{sizes.batch});
  r.program = formula.program, r.slope = formula.slope;
  r.inputs = formula.inputs, r.slope_inputs = formula.inputs;
  r.tops = view_over(rows[0], sizes.of_rows()), r.totals = view_over(rows[1], sizes.of_rows());
  r.means = view_over(means, sizes.of_rows());
  r.out_grad = view_over(out_grad, sizes.of_result());
  r.q_grad = view_over(grads[0], sizes.of_q()), r.k_grad = view_over(grads[1], sizes.of_k());
  r.v_grad = view_over(grads[2], sizes.of_v());
  run(backend, r);
  return grads;
}

}  // namespace tern::detail
