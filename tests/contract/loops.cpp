// The two executors of the CPU: loops compiled ahead of time and the tape give the same bits, and registered formulas
// have such loops.
#include <algorithm>
#include <cstring>

#include "contract/compare.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/loops.hpp"
#include "formula/philox.hpp"

namespace tern::contract {
namespace {

using detail_cpu::enable_loops;

/// Whether this program has loops for the SIMD target that runs.
bool are_built() {
  std::vector<detail_cpu::LoopFunctions> loops(detail_cpu::loop_keys().count);
  detail_cpu::fill_loops(detail_cpu::kernels().target, loops.data());
  return std::ranges::any_of(loops, [](const auto& loop) { return loop.f32 || loop.f64; });
}

/// f's tensors from the tape alone.
template <class F> std::vector<Tensor> interpreted(const F& f) {
  enable_loops(false);
  std::vector<Tensor> result = f();
  enable_loops(true);
  return result;
}

template <class S> void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const std::vector<S> x = a.to_vector<S>(), y = b.to_vector<S>();
  Report report(what);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool nan = real(x[i]) != real(x[i]) && real(y[i]) != real(y[i]);
    if (!nan && std::memcmp(&x[i], &y[i], sizeof(S)) != 0)
      report.add([&] { return "element " + std::to_string(i) + ": " + hex(real(x[i])) + " and " + hex(real(y[i])); });
  }
}
/// Runs f, which gives tensors of S, in both ways.
template <class S, class F> void compare_both_ways(const std::string& name, const F& f) {
  const std::vector<Tensor> want = interpreted(f), got = f();
  ASSERT_EQ(want.size(), got.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    if (want[i].defined() && want[i].dtype() == dtype_of<S>)
      expect_same_bits<S>(got[i], want[i],
                          name + " " + std::string(to_string(dtype_of<S>)) + ", result " + std::to_string(i));
}

/// Edges first, then moderate numbers; as many as asked for.
template <class S> Tensor numbers(const Shape& shape, std::uint64_t seed) {
  const std::vector<S> edges = edge_values<S>();
  std::vector<S> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    const std::uint64_t r = random_bits(static_cast<std::uint64_t>(i) + seed * 0x10001);
    values.push_back(r % 8 == 0 ? edges[(r >> 8) % edges.size()] : S(moderate(r)));
  }
  return tensor(values, shape);
}

class Loops : public testing::TestWithParam<Subject> {};

/// Forward and backward, on more than a block with a rest, and with an operand that is a row.
template <class S> void check_entry(const Subject& e) {
  const Shape whole{37, 59};
  for (const bool row : {false, true}) {
    if (row && e.arity() == 1) continue;
    std::vector<Var> x;
    for (int i = 0; i < e.arity(); ++i) {
      const bool last = i + 1 == e.arity();
      const Tensor t = numbers<S>(row && last ? Shape{59} : whole, static_cast<std::uint64_t>(i) + 1);
      x.emplace_back(e.condition(i) ? t > 0 : t, !e.condition(i));
    }
    const Tensor seed = numbers<S>(whole, 99);
    compare_both_ways<S>(e.name, [&] {
      const Var y = call(e, x);
      std::vector<Tensor> results{y.value()};
      if (!y.requires_grad()) return results;
      const Gradients grads = backward(y, seed);
      for (const Var& v : x)
        if (const Tensor* g = grads.get(v.id())) results.push_back(*g);
      return results;
    });
  }
}
TEST_P(Loops, AndTapeGiveTheSameBits) {
  if (!are_built()) GTEST_SKIP() << "built without compiled loops";
  for_each_float([&](auto zero) { check_entry<decltype(zero)>(GetParam()); });
}

