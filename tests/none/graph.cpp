// The interned graph: equal expressions are one node, rewrites only where every input keeps its bits, and keys that
// hold structure and literals alone.
#include "formula/graph.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tern/tern.hpp"

namespace tern::detail {
namespace {

class GraphTest : public testing::Test {
 protected:
  const Expr x = make_input(0), y = make_input(1);
  static Expr number(double v) { return make_constant(Number(v)); }
  static const Node* node(const Expr& e) { return e.node(); }
};

TEST_F(GraphTest, EqualExpressionsAreOneNode) {
  EXPECT_EQ(node(exp(x) * y), node(exp(make_input(0)) * make_input(1)));
  EXPECT_NE(node(exp(x) * y), node(y * exp(x))) << "operands keep their order: NaN payloads follow it";
  EXPECT_NE(node(x), node(y));
  EXPECT_NE(node(make_input(0)), node(make_input(0, false)));
  EXPECT_EQ(node(number(2)), node(make_constant(Number(std::int64_t{2}))));
  EXPECT_NE(node(number(0.0)), node(number(-0.0)));
}
TEST_F(GraphTest, RewritesThatKeepEveryBit) {
  EXPECT_EQ(node(x + -y), node(x - y));
  EXPECT_EQ(node(x - -y), node(x + y));
  EXPECT_EQ(node(detach(detach(x))), node(detach(x)));
}
/// What a rewrite would make legal for integers or booleans waits until the types are known: in a derivative they are.
TEST_F(GraphTest, RewritesThatForgetATypeAreForDerivatives) {
  EXPECT_NE(node(x * 1), node(x));
  EXPECT_NE(node(x / 1), node(x));
  EXPECT_NE(node(x * -1), node(-x));
  const Derivation scope;
  EXPECT_EQ(node(x * 1), node(x));
  EXPECT_EQ(node(1 * x), node(x));
  EXPECT_EQ(node(x / 1), node(x));
  EXPECT_EQ(node(x - 0), node(x));
  EXPECT_EQ(node(-(-x)), node(x));
  EXPECT_EQ(node(x * -1), node(-x));
  EXPECT_EQ(node(where(x < y, x, x)), node(x));
}
TEST_F(GraphTest, NothingThatWouldChangeOne) {
  EXPECT_NE(node(x + 0), node(x)) << "-0 + 0 is +0";
  EXPECT_NE(node(x - make_constant(Number(-0.0))), node(x)) << "-0 - -0 is +0";
  EXPECT_NE(node(x * 0), node(number(0))) << "inf * 0 is NaN";
  EXPECT_NE(node(x - x), node(number(0))) << "inf - inf is NaN";
  EXPECT_NE(node(x / x), node(number(1)));
  EXPECT_NE(node(x * 2), node(x + x)) << "another node, though the same bits";
  EXPECT_NE(node((x + y) - y), node(x));
  EXPECT_NE(node(x / 3), node(x * (1.0 / 3)));
  EXPECT_NE(node(maximum(x, x)), nullptr);
}
TEST_F(GraphTest, KeysAreOfTheContent) {
  const auto key = [](std::initializer_list<Expr> outputs, int inputs = 2) { return make_graph(outputs, inputs)->key; };
  std::set<std::uint64_t> keys;
  int made = 0;
  const auto add = [&](std::uint64_t k) { keys.insert(k), ++made; };
  add(key({x + y})), add(key({x - y})), add(key({y - x})), add(key({x + 1})), add(key({x + 2})), add(key({x + 2.5}));
  add(key({x})), add(key({y})), add(key({x, y})), add(key({y, x})), add(key({x}, 3)), add(key({x, x}));
  add(key({exp(x)})), add(key({exp(exp(x))})), add(key({sum(x)})), add(key({x * sum(x)})), add(key({max(x)}));
  add(key({cast(x, DType::f16)})), add(key({cast(x, DType::bf16)})), add(key({silu(x)})), add(key({gelu(x)}));
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(made));
  EXPECT_EQ(key({x + y}), key({x + y}));
  // A content key, not an address or a count: the same in every process and on every machine. Kernels kept on disk are
  // found by it; where it changes on purpose, they are made anew.
  EXPECT_EQ(make_graph(std::vector<Expr>{exp(x) * y}, 2)->key, UINT64_C(639527491542515793));
}
TEST_F(GraphTest, ParametersOfCapturingFormulasAreInputsWithoutValues) {
  const auto make = [](double a, double b) { return Pointwise<>{"affine", [a, b](auto v) { return a * v + b; }}; };
  const FormulaGraph* graph = make(2, 3).graph();
  EXPECT_EQ(graph->inputs, 3);
  for (const Node* n : topological(graph->outputs)) EXPECT_NE(n->kind, NodeKind::constant);
  std::set<const FormulaGraph*> graphs;
  for (int i = 0; i < 10'000; ++i) graphs.insert(make(i * 1e-3, 1.0 / (i + 1)).graph());
  EXPECT_EQ(graphs.size(), 1u);
}
TEST_F(GraphTest, ADeclaredDerivativeStaysOneNodeUntilItIsInlined) {
  const FormulaGraph* graph = op::silu.graph();
  ASSERT_EQ(graph->outputs[0]->kind, NodeKind::call);
  EXPECT_NE(graph->inlined, graph);
  for (const Node* n : topological(graph->inlined->outputs)) EXPECT_NE(n->kind, NodeKind::call);
  EXPECT_EQ(op::relu.graph()->inlined, op::relu.graph()) << "nothing to inline";
  const FormulaGraph* user = Pointwise<>{"twice", [](auto v) { return silu(silu(v)); }}.graph();
  EXPECT_EQ(user->outputs[0]->kind, NodeKind::call);
}
TEST_F(GraphTest, LongChainsNeedNoStack) {
  Expr chain = x;
  for (int i = 0; i < 100'000; ++i) chain = exp(chain);
  const FormulaGraph* graph = make_graph({&chain, 1}, 1);
  EXPECT_EQ(topological(graph->outputs).size(), 100'001u);
  const Expr argument = y;
  EXPECT_EQ(topological(std::vector<const Node*>{substitute(graph, {&argument, 1})[0].node()}).size(), 100'001u);
}

}  // namespace
}  // namespace tern::detail
