// Calls of everything that is registered: what the tools that compile ahead of time print is what is looked for later,
// and a new formula needs no line in them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "tern/optim.hpp"
#include "tern/tern.hpp"

namespace tern::tools {

struct Registered {
  const Pointwise<>* formula;
  bool elementary;
  int arity() const;
};
/// The elementary functions and formulas.
std::vector<Registered> registry();

/// Runs what may not exist for the operands' types.
void attempt(const std::function<void()>& call);
/// y's gradients, where something tracks them.
void back(const Var& y);
Var applied(const Pointwise<>& f, std::span<const detail::Argument> arguments);

/// On the default device, forward and backward, on tensors of a dtype and a shape of two axes: every elementary
/// function and formula alone and with a broadcast operand and numbers; the formulas of one argument as epilogues of
/// products; what the entries of operations ask for.
void call_registered(DType dtype, const Shape& shape);
void call_formulas(DType dtype, const Shape& shape);
void call_operations(DType dtype, const Shape& shape);
/// The values alone of formulas of one argument whose kernels are otherwise made where they are first used. (On a
/// processor: where its operations go through memory one by one, cosh of 2^22 numbers takes 10.5 ms in place of 4.0.)
void call_later(DType dtype, const Shape& shape);
/// Products of [m, k] and [k, k] with every activation.
void call_epilogues(DType dtype, const Shape& shape);

}  // namespace tern::tools
