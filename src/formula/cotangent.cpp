#include "formula/cotangent.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tern::detail {
namespace {

/// More than these are one condition that is computed.
constexpr std::size_t kMostGuards = 8, kMostBranches = 4;

bool is(const Node* node, Elementary elementary) {
  return node->kind == NodeKind::elementary && node->elementary == elementary;
}
Expr choice(const Guard& guard, Expr value) {
  const Expr condition(guard.condition), zero = make_constant(0);
  if (guard.holds) return make_elementary(Elementary::where, {condition, value, zero});
  return make_elementary(Elementary::where, {condition, zero, value});
}
Expr condition_of(const Guard& guard) {
  const Expr condition(guard.condition);
  return guard.holds ? condition : make_elementary(Elementary::bit_not, {condition});
}
Expr condition_of(const Branch& branch) {
  Expr all = condition_of(branch[0]);
  for (std::size_t i = 1; i < branch.size(); ++i)
    all = make_elementary(Elementary::bit_and, {all, condition_of(branch[i])});
  return all;
}
Expr condition_of(const Live& live) {
  Expr any = condition_of(live[0]);
  for (std::size_t i = 1; i < live.size(); ++i) any = make_elementary(Elementary::bit_or, {any, condition_of(live[i])});
  return any;
}

bool contains(const Branch& all, const Branch& some) {
  return std::ranges::all_of(some, [&](const Guard& g) { return std::ranges::find(all, g) != all.end(); });
}
/// The branches as one: in one condition that is computed, but for those of rows that all of them have. rows_of() finds
/// these when what is made here is differentiated again.
Branch as_one(Live live) {
  Branch one;
  for (const Guard& guard : live[0]) {
    const auto has_it = [&](const Branch& branch) { return contains(branch, {guard}); };
    if (!guard.condition->full && std::ranges::all_of(live, has_it)) one.push_back(guard);
  }
  bool rest = true;
  for (Branch& branch : live) {
    std::erase_if(branch, [&](const Guard& guard) { return contains(one, {guard}); });
    rest &= !branch.empty();
  }
  if (rest) one.insert(one.begin(), {condition_of(live).node(), true});
  return one;
}

Expr masked(const Live& live, Expr value) {
  for (const Guard& guard : live.size() > 1 ? as_one(live) : live[0]) value = choice(guard, value);
  return value;
}

/// x in where(c, x, 0) or where(c, 0, x).
struct Chosen {
  Guard guard;
  Expr value;
};
std::optional<Chosen> as_choice(Expr e) {
  const Node* const node = e.node();
  if (!is(node, Elementary::where)) return {};
  const Expr first(node->args[1]), second(node->args[2]);
  if (is_zero(second)) return Chosen{{node->args[0], true}, first};
  if (is_zero(first)) return Chosen{{node->args[0], false}, second};
  return {};
}

/// The same behind one more guard.
Live behind(Live live, const Guard& guard) {
  if (live.empty()) live.emplace_back();
  for (Branch& branch : live) {
    if (std::find(branch.begin(), branch.end(), guard) != branch.end()) continue;
    branch.push_back(guard);
    if (branch.size() > kMostGuards) branch = as_one({branch});
  }
  return live;
}

/// What the two are together where they differ in one guard's sense alone: the branch without it.
std::optional<Branch> joined(const Branch& a, const Branch& b) {
  if (a.size() != b.size()) return {};
  for (const Guard& guard : a) {
    const Guard opposite{guard.condition, !guard.holds};
    if (std::ranges::find(b, opposite) == b.end()) continue;
    Branch rest = a, other = b;
    std::erase(rest, guard), std::erase(other, opposite);
    if (contains(rest, other) && contains(other, rest)) return rest;
  }
  return {};
}
/// Adds a branch to what is live somewhere.
void add_branch(Live& live, Branch branch) {
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (contains(branch, live[i])) return;
    if (std::optional<Branch> both = joined(branch, live[i])) {
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      if (both->empty()) return live.assign(1, {});
      return add_branch(live, std::move(*both));
    }
  }
  std::erase_if(live, [&](const Branch& other) { return contains(other, branch); });
  live.push_back(std::move(branch));
}
Live either(Live a, const Live& b) {
  if (a.empty() || b.empty()) return {};
  for (const Branch& branch : b) {
    add_branch(a, branch);
    if (a[0].empty()) return {};
  }
  if (a.size() > kMostBranches) a = {as_one(a)};
  return a;
}

/// Whether e, which an elementary function's rule made of a cotangent g, is certainly 0 where g is. A rule is a few
/// elementary functions deep.
bool stays_zero(Expr e, Expr g, int depth = 8) {
  const Node* const node = e.node();
  if (node == g.node() || is_zero(e)) return true;
  if (node->kind != NodeKind::elementary || depth == 0) return false;
  const auto zero = [&](std::size_t i) { return stays_zero(Expr(node->args[i]), g, depth - 1); };
  const auto harmless = [&](std::size_t i) {  // a factor that is neither infinite nor NaN
    const Node& factor = *node->args[i];
    return factor.kind == NodeKind::extent || (factor.kind == NodeKind::constant && std::isfinite(factor.number.real));
  };
  switch (node->elementary) {
    case Elementary::neg:
    case Elementary::cast:
    case Elementary::detach:
    case Elementary::sum: return zero(0);
    case Elementary::add:
    case Elementary::sub: return zero(0) && zero(1);
    case Elementary::mul: return (harmless(1) && zero(0)) || (harmless(0) && zero(1));
    case Elementary::div: return harmless(1) && !is_zero(Expr(node->args[1])) && zero(0);
    case Elementary::where: return zero(1) && zero(2);
    default: return false;
  }
}

}  // namespace

Cotangent passed(const Cotangent& from, Expr closed, Expr open) {
  Cotangent result{closed, open, from.live};
  if (const std::optional<Chosen> chosen = as_choice(open)) {
    result.open = chosen->value;
    result.live = behind(from.live, chosen->guard);
  }
  if (!from.live.empty() && !stays_zero(closed, from.value))
    result.value = masked(result.live, result.open), result.chosen_late = true;
  return result;
}

bool varies_by_row_only(const Live& live) {
  const auto of_row = [](const Guard& guard) { return !guard.condition->full; };
  return std::ranges::all_of(live, [&](const Branch& branch) { return std::ranges::all_of(branch, of_row); });
}

Live rows_of(const Live& live) {
  Live rows;
  for (Branch branch : live) {
    std::erase_if(branch, [](const Guard& guard) { return guard.condition->full; });
    if (branch.empty()) return {};
    add_branch(rows, std::move(branch));
    if (rows[0].empty()) return {};
  }
  return rows;
}

void accumulate(Cotangent& sum, const Cotangent& contribution) {
  if (!sum.defined()) {
    sum = contribution;
    return;
  }
  if (sum.live == contribution.live && !sum.live.empty()) {
    sum.open = sum.open + contribution.open;
    sum.chosen_late |= contribution.chosen_late;
    sum.value = sum.chosen_late ? masked(sum.live, sum.open) : sum.value + contribution.value;
    return;
  }
  sum.value = sum.open = sum.value + contribution.value;
  sum.live = either(std::move(sum.live), contribution.live);
  sum.chosen_late = false;
}

}  // namespace tern::detail
