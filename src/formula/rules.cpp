// The table of leaf rules, made from leaves.inc and the leaf files.
#include <stdexcept>

#include "formula/graph.hpp"

namespace tern::detail {
namespace {
#define TERN_LEAF_RULE
#define TERN_RULE(name) Rule rule_##name()
#include "leaves_all.inc"
#undef TERN_RULE
#undef TERN_LEAF_RULE

Rule named(Rule rule, const char* name, int arity) {
  rule.name = name, rule.arity = arity;
  return rule;
}
}  // namespace

const Rule& rule_of(Leaf leaf) {
  static const Rule rules[] = {
#define TERN_LEAF(name, arity) named(rule_##name(), #name, arity),
#define TERN_LEAF_INNER(name, arity) named(rule_##name(), #name, arity),
#define TERN_LEAF_REDUCE(name) named(rule_##name(), #name, 1),
#include "tern/leaves.inc"
#undef TERN_LEAF
#undef TERN_LEAF_INNER
#undef TERN_LEAF_REDUCE
  };
  return rules[static_cast<int>(leaf)];
}

}  // namespace tern::detail
