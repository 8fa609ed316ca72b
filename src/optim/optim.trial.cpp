// Entries of the optimisers (optim.cpp) and of clipping (clip.cpp). They write in place: a call makes a parameter and
// its gradient of its operands' elements, and gives what becomes of them.
#include <algorithm>

#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// A parameter after two steps, by the same gradient.
template <class Optimiser, class Options> Tensor updated(const Tensor& x, const Tensor& gradient, Options options) {
  const Var parameter(x.clone());
  Optimiser optimiser({parameter}, options);
  for (int step = 0; step < 2; ++step) optimiser.step(std::vector{gradient});
  return parameter.value();
}
constexpr optim::SGDOptions kSgd{.learning_rate = 0.5, .momentum = 0.75, .weight_decay = 0.125};
constexpr optim::AdamWOptions kAdamW{.learning_rate = 0.25, .epsilon = 1e-3, .weight_decay = 0.125};

std::vector<Values> by_sgd(const std::vector<Values>& x) {
  Values p = x[0];
  for (std::size_t i = 0; i < p.of.size(); ++i) {
    double velocity = 0;
    for (int step = 0; step < 2; ++step) {
      velocity = kSgd.momentum * velocity + x[1].of[i] + kSgd.weight_decay * p.of[i];
      p.of[i] -= kSgd.learning_rate * velocity;
    }
  }
  return {p};
}
std::vector<Values> by_adamw(const std::vector<Values>& x) {
  Values p = x[0];
  for (std::size_t i = 0; i < p.of.size(); ++i) {
    const double g = x[1].of[i];
    double first = 0, second = 0;
    for (int n = 1; n <= 2; ++n) {
      first = kAdamW.beta1 * first + (1 - kAdamW.beta1) * g;
      second = kAdamW.beta2 * second + (1 - kAdamW.beta2) * g * g;
      const double m = first / (1 - std::pow(kAdamW.beta1, n)), v = second / (1 - std::pow(kAdamW.beta2, n));
      p.of[i] -= kAdamW.learning_rate * (m / (std::sqrt(v) + kAdamW.epsilon) + kAdamW.weight_decay * p.of[i]);
    }
  }
  return {p};
}

/// What becomes of these as gradients of two parameters that `clip` is called with.
template <class Clip> std::vector<Tensor> clipped(const Tensor& a, const Tensor& b, Clip clip) {
  const std::vector<Var> parameters{Var(zeros_like(a)), Var(zeros_like(b))};
  Gradients gradients = backward(sum(parameters[0] * a + parameters[1] * b));
  std::vector<Tensor> results = clip(gradients, parameters);
  for (const Var& p : parameters) results.push_back(gradients[p]);
  return results;
}
constexpr double kLimit = 0.5;

/// A step on one parameter, as it is and recorded, where its numbers may be in memory.
template <class Optimiser, class Options> AheadCall step_ahead(Options options) {
  return [options](DType dtype, const Shape& like) {
    const Var x(full(like, 0.5, dtype));
    Optimiser(std::vector{x}, options).step(backward(sum(x * x)));
  };
}
template <class Optimiser> AheadCall recorded_step_ahead() {
  return [](DType dtype, const Shape& like) {
    const Var x(full(like, 0.5, dtype));
    Optimiser optimiser(std::vector{x});
    capture(x.device(), [&] { optimiser.step(backward(sum(x * x))); }).replay();
  };
}
template <class Clip> AheadCall clip_ahead(Clip clip) {
  return [clip](DType dtype, const Shape& like) {
    const Var x(full(like, 0.5, dtype));
    Gradients gradients = backward(sum(x * x));
    clip(gradients, std::vector{x});
  };
}

template <class Make> Var parameter(const Make& make, const Shape& shape) { return Var(elements(make(shape))); }