int float_ops(const detail_cpu::Tape& tape) {
  return static_cast<int>(std::count_if(tape.ops.begin(), tape.ops.end(), [](const detail_cpu::TapeOp& op) {
    return op.kind == detail_cpu::TapeOp::OpKind::elementary && detail::is_float(op.type);
  }));
}
/// As backward calls a gradient.
const detail::FormulaGraph* of_what_it_reads(const detail::FormulaGraph* graph) {
  std::vector<Expr> outputs;
  std::vector<int> arguments;
  for (const detail::Node* output : graph->outputs) outputs.push_back(Expr(output));
  for (int i = 0; i < graph->inputs; ++i)
    if (graph->used_inputs[static_cast<std::size_t>(i)]) arguments.push_back(i);
  return detail::with_arguments(outputs, arguments);
}
void expect_loop(const Subject& e, const detail::FormulaGraph* graph, DType dtype, const char* what) {
  std::vector<detail::InputType> types(static_cast<std::size_t>(graph->inputs), {dtype, false});
  for (int i = 0; i < e.arity(); ++i)
    if (e.condition(i)) types[static_cast<std::size_t>(i)].dtype = DType::boolean;
  const auto tape = detail_cpu::compile_tape(e.name, detail::type_program(e.name, graph, types), detail_cpu::kernels());
  if (float_ops(*tape) < 2) return;  // one op is a compiled loop already
  EXPECT_EQ(tape->compiled.block.size(), 1u) << e.name << " " << to_string(dtype) << ", " << what;
  EXPECT_GE(tape->loops.size(), 1u) << e.name << " " << to_string(dtype) << ", " << what;
}
TEST_P(Loops, AreThereForFormulaAndGradient) {
  if (!are_built()) GTEST_SKIP() << "built without compiled loops";
  const Subject& e = GetParam();
  for (const DType dtype : {f32, f64, f16, bf16}) {
    if (e.condition(0) && dtype == f64) continue;  // conditions are widened there by an op of the tape
    expect_loop(e, e.graph(), dtype, "formula");
    if (e.predicate()) continue;
    const detail::GradientGraph& g =
        detail::gradient(e.graph(), 1, detail::first_indices(static_cast<std::size_t>(e.arity())));
    if (g.graph) expect_loop(e, of_what_it_reads(g.graph), dtype, "gradient");
  }
}
INSTANTIATE_TEST_SUITE_P(Registry, Loops, testing::ValuesIn(entries_where([](const Subject& e) {
                           return e.takes_floats() && e.slope == 0 && !e.later;
                         })),
                         [](const auto& info) { return std::string(info.param.name); });

