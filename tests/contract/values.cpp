// Values and gradients of every elementary function and formula, in every floating dtype, against references in
// __float128.
//
// A kernel's result must be one that interval arithmetic admits: each node's range is what its elementary function may
// return for the range of its arguments (within the ulp budget of the elementary function's rule; + - * / sqrt
// correctly rounded). For an elementary function alone that is its budget; 16-bit types round the range once, at the
// store. What has a kernel of its own on a device (has_own_kernel) is held to a bound of the whole function.
#include "contract/compare.hpp"
#include "cpu/tape/known_functions.hpp"

namespace tern::contract {
namespace {

class Values : public OnDevice {};
class Edges : public OnDevice {};
class FirstGradient : public OnDevice {};

/// Whether the device takes subnormal numbers of f32 for zeros, as operands or as results. Others are held to rounding
/// them once.
bool flushes(Device device) {
  if (device.kind() != DeviceKind::webgpu) return false;
  const std::vector<float> y =
      (tensor({0x1p-130f, 0x1p-126f}, {2}, device) * tensor({2.0f, 0.5f}, {2}, device)).to_vector<float>();
  return y[0] != 0x1p-129f || y[1] != 0x1p-127f;
}

/// What a device may add to the elementary functions' budgets: WGSL may contract (one ulp more) and has functions of
/// its own for results of 16 bits, as has CUDA, also for f64.
template <class S> Policy policy_of(Device device) {
  return {.extra_ulps = device.kind() == DeviceKind::webgpu ? 1.0 : 0.0,
          .on_cuda = device.kind() == DeviceKind::cuda,
          .on_webgpu = device.kind() == DeviceKind::webgpu,
          .in_halves = sizeof(S) == 2,
          .flushes = flushes(device)};
}

/// Whether the device computes some formula in a graph, the entry's or its gradient's, by a kernel of its own: not step
/// by step, but within the bound that accuracy.cpp holds it to.
bool has_own_kernel(const Subject& e, const detail::FormulaGraph* graph, Device device) {
  if (device.kind() != DeviceKind::cpu || !graph) return false;
  std::vector<detail::InputType> types(static_cast<std::size_t>(graph->inputs));
  for (int i = 0; i < e.arity(); ++i)
    if (e.condition(i)) types[static_cast<std::size_t>(i)].dtype = DType::boolean;
  const detail::Program& program = detail::type_program("contract", graph->inlined, types);
  const detail_cpu::KnownFunctions known(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (known.of(static_cast<int>(i)).function >= 0) return true;
  return false;
}

template <class S> Columns<S> inputs_of(const Subject& e, Device device) {
  if (e.arity() == 1) return {unary_inputs<S>(test::in_software(device))};
  const bool few = test::in_software(device);
  return tuple_inputs<S>(e.arity(), few ? 1 << 15 : kFewPoints ? 1 << 16 : full_test() ? 1 << 18 : 1 << 17);
}
/// Conditions are 0 or 1 to the reference, too.
template <class S> void make_conditions(const Subject& e, Columns<S>& columns) {
  for (int i = 0; i < e.arity(); ++i)
    if (e.condition(i))
      for (S& v : columns[static_cast<std::size_t>(i)]) v = S(real(v) != 0 ? 1.0 : 0.0);
}
template <class S> std::vector<Tensor> tensors_of(const Subject& e, const Columns<S>& columns, Device device) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < e.arity(); ++i)
    tensors.push_back(column_tensor(columns[static_cast<std::size_t>(i)], e.condition(i), device));
  return tensors;
}

template <class S> void check_values(const Subject& e, Device device) {
  Columns<S> columns = inputs_of<S>(e, device);
  make_conditions(e, columns);
  const Tensor y = call(e, tensors_of(e, columns, device));
  ASSERT_EQ(to_string(y.dtype()), e.predicate() ? "boolean" : to_string(dtype_of<S>)) << e.name;
  GraphRanges<Compute<S>> graph(e.graph(), policy_of<S>(device));
  Report report(std::string(e.name) + " " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  const double vacuous = compare_column<S>(report, graph, 0, columns, column_of<S>(y), e.elementary ? &e : nullptr);
  EXPECT_LE(vacuous, 0.01) << e.name << " " << to_string(dtype_of<S>) << ": share of points where anything would pass";
}

TEST_P(Values, AreWithinTheirBudgets) {
  if (has_own_kernel(entry(), entry().graph(), device())) GTEST_SKIP() << "AccuracyOfFormulas has its bound";
  for_each_float([&](auto zero) { check_values<decltype(zero)>(entry(), device()); });
}

/// All 2^32 numbers, in pieces.
class EveryPattern : public OnDevice {};
TEST_P(EveryPattern, OfSinglePrecisionIsWithinTheBudget) {
  if (!full_test()) GTEST_SKIP() << "hours; script/test --full tries them";
  constexpr std::uint64_t kPiece = 1 << 20;
  GraphRanges<float> graph(entry().graph());
  Report report(std::string(entry().name) + " f32, every pattern");
  Columns<float> columns(1, std::vector<float>(kPiece));
  for (std::uint64_t begin = 0; begin < std::uint64_t{1} << 32; begin += kPiece) {
    for (std::uint64_t i = 0; i < kPiece; ++i) columns[0][i] = from_bits<float>(static_cast<std::uint32_t>(begin + i));
    const Tensor y = call(entry(), tensors_of(entry(), columns, device()));
    compare_column<float>(report, graph, 0, columns, column_of<float>(y), &entry());
  }
}

/// The values a rule lists must come out exactly, in every dtype.
template <class S> void check_edges(const Subject& e, Device device) {
  const detail::Rule& rule = *e.rule();
  std::vector<S> at;
  for (int i = 0; i < rule.edge_count; ++i) at.push_back(S(rule.edges[static_cast<std::size_t>(i)].at));
  const std::vector<S> got = call(e, std::vector<Tensor>{tensor(at, Shape{at.size()}, device)}).to_vector<S>();
  Report report(std::string(e.name) + " " + std::string(to_string(dtype_of<S>)) + ", edges of its rule");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = rule.edges[i].gives, value = real(got[i]);
    const bool same = want != want ? value != value
                                   : value == want && (want != 0 || e.id == detail::Elementary::sign ||
                                                       std::signbit(value) == std::signbit(want));
    if (!same) report.add([&] { return hex(rule.edges[i].at) + " got " + hex(value) + ", want " + hex(want); });
  }
}
TEST_P(Edges, OfItsRuleAreExact) {
  for_each_float([&](auto zero) { check_edges<decltype(zero)>(entry(), device()); });
}

/// Gradients of the outputs: mostly moderate numbers, sometimes edges.
template <class S> std::vector<S> seed_column(std::size_t size) {
  const std::vector<S> edges = edge_values<S>();
  std::vector<S> seeds;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t r = random_bits(i ^ 0x5eed);
    seeds.push_back(r % 64 == 0 ? edges[(r >> 8) % edges.size()] : r % 4 == 1 ? S(1.0) : S(moderate(r)));
  }
  return seeds;
}

