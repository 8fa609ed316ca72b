// Compiled against a copy of tern in which formulas.inc has one more line, synthetic_cube(x) = x·x·x, and
// compositions.hpp one more entry, softmax_pool(x, scores): they must be all it takes.
#include <cmath>
#include <cstdio>
#include <tern/tern.hpp>

using namespace tern;

static int failures = 0;
static void expect(bool ok, const char* what) {
  if (!ok) std::printf("missing: %s\n", what), ++failures;
}
static bool near(const Tensor& t, double value) {
  return std::abs(t.to(f64).to_vector<double>()[0] - value) < 1e-5 * std::abs(value);
}

int main() {
  for (const DType dtype : {f32, f64, f16, bf16})
    expect(near(synthetic_cube(full({3}, 2, dtype)), 8), "the function, in every float type");
  const auto f = [](Var x) { return sum(synthetic_cube(x)); };
  const auto df = [&](Var x) { return sum(grad(f)(x)); };
  const auto ddf = [&](Var x) { return sum(grad(df)(x)); };
  const Tensor two = full({1}, 2, f64);
  expect(near(grad(f)(two), 12), "the first derivative");
  expect(near(grad(df)(two), 12), "the second derivative");
  expect(near(grad(ddf)(two), 6), "the third derivative");
  const Tensor one = ones({1, 1}), bias = ones({1});
  expect(near(matmul_bias_activation(one, one, bias, op::synthetic_cube), 8), "the epilogue");
  expect(near(matmul_bias_activation_bwd(one, one, one, bias, op::synthetic_cube).d_bias, 12),
         "the epilogue's backward");
  expect(Var(synthetic_cube(Var(two))).grad_fn()->name() == "SyntheticCubeBackward", "the name of its GradFn");
  // Of equal scores it is the mean, of any kind of operands.
  const Tensor x = tensor({1.0f, 2.0f, 6.0f}), scores = zeros({3});
  expect(near(softmax_pool(x, scores), 3), "the operation on Tensors");
  const Var recorded(x);
  expect(near(backward(softmax_pool(recorded, scores))[recorded], 1.0 / 3), "its gradient beside a Tensor");
  expect(near(softmax_pool(x, Var(scores)).value(), 3), "the operation on a mixture");
  if (!failures) std::printf("one line in one file is all it takes\n");
  return failures;
}
