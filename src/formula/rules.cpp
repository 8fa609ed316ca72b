// The table of rules of elementary functions, made from elementary.inc and the files of elementary functions.
#include <stdexcept>

#include "formula/graph.hpp"
#include "formula/inner_formulas.hpp"

namespace tern::detail {
namespace {
#define TERN_ELEMENTARY_RULE
#define TERN_RULE(name) Rule rule_##name()
#include "elementary_all.inc"
#undef TERN_RULE
#undef TERN_ELEMENTARY_RULE

Rule named(Rule rule, const char* name, int arity) {
  rule.name = name, rule.arity = arity;
  return rule;
}
}  // namespace

const Rule& rule_of(Elementary elementary) {
  static const Rule rules[] = {
#define TERN_ELEMENTARY(name, arity) named(rule_##name(), #name, arity),
#define TERN_ELEMENTARY_INNER(name, arity) named(rule_##name(), #name, arity),
#define TERN_ELEMENTARY_REDUCE(name) named(rule_##name(), #name, 1),
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
  };
  return rules[static_cast<int>(elementary)];
}

}  // namespace tern::detail
