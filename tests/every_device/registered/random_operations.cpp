// Random compositions of operations of every kind (products and their epilogues, rows, reductions, views, indices,
// joins, gated activations, checkpoints): each as tern fuses it, and written out in elementwise operations and sums.
// Gradients and Hessian-vector products agree, and with central differences.
#include "every_device/registered/compositions.hpp"

namespace tern::test {
namespace {

constexpr const char* kOperations[] = {"matmul",   "linear",     "epilogue",    "softmax",   "layer_norm",
                                       "rms_norm", "transpose",  "concatenate", "take",      "cumsum",
                                       "sums",     "silu_mul",   "own_norm",    "logsumexp", "var",
                                       "batched",  "checkpoint", "gather",      "scatter",   "pad"};
constexpr int kMostOperations = 4;
const Shape kSquare{4, 4};
const std::vector<Shape> kSquares{kSquare, kSquare, kSquare};

Var row_of(const Var& x) { return x.slice(0, 0, 1).reshape({4}); }
/// Σ over k of a[i, k] · b[k, j], without a product of matrices.
Var written_out(const Var& a, const Var& b) { return sum(a.reshape({4, 4, 1}) * b.reshape({1, 4, 4}), 1); }
/// A constant matrix of the arguments' kind.
Tensor constant_matrix(const Var& like, const std::vector<double>& values) {
  return make(values, kSquare, like.dtype(), like.device());
}
Tensor permutation_matrix(const Var& like) {
  return constant_matrix(like, {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0});
}
Tensor rows_permuted(const Var& like) { return tensor({2, 0, 3, 1}, {4}, like.device()).to(i32); }

Var product_step(int op, const Var& a, const Var& b, bool fused) {
  constexpr Pointwise mish{"mish_of_sum", [](auto acc, auto bias, auto skip) {
                             auto u = acc + bias;
                             return u * tanh(softplus(u)) + skip;
                           }};
  switch (op) {
    case 0: return 0.5 * (fused ? matmul(a, b.transpose(0, 1)) : written_out(a, b.transpose(0, 1)));
    case 1: return fused ? matmul_bias_activation(a, b, row_of(b), op::gelu) : gelu(written_out(a, b) + row_of(b));
    case 2: {
      if (fused) return 0.5 * matmul_epilogue(a, b, mish, row_of(a), b);
      const Var u = written_out(a, b) + row_of(a);
      return 0.5 * (u * tanh(softplus(u)) + b);
    }
    default: {  // a batch of two products that share an operand
      const Var both = fused ? matmul(stack(std::vector<Var>{a, b}), b) : Var();
      return fused ? 0.3 * (both.slice(0, 0, 1) - both.slice(0, 1, 2)).reshape(kSquare)
                   : 0.3 * (written_out(a, b) - written_out(b, b));
    }
  }
}
Var row_step(int op, const Var& a, const Var& b, bool fused) {
  constexpr Pointwise own{"own_norm", [](auto x, auto y) { return tanh(x) / (1 + sqrt(mean(y * y) + 0.5)); }};
  const auto exps = [](const Var& x) { return exp(x - max(x.value(), {-1}, true)); };
  switch (op) {
    case 3: return (fused ? softmax(a) : exps(a) / sum(exps(a), -1, true)) * b;
    case 4: {
      if (fused) return layer_norm(a, row_of(b), row_of(a), 0.1);
      const Var centred = a - mean(a, -1, true);
      return centred / sqrt(mean(centred * centred, -1, true) + 0.1) * row_of(b) + row_of(a);
    }
    case 5: return fused ? rms_norm(a, row_of(b), 0.1) : a / sqrt(mean(a * a, -1, true) + 0.1) * row_of(b);
    case 12: return fused ? row_formula(own, a, b) : tanh(a) / (1 + sqrt(mean(b * b, -1, true) + 0.5));
    default: return (fused ? logsumexp(a, 1, true) : log(sum(exps(a), 1, true)) + max(a.value(), {1}, true)) - b;
  }
}
Var place_step(int op, const Var& a, const Var& b, bool fused) {
  const Tensor upper = constant_matrix(a, {1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1}),
               top = constant_matrix(a, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor diagonal = constant_matrix(a, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  switch (op) {
    case 7: return fused ? concatenate(std::vector<Var>{a.slice(0, 0, 2), b.slice(0, 2, 4)}) : a * top + b * (1 - top);
    case 8: return (fused ? take(a, rows_permuted(a)) : written_out(Var(permutation_matrix(a), false), a)) * b;
    case 9: return 0.5 * (fused ? cumsum(a, 1) : written_out(a, Var(upper, false))) + b;
    case 17: {
      const Tensor each = tensor({0, 1, 2, 3}, {4, 1}, a.device()).to(i32);
      return (fused ? gather(a, each, 1) : sum(a * diagonal, 1, true)) * b;
    }
    case 18: {
      if (fused) return scatter_add(a, rows_permuted(a), b);
      return a + written_out(Var(permutation_matrix(a).transpose(0, 1), false), b);
    }
    default:
      return fused ? concatenate(std::vector<Var>{a, b}, 1).slice(1, 2, 6)
                   : concatenate(std::vector<Var>{a.slice(1, 2, 4), b.slice(1, 0, 2)}, 1);
  }
}
Var other_step(int op, const Var& a, const Var& b, bool fused) {
  switch (op) {
    case 6: return a.transpose(0, 1) + (fused ? b : b * 1);
    case 10:
      return fused ? sum(a, 0, true) - mean(b, 1, true)
                   : a.slice(0, 0, 1) + a.slice(0, 1, 2) + a.slice(0, 2, 3) + a.slice(0, 3, 4) - 0.25 * sum(b, 1, true);
    case 11: return fused ? silu_mul(a, b) : a * sigmoid(a) * b;
    case 14: {
      const Var centred = a - mean(a, 0, true);
      return (fused ? var(a, 0, true) : sum(centred * centred, 0, true) * (1.0 / 3)) * b;
    }
    default: {
      const auto f = [](const Var& x, const Var& y) { return tanh(x * y) + sin(x); };
      return fused ? checkpoint(f)(a, b) : f(a, b);
    }
  }
}
Var operation_step(int op, const Var& a, const Var& b, bool fused) {
  switch (op) {
    case 0:
    case 1:
    case 2:
    case 15: return product_step(op, a, b, fused);
    case 3:
    case 4:
    case 5:
    case 12:
    case 13: return row_step(op, a, b, fused);
    case 7:
    case 8:
    case 9:
    case 17:
    case 18:
    case 19: return place_step(op, a, b, fused);
    default: return other_step(op, a, b, fused);
  }
}

struct OperationProgram {
  const Composition& p;
  const Place& place;
  bool fused;
  Var operator()(const List& at) const {
    List values = at;
    for (const Step& s : p.steps) {
      const Var y =
          operation_step(s.op, values[static_cast<std::size_t>(s.a)], values[static_cast<std::size_t>(s.b)], fused);
      values.push_back(y.shape() == kSquare ? y : y + zeros(kSquare, {.dtype = y.dtype(), .device = y.device()}));
    }
    return sum(values.back() * place.weights);
  }
};

class RandomOperations : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(RandomOperations);

TEST_P(RandomOperations, FusedWrittenOutAndDifferencesAgree) {
  const Place place(f64, device(), kSquares, kSquare);
  const auto fault = [&](const Composition& p) {
    const OperationProgram fused{p, place, true};
    const Derivatives got(fused, place, true), want(OperationProgram{p, place, false}, place, false);
    const std::string wrong = difference_of("fused", got, want, 0x1p-52);
    return wrong.empty() ? difference_from_differences(fused, place, got) : wrong;
  };
  try_programs(device() == cpu() || full_test() ? 1000 : 40, 2026, kOperations, kMostOperations, fault);
}

class RandomOperationsInSingle : public EveryDevice {};
TERN_EVERY_DEVICE(RandomOperationsInSingle);

/// Devices that compile kernels in software take fewer programs.
TEST_P(RandomOperationsInSingle, AgreeWithDoubleOnTheCpu) {
  const Place place(f32, device(), kSquares, kSquare), exact(f64, cpu(), kSquares, kSquare);
  const auto fault = [&](const Composition& p) {
    set_default_device(cpu());
    const Derivatives want(OperationProgram{p, exact, false}, exact, false);
    set_default_device(device());
    return difference_of("fused", Derivatives(OperationProgram{p, place, true}, place, true), want, 0x1p-23);
  };
  try_programs(device() == cpu() || full_test() ? 1000 : 10, 2027, kOperations, kMostOperations, fault);
}

}  // namespace
}  // namespace tern::test
