// Every elementary function and formula that takes and gives floats.
#pragma once
#include <vector>

#include "formula/graph.hpp"
#include "tern/tern.hpp"

namespace tern::test {

struct PointwiseEntry {
  const char* name;
  const Pointwise<>* op;
  bool floating;  // takes and gives floats
};
inline const std::vector<PointwiseEntry>& pointwise_entries() {
  static const std::vector<PointwiseEntry> list = [] {
    std::vector<PointwiseEntry> all;
    const auto elementary = [&](const char* name, const Pointwise<>& op, detail::Elementary id) {
      const detail::Rule& rule = detail::rule_of(id);
      const bool floats = rule.takes != detail::Takes::integral && rule.takes != detail::Takes::bits;
      all.push_back({name, &op, floats && rule.gives != detail::Gives::predicate});
    };
#define TERN_ELEMENTARY(name, arity) elementary(#name, op::name, detail::Elementary::name);
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA_PREDICATE(name, ...) all.push_back({#name, &op::name, false});
#define TERN_FORMULA(name, ...) all.push_back({#name, &op::name, true});
#define TERN_GATED(name, activation) all.push_back({#name, &op::name, true});
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
    std::erase_if(all, [](const PointwiseEntry& e) { return !e.floating; });
    return all;
  }();
  return list;
}

}  // namespace tern::test