const Entries optimisers{
    {.name = "SGD",
     .family = Family::optimisers,
     .arguments = "parameters, options = {}",
     .says = "A step: v = momentum·v + g + weight_decay·p; p -= learning_rate·v",
     .differentiable = false,
     .tolerance = {16, "sums of four terms, twice", 2},
     .ahead = {step_ahead<optim::SGD>(optim::SGDOptions{}), recorded_step_ahead<optim::SGD>(),
               step_ahead<optim::SGD>(optim::SGDOptions{.momentum = 0.9}),
               step_ahead<optim::SGD>(optim::SGDOptions{.momentum = 0.9, .weight_decay = 0.1})},
     .samples = {{.shapes = two_alike,
                  .call = Call::of_one_type(
                      [](const auto& x, const auto& g) { return updated<optim::SGD>(elements(x), elements(g), kSgd); }),
                  .reference = by_sgd}},
     .bad = {{autograd,
              {"SGD", "leaf variables that require a gradient"},
              [](auto make) {
                optim::SGD({constant(elements(make({2, 3})))});
              }},
             {shape,
              {"SGD", "a gradient for each of the 1 parameters", "got 2"},
              [](auto make) {
                const Tensor g = elements(make({2, 3}));
                optim::SGD({parameter(make, {2, 3})}).step(std::vector{g, g});
              }}}},
    {.name = "AdamW",
     .family = Family::optimisers,
     .arguments = "parameters, options = {}",
     .says = "A step: m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= learning_rate·(m' / (√v' + "
             "epsilon) + weight_decay·p), where m' and v' are m / (1 - beta1ⁿ) and v / (1 - beta2ⁿ) at the n-th step",
     .differentiable = false,
     .tolerance = {32, "a quotient of two moments, a root and a sum, twice", 2},
     .ahead = {step_ahead<optim::AdamW>(optim::AdamWOptions{}), recorded_step_ahead<optim::AdamW>(),
               step_ahead<optim::AdamW>(optim::AdamWOptions{.weight_decay = 0})},
     .samples = {{.shapes = two_alike,
                  .call = Call::of_one_type([](const auto& x, const auto& g) {
                    return updated<optim::AdamW>(elements(x), elements(g), kAdamW);
                  }),
                  .reference = by_adamw}},
     .bad = {{autograd,
              {"AdamW", "parameter 1 is parameter 0 again"},
              [](auto make) {
                const Var p = parameter(make, {2, 3});
                optim::AdamW({p, p});
              }},
             {shape,
              {"AdamW", "gradient 0", "[2, 3]", "[3]"},
              [](auto make) {
                optim::AdamW({parameter(make, {2, 3})}).step(std::vector{elements(make({3}))});
              }}}},
    {.name = "clip_grad_norm",
     .family = Family::optimisers,
     .arguments = "gradients, parameters, limit",
     .says = "Scales the gradients of these parameters in place so that their norm, the square root of the sum of all "
             "squares, is at most `limit`: by limit / (norm + 1e-6) where that is below 1",
     .differentiable = false,
     .tolerance = {64, "a sum of 370 squares, a root and a quotient", 1},
     .ahead = {clip_ahead([](Gradients& g, const std::vector<Var>& of) { optim::clip_grad_norm(g, of, 1); })},
     .samples = {{.shapes = two_alike,
                  .call = Call::of_one_type([](const auto& a, const auto& b) {
                    return clipped(elements(a), elements(b), [](Gradients& gradients, const std::vector<Var>& of) {
                      return std::vector{optim::clip_grad_norm(gradients, of, kLimit)};
                    });
                  }),
                  .reference =
                      [](const auto& x) {
                        double squares = 0;
                        for (const Values& g : x)
                          for (const double v : g.of) squares += v * v;
                        const double norm = std::sqrt(squares), factor = std::min(1.0, kLimit / (norm + 1e-6));
                        std::vector<Values> results{{{}, {norm}}, x[0], x[1]};
                        for (std::size_t k = 1; k < 3; ++k)
                          for (double& v : results[k].of) v *= factor;
                        return results;
                      }}},
     .bad = {{shape,
              {"clip_grad_norm", "0 or more", "-1"},
              [](auto make) {
                const Var p = parameter(make, {2, 3});
                Gradients gradients = backward(sum(p));
                optim::clip_grad_norm(gradients, {p}, -1);
              }}}},
    {.name = "clip_grad_value",
     .family = Family::optimisers,
     .arguments = "gradients, parameters, limit",
     .says = "Limits every element of these gradients to [-limit, limit], in place",
     .differentiable = false,
     .tolerance = {0, "a choice"},
     .ahead = {clip_ahead([](Gradients& g, const std::vector<Var>& of) { optim::clip_grad_value(g, of, 1); })},
     .samples = {{.shapes = two_alike,
                  .call = Call::of_one_type([](const auto& a, const auto& b) {
                    return clipped(elements(a), elements(b), [](Gradients& gradients, const std::vector<Var>& of) {
                      return optim::clip_grad_value(gradients, of, kLimit), std::vector<Tensor>{};
                    });
                  }),
                  .reference =
                      [](const auto& x) {
                        std::vector<Values> results = x;
                        for (Values& g : results)
                          for (double& v : g.of) v = std::clamp(v, -kLimit, kLimit);
                        return results;
                      }}},
     .bad = {{shape,
              {"clip_grad_value", "0 or more", "-1"},
              [](auto make) {
                const Var p = parameter(make, {2, 3});
                Gradients gradients = backward(sum(p));
                optim::clip_grad_value(gradients, {p}, -1);
              }}}},
};

}  // namespace
}  // namespace tern::operations