template <class S> void check_gradients(const Subject& e, Device device) {
  Columns<S> columns = inputs_of<S>(e, device);
  make_conditions(e, columns);
  const std::vector<Tensor> tensors = tensors_of(e, columns, device);
  std::vector<Var> vars;
  for (int i = 0; i < e.arity(); ++i) vars.emplace_back(tensors[static_cast<std::size_t>(i)], !e.condition(i));
  const Var y = call(e, vars);
  const detail::GradientGraph& g =
      detail::gradient(e.graph(), 1, detail::first_indices(static_cast<std::size_t>(e.arity())));
  const std::vector<S> seeds = seed_column<S>(columns[0].size());
  if (!y.requires_grad()) {
    EXPECT_EQ(g.graph, nullptr) << e.name << ": the result of differentiable inputs does not require a gradient";
    return;
  }
  const Gradients grads = backward(y, tensor(seeds, Shape{seeds.size()}, device));
  columns.push_back(seeds);
  columns.push_back(y.value().to_vector<S>());  // what backward saves is rounded to the dtype
  for (int i = 0; i < e.arity(); ++i) {
    const Tensor* got = grads.get(vars[static_cast<std::size_t>(i)].id());
    const int output = g.output_of[static_cast<std::size_t>(i)];
    ASSERT_EQ(got != nullptr, g.graph && output >= 0) << e.name << ": gradient of input " << i;
    if (!got) continue;
    ASSERT_EQ(to_string(got->dtype()), to_string(dtype_of<S>)) << e.name;
    if (has_own_kernel(e, g.graph, device)) continue;
    GraphRanges<Compute<S>> graph(g.graph, policy_of<S>(device));
    Report report(std::string(e.name) + " " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string() +
                  ", gradient of input " + std::to_string(i) + " at (inputs, seed, result)");
    const double vacuous =
        compare_column<S>(report, graph, static_cast<std::size_t>(output), columns, got->to_vector<S>(), nullptr);
    EXPECT_LE(vacuous, 0.05) << e.name << " " << to_string(dtype_of<S>)
                             << ", gradient: share of points where anything would pass";
  }
}
TEST_P(FirstGradient, IsWithinTheBudgets) {
  for_each_float([&](auto zero) { check_gradients<decltype(zero)>(entry(), device()); });
}