/// Products with epilogues, and rows in one block, in passes, and down columns.
template <class S> void check_compositions() {
  const Var x(numbers<S>({45, 33}, 1)), w(numbers<S>({33, 70}, 2)), bias(numbers<S>({70}, 3));
  const Tensor seed = numbers<S>({45, 70}, 4);
  for (const Pointwise<>* activation : {&op::gelu, &op::silu, &op::relu, &op::tanh, &op::sigmoid, &op::gelu_erf}) {
    compare_both_ways<S>(std::string("matmul_bias_activation ") + activation->name(), [&] {
      const Var y = matmul_bias_activation(x, w, bias, *activation);
      const Gradients g = backward(y, seed);
      const MatmulBiasActivationGrads direct =
          matmul_bias_activation_bwd(seed, x.value(), w.value(), bias.value(), *activation);
      return std::vector{y.value(), g[x], g[w], g[bias], direct.d_a, direct.d_b, direct.d_bias};
    });
  }
  // Short rows in blocks and what is left of one; several rows a block, one, one of a larger one, parts of one.
  for (const std::int64_t columns : {2, 3, 4, 5, 8, 11, 16, 17, 32, 33, 47, 63, 64, 100, 256, 300, 1001, 3000, 9000}) {
    const std::int64_t rows = columns > 16 ? 7 : 3000 / columns / 8 * 8 + 3;
    const Var a(numbers<S>({rows, columns}, 5)), gain(numbers<S>({columns}, 6)), shift(numbers<S>({columns}, 7));
    const Tensor grad = numbers<S>({rows, columns}, 8);
    const auto both = [&](const char* name, const auto& f) {
      compare_both_ways<S>(name, [&] {
        const Var y = f();
        const Gradients g = backward(y, grad);
        std::vector<Tensor> results{y.value(), g[a]};
        for (const Var* v : {&gain, &shift})
          if (const Tensor* d = g.get(v->id())) results.push_back(*d);
        return results;
      });
    };
    both("softmax", [&] { return softmax(a); });
    both("logsumexp", [&] { return logsumexp(a, 1, true) * a; });
    both("softmax down columns", [&] { return softmax(a, 0); });
    both("log_softmax", [&] { return log_softmax(a); });
    both("var", [&] { return var(a, {1}, true) * a; });
    both("norm", [&] { return norm(a, {1}, true) * a; });
    both("rms_norm", [&] { return rms_norm(a, gain); });
    both("layer_norm", [&] { return layer_norm(a, gain, shift); });
    both("add_layer_norm", [&] { return add_layer_norm(a, a, gain, shift).result; });
  }
}
/// Counts on both sides of the vectors that a step takes, from memory that begins anywhere.
template <class S> void check_ends() {
  for (std::int64_t n = 1; n <= 140; ++n)
    for (const std::int64_t first : {0, 1}) {
      const auto part = [&](std::uint64_t of) { return numbers<S>({n + first}, of).slice(0, first, n + first); };
      const Var a(part(1)), b(part(2));
      const Tensor seed = part(3);
      compare_both_ways<S>("silu_mul of " + std::to_string(n) + " from " + std::to_string(first), [&] {
        const Var y = silu_mul(a, b);
        const Gradients g = backward(y, seed);
        return std::vector{y.value(), g[a], g[b]};
      });
    }
}
TEST(Loops, GiveTheSameBitsAtEnds) {
  if (!are_built()) GTEST_SKIP() << "built without compiled loops";
  for_each_float([&](auto zero) { check_ends<decltype(zero)>(); });
}

/// Philox's rounds are a loop in every build: whatever draws its words, and however many blocks it has.
TEST(Loops, DrawTheSameNumbers) {
  for (const std::int64_t n : {5, 64, 100, 1023, 5000, 70001}) {
    const auto draw = [&](const char* name, const auto& f) {
      compare_both_ways<float>(std::string(name) + " of " + std::to_string(n), [&] {
        Generator g{11};
        g.position = 0xfffffff0u;
        return std::vector<Tensor>{f(g, f32).to(f32), f(g, f64).to(f32), f(g, bf16).to(f32)};
      });
    };
    draw("rand", [&](Generator& g, DType d) { return rand({n}, g, {.dtype = d}); });
    draw("randn", [&](Generator& g, DType d) { return randn({n}, g, {.dtype = d}); });
    draw("randint", [&](Generator& g, DType) { return randint(-5, 1000, {n}, g); });
    draw("gamma", [&](Generator& g, DType d) { return gamma(0.7, 2.0, {n}, g, {.dtype = d}); });
    draw("bernoulli", [&](Generator& g, DType) { return bernoulli(0.3, {n}, g); });
    constexpr Pointwise<> at(
        "at", [](auto x) { return x + random_uniform(index(x, 0), 3, 9) * random_uniform(index(x, 0) + 1, 3, 9); });
    const Tensor x = numbers<float>({n}, 4);
    draw("two in a formula", [&](Generator&, DType) { return at(x); });
    constexpr Pointwise<> keyed("keyed", [](auto of, auto seed, auto stream) {
      return of + random_uniform(index(of, 0), seed, stream);
    });
    const Tensor seeds = arange(5, 5 + n, 1).to(i32), streams = (seeds * 7 + 1).to(i32);
    draw("a key for each", [&](Generator&, DType) { return keyed(x, seeds, streams); });
    constexpr Pointwise<> first("first", [](auto a, auto b, auto key, auto other) {
      const auto word = [](auto e) { return cast(e, DType::u32); };
      return cast(detail::philox({word(a), word(b), word(b), word(a)}, word(key), word(other))[0] >> 8, DType::i32);
    });
    draw("one word of each", [&](Generator&, DType) { return first(seeds, streams, streams, seeds); });
    draw("one word of a key", [&](Generator&, DType) { return first(seeds, streams, streams[0], seeds[0]); });
  }
  if (are_built()) {  // what is made of the words is another
    const auto compiled = [](const auto& call) { return explain(call).find("2 compiled") != std::string::npos; };
    EXPECT_TRUE(compiled([] { rand({1000}, Generator{1}); }));
    EXPECT_TRUE(compiled([] { randn({1000}, Generator{1}); }));
  }
  // And it is one: of a counter's words and a key, as a formula of six operands has them; all its words or the first.
  const auto word = [](int i) { return detail::make_input(i); };
  const auto words = detail::philox({word(0), word(1), word(2), word(3)}, word(4), word(5));
  for (const bool number : {true, false})
    for (const std::size_t count : {4u, 1u}) {
      std::vector<detail::InputType> types(4, {DType::u32, false});
      types.resize(6, number ? detail::InputType{DType::f32, true} : types[0]);
      const auto& program =
          detail::type_program("words", detail::make_graph(std::span(words).first(count), 6), types);
      const auto tape = detail_cpu::compile_tape("words", program, detail_cpu::kernels());
      EXPECT_EQ(tape->compiled.block.size(), 1u) << number << count;
      EXPECT_GT(tape->plain.block.size(), 70u) << number << count;
    }
}

