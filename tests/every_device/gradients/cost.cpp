// What derivatives cost, in FLOPs counted from the graphs of the kernel calls, in calls and in memory.
#include "every_device/reference.hpp"
#include "every_device/registered/pointwise_entries.hpp"

namespace tern::test {
namespace {

class Costs : public EveryDevice {};
TERN_EVERY_DEVICE(Costs);

/// The smallest number of arguments it accepts.
int arity(const Pointwise<>& f) {
  const Tensor x = full({1}, 0.5);
  for (int n = 1; n <= 4; ++n) {
    try {
      const std::vector<detail::Argument> list(static_cast<std::size_t>(n), detail::Argument(x));
      Tensor result;
      detail::apply_tensors(f.name(), f.graph(), f.values(), list, {&result, 1});
      return n;
    } catch (const Error&) {
    }
  }
  return 0;
}
Var applied_formula(const Pointwise<>& f, const std::vector<Var>& x) {
  const std::vector<detail::Argument> list(x.begin(), x.end());
  Var result;
  detail::apply_vars(f.name(), f.graph(), f.values(), list, {&result, 1});
  return result;
}

constexpr std::int64_t kElements = 1000;

TEST_P(Costs, CountsWhatTheGraphsSay) {
  const Tensor x = full({kElements}, 0.5), w = ones({kElements});
  EXPECT_EQ(cost_of([&] { x * w; }).flops, kElements);
  EXPECT_EQ(cost_of([&] { exp(x); }).flops, 8 * kElements);
  EXPECT_EQ(cost_of([&] { silu(x); }).flops, (1 + 8 + 1) * kElements);
  EXPECT_EQ(cost_of([&] { sum(x); }).flops, kElements);
  EXPECT_EQ(cost_of([&] { softmax(x.reshape({10, 100})); }).flops, (1 + 1 + 8 + 1 + 1) * kElements + 10)
      << "max, minus, exp, sum, times a reciprocal of each row";
  EXPECT_EQ(cost_of([&] { matmul(ones({3, 5}), ones({5, 7})); }).flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(cost_of([&] { matmul_epilogue(ones({3, 5}), ones({5, 7}), op::exp); }).flops, 2 * 3 * 5 * 7 + 8 * 3 * 7);
  EXPECT_EQ(cost_of([&] { cost_of([&] { x + w; }), x - w; }).flops, 2 * kElements) << "nested counts";
}

/// Compositions of the dearest.
constexpr Pointwise ratio_of_three{"ratio_of_three", [](auto a, auto b, auto c) { return a / b / c; }};
constexpr Pointwise share{"share", [](auto a, auto b, auto c) { return a * b / c; }};
constexpr Pointwise power_times{"power_times", [](auto a, auto b, auto c) { return pow(a, b) * c; }};
constexpr Pointwise power_over{"power_over", [](auto a, auto b, auto c) { return pow(a, b) / c; }};
constexpr Pointwise power_of_sum{"power_of_sum", [](auto a, auto b, auto c) { return pow(a + c, b * c); }};
constexpr Pointwise normal{"normal", [](auto a, auto b, auto c) {
                             auto z = (a - b) / c;
                             return exp(-0.5 * (z * z)) / c;
                           }};
std::vector<PointwiseEntry> entries_and_compositions() {
  std::vector<PointwiseEntry> all = pointwise_entries();
  // No derivative; takes booleans.
  std::erase_if(all, [](const PointwiseEntry& e) { return e.op == &op::detach || e.op == &op::where; });
  all.insert(all.end(), {{"ratio_of_three", &ratio_of_three, true},
                         {"share", &share, true},
                         {"power_times", &power_times, true},
                         {"power_over", &power_over, true},
                         {"power_of_sum", &power_of_sum, true},
                         {"normal", &normal, true}});
  return all;
}
/// f's value under a fixed cotangent, its value and gradient, and a Hessian-vector product.
TEST_P(Costs, OfEveryFormula) {
  int turn = 0;
  for (const PointwiseEntry& f : entries_and_compositions()) {
    if (in_software(device()) && turn++ % 4 != 0) continue;
    const int n = arity(*f.op);
    ASSERT_GT(n, 0) << f.name;
    std::vector<Tensor> x, v;
    for (int i = 0; i < n; ++i) x.push_back(full({kElements}, 0.3 + 0.7 * i)), v.push_back(ones({kElements}));
    const Tensor seed = ones({kElements});
    const auto call = [&](const std::vector<Var>& at) { return applied_formula(*f.op, at); };
    const auto weighted = [&](const std::vector<Var>& at) { return sum(call(at) * seed); };
    std::vector<Var> constants;
    for (const Tensor& t : x) constants.emplace_back(t, false);
    call(constants), vjp(call, x, seed), hvp(weighted, x, v);  // seeds are made, kernels are warm
    const Cost with_gradient = cost_of([&] { vjp(call, x, seed); }), second = cost_of([&] { hvp(weighted, x, v); });
    const std::int64_t value = cost_of([&] { call(constants); }).flops, both = with_gradient.flops;
    EXPECT_LE(both, 5 * std::max(value, kElements)) << f.name << ": the value costs " << value;
    std::int64_t handed_on = 0;
    for (const Tensor& g : vjp(call, x, seed).result) handed_on += doubles(g) == doubles(seed);
    EXPECT_LE(with_gradient.calls, 2 + handed_on)
        << f.name << ": the value, all gradients at once, and a copy where one is the cotangent, which is the caller's";
    const std::int64_t weighted_value = cost_of([&] { weighted(constants); }).flops, product = second.flops;
    EXPECT_LE(product, 12 * weighted_value) << f.name << ": the value costs " << weighted_value;
    // Those whose gradient reads their result take one call more: that of the result's own derivative.
    EXPECT_LE(second.calls, 7 + n) << f.name
                                   << ": three forward, two backward, two backward of that; two more inputs, two more";
    RecordProperty(f.name, std::to_string(static_cast<double>(both) / static_cast<double>(std::max(value, kElements))) +
                               " " +
                               std::to_string(static_cast<double>(product) / static_cast<double>(weighted_value)));
  }
}
/// The same of formulas with reductions.
TEST_P(Costs, OfRowFormulas) {
  Random random(5);
  const Shape shape{10, 100};
  const Tensor x = random.tensor(shape, f32, device()), v = random.tensor(shape, f32, device()),
               seed = random.tensor(shape, f32, device());
  const Tensor weight = random.tensor({100}, f32, device()), bias = random.tensor({100}, f32, device()),
               labels = zeros({10}, i32);
  const auto check = [&](const char* name, auto f) {
    const auto rows = [&](const Tensor& t) {
      return t.shape() == shape ? seed : t.dim() == 0 ? ones({}) : seed.slice(1, 0, 1).reshape(t.shape());
    };
    const Var constant(x, false);
    const Tensor y = f(constant).value(), cotangent = rows(y);
    const auto weighted = [&](const Var& at) { return sum(f(at) * cotangent); };
    vjp(f, x, cotangent), hvp(weighted, x, v);
    const std::int64_t value = cost_of([&] { f(constant); }).flops, both = cost_of([&] { vjp(f, x, cotangent); }).flops;
    const std::int64_t whole = cost_of([&] { weighted(constant); }).flops,
                       second = cost_of([&] { hvp(weighted, x, v); }).flops;
    EXPECT_LE(both, 5 * value) << name << ": the value costs " << value;
    EXPECT_LE(second, 12 * whole) << name << ": the value costs " << whole;
    RecordProperty(name, std::to_string(static_cast<double>(both) / static_cast<double>(value)) + " " +
                             std::to_string(static_cast<double>(second) / static_cast<double>(whole)));
  };
  check("softmax", [](const Var& t) { return softmax(t); });
  check("log_softmax", [](const Var& t) { return log_softmax(t); });
  check("logsumexp", [](const Var& t) { return logsumexp(t, 1); });
  check("causal_softmax", [](const Var& t) { return causal_softmax(t); });
  check("cross_entropy", [&](const Var& t) { return cross_entropy(t, labels); });
  check("rms_norm", [&](const Var& t) { return rms_norm(t, weight); });
  check("layer_norm", [&](const Var& t) { return layer_norm(t, weight, bias); });
  check("var", [](const Var& t) { return var(t, 1); });
  check("mean of squares", [](const Var& t) { return mean(t * t, 1); });
  constexpr Pointwise own{"own", [](auto t) { return tanh(t) / (1 + sqrt(sum(t * t))); }};
  check("own", [&](const Var& t) { return row_formula(own, t); });
  constexpr Pointwise mish{"mish", [](auto acc, auto b) { auto u = acc + b; return u * tanh(softplus(u)); }};
  check("an epilogue", [&](const Var& t) { return matmul_epilogue(t, ones({100, 100}), mish, bias); });
}
TEST_P(Costs, OfProgramsOfProducts) {
  Random random(3);
  const std::vector<Tensor> w{random.tensor({24, 24}, f32, device()), random.tensor({24, 24}, f32, device()),
                              random.tensor({24, 24}, f32, device())};
  const Tensor x = random.tensor({24, 24}, f32, device()), seed = random.tensor({24, 24}, f32, device());
  const auto chain = [&](const std::vector<Var>& m) { return matmul(matmul(matmul(x, m[0]), m[1]), m[2]); };
  std::vector<Var> constants;
  for (const Tensor& t : w) constants.emplace_back(t, false);
  const Cost value = cost_of([&] { chain(constants); }), both = cost_of([&] { vjp(chain, w, seed); });
  EXPECT_LE(both.flops, 3 * value.flops);
  EXPECT_LE(both.calls, 3 * value.calls) << "three products, and two for each but x's";
  // hvp of Σ seed·chain: the gradient along v, which is the vjp of the vjp.
  const auto gradient = [&](const std::vector<Var>& m) { return vjp(chain, m, Var(seed, false)).result; };
  const Cost second = cost_of([&] { vjp(gradient, w, w); });
  EXPECT_LE(second.flops, 9 * value.flops);
}
/// Kernel calls of a training step's parts: nothing is computed twice, and nothing nobody wants.
TEST_P(Costs, CallsOfALayer) {
  const Tensor a = ones({8, 4}), seed = ones({8, 6});
  const Var w(ones({4, 6})), z(ones({6}));
  const auto calls = [](auto f) { return cost_of(f).calls; };
  EXPECT_EQ(calls([&] { matmul_bias_activation(a, w, z, op::gelu); }), 1);
  const Var y = matmul_bias_activation(a, w, z, op::gelu);
  EXPECT_EQ(calls([&] { backward(y, seed); }), 2) << "one pass for ∂pre and ∂bias, one product";
  const Var in(a), all = matmul_bias_activation(in, w, z, op::gelu);
  EXPECT_EQ(calls([&] { backward(all, seed); }), 3);
  const Var mixed = silu_mul(in, in * 2);
  EXPECT_EQ(calls([&] {
              backward(mixed, ones({8, 4}));
            }),
            1 + 1 + 1 + 1)
      << "ones, both gradients at once, times 2, their sum";
  const Var soft = softmax(in);
  EXPECT_EQ(calls([&] { backward(soft, a); }), 1);
  const Var norm = layer_norm(in, ones({4}), zeros({4}));
  EXPECT_EQ(calls([&] { backward(norm, a); }), 1);
}
/// The gradients of a norm's weight and bias, sums over the other axis, take one more pass together.
TEST_P(Costs, CallsOfNorms) {
  Random random(4);
  const Tensor seed = random.tensor({3, 5, 8}, f32, device());
  const Var x(random.tensor({3, 5, 8}, f32, device())), r(random.tensor({3, 5, 8}, f32, device()));
  const Var weight(random.tensor({8}, f32, device())), bias(random.tensor({8}, f32, device()));
  const auto forward_and_backward = [&](auto f) {
    Var y;
    const std::int64_t forward = cost_of([&] { y = f(); }).calls;
    return std::pair{forward, cost_of([&] { backward(y, seed); }).calls};
  };
  const std::pair<std::int64_t, std::int64_t> one_and_two{1, 2};
  EXPECT_EQ(forward_and_backward([&] { return rms_norm(x, weight); }), one_and_two);
  EXPECT_EQ(forward_and_backward([&] { return layer_norm(x, weight, bias); }), one_and_two);
  EXPECT_EQ(forward_and_backward([&] { return add_rms_norm(x, r, weight).result; }), one_and_two);
  EXPECT_EQ(forward_and_backward([&] { return add_layer_norm(x, r, weight, bias).result; }), one_and_two);
  constexpr Pointwise own{"own",
                          [](auto v, auto gain, auto shift) { return v * rsqrt(sum(v * v) + 1) * gain + shift; }};
  EXPECT_EQ(forward_and_backward([&] { return row_formula(own, x, weight, bias); }), one_and_two);
}
/// Reverse mode keeps alive what saved_tensors() lists, and no more.
TEST_P(Costs, MemoryIsThatOfSavedTensors) {
  const Var x(full({64, 64}, 0.5));
  std::vector<std::weak_ptr<detail::TensorImpl>> made;
  Var y = x;
  std::int64_t saved = 0, values = 0;
  std::vector<std::shared_ptr<GradFn>> fns;
  for (int i = 0; i < 6; ++i) {
    y = i % 2 ? y * 2 : tanh(y);  // tanh saves its result; the product by a number saves nothing
    made.push_back(y.value().impl());
    fns.push_back(y.grad_fn());
  }
  for (const auto& fn : fns)
    for (const Tensor& t : fn->saved_tensors()) saved += t.numel();
  y = sum(y);
  for (const auto& impl : made) values += impl.expired() ? 0 : 64 * 64;
  EXPECT_EQ(values, saved);
  EXPECT_EQ(saved, 3 * 64 * 64);
  backward(y);
  for (const auto& impl : made) EXPECT_TRUE(impl.expired()) << "freed on the way";
}

}  // namespace
}  // namespace tern::test