TERN_CONTRACT(Values, entries_where([](const Subject& e) { return e.takes_floats(); }));
INSTANTIATE_TEST_SUITE_P(Registry, EveryPattern,
                         testing::Combine(testing::Values(cpu()), testing::ValuesIn(entries_where([](const Subject& e) {
                                            return e.arity() == 1 && e.elementary && e.takes_floats();
                                          }))),
                         entry_test_name);
TERN_CONTRACT(Edges, entries_where([](const Subject& e) {
                return e.arity() == 1 && e.takes_floats() && e.elementary && e.rule()->edge_count > 0;
              }));
// On the CPU: compilers of GPU kernels may reorder the factors of a product (WGSL 15.7.5), and near the largest and
// least numbers another order overflows elsewhere. EveryOrder holds their derivatives to the CPU's on moderate numbers.
INSTANTIATE_TEST_SUITE_P(Registry, FirstGradient,
                         testing::Combine(testing::Values(cpu()), testing::ValuesIn(entries_where([](const Subject& e) {
                                            return e.takes_floats() && !e.predicate();
                                          }))),
                         entry_test_name);

/// The evaluator itself: what the quick references accept, __float128 accepts.
template <class T> void check_fast_math(const Subject& e, const detail::FormulaGraph* graph) {
  GraphRanges<T> quick(graph), exact(graph);
  Columns<T> columns = tuple_inputs<T>(graph->inputs, 500);
  make_conditions(e, columns);
  std::vector<Range<T>> at(columns.size());
  Report report(std::string("quick and exact ranges of ") + e.name);
  for (std::size_t p = 0; p < columns[0].size(); p += 1 + columns[0].size() / 1000) {
    for (std::size_t i = 0; i < columns.size(); ++i) at[i] = Range<T>::of(columns[i][p]);
    if (!quick.quickly(at.data())) continue;
    exact.exactly(at.data());
    for (std::size_t k = 0; k < quick.outputs(); ++k) {
      const Range<T>&a = quick.output(k), &b = exact.output(k);
      const bool inside = (a.empty() || (b.lo <= a.lo && a.hi <= b.hi)) && (!a.nan || b.nan);
      if (!inside)
        report.add([&] {
          return "at " + hex(columns[0][p]) + ": " + describe_range(a) + " is not within " + describe_range(b);
        });
    }
  }
}
TEST(Ranges, WhatIsQuicklyAcceptedIsRight) {
  for (const Subject& e : entries_where([](const Subject& e) { return e.takes_floats(); })) {
    check_fast_math<float>(e, e.graph()), check_fast_math<double>(e, e.graph());
    const detail::GradientGraph& g =
        detail::gradient(e.graph(), 1, detail::first_indices(static_cast<std::size_t>(e.arity())));
    if (g.graph && g.graph->inputs <= 3) check_fast_math<float>(e, g.graph), check_fast_math<double>(e, g.graph);
  }
}

/// And that it refuses what is off by two budgets and more.
TEST(Ranges, RefuseWhatIsBeyondTheBudget) {
  for (const Subject& e : entries_where([](const Subject& e) {
         return e.elementary && e.arity() == 1 && e.rule()->takes == detail::Takes::floating;
       })) {
    GraphRanges<float> graph(e.graph());
    Report report(std::string("budget of ") + e.name);
    const int steps = static_cast<int>(std::ceil(e.rule()->ulp_f32)) + 1;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const float at = static_cast<float>(std::fabs(moderate(i)));
      const Quad x = at;
      float low = static_cast<float>(reference(e.id, &x)), high = low;
      const Range<float> input = Range<float>::of(at);
      graph.exactly(&input);
      if (!accepts(graph.output(0), low)) report.add([&] { return hex(at) + ": the rounded reference is refused"; });
      if (low != low || std::isinf(low) || std::fabs(low) < 1e-30f || std::fabs(low) == 1) continue;
      for (int s = 0; s < 2 * steps; ++s) low = next_down(low), high = next_up(high);
      if (accepts(graph.output(0), low) || accepts(graph.output(0), high))
        report.add([&] { return hex(at) + ": " + describe_range(graph.output(0)); });
    }
  }
}

}  // namespace
}  // namespace tern::contract