/// The elementary functions of loops that were looked for.
std::vector<std::uint64_t> looked_for;
void note_functions(const detail_cpu::LoopPlan& plan) {
  std::size_t at = 4 + plan.words[0];
  for (std::uint64_t op = 0; op < plan.words[2]; ++op) {
    const std::uint64_t word = plan.words[at++];
    looked_for.push_back(word >> 8);
    for (std::uint64_t a = 0; a < (word >> 1 & 63); ++a)
      at += static_cast<detail_cpu::LoopArg>(plan.words[at] & 3) == detail_cpu::LoopArg::constant ? 2 : 1;
  }
}
/// What has a kernel as a formula is in no loop, which would be of a function that is none; what is around it may be.
TEST(Loops, LeaveOutFormulasWithKernels) {
  constexpr Pointwise around("around", [](auto x) { return asin(x * 0.5 + 0.25) * x + sinh(x); });
  constexpr Pointwise rows("rows", [](auto x) { return cosh(x - sum(x)) * x + acosh(sum(exp(x))); });
  detail_cpu::listen_to_loops(&note_functions);
  for (const Pointwise<>* f : {&op::asin, &op::acos, &op::sinh, &op::cosh, &op::asinh, &op::acosh, &op::atanh,
                               static_cast<const Pointwise<>*>(&around), static_cast<const Pointwise<>*>(&rows)})
    for (const DType dtype : {f32, f64, bf16}) {
      looked_for.clear();
      const detail::InputType type{dtype, false};
      const auto& program = detail::type_program(f->name(), f->graph(), {&type, 1});
      (void)detail_cpu::compile_tape(f->name(), program, detail_cpu::kernels());
      EXPECT_EQ(looked_for.empty(), f != &around && f != &rows) << f->name();
      for (const std::uint64_t function : looked_for)
        EXPECT_LT(function, static_cast<std::uint64_t>(detail::kElementaryCount)) << f->name();
    }
  detail_cpu::listen_to_loops(nullptr);
}

TEST(Loops, GiveTheSameBitsInEpiloguesAndRows) {
  if (!are_built()) GTEST_SKIP() << "built without compiled loops";
  for_each_float([&](auto zero) { check_compositions<decltype(zero)>(); });
}

}  // namespace
}  // namespace tern::contract
