#include "formula/sum_rewrites.hpp"

#include <algorithm>

namespace tern::detail {

Expr SumRewrites::rewritten(const Node& sum) {
  const Expr scaled = scaled_sum(sum);
  return scaled.defined() ? scaled : split_sum(sum);
}

/// Adds the factors of `node`, or of 1 / node (`elementary` is div). False where that is no such product.
bool SumRewrites::take_apart(const Node* node, Elementary elementary, TermFactors& f, std::size_t depth) {
  constexpr std::size_t kMost = 16;  // x = x * x, again and again, has no end of them
  if (f.scalars.size() + f.weights.size() > kMost || depth > kMost + 2) return false;  // each level has one more
  for (;; node = node->args[0], f.negative = !f.negative) {
    if (const Type type = types_.of(node); !type.weak && !is_floating(type.dtype)) return false;
    if (!node->full) return f.scalars.emplace_back(elementary, node), true;
    if (node->kind != NodeKind::elementary || node->elementary != Elementary::neg) break;
  }
  const bool is_elementary = node->kind == NodeKind::elementary;
  if (is_elementary && (node->elementary == Elementary::mul || node->elementary == Elementary::div)) {
    const Elementary other = elementary == Elementary::mul ? Elementary::div : Elementary::mul;
    return take_apart(node->args[0], elementary, f, depth + 1) &&
           take_apart(node->args[1], node->elementary == Elementary::mul ? elementary : other, f, depth + 1);
  }
  if (elementary == Elementary::mul && !f.power && online_.base_of(emit_(node))) return f.power = node, true;
  return f.weights.emplace_back(elementary, node), true;
}

/// What sum(scalar · weight · power) is as scalar · sum(weight · power), which takes no pass of its own: the terms of
/// the sum in softmax's gradient are divided by another sum of that pass. Only of exponentials, which are at most 1
/// where their shift is the maximum, and of scalars that wait for the mean: elsewhere one may be there to keep squares
/// from overflowing. Or nothing.
Expr SumRewrites::scaled_sum(const Node& sum) {
  TermFactors f;
  if (!take_apart(sum.args[0], Elementary::mul, f) || !f.power) return {};
  const OnlineSum base = *online_.base_of(emit_(f.power));
  for (const auto& [elementary, weight] : f.weights)
    if (!online_.is_known_to(base.pivot, emit_(weight))) return {};
  if (base.power > 0 && !f.weights.empty()) {
    const auto early = std::stable_partition(f.scalars.begin(), f.scalars.end(), [&](const auto& scalar) {
      return at(emit_(scalar.second)).pass >= at(base.pivot).pass;
    });
    f.weights.insert(f.weights.end(), early, f.scalars.end()), f.scalars.erase(early, f.scalars.end());
  }
  Expr weights;
  for (const auto& [elementary, weight] : f.weights) {
    const Expr so_far = weights.defined() || elementary == Elementary::mul ? weights : make_constant(1);
    weights = so_far.defined() ? make_elementary(elementary, {so_far, Expr(weight)}) : Expr(weight);
  }
  Expr result(f.power);
  if (weights.defined()) result = make_elementary(Elementary::mul, {weights, result});
  if (result.node() == sum.args[0]) return {};
  result = make_elementary(Elementary::sum, {result}, sum.index);
  for (const auto& [elementary, scalar] : f.scalars) result = make_elementary(elementary, {result, Expr(scalar)});
  if (f.negative) result = make_elementary(Elementary::neg, {result});
  return typed(result);
}

/// An expression made of nodes that have types, with those of its own.
Expr SumRewrites::typed(Expr e) {
  const Node* const output = e.node();
  for (const Node* node : topological({&output, 1}))
    if (!types_.contains(node)) types_.add(node);
  return e;
}

/// Adds the terms of ±node. False where one of them has no scalar: it may be there to cancel another digit by digit,
/// as the mean in x - mean(x), while a product is rounded as it is.
bool SumRewrites::split(const Node* node, bool negative, std::vector<SumTerm>& terms, std::size_t depth) const {
  constexpr std::size_t kMost = 8;
  if (terms.size() > kMost || depth > kMost + 1) return false;  // each level has one more
  for (;; node = node->args[0], negative = !negative) {
    const Type type = types_.of(node);
    if (!node->full || node->kind != NodeKind::elementary || type.weak || !is_floating(type.dtype)) return false;
    if (node->elementary != Elementary::neg) break;
  }
  if (node->elementary == Elementary::add || node->elementary == Elementary::sub)
    return split(node->args[0], negative, terms, depth + 1) &&
           split(node->args[1], node->elementary == Elementary::sub ? !negative : negative, terms, depth + 1);
  SumTerm term{node, negative, {}};
  while (term.value->kind == NodeKind::elementary &&
         (term.value->elementary == Elementary::mul || term.value->elementary == Elementary::div)) {
    const Node *a = term.value->args[0], *b = term.value->args[1];
    if (!a->full && term.value->elementary == Elementary::mul) std::swap(a, b);
    if (b->full) break;
    term.scalars.emplace_back(term.value->elementary, b), term.value = a;
  }
  terms.push_back(std::move(term));
  return !terms.back().scalars.empty();
}

/// What sum(r · a + s · b) is as r · sum(a) + s · sum(b), where those wait for fewer passes: so layer norm's gradient
/// has the sum of what its mean gets. Or nothing.
Expr SumRewrites::split_sum(const Node& sum) {
  std::vector<SumTerm> terms;
  if (!split(sum.args[0], false, terms) || terms.size() < 2) return {};
  int parts = 0;  // passes that their sums take
  for (const SumTerm& term : terms) parts = std::max(parts, online_.pass_of_sum(emit_(term.value)));
  if (parts >= online_.pass_of_sum(emit_(sum.args[0]))) return {};
  Expr result;
  for (const SumTerm& term : terms) {
    Expr part = make_elementary(Elementary::sum, {Expr(term.value)}, sum.index);
    for (auto it = term.scalars.rbegin(); it != term.scalars.rend(); ++it)
      part = make_elementary(it->first, {part, Expr(it->second)});
    if (!result.defined()) result = term.negative ? make_elementary(Elementary::neg, {part}) : part;
    else result = make_elementary(term.negative ? Elementary::sub : Elementary::add, {result, part});
  }
  return typed(result);
}

}  // namespace tern::detail
